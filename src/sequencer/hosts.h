/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/hosts.h - which hosts only one thread inspects.
 *
 * State about a host or a pair of hosts can only be changed by a thread that inspects packets of
 * these hosts. The scan of a file notes for each packet which thread inspects it, before any thread
 * has it. If until the newest scanned packet all of a host's packets are one thread's, no other
 * thread can come to the host's state before this one, and there is nothing to wait for. Most
 * thresholds that rules count by host are of such hosts.
 *
 * A slot in the table is never free again, and hosts with one hash share it. Both only make a
 * thread wait that need not. */
#ifndef SEQUENCER_HOSTS_H
#define SEQUENCER_HOSTS_H

#include "base/text/ip.h"

struct seq_hosts;

struct seq_hosts *seq_hosts_new(void);
void seq_hosts_free(struct seq_hosts *hosts);           /* NULL is fine */

/* By the scan, some packets before it uses the slot: where the host is in the table, which is then
 * read into the cache. */
uint32_t seq_hosts_slot(const struct seq_hosts *hosts, const struct ip *host);
/* By the scan, one thread at a time: a packet from or to the host of this slot is the thread's. */
void seq_hosts_add(struct seq_hosts *hosts, uint32_t slot, unsigned thread);
/* By the scan: the thread of all packets of the host so far; -1: none, or several. */
int seq_hosts_thread(const struct seq_hosts *hosts, uint32_t slot);
/* By any thread: all packets of the host that were scanned are the thread's. */
bool seq_hosts_belongs(const struct seq_hosts *hosts, const struct ip *host, unsigned thread);

#endif
