# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of what README.md tells somebody who has nothing but Debian's base system and the sources.
# shellcheck shell=bash disable=SC2154

# The commands of the first shell fence below the heading $1, without those of services.
readme_lines() {
    awk -v heading="## $1" '$0 == heading { part = 1 }
        fence && /^```$/ { exit }
        fence { print }
        part && /^```sh$/ { fence = 1 }' "$top/README.md" |
        grep -vE '^(systemctl|tail|\./scripts/check) ' | sed 's/  *#.*//'
}

# Services do not start: the network is that of this machine.
newcomer_arrives() {
    fresh=$kept/newcomer
    rm -rf --one-file-system "$fresh" && cp -a --reflink=auto "$kept/base" "$fresh" || return
    cp /etc/resolv.conf "$fresh/etc/resolv.conf"
    echo 'APT::Get::Assume-Yes "true";' > "$fresh/etc/apt/apt.conf.d/99yes"
    printf '#!/bin/sh\nexit 101\n' > "$fresh/usr/sbin/policy-rc.d"
    chmod +x "$fresh/usr/sbin/policy-rc.d"
    mkdir "$fresh/root/ids"
    (cd "$top" && git ls-files -z | tar --null -T - -cf -) | tar -C "$fresh/root/ids" -xf - &&
        as_newcomer "apt-get -q update"
}

# as_newcomer COMMANDS: in the sources.
as_newcomer() {
    # shellcheck disable=SC2016
    unshare -m -p -f --kill-child --mount-proc="$fresh/proc" bash -ec '
        mount --bind /dev "$1/dev"
        mount -t devpts devpts "$1/dev/pts"
        exec chroot "$1" env -i HOME=/root TERM=dumb DEBIAN_FRONTEND=noninteractive \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            bash -ec "cd /root/ids; $2"' - "$fresh" "$1" < /dev/null
}

newcomer_tries() {
    local lines
    lines=$(readme_lines "Try it")
    [ "$lines" = ./scripts/quickstart ] || { echo "README.md says: $lines"; return 1; }
    as_newcomer "$lines" | tee "$work/tried"
    [ "$(grep -c SAMPLE "$work/tried")" -ge 8 ] && grep -q 'All events: ' "$work/tried"
}

newcomer_installs() {
    local lines
    lines=$(readme_lines Install)
    [[ $lines = *dpkg-buildpackage*"apt install ../ids_"* ]] || { echo "README.md says: $lines"; return 1; }
    as_newcomer "$lines" && as_newcomer "ids -T" && as_newcomer "dpkg -s ids"
}

# The first commands of the tutorial that need no service.
newcomer_sees_alerts() {
    local line
    line=$(grep -m 1 '^ids -r /usr/share/doc/ids/examples' "$top/doc/tutorial.md") &&
        as_newcomer "mkdir -p /tmp/ids-try; $line; cat /tmp/ids-try/fast.log" | tee "$work/alerts"
    [ "$(grep -c SAMPLE "$work/alerts")" = 8 ]
}

test_newcomer() {
    check newcomer-bootstrap bootstrap || return 0
    check newcomer-arrives newcomer_arrives || return 0
    check newcomer-tries newcomer_tries
    check newcomer-installs newcomer_installs || return 0
    check newcomer-sees-alerts newcomer_sees_alerts
    rm -rf --one-file-system "$fresh"
}
