/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/header_id.c - numbers the headers that are tested most often, so that a flow can
 * cache which of them match. Thousands of rules have only a few headers, but a rule without a
 * selective pattern is a candidate for each packet, so its header counts for more. */
#include "detect/compile/compile.h"
#include "base/containers/map.h"

#include <stdlib.h>
#include <string.h>

/* Equal sets have equal pointers; no padding between the members. */
struct header_key {
    const void *src, *dst, *src_port, *dst_port;
    uint8_t ip_proto[32];
    uint64_t ip_version;
};

/* class: its id */
struct header_use { struct header_key key; unsigned weight; uint8_t class; };
typedef ARRAY_OF(struct header_use *) use_array;

/* The key is compared as bytes, so every byte of it must be set. */
static struct header_key key_of(const struct rule *r)
{
    struct header_key key = { r->src, r->dst, r->src_port, r->dst_port, { 0 }, r->ip_version };

    memcpy(key.ip_proto, r->ip_proto, sizeof(key.ip_proto));
    return key;
}

/* The most frequent header first: only HEADER_IDS_MAX get a number. */
static int by_weight(const void *a, const void *b)
{
    const struct header_use *x = *(struct header_use *const *)a;
    const struct header_use *y = *(struct header_use *const *)b;

    return (x->weight < y->weight) - (x->weight > y->weight);
}

/* A pattern of this worth has four rare bytes; one of half of it is a run of zeros. */
#define WORTH_SELECTIVE 16u

/* How many rules with a selective pattern one with this pattern makes up for. */
static unsigned weight_of_worth(unsigned worth)
{
    if (worth >= WORTH_SELECTIVE)
        return 1;
    if (worth == 0)
        return 256;
    return worth < WORTH_SELECTIVE / 2 ? 128 : 32;
}

/* Patterns in buffers of transactions always count as selective, as do addresses, events, a newly
 * detected protocol and rare ports. */
static unsigned weight_of(const struct rule *r)
{
    if ((r->type == RULE_APP_TX && r->fast_op != NULL) || r->type == RULE_IP_ONLY ||
        r->type == RULE_DECODER_EVENT || r->type == RULE_PROTO_ONLY ||
        ports_are_few(r->dst_port) || ports_are_few(r->src_port))
        return 1;
    return weight_of_worth(rule_payload_worth(r));
}

/* A flow caches the result of each numbered header as one bit of 64. */
void rules_number_headers(struct ruleset *set)
{
    struct map uses = { 0 };
    use_array list = { 0 };

    for (size_t i = 0; i < set->rules.count; i++) {
        struct header_key key = key_of(set->rules.at[i]);
        struct header_use *use = map_get(&uses, &key, sizeof(key));

        if (use == NULL) {
            use = xcalloc(1, sizeof(*use));
            use->key = key;
            map_put(&uses, &use->key, sizeof(use->key), use);
            ARRAY_PUSH(&list, use);
        }
        use->weight += weight_of(set->rules.at[i]);
    }
    if (list.count > 1)
        qsort(list.at, list.count, sizeof(*list.at), by_weight);
    for (size_t i = 0; i < list.count; i++)
        list.at[i]->class = i < HEADER_IDS_MAX ? (uint8_t)i : HEADER_ID_NONE;
    for (size_t i = 0; i < set->rules.count; i++) {
        struct header_key key = key_of(set->rules.at[i]);

        set->rules.at[i]->header_id =
            ((struct header_use *)map_get(&uses, &key, sizeof(key)))->class;
    }
    for (size_t i = 0; i < list.count; i++)
        free(list.at[i]);
    ARRAY_FREE(&list);
    map_fini(&uses);
}
