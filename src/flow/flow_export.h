/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_export.h - flows on their way to another process, which goes on with them.
 *
 * Memory of parsers and reassembly stays behind: what goes along is what decides about the rest of
 * the flow (verdict, bypass, variables of rules) and the numbers of its TCP session. The other
 * process puts no flow into a table at once. A thread that makes a flow looks here first. So it may
 * have other threads and another run mode. */
#ifndef FLOW_FLOW_EXPORT_H
#define FLOW_FLOW_EXPORT_H

#include "base/err.h"
#include "base/memory/buf.h"
#include "flow/flow.h"

/* As in struct tcp_session, which stream/ knows. */
struct tcp_export_dir {
    uint32_t isn, next_seq, last_ack, next_win, window, last_ts, last_ts_s;
    uint16_t flags;
    uint8_t wscale, tcp_flags;
};

struct tcp_export {
    uint32_t flags;
    uint8_t has_session, state, former_state, tcp_flags;
    struct tcp_export_dir dir[2];
};

/* As app/ names protocols, because numbers differ between processes; "": not known. */
#define APP_EXPORT_NAME 16
struct app_export {
    char proto[3][APP_EXPORT_NAME];     /* the flow's, then by direction */
    uint8_t is_over;                    /* nothing of it is parsed any more, or it is encrypted */
    uint32_t heard;                     /* bytes of unfinished messages, behind the variables */
};

/* flow->app_resume; 0: the flow began here, or the other process has not recognised it. */
#define FLOW_APP_RESUMES 1              /* parsers go on at the next message */
#define FLOW_APP_OVER    2              /* nothing of it is parsed any more */
#define FLOW_APP_REPLAYS 3              /* parsers first get flow_replay() */
#define FLOW_REPLAY_MAX  (128u << 10)   /* bytes of it */

/* What parsers of the other process have heard of unfinished messages, in app/'s format. */
struct flow_replay {
    uint32_t len;
    uint32_t played[2];                 /* bytes by direction: they precede the stream */
    uint8_t data[];
};
bool flow_replay_set(struct flow *flow, struct slice heard);    /* a copy; false: no memory */
static inline struct slice flow_replay(const struct flow *f)    /* empty: nothing */
{
    if (f->ext == NULL || f->ext->replay == NULL)
        return (struct slice){ .data = NULL, .len = 0 };
    return (struct slice){ .data = f->ext->replay->data, .len = f->ext->replay->len };
}

/* The last bytes of the stream that rules of the other process have inspected, for those that span
 * the hand-over. Rules that match them alone have matched there. */
struct flow_tail {
    struct buf bytes;                   /* they, then those that have come here */
    uint32_t old;                       /* how many they are */
};
#define FLOW_TAIL_MAX (16u << 10)       /* bytes of it */
/* A copy; without memory there is none. */
void flow_tail_set(struct flow *flow, enum direction d, struct slice bytes);
void flow_tail_drop(struct flow *flow, enum direction d);
static inline struct flow_tail *flow_tail(const struct flow *f, enum direction d)
{
    return LIKELY(f->ext == NULL) ? NULL : f->ext->tail[d];
}

/* A record is this, then the variables: kind (1 byte), length of the name (1), number (4), name;
 * then what parsers have heard of unfinished messages, in app/'s format; then the tails. */
struct flow_export {
    uint32_t size;                      /* with all of it */
    uint32_t requests, exception_policies, depth;
    struct flow_key key;
    uint64_t id, parent_id, start_us, last_us;
    uint32_t seen[2];
    uint32_t tenant_id;
    uint8_t state, vlan_count, drop_all, drop_reason_all;
    uint8_t min_ttl[2], max_ttl[2];
    uint8_t swapped, inspect_flags, action, drop_reason;
    uint8_t tcp_flags_seen[2], icmp_code, switched_off;
    struct tcp_export tcp;
    struct app_export app;
    uint32_t tail[2];                   /* bytes of each */
};

/* tcp and tail: filled by stream/, app and heard: by app/. */
struct flow_export_parts {
    struct tcp_export tcp;
    struct app_export app;
    struct slice heard, tail[2];
};
/* On the inspecting thread, at the flow's end. False: no memory. */
bool flow_export_add(struct buf *out, const struct flow *flow,
                     const struct flow_export_parts *parts);

/* The flows of another process. Any thread may take one, and each is taken once. */
struct flow_imports;
/* Copies the records; NULL with *err: they are damaged, or there is no memory. conf: borrowed.
 * proto_of: the number of an application protocol; NULL: flows have none. */
struct flow_conf;
typedef uint16_t (*flow_proto_number_fn)(const char *name);
struct flow_imports *flow_imports_new(const struct flow_conf *conf, const struct buf *records,
                                      flow_proto_number_fn proto_of, struct err *err);
void flow_imports_free(struct flow_imports *imports);       /* NULL is fine */
unsigned flow_imports_count(const struct flow_imports *imports);
unsigned flow_imports_left(const struct flow_imports *imports);     /* not taken */
/* True when all were taken or have timed out. */
bool flow_imports_are_over(const struct flow_imports *imports, uint64_t now_us);
/* Adds the records that were not taken and have not timed out, for the next process: their flows
 * have had no packet here. When no thread looks for flows any more. Returns their number; *lost
 * rises by those that memory did not suffice for. */
unsigned flow_imports_pass_on(const struct flow_imports *imports, uint64_t now_us,
                              struct buf *out, unsigned *lost);
/* A copy of a record; what is behind it is borrowed. */
struct flow_import {
    struct flow_export flow;
    struct bytes vars;
    struct slice heard, tail[2];
    uint16_t app_proto[3];              /* flow.app.proto, by number */
};
/* False: there is none between the addresses and ports of this flow, or it was taken. */
bool flow_imports_take(struct flow_imports *imports, const struct flow *flow,
                       struct flow_import *out);
/* Gives a new flow the other's state, but for `state`, which decides its timeout. */
void flow_import(struct flow *flow, const struct flow_import *from);

#endif
