#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes ./configure from configure.ac, and the list of sources from the tree.
set -e
cd "$(dirname "$0")"
mkdir -p m4
scripts/list-sources
exec autoreconf --force --install "$@"
