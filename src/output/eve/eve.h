/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/eve.h - EVE JSON: one instance of `eve-log`, and the kinds of records it writes.
 *
 * A kind is one file here that ends in a `const struct eve_type eve_type_<name>`, and a line in
 * output/list.h. App protocols declare their records in their own `struct app_log`. */
#ifndef OUTPUT_EVE_EVE_H
#define OUTPUT_EVE_EVE_H

#include "app/log.h"
#include "base/report/counters.h"
#include "base/report/json.h"
#include "base/text/ip.h"
#include "output/logger.h"

struct eve;

struct eve_type {
    const char *name;           /* under `types:` */
    void *(*configure)(const struct conf_node *node, const struct eve *eve, struct err *err);
    void (*free)(void *settings);
    void (*packet)(struct render *r, const struct eve *eve, void *settings, struct packet *p);
    /* Cheap test before packet(); NULL: always call packet(). */
    bool (*condition)(const struct packet *p);
    bool only_notable;          /* condition() is false unless the packet is notable: logger.h */
    void (*tx)(struct render *r, const struct eve *eve, void *settings, struct packet *p,
               struct app_tx *tx);
    void (*flow)(struct render *r, const struct eve *eve, void *settings, struct packet *p,
                 const struct flow *flow);
    void (*stats)(struct render *r, const struct eve *eve, void *settings, uint64_t now_us,
                  uint64_t uptime_s);
    void (*left_out)(struct json *j, const struct left_out *left);  /* eve_type_left_out alone */
};
extern const struct eve_type eve_type_left_out;

/* Returns a new number below `max`, and counts it in *used. When none is left the error names
 * `what`. */
unsigned eve_mark(unsigned *used, unsigned max, const char *what, struct err *err);

struct eve_use {                        /* a type with its settings */
    const struct eve_type *type;
    void *settings;
};

struct eve_app_log {                    /* a protocol's log with its settings */
    const struct app_log *log;
    void *settings;
    unsigned bit;                       /* in output_tx.logged */
};

enum xff_mode { XFF_OFF, XFF_EXTRA, XFF_OVERWRITE };
struct xff {
    enum xff_mode mode;
    bool forward;                       /* use the first address; else (reverse) the last */
    const char *header;
};

struct eve {
    struct sink *sink;
    const struct output_request *request;
    const char *prefix;                 /* before each record; "" */
    char *sensor_name;                  /* `host` of each record; NULL: left out */
    int64_t sensor_id;                  /* -1: left out */
    bool ethernet, pcap_file, community_id, version, metadata;
    uint16_t community_seed;
    struct xff xff;
    unsigned type_count;
    struct eve_use type[32];
    uint32_t packet_types, tx_types;    /* a bit for each of type[] that has such a function */
    unsigned log_count[APP_PROTO_COUNT];
    struct eve_app_log *log[APP_PROTO_COUNT];
    counter_id macs_max[2];             /* maximum of addresses of one side of a flow */
    uint32_t flow_expansion;            /* bytes of records allowed per byte of a flow; 0: any */
    uint32_t alert_expansion;           /* the same for alerts with details */
    counter_id records_cut, contents_cut, details_cut;
    struct log_marks *marks;            /* of all outputs; valid while settings are read */
};

/* Reads `xff:` of an eve-log or of one of its types; without it *xff is unchanged. */
void eve_read_xff(struct xff *xff, const struct conf_node *node);

/* The client behind a proxy, from the request that this record is about (tx NULL: the oldest). In
 * overwrite mode, records between the two calls show it in place of the flow's client. */
struct xff_use {
    bool found;
    struct ip address;
    char text[IP_TEXT_SIZE];
};
void eve_xff_begin(struct render *r, const struct xff *xff, const struct packet *p,
                   struct app_tx *tx, struct xff_use *use);
void eve_xff_end(struct render *r, const struct xff *xff, struct json *j,
                 const struct xff_use *use);

/* Decides which address is the source. */
enum eve_order { EVE_AS_PACKET, EVE_AS_FLOW, EVE_TO_SERVER, EVE_TO_CLIENT };

#define EVE_NO_TX UINT64_MAX

/* The first fields of a record. tx_id: EVE_NO_TX if it is not about a transaction. */
struct eve_head {
    enum eve_order order;
    const char *event_type;
    uint64_t tx_id;
};

/* All records of the transaction are in this log. False if it has none of the protocol. */
bool eve_has_written(const struct eve *eve, const struct app_tx *tx);

/* Starts a record: prefix, opening brace and timestamp. For those that are not about a packet. */
void eve_start(struct render *r, const struct eve *eve, struct json *j, uint64_t time_us);
/* Starts a record with the fields that all have; the caller adds its own and ends it. */
void eve_begin(struct render *r, const struct eve *eve, struct json *j, const struct packet *p,
               struct eve_head head);
void eve_end(struct render *r, const struct eve *eve, struct json *j, const struct packet *p);
void eve_cancel(struct render *r);
/* Like eve_end(), but drops and counts a record beyond log-limit. */
void eve_end_limited(struct render *r, const struct eve *eve, struct json *j,
                     const struct packet *p);
/* Counts the record and returns true where log-limit has nothing left for the packet: rendering it
 * would take a microsecond in vain. */
bool eve_is_left_out(struct render *r, const struct packet *p);
/* The record about what log-limit has left out. */
void eve_left_out(struct render *r, void *self, const struct left_out *left);
/* Adds members to each record of a flow; set at the start, by what plugins add. */
void eve_set_flow_members(void (*write)(struct json *j, const struct flow *f));

/* Limits the records of a flow to a multiple of its bytes, so that a sender cannot fill the log
 * cheaply. Call it before a record of a transaction, a file or an anomaly. False: no space; the
 * record is counted as cut. */
bool eve_flow_has_space(struct render *r, const struct eve *eve, struct flow *f);
/* Like eve_end(), but drops and counts a record that is larger than the space left. */
bool eve_end_within(struct render *r, const struct eve *eve, struct json *j, struct packet *p);

/* Contents in alerts (payload, bodies) have half as much space in addition, because a short packet
 * can raise alerts that print the same stream again. False: write the alert without contents. After
 * an alert with contents call eve_contents_charge(). */
bool eve_contents_have_space(struct render *r, const struct eve *eve, const struct flow *f);
/* Whether the record just ended fits; false: the caller cancels it. */
bool eve_contents_fit(struct render *r, const struct eve *eve, struct flow *f);
void eve_contents_charge(struct render *r, struct flow *f);

/* Alerts have a limit of their own. False: write the alert without details. Without a flow the
 * packet's own alerts count. After an alert with details call eve_details_charge(), or
 * eve_contents_charge() if it has contents. */
bool eve_details_have_space(struct render *r, const struct eve *eve, const struct packet *p);
void eve_details_charge(struct render *r, struct flow *f);

/* Addresses of a flow or packet, ports or ICMP type, proto: common.c. */
/* client: address to show as the flow's client; NULL: the flow's own. */
void eve_flow_addresses(struct json *j, const struct flow *f, bool reversed,
                        const struct ip *client);
void eve_flow_of_packet(const struct render *r, struct json *j, const struct packet *p);
void eve_proto(struct json *j, uint8_t proto);
/* member: JSON_LITERAL() of the key. */
/* With its quotes, at most EVE_TIME_SIZE + 2 bytes. */
uint8_t *eve_put_time(struct render *r, uint8_t *p, uint64_t time_us);
void eve_event_type(struct json *j, const char *name);
void eve_time(struct render *r, struct json *j, struct text member, uint64_t time_us);
void eve_app_proto(struct json *j, const struct flow *f);
int eve_linktype(const struct packet *p);       /* as in pcap files */
/* Writes "metadata": flowbits ...; p NULL: without variables captured in the packet. */
void eve_vars(struct json *j, const struct flow *f, const struct packet *p);
void eve_tcp_flags(struct json *j, uint8_t flags);
void eve_vlans(struct json *j, const uint16_t *vlan, unsigned count);     /* none: no member */
/* The flow's community_id, if `eve` has it; protocols without one have no member. */
void eve_community_id(struct json *j, const struct eve *eve, const struct flow *f);
void eve_ip_header(struct json *j, const struct packet *p);     /* its fields, one by one */
void eve_tcp_header(struct json *j, const struct packet *p, uint32_t seq);
void eve_packet_bytes(struct json *j, const struct packet *p, uint32_t most);
/* Writes what a transaction adds to other records: http of fileinfo and alerts. */
void eve_tx_metadata(struct json *j, struct app_tx *tx);
void eve_file(struct json *j, const struct app_file *file, bool stored_sids);
void eve_tunnel(struct json *j, const struct packet *p);  /* writes nothing for a packet without
                                                           * tunnel */
void eve_mac(struct json *j, const char *key, const uint8_t mac[6]);

#endif
