/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/tests/nfs_test.c - files and calls of all versions, in every cut; gaps; limits. */
#include "app/proto/nfs/nfs.h"
#include "app/tests/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- conversations are put together word by word -------------------------------------------- */

#define STEPS_MAX 24
#define FH "handle01"

struct nfs_replay {
    struct buf data[STEPS_MAX];
    struct split_step steps[STEPS_MAX];
    unsigned count;
    bool udp;
};

static void put32(struct buf *b, uint32_t value)
{
    const uint8_t bytes[4] = { (uint8_t)(value >> 24), (uint8_t)(value >> 16),
                               (uint8_t)(value >> 8), (uint8_t)value };

    buf_add(b, bytes, sizeof(bytes));
}

static void put_words(struct buf *b, const uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put32(b, words[i]);
}
#define WORDS(b, ...)                                                                          \
    put_words((b), (const uint32_t[]){ __VA_ARGS__ },                                          \
              sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static void put_padded(struct buf *b, const char *text, uint32_t len)
{
    put32(b, len);
    buf_add(b, text, len);
    buf_add(b, "\0\0\0", -len & 3);
}
#define TEXT_OF(b, s) put_padded((b), (s), sizeof(s) - 1)

static struct buf *begin(struct nfs_replay *k, enum direction d)
{
    struct buf *b = &k->data[k->count];

    k->steps[k->count].direction = d;
    if (!k->udp)
        put32(b, 0);                    /* the mark */
    return b;
}

static struct buf *begin_call(struct nfs_replay *k, uint32_t xid, uint32_t version, uint32_t procedure)
{
    struct buf *b = begin(k, TO_SERVER);

    WORDS(b, xid, RPC_CALL, 2, NFS_PROGRAM, version, procedure);
    WORDS(b, RPC_AUTH_UNIX, 24, 0x1234, 4);
    buf_add(b, "host", 4);
    WORDS(b, 500, 100, 0, RPC_AUTH_NULL, 0);
    return b;
}

static struct buf *begin_reply(struct nfs_replay *k, uint32_t xid, uint32_t status)
{
    struct buf *b = begin(k, TO_CLIENT);

    WORDS(b, xid, RPC_REPLY, 0, RPC_AUTH_NULL, 0, 0, status);
    return b;
}

static void end(struct nfs_replay *k)
{
    struct buf *b = &k->data[k->count];

    if (!k->udp) {
        uint32_t len = (uint32_t)b->len - RPC_MARK_LEN;

        b->data[0] = 0x80;
        b->data[1] = (uint8_t)(len >> 16);
        b->data[2] = (uint8_t)(len >> 8);
        b->data[3] = (uint8_t)len;
    }
    k->steps[k->count].data = b->data;
    k->steps[k->count].len = (uint32_t)b->len;
    k->count++;
}

static void replay_fini(struct nfs_replay *k)
{
    for (unsigned i = 0; i < STEPS_MAX; i++)
        buf_fini(&k->data[i]);
}

static void put_many(struct buf *b, char c, uint32_t len)
{
    put32(b, len);
    for (uint32_t i = 0; i < len; i++)
        buf_add_u8(b, (uint8_t)c);
    buf_add(b, "\0\0\0", -len & 3);
}

static struct split_case case_of(const struct nfs_replay *k)
{
    return (struct split_case){ .port = 2049, .steps = k->steps, .count = k->count,
                                .udp = k->udp };
}

/* Plays it whole and looks for each of the texts, then in all cuts. */
static void check_replay(struct test *t, const struct split_case *c, const char *const *expected)
{
    char *text = split_replay(c, SPLIT_NONE, 0);

    for (; *expected != NULL; expected++) {
        CHECK(strstr(text, *expected) != NULL);
        if (t->failures > 0) {
            printf("# no %s in\n%s", *expected, text);
            break;
        }
    }
    free(text);
    split_check(t, c);
}

/* --- version 3 ------------------------------------------------------------------------------ */

static void lookup(struct nfs_replay *k, uint32_t xid)
{
    struct buf *b = begin_call(k, xid, 3, NFS3_LOOKUP);

    TEXT_OF(b, "dir1");
    TEXT_OF(b, "a.txt");
    end(k);
    b = begin_reply(k, xid, 0);
    TEXT_OF(b, FH);
    end(k);
}

static void read_extent(struct nfs_replay *k, uint32_t xid, uint32_t offset, uint32_t len, bool last)
{
    struct buf *b = begin_call(k, xid, 3, NFS3_READ);

    TEXT_OF(b, FH);
    WORDS(b, 0, offset, len);
    end(k);
    b = begin_reply(k, xid, 0);
    WORDS(b, 0, len, last);
    put_many(b, 'x', len);
    end(k);
}

static void write_extent(struct nfs_replay *k, uint32_t xid, uint32_t offset, uint32_t len,
                        uint32_t stable)
{
    struct buf *b = begin_call(k, xid, 3, NFS3_WRITE);

    TEXT_OF(b, FH);
    WORDS(b, 0, offset, len, stable);
    put_many(b, 'y', len);
    end(k);
}

static void commit(struct nfs_replay *k, uint32_t xid)
{
    struct buf *b = begin_call(k, xid, 3, NFS3_COMMIT);

    TEXT_OF(b, FH);
    WORDS(b, 0, 0, 0);
    end(k);
    (void)begin_reply(k, xid, 0);
    end(k);
}

TEST(nfs3_read)
{
    static const char *const expected[] = {
        "\"procedure\":\"LOOKUP\",\"filename\":\"a.txt\",\"hhash\":",
        "\"auth_type\":\"UNIX\",\"creds\":{\"machine_name\":\"host\",\"uid\":500,\"gid\":100}",
        "\"procedure\":\"READ\",\"filename\":\"a.txt\"",
        "\"read\":{\"first\":true,\"last\":true,\"last_xid\":3,\"chunks\":2}",
        "file a.txt closed 1501", "flow nfs nfs nfs\n", NULL,
    };
    struct nfs_replay k = { .count = 0 };
    struct split_case c;

    lookup(&k, 1);
    read_extent(&k, 2, 0, 1000, false);
    read_extent(&k, 3, 1000, 501, true);
    c = case_of(&k);
    check_replay(t, &c, expected);
    replay_fini(&k);
}

TEST(nfs3_write)
{
    static const char *const expected[] = {
        "\"write\":{\"first\":true,\"last\":true,\"last_xid\":4,\"chunks\":2}",
        "file a.txt closed 1400", "\"procedure\":\"WRITE\"", NULL,
    };
    struct nfs_replay k = { .count = 0 };
    struct split_case c;

    lookup(&k, 1);
    write_extent(&k, 2, 600, 800, 0);            /* ahead of its turn */
    write_extent(&k, 3, 0, 600, 0);
    commit(&k, 4);
    c = case_of(&k);
    check_replay(t, &c, expected);
    replay_fini(&k);
}

TEST(nfs3_names)
{
    static const char *const expected[] = {
        "\"procedure\":\"RENAME\",\"filename\":\"old\"",
        "\"rename\":{\"from\":\"old\",\"to\":\"new\"}", "\"status\":\"ERR_NOENT\"",
        "\"procedure\":\"ACCESS\",\"filename\":\"listed\"", NULL,
    };
    struct nfs_replay k = { .count = 0 };
    struct split_case c;
    struct buf *b;

    b = begin_call(&k, 1, 3, NFS3_RENAME);
    TEXT_OF(b, "dir1");
    TEXT_OF(b, "old");
    TEXT_OF(b, "dir2");
    TEXT_OF(b, "new");
    end(&k);
    (void)begin_reply(&k, 1, 2);
    end(&k);
    b = begin_call(&k, 2, 3, NFS3_READDIRPLUS);
    TEXT_OF(b, "dir1");
    WORDS(b, 0, 0, 0, 0, 512, 4096);
    end(&k);
    b = begin_reply(&k, 2, 0);
    WORDS(b, 0, 0, 0, 1, 0, 7);
    TEXT_OF(b, "listed");
    WORDS(b, 0, 1, 0, 1);
    TEXT_OF(b, "handle99");
    WORDS(b, 0, 1);
    end(&k);
    b = begin_call(&k, 3, 3, NFS3_ACCESS);
    TEXT_OF(b, "handle99");
    put32(b, 1);
    end(&k);
    (void)begin_reply(&k, 3, 0);
    end(&k);
    c = case_of(&k);
    check_replay(t, &c, expected);
    replay_fini(&k);
}

/* The hash of the first byte of the attributes that a LOOKUP brings when it fails. */
TEST(nfs3_lookup_failed)
{
    static const char *const expected[] = { "\"hhash\":\"d202ef8d\"", NULL };
    struct nfs_replay k = { .udp = false };
    struct split_case c;
    struct buf *b = begin_call(&k, 1, 3, NFS3_LOOKUP);

    TEXT_OF(b, "dir1");
    TEXT_OF(b, "none");
    end(&k);
    b = begin_reply(&k, 1, 2);
    WORDS(b, 1, 2, 0755, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    end(&k);
    c = case_of(&k);
    check_replay(t, &c, expected);
    replay_fini(&k);
}

TEST(nfs3_udp)
{
    static const char *const expected[] = {
        "\"version\":3,\"procedure\":\"LOOKUP\",\"filename\":\"a.txt\"",
        "file a.txt closed 100", NULL,
    };
    struct nfs_replay k = { .udp = true };
    struct split_case c;

    lookup(&k, 1);
    read_extent(&k, 2, 0, 100, true);
    c = case_of(&k);
    check_replay(t, &c, expected);
    replay_fini(&k);
}

/* --- version 2 ------------------------------------------------------------------------------ */

TEST(nfs2_read)
{
    static const char *const expected[] = {
        "\"version\":2,\"procedure\":\"READ\",\"filename\":\"\"", "file  closed 6",
        "\"version\":2,\"procedure\":\"REMOVE\"", NULL,
    };
    struct nfs_replay k = { .udp = true };
    struct split_case c;
    struct buf *b;

    b = begin_call(&k, 1, 2, 6);
    buf_add(b, "0123456789abcdef0123456789abcdef", 32);
    WORDS(b, 0, 4096, 0);
    end(&k);
    b = begin_reply(&k, 1, 0);
    for (unsigned i = 0; i < 17; i++)
        put32(b, i == 5 ? 6 : 0);       /* attributes: the size */
    put_many(b, 'z', 6);
    end(&k);
    b = begin_call(&k, 2, 2, 10);
    buf_add(b, "0123456789abcdef0123456789abcdef", 32);
    TEXT_OF(b, "gone");
    end(&k);
    (void)begin_reply(&k, 2, 0);
    end(&k);
    c = case_of(&k);
    check_replay(t, &c, expected);
    replay_fini(&k);
}

/* --- version 4 ------------------------------------------------------------------------------ */

static struct buf *begin_compound(struct nfs_replay *k, uint32_t xid, uint32_t ops)
{
    struct buf *b = begin_call(k, xid, 4, NFS4_COMPOUND);

    WORDS(b, 0, 1, ops);                /* no tag, minor version */
    return b;
}

static struct buf *begin_results(struct nfs_replay *k, uint32_t xid, uint32_t ops)
{
    struct buf *b = begin_reply(k, xid, 0);

    WORDS(b, 0, ops);
    return b;
}

static void open_file(struct nfs_replay *k, uint32_t xid)
{
    struct buf *b = begin_compound(k, xid, 3);

    put32(b, 22);                       /* PUTFH */
    TEXT_OF(b, "dir1");
    WORDS(b, 18, 0, 1, 0, 1, 2);        /* OPEN */
    TEXT_OF(b, "owner");
    WORDS(b, 0, 0);
    TEXT_OF(b, "b.txt");
    put32(b, 10);                       /* GETFH */
    end(k);
    b = begin_results(k, xid, 3);
    WORDS(b, 22, 0, 18, 0);
    WORDS(b, 1, 2, 3, 4);               /* state id */
    WORDS(b, 1, 0, 1, 0, 2, 4);         /* change, flags */
    WORDS(b, 0, 2);                     /* no attributes; to be written, delegated */
    WORDS(b, 1, 2, 3, 4, 0, 1, 0, 0, 0, 0, 1);
    TEXT_OF(b, "who");
    WORDS(b, 10, 0);
    TEXT_OF(b, FH);
    end(k);
}

TEST(nfs4_write_and_read)
{
    static const char *const expected[] = {
        "\"version\":4,\"procedure\":\"WRITE\",\"filename\":\"b.txt\"",
        "\"write\":{\"first\":true,\"last\":true,\"last_xid\":3,\"chunks\":0}",
        "\"version\":4,\"procedure\":\"READ\",\"filename\":\"b.txt\"", "file b.txt closed 9",
        "file b.txt closed 11", NULL,
    };
    struct nfs_replay k = { .count = 0 };
    struct split_case c;
    struct buf *b;

    open_file(&k, 1);
    b = begin_compound(&k, 2, 2);
    put32(b, 22);
    TEXT_OF(b, FH);
    WORDS(b, 38, 1, 2, 3, 4, 0, 0, 0);
    put_many(b, 'w', 9);
    end(&k);
    b = begin_compound(&k, 3, 2);
    put32(b, 22);
    TEXT_OF(b, FH);
    WORDS(b, 4, 0, 1, 2, 3, 4);         /* CLOSE */
    end(&k);
    b = begin_compound(&k, 4, 2);
    put32(b, 22);
    TEXT_OF(b, FH);
    WORDS(b, 25, 1, 2, 3, 4, 0, 0, 4096);
    end(&k);
    b = begin_results(&k, 4, 2);
    WORDS(b, 22, 0, 25, 0, 1);
    put_many(b, 'r', 11);
    end(&k);
    c = case_of(&k);
    check_replay(t, &c, expected);
    replay_fini(&k);
}

TEST(nfs4_remove)
{
    static const char *const expected[] = {
        "\"procedure\":\"REMOVE\",\"filename\":\"gone\"", "\"status\":\"ERR_ACCES\"", NULL,
    };
    struct nfs_replay k = { .count = 0 };
    struct split_case c;
    struct buf *b;

    b = begin_compound(&k, 1, 2);
    put32(b, 22);
    TEXT_OF(b, "dir1");
    put32(b, 28);
    TEXT_OF(b, "gone");
    end(&k);
    b = begin_results(&k, 1, 2);
    WORDS(b, 22, 0, 28, 13);
    end(&k);
    c = case_of(&k);
    check_replay(t, &c, expected);
    replay_fini(&k);
}

/* --- what goes wrong ------------------------------------------------------------------------ */

/* What is lost within an extent is lost to the file alone. */
TEST(nfs_gap_in_extent)
{
    static const char *const expected[] = { "file a.txt truncated 1000",
                                          "\"procedure\":\"ACCESS\"", NULL };
    struct split_step steps[STEPS_MAX];
    struct nfs_replay k = { .count = 0 };
    struct split_case c;
    struct buf *b;
    unsigned at;

    lookup(&k, 1);
    at = k.count;
    write_extent(&k, 2, 0, 1000, 0);
    b = begin_call(&k, 3, 3, NFS3_ACCESS);
    TEXT_OF(b, FH);
    put32(b, 1);
    end(&k);
    (void)begin_reply(&k, 3, 0);
    end(&k);
    memcpy(steps, k.steps, at * sizeof(steps[0]));
    steps[at] = steps[at + 2] = k.steps[at];
    steps[at].len = 300;
    steps[at + 1] = (struct split_step){ TO_SERVER, NULL, 200 };
    steps[at + 2].data = (const uint8_t *)k.steps[at].data + 500;
    steps[at + 2].len -= 500;
    memcpy(steps + at + 3, k.steps + at + 1, (k.count - at - 1) * sizeof(steps[0]));
    c = case_of(&k);
    c.steps = steps;
    c.count = k.count + 2;
    check_replay(t, &c, expected);
    replay_fini(&k);
}

/* More extents wait for the first one than may wait: what is left is hashed for the file store alone,
 * as in Suricata. */
TEST(nfs_truncated_without_hash)
{
    struct nfs_replay k = { .count = 0 };
    struct buf many = { 0 };
    struct split_case c;
    char *text;

    lookup(&k, 1);
    for (unsigned i = 1; i <= 1025; i++) {
        struct nfs_replay one = { .count = 0 };

        write_extent(&one, 1 + i, 8 * i, 4, 0);
        buf_add(&many, one.data[0].data, one.data[0].len);
        replay_fini(&one);
    }
    k.steps[k.count++] = (struct split_step){ TO_SERVER, many.data, (uint32_t)many.len };
    c = case_of(&k);
    c.file_features = APP_FILE_SHA256;
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, "file a.txt truncated 0 -\n") != NULL);
    c.file_features = APP_FILE_SHA256 | APP_FILE_STORE;
    free(text);
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, "file a.txt truncated 0 e3b0c44298fc1c14") != NULL);
    free(text);
    buf_fini(&many);
    replay_fini(&k);
}

/* The next record is found behind a gap, whatever else there is. */
TEST(nfs_gap_between_records)
{
    static const char *const expected[] = { "\"xid\":9,", "\"procedure\":\"LOOKUP\"", NULL };
    struct split_step steps[STEPS_MAX];
    struct nfs_replay k = { .count = 0 };
    struct split_case c;

    lookup(&k, 1);
    lookup(&k, 9);
    memcpy(steps, k.steps, 2 * sizeof(steps[0]));
    steps[2] = (struct split_step){ TO_SERVER, NULL, 50 };
    steps[3] = (struct split_step)SPLIT_TS("the end of something");
    memcpy(steps + 4, k.steps + 2, 2 * sizeof(steps[0]));
    c = case_of(&k);
    c.steps = steps;
    c.count = 6;
    check_replay(t, &c, expected);
    replay_fini(&k);
}

TEST(nfs_malformed)
{
    static const char *const expected[] = { "event malformed_data", "\"procedure\":\"ACCESS\"",
                                          NULL };
    struct nfs_replay k = { .count = 0 };
    struct split_case c;

    lookup(&k, 1);
    (void)begin_call(&k, 2, 3, NFS3_ACCESS);    /* without a handle */
    end(&k);
    (void)begin_reply(&k, 2, 0);
    end(&k);
    c = case_of(&k);
    check_replay(t, &c, expected);
    replay_fini(&k);
}

TEST(nfs_too_many)
{
    struct nfs_replay k = { .count = 0 };
    struct split_case c;
    char *text;

    for (uint32_t i = 1; i <= STEPS_MAX; i++) {
        struct buf *b = begin_call(&k, i, 3, NFS3_ACCESS);

        TEXT_OF(b, FH);
        put32(b, 1);
        end(&k);
    }
    c = case_of(&k);
    c.yaml = "app-layer: {protocols: {nfs: {max-tx: 2}}}";
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, "event too_many_transactions") != NULL);
    free(text);
    replay_fini(&k);
}

TEST(nfs_frames)
{
    static const char *const expected[] = {
        "frame ts rpc.creds 28 32\n", "frame ts nfs.pdu 68 20\n", "frame tc rpc.hdr 0 12\n",
        "frame tc nfs.status 28 4\n", NULL,
    };
    struct nfs_replay k = { .count = 0 };
    struct split_case c;

    lookup(&k, 1);
    c = case_of(&k);
    c.frames = true;
    check_replay(t, &c, expected);
    replay_fini(&k);
}
