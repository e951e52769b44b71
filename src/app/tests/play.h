/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/tests/play.h - an application layer with one flow in it, for tests and fuzzing. */
#ifndef APP_TESTS_PLAY_H
#define APP_TESTS_PLAY_H

#include "app/app.h"
#include "base/array.h"
#include "conf/conf.h"

struct play_line {
    uint64_t order;             /* transaction, then class */
    char *text;
};

/* What is made once. */
struct app_fixture {
    struct conf *yaml;
    struct app_conf *conf;
    struct app_thread *thread;
    struct counters *counters;
};
int app_fixture_open(struct app_fixture *fixture, const char *yaml,
                    const struct app_proto *const *extra);
void app_fixture_close(struct app_fixture *fixture);

/* One flow, from the first packet to play_end(). */
struct play {
    struct app_fixture *fixture;
    struct flow *flow;
    struct packet *packet;
    uint64_t offset[2];
    bool udp, midstream, frames;
    bool quiet;                 /* logs are rendered and thrown away */
    bool inspect;               /* read all that rules could read */
    ARRAY_OF(struct play_line) lines;
    struct buf scratch;
};
void play_begin(struct play *play, struct app_fixture *fixture, bool udp, uint16_t port);
void play_force(struct play *play, enum app_proto_id id);       /* no recognition */
/* data NULL: a gap. */
void play_data(struct play *play, enum direction d, const void *data, uint32_t len);
void play_end(struct play *play);                       /* the flow ends */
char *play_text(struct play *play);                     /* sorted; caller frees */
void play_free(struct play *play);

#endif
