/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules mean, form by form. */
#include "base/memory/buf.h"
#include "base/test.h"
#include "detect/tests/rules_fixture.h"
#include "detect/state/threshold.h"

#include <stdio.h>
#include <string.h>

TEST(rule_header_and_meta)
{
    struct rules_fixture f;
    struct rule *r;

    rules_fixture_open(&f);
    r = rules_fixture_parse(&f, "drop tcp $HOME_NET any -> $EXTERNAL_NET $HTTP_PORTS "
                            "(msg:\"a \\\"b\\\"\\; c\"; sid:7; gid:3; rev:2; "
                            "classtype:Trojan-Activity; target:dest_ip; "
                            "reference:url,x.example/y; reference:cve,2020-1; "
                            "reference:url,https://z.example; "
                            "metadata:b 1, a x, nothing, b 2 3;)");
    CHECK(r != NULL);
    if (r != NULL) {
        CHECK_INT(r->action, RULE_DROP);
        CHECK_INT(r->sid, 7);
        CHECK_INT(r->gid, 3);
        CHECK_INT(r->rev, 2);
        CHECK_STRING(rule_info(r)->msg, "a \"b\"; c");
        CHECK_INT(r->priority, 1);
        CHECK_STRING(rule_info(r)->class_name, "trojan-activity");
        CHECK_STRING(rule_info(r)->class_text, "A Trojan");
        CHECK(rule_has_ip_proto(r, 6) && !rule_has_ip_proto(r, 17));
        CHECK((r->flags & RULE_TARGET_DST) && (r->flags & RULE_SPORT_ANY));
        CHECK(!(r->flags & RULE_SRC_ANY));
        CHECK_INT(rule_info(r)->reference_count, 3);
        CHECK_STRING(rule_info(r)->reference[0].prefix, "http://");
        CHECK_STRING(rule_info(r)->reference[0].id, "x.example/y");
        CHECK_STRING(rule_info(r)->reference[2].prefix, "https://");
        CHECK_STRING(rule_info(r)->reference[2].id, "z.example");
        CHECK_STRING(rule_info(r)->metadata_json, "{\"a\":[\"x\"],\"b\":[\"2 3\",\"1\"]}");
    }
    rules_fixture_close(&f);
}

TEST(rule_with_thousands_of_references)
{
    struct rules_fixture f;
    struct buf text = { 0 };
    struct rule *r;
    size_t before;

    rules_fixture_open(&f);
    before = f.set->arena.used;
    buf_add_string(&text, "alert ip any any -> any any (");
    for (unsigned i = 0; i < 5000; i++)
        buf_printf(&text, "reference:url,a.b/%u; ", i);
    buf_add(&text, "sid:1;)", 8);
    r = rules_fixture_parse(&f, (const char *)text.data);
    CHECK(r != NULL && rule_info(r)->reference_count == 5000);
    CHECK_STRING(rule_info(r)->reference[0].id, "a.b/0");
    CHECK_STRING(rule_info(r)->reference[4999].id, "a.b/4999");
    CHECK(f.set->arena.used - before < (2u << 20));
    buf_fini(&text);
    rules_fixture_close(&f);
}

TEST(rule_priority_wins_over_classtype)
{
    struct rules_fixture f;

    rules_fixture_open(&f);
    CHECK_INT(rules_fixture_options(&f, "priority:9; classtype:trojan-activity;")->priority, 9);
    CHECK_INT(rules_fixture_options(&f, "classtype:trojan-activity; priority:9;")->priority, 9);
    CHECK_INT(rules_fixture_options(&f, "priority:0; classtype:trojan-activity;")->priority, 0);
    CHECK_INT(rules_fixture_options(&f, "priority:70000;")->priority, 70000);
    CHECK_INT(rules_fixture_options(&f, "priority:70000; priority:256;")->priority, 256);
    CHECK_INT(rules_fixture_options(&f, "classtype:misc-activity;")->priority, 3);
    CHECK_INT(rules_fixture_options(&f, "")->priority, 3);
    CHECK_STRING(rule_info(rules_fixture_options(&f, "classtype:misc-activity;"))->class_text, "Misc, more");
    CHECK(rule_info(rules_fixture_options(&f, "classtype:never-heard-of;"))->class_name == NULL);
    rules_fixture_close(&f);
}

TEST(rule_lines_are_joined_and_columns_kept)
{
    struct rules_fixture f;

    rules_fixture_open(&f);
    CHECK(rules_fixture_parse(&f, "# comment \\\n\nalert ip any any -> any any (msg:\"x\"; \\\n"
                                  "   sid:5;)\n") != NULL);
    CHECK(rules_fixture_parse(&f, "\n#x\nalert ip any any -> any any (msg:\"x\"; \\\r\n"
                                  "   frob; sid:5;)\n") == NULL);
    CHECK_INT(f.err.at.line, 4);
    CHECK_INT(f.err.at.column, 4);
    CHECK(rules_fixture_parse(&f, "alert ip any any -> any any (msg:\"\xff\"; sid:1;)") == NULL);
    CHECK_STRING(f.err.text, "the rule has control characters or is not valid UTF-8");
    CHECK(rules_fixture_parse(&f, "alert ip any any -> any any (msg:\"\xc3\xa9\"; sid:1;)") !=
          NULL);
    rules_fixture_close(&f);
}

TEST(rule_header_protocols)
{
    static const struct {
        const char *name;
        uint8_t has, lacks, version;
        uint32_t flags;
    } cases[] = {
        { "tcp", 6, 17, 0, 0 },
        { "TCP", 6, 17, 0, 0 },
        { "tcp-pkt", 6, 17, 0, RULE_PROTO_TCP_PKT },
        { "tcp-stream", 6, 17, 0, RULE_PROTO_TCP_STREAM },
        { "udp", 17, 6, 0, 0 },
        { "icmp", 58, 6, 0, 0 },
        { "icmpv4", 1, 58, 0, 0 },
        { "icmpv6", 58, 1, 0, 0 },
        { "sctp", 132, 6, 0, 0 },
        { "ip4", 200, 0, 4, 0 },
        { "ipv6", 200, 0, 6, 0 },
        { "pkthdr", 200, 0, 0, RULE_PROTO_PKTHDR },
    };
    struct rules_fixture f;
    char text[200];

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rule *r;

        snprintf(text, sizeof(text), "alert %s any any -> any any (sid:1;)", cases[i].name);
        r = rules_fixture_parse(&f, text);
        if (r == NULL || !rule_has_ip_proto(r, cases[i].has) ||
            (cases[i].lacks != 0 && rule_has_ip_proto(r, cases[i].lacks)) ||
            r->ip_version != cases[i].version || (r->flags & cases[i].flags) != cases[i].flags)
            test_fail(t, __FILE__, __LINE__, "%s", cases[i].name);
    }
    CHECK_INT(rules_fixture_parse(&f, "pass:packet ip any any -> any any (sid:1;)")->scope,
              SCOPE_PACKET);
    CHECK_INT(rules_fixture_parse(&f, "drop:flow ip any any -> any any (sid:1;)")->scope,
              SCOPE_FLOW);
    CHECK_INT(rules_fixture_parse(&f, "alert tcp:flow_start any any -> any any (sid:1;)")->hook,
              HOOK_FLOW_START);
    rules_fixture_close(&f);
}

TEST(rule_keywords_take_their_forms)
{
    static const char *const good[] = {
        "ttl:5;", "ttl:<5;", "ttl:>=5;", "ttl:!5;", "ttl:1-9;", "ttl:!1-9;", "ttl:1<>9;",
        "ttl:&0xf0=0x10;", "ttl:&0xf0!=0x10;", "ttl: = 5;", "id:1;", "id:\"1\";", "tos:8;",
        "tos:!8;", "tos:x1f;", "sameip;", "l3_proto:ip6;", "ip_proto:6;", "ip_proto:!tcp;",
        "ip_proto:>6; ip_proto:<20;", "ip_proto:udp;", "ipopts:any;", "ipopts:lsrr;",
        "fragbits:M;", "fragbits:+MD;", "fragbits:*RD;", "fragbits:!D;", "fragoffset:>10;",
        "fragoffset: < 5,any;", "urilen:5,raw;", "urilen:1<>9 , norm;",
        "urilen:10-1;", "dnp3_obj:1,2;", "dnp3_obj:1;", "http2.frametype:1kb;",
        "http2.frametype:GOAWAY;", "http2.errorcode:8;", "krb5_err_code:25;", "xbits:set,a;",
        "filestore:any;", "ssl_version:!;", "template:1,2;",
        "http.uri; content:\"a\"; replace:\"bc\";",
        "flow:to_server; http.response_body; content:\"x\";",
        "http.uri; content:\"a\"; fast_pattern; http.method; content:\"b\"; fast_pattern;",
        "http.method; content:\"GET\"; http.uri; fast_pattern; content:\"a\";",
        "ttl:>5; prefilter;", "content:\"a\"; dsize:>5; prefilter;",
        "http.uri; content:\"a\"; tcpv4-csum:valid;",
        "itype:8;", "itype:>3;", "icode:<5;", "icmp_id:7;", "icmp_seq:7;", "icmpv6.mtu:<1280;",
        "tcp.flags:S;", "flags:S,CE;", "tcp.flags:+SA;", "tcp.flags:!R;", "flags:*FS12;",
        "flags:0;", "flags:SAPRFU;", "seq:5;", "tcp.ack:0;", "window:!55;",
        "seq:10-20;", "tcp.ack:>5;", "window:<5;", "icmp_id:0x10;", "icmp_seq:!5;", "icmp_id:5<>9;", "tcp.mss:<1000;",
        "tcp.wscale:>5;", "dsize:10<>20;", "dsize:>1kb;", "decode-event:ipv4.trunc_pkt;",
        "stream-event:3whs_ack_in_wrong_dir;", "engine-event:decoder.ipv4.trunc_pkt;",
        "ipv4-csum:valid;", "tcpv4-csum:invalid;", "udpv6-csum:valid;", "icmpv6-csum:invalid;",
        "vlan.id:5;", "vlan.id:5,0;", "vlan.id:<9,all;", "vlan.id:3,-1;", "vlan.layers:2;",
        "flow:established,to_server;", "flow:stateless;", "flow:to_client,only_stream;",
        "flow:from_server,no_frag;", "flowbits:set,a;", "flowbits:isset,a|b;",
        "flowbits:isnotset, a;", "flowbits:toggle,a;", "flowbits:noalert;", "flowbits:unset,a.b;",
        "flowint:xx,=,1;", "flowint: xx , + , 1 ;", "flowint:xx,>=,yy;", "flowint:xx,isset;",
        "flowint:xx,notset;", "flowint:a.b/c,+1;",
        "flowint:xx,isset,3;", "xbits:set,b,track ip_src;", "xbits:isset,b,track ip_pair,expire 5;",
        "xbits:set,b,track tx;", "xbits:noalert;", "hostbits:set,b;", "hostbits:isset,b,dst;",
        "stream_size:both,>,10;", "stream_size: either , = , 10;", "flow.age:>10;",
        "flow.pkts:toserver,>5;", "flow.pkts_toclient:5;", "flow.bytes:both,<1mb;",
        "flow.bytes_toserver:>0;", "app-layer-protocol:failed;", "app-layer-protocol:unknown;",
        "app-layer-protocol:!failed,final;",
        "app-layer-event:applayer_mismatch_protocol_both_directions;",
        "threshold:type limit,track by_src,count 1,seconds 60;",
        "threshold: type threshold, track by_rule, count 5, seconds 60;",
        "threshold:type backoff,track by_flow,count 1,multiplier 10;",
        "detection_filter:track by_dst,count 5,seconds 10;", "tag:session;",
        "tag:host,10,packets,src;", "tag:session,300,seconds;", "bypass;", "noalert;", "alert;",
        "config:logging disable, type tx, scope tx;", "filename:\"x\";", "fileext:!\"exe\";",
        "filemagic:\"PDF\";", "filesize:>1mb;", "filesize:to_client,<5;", "filestore;",
        "filestore:response,tx;",
        "content:\"a=\"; http_client_body; pcre:\"/^b/PR\";",
        "content:\"a\"; http_server_body; pcre:\"/^b/QR\";",
        "nfq_set_mark:0x10/0xffff;", "noalert; alert;", "alert; noalert;", "nfq_set_mark:1/0xff;",
        "asn1:double_overflow, bitstring_overflow, relative_offset -4, oversize_length 2048;",
        "requires:version >= 7;", "requires: version >= 8 < 9 | >= 9, keyword content;",
        "requires:feature output::file-store;", "requires:feature ja3;", "ttl:5; prefilter;", "SAMEIP;",
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (rules_fixture_options(&f, good[i]) == NULL)
            test_fail(t, __FILE__, __LINE__, "%s: %s", good[i], f.err.text);
    rules_fixture_close(&f);
}

TEST(rule_requires_skips)
{
    static const char *const unmet[] = {
        "requires:version >= 9;", "requires:version < 8;", "requires:version >= 9 | < 7.0.5;",
        "requires:feature magic-carpet;", "requires:keyword frob;", "requires:colour blue;",
        "requires:version >= 9; frob:1;", "requires:feature ja4;",
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(unmet); i++) {
        CHECK(rules_fixture_options(&f, unmet[i]) == NULL);
        CHECK_INT(f.outcome, RULE_SKIPPED);
    }
    rules_fixture_close(&f);
}

TEST(rule_flow_sets_flags)
{
    struct rules_fixture f;
    struct rule *r;

    rules_fixture_open(&f);
    r = rules_fixture_options(&f, "flow:established,to_client,only_stream;");
    CHECK((r->flags & RULE_FLOW_ESTABLISHED) && (r->flags & RULE_TO_CLIENT));
    CHECK((r->flags & RULE_ONLY_STREAM) && !(r->flags & RULE_TO_SERVER));
    CHECK_INT(r->test_count, 1);
    CHECK_INT(rules_fixture_options(&f, "flow:to_server;")->test_count, 0);
    r = rules_fixture_options(&f, "flowbits:isset,a; flowbits:set,b;");
    CHECK_INT(r->flowbits_read, 1);
    CHECK_INT(r->flowbits_set, 1);
    CHECK_INT(r->test_count, 1);
    CHECK_INT(r->post_count, 1);
    rules_fixture_close(&f);
}

TEST(rule_event_that_is_no_more_leaves_the_rule_out)
{
    struct rules_fixture f;

    rules_fixture_open(&f);
    CHECK(rules_fixture_options(&f, "decode-event:udp.hlen_invalid;") == NULL);
    CHECK_INT(f.outcome, RULE_IGNORED);
    f.request.strict_keywords = "decode-event";
    CHECK(rules_fixture_options(&f, "decode-event:udp.hlen_invalid;") == NULL);
    CHECK_INT(f.outcome, RULE_FAILED);
    rules_fixture_close(&f);
}

/* --- matching --------------------------------------------------------------------------------- */

static bool tests_pass(const struct rule *r, struct packet *p)
{
    struct match_input in = { .packet = p, .flow = p->flow, .rule = r };

    for (unsigned i = 0; i < r->test_count; i++)
        if (r->test[i].match(&in, r->test[i].arg) == r->test[i].negated)
            return false;
    return true;
}

static struct packet tcp_packet(uint8_t header[40], uint8_t flags)
{
    static const uint8_t ip[20] = { 0x45, 8, 0, 40, 0x12, 0x34, 0x40, 0, 64, 6 };
    struct packet p;

    memset(&p, 0, sizeof(p));
    memset(header, 0, 40);
    memcpy(header, ip, sizeof(ip));
    p.l3 = header;
    p.l4 = header + 20;
    p.l3_len = p.l4_header_len = 20;
    p.l4_len = 20;
    p.ip_proto = 6;
    p.tcp.flags = flags;
    p.tcp.window = 500;
    ip_parse(text_of("10.0.0.1"), &p.src);
    ip_parse(text_of("10.0.0.2"), &p.dst);
    p.time_us = 1000000;
    return p;
}

TEST(rule_packet_keywords_match)
{
    static const struct { const char *options; bool hit; } cases[] = {
        { "ttl:64;", true },          { "ttl:<64;", false },        { "ttl:63-65;", true },
        { "ttl:64-66;", false },      { "id:4660;", true },         { "id:1;", false },
        { "tos:8;", true },           { "tos:!8;", false },         { "tos:!9;", true },
        { "sameip;", false },         { "ip_proto:6;", true },      { "ip_proto:!6;", false },
        { "ipopts:any;", false },     { "fragbits:D;", true },      { "fragbits:M;", false },
        { "fragbits:!M;", true },     { "fragbits:*MD;", true },    { "fragbits:+MD;", false },
        { "fragoffset:<5;", true },   { "itype:0;", false },        { "flags:SA;", true },
        { "flags:S;", false },        { "flags:+S;", true },        { "flags:S,A;", true },
        { "flags:!S;", false },       { "flags:*SF;", true },       { "flags:0;", false },
        { "window:500;", true },      { "window:!500;", false },    { "tcp.mss:>1;", false },
        { "dsize:<1;", true },        { "dsize:>5;", false },       { "vlan.id:5;", false },
        { "vlan.layers:<1;", true },  { "flow:not_established;", true },
        { "flow:established;", false },
    };
    struct rules_fixture f;
    uint8_t header[40];
    struct packet p = tcp_packet(header, TCP_SYN | TCP_ACK);

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct rule *r = rules_fixture_options(&f, cases[i].options);

        if (r == NULL)
            test_fail(t, __FILE__, __LINE__, "%s: %s", cases[i].options, f.err.text);
        else if (tests_pass(r, &p) != cases[i].hit)
            test_fail(t, __FILE__, __LINE__, "%s", cases[i].options);
    }
    rules_fixture_close(&f);
}

TEST(rule_int_index_matches)
{
    static const struct { const char *options; bool hit; } cases[] = {
        { "vlan.id:5;", true },       { "vlan.id:5,any;", true },   { "vlan.id:5,all;", false },
        { "vlan.id:<10,all;", true }, { "vlan.id:5,0;", false },    { "vlan.id:5,1;", true },
        { "vlan.id:5,-1;", true },    { "vlan.id:3,-2;", true },    { "vlan.id:3,-3;", false },
        { "vlan.id:3,2;", false },    { "vlan.id:&1=1,all;", true },
        { "vlan.id:5,all_or_absent;", false },  { "vlan.id:<10,all_or_absent;", true },
        { "vlan.id:5,or_absent;", true },       { "vlan.id:6,or_absent;", false },
        { "vlan.id:5,oob_or 1;", true },        { "vlan.id:5,oob_or 0;", false },
        { "vlan.id:5,oob_or 2;", true },        { "vlan.id:5,oob_or -3;", true },
        { "vlan.id:5,nb 1;", true },            { "vlan.id:<10,nb>1;", true },
        { "vlan.id:<10,nb<2;", false },         { "vlan.id:7,nb <1;", true },
        { "vlan.id:5,any,0:1;", false },        { "vlan.id:5,any,1:2;", true },
        { "vlan.id:3,any,-2:-1;", true },       { "vlan.id:5,any,-2:-1;", false },
        { "vlan.id:5,-1,0:-1;", false },        { "vlan.id:3,any,0:3;", false },
        { "vlan.id:5,or_absent,0:3;", true },   { "vlan.id:5,any,1:0;", true },
        { "vlan.id:count 2;", true },           { "vlan.id:count >2;", false },
    };
    static const char *const wrong[] = {
        "vlan.id:5,none;", "vlan.id:5,nb;", "vlan.id:5,nb x;", "vlan.id:5,oob_or;",
        "vlan.id:5,any,1;", "vlan.id:5,any,2:1;", "vlan.id:5,any,-1:-2;", "vlan.id:5,any,0:1,2;",
        "vlan.id:count;", "vlan.id:count 2,any;", "vlan.id:5,40000;", "vlan.id:5,oob_or 3;",
    };
    struct rules_fixture f;
    uint8_t header[40];
    struct packet p = tcp_packet(header, 0);

    p.vlan_count = 2;
    p.vlan[0] = 3;
    p.vlan[1] = 5;
    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct rule *r = rules_fixture_options(&f, cases[i].options);

        if (r == NULL)
            test_fail(t, __FILE__, __LINE__, "%s: %s", cases[i].options, f.err.text);
        else if (tests_pass(r, &p) != cases[i].hit)
            test_fail(t, __FILE__, __LINE__, "%s", cases[i].options);
    }
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (rules_fixture_options(&f, wrong[i]) != NULL)
            test_fail(t, __FILE__, __LINE__, "%s: taken", wrong[i]);
    p.vlan_count = 0;
    CHECK(tests_pass(rules_fixture_options(&f, "vlan.id:5,or_absent;"), &p));
    CHECK(tests_pass(rules_fixture_options(&f, "vlan.id:5,all_or_absent;"), &p));
    CHECK(!tests_pass(rules_fixture_options(&f, "vlan.id:5,all;"), &p));
    rules_fixture_close(&f);
}

/* The parsers of each capture read it from the ruleset. */
TEST(rule_requires_what_its_file_keywords_test)
{
    struct rules_fixture f;

    rules_fixture_open(&f);
    CHECK(rules_fixture_parse(&f, "alert http any any -> any any (filestore; sid:1;)") != NULL);
    CHECK(f.set->required.files & APP_FILE_STORE);
    rules_fixture_close(&f);
}

/* Whether the rule looks for something in the payload. */
static bool has_payload(const struct rule *r)
{
    for (const struct rule_list *l = r != NULL ? r->list : NULL; l != NULL; l = l->next)
        if (l->buffer == NULL && l->first != NULL)
            return true;
    return false;
}

/* A content after a test of the transaction looks into the payload, as in Suricata, whatever buffer
 * came before the test. */
TEST(rule_test_of_the_transaction_ends_a_sticky_buffer)
{
    static const char *const ends[] = {
        "tls.version:1.0;", "ssl_state:client_hello;", "tls.cert_chain_len:>1;",
        "tls.subject:\"CN=x\";", "tls_cert_expired;", "app-layer-event:tls.invalid_record_type;",
    };
    static const char *const stays[] = { "flowbits:isset,x;", "bsize:>1;", "flow:established;" };
    struct rules_fixture f;
    char rule[256];

    rules_fixture_open(&f);
    for (unsigned i = 0; i < ARRAY_LEN(ends) + ARRAY_LEN(stays); i++) {
        bool is_end = i < ARRAY_LEN(ends);
        const char *test = is_end ? ends[i] : stays[i - ARRAY_LEN(ends)];
        struct rule *r;

        snprintf(rule, sizeof(rule), "alert tls any any -> any any (tls.cert_subject; "
                 "content:\"a\"; %s content:\"b\"; sid:1;)", test);
        r = rules_fixture_parse(&f, rule);
        CHECK(r != NULL);
        CHECK(r == NULL || has_payload(r) == is_end);
    }
    rules_fixture_close(&f);
}

TEST(rule_content_of_another_buffer_ends_a_sticky_buffer)
{
    static const struct { const char *options; bool payload; } cases[] = {
        { "http.host; content:\"a\"; urilen:5; content:\"b\";", true },
        { "http.uri; content:\"a\"; urilen:5; content:\"b\";", false },
        { "http.uri; content:\"a\"; fileext:\"exe\"; content:\"b\";", true },
        /* The buffer that the test ends may be named again, also when it has no content yet. */
        { "http.uri; filesize:>5; http.uri; content:\"b\";", false },
    };
    struct rules_fixture f;
    char rule[256];

    rules_fixture_open(&f);
    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        struct rule *r;

        snprintf(rule, sizeof(rule), "alert http any any -> any any (%s sid:1;)", cases[i].options);
        r = rules_fixture_parse(&f, rule);
        CHECK(r != NULL);
        CHECK(has_payload(r) == cases[i].payload);
    }
    CHECK(rules_fixture_parse(&f, "alert http any any -> any any (http.uri; filesize:>5; "
                                  "content:\"b\"; sid:1;)") == NULL);
    rules_fixture_close(&f);
}

/* Eight characters are looked at at once, so each place of a word has its turn. */
TEST(rule_texts_of_printable_characters)
{
    static const struct { const char *text; bool good; } in[] = {
        { "~", true }, { " ", true }, { "\t", true }, { "\xc3\xa9", true }, { "\xf0\x9f\x98\x80", true },
        { "\x7f", false }, { "\x1f", false }, { "\x01", false }, { "\x80", false }, { "\xc3", false },
        { "\xff", false },
    };
    struct rules_fixture f;

    rules_fixture_open(&f);
    for (unsigned i = 0; i < ARRAY_LEN(in); i++)
        for (int at = 0; at < 17; at++) {
            char rule[128];

            snprintf(rule, sizeof(rule), "alert ip any any -> any any (msg:\"%.*s%sz~~~~~~~~\"; sid:1;)",
                     at, "~~~~~~~ ~~~~~~~ ~", in[i].text);
            CHECK_INT(rules_fixture_parse(&f, rule) != NULL, in[i].good);
        }
    rules_fixture_close(&f);
}

/* A semicolon that follows a backslash ends nothing, wherever the option begins. */
TEST(rule_options_end_at_semicolons)
{
    struct rules_fixture f;
    const struct rule *r;

    rules_fixture_open(&f);
    r = rules_fixture_parse(&f, "alert ip any any -> any any (msg:\"a\\;b\\;\"; sid:5;)");
    CHECK(r != NULL && r->sid == 5);
    CHECK_STRING(r != NULL ? rule_info(r)->msg : "", "a;b;");
    CHECK(rules_fixture_parse(&f, "alert ip any any -> any any (sid:5; msg:\"a\\;)") == NULL);
    CHECK(rules_fixture_parse(&f, "alert ip any any -> any any (sid:5; \\;)") == NULL);
    rules_fixture_close(&f);
}
