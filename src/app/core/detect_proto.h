/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/detect_proto.h - detects the protocol by a flow's first bytes. The tables are built
 * once and shared by all threads; the state of the detection is in the flow. */
#ifndef APP_CORE_DETECT_PROTO_H
#define APP_CORE_DETECT_PROTO_H

#include "app/conf.h"
#include "app/proto.h"
#include "base/array.h"

enum { TRANSPORT_TCP, TRANSPORT_UDP, TRANSPORT_COUNT };
#define TRANSPORT_BIT(t) (1u << (t))        /* APP_TCP, APP_UDP */

struct app_pattern_set;

/* A probe and the ports it examines, as configured. */
struct probe_entry {
    const struct app_proto *proto;
    const struct app_probe *probe;
    bool by_source;             /* the range is of source ports */
    uint16_t low, high;
};

/* A bit for each 64 ports: of one of them there is an entry. */
struct probe_spans {
    uint64_t has[UINT16_MAX / 64 / 64 + 1];
};

struct app_detect_tables {
    struct app_pattern_set *patterns[TRANSPORT_COUNT][2];       /* by direction */
    ARRAY_OF(struct probe_entry) probes[TRANSPORT_COUNT];
    struct probe_spans spans[TRANSPORT_COUNT][2];   /* of destination and of source ports */
    const struct app_conf *conf;
    bool midstream;             /* stream.midstream: also try the patterns of the other direction */
};

#define DETECT_PROBES_MAX 61            /* bits of probes_failed; a flow has two or three probes */

/* State of protocol detection for one direction, between two calls. */
struct proto_detect_state {
    uint64_t probes_failed : DETECT_PROBES_MAX; /* bit per candidate, in the order of trying */
    uint64_t patterns_done : 1, probes_done : 1, expected_done : 1;
};

struct proto_detect_input {
    struct slice data;
    uint8_t transport;
    enum direction direction;
    struct flow *flow;
    uint16_t source_port, dest_port;        /* of the client and the server */
    uint16_t other, expected;   /* protocol of the other side; the one a change expects */
};

int app_detect_tables_build(struct app_conf *conf, const struct conf_node *root,
                            struct err *err);
void app_detect_tables_free(struct app_detect_tables *tables);

/* The protocol of these bytes, or APP_PROTO_UNKNOWN. *reversed: the other side sent them. Does not
 * consider expected flows. */
enum app_proto_id app_detect(const struct app_detect_tables *tables,
                             const struct proto_detect_input *q,
                             struct proto_detect_state *detect_state,
                             struct proto_detect_state *other_state, bool *reversed);

#endif
