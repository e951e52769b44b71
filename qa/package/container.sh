# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the Containerfile without a registry: its instructions are carried out in copies of the
# bootstrapped system, one for each stage.
# shellcheck shell=bash disable=SC2154

# Prints the RUN instructions of stage $1, each on one line.
runs_of_stage() {
    sed -e '/^#/d' -e ':a' -e '/\\$/{N;s/ *\\\n */ /;ba}' "$top/Containerfile" |
        awk -v stage="$1" '/^FROM /{ n++ } n == stage && sub(/^RUN /, "")'
}

run_stage() {
    local command
    while read -r command; do
        echo "RUN $command"
        unshare -m bash -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" &&
            exec chroot "$1" /bin/sh -c "mkdir -p /src && cd /src && $2"' \
            - "$1" "$command" < /dev/null || return
    done < <(runs_of_stage "$2")
}

copy_base() {
    rm -rf --one-file-system "$1" && cp -a --reflink=auto "$kept/base" "$1" &&
        cp /etc/resolv.conf "$1/etc/resolv.conf"
}

container_builds() {
    stage=$kept/stage1
    copy_base "$stage" && mkdir "$stage/src" || return
    (cd "$top" && git ls-files -z | tar --null -T - -cf -) | tar -C "$stage/src" -xf - || return
    run_stage "$stage" 1 && [ -f "$stage/out/ids.deb" ]
}

container_installs() {
    image=$kept/stage2
    copy_base "$image" && chroot "$image" apt-get -q -y purge --allow-remove-essential \
        systemd systemd-sysv dbus && cp "${stage:-$kept/stage1}/out/ids.deb" "$image/tmp/" || return
    run_stage "$image" 2
}

# The entry point as user ids, with the capabilities that doc/service.md gives the container.
container_runs() {
    local status=1 pid
    unshare -m -n -p -f --kill-child bash -c '
        set -e
        mount --make-rprivate /
        mount --bind "$1" "$1"
        mount -t proc proc "$1/proc"
        mount -t sysfs sysfs "$1/sys"
        mount --bind /dev "$1/dev"
        ip link add eth0 type veth peer name far
        ip link set eth0 up
        ip link set far up
        exec chroot "$1" setpriv --reuid ids --regid ids --clear-groups --inh-caps -all \
            --bounding-set -all,+net_raw,+net_admin,+ipc_lock,+sys_nice \
            env IDS_INTERFACES=eth0 /usr/libexec/ids/start' - "$image" &
    pid=$!
    for _ in $(seq 100); do
        chroot "$image" idsc uptime 2> /dev/null && { status=0; break; }
        sleep 0.2
    done
    # The kernel forgets --kill-child when a program with capabilities of its own starts.
    pkill -KILL -P "$pid"
    wait "$pid"
    [ $status = 0 ] && chroot "$image" find /var/log/ids -name eve.json -user ids | grep .
}

# Without one of them the kernel refuses.
container_wants_capabilities() {
    ! chroot "$image" setpriv --reuid ids --regid ids --clear-groups --inh-caps -all \
        --bounding-set -all,+net_raw /usr/bin/ids -V
}

test_container() {
    check container-bootstrap bootstrap || return 0
    check container-builds container_builds || return 0
    check container-installs container_installs || return 0
    check container-runs container_runs
    check container-capabilities container_wants_capabilities
}
