/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/packet_facts.c - a rule with conditions on packets and on transactions becomes
 * two: one inspects packets and sets a bit of the flow, the other inspects transactions and tests
 * the bit. Rule writers do the same with `flowbits` and two rules, because Suricata refuses such a
 * rule. Inspection needs nothing new for it. */
#include "detect/compile/packet_facts.h"

#include "detect/compile/compile.h"
#include "detect/rule/program.h"
#include "detect/state/packet_facts.h"

#include <string.h>

static bool is_packet_test(const struct rule_test *test)
{
    return (test->keyword->needs_packet && !test->keyword->of_flow) || test->keyword->of_packet;
}

/* The addresses are the same in all packets of a direction, so they stay with the transaction. */
static bool is_packet_list(const struct rule_list *l)
{
    return l->buffer != NULL && l->buffer->kind == BUFFER_PACKET && !l->buffer->base->same;
}

/* Operations on the payload that need single packets: the packet that shows the fact is not the
 * one whose payload they read. */
static bool works_on_payload(const struct rule *r)
{
    static const char *const names[] = { "asn1", "replace", "rpc" };
    bool found = false;

    for (unsigned n = 0; n < ARRAY_LEN(names); n++) {
        for (unsigned i = 0; i < r->test_count; i++)
            found |= strcmp(r->test[i].keyword->name, names[n]) == 0;
        for (const struct rule_list *l = r->list; l != NULL; l = l->next)
            for (const struct rule_op *op = l->first; op != NULL; op = op->next)
                found |= strcmp(op->keyword->name, names[n]) == 0 || (op->flags & OP_REPLACE);
    }
    return found;
}

/* Whether the rule is on transactions and nothing else binds it to one packet. */
static bool can_split(const struct rule *r)
{
    bool tx = r->tx_test_count > 0, frame = false;

    for (const struct rule_list *l = r->list; l != NULL; l = l->next) {
        tx |= l->buffer != NULL && l->buffer->kind == BUFFER_TX;
        frame |= l->buffer != NULL && l->buffer->kind == BUFFER_FRAME;
    }
    return tx && !frame && !works_on_payload(r) &&
           !(r->flags & (RULE_FIREWALL | RULE_NO_STREAM | RULE_PROTO_TCP_PKT));
}

/* Both halves keep the order of the rule. */
static void split_tests(struct arena *arena, struct rule *r, struct rule *facts)
{
    struct rule_test *to = arena_zalloc(arena, (r->test_count + 1) * sizeof(*to));
    unsigned kept = 0;

    facts->test = to;
    facts->test_count = 1;              /* the first one is set when the rule has its number */
    for (unsigned i = 0; i < r->test_count; i++) {
        if (is_packet_test(&r->test[i]))
            to[facts->test_count++] = r->test[i];
        else
            r->test[kept++] = r->test[i];
    }
    r->test_count = kept;
}

static void split_lists(struct rule *r, struct rule *facts)
{
    struct rule_list **from = &r->list, **to = &facts->list;

    while (*from != NULL) {
        struct rule_list *l = *from;

        if (is_packet_list(l)) {
            *from = l->next;
            l->next = NULL;
            *to = l;
            to = &l->next;
        } else {
            from = &l->next;
        }
    }
}

/* A number that one half reads and the other compares would be lost between the two. */
static int check_numbers(struct rule_parser *p)
{
    const struct rule *r = p->rule;

    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        if (is_packet_list(l) && r->var_count > 0)
            return rule_error(p, "rule %u: detect.packet-facts cannot keep the numbers of "
                              "byte_extract and byte_math with %s", r->sid, l->buffer->name);
    return 0;
}

static bool has_packet_part(const struct rule *r)
{
    bool found = false;

    for (unsigned i = 0; i < r->test_count; i++)
        found |= is_packet_test(&r->test[i]);
    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        found |= is_packet_list(l);
    return found;
}

/* Conditions on the flow (flow.age) need no half of their own. They are compared where the
 * transaction is inspected. */
int packet_facts_split(struct rule_parser *p)
{
    struct rule *r = p->rule, *facts;

    if (!p->ruleset->packet_facts || !can_split(r))
        return 0;
    r->flags &= ~(uint32_t)RULE_NEEDS_PACKET;
    if (!has_packet_part(r))
        return 0;
    if (rule_bind(p) < 0 || check_numbers(p) < 0)
        return -1;
    facts = arena_copy(p->arena, r, sizeof(*r));
    facts->is_facts = true;
    facts->list = NULL;
    facts->late_count = facts->tx_test_count = 0;
    split_tests(p->arena, r, facts);
    split_lists(r, facts);
    r->link = RULE_LINK_ANY;
    r->facts = facts;
    return 0;
}

/* The half has the rule's header and direction, and no condition on the state of the flow: the
 * packet may be older than the connection is. */
static void header_only(const struct rule *r, struct rule *facts)
{
    facts->flags = r->flags & (RULE_SRC_ANY | RULE_DST_ANY | RULE_SPORT_ANY | RULE_DPORT_ANY |
                               RULE_TO_SERVER | RULE_TO_CLIENT);
    facts->flags |= RULE_NEEDS_PACKET | RULE_NEEDS_FLOW | RULE_HAS_POST;
    facts->action = RULE_ALERT;
    facts->app_proto = APP_PROTO_UNKNOWN;
    facts->hook = HOOK_NONE;
    facts->hook_kind = 0;
    facts->hook_in_app = facts->hook_up_to = facts->uses_shared_state = false;
    facts->scope = SCOPE_DEFAULT;
    facts->tags = NULL;
    facts->threshold = NULL;
    facts->prefilter = NULL;
    facts->flowbits_set = facts->flowbits_read = 0;
    facts->vars_set = facts->vars_read = 0;
}

int packet_facts_finish(struct rule_parser *p)
{
    struct rule *r = p->rule, *facts = r->facts;
    struct rule_test *tests;
    struct packet_fact *fact;

    if (facts == NULL)
        return 0;
    if (p->ruleset->packet_fact_count == PACKET_FACTS_MAX)
        return rule_error(p, "rule %u: more than %u rules combine conditions on packets and "
                          "transactions (detect.packet-facts)", r->sid, PACKET_FACTS_MAX);
    fact = arena_zalloc(p->arena, sizeof(*fact));
    fact->number = p->ruleset->packet_fact_count++;
    header_only(r, facts);
    facts->test[0] = packet_fact_unknown(fact);
    facts->post = arena_zalloc(p->arena, sizeof(*facts->post));
    facts->post[0] = packet_fact_note(fact);
    facts->post_count = 1;
    for (struct rule_list *l = facts->list; l != NULL; l = l->next)
        l->program = program_of_list(p->arena, l, NULL);
    tests = arena_zalloc(p->arena, (r->tx_test_count + 1) * sizeof(*tests));
    if (r->tx_test_count > 0)
        memcpy(tests, r->tx_test, r->tx_test_count * sizeof(*tests));
    tests[r->tx_test_count++] = packet_fact_known(fact);
    r->tx_test = tests;
    return 0;
}
