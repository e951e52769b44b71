# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the Debian package, in a system of its own that runs systemd in namespaces.
# shellcheck shell=bash disable=SC2154

deb_builds() {
    [ -z "$deb" ] || return 0
    wants dpkg-buildpackage dh git || return
    rm -rf "$kept/deb" && mkdir -p "$kept/deb/ids" || return
    (cd "$top" && git ls-files -z | tar --null -T - -cf -) | tar -C "$kept/deb/ids" -xf - &&
        (cd "$kept/deb/ids" && DEBFULLNAME="The builder" DEBEMAIL=builder@ids.example \
            dpkg-buildpackage -b -us -uc) || return
    deb=$(echo "$kept"/deb/ids_*.deb)
    [ -f "$deb" ]
}

deb_is_clean() {
    wants lintian || return
    lintian --fail-on error "$deb"
}

# The one who built it, instead of the address that nobody reads. A package of another build has one
# as well.
deb_names_builder() {
    dpkg-deb -f "$deb" Maintainer | tee /dev/stderr | if [[ $deb = "$kept"/deb/ids_*.deb ]]; then
        grep -Fx "The builder <builder@ids.example>"
    else
        grep "<.*@.*>"
    fi
}

# An archive linked in would not be updated with its package.
deb_links_libhtp() { dpkg-deb -f "$deb" Depends | tee /dev/stderr | grep -q libhtp2; }

# The mirror from which apt of this machine takes its system.
mirror() {
    local codename
    codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
    apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
        sed -n "s/^$codename //p" | head -1
}

bootstrap() {
    local codename source
    wants debootstrap unshare nsenter ip || return
    [ "$(id -u)" = 0 ] || { echo "needs root"; return 77; }
    [ ! -d "$kept/base" ] || return 0
    codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
    source=$(mirror)
    [ -n "$source" ] || { echo "apt names no mirror of $codename"; return 77; }
    rm -rf "$kept/base.new"
    mkdir -p "$kept"
    debootstrap --variant=minbase --include=systemd-sysv,dbus,iproute2,procps,logrotate \
        "$codename" "$kept/base.new" "$source" > "$kept/debootstrap.log" 2>&1 ||
        { tail -5 "$kept/debootstrap.log"; return 1; }
    mv "$kept/base.new" "$kept/base"
}

# The dependencies only, while there is a network.
prepare() {
    system=$kept/system
    rm -rf --one-file-system "$system" && cp -a --reflink=auto "$kept/base" "$system" || return
    cp /etc/resolv.conf "$system/etc/resolv.conf"
    chroot "$system" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
        satisfy "$(dpkg-deb -f "$deb" Depends)" || return
    cp "$deb" "$system/root/ids.deb"
}

inside() { nsenter -t "$init" -m -p -i -u -n -C -r env PATH="$PATH:/usr/sbin:/sbin" "$@"; }

start_system() {
    local group='' at
    at=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -1)
    [ -n "$at" ] || { echo "no cgroup2 here"; return 77; }
    group=$at/ids-package.$$
    mkdir "$group" || { echo "no cgroup can be made"; return 77; }
    bash -c 'echo $$ > "$1/cgroup.procs" && exec setsid unshare -m -p -i -u -n -C -f --kill-child \
        bash "$2/boot" "$3"' - "$group" "$here" "$system" < /dev/null > "$kept/boot.log" 2>&1 &
    booted+=($!)
    for _ in $(seq 100); do
        init=$(pgrep -P "${booted[-1]}")
        [ -n "$init" ] && inside systemctl is-system-running 2> /dev/null |
            grep -qE 'running|degraded' && return 0
        sleep 0.3
    done
    cat "$kept/boot.log"
    return 1
}

# wait_for COMMAND...: 20 seconds at most.
wait_for() {
    for _ in $(seq 100); do "$@" > /dev/null 2>&1 && return 0; sleep 0.2; done
    echo "still not: $*"
    return 1
}

main_pid() { inside systemctl show -P MainPID ids; }
log_has() { inside grep -q "$1" /var/log/ids/"$2"; }
send() { inside bash -c 'echo hello > /dev/udp/192.0.2.2/9'; }

installs() {
    inside env DEBIAN_FRONTEND=noninteractive dpkg -i /root/ids.deb && inside systemctl is-active ids ||
        { inside journalctl -q -n 30 -u ids; return 1; }
}

runs_as_ids() {
    local pid
    pid=$(main_pid)
    inside ps -o user=,args= -p "$pid"
    inside ps -o user= -p "$pid" | grep -qx ids &&
        inside ps -o args= -p "$pid" | grep -q -- '-i eth0' &&
        inside grep -i '^cap\(eff\|bnd\|amb\)' "/proc/$pid/status" | tee /dev/stderr |
        awk '$2 != "0000000000807000" { wrong = 1 } END { exit wrong || NR != 3 }'
}

# systemd has heard that the engine works, and would restart it otherwise.
reports_alive() {
    inside systemctl show -P WatchdogUSec ids | grep -qx 30s || return
    wait_for inside bash -c '[ "$(systemctl show -P WatchdogTimestampMonotonic ids)" -gt \
        "$(systemctl show -P ActiveEnterTimestampMonotonic ids)" ]'
}

configuration_checks() { inside ids -T | tee /dev/stderr | grep -q 'successfully loaded'; }

answers() {
    inside idsc uptime && inside suricatasc -c uptime | tee /dev/stderr | grep -q '"return": "OK"' &&
        inside suricata --build-info | grep -q /etc/ids/ids.yaml
}

sample_alerts() {
    inside ids -S /usr/share/ids/rules/sample.rules -l /tmp \
        -r /usr/share/doc/ids/examples/quickstart.pcap && inside grep -c SAMPLE /tmp/fast.log
}

# As the tutorial tells: the listener is switched on, and answers the service's own machine.
shows_page() {
    local yaml=/etc/ids/ids.yaml
    inside sed -i '/^metrics:/,/^[a-z]/s/^  enabled: no/  enabled: yes/' "$yaml" &&
        inside systemctl restart ids && inside python3 - << END
import urllib.request
read = lambda path: urllib.request.urlopen("http://127.0.0.1:9917" + path, timeout=20).read().decode()
assert "<title>" in read("/")
assert "\nids_rules_loaded " in read("/metrics")
END
}

reloads() {
    local pid
    pid=$(main_pid)
    inside bash -c 'echo "alert udp any any -> any 9 (msg:\"to discard\"; sid:1;)" \
        > /var/lib/ids/rules/suricata.rules' && inside systemctl reload ids &&
        wait_for log_has "rule reload complete: 1 rules" suricata.log &&
        send && wait_for log_has '"signature":"to discard"' eve.json && [ "$(main_pid)" = "$pid" ]
}

# The addition to the unit that doc/service.md shows.
with_take_over() {
    local into=$system/etc/systemd/system/ids.service.d
    mkdir -p "$into" && sed -n '/^## Replacing the program/,/^## Log/{/^\[Service\]/,/^```/p}' \
        "$top/doc/service.md" | grep -v '^```' | tee /dev/stderr > "$into/take-over.conf" &&
        grep -q -- --take-over "$into/take-over.conf" && inside systemctl daemon-reload
}

# Another process becomes the main one, and the service has never stopped.
replaces() {
    local pid starts
    pid=$(main_pid)
    starts=$(inside systemctl show -P ActiveEnterTimestampMonotonic ids)
    with_take_over && inside systemctl reload ids || { inside journalctl -q -n 30 -u ids; return 1; }
    wait_for inside bash -c "! kill -0 $pid" || return
    runs_as_ids && [ "$(main_pid)" != "$pid" ] && inside systemctl is-active ids &&
        [ "$(inside systemctl show -P ActiveEnterTimestampMonotonic ids)" = "$starts" ] &&
        inside rm /var/log/ids/eve.json && inside idsc reopen-log-files && send &&
        wait_for log_has '"signature":"to discard"' eve.json && inside idsc uptime
}

# systemd hears the new process, and notices when it is killed.
watches_the_new_one() {
    local at
    at=$(inside systemctl show -P WatchdogTimestampMonotonic ids)
    wait_for inside bash -c "[ \$(systemctl show -P WatchdogTimestampMonotonic ids) -gt $at ]" &&
        restarts_when_killed
}

# A configuration with a mistake: the reload fails, and the old process goes on.
keeps_the_old_one() {
    local pid
    pid=$(main_pid)
    inside bash -c 'cp -p /etc/ids/ids.yaml /root/ && echo "runmode: none-such" >> /etc/ids/ids.yaml'
    if inside systemctl reload ids; then inside journalctl -q -n 30 -u ids; return 1; fi
    inside mv /root/ids.yaml /etc/ids/ids.yaml && [ "$(main_pid)" = "$pid" ] &&
        inside systemctl is-active ids && inside idsc uptime &&
        rm "$system/etc/systemd/system/ids.service.d/take-over.conf" && inside systemctl daemon-reload
}

rotates() {
    inside logrotate -f /etc/logrotate.d/ids && wait_for inside test -f /var/log/ids/eve.json &&
        inside test -f /var/log/ids/eve.json.1 && send &&
        wait_for log_has '"signature":"to discard"' eve.json
}

restarts_when_killed() {
    local pid
    pid=$(main_pid)
    inside kill -KILL "$pid"
    wait_for inside bash -c "p=\$(systemctl show -P MainPID ids); [ \$p != 0 ] && [ \$p != $pid ]" &&
        wait_for inside systemctl is-active ids
}

# The same package with a higher version and another ids.yaml, over one that the user has changed.
upgrades() {
    local new=$work/new pid
    pid=$(main_pid)
    dpkg-deb -R "$deb" "$new" && sed -i 's/^Version: .*/&+next/' "$new/DEBIAN/control" &&
        echo "# of the next version" >> "$new/etc/ids/ids.yaml" &&
        dpkg-deb -b --root-owner-group "$new" "$system/root/next.deb" || return
    inside bash -c 'echo "# mine" >> /etc/ids/ids.yaml' &&
        inside env DEBIAN_FRONTEND=noninteractive dpkg --force-confold -i /root/next.deb &&
        inside tail -1 /etc/ids/ids.yaml | grep -q mine &&
        inside test -f /etc/ids/ids.yaml.dpkg-dist && inside systemctl is-active ids &&
        [ "$(main_pid)" != "$pid" ] && inside grep -q 'to discard' /var/lib/ids/rules/suricata.rules
}

removes() {
    inside dpkg -r ids && ! inside pgrep -x ids && ! inside test -e /usr/bin/suricata &&
        inside test -f /etc/ids/ids.yaml && inside test -f /var/log/ids/eve.json
}

purges() {
    local left
    inside dpkg -P ids || return
    left=$(inside find / -xdev \( -path /proc -o -path /sys -o -path /root -o -path /tmp \) -prune \
        -o \( -name 'ids' -o -name 'ids.*' -o -name ids.yaml \) -print)
    echo "left: $left"
    [ -z "$left" ]
}

# The kernel of this machine need not know AppArmor.
is_confined() {
    [ -d /sys/kernel/security/apparmor ] || { echo "no AppArmor in this kernel"; return 77; }
    inside cat "/proc/$(main_pid)/attr/current" | grep -q ^ids
}

test_deb() {
    check deb-builds deb_builds || return 0
    check deb-lintian deb_is_clean
    check deb-maintainer deb_names_builder
    check deb-shared-libhtp deb_links_libhtp
    check deb-bootstrap bootstrap || return 0
    check deb-dependencies prepare || return 0
    check deb-boot start_system || return 0
    check deb-installs installs || return 0
    check deb-runs-as-ids runs_as_ids
    check deb-confined is_confined
    check deb-watchdog reports_alive
    check deb-checks configuration_checks
    check deb-answers answers
    check deb-sample sample_alerts
    check deb-page shows_page
    check deb-reloads reloads
    check deb-replaces replaces
    check deb-watches-new watches_the_new_one
    check deb-keeps-old keeps_the_old_one
    check deb-rotates rotates
    check deb-restarts restarts_when_killed
    check deb-upgrades upgrades
    check deb-removes removes
    check deb-purges purges
}
