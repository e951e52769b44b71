# SPDX-License-Identifier: GPL-2.0-or-later
# dpdk.sh - for the tests of DPDK: an environment without huge pages and cards. Sourced after lib.sh.
"$IDS_BIN" --build-info | grep -q "DPDK.*yes" || skip "built without DPDK"

# dpdk_section DEVICE...: the head of the section dpdk, with these virtual devices. Nothing is left
# in files, so that tests can run side by side.
dpdk_section() {
    local device
    printf 'dpdk:\n  eal-params:\n    no-huge: yes\n    no-pci: yes\n    no-shconf: yes\n    m: 256\n'
    printf '    no-telemetry: yes\n    vdev:\n'
    for device; do printf '      - "%s"\n' "$device"; done
}
