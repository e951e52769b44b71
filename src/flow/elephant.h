/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/elephant.h - the policy for elephant flows (flow.elephant): from when on a flow is one, and
 * what the engine does with its later packets.
 *
 * The limits are compared with packet time and with the packets that detection has counted, so a
 * file gives the same result in every run mode. Belongs to the inspection state of a flow. */
#ifndef FLOW_ELEPHANT_H
#define FLOW_ELEPHANT_H

#include "conf/conf.h"
#include "flow/flow.h"

enum elephant_action {
    ELEPHANT_INSPECT,           /* like any flow */
    ELEPHANT_SPREAD,            /* a helper thread searches its payloads ahead */
    ELEPHANT_BYPASS,            /* its later packets are only counted */
    ELEPHANT_SAMPLE,            /* rules search one part in `one_in` of its payload */
};

/* A flow is an elephant when it has reached all limits; 0 is no limit. */
struct elephant_conf {
    enum elephant_action action;
    uint64_t bytes;             /* of both directions, since the flow began */
    uint64_t age_us;
    uint64_t rate;              /* bytes of both directions in one second */
    uint64_t part;              /* ELEPHANT_SAMPLE: bytes of a part */
    uint32_t one_in;
};

/* Of one flow. Made when the flow has reached `bytes` and `age_us`. */
struct flow_elephant {
    uint64_t second, second_bytes;      /* packet time, and bytes in that second */
    uint64_t from;                      /* bytes of the flow when it became an elephant */
    uint64_t skipped_packets, skipped_bytes;    /* not searched; bytes of payload */
    uint8_t action;                     /* enum elephant_action */
};

int elephant_conf_read(struct elephant_conf *conf, const struct conf_node *root, struct err *err);
const char *elephant_action_name(enum elephant_action action);

/* Compares the limits after the flow has counted a packet of `bytes` bytes. True once per flow: it
 * has just become an elephant. */
bool elephant_count(const struct elephant_conf *conf, struct flow *f, uint64_t time_us,
                    uint32_t bytes);

/* NULL: the flow is no elephant by this policy. */
static inline struct flow_elephant *flow_elephant(const struct flow *f)
{
    struct flow_elephant *e = f->ext != NULL ? f->ext->elephant : NULL;

    return e != NULL && e->action != ELEPHANT_INSPECT ? e : NULL;
}

/* True if the payload at this point of a sampled flow belongs to a part that rules do not search.
 * The first part of an elephant is searched. */
bool elephant_skips(const struct elephant_conf *conf, const struct flow *f);

#endif
