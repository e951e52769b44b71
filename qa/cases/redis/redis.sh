# SPDX-License-Identifier: GPL-2.0-or-later
# Functions for cases with a redis server that is none; sourced.

# directory, close-after: starts a server there; its place is then in $directory/port.
start_server() {
    mkdir -p "$1"
    where=${tcp:-$1/socket}
    python3 "$QA/cases/redis/server.py" "$where" "$@" 2> "$1/server.err" &
    server=$!
    trap 'kill $server 2> /dev/null || true' EXIT
    for _ in $(seq 200); do
        [ -e "$1/port" ] && return
        sleep 0.05
    done
    return 1
}

# directory, keys of `redis:`: a configuration that writes to a file and to the server.
configure() {
    {
        printf '%%YAML 1.1\n---\n'
        echo "classification-file: $SRC/rules/classification.config"
        echo "reference-config-file: $SRC/rules/reference.config"
        echo 'outputs:'
        printf '  - eve-log: {enabled: yes, filename: eve.json, types: &types [alert, http, '
        printf 'dns, tls, ssh, files, flow]}\n'
        printf '  - eve-log: {enabled: yes, filetype: redis, redis: {%s}, types: *types}\n' "$2"
    } > "$1/ids.yaml"
}
