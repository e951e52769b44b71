/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tests/script.h - a TCP conversation written as text, and what comes of it.
 *
 *     script_open(&s, "stream: { midstream: yes }", false);
 *     script_run(&s, "c>s S; s>c SA; c>s A; c>s PA 'hello; s>c A");
 *     CHECK_STRING(script_log(&s), "5: c0=hello\n");
 *     script_close(t, &s);
 *
 * A step is a direction, flags (S A F R P U), and words: seq=N ack=N relative to the initial
 * sequence numbers (1 is the first byte of data), win=N, ws=N, mss=N, ts=VALUE,ECHO, sackok,
 * sack=LEFT,RIGHT, tfo, md5, urg=N, t=SECONDS, 'TEXT or x=COUNT,CHAR for a payload. Without seq
 * and ack a side goes on where it is. `---` ends the vector, `end` flushes.
 *
 * The log has a line for each packet that brought something: its number (0: made by us), events
 * without "stream.", chunks as DIRECTION OFFSET=BYTES or DIRECTION OFFSET~GAP, with < and the
 * count of bytes that may be looked back upon when asked for, "depth" and "end". */
#ifndef STREAM_TESTS_SCRIPT_H
#define STREAM_TESTS_SCRIPT_H

#include "base/test.h"
#include "packet/pool.h"
#include "packet/vector.h"
#include "stream/stream.h"

struct script_dir {
    uint32_t isn, next, other_next;     /* other_next: what it acknowledges */
};

struct script {
    struct conf *yaml;
    struct flow_conf *flow_conf;
    struct stream_conf *conf;
    struct counters *counters;
    struct packet_pool *pool;
    struct stream_thread *st;
    struct packet_vector vector;
    struct script_dir ds[2];
    uint64_t time_us, number;
    bool vector_each;                   /* a vector for each packet, else by `---` and `end` */
    bool show_before;
    struct buf log;
    struct buf data[2];                 /* all bytes handed off, by direction */
    unsigned flow_ends;
    const char *state;                  /* after the last packet */
    enum flow_state flow_state;
    struct flow *flow;                  /* of the last packet; NULL once it has ended */
    uint32_t last_flags;
    struct stream_slot last_slot;       /* its chunks are gone */
    uint8_t last_action, last_drop;
};

void script_open(struct script *s, const char *yaml, bool is_inline);
void script_open_handoff(struct script *s, const char *yaml);     /* chunks are copied */
void script_close(struct test *t, struct script *s);
void script_run(struct script *s, const char *steps);
const char *script_log(struct script *s);               /* and empties it at the next run */
uint64_t script_count(const struct script *s, const char *counter);

/* One packet as the words say, put into the vector. */
void script_packet(struct script *s, enum direction dir, uint8_t flags, uint32_t seq, uint32_t ack,
                   const void *data, size_t len);
void script_vector(struct script *s);       /* runs what has been put in */

#endif
