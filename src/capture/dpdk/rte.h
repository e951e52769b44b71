/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/dpdk/rte.h - DPDK's headers. They include <netinet/ip.h>, whose `struct ip` has the name
 * of ours (base/text/ip.h); nothing here needs theirs. */
#ifndef CAPTURE_DPDK_RTE_H
#define CAPTURE_DPDK_RTE_H

#define ip netinet_ip
#include <rte_eal.h>
#include <rte_epoll.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>
#undef ip

#endif
