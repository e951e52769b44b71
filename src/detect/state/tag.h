/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/tag.h - what follows a rule with `tag` is to be logged: packets of its flow or of a
 * host.
 *
 * Tags of a flow hang on the flow; a host has one at a time, in a table that threads share and
 * that is looked into only while it has entries. */
#ifndef DETECT_TAG_H
#define DETECT_TAG_H

#include "conf/conf.h"
#include "packet/packet.h"

struct flow;
struct rule;

enum tag_metric { TAG_PACKETS, TAG_BYTES, TAG_SECONDS };
struct tag_spec {
    struct tag_spec *next;      /* of the rule */
    uint32_t count;
    uint8_t metric;             /* enum tag_metric */
    bool host, src;             /* else the flow; the source, else the destination */
};

struct tag_table;
struct tag_table *tag_table_new(const struct conf_node *root);
void tag_table_free(struct tag_table *table);
struct shard_table;
struct shard_table *tag_table_hosts(struct tag_table *table);

/* At load time: some rule tags hosts. */
void tag_expect_hosts(struct tag_table *table);
/* The rule has matched on this packet, on what direction d sends, and its threshold does not take
 * that back. */
void tag_start(struct tag_table *table, const struct rule *rule, const struct packet *p,
               enum direction d);
/* Each packet once, after its rules: counts it and sets PACKET_TAGGED. */
void tag_packet(struct tag_table *table, struct packet *p);
void tag_flow_free(struct flow *flow);          /* with the flow */

#endif
