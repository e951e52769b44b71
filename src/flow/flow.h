/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow.h - a flow, in two parts on cache lines of their own.
 *
 * The key and the start never change. The transport state belongs to the thread that runs the
 * stream module, the inspection state to the one that runs detect; in most run modes that is the
 * same thread. What must cross upstream is one word of atomic flags (`requests`); downstream all
 * goes with packets. After the packet marked PACKET_FLOW_END has left the stream module, the whole
 * flow is the inspecting thread's, until that packet returns to the pool and the stream thread
 * frees it. */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include "base/text/ip.h"
#include "base/containers/wheel.h"
#include "packet/packet.h"

struct tcp_session;         /* stream/ */
struct app_flow;            /* app/: parser state and transactions */
struct detect_flow;         /* detect/: rule state that lives with the flow */
struct flow_tag;            /* detect/: tags of rules on the flow */
struct flow_threshold;      /* detect/: counts of rules with "track by_flow" */
struct flow_vars;           /* flow/vars.h: flowbits, flowints, captured variables */

enum flow_state { FLOW_NEW, FLOW_ESTABLISHED, FLOW_CLOSED, FLOW_LOCAL_BYPASSED,
                  FLOW_CAPTURE_BYPASSED };
enum flow_end_reason { FLOW_END_NONE, FLOW_END_TIMEOUT, FLOW_END_FORCED, FLOW_END_SHUTDOWN,
                       FLOW_END_TCP_REUSE };

/* As the first packet went; to server is src -> dst unless `swapped` by midstream pickup. */
struct flow_key {
    struct ip src, dst;
    uint16_t src_port, dst_port;        /* ICMP: type and code; ESP: the SPI's halves */
    uint16_t vlan[PACKET_VLANS_MAX];
    uint8_t proto;
    uint8_t recursion;
    uint16_t device;                    /* livedev.use-for-tracking; 0 otherwise */
};

/* Set by detect, read by stream; atomic or. Directions as stream knows them. (That detection finds
 * client and server exchanged is no request: packets on their way would be marked either way. The
 * inspecting thread turns packets and chunks round itself.) */
enum flow_request {
    FLOW_REQ_BYPASS        = 1u << 0,  /* stop looking at it; count only */
    FLOW_REQ_DROP          = 1u << 1,  /* drop all that follows */
    FLOW_REQ_PASS          = 1u << 2,  /* no inspection for what follows */
    FLOW_REQ_NO_STREAM_TS  = 1u << 3,  /* no more data to server wanted: stop reassembly */
    FLOW_REQ_NO_STREAM_TC  = 1u << 4,
    FLOW_REQ_NO_PAYLOAD    = 1u << 5,  /* encrypted: headers only */
    FLOW_REQ_DEPTH_FREE_TS = 1u << 6,  /* the protocol has its own depth, not the stream's */
    FLOW_REQ_DEPTH_FREE_TC = 1u << 7,
    FLOW_REQ_DROP_FIREWALL = 1u << 8,  /* with DROP: a firewall rule wants it */
    FLOW_REQ_DROP_EXCEPTION = 1u << 9,   /* with DROP: an exception policy wants it */
    FLOW_REQ_DROP_STATES   = 1u << 10, /* with DROP: the bits from these on up are in use */
};
#define FLOW_REQ_FLOW_STATE 16         /* 4 bits: enum flow_state at the drop */
#define FLOW_REQ_TCP_STATE  20         /* 5 bits: the session's state at the drop */

/* States with this packet, of the flow and, in its own numbers, of the session; by stream. */
struct flow_slot { uint8_t flow_state, tcp_state; };
PACKET_SLOT_ACCESSOR(flow, PACKET_SLOT_FLOW)

/* The Ethernet addresses each side was seen with, as far as there is room. */
#define FLOW_MACS_MAX 10
struct flow_macs {
    uint8_t count[2];
    uint8_t at[2][FLOW_MACS_MAX][6];
};

/* What few flows have; the inspecting thread's. */
struct flow_ext {
    struct flow_threshold *thresholds;  /* detect/state/threshold.h; NULL while there are none */
    struct flow_tag *tags;              /* detect/state/tag.h; NULL while there are none */
    struct flow_macs *macs;             /* NULL unless an output logs them */
    struct flow_rate *rate;             /* flow/rate.h; NULL unless somebody asks */
};

/* Three groups of cache lines by who writes them; 320 bytes in all. The session of a TCP flow is
 * as much again. */
struct flow {
    /* immutable once made, but for requests */
    CACHE_ALIGNED struct flow_key key;
    uint64_t id;                        /* EVE flow_id: from key, start and seed */
    uint64_t start_us;
    uint64_t start_rank;                /* rises with the flows of a run, or live of a table */
    uint64_t parent_id;                 /* of the flow that expected this one; 0: none */
    uint32_t hash;
    uint32_t requests;  /* enum flow_request: upstream flags; atomic, rarely set */
    uint32_t depth;                     /* reassembly depth that detect wants, at least; atomic.
                                         * 0: as configured, UINT32_MAX: none */
    uint32_t exception_policies;        /* what was done: 4 bits a target, from its number on */
    struct flow *next;                  /* in a list of the table's or the stream's */
    struct tcp_session *tcp;            /* NULL unless TCP with a session */

    /* transport state */
    CACHE_ALIGNED struct wheel_timer timer;
    uint64_t last_us;
    uint64_t last_order;                /* of its last packet; once it has ended, of its end */
    uint32_t seen[2];                   /* packets per direction, for states */
    uint32_t sent;                      /* packets handed off, modulo 2^32 */
    uint8_t state;                      /* enum flow_state */
    uint8_t end_reason;                 /* enum flow_end_reason */
    uint8_t end_state;                  /* state when it ended */
    uint8_t drop_reason_all;            /* enum drop_reason that drop_all gives its packets */
    uint8_t min_ttl[2], max_ttl[2];
    bool emergency;                     /* ended or made in emergency mode */
    bool swapped;                       /* to server is dst -> src of the key: midstream pickup */
    bool drop_all;
    uint8_t exception_target;           /* EXCEPTION_TARGET_*, a set: limits it has met; atomic */

    /* inspection state */
    CACHE_ALIGNED struct app_flow *app;         /* NULL before the first payload */
    struct detect_flow *detect;                 /* NULL while there is nothing to remember */
    struct flow_vars *vars;                     /* NULL while there are none */
    struct flow_ext *ext;                   /* NULL while there is none; flow_ext_make() */
    uint64_t packets[2], bytes[2];              /* counted as they pass detect */
    uint64_t inspect_last_us;
    uint16_t app_proto;                         /* enum app_proto_id; detection result */
    uint16_t app_proto_dir[2];                  /* what each side looked like */
    uint16_t app_proto_orig, app_proto_expected;
    uint8_t inspect_flags;                      /* FLOW_INSPECT_* */
    uint8_t action;                             /* enum packet_action that holds for the flow */
    uint8_t drop_reason;
    uint8_t tcp_flags_seen[2];
    uint8_t icmp_code;                          /* of the first packet */
    uint32_t inspected;                         /* of those sent; atomic, read upstream */
    uint32_t alert_count;
    uint32_t tx_log_count;
    uint32_t log_units : 31;                    /* bytes of EVE records about it, by 64 */
    uint32_t log_cut : 1;                       /* some were left out, as there were too many */
    uint32_t tenant_id;                         /* whose rules look at it; 0: no tenant's */
    uint8_t swap;                               /* set when detection exchanged client and server:
                                                 * FLOW_TURN_*; `swapped` does not follow */
    uint8_t detect_flags;                       /* private to detect, but for FLOW_PROTO_DETECTED */
    uint8_t rules_generation;                   /* private to detect: which rules it remembers */
    uint8_t switched_off;                              /* FLOW_NO_*: from the next packet on */
    uint64_t raw_progress[2];  /* stream data before it no rule asks for again, by
                                                 * direction; atomic: it goes upstream */
};

_Static_assert(sizeof(struct flow) == 5 * CACHE_LINE, "five lines, two of them inspection's");

/* NULL: no memory. */
struct flow_ext *flow_ext_make(struct flow *f);
void flow_ext_free(struct flow *f);   /* all but macs and rate is free already */

/* Rules of the kind "track by_flow" have counted there. */
static inline bool flow_counts_matches(const struct flow *f)
{
    return f->ext != NULL && f->ext->thresholds != NULL;
}

/* What rules left in the flow, for the records about it. */
static inline bool flow_remembers(const struct flow *f)
{
    return f->vars != NULL || flow_counts_matches(f);
}

struct flow_macs *flow_macs_make(struct flow *f);       /* NULL: no memory */
static inline struct flow_macs *flow_macs(const struct flow *f)
{
    return f->ext != NULL ? f->ext->macs : NULL;
}

/* Asked for of the stream module too, by requests; this is for what has left it before. */
#define FLOW_NO_PAYLOAD_INSPECTION 1
#define FLOW_NO_REASSEMBLY  2

/* The protocol of this direction has been detected (or will not be), which rules on protocols
 * have not seen yet. */
#define FLOW_PROTO_DETECTED(direction) (0x04u << (direction))

#define FLOW_SWAP_KEY       1               /* the client is the key's src */
#define FLOW_SWAP_REVERSED  2               /* the client is the key's dst */

#define FLOW_INSPECT_ALERTED        0x01
#define FLOW_INSPECT_IPONLY_TS      0x02        /* address-only rules have run in this direction */
#define FLOW_INSPECT_IPONLY_TC      0x04
#define FLOW_INSPECT_ELEPHANT       0x10        /* flow/rate.h */
#define FLOW_INSPECT_ESTABLISHED    0x20
#define FLOW_INSPECT_DROP_LOGGED_TC 0x40        /* a drop of this direction has been logged */
#define FLOW_INSPECT_DROP_LOGGED_TS 0x80

static inline void flow_request(struct flow *f, uint32_t requests)
{
    if ((__atomic_load_n(&f->requests, __ATOMIC_RELAXED) & requests) != requests)
        __atomic_fetch_or(&f->requests, requests, __ATOMIC_RELEASE);
}
static inline uint64_t flow_raw_progress(const struct flow *f, enum direction dir)
{
    return __atomic_load_n(&f->raw_progress[dir], __ATOMIC_RELAXED);
}
static inline uint32_t flow_requests(const struct flow *f)
{
    return __atomic_load_n(&f->requests, __ATOMIC_ACQUIRE);
}

/* All its packets have been inspected: what they made detection request is known, and the
 * inspection state is nobody's but the caller's, who runs the stream module. */
static inline bool flow_is_drained(const struct flow *f)
{
    return f->sent == __atomic_load_n(&f->inspected, __ATOMIC_ACQUIRE);
}

/* Everything that follows p is dropped; by the inspecting thread. `reason` is DROP_FLOW_DROP,
 * DROP_FW_FLOW or DROP_EXCEPTION_FLOW. Later packets may have passed the stream module already:
 * the states to report are those with p. */
void flow_drop(struct flow *f, const struct packet *p, enum drop_reason reason);

/* State to report once the flow has ended. A bypass or a drop that detect asked for while later
 * packets were on their way counts from when it was asked for. */
static inline enum flow_state flow_final_state(const struct flow *f)
{
    uint32_t requests = flow_requests(f);

    if (requests & FLOW_REQ_BYPASS)
        return FLOW_LOCAL_BYPASSED;
    if (requests & FLOW_REQ_DROP_STATES)
        return (enum flow_state)(requests >> FLOW_REQ_FLOW_STATE & 0xf);
    return (enum flow_state)f->end_state;
}

/* The key of the packet's own addresses and ports; ICMP has its type in src_port, and in dst_port
 * the type that answers it or 0. */
void flow_key_of_packet(const struct packet *p, struct flow_key *key);

static inline uint32_t flow_esp_spi(const struct flow_key *key)
{
    return (uint32_t)key->src_port << 16 | key->dst_port;
}

/* The id shown to users: 53 bits, never 0, the same for the same packets and seed. Its low 32 bits
 * are the hash, so that a flow can be found by its id. */
uint64_t flow_id_make(const struct flow_key *key, uint32_t hash, uint64_t start_us);

/* Whether to server is dst -> src of the key, by what is known at last. */
static inline bool flow_is_swapped(const struct flow *f)
{
    return f->swap != 0 ? f->swap == FLOW_SWAP_REVERSED : f->swapped;
}

const char *flow_state_name(enum flow_state state);             /* EVE flow.state */
const char *flow_end_reason_name(enum flow_end_reason reason);  /* EVE flow.reason */

/* Community id v1, "1:..." into out (32 bytes are enough); 0 when the protocol has none. */
size_t flow_community_id(const struct flow_key *key, uint16_t seed, char *out, size_t size);

#endif
