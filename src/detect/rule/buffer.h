/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/buffer.h - the stretches of bytes that rules look into, by name, with transforms.
 *
 * A buffer is found by name once per ruleset: those that app protocols declare (one name may
 * stand in several protocols: http.uri in http1 and http2), those of packets (tcp.hdr), frames,
 * base64_data. A buffer with transforms is a buffer of its own, made from its base. Numbers are
 * dense, so that results can be cached in arrays. */
#ifndef DETECT_BUFFER_H
#define DETECT_BUFFER_H

#include "app/proto.h"
#include "app/rules.h"
#include "detect/rule/rule.h"

struct rule_parser;
struct detect_thread;

enum buffer_kind {
    BUFFER_PACKET,      /* from the packet alone */
    BUFFER_TX,          /* of a transaction, by protocol */
    BUFFER_FRAME,
    BUFFER_BASE64,      /* what base64_decode left */
};

struct transform_ops {
    const char *name, *doc;
    bool argument;
    size_t arg_size;
    int (*parse)(struct rule_parser *p, struct text in, void *arg);
    /* Writes into out (cleared before). */
    void (*apply)(struct slice in, const void *arg, struct buf *out);
    /* In place of apply, if the thread keeps state for it. */
    void (*apply_with)(struct detect_thread *dt, struct slice in, const void *arg,
                       struct buf *out);
    /* In place of apply. False: it reached a limit on its work, and out is incomplete. */
    bool (*apply_within)(struct slice in, const void *arg, struct buf *out);
    bool quotes_optional;
    /* Whether this content can be found after the transform. NULL: all can. */
    bool (*content_ok)(struct slice pattern, const void *arg);
};

struct transform_use {
    const struct transform_ops *ops;
    const void *arg;
    const char *arg_text;       /* for telling equal chains */
};

struct buffer {
    uint16_t id;
    uint8_t kind;               /* enum buffer_kind */
    uint8_t directions;
    bool multi, grows;
    const char *name;           /* "http.uri"; with transforms "http.uri|to_lowercase" */
    const struct buffer *base;  /* before transforms; itself when there are none */
    const struct transform_use *transform;
    unsigned transform_count;
    bool (*get_packet)(const struct packet *p, enum direction side, struct slice *out);
                                /* BUFFER_PACKET; or, if a packet may have several, this: */
    bool (*get_packet_nth)(const struct packet *p, unsigned index, struct slice *out);
    const struct app_buffer *by_proto[APP_PROTO_COUNT];                 /* BUFFER_TX */
    uint8_t frame_proto;
    unsigned frame_type;
};

/* A packet buffer declared in detect/keywords/buffers/; listed in
 * detect/keywords/buffers/list.h. */
struct packet_buffer {
    const char *name, *alias, *doc;
    /* side: as match_side() */
    bool (*get)(const struct packet *p, enum direction side, struct slice *out);
    /* In place of get, for a buffer of which a packet may have several: false past the last. */
    bool (*get_nth)(const struct packet *p, unsigned index, struct slice *out);
    bool same;                  /* in all packets of a direction: for transactions too */
    uint8_t link;               /* enum rule_link: what rules with it want */
    uint8_t ip_proto;           /* which the rule's header must allow; 0: any */
};

/* Load time; one registry per ruleset. */
const struct buffer *buffer_find(struct ruleset *set, struct text name);
/* The buffer with one more transform at the end of its chain. */
const struct buffer *buffer_with_transform(struct ruleset *set, const struct buffer *b,
                                           const struct transform_use *use);
/* As the first protocol that has it declares it; of packets and frames nothing is set. */
const struct app_buffer *buffer_declared(const struct buffer *b);
unsigned buffer_count(const struct ruleset *set);
const struct buffer *buffer_by_id(const struct ruleset *set, unsigned id);
const struct buffer *buffer_frame(struct ruleset *set, const struct app_proto *proto,
                                  unsigned type);
void buffer_registry_free(struct ruleset *set);

/* Makes `buffer` the rule's current one: a new list, or the one it has already (multi buffers
 * always get a new one). For sticky keywords and legacy modifiers. */
int rule_set_buffer(struct rule_parser *p, const struct buffer *buffer);
/* Back to the payload (pkt_data, end of the rule). -1: the current buffer's list is empty. */
int rule_leave_buffer(struct rule_parser *p);
/* Legacy modifiers (http_uri): the last content moves from the payload to the buffer. */
int rule_modify_content(struct rule_parser *p, const struct buffer *buffer);

/* Keywords that this part declares from tables, for the registry: one sticky keyword per packet
 * buffer, one per transform, and those of detect/keywords/payload/. NULL-ended. */
const struct keyword_ops *const *packet_buffer_keywords(void);
const struct keyword_ops *const *transform_keywords(void);
extern const struct keyword_ops *const payload_keywords[];

#endif
