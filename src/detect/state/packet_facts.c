/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/packet_facts.c - a bit of a flow for each rule whose packet conditions held. The
 * bits belong to the thread that inspects the flow. */
#include "detect/state/packet_facts.h"

#include "base/memory/lib_memory.h"
#include "flow/flow.h"

/* Of a fixed size, so a reload that splits more rules needs no other one. */
struct flow_facts { uint64_t bits[PACKET_FACTS_MAX / 64]; };

static bool is_known(const struct flow *f, uint32_t number)
{
    return f->ext != NULL && f->ext->facts != NULL &&
           (f->ext->facts->bits[number / 64] >> (number % 64) & 1);
}

void packet_facts_free(struct flow *f)
{
    if (f->ext == NULL || f->ext->facts == NULL)
        return;
    lib_free(f->ext->facts);
    f->ext->facts = NULL;
}

/* An ICMP error about the flow is not one of its packets. */
static bool unknown_match(const struct match_input *in, const void *arg)
{
    const struct packet_fact *fact = arg;

    return in->flow != NULL && in->packet->ip_proto == in->flow->key.proto &&
           !is_known(in->flow, fact->number);
}

/* False: this half never alerts. Without memory the next packet tries again. */
static bool note_match(const struct match_input *in, const void *arg)
{
    const struct packet_fact *fact = arg;
    struct flow *f = in->flow;

    if (flow_ext_make(f) == NULL)
        return false;
    if (f->ext->facts == NULL)
        f->ext->facts = lib_calloc(1, sizeof(*f->ext->facts));
    if (f->ext->facts != NULL)
        f->ext->facts->bits[fact->number / 64] |= 1ull << (fact->number % 64);
    return false;
}

static bool known_match(const struct match_input *in, const void *arg)
{
    const struct packet_fact *fact = arg;

    return in->flow != NULL && is_known(in->flow, fact->number);
}

/* Rules cannot name it: the registry does not have it. Reports show the name. */
static const struct keyword_ops keyword_packet_facts = {
    .name = "packet-facts",
    .doc = "the rule's packet conditions held on a packet of the flow",
    .arg_size = sizeof(struct packet_fact),
};

static struct rule_test test_of(const struct packet_fact *fact,
                                bool (*match)(const struct match_input *in, const void *arg))
{
    return (struct rule_test){ .keyword = &keyword_packet_facts, .match = match, .arg = fact,
                               .directions = APP_BOTH };
}

struct rule_test packet_fact_unknown(const struct packet_fact *fact)
{
    return test_of(fact, unknown_match);
}

struct rule_test packet_fact_note(const struct packet_fact *fact)
{
    return test_of(fact, note_match);
}

/* A later packet can make it true, as long as the transaction is open. */
struct rule_test packet_fact_known(const struct packet_fact *fact)
{
    struct rule_test test = test_of(fact, known_match);

    test.any_time = true;
    return test;
}
