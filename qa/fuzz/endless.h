/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/endless.h - does a flow's memory stay bounded, however long a chunk of it goes on?
 *
 * With IDS_ENDLESS in the environment a target of an application protocol plays each input up to
 * each of its chunks, and then that one again and again, or the same byte for ever; then all of
 * them, and those of either side alone: answers or questions that never come. It aborts when a
 * flow takes more than it may. */
#ifndef QA_FUZZ_ENDLESS_H
#define QA_FUZZ_ENDLESS_H

#include "app/proto.h"
#include "app/tests/replay.h"

#define ENDLESS_CHUNKS_MAX 48

struct endless_chunk { enum direction direction; struct slice data; };

struct endless {
    struct app_fixture *fixture;
    const struct app_proto *proto;
    bool udp;
    struct endless_chunk chunk[ENDLESS_CHUNKS_MAX];
    unsigned count;
};

bool endless_is_enabled(void);
void endless_add(struct endless *e, enum direction d, struct slice data);
void endless_check(const struct endless *e);

#endif
