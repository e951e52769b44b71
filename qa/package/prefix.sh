# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of `make install` below a prefix that nobody has made anything in.
# shellcheck shell=bash disable=SC2154

prefix_installs() {
    local cc=gcc
    command -v ccache > /dev/null && cc="ccache gcc"
    mkdir -p "$kept/prefix-build" && cd "$kept/prefix-build" &&
        "$top/configure" -q --prefix="$home" CC="$cc" && make -s -j"$(nproc)" && make -s install
}

prefix_checks() {
    "$home/bin/ids" -T 2>&1 | tee "$work/check"
    grep -q 'successfully loaded' "$work/check"
}

prefix_reads() {
    mkdir "$work/out"
    cd "$work/out" && "$home/bin/ids" -r "$top/qa/samples/quickstart.pcap" &&
        grep -q '"event_type":"flow"' eve.json
}

# What the service does: no -l, no -c. A job from the socket keeps the process going.
prefix_serves() {
    local pid status=1
    "$home/bin/ids" --unix-socket & pid=$!
    for _ in $(seq 100); do
        "$home/bin/idsc" uptime 2> /dev/null && { status=0; break; }
        sleep 0.1
    done
    kill "$pid" && wait "$pid"
    [ $status = 0 ] && ls "$home/var/log/ids"
}

prefix_keeps_changes() {
    echo "# mine" >> "$home/etc/ids/ids.yaml"
    echo "# mine" >> "$home/var/lib/ids/rules/suricata.rules"
    make -s -C "$kept/prefix-build" install &&
        tail -1 "$home/etc/ids/ids.yaml" | grep -q mine && [ -f "$home/etc/ids/ids.yaml.new" ] &&
        tail -1 "$home/var/lib/ids/rules/suricata.rules" | grep -q mine
}

# All but what was changed, and logs.
prefix_uninstalls() {
    make -s -C "$kept/prefix-build" uninstall
    rm -rf "$home/var/log"
    diff <(cd "$home" && find . -type f | sort) - << END
./etc/ids/ids.yaml
./var/lib/ids/rules/suricata.rules
END
}

test_prefix() {
    home=$work/home
    check prefix-installs prefix_installs || return 0
    check prefix-checks prefix_checks
    check prefix-reads prefix_reads
    check prefix-serves prefix_serves
    check prefix-keeps-changes prefix_keeps_changes
    check prefix-uninstalls prefix_uninstalls
}
