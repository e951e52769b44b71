/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Order, kinds and fast patterns of rules; and that the prefilter never loses a match. */
#include "base/test.h"
#include "base/memory/lib_memory.h"
#include "detect/compile/compile.h"
#include "detect/rule/program.h"
#include "detect/tests/rules_helper.h"
#include "match/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_order(struct test *t, const struct test_rules *r, const uint32_t *sids,
                        size_t count)
{
    CHECK_INT(r->set->rules.count, count);
    for (size_t i = 0; i < count && i < r->set->rules.count; i++)
        CHECK_INT(r->set->rules.at[i]->sid, sids[i]);
}

TEST(compile_orders_rules)
{
    static const uint32_t expected[] = { 5, 4, 3, 7, 6, 1, 2 };
    struct test_rules r = { 0 };

    test_rules_add(&r, "alert tcp any any -> any 1 (priority:1; sid:1;)");
    test_rules_add(&r, "alert tcp any any -> any 1 (priority:2; sid:2;)");
    test_rules_add(&r, "reject tcp any any -> any 1 (sid:3;)");
    test_rules_add(&r, "drop tcp any any -> any 1 (sid:4;)");
    test_rules_add(&r, "pass tcp any any -> any 1 (sid:5;)");
    test_rules_add(&r, "alert tcp any any -> any 1 (flowbits:isset,a; content:\"x\"; sid:6;)");
    test_rules_add(&r, "alert tcp any any -> any 1 (flowbits:set,a; content:\"x\"; sid:7;)");
    CHECK(test_rules_ready(&r));
    if (r.set != NULL)
        check_order(t, &r, expected, ARRAY_LEN(expected));
    test_rules_free(&r);
}

static const struct { const char *rule; enum rule_type type; } kinds[] = {
    { "alert ip 1.2.3.4 any -> any any (sid:1;)", RULE_IP_ONLY },
    { "alert ip !1.2.3.4 any -> any any (sid:1;)", RULE_LIKE_IP_ONLY },
    { "alert tcp any any -> any any (flags:S; sid:1;)", RULE_PACKET },
    { "alert tcp any any -> any any (content:\"abcd\"; sid:1;)", RULE_STREAM },
    { "alert tcp any any -> any any (content:\"abcd\"; depth:9; sid:1;)", RULE_PACKET_STREAM },
    { "alert tcp-pkt any any -> any any (content:\"abcd\"; sid:1;)", RULE_PACKET },
    { "alert udp any any -> any any (content:\"abcd\"; sid:1;)", RULE_PACKET_STREAM },
    { "alert tcp any any -> any any (tcp.hdr; content:\"abcd\"; sid:1;)", RULE_PACKET },
    { "alert pkthdr any any -> any any (decode-event:ipv4.pkt_too_small; sid:1;)",
      RULE_DECODER_EVENT },
    { "alert dns any any -> any any (dns.query; content:\"abcd\"; sid:1;)", RULE_APP_TX },
};

TEST(compile_classifies_rules)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct test_rules r;

        if (!test_rules_load(&r, "%s", kinds[i].rule))
            test_fail(t, __FILE__, __LINE__, "does not load: %s", kinds[i].rule);
        else if (r.set->rules.at[0]->type != kinds[i].type)
            test_fail(t, __FILE__, __LINE__, "type %d: %s", r.set->rules.at[0]->type,
                      kinds[i].rule);
        test_rules_free(&r);
    }
}

static const struct { const char *options, *pattern; } choices[] = {
    { "content:\"abcd\"; content:\"longerpattern\";", "longerpattern" },
    { "content:\"abcd\"; fast_pattern; content:\"longerpattern\";", "abcd" },
    { "content:\"longerpattern\"; fast_pattern:2,4;", "nger" },
    { "content:!\"longerpattern\"; content:\"abcd\";", "abcd" },
    { "content:\"|00 00 00 00 00 00 00 00|\"; content:\"XqZ9k\";", "XqZ9k" },
    { "content:\"ABCD\"; nocase;", "abcd" },
};

TEST(compile_chooses_fast_patterns)
{
    for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
        struct test_rules r;

        if (!test_rules_load(&r, "alert udp any any -> any any (%s sid:1;)", choices[i].options)) {
            test_fail(t, __FILE__, __LINE__, "does not load: %s", choices[i].options);
        } else {
            struct literal_pattern p = rule_fast_literal(r.set->rules.at[0]);

            CHECK_BYTES(p.bytes, p.len, choices[i].pattern, strlen(choices[i].pattern));
        }
        test_rules_free(&r);
    }
}

/* Rules on transactions are not found by a packet's own bytes. */
TEST(compile_finds_transactions_by_their_buffers)
{
    struct test_rules r;

    CHECK(test_rules_load(&r, "alert http any any -> any any (ip.dst; content:\"|01 02 03 04|\"; "
                              "http.uri; content:\"b\"; sid:1;)"));
    if (r.set != NULL && r.set->rules.count == 1)
        CHECK_INT(r.set->rules.at[0]->fast_list->buffer->kind, BUFFER_TX);
    test_rules_free(&r);
}

/* --- the prefilter against rules run one by one ------------------------------------------- */

#define RULES 120
#define PAYLOADS 400

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void random_text(char *out, unsigned len, uint32_t *state)
{
    for (unsigned i = 0; i < len; i++)
        out[i] = "abcAB"[next_random(state) % 5];
    out[len] = '\0';
}

/* One to three contents of one to six letters, some negated, some without case, some bound. */
static void random_rule(struct test_rules *r, unsigned sid, uint32_t *state)
{
    unsigned contents = 1 + next_random(state) % 3;
    char options[512];
    size_t n = 0;

    for (unsigned i = 0; i < contents; i++) {
        unsigned len = 1 + next_random(state) % 6, kind = next_random(state) % 6;
        char word[8];

        random_text(word, len, state);
        n += (size_t)snprintf(options + n, sizeof(options) - n, "content:%s\"%s\";%s",
                              kind == 0 ? "!" : "", word, kind == 1 ? " nocase;" : "");
        if (kind == 2)
            n += (size_t)snprintf(options + n, sizeof(options) - n, " depth:%u;", len + 6);
        if (kind == 3 && i > 0)
            n += (size_t)snprintf(options + n, sizeof(options) - n, " distance:0;");
        if (kind == 4 && i > 0)
            n += (size_t)snprintf(options + n, sizeof(options) - n, " within:%u;", len + 4);
    }
    test_rules_add(r, "alert udp any any -> any any (%s sid:%u;)", options, sid);
}

static bool matches_alone(const struct rule *rule, const struct packet *p,
                          struct program_scratch *scratch)
{
    struct program_run run = { .data = p->payload, .len = p->payload_len, .complete = true,
                               .scratch = scratch };

    return program_match(rule->list->program, &run);
}

static bool has_alert(const struct packet *p, uint32_t sid)
{
    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++)
        if (packet_alerts(p)[i].rule->sid == sid)
            return true;
    return false;
}

TEST(prefilter_never_loses)
{
    struct program_scratch scratch;
    struct test_rules r = { 0 };
    uint32_t state = 99;

    for (unsigned sid = 1; sid <= RULES; sid++)
        random_rule(&r, sid, &state);
    CHECK(test_rules_ready(&r));
    program_scratch_init(&scratch, 3000);
    for (unsigned i = 0; i < PAYLOADS && r.thread != NULL; i++) {
        char text[64];
        struct packet p = { .payload = (uint8_t *)text, .ip_proto = 17, .src.version = 4,
                            .dst.version = 4 };

        p.payload_len = 1 + next_random(&state) % 60;
        random_text(text, p.payload_len, &state);
        test_rules_inspect(r.thread, &p);
        for (unsigned k = 0; k < RULES; k++) {
            const struct rule *rule = r.set->rules.at[k];

            if (detect_slot(&p)->alert_count < 200 &&
                has_alert(&p, rule->sid) != matches_alone(rule, &p, &scratch))
                test_fail(t, __FILE__, __LINE__, "rule %u on \"%s\": %s", rule->sid, text,
                          rule->text != NULL ? rule->text : "");
        }
        packet_fini(&p);
    }
    program_scratch_fini(&scratch);
    test_rules_free(&r);
}

/* --- address lists against each rule's own set -------------------------------------------- */

static void random_address_rule(struct test_rules *r, unsigned sid, uint32_t *state)
{
    unsigned a = next_random(state) % 8, bits = 26 + next_random(state) % 7;
    const char *other = next_random(state) % 3 == 0 ? "[10.0.0.0/30,10.0.0.64/27]" : "any";

    if (next_random(state) & 1)
        test_rules_add(r, "alert ip [10.0.0.%u/%u,10.0.1.%u] any -> %s any (sid:%u;)", a * 16, bits,
                       a, other, sid);
    else
        test_rules_add(r, "alert ip %s any -> ![10.0.0.%u/%u] any (sid:%u;)", other, a * 16, bits,
                       sid);
}

TEST(address_lists_never_lose)
{
    struct test_rules r = { 0 };
    uint32_t state = 3;

    for (unsigned sid = 1; sid <= 60; sid++)
        random_address_rule(&r, sid, &state);
    CHECK(test_rules_ready(&r));
    for (unsigned i = 0; i < 300 && r.thread != NULL; i++) {
        uint8_t src[4] = { 10, 0, next_random(&state) % 2, next_random(&state) % 140 };
        uint8_t dst[4] = { 10, 0, next_random(&state) % 2, next_random(&state) % 140 };
        struct packet p = { .ip_proto = 47, .src = ip_v4(src), .dst = ip_v4(dst) };

        test_rules_inspect(r.thread, &p);
        for (size_t k = 0; k < r.set->rules.count; k++) {
            const struct rule *rule = r.set->rules.at[k];
            bool fits = address_set_has(rule->src, &p.src) && address_set_has(rule->dst, &p.dst);

            if (has_alert(&p, rule->sid) != fits)
                test_fail(t, __FILE__, __LINE__, "rule %u, %u.%u to %u.%u", rule->sid, src[2],
                          src[3], dst[2], dst[3]);
        }
        packet_fini(&p);
    }
    test_rules_free(&r);
}

/* A rule whose pattern is too short for a set still has to see the stream. */
TEST(compile_short_patterns_look_at_the_stream)
{
    struct test_rules r;

    CHECK(test_rules_load(&r, "alert tcp any any -> any any (content:\"ab\"; sid:1;)"));
    if (r.set != NULL)
        CHECK(r.set->plan->group[TRANSPORT_TCP][TO_SERVER].has_stream);
    test_rules_free(&r);
}

/* Where a pattern may stand decides where it is looked for. */
static const struct { const char *options; bool in_front; } fronts[] = {
    { "content:\"abcdef\";", false },
    { "content:\"abcdef\"; depth:20;", true },
    { "content:\"abcdef\"; offset:20;", false },
    { "content:\"abcdef\"; depth:300;", false },
    { "content:\"ab\"; depth:9; content:\"cdefgh\"; within:20;", true },
    { "content:\"ab\"; depth:9; content:\"cdefgh\"; distance:2;", false },
    { "content:\"ab\"; depth:9; content:\"cdefgh\"; distance:200; within:100;", false },
    { "content:\"ab\"; depth:9; pcre:\"/x+/R\"; content:\"cdefgh\"; within:20;", false },
    { "dsize:<90; content:\"abcdef\";", true },
    { "dsize:90<>200; content:\"abcdef\";", true },
    { "dsize:>90; content:\"abcdef\";", false },
};

TEST(compile_knows_patterns_in_front)
{
    for (size_t i = 0; i < ARRAY_LEN(fronts); i++) {
        struct test_rules r;

        if (!test_rules_load(&r, "alert udp any any -> any any (%s sid:1;)", fronts[i].options))
            test_fail(t, __FILE__, __LINE__, "does not load: %s", fronts[i].options);
        else if (rule_packet_pattern(r.set->rules.at[0]).in_front != fronts[i].in_front)
            test_fail(t, __FILE__, __LINE__, "front: %s", fronts[i].options);
        test_rules_free(&r);
    }
}

/* By any of the keywords that name events; another event keeps nothing. */
static const struct { const char *options; bool asks; } overlap_rules[] = {
    { "stream-event:reassembly_overlap_different_data;", true },
    { "engine-event:stream.reassembly_overlap_different_data;", true },
    { "flow:to_server; stream-event:reassembly_overlap_different_data; dsize:>3;", true },
    { "stream-event:pkt_retransmission;", false },
    { "dsize:>3;", false },
};

TEST(compile_knows_who_asks_for_overlap)
{
    for (size_t i = 0; i < ARRAY_LEN(overlap_rules); i++) {
        struct test_rules r;

        if (!test_rules_load(&r, "alert tcp any any -> any any (%s sid:1;)",
                             overlap_rules[i].options))
            test_fail(t, __FILE__, __LINE__, "does not load: %s", overlap_rules[i].options);
        else if (ruleset_looks_at_overlap(r.set) != overlap_rules[i].asks)
            test_fail(t, __FILE__, __LINE__, "overlap: %s", overlap_rules[i].options);
        test_rules_free(&r);
    }
}

/* Many headers with a selective pattern each, and one without: only the latter's rule is a candidate
 * for each packet, so it gets a number. */
TEST(compile_numbers_headers_of_frequent_candidates)
{
    struct test_rules r = { 0 };

    for (unsigned i = 0; i < HEADER_IDS_MAX; i++)
        for (unsigned k = 0; k < 2; k++)
            test_rules_add(&r, "alert tcp any any -> 10.0.0.%u any "
                               "(content:\"Selective-%u\"; sid:%u;)", i, k, 100 + 2 * i + k);
    test_rules_add(&r, "alert tcp any any -> 10.0.1.1 !80 (content:\"|78|\"; sid:1;)");
    test_rules_add(&r, "alert tcp any any -> 10.0.1.2 4444 (content:\"|78|\"; sid:2;)");
    CHECK(test_rules_ready(&r));
    for (size_t i = 0; r.set != NULL && i < r.set->rules.count; i++) {
        const struct rule *rule = r.set->rules.at[i];

        if (rule->sid < 100)
            CHECK_INT(rule->header_id != HEADER_ID_NONE, rule->sid == 1);
        if (rule->header_id != HEADER_ID_NONE)
            CHECK_INT(r.set->plan->header[rule->header_id].rule->header_id, rule->header_id);
    }
    test_rules_free(&r);
}

static const struct { const char *proto, *options; bool is_plain; } scans[] = {
    { "http", "http.uri; content:\"abcd\";", true },
    { "http", "http.uri; to_lowercase; content:\"abcd\";", false },
    { "http", "http.request_body; content:\"abcd\";", false },
    { "http", "http.request_header; content:\"abcd\";", false },
    { "tls", "tls.sni; content:\"abcd\";", true },
    { "dns", "dns.query; content:\"abcd\";", false },
};

/* All instances of a buffer are searched, and of a body what is new: only others are plain. */
TEST(compile_tells_plain_scans)
{
    for (size_t i = 0; i < ARRAY_LEN(scans); i++) {
        const struct app_group *g;
        struct test_rules r;

        if (!test_rules_load(&r, "alert %s any any -> any any (%s sid:1;)", scans[i].proto,
                             scans[i].options)) {
            test_fail(t, __FILE__, __LINE__, "does not load: %s", scans[i].options);
        } else {
            g = &r.set->plan->app[app_proto_by_name(scans[i].proto)->id][TO_SERVER];
            CHECK_INT(g->of[0].scan_count, 1);
            if (g->of[0].scan_count == 1 && g->of[0].scan[0].is_plain != scans[i].is_plain)
                test_fail(t, __FILE__, __LINE__, "plain: %s", scans[i].options);
        }
        test_rules_free(&r);
    }
}
