/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rules detect.packet-facts splits in two, and into what. */
#include "base/test.h"
#include "detect/rule/ruleset_private.h"
#include "detect/state/packet_facts.h"
#include "detect/tests/rules_fixture.h"
#include "detect/tests/rules_helper.h"
#include "flow/flow.h"

#include <stdio.h>

#define MIXED "Signature combines packet specific matches (like dsize, flags, ttl) with stream / " \
              "state matching by matching on app layer proto."

/* Tests and lists that each half has, its own tests on the bit included; an error: not split. */
struct split { const char *options, *error; unsigned tests, lists, facts, fact_lists; };

static const struct split rows[] = {
    { "ttl:3; http.uri; content:\"x\";", NULL, 0, 1, 2, 0 },
    { "ttl:3; flags:S; vlan.id:5; flowbits:isset,a; http.uri; content:\"x\";", NULL, 1, 1, 4, 0 },
    { "tcp.hdr; content:\"x\"; http.uri; content:\"x\";", NULL, 0, 1, 1, 1 },
    { "tcpv4-csum:invalid; http.uri; content:\"x\";", NULL, 0, 1, 2, 0 },
    { "stream-event:pkt_invalid_ack; http.uri; content:\"x\";", NULL, 0, 1, 2, 0 },
    { "flow.age:>3; http.uri; content:\"x\";", NULL, 1, 1, 0, 0 },
    { "ip.src; content:\"abcd\"; http.uri; content:\"x\";", NULL, 0, 2, 0, 0 },
    { "ttl:3; flow:no_stream; http.uri; content:\"x\";", MIXED, 0, 0, 0, 0 },
    { "tcp.hdr; byte_extract:1,0,n; http.uri; content:\"x\";",
      "rule 1: detect.packet-facts cannot keep the numbers of byte_extract and byte_math with "
      "tcp.hdr", 0, 0, 0, 0 },
};

static unsigned list_count(const struct rule *r)
{
    unsigned count = 0;

    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        count++;
    return count;
}

static struct rule *parse(struct rules_fixture *f, const char *options)
{
    char text[300];

    snprintf(text, sizeof(text), "alert http any any -> any any (%s sid:1;)", options);
    return rules_fixture_parse(f, text);
}

TEST(packet_facts_split_rules)
{
    struct rules_fixture f;

    rules_fixture_open(&f);
    CHECK(!f.set->packet_facts);
    CHECK(parse(&f, rows[0].options) == NULL);
    CHECK_STRING(f.err.text, MIXED);
    f.set->packet_facts = true;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rule *r = parse(&f, rows[i].options);

        CHECK((r != NULL) == (rows[i].error == NULL));
        if (r == NULL) {
            CHECK_STRING(f.err.text, rows[i].error);
            continue;
        }
        CHECK_INT(r->test_count, rows[i].tests);
        CHECK_INT(list_count(r), rows[i].lists);
        CHECK((r->facts != NULL) == (rows[i].facts > 0));
        CHECK_INT(r->tx_test_count, rows[i].facts > 0);
        if (r->facts != NULL) {
            CHECK_INT(r->facts->test_count, rows[i].facts);
            CHECK_INT(list_count(r->facts), rows[i].fact_lists);
            CHECK(r->facts->is_facts && r->facts->app_proto == APP_PROTO_UNKNOWN);
        }
    }
    rules_fixture_close(&f);
}

TEST(packet_facts_end)
{
    struct rules_fixture f;

    rules_fixture_open(&f);
    f.set->packet_facts = true;
    for (unsigned i = 0; i < PACKET_FACTS_MAX; i++)
        CHECK(parse(&f, rows[0].options) != NULL);
    CHECK(parse(&f, rows[0].options) == NULL);
    CHECK_STRING(f.err.text, "rule 1: more than 1024 rules combine conditions on packets and "
                             "transactions (detect.packet-facts)");
    CHECK(parse(&f, rows[5].options) != NULL);
    rules_fixture_close(&f);
}

/* A bit for each number; none of a packet that is only about the flow. */
TEST(packet_facts_of_a_flow)
{
    struct packet_fact one = { 7 }, other = { PACKET_FACTS_MAX - 1 };
    struct rule_test unknown = packet_fact_unknown(&one), note = packet_fact_note(&one);
    struct flow flow = { .key.proto = 6 };
    struct packet packet = { .ip_proto = 6 };
    struct match_input in = { .packet = &packet, .flow = &flow };

    CHECK(unknown.match(&in, &one) && !packet_fact_known(&one).match(&in, &one));
    CHECK(!note.match(&in, &one));
    CHECK(!unknown.match(&in, &one) && packet_fact_known(&one).match(&in, &one));
    CHECK(unknown.match(&in, &other) && !packet_fact_known(&other).match(&in, &other));
    CHECK(!note.match(&in, &other) && packet_fact_known(&other).match(&in, &other));
    packet_facts_free(&flow);
    CHECK(unknown.match(&in, &one));
    packet.ip_proto = 1;
    CHECK(!unknown.match(&in, &one));
    packet_facts_free(&flow);
    flow_ext_free(&flow);
}

/* Another set gives its rules other numbers, so the bits go with the old one. */
TEST(packet_facts_and_reload)
{
    struct packet_fact fact = { 7 };
    struct test_rules r;
    struct flow flow = { .key.proto = 6 };
    struct packet packet = { .ip_proto = 6, .flow = &flow };
    struct match_input in = { .packet = &packet, .flow = &flow };

    CHECK(test_rules_load(&r, "alert tcp any any -> any any (ttl:3; sid:1;)"));
    (void)packet_fact_note(&fact).match(&in, &fact);
    test_rules_inspect(r.thread, &packet);
    CHECK(packet_fact_known(&fact).match(&in, &fact));
    detect_thread_set_generation(r.thread, 1);
    test_rules_inspect(r.thread, &packet);
    CHECK(!packet_fact_known(&fact).match(&in, &fact));
    test_rules_free(&r);
    flow_ext_free(&flow);
}
