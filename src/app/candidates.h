/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/candidates.h - which protocols the first bytes of a flow could be, for reports. Recognition
 * stops at the first pattern or probe that says yes; this asks all of them. */
#ifndef APP_CANDIDATES_H
#define APP_CANDIDATES_H

#include "app/conf.h"
#include "app/proto.h"

struct app_candidate {
    unsigned number;                    /* the same in each call for a direction of a flow */
    const struct app_proto *proto;
    const struct app_pattern *pattern;  /* whose bytes are there; NULL: a probe */
    uint16_t port;                      /* for which the probe is asked; 0: see by_name */
    bool by_source;                     /* it is the client's port */
    bool by_name;                       /* it was announced, or the other side speaks it */
    enum app_probe_result answer;
};

/* The first bytes of one direction. */
struct app_candidates_input {
    struct slice data;
    bool is_udp;
    enum direction direction;
    struct flow *flow;
    uint16_t client_port, server_port;
    uint16_t other, expected;           /* protocol of the other side; the announced one */
};

typedef void (*app_candidate_fn)(void *arg, const struct app_candidate *c);
/* Returns how many patterns were compared. */
unsigned app_candidates(const struct app_conf *conf, const struct app_candidates_input *in,
                        app_candidate_fn each, void *arg);

#endif
