# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the archive that `make dist` makes.
# shellcheck shell=bash disable=SC2154

# From sources as they are committed: automake unpacks its archive into a directory that cannot be
# written, and builds, checks, installs and removes from there. What the archive lacks fails here.
dist_checks() {
    local cc=gcc
    wants git autoreconf || return
    command -v ccache > /dev/null && cc="ccache gcc"
    chmod -R u+w "$kept/dist" 2> /dev/null
    rm -rf --one-file-system "$kept/dist" && mkdir -p "$kept/dist/source" || return
    (cd "$top" && git ls-files -z | tar --null -T - -cf -) | tar -C "$kept/dist/source" -xf - &&
        cd "$kept/dist/source" && ./autogen.sh > ../autogen.log 2>&1 && ./configure -q CC="$cc" &&
        make -s -j"$(nproc)" distcheck DISTCHECK_CONFIGURE_FLAGS="CC='$cc'"
}

test_dist() {
    check dist-checks dist_checks && rm -rf --one-file-system "$kept/dist"
}
