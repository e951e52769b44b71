/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/tests/split.h - plays a recorded conversation to the application layer, in any cut.
 *
 * A parser must make the same of its stream however it was cut into segments. A parser's test
 * writes down a conversation and calls split_check(), which plays it whole, byte by byte and in
 * random cuts, through recognition, parser, transactions and logs, and compares what was logged.
 * split_replay() gives that text for tests that want to look at it. */
#ifndef APP_TESTS_SPLIT_H
#define APP_TESTS_SPLIT_H

#include "app/proto.h"
#include "base/test.h"

struct app_fixture;

struct split_step {
    enum direction direction;
    const void *data;           /* NULL: a gap of len bytes */
    uint32_t len;
};
#define SPLIT_TS(text) { TO_SERVER, (text), sizeof(text) - 1 }
#define SPLIT_TC(text) { TO_CLIENT, (text), sizeof(text) - 1 }
#define SPLIT_GAP(d, n) { (d), NULL, (n) }

struct split_case {
    const char *yaml;           /* configuration; NULL: defaults */
    bool udp;                   /* each step is a datagram: never cut */
    bool midstream;
    uint16_t port;              /* of the server */
    const struct app_proto *const *extra;       /* test protocols, NULL-ended; NULL: none */
    uint32_t file_features;        /* APP_FILE_*; tracking is always on */
    bool frames;                /* also print all frames */
    const char *show;           /* also print buffers whose names begin so; NULL: none */
    void (*prepare)(struct app_fixture *fixture);  /* called before the first packet; may be NULL */
    const struct split_step *steps;
    unsigned count;
};

enum split_segmentation { SPLIT_NONE, SPLIT_BYTES, SPLIT_RANDOM };

/* What came of it, one line a record, ordered by transaction:
 *   tx 0 <event_type> {json}      each log, when it was due
 *   tx 0 event <name>
 *   tx 0 file <name> <state> <size> <sha256>
 *   tx 0 buffer ts|tc <name> <index> <text>
 *   layer <name>                  see app_layer_event_name(), each once
 *   frame ts|tc <type> <offset> <len>
 *   flow <proto> <ts> <tc>        at the end
 * Caller frees. */
char *split_replay(const struct split_case *c, enum split_segmentation cut, uint64_t seed);

/* Whole against byte by byte and against `rounds` random cuts. */
void split_check_rounds(struct test *t, const struct split_case *c, unsigned rounds);
static inline void split_check(struct test *t, const struct split_case *c)
{
    split_check_rounds(t, c, 40);
}
/* Plays it whole, compares the text, then split_check(). */
void split_expect(struct test *t, const struct split_case *c, const char *expected);

#endif
