/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thresholds, xbits, tags and reputation over sequences of packets. */
#include "base/memory/traffic_memory.h"
#include "base/test.h"
#include "detect/state/iprep.h"
#include "detect/state/shard_table.h"
#include "detect/state/tag.h"
#include "detect/tests/rules_fixture.h"
#include "detect/state/threshold.h"
#include "flow/flow.h"
#include "sequencer/hosts.h"
#include "sequencer/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct packet packet_at(unsigned second, const char *src, const char *dst)
{
    struct packet p;

    memset(&p, 0, sizeof(p));
    p.time_us = 1600000000000000u + second * UINT64_C(1000000);
    ip_parse(text_of(src), &p.src);
    ip_parse(text_of(dst), &p.dst);
    return p;
}

/* One letter a second: A alert, s silent, . no match, d drop. */
static void check_sequence(struct test *t, struct rules_fixture *f, const struct rule *r,
                           struct flow *flow, const char *expected)
{
    static const char letters[] = { [THRESHOLD_ALERT] = 'A', [THRESHOLD_SILENT] = 's',
                                    [THRESHOLD_NO_MATCH] = '.', [THRESHOLD_DROP] = 'd',
                                    [THRESHOLD_REJECT] = 'r', [THRESHOLD_PASS] = 'p',
                                    [THRESHOLD_TO_ALERT] = 'a' };
    char found[64];
    size_t n = strlen(expected);

    for (size_t i = 0; i < n; i++) {
        struct packet p = packet_at((unsigned)i, "10.0.0.1", "10.0.0.2");

        p.flow = flow;
        found[i] = letters[threshold_apply(f->set->threshold_state, r, &p, TO_SERVER)];
    }
    found[n] = '\0';
    CHECK_STRING(found, expected);
}

TEST(threshold_keyword_sequences)
{
    static const struct { const char *options, *expected; } cases[] = {
        { "threshold:type limit,track by_src,count 2,seconds 4;", "AAsssAAsssAA" },
        { "threshold:type threshold,track by_dst,count 3,seconds 60;", "..A..A..A" },
        { "threshold:type threshold,track by_src,count 1,seconds 60;", "AAAA" },
        { "threshold:type threshold,track by_rule,count 4,seconds 2;", "......" },
        { "threshold:type both,track by_both,count 2,seconds 4;", ".Asss.Asss" },
        { "threshold:type both,track by_src,count 1,seconds 2;", "AssAss" },
        { "threshold:type backoff,track by_flow,count 2,multiplier 2;", ".AsAsssAs" },
        { "threshold:type limit,track by_flow,count 1,seconds 60;", "Asss" },
        { "detection_filter:track by_src,count 2,seconds 5;", "..AAAA..AAAA" },
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rule *r = rules_fixture_options(&f, cases[i].options);
        struct flow *flow = aligned_alloc(CACHE_LINE, sizeof(*flow));

        memset(flow, 0, sizeof(*flow));
        r->sid = 100 + (uint32_t)i;
        check_sequence(t, &f, r, flow, cases[i].expected);
        threshold_flow_free(flow);
        flow_ext_free(flow);
        free(flow);
    }
    rules_fixture_close(&f);
}

TEST(threshold_counts_hosts_apart)
{
    struct packet a = packet_at(0, "10.0.0.1", "10.0.0.9");
    struct packet b = packet_at(0, "10.0.0.2", "10.0.0.9");
    struct rules_fixture f;
    struct rule *r;

    rules_fixture_open(&f);
    r = rules_fixture_options(&f, "threshold:type limit,track by_src,count 1,seconds 60;");
    CHECK_INT(threshold_apply(f.set->threshold_state, r, &a, TO_SERVER), THRESHOLD_ALERT);
    CHECK_INT(threshold_apply(f.set->threshold_state, r, &b, TO_SERVER), THRESHOLD_ALERT);
    CHECK_INT(threshold_apply(f.set->threshold_state, r, &a, TO_SERVER), THRESHOLD_SILENT);
    r = rules_fixture_options(&f, "rev:2; threshold:type limit,track by_both,count 1,seconds 60;");
    CHECK_INT(threshold_apply(f.set->threshold_state, r, &a, TO_SERVER), THRESHOLD_ALERT);
    a = packet_at(1, "10.0.0.9", "10.0.0.1");
    CHECK_INT(threshold_apply(f.set->threshold_state, r, &a, TO_SERVER), THRESHOLD_SILENT);
    rules_fixture_close(&f);
}

/* A thread that is behind, and comes when it is asked. */
struct behind {
    struct seq_handle *handle;
    unsigned evaluated;
};

static void come(void *self)
{
    struct behind *b = self;

    b->evaluated++;
    seq_publish(b->handle, SEQNO_END, SEQNO_END);
}

static void not_accounted(void *self UNUSED)
{
}

/* How often another thread, which is behind, is waited for at the last of these packets, one a
 * second. `own`: a host all of whose packets are this thread's; NULL: none. */
static unsigned waits_with_host(const char *options, unsigned packets, const char *own)
{
    struct seq_hosts *hosts = seq_hosts_new();
    struct sequencer *seq = sequencer_new();
    struct behind behind = { 0 };
    struct seq_thread thread = { &behind, come, not_accounted, not_accounted };
    struct seq_handle *handle = seq_handle_new(seq, &thread);
    struct rules_fixture f;
    struct rule *r;

    behind.handle = seq_handle_new(seq, &thread);
    if (own != NULL) {
        struct packet p = packet_at(0, own, own);

        seq_hosts_add(hosts, seq_hosts_slot(hosts, &p.src), 0);
    }
    seq_handle_set_hosts(handle, hosts, 0);
    rules_fixture_open(&f);
    r = rules_fixture_options(&f, options);
    for (unsigned i = 0; i < packets; i++) {
        struct packet p = packet_at(i, "10.0.0.1", "10.0.0.2");

        p.seqno = seqno_next(0, p.time_us);
        sequencer_slot(&p)->handle = handle;
        if (i + 1 < packets)
            seq_publish(behind.handle, p.seqno, 0);
        threshold_apply(f.set->threshold_state, r, &p, TO_SERVER);
    }
    rules_fixture_close(&f);
    sequencer_free(seq);
    seq_hosts_free(hosts);
    return behind.evaluated;
}

static unsigned waits_at_last(const char *options, unsigned packets)
{
    return waits_with_host(options, packets, NULL);
}

/* 10.0.0.1 sends to 10.0.0.2. */
TEST(threshold_of_own_host_needs_no_wait)
{
    static const char by_src[] = "threshold:type limit,track by_src,count 1,seconds 60;",
                      by_dst[] = "threshold:type limit,track by_dst,count 1,seconds 60;",
                      by_both[] = "threshold:type limit,track by_both,count 1,seconds 60;",
                      by_rule[] = "threshold:type limit,track by_rule,count 1,seconds 60;";

    CHECK_INT(waits_with_host(by_src, 1, "10.0.0.1"), 0);
    CHECK_INT(waits_with_host(by_src, 1, "10.0.0.2"), 1);
    CHECK_INT(waits_with_host(by_dst, 1, "10.0.0.1"), 1);
    CHECK_INT(waits_with_host(by_dst, 1, "10.0.0.2"), 0);
    CHECK_INT(waits_with_host(by_both, 1, "10.0.0.1"), 0);
    CHECK_INT(waits_with_host(by_both, 1, "10.0.0.2"), 0);
    CHECK_INT(waits_with_host(by_rule, 1, "10.0.0.1"), 1);
}

TEST(threshold_reached_needs_no_wait)
{
    CHECK_INT(waits_at_last("threshold:type limit,track by_src,count 2,seconds 60;", 2), 1);
    CHECK_INT(waits_at_last("threshold:type limit,track by_src,count 2,seconds 60;", 3), 0);
    CHECK_INT(waits_at_last("threshold:type both,track by_dst,count 2,seconds 60;", 2), 1);
    CHECK_INT(waits_at_last("threshold:type both,track by_dst,count 2,seconds 60;", 3), 0);
    CHECK_INT(waits_at_last("detection_filter:track by_src,count 2,seconds 60;", 3), 0);
    CHECK_INT(waits_at_last("threshold:type threshold,track by_src,count 2,seconds 60;", 5), 1);
    /* Its period may be over with what stands before it. */
    CHECK_INT(waits_at_last("threshold:type limit,track by_src,count 1,seconds 4;", 5), 1);
    CHECK_INT(waits_at_last("threshold:type limit,track by_src,count 1,seconds 5;", 5), 0);
}

/* With nothing in the table's way for long: what ends a new action is not counted itself. */
TEST(threshold_rate_ends_at_a_match)
{
    static const struct { unsigned second; enum threshold_result expected; } steps[] = {
        { 0, THRESHOLD_ALERT }, { 1, THRESHOLD_ALERT }, { 2, THRESHOLD_DROP },
        { 5, THRESHOLD_DROP }, { 40, THRESHOLD_ALERT }, { 41, THRESHOLD_ALERT },
        { 42, THRESHOLD_ALERT }, { 43, THRESHOLD_DROP },
    };
    struct rules_fixture f;
    struct rule *r;

    rules_fixture_open(&f);
    r = rules_fixture_parse(&f, "alert ip any any -> any any (sid:1;)");
    CHECK_INT(threshold_config_lines(f.set, text_of(
        "rate_filter gen_id 1, sig_id 1, track by_src, count 2, seconds 10, "
        "new_action drop, timeout 5\n"), "threshold.config"), 1);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct packet p = packet_at(steps[i].second, "10.0.0.1", "10.0.0.2");

        CHECK_INT(threshold_apply(f.set->threshold_state, r, &p, TO_SERVER), steps[i].expected);
    }
    rules_fixture_close(&f);
}

TEST(threshold_config_changes_rules)
{
    struct rules_fixture f;
    struct packet p = packet_at(0, "10.0.0.1", "192.0.2.1");
    struct rule *a, *b;

    rules_fixture_open(&f);
    a = rules_fixture_parse(&f, "alert ip any any -> any any (sid:1;)");
    b = rules_fixture_parse(&f, "alert ip any any -> any any (sid:2; "
                                "threshold:type limit,track by_src,count 5,seconds 9;)");
    CHECK_INT(threshold_config_lines(f.set, text_of(
        "# comment\n"
        "suppress gen_id 1, sig_id 1, track by_src, ip [10.0.0.0/8,!10.9.0.0/16]\n"
        "rate_filter gen_id 1, sig_id 1, track by_rule, count 2, seconds 60, \\\n"
        "    new_action drop, timeout 3\n"
        "event_filter gen_id 1, sig_id 2, type threshold, track by_src, count 2, seconds 60\n"
        "suppress gen_id 1, sig_id 9\n"
        "suppress gen_id 0, sig_id 2\n"
        "suppress gen_id 1, sig_id 1, track by_src, ip nonsense\n"
        "threshold gen_id 1, sig_id 1, type limit, track by_src, count 0, seconds 1\n"
        "frob gen_id 1, sig_id 1\n"), "threshold.config"), 4);
    CHECK_INT(threshold_apply(f.set->threshold_state, a, &p, TO_SERVER), THRESHOLD_SILENT);
    p = packet_at(0, "192.0.2.1", "10.0.0.1");
    CHECK_INT(threshold_apply(f.set->threshold_state, a, &p, TO_SERVER), THRESHOLD_ALERT);
    CHECK_INT(threshold_apply(f.set->threshold_state, a, &p, TO_SERVER), THRESHOLD_ALERT);
    CHECK_INT(threshold_apply(f.set->threshold_state, a, &p, TO_SERVER), THRESHOLD_DROP);
    p.time_us += 3000000;
    CHECK_INT(threshold_apply(f.set->threshold_state, a, &p, TO_SERVER), THRESHOLD_DROP);
    p.time_us += 1000000;
    CHECK_INT(threshold_apply(f.set->threshold_state, a, &p, TO_SERVER), THRESHOLD_ALERT);
    CHECK_INT(b->threshold->type, THRESHOLD_EVERY);
    CHECK_INT(b->threshold->count, 2);
    threshold_config_lines(f.set, text_of("suppress gen_id 1, sig_id 2\n"), "threshold.config");
    CHECK(b->flags & RULE_NOALERT);
    rules_fixture_close(&f);
}

/* Later suppressions do not take the place of the threshold, nor of each other. */
TEST(threshold_config_takes_many_suppressions)
{
    struct rules_fixture f;
    struct packet p = packet_at(0, "10.0.9.9", "192.0.2.1");
    struct packet other = packet_at(0, "10.1.0.0", "192.0.2.1");
    struct rule *r;

    rules_fixture_open(&f);
    r = rules_fixture_parse(&f, "alert ip any any -> any any (sid:1;)");
    threshold_config_lines(f.set, text_of("threshold gen_id 1, sig_id 1, type limit, track by_src, "
                                          "count 1, seconds 60\n"), "threshold.config");
    for (unsigned i = 0; i < 2600; i++) {
        char line[80];

        snprintf(line, sizeof(line), "suppress gen_id 1, sig_id 1, track by_src, ip 10.0.%u.%u\n",
                 i >> 8, i & 255);
        CHECK_INT(threshold_config_lines(f.set, text_of(line), "threshold.config"), 1);
    }
    CHECK_INT(threshold_apply(f.set->threshold_state, r, &p, TO_SERVER), THRESHOLD_SILENT);
    CHECK_INT(threshold_apply(f.set->threshold_state, r, &other, TO_SERVER), THRESHOLD_ALERT);
    CHECK_INT(threshold_apply(f.set->threshold_state, r, &other, TO_SERVER), THRESHOLD_SILENT);
    rules_fixture_close(&f);
}

static bool xbit_holds(const struct rule *r, struct packet *p)
{
    struct match_input in = { .packet = p, .rule = r };

    return r->test[0].match(&in, r->test[0].arg);
}

static void xbit_change(const struct rule *r, struct packet *p)
{
    struct match_input in = { .packet = p, .rule = r };

    r->post[0].match(&in, r->post[0].arg);
}

TEST(xbits_of_hosts_and_pairs)
{
    struct packet p = packet_at(0, "10.0.0.1", "10.0.0.2");
    struct packet late = packet_at(12, "10.0.0.1", "::1");
    struct packet back = packet_at(1, "10.0.0.2", "10.0.0.1");
    struct rules_fixture f;
    struct rule *set, *pair, *src, *dst, *unset, *toggle, *both, *host;

    rules_fixture_open(&f);
    set = rules_fixture_options(&f, "xbits:set,b,track ip_src,expire 10;");
    pair = rules_fixture_options(&f, "xbits:set,b,track ip_pair,expire 10;");
    src = rules_fixture_options(&f, "xbits:isset,b,track ip_src;");
    dst = rules_fixture_options(&f, "xbits:isset,b,track ip_dst;");
    both = rules_fixture_options(&f, "xbits:isset,b,track ip_pair;");
    unset = rules_fixture_options(&f, "xbits:unset,b,track ip_src;");
    toggle = rules_fixture_options(&f, "xbits:toggle,b,track ip_src;");
    host = rules_fixture_options(&f, "hostbits:isnotset,b,src;");
    CHECK(!xbit_holds(src, &p) && xbit_holds(host, &p));
    xbit_change(set, &p);
    CHECK(xbit_holds(src, &p) && !xbit_holds(host, &p) && !xbit_holds(dst, &p));
    CHECK(xbit_holds(dst, &back) && !xbit_holds(both, &back));
    xbit_change(pair, &p);
    CHECK(xbit_holds(both, &back));
    CHECK(!xbit_holds(src, &late));
    xbit_change(unset, &p);
    CHECK(!xbit_holds(src, &p));
    xbit_change(toggle, &p);
    CHECK(xbit_holds(src, &p));
    xbit_change(toggle, &p);
    CHECK(!xbit_holds(src, &p));
    rules_fixture_close(&f);
}

TEST(tag_counts_packets_after_the_match)
{
    struct tag_table *tags = tag_table_new(NULL);
    struct tag_spec spec = { .count = 3, .metric = TAG_PACKETS, .host = true, .src = true };
    struct rule rule = { .sid = 1, .gid = 1, .tags = &spec };
    char found[16] = "";

    for (unsigned i = 0; i < 10; i++) {
        struct packet p = packet_at(i, "10.0.0.1", "10.0.0.2");

        if (i == 1 || i == 5 || i == 7)
            tag_start(tags, &rule, &p, TO_SERVER);
        tag_packet(tags, &p);
        found[i] = p.flags & PACKET_TAGGED ? 'T' : '.';
    }
    CHECK_STRING(found, "..TT..TTTT");
    tag_table_free(tags);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (f != NULL) {
        fputs(text, f);
        fclose(f);
    }
}

TEST(iprep_takes_the_narrowest)
{
    char dir[] = "/tmp/iprep_testXXXXXX", yaml[400], a[64], b[64];
    struct conf *conf = conf_new();
    struct iprep *rep;
    struct err err;
    struct ip ip;

    CHECK(mkdtemp(dir) != NULL);
    snprintf(a, sizeof(a), "%s/cat", dir);
    snprintf(b, sizeof(b), "%s/list", dir);
    write_file(a, "1,Bad,Bad ones\n2,CnC,Control\n# x\n");
    write_file(b, "10.0.0.0/8,1,10\r\n10.1.0.0/16,1,20\n10.1.1.1,1,30\n2001:db8::/32,2,99\n");
    snprintf(yaml, sizeof(yaml), "reputation-categories-file: %s\ndefault-reputation-path: %s\n"
             "reputation-files:\n  - list\n", a, dir);
    CHECK_INT(conf_load_string(conf, yaml, "x.yaml", &err), 0);
    rep = iprep_load(conf_root(conf));
    CHECK(rep != NULL);
    CHECK_INT(iprep_category(rep, text_of("cnc")), 2);
    CHECK_INT(iprep_category(rep, text_of("other")), 0);
    CHECK(ip_parse(text_of("10.2.2.2"), &ip) && iprep_score(rep, &ip, 1) == 10);
    CHECK(ip_parse(text_of("10.1.9.9"), &ip) && iprep_score(rep, &ip, 1) == 20);
    CHECK(ip_parse(text_of("10.1.1.1"), &ip) && iprep_score(rep, &ip, 1) == 30);
    CHECK(ip_parse(text_of("11.1.1.1"), &ip) && iprep_score(rep, &ip, 1) == -1);
    CHECK(ip_parse(text_of("2001:db8::7"), &ip) && iprep_score(rep, &ip, 2) == 99);
    CHECK(iprep_score(rep, &ip, 1) == -1);
    iprep_free(rep);
    conf_free(conf);
    unlink(a);
    unlink(b);
    rmdir(dir);
}

/* A packet a second, each from or to the port that its letter stands for. */
static void check_ports(struct test *t, const char *options, struct flow *flow, const char *ports,
                        const char *expected)
{
    struct rules_fixture f;
    struct rule *r;
    char text[160], found[32] = "";

    rules_fixture_open(&f);
    snprintf(text, sizeof(text), "alert tcp any any -> any any (detection_filter:%s; sid:1;)",
             options);
    r = rules_fixture_parse(&f, text);
    CHECK(r != NULL);
    for (unsigned i = 0; r != NULL && ports[i] != '\0'; i++) {
        struct packet p = packet_at(i, "10.0.0.1", "10.0.0.2");

        p.flow = flow;
        p.src_port = (uint16_t)ports[i];
        p.dst_port = (uint16_t)(ports[i] << 8);
        found[i] = threshold_apply(f.set->threshold_state, r, &p, TO_SERVER) == THRESHOLD_ALERT
                       ? 'A' : '.';
    }
    CHECK_STRING(found, expected);
    rules_fixture_close(&f);
}

TEST(detection_filter_counts_ports)
{
    static const char *const of_hosts[] = {
        "track by_dst,count 2,seconds 60,unique_on dst_port",
        "track by_src, count 2, seconds 60, unique_on src_port",
    };
    struct flow *flow = aligned_alloc(CACHE_LINE, sizeof(*flow));

    for (size_t i = 0; i < ARRAY_LEN(of_hosts); i++) {
        check_ports(t, of_hosts[i], NULL, "aaaa", "....");
        check_ports(t, of_hosts[i], NULL, "abab", "....");
        check_ports(t, of_hosts[i], NULL, "aabbcabd", "....AAAA");
    }
    /* a period later, ports count again, and those of the period before do not */
    check_ports(t, "track by_dst,count 2,seconds 3,unique_on dst_port", NULL, "abcdabca.a",
                "..AA..AA..");
    memset(flow, 0, sizeof(*flow));
    check_ports(t, "track by_flow,count 1,seconds 3,unique_on src_port", flow, "aabaabab",
                "..AA.AAA");
    threshold_flow_free(flow);
    flow_ext_free(flow);
    free(flow);
}

TEST(detection_filter_unique_on_is_about_ports)
{
    static const struct { const char *rule, *error; } bad[] = {
        { "alert ip any any -> any any (detection_filter:track by_src, count 1, seconds 1, "
          "unique_on src_port; sid:1;)",
          "detection_filter: unique_on needs a rule about TCP, UDP or SCTP" },
        { "alert icmp any any -> any any (detection_filter:track by_src, count 1, seconds 1, "
          "unique_on src_port; sid:1;)",
          "detection_filter: unique_on needs a rule about TCP, UDP or SCTP" },
        { "alert tcp any any -> any any (detection_filter:track by_src, count 1, seconds 1, "
          "unique_on address; sid:1;)",
          "detection_filter: unique_on: expected src_port or dst_port, found \"address\"" },
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(rules_fixture_parse(&f, bad[i].rule) == NULL);
        CHECK_STRING(f.err.text, bad[i].error);
    }
    CHECK(rules_fixture_parse(&f, "alert http any any -> any any (detection_filter:track by_src, "
                              "count 1, seconds 1, unique_on dst_port; sid:1;)") != NULL);
    rules_fixture_close(&f);
}

/* An entry that was never used takes a page, which counts for the process. One that has expired is
 * there already. */
TEST(threshold_entries_below_the_limit_of_the_process)
{
    struct shard_table *table = shard_table_new(1u << 20);
    struct shard_key key = { .id = { 1 } };
    struct shard_ref ref;

    alloc_failures_set((struct alloc_failures){ .every = 1 });
    ref = shard_table_get(table, &key, 10, true);
    CHECK(ref.value == NULL);
    shard_table_release(&ref);
    alloc_failures_set((struct alloc_failures){ .above = 1000 });
    ref = shard_table_get(table, &key, 10, true);
    CHECK(ref.value == NULL);           /* nor the buckets of its shard */
    shard_table_release(&ref);
    alloc_failures_set((struct alloc_failures){ 0 });
    ref = shard_table_get(table, &key, 10, true);
    CHECK(ref.value != NULL && ref.fresh);
    shard_table_release(&ref);
    shard_table_clear(table);
    alloc_failures_set((struct alloc_failures){ .every = 1 });
    ref = shard_table_get(table, &key, 10, true);
    CHECK(ref.value != NULL);
    shard_table_release(&ref);
    alloc_failures_set((struct alloc_failures){ 0 });
    shard_table_free(table);
}

/* A quarter of a shard, so that what other threads add meanwhile still has space. */
TEST(shard_table_has_space_until_a_quarter_is_used)
{
    struct shard_table *table = shard_table_new(1u << 20);
    struct shard_key key = { .kind = 1 };
    unsigned added = 0;

    while (shard_table_has_space(table, &key) && added < 100000) {
        struct shard_key other = { .kind = 2, .id = { added++ } };
        struct shard_ref ref = shard_table_get(table, &other, 1, true);

        shard_table_release(&ref);
    }
    CHECK(added > 1000 && added < 10000);
    CHECK_INT(shard_table_refused(table), 0);
    shard_table_free(table);
}
