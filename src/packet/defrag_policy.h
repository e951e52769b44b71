/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/defrag_policy.h - which copy of overlapping fragments a host reads, and how long it waits.
 *
 * After J. Novak, "Target-Based Fragmentation Reassembly". Read-only once loaded. */
#ifndef PACKET_DEFRAG_POLICY_H
#define PACKET_DEFRAG_POLICY_H

#include "base/text/ip.h"
#include "conf/conf.h"

enum defrag_policy {
    DEFRAG_FIRST, DEFRAG_LAST, DEFRAG_BSD, DEFRAG_BSD_RIGHT, DEFRAG_LINUX, DEFRAG_WINDOWS,
    DEFRAG_SOLARIS,
};

/* Decides about an older fragment [old_start, old_end) and a newer one that overlap: true if the
 * older one keeps its bytes. */
bool defrag_policy_keeps_old(enum defrag_policy policy, uint32_t old_start, uint32_t old_end,
                             uint32_t new_start, uint32_t new_end);

/* Policies by address; the longest prefix wins. */
struct ip_settings;
struct ip_settings *defrag_policy_load(const struct conf_node *root);      /* host-os-policy */
struct ip_settings *defrag_timeout_load(const struct conf_node *root);     /* defrag.host-config */
void ip_settings_free(struct ip_settings *s);
uint32_t ip_settings_find(const struct ip_settings *s, const struct ip *ip, uint32_t otherwise);

#endif
