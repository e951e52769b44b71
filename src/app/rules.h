/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/rules.h - what a protocol declares for rules: sticky buffers, numbers and other keywords.
 *
 * Each becomes a keyword by itself; the framework parses it, and detect/ calls the getter when the
 * transaction has come as far as `progress` says. */
#ifndef APP_RULES_H
#define APP_RULES_H

#include "app/tx.h"
#include "base/err.h"
#include "base/text/text.h"

#include <stddef.h>

struct app_name { const char *name; int64_t value; };

/* A protocol's events are one list, X_EVENT_LIST(E), of E(id, "name as rules have it"). Their enum
 * and the table of their names both come of it, so no event is without a name. Ids count from 1. */
#define APP_EVENT_ID(id, name) id,
#define APP_EVENT_ROW(id, name) { name, id },

/* A member of the transaction that a keyword shows as it is. Most keywords need no more than that:
 * they say where it lies with one of the macros below, and have no function. */
enum app_field_type { APP_FIELD_NONE, APP_FIELD_SLICE, APP_FIELD_U8, APP_FIELD_U16, APP_FIELD_U32 };
/* When it is there: always; unless it is NULL or 0; unless it has no bytes; when a bool says so. */
enum app_field_when { APP_FIELD_ALWAYS, APP_FIELD_KNOWN, APP_FIELD_FILLED, APP_FIELD_IF };
struct app_field {
    uint8_t type, when;
    uint16_t offset;
    uint16_t step;      /* from the client's to the server's; 0: one for both directions */
    uint16_t flag;      /* with IF: where the bool lies */
    uint16_t sender;    /* of an enum direction, from which alone it comes; 0: from both */
};
#define APP_FIELD_TYPE(m)                                                        \
    _Generic((m), struct slice: APP_FIELD_SLICE, bool: APP_FIELD_U8,             \
             uint8_t: APP_FIELD_U8, uint16_t: APP_FIELD_U16, uint32_t: APP_FIELD_U32)
#define APP_FIELD_AT(s, m)                                                       \
    .type = APP_FIELD_TYPE(((struct s *)0)->m), .offset = offsetof(struct s, m)
/* `struct s` begins with its struct app_tx; `w` is ALWAYS, KNOWN or FILLED. */
#define APP_FIELD(s, m, w) { APP_FIELD_AT(s, m), .when = APP_FIELD_##w }
/* Only if the bool `f` is set. */
#define APP_FIELD_WITH(s, m, f)                                                  \
    { APP_FIELD_AT(s, m), .when = APP_FIELD_IF,                                  \
      .flag = _Generic(((struct s *)0)->f, bool: offsetof(struct s, f)) }
/* Only of a transaction that the direction in `f` has sent. */
#define APP_FIELD_FROM(s, m, w, f)                                               \
    { APP_FIELD_AT(s, m), .when = APP_FIELD_##w,                                 \
      .sender = _Generic(((struct s *)0)->f, enum direction: offsetof(struct s, f)) }
/* `m` of the array `a[2]`, which has an entry for each direction. */
#define APP_FIELD_BY_DIRECTION(s, a, m, w)                                       \
    { APP_FIELD_AT(s, a[0].m), .when = APP_FIELD_##w, .step = sizeof(((struct s *)0)->a[0]) }

/* A sticky buffer. `get` may compute and keep the result in tx->arena. */
struct app_buffer {
    const char *name;           /* "http.uri" */
    const char *alias;          /* older sticky name: "dns_query"; NULL */
    const char *legacy;         /* content modifier: "http_uri"; NULL */
    const char *same_as;        /* rules that name it mean this buffer, in `directions`, whatever
                                 * they said before; NULL: itself */
    const char *doc;
    uint8_t directions;
    uint8_t progress[2];        /* least progress of each direction at which it can be there */
    bool multi;                 /* several instances, each inspected for itself */
    /* a body or file: inspected again as it grows, see app/core/file.h */
    bool grows;
    bool lower_case;            /* normalised: patterns must be lower case (http.host) */
    uint8_t never_absent;       /* directions in which `absent` does not match */
    bool one_way;               /* a rule must say of which direction */
    bool any_case;              /* hex digits: patterns match however they are written */
    struct app_field field;     /* what it shows; without it: */
    /* Instance `index` from 0; false when there is none (yet). */
    bool (*get)(struct app_tx *tx, enum direction direction, unsigned index, struct slice *out);
    /* For `grows`: bytes of the body before out->data[0] that have been let go. */
    uint64_t (*position)(struct app_tx *tx, enum direction direction, unsigned index);
    /* For `grows`, where outputs may want it as it comes: all that is kept, inspected or not. */
    bool (*retained)(struct app_tx *tx, enum direction direction, struct slice *out,
                 uint64_t *position);
    /* Numbers in it are little-endian, for byte_test and its like with `dce`; NULL: no. */
    bool (*little)(const struct app_tx *tx);
    /* It may have come anew when a transaction reaches this step, as headers do with trailers, and
     * is searched once more if again() says so. NULL: never. */
    bool (*again)(const struct app_tx *tx, enum direction direction);
    uint8_t again_at[2];
    /* Checks a content pattern at load time (host in upper case ...); NULL: anything goes. */
    bool (*check)(struct slice pattern, bool nocase, struct err *err);
    bool few_values;            /* of a small vocabulary: patterns in it filter little */
    bool percent_decoded;       /* `%41` in a pattern does not match */
    bool flushes;               /* for reports: Suricata inspects it with the packet that ends it */
    uint8_t pattern_rank;       /* for reports: Suricata's for the fast pattern; 0: its usual 2 */
    uint32_t feature;           /* a rule that uses it turns these on, see app_feature() */
    uint32_t files;             /* enum app_file_feature: likewise */
};

/* An integer keyword: the framework parses N, <N, >N, N-M, !N, &mask, names. */
struct app_integer {
    const char *name, *alias, *doc;
    uint8_t bits;               /* 8, 16, 32, 64 */
    uint8_t directions;
    uint8_t progress[2];
    bool multi;                 /* several values: any, all, nth */
    bool any_of_many;           /* several values, any will do; no index in the rule */
    bool inclusive;             /* ranges contain their ends */
    bool plain;                 /* one number or name, in quotes or not; no comparison */
    bool lenient;               /* ... and what stands behind the number says nothing */
    const struct app_name *names;       /* {NULL} ended; NULL: numbers only */
    const struct app_name *bit_names;   /* "fin,!comp": bits that are set and not set */
    struct app_field field;     /* the number; without it: */
    bool (*get)(struct app_tx *tx, enum direction direction, unsigned index, uint64_t *out);
    uint32_t feature;
};

bool app_field_slice(const struct app_field *field, const struct app_tx *tx,
                     enum direction direction, struct slice *out);
bool app_field_number(const struct app_field *field, const struct app_tx *tx,
                      enum direction direction, uint64_t *out);

/* What rules see: instance `index` from 0; false when there is none (yet). */
static inline bool app_buffer_get(const struct app_buffer *b, struct app_tx *tx,
                                  enum direction direction, unsigned index, struct slice *out)
{
    if (b->get != NULL)
        return b->get(tx, direction, index, out);
    return index == 0 && app_field_slice(&b->field, tx, direction, out);
}
static inline bool app_integer_get(const struct app_integer *n, struct app_tx *tx,
                                   enum direction direction, unsigned index, uint64_t *out)
{
    if (n->get != NULL)
        return n->get(tx, direction, index, out);
    return index == 0 && app_field_number(&n->field, tx, direction, out);
}

/* Any other keyword about a transaction. */
struct app_match {
    const char *name, *alias, *doc;
    uint8_t directions;
    uint8_t progress[2];
    bool no_argument;
    bool quotes;                /* may stand in quotes, which are taken off; a `!` stays */
    bool quotes_required;
    size_t arg_size;
    /* Fills arg (zeroed); memory from arena, which lives as long as the rules. */
    int (*parse)(struct text in, void *arg, struct arena *arena, struct err *err);
    bool (*match)(struct app_tx *tx, enum direction direction, const void *arg);
    uint32_t feature;
};

/* Events not about one transaction (applayer_mismatch_protocol_both_directions ...), set on the
 * flow for this packet: EVE anomaly, in capitals, and app-layer-event:applayer_X. Gone at
 * app_cleanup(). Ids begin at 1, not all of them are in use (NULL). */
#define APP_LAYER_EVENT_MAX 15
const char *app_layer_event_name(unsigned event);
bool app_flow_has_event(const struct app_flow *af, unsigned event);

#endif
