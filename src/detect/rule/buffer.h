/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/buffer.h - named buffers that rules inspect, with transforms.
 *
 * A buffer is looked up by name once per ruleset. There are buffers of app protocols (several
 * protocols may declare one name: http.uri in http1 and http2), of packets (tcp.hdr), of frames,
 * and base64_data. A buffer with transforms is a separate buffer, computed from its base. Ids are
 * dense, so results can be cached in arrays. */
#ifndef DETECT_BUFFER_H
#define DETECT_BUFFER_H

#include "app/proto.h"
#include "app/rules.h"
#include "detect/rule/rule.h"

struct rule_parser;
struct detect_thread;

enum buffer_kind {
    BUFFER_PACKET,      /* depends on the packet only */
    BUFFER_TX,          /* of a transaction, by protocol */
    BUFFER_FRAME,
    BUFFER_BASE64,      /* output of base64_decode */
};

struct transform_ops {
    const char *name, *doc;
    const char *syntax;         /* as in struct keyword_ops */
    bool argument;
    size_t arg_size;
    int (*parse)(struct rule_parser *p, struct text in, void *arg);
    /* Writes the result into out, which is empty. */
    void (*apply)(struct slice in, const void *arg, struct buf *out);
    /* Used instead of apply, if the thread keeps state for the transform. */
    void (*apply_with)(struct detect_thread *dt, struct slice in, const void *arg,
                       struct buf *out);
    /* Used instead of apply. False: a limit on its work was reached, and out is incomplete. */
    bool (*apply_within)(struct slice in, const void *arg, struct buf *out);
    bool quotes_optional;
    /* True if this content can occur after the transform. NULL: any can. */
    bool (*content_ok)(struct slice pattern, const void *arg);
};

struct transform_use {
    const struct transform_ops *ops;
    const void *arg;
    const char *arg_text;       /* for comparing chains */
};

struct buffer {
    uint16_t id;
    uint8_t kind;               /* enum buffer_kind */
    uint8_t directions;
    bool multi, grows;
    bool same;                  /* as in struct packet_buffer */
    bool own;                   /* of this ruleset: its rule is bound to it (rule_bind) */
    const char *name;           /* "http.uri"; with transforms "http.uri|to_lowercase" */
    const struct buffer *base;  /* before transforms; itself if there are none */
    const struct transform_use *transform;
    unsigned transform_count;
    bool (*get_packet)(const struct packet *p, enum direction side, struct slice *out);
                                /* BUFFER_PACKET; or, if a packet may have several, this: */
    bool (*get_packet_nth)(const struct packet *p, unsigned index, struct slice *out);
    const struct packet_buffer *registered;     /* has get_registered; NULL: one of those above */
    const struct app_buffer *by_proto[APP_PROTO_COUNT];                 /* BUFFER_TX */
    uint8_t frame_proto;
    unsigned frame_type;
};

/* A packet buffer of detect/keywords/buffers/, which its list.h names. */
struct packet_buffer {
    const char *name, *alias, *doc;
    /* side: like match_side() */
    bool (*get)(const struct packet *p, enum direction side, struct slice *out);
    /* Instead of get, for a buffer of which a packet may have several: false past the last. */
    bool (*get_nth)(const struct packet *p, unsigned index, struct slice *out);
    /* Instead of both, for buffers that share it: receives the buffer itself. */
    bool (*get_registered)(const struct packet_buffer *b, const struct packet *p,
                           struct slice *out);
    bool same;        /* equal in all packets of a direction, so rules on transactions can use it */
    uint8_t link;               /* enum rule_link: what rules with it require */
    uint8_t ip_proto;           /* protocol that the rule's header must allow; 0: any */
};

/* The buffers of packets in the order in which they were added (rule/registry.h); NULL past the
 * last. */
const struct packet_buffer *packet_buffer_at(unsigned i);

/* Load time; each ruleset has a registry. */
const struct buffer *buffer_find(struct ruleset *set, struct text name);
/* Returns the buffer with one more transform at the end of its chain. own: the transform is parsed
 * for this ruleset alone; otherwise its argument is in the set's common block. */
const struct buffer *buffer_with_transform(struct ruleset *set, const struct buffer *b,
                                           const struct transform_use *use, bool own);
/* Lets the set have the buffers of the one before it, with their numbers. False: too many of them
 * belong to rules that are gone. */
bool buffer_registry_continue(struct ruleset *set, const struct ruleset *previous);
void buffer_registry_close(struct ruleset *set);        /* all rules are read */
/* Returns the declaration in the first protocol that has it; for packets and frames nothing is
 * set. */
const struct app_buffer *buffer_declared(const struct buffer *b);
unsigned buffer_count(const struct ruleset *set);
/* NULL: no rule of this set has ever used the number. */
const struct buffer *buffer_by_id(const struct ruleset *set, unsigned id);
const struct buffer *buffer_frame(struct ruleset *set, const struct app_proto *proto,
                                  unsigned type);
void buffer_registry_free(struct ruleset *set);

/* Makes `buffer` the rule's current one. Appends to its existing list; a multi buffer always gets a
 * new list. For sticky keywords and legacy modifiers. */
int rule_set_buffer(struct rule_parser *p, const struct buffer *buffer);
/* Makes the payload current again (pkt_data, end of the rule). -1: the current buffer's list is
 * empty. */
int rule_leave_buffer(struct rule_parser *p);
/* A test of a transaction, or an operation on another list than the current one, ends a sticky
 * buffer, as in Suricata: what follows looks into the payload. `other` NULL: a test. */
void rule_end_buffer(struct rule_parser *p, const struct rule_list *other);
/* For legacy modifiers (http_uri): moves the last content from the payload to the buffer. */
int rule_modify_content(struct rule_parser *p, const struct buffer *buffer);

#endif
