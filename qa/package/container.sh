# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the Containerfile and of compose.yaml: podman builds and starts what doc/service.md
# says, in namespaces. No registry is asked: the bootstrapped system is the image debian:12.
# shellcheck shell=bash disable=SC2154

# The command `podman $1` of doc/service.md.
podman_line() {
    sed -n '/^## In a container/,$p' "$top/doc/service.md" |
        sed -e ':a' -e '/\\$/{N;s/ *\\\n */ /;ba}' -e 's/  *#.*//' | grep "^podman $1 " | head -1
}

# The machine of the containers. Its first process waits for those that lose their parent.
start_machine() {
    wants podman runc unshare nsenter ip || return
    # shellcheck disable=SC2016
    unshare -m -n -p -f --kill-child --mount-proc bash -ec 'mount --make-rprivate /
        . "$1/network.sh"
        sleep infinity & wait' - "$here" &
    booted+=($!)
    for _ in $(seq 50); do
        machine=$(pgrep -P "${booted[-1]}")
        [ -n "$machine" ] && on_machine ip route | grep -q default && return 0
        sleep 0.1
    done
    return 1
}

on_machine() { nsenter -t "$machine" -m -n -p -- "$@"; }
online() { nsenter -t "$machine" -m -p -- "$@"; }

# Limits that every root may set, also one without CAP_SYS_RESOURCE. runc knows machines with both
# versions of cgroups, crun does not. Short names of images are local ones, also for docker-compose.
container_settings() {
    local driver=vfs
    store=$(mktemp -d "$kept/containers.XXXXXX") || return
    grep -qw overlay /proc/filesystems && driver=overlay
    cat > "$store/storage.conf" << END
[storage]
driver = "$driver"
graphroot = "$store/root"
runroot = "$store/run"
END
    cat > "$store/containers.conf" << END
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
compat_api_enforce_docker_hub = false
tmp_dir = "$store/tmp"
END
    export CONTAINERS_STORAGE_CONF=$store/storage.conf CONTAINERS_CONF=$store/containers.conf
    export BUILDAH_ISOLATION=chroot
}

# A debian:12 as registries have it: without systemd.
base_image() {
    container_settings || return
    base=$kept/image
    rm -rf --one-file-system "$base" && cp -a --reflink=auto "$kept/base" "$base" || return
    chroot "$base" apt-get -q -y purge --allow-remove-essential systemd systemd-sysv dbus || return
    tar -C "$base" -cf - . | online podman import -q - localhost/debian:12 || return
    rm -rf --one-file-system "$base"
}

container_builds() {
    local source=$store/source
    mkdir "$source" || return
    (cd "$top" && git ls-files -z | tar --null -T - -cf -) | tar -C "$source" -xf - || return
    online bash -c "cd '$source' && $(podman_line build) --network host" || return
    on_machine podman image inspect -f '{{.Config.User}} {{.Config.Healthcheck.Test}}' ids | tee /dev/stderr |
        grep -qx 'ids \[CMD /usr/bin/idsc uptime\]'
}

log_of_container_has() { on_machine podman exec ids grep -q "$1" "/var/log/ids/$2"; }
on_machine_as_told() { on_machine bash -c "$(podman_line "$1")"; }

container_starts() {
    on_machine_as_told run && wait_for on_machine_as_told exec ||
        { on_machine podman logs ids; return 1; }
}

# The user, and NET_ADMIN, NET_RAW, IPC_LOCK and SYS_NICE: as the service has them.
container_has_rights() {
    on_machine podman top ids user comm | tail -n +2 | tee /dev/stderr | grep -qx 'ids *ids' &&
        on_machine podman exec ids grep -E '^Cap(Prm|Eff|Bnd)' /proc/1/status | tee /dev/stderr |
        awk '$2 != "0000000000807000" { wrong = 1 } END { exit wrong || NR != 3 }'
}

container_is_healthy() {
    on_machine podman healthcheck run ids &&
        on_machine podman inspect -f '{{.State.Healthcheck.Status}}' ids | tee /dev/stderr |
        grep -qx healthy
}

container_captures() {
    echo 'alert udp any any -> any 9 (msg:"to discard"; sid:1;)' > "$work/my.rules" &&
        on_machine bash -c "cd '$work' && $(podman_line cp)" && on_machine_as_told kill &&
        wait_for log_of_container_has "rule reload complete: 1 rules" suricata.log &&
        on_machine bash -c 'echo hello > /dev/udp/192.0.2.2/9' &&
        wait_for log_of_container_has '"signature":"to discard"' eve.json
}

# SIGTERM ends it before podman kills it, and the volumes keep rules and logs.
container_stops() {
    on_machine podman stop -t 60 ids &&
        on_machine podman inspect -f '{{.State.ExitCode}}' ids | tee /dev/stderr | grep -qx 0 &&
        on_machine podman start ids && wait_for on_machine podman exec ids idsc uptime &&
        log_of_container_has '"signature":"to discard"' eve.json &&
        on_machine podman exec ids idsc ruleset-stats | tee /dev/stderr |
        grep -q '"rules_loaded": 1' && on_machine podman rm -f -t 20 ids
}

# Without one of the capabilities the kernel refuses.
container_wants_capabilities() {
    ! on_machine podman run --rm --network host --cap-drop all --cap-add NET_RAW \
        --entrypoint /usr/bin/ids ids -V 2> "$work/refused" && cat "$work/refused" &&
        grep -qi 'operation not permitted' "$work/refused"
}

# Prometheus of Debian under the name of the image that compose.yaml asks for.
compose_images() {
    wants docker-compose curl || return
    on_machine podman tag ids compose_ids && online podman build -q --network host --format docker \
        -t localhost/prom/prometheus - << END
FROM debian:12
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    prometheus && mkdir /prometheus && chown nobody /prometheus
USER nobody
ENTRYPOINT ["/usr/bin/prometheus"]
END
}

prometheus_says() {
    on_machine curl -s "http://127.0.0.1:9090/api/v1/$1" | tee "$work/said" | grep -q "$2"
}

# All but Grafana, which Debian does not have. podman answers docker-compose as Docker does.
compose_starts() {
    local socket=$store/docker.sock
    on_machine podman system service -t 0 "unix://$socket" &
    wait_for test -S "$socket" || return
    on_machine env IDS_INTERFACES=eth0 DOCKER_HOST="unix://$socket" docker-compose \
        -f "$top/packaging/compose/compose.yaml" up -d --no-build ids prometheus || return
    wait_for prometheus_says targets '"health":"up"' &&
        wait_for prometheus_says rules '"name":"IdsKernelDrops"' &&
        on_machine curl -s http://127.0.0.1:9917/ | grep '<title>' ||
        { cat "$work/said"; on_machine podman ps -a; on_machine podman logs compose_ids_1; return 1; }
}

test_container() {
    check container-bootstrap bootstrap || return 0
    check container-machine start_machine || return 0
    check container-base base_image || return 0
    check container-builds container_builds || return 0
    check container-starts container_starts || return 0
    check container-rights container_has_rights
    check container-healthy container_is_healthy
    check container-captures container_captures
    check container-stops container_stops
    check container-capabilities container_wants_capabilities
    check container-compose-images compose_images || return 0
    check container-compose compose_starts
}
