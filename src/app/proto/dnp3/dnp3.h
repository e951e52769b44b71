/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dnp3/dnp3.h - DNP3: messages, their objects and the points of objects.
 *
 * A transaction is one application message, request or response. All its bytes are in the
 * transaction's arena; objects and values point there. */
#ifndef APP_DNP3_DNP3_H
#define APP_DNP3_DNP3_H

#include "app/log.h"
#include "app/rules.h"

#define DNP3_EVENT_LIST(E)                             \
    E(DNP3_FLOODED, "flooded")                         \
    E(DNP3_LEN_TOO_SMALL, "len_too_small")             \
    E(DNP3_BAD_LINK_CRC, "bad_link_crc")               \
    E(DNP3_BAD_TRANSPORT_CRC, "bad_transport_crc")     \
    E(DNP3_MALFORMED, "malformed")                     \
    E(DNP3_UNKNOWN_OBJECT, "unknown_object")           \
    E(DNP3_TOO_MANY_POINTS, "too_many_points")         \
    E(DNP3_TOO_MANY_OBJECTS, "too_many_objects")       \
    E(DNP3_TOO_LONG_REASSEMBLY, "too_long_reassembly")

enum dnp3_event { DNP3_EVENT_NONE, DNP3_EVENT_LIST(APP_EVENT_ID) };

enum { DNP3_CONFIRM = 0, DNP3_UNSOLICITED = 130 };      /* function codes */

struct dnp3_link {
    uint8_t length, control;
    uint16_t destination, source, crc;
};

struct dnp3_layout;

struct dnp3_object {
    struct dnp3_object *next;
    uint8_t group, variation, qualifier, prefix_code, range_code;
    uint32_t start, stop, count;
    uint32_t point_count;               /* complete ones */
    const struct dnp3_layout *layout;   /* NULL: has no points */
    struct slice points;
};

struct dnp3_tx {
    struct app_tx tx;
    bool is_message;                    /* false: created for an event of the link layer */
    bool is_request;
    bool done;                          /* the last segment is there */
    bool complete;                      /* all objects could be read */
    struct dnp3_link link;
    uint8_t transport;                  /* header of the newest segment */
    uint8_t control, function;
    uint16_t indications;               /* responses */
    uint8_t *data;                      /* the message from its application header on */
    uint32_t len, capacity;
    struct dnp3_object *objects, **objects_end;
};
static inline struct dnp3_tx *dnp3_tx_of(const struct app_tx *tx)
{
    return (struct dnp3_tx *)(uintptr_t)tx;
}

struct dnp3_settings {
    uint32_t max_tx;                    /* messages of a flow at a time; more are a flood */
    uint64_t max_points, max_objects;   /* of one message */
};

struct dnp3_state {
    bool flooded;
    bool framed[2];                     /* a frame has come: no banner any more */
    bool has_message;                   /* of either side, so far */
};

/* --- objects.c ---------------------------------------------------------------------------- */

#define DNP3_VALUES_MAX 20
#define DNP3_NAME_MAX   32

enum dnp3_kind { DNP3_NUMBER, DNP3_REAL, DNP3_TEXT, DNP3_BYTES, DNP3_VENDOR };
struct dnp3_value {
    const char *name;
    enum dnp3_kind kind;
    uint64_t number;                    /* signed ones in two's complement */
    double real;
    struct slice bytes;
};

struct dnp3_point {
    uint32_t prefix, index;
    uint32_t size;                      /* where the prefix is one */
    unsigned count;
    struct dnp3_value value[DNP3_VALUES_MAX];
};

/* The points of an object, one after the other. */
struct dnp3_points {
    const struct dnp3_layout *layout;
    struct bytes in;
    uint32_t left, index, prefix;
    uint32_t octets;                    /* bytes of packed points not read yet */
    uint8_t prefix_code, octet, used;
};
struct dnp3_points dnp3_points_of(const struct dnp3_object *object);
/* False at the end, and at an incomplete point: then in.failed. */
bool dnp3_next_point(struct dnp3_points *points, struct dnp3_point *out);

/* Reads the objects of a complete message. */
void dnp3_read_objects(struct dnp3_tx *t, const struct dnp3_settings *settings);
bool dnp3_prefix_is_size(uint8_t prefix_code);

/* --- keywords.c, log.c -------------------------------------------------------------------- */

extern const struct app_name dnp3_indications[];        /* NULL-ended, highest bit first */
extern const struct app_buffer *const dnp3_buffers[];
extern const struct app_match *const dnp3_matches[];
extern const struct app_log *const dnp3_logs[];
void dnp3_alert_metadata(struct json *j, struct app_tx *tx);

#endif
