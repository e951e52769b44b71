/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of packet/defrag: order, overlaps by policy, timeouts, limits. */
#include "packet/tests/decode_env.h"

#include "packet/checksum.h"
#include "packet/defrag_policy.h"
#include "packet/seqno.h"

#include <stdio.h>
#include <string.h>

/* One fragment of protocol 254: content[i] fills its i-th block of eight bytes. */
static struct packet *send(struct decode_env *env, unsigned block, const char *content, bool more)
{
    char words[400];
    int n = snprintf(words, sizeof(words), "eth:0800 ip4f:fe,%x,9",
                     block | (more ? 0x2000 : 0));

    for (const char *c = content; *c != '\0'; c++) {
        n += snprintf(words + n, sizeof(words) - (size_t)n, " '");
        for (unsigned i = 0; i < 8; i++)
            words[n++] = *c;
        words[n] = '\0';
    }
    return env_decode(env, DATALINK_ETHERNET, words);
}

/* What was put together, one letter a block; "" when nothing was. */
static const char *complete(const struct decode_env *env, char out[64])
{
    const struct packet *p = env->vector.packet[env->vector.count - 1];
    unsigned n = 0;

    if (env->vector.count == 2 && (p->flags & PACKET_REASSEMBLED))
        for (const uint8_t *at = p->l3 + p->l3_len; at < p->data + p->len && n < 63; at += 8)
            out[n++] = (char)*at;
    out[n] = '\0';
    return out;
}

TEST(defrag_any_order)
{
    static const unsigned orders[6][3] = {
        { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
    };
    static const char *const parts[3] = { "AB", "C", "DE" };
    static const unsigned at[3] = { 0, 2, 3 };
    struct decode_env env;
    char out[64];

    env_open(&env, NULL);
    for (unsigned i = 0; i < 6; i++) {
        struct packet *p = NULL;

        for (unsigned k = 0; k < 3; k++) {
            unsigned part = orders[i][k];

            p = send(&env, at[part], parts[part], part != 2);
            CHECK(p->flags & PACKET_FRAGMENT);
            CHECK_INT(p->event_count, 0);
            CHECK_INT(env.vector.count, k == 2 ? 2 : 1);
        }
        CHECK_STRING(complete(&env, out), "ABCDE");
        CHECK(p->flags & PACKET_NO_PAYLOAD_INSPECT);
        CHECK_INT(env.vector.packet[1]->source, PACKET_DEFRAG);
        CHECK(env.vector.packet[1]->root == p);
        CHECK_INT(env.vector.packet[1]->recursion, 0);
    }
    CHECK_INT(env_count(&env, "defrag.ipv4.fragments"), 18);
    CHECK_INT(env_count(&env, "defrag.ipv4.reassembled"), 6);
    env_close(t, &env);
}

/* After J. Novak's paper: blocks are sent in this order, and each system reads its own text. */
static const struct {
    unsigned block;
    const char *content;
} novak[] = {
    { 0, "111" }, { 4, "22" }, { 6, "333" }, { 1, "4444" }, { 6, "555" }, { 9, "666" },
};

static void check_novak(struct test *t, const char *system, const char *expected)
{
    struct decode_env env;
    char yaml[100], out[64];

    snprintf(yaml, sizeof(yaml), "host-os-policy:\n  %s: [10.0.0.0/8]\n", system);
    env_open(&env, yaml);
    for (unsigned i = 0; i < ARRAY_LEN(novak); i++)
        send(&env, novak[i].block, novak[i].content, i != ARRAY_LEN(novak) - 1);
    if (strcmp(complete(&env, out), expected) != 0)
        test_fail(t, __FILE__, __LINE__, "%s: \"%s\", expected \"%s\"", system, out, expected);
    env_close(t, &env);
}

TEST(defrag_policies_differ)
{
    check_novak(t, "bsd", "111442333666");
    check_novak(t, "irix", "111442333666");
    check_novak(t, "linux", "111442555666");
    check_novak(t, "bsd-right", "144422555666");
    check_novak(t, "windows", "111422333666");
    check_novak(t, "solaris", "111422333666");
    check_novak(t, "first", "111422333666");
    check_novak(t, "macos", "111422333666");
    check_novak(t, "last", "144442555666");
}

TEST(defrag_policy_rules)
{
    CHECK(!defrag_policy_keeps_old(DEFRAG_WINDOWS, 8, 16, 0, 24));
    CHECK(defrag_policy_keeps_old(DEFRAG_WINDOWS, 8, 16, 0, 16));
    CHECK(!defrag_policy_keeps_old(DEFRAG_SOLARIS, 8, 16, 0, 16));
    CHECK(defrag_policy_keeps_old(DEFRAG_SOLARIS, 8, 16, 0, 12));
    CHECK(defrag_policy_keeps_old(DEFRAG_BSD, 8, 16, 8, 24));
    CHECK(!defrag_policy_keeps_old(DEFRAG_LINUX, 8, 16, 8, 24));
    CHECK(defrag_policy_keeps_old(DEFRAG_BSD_RIGHT, 8, 16, 0, 24));
}

TEST(defrag_overlap_is_signalled)
{
    struct decode_env env;
    char out[64];
    struct packet *p;

    env_open(&env, NULL);
    send(&env, 0, "AAA", true);
    p = send(&env, 1, "BBB", true);
    CHECK(packet_has_event(p, EVENT_IPV4_FRAG_OVERLAP));
    p = send(&env, 4, "C", false);
    CHECK_INT(p->event_count, 0);
    CHECK_STRING(complete(&env, out), "AAABC");
    env_close(t, &env);
}

/* The newer fragment lies within an older one that yields: that is cut in two. */
static void check_split(struct test *t, const char *system, const char *expected)
{
    struct decode_env env;
    char yaml[100], out[64];

    snprintf(yaml, sizeof(yaml), "host-os-policy: { %s: [10.0.0.2] }", system);
    env_open(&env, yaml);
    send(&env, 0, "AAAAA", true);
    send(&env, 2, "B", true);
    send(&env, 5, "C", false);
    CHECK_STRING(complete(&env, out), expected);
    env_close(t, &env);
}

TEST(defrag_splits)
{
    check_split(t, "last", "AABAAC");
    check_split(t, "first", "AAAAAC");
}

TEST(defrag_what_follows_the_last_is_cut)
{
    struct decode_env env;
    char out[64];

    env_open(&env, NULL);
    send(&env, 2, "XX", true);
    send(&env, 1, "B", false);
    send(&env, 0, "A", true);
    CHECK_STRING(complete(&env, out), "AB");
    env_close(t, &env);
}

TEST(defrag_too_large)
{
    struct decode_env env;
    struct packet *p;

    env_open(&env, NULL);
    p = send(&env, 0x1fff, "AB", true);
    CHECK(packet_has_event(p, EVENT_IPV4_FRAG_PKT_TOO_LARGE));
    CHECK((p->flags & PACKET_INVALID) == 0);
    env_close(t, &env);
}

TEST(defrag_times_out)
{
    struct decode_env env;
    char out[64];

    env_open(&env, "defrag:\n  timeout: 10\n  host-config:\n    - far:\n        timeout: 100\n"
                   "        address: [192.168.0.0/16]\n");
    send(&env, 0, "A", true);
    env.time_us += 10000000;
    send(&env, 1, "B", false);
    CHECK_STRING(complete(&env, out), "");
    CHECK_INT(env_count(&env, "defrag.wrk.tracker_timeout"), 1);
    env.time_us += 9000000;
    send(&env, 0, "A", true);
    CHECK_STRING(complete(&env, out), "AB");
    send(&env, 0, "A", true);
    env.time_us += 30000000;
    env_decode(&env, DATALINK_ETHERNET, "eth:0806 zero:28");
    CHECK_INT(env_count(&env, "defrag.mgr.tracker_timeout"), 1);
    env_close(t, &env);
}

/* One frame with a clock that is wrong must not end the datagrams after it, and what is found does
 * not depend on where vectors end. */
TEST(defrag_goes_on_when_time_goes_back)
{
    struct decode_env env;
    char out[64];

    env_open(&env, "defrag: { timeout: 10 }");
    env.seqno = seqno_next(0, env.time_us);
    env.time_us += 1000000000;
    env_decode(&env, DATALINK_ETHERNET, "eth:0806 zero:28");
    env.time_us -= 1000000000;
    send(&env, 0, "A", true);
    env.time_us += 9000000;
    send(&env, 1, "B", false);
    CHECK_STRING(complete(&env, out), "AB");
    send(&env, 0, "A", true);
    env.time_us += 1000020000000;
    env_decode(&env, DATALINK_ETHERNET, "eth:0806 zero:28");
    CHECK_INT(env_count(&env, "defrag.mgr.tracker_timeout"), 1);
    env_close(t, &env);
}

/* A fragment that another thread would still have: its time is over by the order. */
TEST(defrag_times_out_by_order)
{
    struct decode_env env;
    char out[64];

    env_open(&env, "defrag: { timeout: 10 }");
    env.seqno = seqno_next(0, env.time_us);
    send(&env, 0, "A", true);
    env.seqno = seqno_next(0, env.time_us + 20000000);  /* of a frame that another thread read */
    send(&env, 1, "B", false);
    CHECK_STRING(complete(&env, out), "");
    CHECK_INT(env_count(&env, "defrag.wrk.tracker_timeout"), 1);
    env_close(t, &env);
}

TEST(defrag_timeout_by_address)
{
    struct decode_env env;
    char out[64];

    env_open(&env, "defrag:\n  timeout: 10\n  host-config:\n    - here:\n        timeout: 100\n"
                   "        address: [10.0.0.0/24]\n");
    send(&env, 0, "A", true);
    env.time_us += 99000000;
    send(&env, 1, "B", false);
    CHECK_STRING(complete(&env, out), "AB");
    env_close(t, &env);
}

TEST(defrag_max_frags)
{
    struct decode_env env;
    struct packet *p;

    env_open(&env, "defrag: { max-frags: 2 }");
    send(&env, 0, "A", true);
    send(&env, 2, "A", true);
    p = send(&env, 4, "A", true);
    CHECK(packet_has_event(p, EVENT_IPV4_FRAG_IGNORED));
    CHECK_INT(env_count(&env, "defrag.max_frags_reached"), 1);
    env_close(t, &env);
}

TEST(defrag_memcap_takes_from_the_oldest)
{
    struct decode_env env;
    uint64_t most = 0;

    env_open(&env, "defrag: { memcap: 300kb, hash-size: 64 }");
    for (unsigned id = 0; id < 3000; id++) {
        char words[64];

        snprintf(words, sizeof(words), "eth:0800 ip4f:fe,2000,%x zero:64", id);
        env_decode(&env, DATALINK_ETHERNET, words);
        most = MAX(most, env_count(&env, "defrag.memuse"));
    }
    CHECK(most <= 300 * 1024);
    CHECK(env_count(&env, "defrag.tracker_hard_reuse") > 0);
    env_close(t, &env);
}

TEST(defrag_memcap_policy)
{
    struct decode_env env;
    struct packet *p;

    env_open(&env, "defrag: { memcap-policy: drop-packet }");
    decode_conf_simulate_defrag_memcap(env.conf, 7);
    p = send(&env, 0, "A", true);
    CHECK_INT(p->action, 0);
    env_release(&env);
    p = packet_pool_get(env.pool);
    uint8_t data[64];
    size_t len = env_bytes("eth:0800 ip4f:fe,2000,77 zero:16", data, sizeof(data));
    p->data = data;
    p->len = (uint32_t)len;
    p->datalink = DATALINK_ETHERNET;
    p->number = 7;
    vector_push(&env.vector, p);
    decode_vector(env.decoder, &env.vector);
    CHECK(p->action & ACTION_DROP);
    CHECK_INT(p->drop_reason, DROP_DEFRAG_MEMCAP);
    CHECK_INT(env_count(&env, "exception_policy.defrag.memcap.drop_packet"), 1);
    env_close(t, &env);
}

/* The unfragmentable part stays, its last header then names what follows. */
TEST(defrag_ipv6)
{
    struct decode_env env;
    struct packet *p;

    env_open(&env, NULL);
    env_decode(&env, DATALINK_ETHERNET,
               "eth:86dd ip6:3c 2c00050200000100 1100000100000007 0001000200150000");
    p = env_decode(&env, DATALINK_ETHERNET,
                   "eth:86dd ip6:3c 2c00050200000100 1100000800000007 'hello,world!!");
    CHECK_INT(env.vector.count, 2);
    CHECK(p->flags & PACKET_FRAGMENT);
    p = env.vector.packet[1];
    CHECK_INT(p->ip_proto, 17);
    CHECK_BYTES(p->payload, p->payload_len, "hello,world!!", 13);
    CHECK_INT(p->l3_len, 48);
    CHECK_INT(env_count(&env, "defrag.ipv6.reassembled"), 1);
    env_close(t, &env);
}

/* A fragment behind hop-by-hop options: `len` bytes of a datagram of protocol 254. */
static struct packet *send_behind_options(struct decode_env *env, uint32_t offset, uint32_t len,
                                          bool more)
{
    static uint8_t frame[65536];
    char words[96];
    size_t head;

    snprintf(words, sizeof(words), "eth:86dd ip6:00 2c00050200000100 fe00%04x00000007",
             offset | more);
    head = env_bytes(words, frame, sizeof(frame));
    put_be16(frame + 14 + 4, (uint16_t)(16 + len));
    env_decode_bytes(env, DATALINK_ETHERNET, frame, (uint32_t)head + len);
    return env->vector.packet[0];
}

/* The length counts what is behind the header of IPv6: 65,535 bytes fit, one more does not. */
TEST(defrag_ipv6_length)
{
    for (uint32_t more = 0; more < 2; more++) {
        struct decode_env env;
        struct packet *p;

        env_open(&env, NULL);
        send_behind_options(&env, 0, 32768, true);
        p = send_behind_options(&env, 32768, 65535 - 8 - 32768 + more, false);
        CHECK_INT(env_count(&env, "defrag.ipv6.reassembled"), !more);
        CHECK_INT(packet_has_event(p, EVENT_IPV6_TRUNC_EXTHDR), more);
        env_close(t, &env);
    }
}

TEST(defrag_goes_on_decoding)
{
    struct decode_env env;
    uint32_t flow;
    struct packet *p;

    env_open(&env, NULL);
    flow = env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:11 udp:1,2 'x")->flow_hash;
    p = env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4f:11,2000,5 00010002000d0000");
    CHECK(p->flow_hash != 0 && p->flow_hash != flow);
    uint32_t fragments = p->flow_hash;
    p = env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4f:11,0001,5 'hello");
    CHECK_INT(p->flow_hash, fragments);
    p = env.vector.packet[1];
    CHECK_INT(p->flow_hash, flow);
    CHECK_INT(p->dst_port, 2);
    CHECK_BYTES(p->payload, p->payload_len, "hello", 5);
    env_close(t, &env);
}

/* Fragments inside a tunnel, and a tunnel inside a datagram that came in fragments. */
TEST(defrag_and_tunnels)
{
    struct decode_env env;
    struct packet *p;

    env_open(&env, NULL);
    env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:04 ip4f:11,2000,5 00010002000d0000");
    env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:04 ip4f:11,0001,5 'hello");
    CHECK_INT(env.vector.count, 3);
    p = env.vector.packet[2];
    CHECK_INT(p->recursion, 1);
    CHECK(p->root == env.vector.packet[0]);
    CHECK_BYTES(p->payload, p->payload_len, "hello", 5);

    env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4f:04,2000,6 450000210001000040110000"
                                        "0a0000010a000002 00010002");
    env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4f:04,0003,6 000d0000 'hello");
    CHECK_INT(env.vector.count, 3);
    p = env.vector.packet[2];
    CHECK_INT(p->source, PACKET_IPV4_TUNNEL);
    CHECK_BYTES(p->payload, p->payload_len, "hello", 5);
    env_close(t, &env);
}

TEST(defrag_keeps_a_right_checksum_right)
{
    struct decode_env env;
    uint8_t data[128];
    size_t len;

    env_open(&env, NULL);
    len = env_bytes("eth:0800 ip4f:fe,2000,5 'abcdefgh", data, sizeof(data));
    uint16_t sum = checksum_fold(checksum_add(0, data + 14, 20));
    data[24] = (uint8_t)(sum >> 8);
    data[25] = (uint8_t)sum;
    env_decode_bytes(&env, DATALINK_ETHERNET, data, len);
    CHECK(packet_ip_checksum_ok(env.vector.packet[0]));
    env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4f:fe,0001,5 'ij");
    CHECK_INT(env.vector.count, 2);
    CHECK(packet_ip_checksum_ok(env.vector.packet[1]));
    env_close(t, &env);
}

TEST(defrag_vlans_keep_apart)
{
    struct decode_env env;

    env_open(&env, NULL);
    env_decode(&env, DATALINK_ETHERNET, "eth:8100 00010800 ip4f:fe,2000,5 'abcdefgh");
    env_decode(&env, DATALINK_ETHERNET, "eth:8100 00020800 ip4f:fe,0001,5 'ij");
    CHECK_INT(env.vector.count, 1);
    env_decode(&env, DATALINK_ETHERNET, "eth:8100 00010800 ip4f:fe,0001,5 'ij");
    CHECK_INT(env.vector.count, 2);
    CHECK_INT(env.vector.packet[1]->vlan[0], 1);
    env_close(t, &env);
}

/* --- against a model --- */

#define MODEL_BYTES 4096

/* One entry a byte: who owns it. Simple, slow, and therefore right. */
struct model {
    struct {
        unsigned start, end;
        bool owned, last;
        uint8_t value;
    } byte[MODEL_BYTES];
    unsigned end;
    bool seen_last;
};

static void model_add(struct model *m, enum defrag_policy policy, unsigned start, unsigned len,
                      bool last, uint8_t value)
{
    for (unsigned i = start; i < start + len; i++) {
        if (m->byte[i].owned && defrag_policy_keeps_old(policy, m->byte[i].start, m->byte[i].end,
                                                        start, start + len))
            continue;
        m->byte[i].owned = true;
        m->byte[i].start = start;
        m->byte[i].end = start + len;
        m->byte[i].last = last;
        m->byte[i].value = value;
        m->seen_last |= last;
        m->end = MAX(m->end, i + 1);
    }
}

/* The datagram into `out`; 0 when it is not whole. */
static size_t model_complete(const struct model *m, uint8_t *out)
{
    unsigned end = m->end;

    if (!m->seen_last)
        return 0;
    for (unsigned i = 0; i < m->end; i++)
        if (!m->byte[i].owned)
            return 0;
    for (unsigned i = m->end; i-- > 0;)
        if (m->byte[i].last)
            end = m->byte[i].end;
    for (unsigned i = 0; i < end; i++)
        out[i] = m->byte[i].value;
    return end;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* What is drawn: places, lengths and how often one is the last, in blocks of 8 bytes. */
struct model_shape {
    unsigned fragments, blocks, len, last_of;
};

/* Random fragments of one datagram, until it is whole. */
static void check_model_once(struct test *t, struct decode_env *env, enum defrag_policy policy,
                             unsigned id, struct model_shape shape, uint32_t *random)
{
    static struct model m;
    static uint8_t expected[MODEL_BYTES];

    m = (struct model){ 0 };
    for (unsigned i = 0; i < shape.fragments; i++) {
        unsigned block = next_random(random) % shape.blocks;
        unsigned len = 8 * (1 + next_random(random) % shape.len);
        bool last = block > 0 && next_random(random) % shape.last_of == 0;
        uint8_t data[512] = { 0 }, value = (uint8_t)i;
        char words[64];
        size_t n, size;

        snprintf(words, sizeof(words), "ip4f:fe,%x,%x zero:%u", block | (last ? 0 : 0x2000), id,
                 len);
        n = env_bytes(words, data, sizeof(data));
        memset(data + 20, value, len);
        env_decode_bytes(env, DATALINK_RAW, data, n);
        model_add(&m, policy, block * 8, len, last, value);
        size = model_complete(&m, expected);
        CHECK_INT(env->vector.count, size > 0 ? 2 : 1);
        if (size == 0)
            continue;
        if (env->vector.count == 2) {
            const struct packet *p = env->vector.packet[1];

            CHECK_BYTES(p->l3 + 20, p->len - 20, expected, size);
        }
        return;
    }
}

TEST(defrag_agrees_with_a_model)
{
    static const struct {
        const char *system;
        enum defrag_policy policy;
    } list[] = {
        { "bsd", DEFRAG_BSD }, { "bsd-right", DEFRAG_BSD_RIGHT }, { "linux", DEFRAG_LINUX },
        { "windows", DEFRAG_WINDOWS }, { "solaris", DEFRAG_SOLARIS }, { "first", DEFRAG_FIRST },
        { "last", DEFRAG_LAST },
    };
    uint32_t random = 1;

    for (unsigned i = 0; i < ARRAY_LEN(list); i++) {
        struct decode_env env;
        char yaml[100];

        snprintf(yaml, sizeof(yaml), "host-os-policy:\n  %s: [10.0.0.0/8]\n", list[i].system);
        env_open(&env, yaml);
        for (unsigned id = 0; id < 300; id++)
            check_model_once(t, &env, list[i].policy, id, (struct model_shape){ 60, 12, 6, 8 },
                             &random);
        /* with so many pieces that they have an index */
        for (unsigned id = 300; id < 312; id++)
            check_model_once(t, &env, list[i].policy, id,
                             (struct model_shape){ 1500, 480, id % 3 == 0 ? 30 : 3, 300 },
                             &random);
        env_close(t, &env);
    }
}
