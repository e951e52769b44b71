/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/tests/replay.h - an application layer with one flow in it, for tests and fuzzing. */
#ifndef APP_TESTS_REPLAY_H
#define APP_TESTS_REPLAY_H

#include "app/proto.h"
#include "base/array.h"
#include "base/containers/map.h"
#include "conf/conf.h"

struct replay_line {
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

/* One flow, from the first packet to replay_end(). */
struct replay {
    struct app_fixture *fixture;
    struct flow *flow;
    struct packet *packet;
    uint64_t offset[2];
    bool udp, midstream, frames;
    bool hands_over;            /* the flow's end is not the connection's */
    bool quiet;                 /* logs are rendered and thrown away, nothing else is */
    bool inspect;               /* read all that rules could read */
    const char *show;           /* print buffers whose names begin so; NULL: none */
    uint64_t looks;             /* packets after which transactions were looked at */
    ARRAY_OF(struct replay_line) lines;
    struct map once;            /* what each packet would say again, such as a frame */
    struct buf scratch;
};
void replay_begin(struct replay *replay, struct app_fixture *fixture, bool udp, uint16_t port);
void replay_force(struct replay *replay, enum app_proto_id id);       /* no recognition */
/* data NULL: a gap. */
void replay_data(struct replay *replay, enum direction d, const void *data, uint32_t len);
void replay_end(struct replay *replay);                       /* the flow ends */
/* The flow of `from` ends and goes on in `to`, as in another process. */
void replay_hand_over(struct replay *from, struct replay *to);
/* As if another process, which found this protocol, had heard so much. */
void replay_imported(struct replay *replay, const char *proto, struct slice heard);
char *replay_text(struct replay *replay);                     /* sorted; caller frees */
void replay_free(struct replay *replay);

#endif
