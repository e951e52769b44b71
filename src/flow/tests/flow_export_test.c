/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flows written by one process and found by another one. */
#include "flow/flow_export.h"

#include "base/array.h"
#include "base/test.h"
#include "flow/flow_match.h"
#include "flow/vars.h"
#include "packet/tests/decode_env.h"

#include <stddef.h>
#include <string.h>

struct imports_env {
    struct conf *yaml;
    struct flow_conf *conf;
    struct buf records;
    struct err err;
};

static void open_env(struct test *t, struct imports_env *e)
{
    memset(e, 0, sizeof(*e));
    e->yaml = conf_new();
    CHECK_INT(conf_load_string(e->yaml, "flow-timeouts: {tcp: {new: 30, established: 300}}", "test",
                               &e->err), 0);
    e->conf = flow_conf_new(conf_root(e->yaml), 1, &e->err);
    CHECK(e->conf != NULL);
}

static void close_env(struct imports_env *e)
{
    buf_fini(&e->records);
    flow_conf_free(e->conf);
    conf_free(e->yaml);
}

static struct flow flow_between(const struct imports_env *e, uint8_t from, uint16_t src_port,
                                uint8_t to, uint16_t dst_port)
{
    uint8_t a[4] = { 10, 0, 0, from }, b[4] = { 10, 0, 0, to };
    struct flow f = {
        .key = { .src = ip_v4(a), .dst = ip_v4(b), .src_port = src_port, .dst_port = dst_port,
                 .proto = 6 },
    };

    f.hash = flow_match_hash(e->conf, &f.key, 0);
    return f;
}

/* From port 4000 one with variables and a session; from 4001 one without anything. */
static void add_two(struct test *t, struct imports_env *e)
{
    struct flow_export_parts parts = {
        .tcp = { .has_session = 1, .dir = { { .next_seq = 7 }, { .next_seq = 9 } } },
        .app = { .proto = { "http", "http", "mqtt" } },
    };
    struct flow f = flow_between(e, 1, 4000, 2, 80);

    f.id = 12345;
    f.action = 3;
    f.drop_all = 1;
    f.seen[0] = 5;
    f.seen[1] = 6;
    f.last_us = 1000000;
    f.end_state = FLOW_ESTABLISHED;
    f.tcp_flags_seen[0] = 0x12;
    flowbit_set(&f, var_name_id(VAR_FLOWBIT, "export.bit"));
    flowint_put(&f, var_name_id(VAR_FLOWINT, "export.count"), 77);
    CHECK(flow_export_add(&e->records, &f, &parts));
    flow_vars_free(f.vars);
    f = flow_between(e, 1, 4001, 2, 80);
    f.id = 12346;
    f.last_us = 2000000;
    CHECK(flow_export_add(&e->records, &f, &(struct flow_export_parts){ .heard = { 0 } }));
}

static uint16_t number_of(const char *name)
{
    return strcmp(name, "http") == 0 ? 7 : 0;
}

static struct flow_imports *read_back(struct imports_env *e)
{
    return flow_imports_new(e->conf, &e->records, number_of, &e->err);
}

TEST(flow_export_continues_once_and_from_both_sides)
{
    struct imports_env e;
    struct flow_imports *imports;
    struct flow_import from;
    struct flow new, other;
    uint32_t number;

    open_env(t, &e);
    new = flow_between(&e, 2, 80, 1, 4000);
    other = flow_between(&e, 1, 4002, 2, 80);
    add_two(t, &e);
    imports = read_back(&e);
    CHECK(imports != NULL);
    CHECK_INT(flow_imports_count(imports), 2);
    CHECK(!flow_imports_take(imports, &other, &from));
    CHECK(flow_imports_take(imports, &new, &from));
    CHECK_INT(from.flow.tcp.dir[1].next_seq, 9);
    flow_import(&new, &from);
    CHECK_INT(new.id, 12345);
    CHECK_INT(new.action, 3);
    CHECK_INT(new.drop_all, 1);
    CHECK_INT(new.seen[1], 6);
    CHECK_INT(new.tcp_flags_seen[0], 0x12);
    CHECK_INT(new.app_proto, 7);
    CHECK_INT(new.app_proto_dir[0], 7);
    CHECK_INT(new.app_proto_dir[1], 0); /* not known by this name here */
    CHECK_INT(new.app_resume, FLOW_APP_RESUMES);
    CHECK(new.swapped);                 /* its first packet comes from the server */
    CHECK(flowbit_is_set(&new, var_name_id(VAR_FLOWBIT, "export.bit")));
    CHECK(flowint_get(&new, var_name_id(VAR_FLOWINT, "export.count"), &number));
    CHECK_INT(number, 77);
    CHECK(!flow_imports_take(imports, &new, &from));
    CHECK_INT(flow_imports_left(imports), 1);
    flow_imports_free(imports);
    flow_vars_free(new.vars);
    close_env(&e);
}

TEST(flow_export_is_over_when_all_are_taken_or_have_timed_out)
{
    struct imports_env e;
    struct flow_imports *imports;
    struct flow_import from;
    struct flow first, second;

    open_env(t, &e);
    first = flow_between(&e, 1, 4000, 2, 80);
    second = flow_between(&e, 1, 4001, 2, 80);
    add_two(t, &e);
    imports = read_back(&e);
    CHECK(imports != NULL);
    CHECK(!flow_imports_are_over(imports, 301000000));
    CHECK(flow_imports_are_over(imports, 301000001));       /* established: 300 s after 1 s */
    CHECK(flow_imports_take(imports, &first, &from));
    CHECK(!flow_imports_are_over(imports, 0));
    CHECK(flow_imports_take(imports, &second, &from));
    CHECK(flow_imports_are_over(imports, 0));
    flow_imports_free(imports);
    e.records.len = 0;
    imports = read_back(&e);
    CHECK(imports != NULL && flow_imports_are_over(imports, 0));
    flow_imports_free(imports);
    close_env(&e);
}

/* A flow without a packet in the process between goes on in the third one. */
TEST(flow_export_passes_on_what_was_not_taken)
{
    struct imports_env e;
    struct flow_imports *imports;
    struct flow_import from;
    struct flow first, second;
    struct buf next = { 0 };
    unsigned lost = 0;

    open_env(t, &e);
    first = flow_between(&e, 1, 4000, 2, 80);
    second = flow_between(&e, 1, 4001, 2, 80);
    add_two(t, &e);
    imports = read_back(&e);
    CHECK(imports != NULL && flow_imports_take(imports, &second, &from));
    CHECK_INT(flow_imports_pass_on(imports, 301000001, &next, &lost), 0);   /* timed out */
    CHECK_INT(next.len, 0);
    CHECK_INT(flow_imports_pass_on(imports, 301000000, &next, &lost), 1);
    CHECK_INT(lost, 0);
    flow_imports_free(imports);
    imports = flow_imports_new(e.conf, &next, number_of, &e.err);
    CHECK(imports != NULL && flow_imports_take(imports, &first, &from));
    CHECK_INT(from.flow.id, 12345);
    CHECK(bytes_left(&from.vars) > 0);
    CHECK(!flow_imports_take(imports, &second, &from));
    flow_imports_free(imports);
    buf_fini(&next);
    close_env(&e);
}

TEST(flow_export_keeps_what_was_heard)
{
    struct flow_export_parts parts = {
        .app = { .proto = { "http", "http", "" } },
        .heard = { (const uint8_t *)"GET /", 5 },
        .tail = { { (const uint8_t *)"a tail", 6 }, { (const uint8_t *)"answer", 6 } },
    };
    struct app_export app = parts.app;
    struct flow f, new;
    struct imports_env e;
    struct flow_imports *imports;
    struct flow_import from;

    open_env(t, &e);
    f = flow_between(&e, 1, 4000, 2, 80);
    new = flow_between(&e, 1, 4000, 2, 80);
    flowbit_set(&f, var_name_id(VAR_FLOWBIT, "export.bit"));
    CHECK(flow_export_add(&e.records, &f, &parts));
    flow_vars_free(f.vars);
    imports = read_back(&e);
    CHECK(imports != NULL && flow_imports_take(imports, &new, &from));
    flow_import(&new, &from);
    flow_imports_free(imports);
    CHECK_INT(new.app_resume, FLOW_APP_REPLAYS);
    CHECK_INT(flow_replay(&new).len, 5);
    CHECK(memcmp(flow_replay(&new).data, "GET /", 5) == 0);
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        CHECK(flow_tail(&new, d) != NULL && flow_tail(&new, d)->old == 6);
        CHECK(flow_tail(&new, d) != NULL &&
              memcmp(flow_tail(&new, d)->bytes.data, parts.tail[d].data, 6) == 0);
    }
    CHECK(flowbit_is_set(&new, var_name_id(VAR_FLOWBIT, "export.bit")));
    flow_vars_free(new.vars);
    flow_ext_free(&new);
    for (uint32_t wrong = e.records.len; wrong < e.records.len + 3; wrong++) {
        app.heard = wrong;              /* more than there is */
        memcpy(e.records.data + offsetof(struct flow_export, app), &app, sizeof(app));
        CHECK(read_back(&e) == NULL);
    }
    close_env(&e);
}

/* Only what ends behind a complete record can be read. */
TEST(flow_export_refuses_damaged_records)
{
    struct imports_env e;
    struct flow_imports *imports;
    size_t total, first;
    uint32_t size;

    open_env(t, &e);
    add_two(t, &e);
    total = e.records.len;
    memcpy(&size, e.records.data, sizeof(size));
    first = size;
    for (size_t len = 0; len <= total; len++) {
        e.records.len = len;
        imports = read_back(&e);
        if ((imports != NULL) != (len == 0 || len == first || len == total))
            test_fail(t, __FILE__, __LINE__, "%zu of %zu bytes", len, total);
        flow_imports_free(imports);
    }
    for (uint32_t wrong = 0; wrong < sizeof(struct flow_export); wrong++) {
        memcpy(e.records.data, &wrong, sizeof(wrong));      /* a size of 0 would never end */
        CHECK(read_back(&e) == NULL);
    }
    size = UINT32_MAX;
    memcpy(e.records.data, &size, sizeof(size));
    CHECK(read_back(&e) == NULL);
    close_env(&e);
}

/* A record may end within its variables: the complete ones count. */
TEST(flow_export_reads_variables_that_are_cut)
{
    uint32_t bit = var_name_id(VAR_FLOWBIT, "export.bit"), size;
    uint32_t count = var_name_id(VAR_FLOWINT, "export.count"), number;
    unsigned bits = 0, ints = 0;
    struct imports_env e;

    open_env(t, &e);
    add_two(t, &e);
    memcpy(&size, e.records.data, sizeof(size));
    for (uint32_t len = sizeof(struct flow_export); len <= size; len++) {
        struct flow f = flow_between(&e, 1, 4000, 2, 80);
        struct flow_imports *imports;
        struct flow_import from;

        memcpy(e.records.data, &len, sizeof(len));
        e.records.len = len;
        imports = read_back(&e);
        CHECK(imports != NULL && flow_imports_take(imports, &f, &from));
        flow_import(&f, &from);
        bits += flowbit_is_set(&f, bit);
        ints += flowint_get(&f, count, &number);
        flow_vars_free(f.vars);
        flow_imports_free(imports);
    }
    /* "export.bit" takes 16 bytes, "export.count" 18; the last cut is at the end. */
    CHECK_INT(bits + ints, 1 + 1 + MIN(bits, ints) - 1 + MAX(bits, ints) - 1);
    CHECK(bits > 0 && ints > 0);
    CHECK_INT(MIN(bits, ints), 1);
    CHECK(MAX(bits, ints) == 17 || MAX(bits, ints) == 19);
    close_env(&e);
}

static const struct {
    const char *yaml, *frame;
} of_decode[] = {
    { NULL, "eth:0800 ip4:06 tcp:1025,80" },
    { NULL, "eth:0800 ip4:06 tcp:80,1025" },
    { NULL, "eth:86dd ip6:11 udp:5000,53 'payload" },
    { NULL, "eth:8100 0007 0800 ip4:11 udp:5000,53 'payload" },
    { NULL, "eth:8100 0000 0800 ip4:11 udp:5000,53 'payload" },
    { "vlan: {use-for-tracking: false}", "eth:8100 0007 0800 ip4:11 udp:5000,53 'payload" },
    { NULL, "eth:0800 ip4:01 0800 0000 0001 0002" },
    { NULL, "eth:0800 ip4:01 0000 0000 0001 0002" },
    { NULL, "eth:0800 ip4:01 0d00 0000 0001 0002 zero:12" },
    { NULL, "eth:86dd ip6:3a 8000 0000 0001 0002" },
    { NULL, "eth:0800 ip4:32 0001 0002 0000 0001 zero:16" },
    { NULL, "eth:0800 ip4:84 03e8 0050 0000 0001 0000 0000 01 00 0004" },
};

/* A flow is found by the hash of its packet, so records must get the same from their key. */
TEST(flow_export_hashes_keys_as_decode_hashes_packets)
{
    for (size_t i = 0; i < ARRAY_LEN(of_decode); i++) {
        struct flow_conf *conf;
        struct flow_key key;
        struct decode_env env;
        struct packet *p;
        struct err err;

        env_open(&env, of_decode[i].yaml);
        conf = flow_conf_new(conf_root(env.yaml), 1, &err);
        p = env_decode(&env, DATALINK_ETHERNET, of_decode[i].frame);
        flow_key_of_packet(p, &key);
        CHECK(p->flow_hash != 0);
        if (flow_match_hash(conf, &key, p->vlan_count) != p->flow_hash)
            test_fail(t, __FILE__, __LINE__, "%s", of_decode[i].frame);
        flow_conf_free(conf);
        env_close(t, &env);
    }
}
