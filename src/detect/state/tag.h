/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/tag.h - rules with `tag` make later packets of a flow or host logged.
 *
 * A flow holds its own tags. A host has one tag at a time, in a table that threads share; threads
 * read it only while it has entries. */
#ifndef DETECT_TAG_H
#define DETECT_TAG_H

#include "conf/conf.h"
#include "packet/packet.h"

struct flow;
struct rule;

enum tag_metric { TAG_PACKETS, TAG_BYTES, TAG_SECONDS };
struct tag_spec {
    struct tag_spec *next;      /* next tag of the rule */
    uint32_t count;
    uint8_t metric;             /* enum tag_metric */
    bool host, src;             /* else the flow; the source, else the destination */
};

struct tag_table;
struct tag_table *tag_table_new(const struct conf_node *root);
void tag_table_free(struct tag_table *table);
struct shard_table;
struct shard_table *tag_table_hosts(struct tag_table *table);

/* Announces, at load time, that a rule tags hosts. */
void tag_expect_hosts(struct tag_table *table);
/* Starts the rule's tags after it matched on what direction d of this packet sends, unless its
 * threshold cancelled the match. */
void tag_start(struct tag_table *table, const struct rule *rule, const struct packet *p,
               enum direction d);
/* Call it once per packet, after its rules: counts the packet and sets PACKET_TAGGED. */
void tag_packet(struct tag_table *table, struct packet *p);
void tag_flow_free(struct flow *flow);          /* when the flow is freed */

#endif
