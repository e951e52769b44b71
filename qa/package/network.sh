# SPDX-License-Identifier: GPL-2.0-or-later
# The network of the namespace it is read in: an interface with a default route, and a neighbour
# that never answers.
# shellcheck shell=bash
ip link set lo up
ip link add eth0 type veth peer name far
ip address add 192.0.2.1/24 dev eth0
ip link set far up
ip link set eth0 up
ip neighbour add 192.0.2.2 lladdr 02:00:00:00:00:02 dev eth0
ip route add default via 192.0.2.2
