# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the files that `make install` writes. $root is where they were staged.
# shellcheck shell=bash disable=SC2154

# Long options of --help that the man page does not have, and the other way round.
options_of_help() { "$bin" --help | grep -oE '(^  |, )(--?[A-Za-z][a-z-]*)' | grep -oE -- '-.*'; }
options_of_man() {
    grep -E '^\.B' "$1/share/man/man1/ids.1" | tr -d '\\' | sed 's/^\.[A-Z]* //' |
        grep -oE '^-[A-Za-z-]+'
    sed -n 's/.*; also \\-\\-\([a-z]*\)$/--\1/p' "$1/share/man/man1/ids.1"
}
man_has_options() {
    diff <(options_of_help | sort -u) <(options_of_man "$prefix" | sort -u)
}

man_is_clean() {
    local page
    wants man || return
    for page in "$prefix"/share/man/man?/*; do
        # The program man warns on the error output and still ends with 0.
        LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" \
            2>> "$work/man" > /dev/null
    done
    ! grep . "$work/man"
}

unit_is_valid() {
    wants systemd-analyze || return
    sed "s|=$(sed -n 's|^ExecStart=\(.*\)/libexec.*|\1|p' "$unit")/libexec|=$prefix/libexec|" \
        "$unit" > "$work/ids.service"
    systemd-analyze verify --man=no "$work/ids.service" 2>&1 | tee "$work/verify"
    ! grep -q . "$work/verify"
}

unit_is_hardened() {
    local score
    wants systemd-analyze || return
    score=$(systemd-analyze security --offline=yes "$unit" |
        sed -n 's/.*exposure level for ids.service: \([0-9.]*\) .*/\1/p')
    echo "systemd-analyze security: $score, at most 3.0 allowed"
    [ -n "$score" ] && awk "BEGIN { exit !($score <= 3.0) }"
}

user_is_made() {
    wants systemd-sysusers systemd-tmpfiles || return
    mkdir -p "$work/sys/etc"
    systemd-sysusers --root="$work/sys" "$prefix/lib/sysusers.d/ids.conf" &&
        grep -q '^ids:' "$work/sys/etc/passwd" && grep -q '^ids:' "$work/sys/etc/group"
}

# Below a root of its own, where the user of the test before is known.
directories_are_made() {
    local lines=$prefix/lib/tmpfiles.d/ids.conf logs
    wants systemd-tmpfiles || return
    [ "$(id -u)" = 0 ] || { echo "needs root"; return 77; }
    logs=$(sed -n 's/^d \(.*log.*\) 0750 ids ids$/\1/p' "$lines")
    mkdir -p "$work/sys$(dirname "$(sed -n 's/^C .* - //p' "$lines")")"
    cp "$prefix/share/ids/initial.rules" "$work/sys$(sed -n 's/^C .* - //p' "$lines")"
    systemd-tmpfiles --create --root="$work/sys" "$lines" && [ -d "$work/sys$logs" ] &&
        cmp "$work/sys$(sed -n 's/^C \([^ ]*\) .*/\1/p' "$lines")" "$prefix/share/ids/initial.rules"
}

profile_is_valid() {
    wants apparmor_parser || return
    apparmor_parser --skip-kernel-load --skip-cache "$prefix/etc/apparmor.d/ids"
}

rotation_is_valid() {
    wants logrotate || return
    grep -v '^ *su ' "$prefix/etc/logrotate.d/ids" > "$work/rotate"
    logrotate --debug --state "$work/rotate.state" "$work/rotate" > "$work/rotate.log" 2>&1 || return
    ! grep -i error "$work/rotate.log"
}

scripts_are_clean() {
    wants shellcheck || return
    shellcheck "$prefix/libexec/ids/start" "$top"/debian/ids.p*inst "$top"/debian/ids.p*rm &&
        shellcheck -s bash "$prefix/share/bash-completion/completions/ids" &&
        shellcheck -s bash -S warning -x -P "$here" "$here/run" "$here/boot"
}

completes_bash() {
    diff <(options_of_help | sort -u) <(PATH=${bin%/*}:$PATH bash -c '
        source "$1/share/bash-completion/completions/ids"
        COMP_WORDS=(ids -) COMP_CWORD=1; _ids ids
        printf "%s\n" "${COMPREPLY[@]}"' - "$prefix" | sort -u) || return
    PATH=${bin%/*}:$PATH bash -c '
        source "$1/share/bash-completion/completions/ids"
        COMP_WORDS=(ids --plan = j) COMP_CWORD=3; _ids ids; [ "${COMPREPLY[*]}" = json ] &&
        COMP_WORDS=(ids --runmode w) COMP_CWORD=2 && _ids ids && [ "${COMPREPLY[*]}" = workers ]' \
        - "$prefix"
}

completes_zsh() {
    wants zsh || return
    diff <(options_of_help | sort -u) <(PATH=${bin%/*}:$PATH zsh -f -c '
        source <(sed "/^_ids \"/d" "$1/share/zsh/site-functions/_ids"); _ids_specs ids' - "$prefix" |
        grep -oE -- '^\*-[A-Za-z-]*[A-Za-z]' | cut -c2- | sort -u)
}

completes_fish() {
    wants fish || return
    diff <(options_of_help | sort -u) <(cd "$work" && HOME=$work PATH=${bin%/*}:$PATH fish -N -c '
        source '"$prefix"'/share/fish/vendor_completions.d/ids.fish
        complete -C "ids -"; complete -C "ids --"' | cut -f1 | sed 's/=$//' | sort -u)
}

# All places that name the version agree.
versions_agree() {
    local version
    version=$(sed -n 's/#define IDS_VERSION "\(.*\)"/\1/p' "$top/src/base/version.h")
    echo "src/base/version.h: $version"
    grep -qF "AC_INIT([ids], [$version])" "$top/configure.ac" || { echo "not configure.ac"; return 1; }
    head -1 "$top/debian/changelog" | grep -qF "ids ($version" || { echo "not debian"; return 1; }
    grep -q "^## $version\b" "$top/CHANGELOG.md" || { echo "not CHANGELOG.md"; return 1; }
}

# Rules and configuration as installed go together without a word.
configuration_loads() {
    mkdir -p "$work/logs"
    "$bin" -T -c "$prefix/etc/ids/ids.yaml" --set "default-rule-path=$prefix/var/lib/ids/rules" \
        --data-dir "$work/logs" -l "$work/logs" 2>&1 | tee "$work/loads"
    grep -q 'successfully loaded' "$work/loads" && ! grep -E '^(Error|Warning)' "$work/loads"
}

idsc_knows_the_socket() {
    local run
    run=$(sed -n 's|.* name "\(.*\)".*||; s|^\(.*\)/suricata-command.socket$|\1|p' \
        "$prefix/share/man/man1/ids.1" | head -1)
    run=${run##*/run/}
    grep -q "^PLACES = \\[\"[^\"]*/run/${run:-none}\"" "$prefix/bin/idsc"
}

# Under its other name, against a socket that a few lines of Python serve.
idsc_as_suricatasc() {
    wants python3 || return
    ln -sf "$prefix/bin/idsc" "$work/suricatasc"
    python3 "$here/answer.py" "$work/socket" &
    local server=$! answer
    for _ in $(seq 50); do [ -S "$work/socket" ] && break; sleep 0.1; done
    answer=$(python3 "$work/suricatasc" -c "iface-stat eth0" "$work/socket")
    kill "$server" 2> /dev/null
    echo "$answer"
    [ "$answer" = '{"message": {"iface": "eth0"}, "return": "OK"}' ]
}

# As a newcomer runs it, but on the build that is there: it builds in build-release.
quickstart_shows() {
    [ "$bin" -ef "$top/build-release/src/ids" ] || { echo "quickstart makes another build"; return 77; }
    "$top/scripts/quickstart" | tee "$work/quickstart"
    [ "$(grep -c 'SAMPLE' "$work/quickstart")" -ge 8 ] && grep -q 'All events: ' "$work/quickstart"
}

stage() {
    make -s -C "$(dirname "$bin")/.." install DESTDIR="$root"
}

test_files() {
    is_selected files || return 0
    root=$work/root
    check files-stage stage || return 0
    prefix=$(dirname "$(dirname "$(find "$root" -path '*/bin/idsc')")")
    unit=$(find "$root" -name ids.service)
    check files-unit-verify unit_is_valid
    check files-unit-security unit_is_hardened
    check files-sysusers user_is_made
    check files-tmpfiles directories_are_made
    check files-apparmor profile_is_valid
    check files-logrotate rotation_is_valid
    check files-shellcheck scripts_are_clean
    check files-man-clean man_is_clean
    check files-man-options man_has_options
    check files-bash completes_bash
    check files-zsh completes_zsh
    check files-fish completes_fish
    check files-configuration configuration_loads
    check files-versions versions_agree
    check files-quickstart quickstart_shows
    check files-idsc-socket idsc_knows_the_socket
    check files-idsc-suricatasc idsc_as_suricatasc
}
