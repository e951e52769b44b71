/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capture files of all kinds, made here byte by byte, and what becomes of broken ones. */
#include "base/array.h"
#include "base/memory/buf.h"
#include "base/test.h"
#include "capture/pcap/file.h"
#include "capture/pcap/reader.h"
#include "packet/capture_file.h"
#include "packet/decode.h"
#include "sequencer/sequencer.h"

#include <fcntl.h>
#include <ftw.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>
#include <zlib.h>

#define LINK_ETHERNET 1
#define LINK_RAW 101

struct maker {
    struct buf b;
    bool big;
};

static void put(struct maker *m, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        buf_add_u8(&m->b, (uint8_t)(value >> 8 * (m->big ? size - 1 - i : i)));
}

static void put_frame(struct maker *m, unsigned number)
{
    uint8_t frame[60] = { 0 };

    memset(frame, 0x11, 12);
    frame[12] = 0x08;
    frame[14] = (uint8_t)number;
    buf_add(&m->b, frame, sizeof(frame));
}

static void classic_header(struct maker *m, uint32_t magic, uint32_t link)
{
    put(m, magic, 4);
    put(m, 2, 2);
    put(m, 4, 2);
    put(m, 0, 8);
    put(m, 65535, 4);
    put(m, link, 4);
}

static void classic_record(struct maker *m, unsigned number, uint32_t fraction, bool modified)
{
    put(m, 1000 + number, 4);
    put(m, fraction, 4);
    put(m, 60, 4);
    put(m, 70, 4);
    if (modified)
        put(m, 0, 8);
    put_frame(m, number);
}

/* The length at the end is the one at the start. */
static size_t block_start(struct maker *m, uint32_t type)
{
    put(m, type, 4);
    put(m, 0, 4);
    return m->b.len - 8;
}

static void block_end(struct maker *m, size_t start)
{
    struct maker patch = { .big = m->big };

    put(m, 0, 4);
    put(&patch, m->b.len - start, 4);
    memcpy(m->b.data + start + 4, patch.b.data, 4);
    memcpy(m->b.data + m->b.len - 4, patch.b.data, 4);
    buf_fini(&patch.b);
}

static void ng_section(struct maker *m)
{
    size_t at = block_start(m, 0x0a0d0d0a);

    put(m, 0x1a2b3c4d, 4);
    put(m, 1, 2);
    put(m, 0, 2);
    put(m, UINT64_MAX, 8);
    block_end(m, at);
}

/* resolution 0xff: none given. */
static void ng_interface(struct maker *m, unsigned link, uint8_t resolution, int64_t offset)
{
    size_t at = block_start(m, 1);

    put(m, link, 2);
    put(m, 0, 2);
    put(m, 0, 4);
    if (resolution != 0xff) {
        put(m, 9, 2);
        put(m, 1, 2);
        buf_add_u8(&m->b, resolution);
        buf_add(&m->b, "\0\0\0", 3);
    }
    if (offset != 0) {
        put(m, 14, 2);
        put(m, 8, 2);
        put(m, (uint64_t)offset, 8);
    }
    put(m, 0, 4);
    block_end(m, at);
}

static void ng_packet(struct maker *m, unsigned interface, uint64_t time, unsigned number)
{
    size_t at = block_start(m, 6);

    put(m, interface, 4);
    put(m, time >> 32, 4);
    put(m, (uint32_t)time, 4);
    put(m, 60, 4);
    put(m, 60, 4);
    put_frame(m, number);
    block_end(m, at);
}

static char directory[64];

static const char *path_of(const char *name)
{
    static char path[4][128];
    static unsigned next;

    if (directory[0] == '\0') {
        snprintf(directory, sizeof(directory), "/tmp/pcap_test.XXXXXX");
        if (mkdtemp(directory) == NULL)
            abort();
    }
    next = (next + 1) % 4;
    snprintf(path[next], sizeof(path[next]), "%s/%s", directory, name);
    return path[next];
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

/* At the end of each test. */
static void clean(void)
{
    if (directory[0] != '\0')
        nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    directory[0] = '\0';
}

static const char *save_bytes(const char *name, const void *data, size_t len)
{
    const char *path = path_of(name);
    FILE *f = fopen(path, "wb");

    if (f == NULL || fwrite(data, 1, len, f) != len)
        abort();
    fclose(f);
    return path;
}

static const char *save(const char *name, struct maker *m)
{
    const char *path = save_bytes(name, m->b.data, m->b.len);

    buf_fini(&m->b);
    return path;
}

static void classic_file(struct maker *m, unsigned packets)
{
    classic_header(m, 0xa1b2c3d4, LINK_ETHERNET);
    for (unsigned i = 0; i < packets; i++)
        classic_record(m, i, 7, false);
}

/* Every frame carries its number, at second 1000 + number and `fraction_us`. */
static void expect_frames(struct test *t, const char *path, unsigned count, uint64_t fraction_us)
{
    struct err err = { 0 };
    struct pcap_reader *r = pcap_reader_open(path, 4096, &err);
    struct pcap_frame frame;
    unsigned found = 0;

    CHECK_STRING(err.text, "");
    if (r == NULL)
        return;
    while (pcap_reader_next(r, &frame) == PCAP_STATUS_FRAME) {
        CHECK_INT(frame.len, 60);
        CHECK_INT(frame.data[14], found & 0xff);
        CHECK_INT(frame.time_us, (1000 + found) * UINT64_C(1000000) + fraction_us);
        found++;
    }
    CHECK_INT(found, count);
    CHECK_STRING(pcap_reader_problem(r), "");
    pcap_reader_close(r);
}

TEST(pcap_classic_all_magics)
{
    static const struct { uint32_t magic; uint32_t fraction; bool modified; } kinds[] = {
        { 0xa1b2c3d4, 7, false }, { 0xa1b23c4d, 7000, false }, { 0xa1b2cd34, 7, true },
    };

    for (unsigned i = 0; i < 2 * ARRAY_LEN(kinds); i++) {
        struct maker m = { .big = i % 2 == 1 };

        classic_header(&m, kinds[i / 2].magic, LINK_ETHERNET);
        for (unsigned n = 0; n < 5; n++)
            classic_record(&m, n, kinds[i / 2].fraction, kinds[i / 2].modified);
        expect_frames(t, save("classic.pcap", &m), 5, 7);
    }
    clean();
}

/* Nothing is read beyond the snaplen of the file's header; the next record is found all the same. */
TEST(pcap_record_longer_than_snaplen)
{
    static const struct { uint32_t snaplen, len; } kinds[] = {
        { 40, 40 }, { 60, 60 }, { 0, 60 }, { UINT32_MAX, 60 },
    };

    for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
        struct maker m = { .big = true };
        struct err err = { 0 };
        struct pcap_reader *r;
        struct pcap_frame frame;

        classic_file(&m, 2);
        put_be32(m.b.data + 16, kinds[i].snaplen);
        r = pcap_reader_open(save("snaplen.pcap", &m), 4096, &err);
        CHECK(r != NULL);
        for (unsigned n = 0; n < 2; n++) {
            CHECK_INT(pcap_reader_next(r, &frame), PCAP_STATUS_FRAME);
            CHECK_INT(frame.len, kinds[i].len);
            CHECK_INT(frame.wire_len, 70);
            CHECK_INT(frame.data[14], n);
        }
        CHECK_INT(pcap_reader_next(r, &frame), PCAP_STATUS_END);
        pcap_reader_close(r);
    }
    clean();
}

TEST(pcapng_resolutions_and_orders)
{
    static const struct { uint8_t code; uint64_t units; } kinds[] = {
        { 0xff, 1000000 }, { 6, 1000000 }, { 9, 1000000000 }, { 3, 1000 }, { 0x80 | 20, 1 << 20 },
    };

    for (unsigned i = 0; i < 2 * ARRAY_LEN(kinds); i++) {
        struct maker m = { .big = i % 2 == 1 };

        ng_section(&m);
        ng_interface(&m, LINK_ETHERNET, kinds[i / 2].code, 400);
        for (unsigned n = 0; n < 4; n++)
            ng_packet(&m, 0, (600 + n) * kinds[i / 2].units, n);
        expect_frames(t, save("ng.pcapng", &m), 4, 0);
    }
    clean();
}

TEST(pcapng_interfaces_and_sections)
{
    struct maker m = { .big = false };
    struct err err = { 0 };
    struct pcap_reader *r;
    struct pcap_frame frame;
    size_t at;

    ng_section(&m);
    ng_interface(&m, LINK_ETHERNET, 0xff, 0);
    ng_interface(&m, LINK_RAW, 0xff, 0);
    ng_packet(&m, 1, 5000000, 0);
    at = block_start(&m, 0xbad);            /* unknown blocks are stepped over */
    put(&m, 0, 8);
    block_end(&m, at);
    m.big = true;
    ng_section(&m);
    ng_interface(&m, LINK_RAW, 0xff, 0);
    at = block_start(&m, 3);                /* simple */
    put(&m, 60, 4);
    put_frame(&m, 1);
    block_end(&m, at);
    at = block_start(&m, 2);                /* obsolete */
    put(&m, 0, 2);
    put(&m, 3, 2);
    put(&m, 0, 4);
    put(&m, 9, 4);
    put(&m, 60, 4);
    put(&m, 60, 4);
    put_frame(&m, 2);
    block_end(&m, at);

    r = pcap_reader_open(save("mixed.pcapng", &m), 4096, &err);
    CHECK(r != NULL);
    pcap_reader_mix(r);
    CHECK_INT(pcap_reader_next(r, &frame), PCAP_STATUS_FRAME);
    CHECK_INT(frame.link_type, LINK_RAW);
    CHECK_INT(pcap_reader_next(r, &frame), PCAP_STATUS_FRAME);
    CHECK_INT(frame.data[14], 1);
    CHECK_INT(frame.time_us, 0);
    CHECK_INT(pcap_reader_next(r, &frame), PCAP_STATUS_FRAME);
    CHECK_INT(frame.data[14], 2);
    CHECK_INT(frame.time_us, 9);
    CHECK_INT(pcap_reader_next(r, &frame), PCAP_STATUS_END);
    pcap_reader_close(r);
    clean();
}

/* The time of the one packet of a file, as libpcap and Suricata read it or unsigned. */
static uint64_t time_of(struct test *t, bool big, uint32_t seconds, uint32_t fraction, bool beyond)
{
    struct maker m = { .big = big }, times = { .big = big };
    struct err err = { 0 };
    struct pcap_reader *r;
    struct pcap_frame frame = { .time_us = 0 };

    classic_file(&m, 1);
    put(&times, seconds, 4);
    put(&times, fraction, 4);
    memcpy(m.b.data + 24, times.b.data, times.b.len);
    buf_fini(&times.b);
    r = pcap_reader_open(save("times.pcap", &m), 4096, &err);
    CHECK(r != NULL);
    if (beyond)
        pcap_reader_go_beyond_2038(r);
    CHECK_INT(pcap_reader_next(r, &frame), PCAP_STATUS_FRAME);
    pcap_reader_close(r);
    return frame.time_us;
}

TEST(pcap_times_after_2038_are_1970)
{
    for (int big = 0; big < 2; big++) {
        CHECK_INT(time_of(t, big, 0x7fffffff, 5, false), UINT64_C(0x7fffffff) * 1000000 + 5);
        CHECK_INT(time_of(t, big, 0x80000000, 5, true), UINT64_C(0x80000000) * 1000000 + 5);
        CHECK_INT(time_of(t, big, 9, 0x80000000, false), 9000000);
        CHECK_INT(time_of(t, big, 9, 0x80000000, true), 9000000);
        CHECK_INT(time_of(t, big, 9, 1000001, false), 10000001);
    }
    CHECK_INT(time_of(t, false, 0x80000000, 5, false), 5);
    CHECK_INT(time_of(t, false, 0xffffffff, 5, false), 5);
    CHECK_INT(time_of(t, true, 0x80000000, 5, false), UINT64_C(0x80000000) * 1000000 + 5);
    clean();
}

/* How many frames are read, and why no more. */
static unsigned frames_of(struct test *t, struct maker *m, const char *why)
{
    struct err err = { 0 };
    struct pcap_reader *r = pcap_reader_open(save("kinds.pcapng", m), 4096, &err);
    enum pcap_status status;
    struct pcap_frame frame;
    unsigned count = 0;

    while ((status = pcap_reader_next(r, &frame)) == PCAP_STATUS_FRAME)
        count++;
    CHECK_INT(status, why != NULL ? PCAP_STATUS_BROKEN : PCAP_STATUS_END);
    CHECK(why == NULL || strstr(pcap_reader_problem(r), why) != NULL);
    pcap_reader_close(r);
    return count;
}

static void ng_start(struct maker *m, bool big)
{
    *m = (struct maker){ .big = big };
    ng_section(m);
    ng_interface(m, LINK_ETHERNET, 0xff, 0);
    ng_packet(m, 0, 1, 0);
}

TEST(pcapng_ends_at_another_kind_of_interface)
{
    struct maker m;

    ng_start(&m, false);
    ng_interface(&m, LINK_ETHERNET, 6, 0);          /* another resolution is no other kind */
    ng_packet(&m, 1, 2, 1);
    CHECK_INT(frames_of(t, &m, NULL), 2);
    ng_start(&m, false);
    ng_interface(&m, LINK_RAW, 0xff, 0);
    ng_packet(&m, 0, 2, 1);
    CHECK_INT(frames_of(t, &m, "another kind"), 1);
    ng_start(&m, true);
    m.big = false;
    ng_section(&m);
    ng_interface(&m, LINK_ETHERNET, 0xff, 0);
    ng_packet(&m, 0, 2, 1);
    CHECK_INT(frames_of(t, &m, "another kind"), 1);
    ng_start(&m, false);
    ng_section(&m);
    m.b.data[m.b.len - 16] = 2;                     /* the major version */
    CHECK_INT(frames_of(t, &m, "unknown version"), 1);
    clean();
}

TEST(pcap_truncated_anywhere)
{
    struct maker m = { .big = false };
    struct maker ng = { .big = false };
    struct maker *makers[] = { &m, &ng };

    classic_file(&m, 3);
    ng_section(&ng);
    ng_interface(&ng, LINK_ETHERNET, 0xff, 0);
    ng_packet(&ng, 0, 1, 0);
    for (unsigned k = 0; k < 2; k++)
        for (size_t cut = 0; cut < makers[k]->b.len; cut++) {
            struct err err = { 0 };
            struct pcap_reader *r;
            struct pcap_frame frame;
            enum pcap_status status;

            r = pcap_reader_open(save_bytes("cut.pcap", makers[k]->b.data, cut), 4096, &err);
            if (r == NULL) {
                CHECK(err.text[0] != '\0');
                CHECK(cut < 24);
                continue;
            }
            while ((status = pcap_reader_next(r, &frame)) == PCAP_STATUS_FRAME)
                ;
            if (status == PCAP_STATUS_BROKEN)
                CHECK(strstr(pcap_reader_problem(r), "at byte") != NULL);
            pcap_reader_close(r);
        }
    buf_fini(&m.b);
    buf_fini(&ng.b);
    clean();
}

#define FRAMES_MANY 20000u          /* more than a reader has room for at once */

/* Reads all, and when it is told to wait forgets what was read, or from `hold_from` on holds it. */
static void read_many(struct test *t, const char *path, unsigned hold_from)
{
    struct err err = { 0 };
    struct pcap_reader *r = pcap_reader_open(path, 4096, &err);
    struct pcap_frame frame, first = { 0 };
    enum pcap_status status;
    unsigned found = 0, waited = 0;

    CHECK(r != NULL && pcap_reader_is_stable(r));
    while ((status = pcap_reader_next(r, &frame)) == PCAP_STATUS_FRAME ||
           status == PCAP_STATUS_LATER) {
        if (status == PCAP_STATUS_LATER && waited++ < hold_from) {
            pcap_reader_release(r);
            first.data = NULL;
        } else if (status == PCAP_STATUS_LATER) {
            pcap_reader_hold(r, true);
        } else {
            CHECK_INT(frame.data[14], found++ & 0xff);
            if (first.data == NULL)
                first = frame;
            CHECK_INT(first.data[14], (first.time_us / 1000000 - 1000) & 0xff);
        }
    }
    CHECK_INT(status, PCAP_STATUS_END);
    CHECK_INT(found, FRAMES_MANY);
    CHECK(waited > 0 && waited <= hold_from + 1);         /* held, it waits no more */
    pcap_reader_close(r);
}

TEST(pcap_waits_for_space)
{
    for (unsigned kind = 0; kind < 2; kind++)
        for (unsigned hold_from = 0; hold_from < 4; hold_from++) {
            struct maker m = { .big = false };

            if (kind == 0)
                classic_file(&m, FRAMES_MANY);
            else {
                ng_section(&m);
                ng_interface(&m, LINK_ETHERNET, 0xff, 0);
            }
            for (unsigned n = 0; kind == 1 && n < FRAMES_MANY; n++)
                ng_packet(&m, 0, (1000 + n) * UINT64_C(1000000), n);
            read_many(t, save("many.pcap", &m), hold_from);
        }
    clean();
}

TEST(pcap_garbage_is_refused)
{
    struct err err = { 0 };

    CHECK(pcap_reader_open(save_bytes("g.pcap", "garbage of some length...", 25), 0, &err) == NULL);
    CHECK(strstr(err.text, "neither pcap nor pcapng") != NULL);
    CHECK(pcap_reader_open(save_bytes("e.pcap", "", 0), 0, &err) == NULL);
    CHECK(strstr(err.text, "empty") != NULL);
    CHECK(pcap_reader_open(path_of("none.pcap"), 0, &err) == NULL);
    CHECK(strstr(err.text, "No such file") != NULL);
    clean();
}

TEST(pcap_gzip_and_xz)
{
    struct maker m = { .big = false };
    gzFile gz;
    uint8_t *packed;
    size_t packed_len = 0;
    lzma_ret status;

    classic_file(&m, 3000);
    gz = gzopen(path_of("p.gz"), "wb");
    CHECK(gz != NULL);
    CHECK_INT(gzwrite(gz, m.b.data, (unsigned)m.b.len), m.b.len);
    gzclose(gz);
    expect_frames(t, path_of("p.gz"), 3000, 7);

    packed = malloc(m.b.len + 4096);
    status = lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, m.b.data, m.b.len, packed,
                                     &packed_len, m.b.len + 4096);
    CHECK_INT(status, LZMA_OK);
    expect_frames(t, save_bytes("p.xz", packed, packed_len), 3000, 7);
    free(packed);
    buf_fini(&m.b);
    clean();
}

/* In two parts: after the first one frame is whole, of the next a part is there. */
static void read_pipe(struct test *t, const uint8_t *data, size_t len, size_t cut)
{
    char path[32];
    int ends[2];
    struct err err = { 0 };
    struct pcap_reader *r;
    struct pcap_frame frame;
    enum pcap_status status;
    unsigned found = 0;

    CHECK_INT(pipe(ends), 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    CHECK_INT(write(ends[1], data, cut), cut);
    r = pcap_reader_open(path, 4096, &err);
    close(ends[0]);
    CHECK(r != NULL);
    while ((status = pcap_reader_next(r, &frame)) == PCAP_STATUS_FRAME)
        found++;
    CHECK_INT(status, PCAP_STATUS_LATER);
    CHECK(pcap_reader_wait(r, 1));
    CHECK_INT(pcap_reader_next(r, &frame), PCAP_STATUS_LATER);
    CHECK_INT(write(ends[1], data + cut, len - cut), len - cut);
    CHECK(!pcap_reader_wait(r, 1000));
    close(ends[1]);
    while ((status = pcap_reader_next(r, &frame)) == PCAP_STATUS_FRAME)
        CHECK_INT(frame.data[14], found++);
    CHECK_INT(status, PCAP_STATUS_END);
    CHECK_INT(found, 3);
    pcap_reader_close(r);
}

TEST(pcap_pipe_without_data_waits)
{
    struct maker m = { .big = false }, ng = { .big = false };
    uint8_t packed[4096];
    size_t packed_len = 0;

    classic_file(&m, 3);
    for (size_t cut = 24; cut < m.b.len; cut++)
        read_pipe(t, m.b.data, m.b.len, cut);
    ng_section(&ng);
    ng_interface(&ng, LINK_ETHERNET, 0xff, 0);
    for (unsigned n = 0; n < 3; n++)
        ng_packet(&ng, 0, 1, n);
    for (size_t cut = 28; cut < ng.b.len; cut++)
        read_pipe(t, ng.b.data, ng.b.len, cut);
    CHECK_INT(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, m.b.data, m.b.len, packed,
                                      &packed_len, sizeof(packed)), LZMA_OK);
    /* The data are there, what ends them is not: before that, opening it waits for the header. */
    for (size_t cut = packed_len - 24; cut < packed_len; cut++)
        read_pipe(t, packed, packed_len, cut);
    buf_fini(&m.b);
    buf_fini(&ng.b);
}

struct fixture {
    struct conf *conf;
    struct packet_pool *pool;
    void *capture, *queue;
    struct packet_vector v;
    unsigned packets;
    uint64_t last_number;
};

static bool fixture_open(struct test *t, struct fixture *fixture, const char *yaml, const char *path,
                     const char *filter, struct err *err)
{
    const char *sources[] = { path, NULL };
    struct capture_request rq = { .sources = sources, .bpf_filter = filter, .threads = 1 };
    char text[600];

    memset(fixture, 0, sizeof(*fixture));
    snprintf(text, sizeof(text), "%%YAML 1.1\n---\npcap-file:\n  buffer-size: 64kb\n%s", yaml);
    fixture->conf = conf_new();
    CHECK_INT(conf_load_string(fixture->conf, text, "t.yaml", err), 0);
    rq.conf = conf_root(fixture->conf);
    fixture->pool = packet_pool_new(256, 0);
    fixture->capture = capture_pcap_file.open(&rq, err);
    if (fixture->capture == NULL)
        return false;
    fixture->queue = capture_pcap_file.queue_open(fixture->capture, 0, fixture->pool, NULL, err);
    return fixture->queue != NULL;
}

/* Holds packets for a while, as a pipeline does. */
static void fixture_read(struct test *t, struct fixture *fixture)
{
    enum capture_status status;

    do {
        fixture->v.count = 0;
        status = capture_pcap_file.receive(fixture->queue, &fixture->v);
        for (unsigned i = 0; i < fixture->v.count; i++) {
            struct packet *p = fixture->v.packet[i];

            CHECK_INT(p->number, fixture->last_number + 1);
            CHECK(p->file != NULL && p->data != NULL);
            fixture->last_number = p->number;
            fixture->packets++;
            packet_release(p, PACKET_THREAD_OWNER);
        }
    } while (status == CAPTURE_OK);
    CHECK_INT(status, CAPTURE_END);
    CHECK_INT(packet_pool_out(fixture->pool), 0);
}

static void fixture_close(struct fixture *fixture)
{
    if (fixture->queue != NULL)
        capture_pcap_file.queue_close(fixture->queue);
    if (fixture->capture != NULL)
        capture_pcap_file.close(fixture->capture);
    packet_pool_free(fixture->pool);
    conf_free(fixture->conf);
    free(fixture->v.packet);
}

TEST(pcap_file_filter)
{
    struct maker m = { .big = false };
    struct fixture fixture;
    struct err err = { 0 };
    const char *path;

    classic_file(&m, 500);
    path = save("all.pcap", &m);
    CHECK(fixture_open(t, &fixture, "", path, NULL, &err));
    vector_grow(&fixture.v, VECTOR_FILL);
    fixture_read(t, &fixture);
    CHECK_INT(fixture.packets, 500);
    fixture_close(&fixture);

    CHECK(fixture_open(t, &fixture, "", path, "ether[14] = 7", &err));
    vector_grow(&fixture.v, VECTOR_FILL);
    fixture_read(t, &fixture);
    CHECK_INT(fixture.packets, 2);
    fixture_close(&fixture);

    CHECK(!fixture_open(t, &fixture, "", path, "no such words", &err));
    CHECK(strstr(err.text, "bpf-filter") != NULL);
    fixture_close(&fixture);
    CHECK(!fixture_open(t, &fixture, "", "/none/at/all", NULL, &err));
    CHECK_STRING(err.text, "pcap file '/none/at/all': No such file or directory");
    fixture_close(&fixture);
    clean();
}

/* One queue reads, two make packets of what it has read, from pools of their own. */
struct shared {
    void *capture, *scan, *taker[2];
    struct packet_pool *pool[3];
    struct conf *conf;
};

static void shared_open(struct test *t, struct shared *sh, const char *path, bool simulate)
{
    const char *sources[] = { path, NULL };
    struct err err = { 0 };

    sh->conf = conf_new();
    sh->capture = capture_pcap_file.open(&(struct capture_request){
        .sources = sources, .threads = 2, .conf = conf_root(sh->conf), .is_shared = true,
        .simulate_ips = simulate }, &err);
    CHECK(sh->capture != NULL);
    for (unsigned i = 0; i < 3; i++)
        sh->pool[i] = packet_pool_new(64, 1);
    for (unsigned i = 0; i < 2; i++)
        sh->taker[i] = capture_pcap_file.queue_open(sh->capture, i, sh->pool[i], NULL, &err);
    sh->scan = capture_pcap_file.queue_open(sh->capture, CAPTURE_SCAN, sh->pool[2], NULL, &err);
}

static void shared_close(struct shared *sh)
{
    for (unsigned i = 0; i < 2; i++)
        capture_pcap_file.queue_close(sh->taker[i]);
    capture_pcap_file.queue_close(sh->scan);
    capture_pcap_file.close(sh->capture);
    for (unsigned i = 0; i < 3; i++)
        packet_pool_free(sh->pool[i]);
    conf_free(sh->conf);
}

TEST(pcap_file_is_read_once_for_several_threads)
{
    struct maker m = { .big = false };
    struct frame_ref frame;
    struct shared sh;
    uint64_t before = 0;
    const char *path;

    classic_file(&m, 40);
    path = save("all.pcap", &m);
    for (unsigned simulate = 0; simulate < 2; simulate++, before = 0) {
        shared_open(t, &sh, path, simulate != 0);
        for (unsigned i = 1; i <= 40; i++) {
            struct packet *p = packet_pool_get(sh.pool[i % 2]);

            CHECK_INT(capture_pcap_file.scan(sh.scan, &frame), CAPTURE_OK);
            CHECK_INT(frame.number, i);
            CHECK(frame.seqno > before);
            CHECK(frame.is_stable == (simulate == 0));
            before = frame.seqno;
            capture_pcap_file.take(sh.taker[i % 2], &frame, p);
            CHECK_INT(p->number, i);
            CHECK(p->seqno == frame.seqno && p->len == 60);
            CHECK((p->data == frame.data) == (simulate == 0));
            if (i % 5 != 0)
                packet_release(p, PACKET_THREAD_OWNER);
        }
        CHECK_INT(capture_pcap_file.scan(sh.scan, &frame), CAPTURE_END);
        shared_close(&sh);
    }
    clean();
}

/* Whether the address has a page of memory: bit 63 of its entry. */
static bool has_page(const void *address)
{
    off_t page = (off_t)((uintptr_t)address / (uintptr_t)sysconf(_SC_PAGESIZE));
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry = 0;
    bool is_read = pread(fd, &entry, sizeof(entry), page * 8) == sizeof(entry);

    close(fd);
    return is_read && entry >> 63 != 0;
}

TEST(pcap_file_releases_frames_that_no_thread_needs)
{
    struct maker m = { .big = false };
    struct frame_ref first = { 0 }, frame = { 0 };
    struct shared sh;
    unsigned sum = 0;

    if (!has_page(&m)) {                /* an emulator's pages have another size */
        t->skipped = true;
        return;
    }
    classic_file(&m, 60000);            /* 4.5 MB */
    shared_open(t, &sh, save("long.pcap", &m), false);
    for (unsigned i = 0; i < 60000; i++) {
        CHECK_INT(capture_pcap_file.scan(sh.scan, &frame), CAPTURE_OK);
        sum += frame.data[12];
        if (i == 0)
            first = frame;
    }
    CHECK_INT(sum, 8 * 60000);
    CHECK(has_page(first.data) && has_page(frame.data));
    capture_pcap_file.scan_release(sh.scan, &first);
    CHECK(has_page(first.data));
    capture_pcap_file.scan_release(sh.scan, &frame);
    CHECK(!has_page(first.data) && has_page(frame.data));
    CHECK_INT(first.data[12], 8);       /* read once more */
    shared_close(&sh);
    clean();
}

TEST(pcap_file_directory_and_delete)
{
    struct maker m = { .big = false };
    struct fixture fixture;
    struct err err = { 0 };
    char dir[128], sub[160], one[192], two[192], deep[192];
    struct utimbuf early = { 1000, 1000 };

    snprintf(dir, sizeof(dir), "%s", path_of("dir"));
    snprintf(sub, sizeof(sub), "%s/sub", dir);
    CHECK_INT(mkdir(dir, 0700), 0);
    CHECK_INT(mkdir(sub, 0700), 0);
    snprintf(one, sizeof(one), "dir/a.pcap");
    classic_file(&m, 3);
    snprintf(one, sizeof(one), "%s", save(one, &m));
    classic_file(&m, 4);
    snprintf(two, sizeof(two), "%s", save("dir/b.pcap", &m));
    CHECK_INT(utime(two, &early), 0);
    save_bytes("dir/garbage", "x", 1);
    classic_file(&m, 5);
    snprintf(deep, sizeof(deep), "%s", save("dir/sub/c.pcap", &m));

    CHECK(fixture_open(t, &fixture, "", dir, NULL, &err));
    vector_grow(&fixture.v, VECTOR_FILL);
    CHECK_INT(capture_pcap_file.receive(fixture.queue, &fixture.v), CAPTURE_OK);
    CHECK_STRING(fixture.v.packet[0]->file->path, two);          /* the older one first */
    fixture.last_number = fixture.v.count;
    fixture.packets = fixture.v.count;
    for (unsigned i = 0; i < fixture.v.count; i++)
        packet_release(fixture.v.packet[i], PACKET_THREAD_OWNER);
    fixture_read(t, &fixture);
    CHECK_INT(fixture.packets, 7);
    fixture_close(&fixture);
    CHECK_INT(access(one, F_OK), 0);

    CHECK(fixture_open(t, &fixture, "  recursive: true\n  delete-when-done: true\n", dir, NULL, &err));
    vector_grow(&fixture.v, VECTOR_FILL);
    fixture_read(t, &fixture);
    CHECK_INT(fixture.packets, 12);
    fixture_close(&fixture);
    CHECK(access(one, F_OK) != 0 && access(two, F_OK) != 0 && access(deep, F_OK) != 0);
    clean();
}

TEST(pcap_file_kept_when_it_alerted)
{
    struct maker m = { .big = false };
    struct fixture fixture;
    struct err err = { 0 };
    char quiet[128], loud[128];

    classic_file(&m, 2);
    snprintf(quiet, sizeof(quiet), "%s", save("quiet.pcap", &m));
    classic_file(&m, 2);
    snprintf(loud, sizeof(loud), "%s", save("loud.pcap", &m));
    CHECK(fixture_open(t, &fixture, "  delete-when-done: non-alerts\n", quiet, NULL, &err));
    vector_grow(&fixture.v, VECTOR_FILL);
    fixture_read(t, &fixture);
    fixture_close(&fixture);
    CHECK(access(quiet, F_OK) != 0);

    CHECK(fixture_open(t, &fixture, "  delete-when-done: non-alerts\n", loud, NULL, &err));
    vector_grow(&fixture.v, VECTOR_FILL);
    CHECK_INT(capture_pcap_file.receive(fixture.queue, &fixture.v), CAPTURE_OK);
    fixture.v.packet[1]->action = ACTION_ALERT;
    for (unsigned i = 0; i < fixture.v.count; i++)
        packet_release(fixture.v.packet[i], PACKET_THREAD_OWNER);
    fixture.last_number = 2;
    fixture_read(t, &fixture);
    fixture_close(&fixture);
    CHECK_INT(access(loud, F_OK), 0);
    clean();
}
