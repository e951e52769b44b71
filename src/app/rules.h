/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/rules.h - the sticky buffers, numbers and other keywords that a protocol declares for
 * rules. */
#ifndef APP_RULES_H
#define APP_RULES_H

#include "app/tx.h"
#include "base/err.h"
#include "base/text/text.h"

#include <stddef.h>

struct app_name { const char *name; int64_t value; };

/* What has a number and a name is one list, such as TOY_OP_LIST(E), from which its enum and the
 * table of its names come: no name can be missing, or belong to another number. In a list of
 * E(id, "name") the ids count up: events from 1, steps of progress and frames from 0. In a list of
 * E(id, number, "name") the protocol has given the numbers. */
#define APP_ENUM_ID(id, name) id,
#define APP_ENUM_ROW(id, name) { name, id },
#define APP_ENUM_TEXT(id, name) [id] = name,
#define APP_NUMBER_ID(id, number, name) id = number,
#define APP_NUMBER_ROW(id, number, name) { name, id },
#define APP_EVENT_ID(id, name) APP_ENUM_ID(id, name)
#define APP_EVENT_ROW(id, name) APP_ENUM_ROW(id, name)

/* A member of the transaction that a keyword shows unchanged. Most keywords need no more: one of
 * the macros below declares the member, and no function is needed. BYTES: an array of bytes.
 * TEXT: an array of characters that ends with NUL. */
enum app_field_type {
    APP_FIELD_NONE, APP_FIELD_SLICE, APP_FIELD_BYTES, APP_FIELD_TEXT,
    APP_FIELD_U8, APP_FIELD_U16, APP_FIELD_U32,
};
/* The condition: always; unless it is NULL or 0; unless it has no bytes; when a bool is set. */
enum app_field_when { APP_FIELD_ALWAYS, APP_FIELD_KNOWN, APP_FIELD_FILLED, APP_FIELD_IF };
struct app_field {
    uint8_t type, when;
    uint16_t offset;
    uint16_t step;      /* offset from the client's member to the server's; 0: one for both
                         * directions */
    uint16_t flag;      /* with IF: offset of the bool; of both directions with `step` */
    uint16_t sender;    /* offset of an enum direction, the only sender; 0: both may send it */
    uint16_t size;      /* of the member: the length of BYTES, the space of TEXT */
    /* Leads to the struct whose member this is. NULL: the transaction, which has it once. */
    const struct app_path *path;
};
#define APP_FIELD_TYPE(m)                                                        \
    _Generic((m), struct slice: APP_FIELD_SLICE, bool: APP_FIELD_U8,             \
             uint8_t *: APP_FIELD_BYTES, char *: APP_FIELD_TEXT,                 \
             uint8_t: APP_FIELD_U8, uint16_t: APP_FIELD_U16, uint32_t: APP_FIELD_U32)
#define APP_FIELD_AT(s, m)                                                       \
    .type = APP_FIELD_TYPE(((struct s *)0)->m), .offset = offsetof(struct s, m), \
    .size = sizeof(((struct s *)0)->m)
#define APP_FLAG_AT(s, f)                                                        \
    .when = APP_FIELD_IF, .flag = _Generic(((struct s *)0)->f, bool: offsetof(struct s, f))
#define APP_SENDER_AT(s, f)                                                      \
    .sender = _Generic(((struct s *)0)->f, enum direction: offsetof(struct s, f))
/* `struct s` begins with its struct app_tx; `w` is ALWAYS, KNOWN or FILLED. */
#define APP_FIELD(s, m, w) { APP_FIELD_AT(s, m), .when = APP_FIELD_##w }
/* Present only if the bool `f` is set. */
#define APP_FIELD_WITH(s, m, f) { APP_FIELD_AT(s, m), APP_FLAG_AT(s, f) }
/* Present only in a transaction that the direction in `f` has sent. */
#define APP_FIELD_FROM(s, m, w, f)                                               \
    { APP_FIELD_AT(s, m), .when = APP_FIELD_##w, APP_SENDER_AT(s, f) }
/* `m` of the array `a[2]`, which has an entry for each direction. */
#define APP_FIELD_BY_DIRECTION(s, a, m, w)                                       \
    { APP_FIELD_AT(s, a[0].m), .when = APP_FIELD_##w, .step = sizeof(((struct s *)0)->a[0]) }
#define APP_FIELD_BY_DIRECTION_WITH(s, a, m, f)                                  \
    { APP_FIELD_AT(s, a[0].m), APP_FLAG_AT(s, a[0].f), .step = sizeof(((struct s *)0)->a[0]) }
/* `m` of the `struct s` that the path `p` leads to. */
#define APP_FIELD_PART(p, s, m, w) { APP_FIELD_AT(s, m), .when = APP_FIELD_##w, .path = (p) }
#define APP_FIELD_PART_WITH(p, s, m, f) { APP_FIELD_AT(s, m), APP_FLAG_AT(s, f), .path = (p) }
#define APP_FIELD_PART_BY_DIRECTION(p, s, a, m, w)                               \
    { APP_FIELD_AT(s, a[0].m), .when = APP_FIELD_##w,                            \
      .step = sizeof(((struct s *)0)->a[0]), .path = (p) }
/* The path leads to the value itself, which has the type `t`. */
#define APP_FIELD_VALUE(p, t, w)                                                 \
    { .type = APP_FIELD_TYPE((t){ 0 }), .size = sizeof(t), .when = APP_FIELD_##w, .path = (p) }

/* The way from a transaction to the struct whose members keywords show: through a pointer, along a
 * list, or both, in this order. All keywords on one kind of struct share a path. */
struct app_path {
    uint16_t pointer;   /* offset of a pointer in the transaction; 0: start at the transaction */
    uint16_t step;      /* from the client's pointer to the server's; 0: one for both */
    uint16_t sender;    /* as in struct app_field, in the transaction */
    bool is_list;
    uint16_t first;     /* with is_list: offset of the pointer to the first element */
    uint16_t next;      /* in an element: offset of the pointer to the next one */
    /* Instead: finds struct number `index`, from 0; NULL when there is none. */
    const void *(*find)(struct app_tx *tx, enum direction direction, unsigned index);
};
/* These fill a struct app_path: the pointer `m`; `m` of requests and `n` of responses; the elements
 * `struct t` of the list that `m` of `struct s` begins. */
#define APP_PATH_POINTER(s, m) .pointer = offsetof(struct s, m)
#define APP_PATH_POINTERS(s, m, n)                                               \
    APP_PATH_POINTER(s, m), .step = offsetof(struct s, n) - offsetof(struct s, m)
#define APP_PATH_LIST(s, m, t)                                                   \
    .is_list = true, .next = offsetof(struct t, next),                           \
    .first = _Generic(((struct s *)0)->m, struct t *: offsetof(struct s, m),     \
                      const struct t *: offsetof(struct s, m))

/* What a `find` function looks up. Keywords that differ in one name or number share a function. */
struct app_key {
    const char *name[2];        /* for requests, for responses */
    unsigned number;
};
#define APP_KEY(n) { .name = { (n), (n) } }

/* A sticky buffer. `get` may compute the content and keep it in tx->arena. */
struct app_buffer {
    const char *name;           /* "http.uri" */
    const char *alias;          /* older sticky name: "dns_query"; NULL */
    const char *legacy;         /* content modifier: "http_uri"; NULL */
    const char *same_as;        /* rules that name it use this buffer, in `directions`, whatever
                                 * they set before; NULL: itself */
    const char *doc;
    uint8_t directions;
    uint8_t progress[2];        /* least progress of each direction at which it can be present */
    bool multi;                 /* several instances, each inspected separately */
    /* An instance never changes, and later ones come after it: of many, only what is new is
     * inspected. */
    bool lasts;
    bool grows;                 /* a body or file: inspected again as it grows, see core/file.h */
    /* Bytes are only ever added at its end, while its step lasts: with the same length it is not
     * searched again. One buffer of a protocol at most. */
    bool appended;
    bool lower_case;            /* normalised: patterns must be lower case (http.host) */
    uint8_t never_absent;       /* directions in which `absent` does not match */
    bool one_way;               /* a rule must name the direction */
    bool any_case;              /* hex digits: patterns match in either case */
    struct app_field field;     /* the member that it shows; otherwise: */
    /* Instance `index` from 0; false when there is none (yet). */
    bool (*get)(struct app_tx *tx, enum direction direction, unsigned index, struct slice *out);
    /* The same for buffers that share a function: it receives the address of `key`. */
    bool (*find)(struct app_tx *tx, enum direction direction, const struct app_key *key,
                 unsigned index, struct slice *out);
    struct app_key key;
    /* For `grows`: how many bytes of the body before out->data[0] have been freed. */
    uint64_t (*position)(struct app_tx *tx, enum direction direction, unsigned index);
    /* For `grows`, for outputs that read the body as it arrives: returns all that is stored,
     * inspected or not. */
    bool (*retained)(struct app_tx *tx, enum direction direction, struct slice *out,
                 uint64_t *position);
    /* True if its numbers are little-endian, for byte_test and others with `dce`; NULL: no. */
    bool (*little)(const struct app_tx *tx);
    /* The step of a transaction at which the buffer may have new content, as headers do with
     * trailers. If again() returns true, it is searched once more then. NULL: never. */
    bool (*again)(const struct app_tx *tx, enum direction direction);
    uint8_t again_at[2];
    /* True, behind the buffer's step, once again() will not become true. NULL: not known. */
    bool (*never_again)(const struct app_tx *tx, enum direction direction);
    /* Checks a content pattern at load time (such as a host in upper case); NULL: all are
     * accepted. */
    bool (*check)(struct slice pattern, bool nocase, struct err *err);
    bool few_values;            /* few different values: its patterns exclude few packets */
    bool percent_decoded;       /* `%41` in a pattern does not match */
    bool flushes;               /* the payload part of a rule on it looks back in the stream */
    bool firewall;              /* for reports: Suricata supports it in firewall rules */
    uint8_t pattern_rank;       /* for reports: Suricata's rank for the fast pattern; 0: 2, its
                                 * default */
    uint32_t feature;           /* a rule that uses it turns these on, see app_feature() */
    uint32_t files;             /* enum app_file_feature, turned on in the same way */
    /* For `grows`: it has reached the limit of the configuration. NULL: it has none. */
    bool (*is_cut)(struct app_tx *tx, enum direction direction, unsigned index);
    const struct app_text_facts *facts; /* app/text_facts.h; NULL: nothing is known */
};

/* An integer keyword: the framework parses N, <N, >N, N-M, !N, &mask, names. */
struct app_integer {
    const char *name, *alias, *doc;
    uint8_t bits;               /* 8, 16, 32, 64 */
    uint8_t directions;
    uint8_t progress[2];
    bool multi;                 /* several values: any, all, nth */
    bool any_of_many;           /* several values, any will do; no index in the rule */
    bool lasts;                 /* a value never changes, and later ones come after it */
    bool inclusive;             /* ranges contain their ends */
    bool plain;                 /* one number or name, in quotes or not; no comparison */
    bool lenient;               /* ... and text after the number is ignored */
    const struct app_name *names;       /* {NULL} ended; NULL: numbers only */
    const struct app_name *bit_names;   /* "fin,!comp": bits that are set and bits that are clear */
    struct app_field field;     /* the number; otherwise: */
    bool (*get)(struct app_tx *tx, enum direction direction, unsigned index, uint64_t *out);
    bool (*find)(struct app_tx *tx, enum direction direction, const struct app_key *key,
                 unsigned index, uint64_t *out);
    struct app_key key;
    bool firewall;              /* for reports: Suricata supports it in firewall rules */
    uint32_t feature;
};

bool app_field_slice(const struct app_field *field, struct app_tx *tx, enum direction direction,
                     unsigned index, struct slice *out);
bool app_field_number(const struct app_field *field, struct app_tx *tx, enum direction direction,
                      unsigned index, uint64_t *out);

/* What rules inspect: instance `index` from 0; false when there is none (yet). */
static inline bool app_buffer_get(const struct app_buffer *b, struct app_tx *tx,
                                  enum direction direction, unsigned index, struct slice *out)
{
    if (b->find != NULL)
        return b->find(tx, direction, &b->key, index, out);
    if (b->get != NULL)
        return b->get(tx, direction, index, out);
    return app_field_slice(&b->field, tx, direction, index, out);
}
static inline bool app_integer_get(const struct app_integer *n, struct app_tx *tx,
                                   enum direction direction, unsigned index, uint64_t *out)
{
    if (n->find != NULL)
        return n->find(tx, direction, &n->key, index, out);
    if (n->get != NULL)
        return n->get(tx, direction, index, out);
    return app_field_number(&n->field, tx, direction, index, out);
}

/* A kind of transactions whose hooks rules name KIND:STATE ("stream:request_headers"). */
struct app_tx_kind { const char *name; const struct app_name *progress_names[2]; };

/* What app_match.parse returns for a value with which the keyword tests nothing. */
#define APP_MATCH_NO_TEST 1

/* Any other keyword on a transaction. */
struct app_match {
    const char *name, *alias, *doc;
    const char *syntax;         /* as in struct keyword_ops */
    uint8_t directions;
    uint8_t progress[2];
    bool no_argument;
    bool quotes;                /* the value may be quoted; the quotes are removed, a `!` is kept */
    bool quotes_required;
    size_t arg_size;
    /* Fills arg (zeroed); takes memory from arena, which lives as long as the rules. 0, -1 or
     * APP_MATCH_NO_TEST. */
    int (*parse)(struct text in, void *arg, struct arena *arena, struct err *err);
    bool (*match)(struct app_tx *tx, enum direction direction, const void *arg);
    bool firewall;              /* for reports: Suricata supports it in firewall rules */
    uint32_t feature;
    /* For --explain: writes what match() looked at; false: there is nothing. NULL: not known. */
    bool (*tell)(struct app_tx *tx, enum direction direction, struct buf *out);
};

/* Events that belong to no transaction (applayer_mismatch_protocol_both_directions and others).
 * They are set on the flow for this packet and cleared by app_cleanup(): EVE anomaly, in capitals,
 * and app-layer-event:applayer_X. Ids begin at 1; unused ids have NULL. */
#define APP_LAYER_EVENT_MAX 15
const char *app_layer_event_name(unsigned event);
bool app_flow_has_events(const struct app_flow *af);
bool app_flow_has_event(const struct app_flow *af, unsigned event);

#endif
