/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receive and decode for real, in every run mode: the same packets come through, once each, and
 * the decoder counts the same. */
#include "base/array.h"
#include "base/memory/buf.h"
#include "base/containers/hash.h"
#include "base/test.h"
#include "capture/pcap/file.h"
#include "engine/engine.h"
#include "modules/context.h"
#include "sequencer/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES 5000

extern const struct thread_module module_receive, module_decode, module_verdict;

static void put32(struct buf *b, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        buf_add_u8(b, (uint8_t)(v >> 8 * i));
}

static unsigned ip_header(uint8_t *h, unsigned number, uint8_t proto, unsigned len,
                          uint16_t fragment)
{
    uint8_t ip[20] = { 0x45, 0, (uint8_t)(len >> 8), (uint8_t)len, (uint8_t)(number >> 8),
                       (uint8_t)number, (uint8_t)(fragment >> 8), (uint8_t)fragment, 64, proto };

    ip[12] = 10;
    ip[15] = (uint8_t)(number % 41);
    ip[16] = 192;
    ip[19] = (uint8_t)(number % 7);
    memcpy(h, ip, sizeof(ip));
    return sizeof(ip);
}

static unsigned udp_header(uint8_t *h, unsigned number, unsigned len)
{
    uint8_t udp[8] = { 0x10, (uint8_t)(number % 97), 0, 99, (uint8_t)(len >> 8), (uint8_t)len };

    memcpy(h, udp, sizeof(udp));
    return sizeof(udp);
}

/* UDP, IP in IP with UDP inside, halves of datagrams, and nonsense. */
static unsigned make_frame(uint8_t *f, unsigned number)
{
    unsigned at = 14;

    memset(f, 0, 200);
    f[12] = 0x08;
    if (number % 100 == 13) {
        f[13] = 0xff;
        return 60;
    }
    if (number % 10 == 4) {
        at += ip_header(f + at, number, 4, 20 + 20 + 8 + 20, 0);
        at += ip_header(f + at, number * 3, 17, 20 + 8 + 20, 0);
        at += udp_header(f + at, number, 28);
    } else if (number % 10 == 7 || number % 10 == 8) {
        bool second = number % 10 == 8;

        at += ip_header(f + at, number - second, 17, 20 + 32, second ? 4 : 0x2000);
        if (!second)
            udp_header(f + at, number, 64);
        return at + 32;
    } else {
        at += ip_header(f + at, number, 17, 20 + 8 + 20, 0);
        at += udp_header(f + at, number, 28);
    }
    return at + 20;
}

static void make_file(const char *path)
{
    struct buf b = { 0 };
    FILE *f = fopen(path, "wb");
    uint8_t frame[256];

    put32(&b, 0xa1b2c3d4);
    put32(&b, 2 | 4 << 16);
    put32(&b, 0);
    put32(&b, 0);
    put32(&b, 65535);
    put32(&b, 1);
    for (unsigned i = 0; i < FRAMES; i++) {
        unsigned len = make_frame(frame, i);

        put32(&b, 1000000 + i / 100);
        put32(&b, i % 100);
        put32(&b, len);
        put32(&b, len);
        buf_add(&b, frame, len);
    }
    if (f == NULL || fwrite(b.data, 1, b.len, f) != b.len)
        abort();
    fclose(f);
    buf_fini(&b);
}

/* Sums that do not depend on order. */
struct seen {
    uint64_t packets, sum, end_us, verdicts;
    uint64_t disordered;            /* packets that came behind later ones of their thread */
    uint64_t turns, last, untimely; /* written by whose turn it is */
};
static struct seen seen;

static void *stub_open(const struct module_env *env, struct err *err)
{
    (void)env;
    (void)err;
    return NULL;
}

static enum module_status stub_pass(void *self, struct packet_vector *v)
{
    (void)self;
    (void)v;
    return MODULE_OK;
}

struct stub_detect {
    struct seq_handle *handle;
    struct watermark last;
};

static void *stub_detect_open(const struct module_env *env, struct err *err)
{
    const struct run_context *ctx = env->context;
    struct stub_detect *s = xcalloc(1, sizeof(*s));

    (void)err;
    s->handle = seq_handle_new(ctx->seq, &env->seq_thread);
    return s;
}

/* Every thread sees its packets in order; some of them touch what all share. */
static void check_order(struct stub_detect *s, const struct packet *p)
{
    if (watermark_has_passed(s->last, p->seqno, p->seqno_sub))
        __atomic_fetch_add(&seen.disordered, 1, __ATOMIC_RELAXED);
    s->last = (struct watermark){ p->seqno, p->seqno_sub };
    if (p->seqno / 2 % 7 != 3)
        return;
    seq_wait(s->handle, p->seqno, p->seqno_sub);
    seen.turns++;
    seen.untimely += seen.last > p->seqno;
    seen.last = p->seqno;
}

static bool stub_detect_flush(void *self, struct packet_vector *v)
{
    struct stub_detect *s = self;

    (void)v;
    seq_publish(s->handle, SEQNO_END, SEQNO_END);
    return false;
}

static enum module_status stub_detect(void *self, struct packet_vector *v)
{
    for (unsigned i = 0; i < v->count; i++) {
        struct packet *p = v->packet[i];
        uint64_t mark = hash_mix(p->number + 1, (uint64_t)p->flow_hash << 8 | p->recursion);

        check_order(self, p);
        mark = hash_mix(mark, (uint64_t)p->flags << 32 | p->payload_len);
        __atomic_fetch_add(&seen.sum, mark, __ATOMIC_RELAXED);
        __atomic_fetch_add(&seen.packets, 1, __ATOMIC_RELAXED);
    }
    if (v->seqno_at != 0)
        seq_publish(((struct stub_detect *)self)->handle, v->seqno_at, v->seqno_sub);
    return MODULE_OK;
}

static bool stub_flush(void *self, struct packet_vector *v)
{
    uint64_t was = __atomic_load_n(&seen.end_us, __ATOMIC_RELAXED);

    (void)self;
    /* All threads see the same end; a thread that does not leaves its mark. */
    __atomic_store_n(&seen.end_us, was == 0 || was == v->now_us ? v->now_us : 1,
                     __ATOMIC_RELAXED);
    return false;
}

static const struct thread_module stub_stream = { .name = "stream", .open = stub_open,
                                                   .process = stub_pass, .flush = stub_flush };
static const struct thread_module stub_detect_module = { .name = "detect",
                                                          .open = stub_detect_open,
                                                          .process = stub_detect,
                                                          .flush = stub_detect_flush,
                                                          .close = free };
static const struct thread_module stub_output = { .name = "output", .open = stub_open,
                                                   .process = stub_pass };
static const struct thread_module *const table[] = {
    &module_receive, &module_decode, &stub_stream, &stub_detect_module, &module_verdict,
    &stub_output, NULL
};

static void count_verdict(void *queue, struct packet *p)
{
    (void)queue;
    (void)p;
    __atomic_fetch_add(&seen.verdicts, 1, __ATOMIC_RELAXED);
}

static struct seen read_in(struct test *t, const char *mode_name, unsigned workers,
                           const char *path, bool is_inline, uint64_t *decoded)
{
    const char *sources[] = { path, NULL };
    struct capture_ops ops = capture_pcap_file;
    struct run_context *ctx = xcalloc(1, sizeof(*ctx));
    struct conf *conf = conf_new();
    struct err err = { 0 };
    struct run_modes *modes;
    struct topology *topology;
    struct plan *plan;
    struct engine *engine;
    struct plan_source source = { .name = path };
    struct engine_conf engine_conf = { 0 };
    char text[64];

    seen = (struct seen){ 0 };
    *decoded = counter_total(counter_register("decoder.pkts", COUNTER_SUM));
    ops.verdict = count_verdict;
    CHECK_INT(conf_load_string(conf, "%YAML 1.1\n---\nrunmodes:\n  mine:\n"
        "    - modules: [receive]\n    - modules: [decode, stream]\n"
        "    - modules: [detect]\n      threads: auto\n    - modules: [verdict, output]\n"
        "  crossed:\n    - modules: [receive, decode]\n      threads: 2\n"
        "    - modules: [stream]\n      threads: 3\n      balance: round-robin\n"
        "    - modules: [detect]\n      threads: auto\n      balance: least-loaded\n"
        "    - modules: [verdict, output]\n",
        "t.yaml", &err), 0);
    modes = run_modes_new(conf_root(conf), &err);
    snprintf(text, sizeof(text), "pu:%u", workers);
    topology = topology_described(text, &err);
    plan = plan_new(&(struct plan_request){
        .root = conf_root(conf), .mode = run_modes_find(modes, mode_name), .topology = topology,
        .method = "pcap-file", .sources = &source, .source_count = 1 }, &err);
    CHECK_STRING(err.text, "");
    ctx->conf = conf_root(conf);
    ctx->offline = true;
    ctx->is_inline = ctx->gives_verdict = is_inline;
    ctx->shares_file = plan->shares_file;
    ctx->seq = sequencer_new();
    ctx->capture = &ops;
    ctx->capture_handle = ops.open(&(struct capture_request){
        .sources = sources, .threads = plan->stages[0].count, .conf = ctx->conf,
        .is_shared = plan->shares_file }, &err);
    ctx->decode = decode_conf_new(ctx->conf, &err);
    CHECK_STRING(err.text, "");
    engine = engine_new(&engine_conf, plan, table, ctx, &err);
    CHECK_INT(engine_start(engine, &err), 0);
    CHECK_INT(engine_wait(engine), 0);
    engine_free(engine);
    *decoded = counter_total(counter_register("decoder.pkts", COUNTER_SUM)) - *decoded;
    ops.close(ctx->capture_handle);
    decode_conf_free((struct decode_conf *)ctx->decode);
    plan_free(plan);
    topology_free(topology);
    run_modes_free(modes);
    conf_free(conf);
    sequencer_free(ctx->seq);
    free(ctx);
    return seen;
}

TEST(read_file_same_in_every_mode)
{
    static const char *const names[] = { "single", "workers", "autofp", "pipeline", "mine",
                                        "crossed" };
    char path[] = "/tmp/read_file_test.XXXXXX";
    int fd = mkstemp(path);
    uint64_t first_decoded, decoded;
    struct seen first;

    CHECK(fd >= 0);
    close(fd);
    make_file(path);
    first = read_in(t, "single", 1, path, false, &first_decoded);
    CHECK(first.packets > FRAMES);
    CHECK_INT(first_decoded, FRAMES);
    CHECK_INT(first.end_us, UINT64_C(1000049000099));
    for (unsigned m = 0; m < ARRAY_LEN(names); m++)
        for (unsigned n = 1; n <= 8; n += n < 4 ? 1 : 2) {
            struct seen again = read_in(t, names[m], n, path, false, &decoded);

            CHECK_INT(again.packets, first.packets);
            CHECK_INT(again.sum, first.sum);
            CHECK_INT(again.end_us, first.end_us);
            CHECK_INT(decoded, first_decoded);
            CHECK_INT(again.disordered, 0);
            CHECK_INT(again.turns, first.turns);
            CHECK_INT(again.untimely, 0);
        }
    unlink(path);
}

/* Each frame once, also those with packets inside that go to different threads. */
TEST(read_file_one_verdict_a_frame)
{
    static const char *const names[] = { "single", "autofp", "pipeline", "mine" };
    char path[] = "/tmp/read_file_test.XXXXXX";
    int fd = mkstemp(path);
    uint64_t decoded;

    CHECK(fd >= 0);
    close(fd);
    make_file(path);
    for (unsigned m = 0; m < ARRAY_LEN(names); m++)
        CHECK_INT(read_in(t, names[m], 3, path, true, &decoded).verdicts, FRAMES);
    unlink(path);
}
