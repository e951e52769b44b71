/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/tag.c - tags: packets after a match of a rule with `tag` are logged. Tags
 * of flows belong to the flow's thread; tags of hosts are in a shared table. */
#include "detect/state/tag.h"

#include "base/memory/lib_memory.h"
#include "detect/rule/ruleset_private.h"
#include "detect/state/shard_table.h"
#include "flow/flow.h"
#include "sequencer/sequencer.h"

#include <stdlib.h>

#define RESTARTS_MAX 9          /* a rule that keeps matching must not tag forever */
#define FLOW_TAGS_MAX 50        /* Suricata's DETECT_TAG_MAX_TAGS */
#define HOST_TAG_SECONDS 3600   /* after that the tag of an idle host expires */

/* One tag: `seen` of `count` packets, bytes or seconds are used up. */
struct tag_state {
    uint64_t first_us;
    uint64_t seen;              /* packets or bytes since */
    uint32_t count;
    uint8_t metric, restarts;
    bool started;                 /* the packet that matched has passed */
    bool over;
};
_Static_assert(sizeof(struct tag_state) <= SHARD_VALUE_SIZE, "state fits an entry");

struct flow_tag {
    struct flow_tag *next;
    uint32_t sid, gid;
    struct tag_state state;
};

struct tag_table {
    struct shard_table *hosts;
    bool used;                  /* relaxed; set by the first tag of a host */
    bool expected;              /* relaxed; some rule tags hosts */
};

/* A quarter of host.memcap, next to the bits of hosts. */
struct tag_table *tag_table_new(const struct conf_node *root)
{
    struct tag_table *table = calloc(1, sizeof(*table));

    if (table == NULL)
        return NULL;
    table->hosts = shard_table_new(conf_size(root, "host.memcap", 16 << 20) / 4);
    if (table->hosts == NULL) {
        free(table);
        return NULL;
    }
    return table;
}

void tag_table_free(struct tag_table *table)
{
    if (table == NULL)
        return;
    shard_table_free(table->hosts);
    free(table);
}

struct shard_table *tag_table_hosts(struct tag_table *table)
{
    return table->hosts;
}

/* Called while rules are loaded. Only then packets wait in sequence for tags. */
void tag_expect_hosts(struct tag_table *table)
{
    __atomic_store_n(&table->expected, true, __ATOMIC_RELAXED);
}

static struct flow_tag *flow_tags(const struct flow *flow)
{
    return flow->ext != NULL ? flow->ext->tags : NULL;
}

/* When the flow ends. */
void tag_flow_free(struct flow *flow)
{
    struct flow_tag *tag = flow_tags(flow);

    if (tag != NULL)
        flow->ext->tags = NULL;
    while (tag != NULL) {
        struct flow_tag *next = tag->next;

        lib_free(tag);
        tag = next;
    }
}

/* --- starting --------------------------------------------------------------------------------- */

static struct tag_state fresh_state(const struct tag_spec *spec, uint64_t now_us)
{
    return (struct tag_state){ .first_us = now_us, .count = spec->count, .metric = spec->metric };
}

/* Another match starts the count again; a tag that is used up counts as a new one. */
static void restart(struct tag_state *s, const struct tag_spec *spec, uint64_t now_us)
{
    if (s->over) {
        *s = fresh_state(spec, now_us);
        return;
    }
    if (s->restarts >= RESTARTS_MAX)
        return;
    s->restarts++;
    s->first_us = now_us;
    s->seen = 0;
}

/* One tag per rule. Without memory or space the match leaves no tag. */
static void start_flow(const struct rule *rule, const struct tag_spec *spec, struct flow *flow,
                       uint64_t now_us)
{
    struct flow_tag *tag;
    unsigned count = 0;

    for (tag = flow_tags(flow); tag != NULL; tag = tag->next, count++) {
        if (tag->sid == rule->sid && tag->gid == rule->gid) {
            restart(&tag->state, spec, now_us);
            return;
        }
    }
    if (count >= FLOW_TAGS_MAX || flow_ext_make(flow) == NULL ||
        (tag = lib_malloc(sizeof(*tag))) == NULL)
        return;
    *tag = (struct flow_tag){ flow->ext->tags, rule->sid, rule->gid, fresh_state(spec, now_us) };
    flow->ext->tags = tag;
}

static struct shard_key host_key(const struct ip *ip)
{
    struct shard_key key = { .kind = 0 };

    shard_key_address(&key, ip);
    return key;
}

/* Other threads see the tag, so it is set in the order of the packets of this host. */
static void start_host(struct tag_table *table, const struct tag_spec *spec,
                       const struct packet *p, enum direction d)
{
    struct packet_ends ends = packet_ends(p, d);
    struct shard_key key = host_key(spec->src ? ends.src : ends.dst);
    struct shard_ref ref;
    struct tag_state *s;

    if (shard_table_has_space(table->hosts, &key))
        packet_seq_wait_hosts(p, spec->src ? ends.src : ends.dst, NULL);
    else
        packet_seq_wait(p);
    ref = shard_table_get(table->hosts, &key, p->time_us, true);
    s = ref.value;

    if (s != NULL) {
        if (ref.fresh)
            *s = fresh_state(spec, p->time_us);
        else
            restart(s, spec, p->time_us);
        *ref.ends_us = p->time_us + HOST_TAG_SECONDS * UINT64_C(1000000);
    }
    shard_table_release(&ref);
    __atomic_store_n(&table->used, true, __ATOMIC_RELAXED);
}

/* Called when the rule's alert is certain (alert_finish). */
void tag_start(struct tag_table *table, const struct rule *rule, const struct packet *p,
               enum direction d)
{
    for (const struct tag_spec *spec = rule->tags; spec != NULL; spec = spec->next) {
        if (spec->host && p->src.version != 0)
            start_host(table, spec, p, d);
        else if (!spec->host && p->flow != NULL)
            start_flow(rule, spec, p->flow, p->time_us);
    }
}

/* --- counting --------------------------------------------------------------------------------- */

/* True when this packet is to be logged. The packet that matched is not: its alert is. */
static bool count_packet(struct tag_state *s, const struct packet *p)
{
    bool first = !s->started;

    if (s->over)
        return false;
    if (s->metric == TAG_PACKETS)
        s->seen++;
    else if (s->metric == TAG_BYTES)
        s->seen += p->len;
    else
        s->seen = MAX(p->time_us, s->first_us) / 1000000 - s->first_us / 1000000;
    s->started = true;
    if (first)
        return false;
    s->over = s->seen > s->count;
    return !s->over;
}

/* Locks one shard. */
static bool count_host(struct tag_table *table, const struct packet *p, const struct ip *ip)
{
    struct shard_key key = host_key(ip);
    struct shard_ref ref = shard_table_get(table->hosts, &key, p->time_us, false);
    bool tagged = ref.value != NULL && count_packet(ref.value, p);

    shard_table_release(&ref);
    return tagged;
}

/* Tags of both hosts count. No thread is waited for if all packets of both are this one's. */
static void wait_for_tags(const struct packet *p)
{
    struct seq_handle *handle = sequencer_slot(p)->handle;

    if (handle == NULL || (p->src.version != 0 && seq_handle_has_host(handle, &p->src) &&
                           seq_handle_has_host(handle, &p->dst)))
        return;
    packet_seq_wait(p);
}

/* Called for every packet after its rules. Two relaxed loads decide that most packets skip
 * the table. */
void tag_packet(struct tag_table *table, struct packet *p)
{
    bool tagged = false;

    if (p->flags & PACKET_PSEUDO)
        return;
    for (struct flow_tag *t = p->flow != NULL ? flow_tags(p->flow) : NULL; t != NULL; t = t->next)
        tagged |= count_packet(&t->state, p);
    if (UNLIKELY(__atomic_load_n(&table->expected, __ATOMIC_RELAXED)))
        wait_for_tags(p);
    if (__atomic_load_n(&table->used, __ATOMIC_RELAXED) && p->src.version != 0) {
        tagged |= count_host(table, p, &p->src);
        tagged |= count_host(table, p, &p->dst);
    }
    if (tagged)
        p->flags |= PACKET_TAGGED;
}
