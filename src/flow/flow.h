/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow.h - a flow, in two parts on separate cache lines.
 *
 * The key and the start never change. The transport state belongs to the thread that runs the
 * stream module, the inspection state to the one that runs detect; in most run modes that is the
 * same thread. One word of atomic flags (`requests`) goes upstream; downstream all state goes with
 * packets. After the packet marked PACKET_FLOW_END has left the stream module, the whole flow
 * belongs to the inspecting thread until that packet returns to the pool and the stream thread
 * frees the flow. */
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

/* From the first packet; to server is src -> dst unless `swapped` by midstream pickup. */
struct flow_key {
    struct ip src, dst;
    uint16_t src_port, dst_port;        /* ICMP: type and code; ESP: the two halves of the SPI */
    uint16_t vlan[PACKET_VLANS_MAX];
    uint8_t proto;
    uint8_t recursion;
    uint16_t device;                    /* livedev.use-for-tracking; 0 otherwise */
};

/* Set by detect, read by stream; atomic or. Directions are those of the stream module. (An exchange
 * of client and server is no request, as packets on their way could have either direction.) */
enum flow_request {
    FLOW_REQ_BYPASS        = 1u << 0,  /* stop inspecting; count only */
    FLOW_REQ_DROP          = 1u << 1,  /* drop all later packets */
    FLOW_REQ_PASS          = 1u << 2,  /* no inspection of later packets */
    FLOW_REQ_NO_STREAM_TS  = 1u << 3,  /* no more data to server are needed: stop reassembly */
    FLOW_REQ_NO_STREAM_TC  = 1u << 4,
    FLOW_REQ_NO_PAYLOAD    = 1u << 5,  /* encrypted: headers only */
    FLOW_REQ_DEPTH_FREE_TS = 1u << 6,  /* the protocol's own depth applies, not the stream's */
    FLOW_REQ_DEPTH_FREE_TC = 1u << 7,
    FLOW_REQ_DROP_FIREWALL = 1u << 8,  /* with DROP: requested by a firewall rule */
    FLOW_REQ_DROP_EXCEPTION = 1u << 9,   /* with DROP: requested by an exception policy */
    FLOW_REQ_DROP_STATES   = 1u << 10, /* with DROP: the bits from here on are valid */
};
#define FLOW_REQ_FLOW_STATE 16         /* 4 bits: enum flow_state at the drop */
#define FLOW_REQ_TCP_STATE  20         /* 5 bits: the session's state at the drop */

/* States of the flow and, in its own numbering, of the session at this packet; set by stream. */
struct flow_slot { uint8_t flow_state, tcp_state; };
PACKET_SLOT_ACCESSOR(flow, PACKET_SLOT_FLOW)

/* Ethernet addresses seen for each side, up to a limit. */
#define FLOW_MACS_MAX 10
struct flow_macs {
    uint8_t count[2];
    uint8_t at[2][FLOW_MACS_MAX][6];
};

/* State that few flows need; the inspecting thread's. */
struct flow_ext {
    struct flow_threshold *thresholds;  /* detect/state/threshold.h; NULL while there are none */
    struct flow_tag *tags;              /* detect/state/tag.h; NULL while there are none */
    struct flow_facts *facts;           /* detect/state/packet_facts.h; NULL while there are none */
    struct flow_macs *macs;             /* NULL unless an output logs them */
    struct flow_rate *rate;             /* flow/rate.h; NULL without flow.rate-tracking */
    struct flow_elephant *elephant;     /* flow/elephant.h; NULL below its first limits */
    void *watched;                      /* plugins/watch.h; NULL without watchers */
    uint64_t rule_steps, log_bytes, debug_bytes; /* packet_work.h, log_limit.h, alert_debug.c */
    struct flow_replay *replay;         /* flow/flow_export.h; NULL unless another process began */
    struct flow_tail *tail[2];          /* flow/flow_export.h; NULL unless another process began */
};

/* Three groups of cache lines, by the thread that writes them: 320 bytes, as its TCP session. */
struct flow {
    /* never changed after creation, except requests */
    CACHE_ALIGNED struct flow_key key;
    uint64_t id;                        /* EVE flow_id, from key, start and seed */
    uint64_t start_us;
    uint64_t start_rank;                /* rises per flow; replaced by a packet: its seqno_sub */
    uint64_t parent_id;                 /* the flow that expected this one; 0: none */
    uint32_t hash;
    uint32_t requests;  /* enum flow_request: upstream flags; atomic, rarely set */
    uint32_t depth;                     /* least reassembly depth that detect requires; atomic. 0:
                                         * as configured, UINT32_MAX: none */
    uint32_t exception_policies;        /* applied policies: 4 bits for each target */
    struct flow *next;                  /* in a list of the table's or the stream's */
    struct tcp_session *tcp;            /* NULL unless TCP with a session */

    /* transport state */
    CACHE_ALIGNED struct wheel_timer timer;
    uint64_t last_us;
    uint64_t last_seqno;                /* seqno of its last packet; after its end, of its end */
    uint32_t seen[2];                   /* packets per direction, for states */
    uint32_t sent;                      /* packets handed off to detection, modulo 2^32 */
    uint8_t state;                      /* enum flow_state */
    uint8_t vlan_count;                 /* tags of the first packet: in the key VLAN 0 is as none */
    uint8_t end_reason : 4;             /* enum flow_end_reason */
    uint8_t end_state : 4;              /* state when it ended */
    uint8_t drop_reason_all;            /* enum drop_reason for all packets of a dropped flow */
    uint8_t min_ttl[2], max_ttl[2];
    bool emergency;                     /* ended or created in emergency mode */
    bool swapped;                       /* to server is dst -> src of the key: midstream pickup */
    bool drop_all;
    uint8_t exception_target;           /* EXCEPTION_TARGET_*, a set: limits it has reached;
                                         * atomic */

    /* inspection state */
    CACHE_ALIGNED struct app_flow *app;         /* NULL before the first payload */
    struct detect_flow *detect;                 /* NULL while rules have no state */
    struct flow_vars *vars;                     /* NULL while there are none */
    struct flow_ext *ext;                   /* NULL while there is none; flow_ext_make() */
    uint64_t packets[2], bytes[2];              /* counted in the detect module */
    uint64_t inspect_last_us;
    uint16_t app_proto;                         /* enum app_proto_id; detection result */
    uint16_t app_proto_dir[2];                  /* as detected per direction */
    uint16_t app_proto_orig, app_proto_expected;
    uint8_t inspect_flags;                      /* FLOW_INSPECT_* */
    uint8_t action;                             /* enum packet_action that applies to the flow */
    uint8_t drop_reason;
    uint8_t tcp_flags_seen[2];
    uint8_t icmp_code;                          /* of the first packet */
    uint32_t inspected;                         /* packets inspected; atomic, read upstream */
    uint32_t alert_units;                       /* bytes of EVE alerts about it, in units of 64 */
    uint32_t tx_log_count;
    uint32_t log_units : 31;                    /* bytes of EVE records about it, in units of 64 */
    uint32_t log_cut : 1;                       /* records were left out, as there were too many */
    uint32_t tenant_id;                         /* tenant whose rules inspect it; 0: none */
    uint8_t swap : 2;       /* FLOW_SWAP_*: detection exchanged client and server; not `swapped` */
    uint8_t parser_gaps : 2;    /* a bit for each direction: a parser has come to a hole in it */
    uint8_t app_resume : 2;     /* FLOW_APP_*: another process has found app_proto, and parsed */
    uint8_t detect_flags;                       /* private to detect, but for FLOW_PROTO_DETECTED */
    uint8_t rules_generation;                   /* private to detect: rules of its state */
    uint8_t switched_off;                              /* FLOW_NO_*: from the next packet on */
    uint64_t raw_progress[2];  /* stream offset by direction; no rule reads data before it again;
                                * atomic: it goes upstream */
};

_Static_assert(sizeof(struct flow) == 5 * CACHE_LINE, "five lines, two of them inspection's");

struct flow_ext *flow_ext_make(struct flow *f);         /* NULL: out of memory */
void flow_ext_free(struct flow *f);   /* thresholds, tags and facts have been freed */

/* True if rules with "track by_flow" have counted in the flow. */
static inline bool flow_counts_matches(const struct flow *f)
{
    return f->ext != NULL && f->ext->thresholds != NULL;
}

/* True if rules have set variables in the flow, which its records show. */
static inline bool flow_remembers(const struct flow *f)
{
    return f->vars != NULL || flow_counts_matches(f);
}

struct flow_macs *flow_macs_make(struct flow *f);       /* NULL: out of memory */
static inline struct flow_macs *flow_macs(const struct flow *f)
{
    return f->ext != NULL ? f->ext->macs : NULL;
}

/* Requested from the stream module too; this flag covers packets that have left it already. */
#define FLOW_NO_PAYLOAD_INSPECTION 1
#define FLOW_NO_REASSEMBLY  2
/* The protocol of this direction is known, or will never be, and rules have not seen that yet. */
#define FLOW_PROTO_DETECTED(direction) (0x04u << (direction))

#define FLOW_SWAP_KEY       1               /* the client is the key's src */
#define FLOW_SWAP_REVERSED  2               /* the client is the key's dst */

#define FLOW_INSPECT_ALERTED        0x01
#define FLOW_INSPECT_IPONLY_TS      0x02        /* address-only rules have run in this direction */
#define FLOW_INSPECT_IPONLY_TC      0x04
#define FLOW_INSPECT_ELEPHANT       0x18        /* a bit for each direction, see flow/rate.h */
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

/* True when all its packets have been inspected: detection's requests are complete, and the
 * inspection state belongs to the caller, which runs the stream module. */
static inline bool flow_is_drained(const struct flow *f)
{
    return f->sent == __atomic_load_n(&f->inspected, __ATOMIC_ACQUIRE);
}

/* Drops everything after p; the inspecting thread calls it. `reason` is DROP_FLOW_DROP,
 * DROP_FW_FLOW or DROP_EXCEPTION_FLOW. Later packets may have left the stream module already, so
 * the states to report are those in p. */
void flow_drop(struct flow *f, const struct packet *p, enum drop_reason reason);

/* Returns the state to report once the flow has ended. A bypass or a drop that detect requested
 * while later packets were on their way counts from the time of the request. */
static inline enum flow_state flow_final_state(const struct flow *f)
{
    uint32_t requests = flow_requests(f);

    if (requests & FLOW_REQ_BYPASS)
        return FLOW_LOCAL_BYPASSED;
    if (requests & FLOW_REQ_DROP_STATES)
        return (enum flow_state)(requests >> FLOW_REQ_FLOW_STATE & 0xf);
    return (enum flow_state)f->end_state;
}

/* The packet's own addresses and ports; of ICMP the types of the message and its reply, or 0. */
void flow_key_of_packet(const struct packet *p, struct flow_key *key);

static inline uint32_t flow_esp_spi(const struct flow_key *key)
{
    return (uint32_t)key->src_port << 16 | key->dst_port;
}

/* Returns the id that users see: 53 bits, never 0, equal for equal packets and seed. Its low 32
 * bits are the hash, by which a flow is found from its id. */
uint64_t flow_id_make(const struct flow_key *key, uint32_t hash, uint64_t start_us);

/* True if to server is dst -> src of the key, after all exchanges. */
static inline bool flow_is_swapped(const struct flow *f)
{
    return f->swap != 0 ? f->swap == FLOW_SWAP_REVERSED : f->swapped;
}

const char *flow_state_name(enum flow_state state);             /* EVE flow.state */
const char *flow_end_reason_name(enum flow_end_reason reason);  /* EVE flow.reason */

/* Writes community id v1, "1:...", into out (32 bytes suffice); 0: the protocol has none. */
size_t flow_community_id(const struct flow_key *key, uint16_t seed, char *out, size_t size);

#endif
