/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/enip/enip.h - EtherNet/IP: messages, their items, and CIP in them.
 *
 * A transaction is a request with its answer, or one of them alone. The bytes of each lie in its
 * arena; all slices are of these. */
#ifndef APP_ENIP_ENIP_H
#define APP_ENIP_ENIP_H

#include "app/log.h"
#include "app/rules.h"

#define ENIP_HEADER_LEN 24

#define ENIP_EVENT_LIST(E)                                 \
    E(ENIP_TOO_MANY_TRANSACTIONS, "too_many_transactions") \
    E(ENIP_INVALID_PDU, "invalid_pdu")

enum enip_event { ENIP_EVENT_NONE, ENIP_EVENT_LIST(APP_EVENT_ID) };

#define ENIP_COMMAND_LIST(E)                               \
    E(ENIP_NOP, 0, "nop")                                  \
    E(ENIP_LIST_SERVICES, 4, "list_services")              \
    E(ENIP_LIST_IDENTITY, 0x63, "list_identity")           \
    E(ENIP_LIST_INTERFACES, 0x64, "list_interfaces")       \
    E(ENIP_REGISTER_SESSION, 0x65, "register_session")     \
    E(ENIP_UNREGISTER_SESSION, 0x66, "unregister_session") \
    E(ENIP_SEND_RR_DATA, 0x6f, "send_r_r_data")            \
    E(ENIP_SEND_UNIT_DATA, 0x70, "send_unit_data")         \
    E(ENIP_INDICATE_STATUS, 0x72, "indicate_status")       \
    E(ENIP_CANCEL, 0x73, "cancel")
enum enip_command { ENIP_COMMAND_LIST(APP_NUMBER_ID) };
extern const struct app_name enip_commands[], enip_statuses[];      /* NULL-ended */

struct enip_header {
    uint16_t command, len;
    uint32_t session, status, options;
};

/* --- CIP: views of bytes ------------------------------------------------------------------ */

enum { CIP_GET_ATTRIBUTES = 3, CIP_SET_ATTRIBUTES = 4, CIP_MULTIPLE = 10 };
enum { CIP_SEGMENT_CLASS = 8, CIP_SEGMENT_INSTANCE = 9, CIP_SEGMENT_ATTRIBUTE = 12 };

struct cip {
    uint8_t service;                    /* without the bit of answers */
    bool is_response, is_multiple;
    uint8_t status;                     /* answers */
    struct slice extended;
    struct slice path;                  /* requests; well-formed */
    struct slice attributes;            /* that are requested or set: two bytes each */
    struct slice multiple;              /* count, offsets, messages */
    uint16_t multiple_count;
    uint32_t multiple_at;               /* where that begins in the message */
    uint32_t size;                      /* bytes that were parsed */
};

struct cip_segment {
    uint8_t type;                       /* all eight bits; the upper six are CIP_SEGMENT_ ... */
    uint32_t value;
};

/* Also checks all nested parts. False: malformed. */
bool cip_read(struct slice in, struct cip *out);
bool cip_take_segment(struct bytes *path, struct cip_segment *out);
/* The nth message within; `at`: where it begins in the outer one. */
bool cip_nested(const struct cip *outer, unsigned n, struct cip *out, uint32_t *at);

/* --- messages ----------------------------------------------------------------------------- */

enum enip_payload {
    ENIP_UNPARSED, ENIP_CIP, ENIP_IDENTITIES, ENIP_SERVICES, ENIP_INTERFACES, ENIP_REGISTER,
};

struct enip_identity {
    uint16_t version, vendor, device, product, status;
    uint16_t revision;                  /* major * 256 + minor */
    uint8_t state;
    uint32_t serial;
    struct slice name;
};

struct enip_services {
    uint16_t version, capabilities;
    struct slice name;
};

/* Numbers that rules compare in all of a CIP message, collected when a rule needs them. */
enum enip_numbers_of {
    ENIP_OF_CLASS, ENIP_OF_INSTANCE, ENIP_OF_ATTRIBUTE, ENIP_OF_STATUS, ENIP_OF_EXTENDED,
    ENIP_NUMBERS,
};
struct enip_numbers {
    bool collected;
    uint32_t count;
    uint32_t *value;
};

struct enip_pdu {
    struct enip_header header;
    enum enip_payload payload;
    bool invalid;
    bool has_identity, has_services;    /* it lists these, and the first item is one */
    bool has_message;                   /* a CIP message in one of the items */
    bool second_connected;              /* the second item is connected data */
    uint16_t sequence;                  /* of that */
    uint16_t version, options;          /* of a session */
    uint32_t items_at;                  /* where items begin; 0: has none */
    uint16_t item_count;
    struct enip_identity identity;
    struct enip_services services;
    struct slice message;
    struct slice bytes;                 /* all bytes, header included */
    struct enip_numbers numbers[ENIP_NUMBERS];
};

/* False: too short. */
bool enip_read_header(struct bytes in, struct enip_header *out);
/* bytes: one complete message. */
void enip_read_pdu(struct slice bytes, const struct enip_header *header, struct enip_pdu *out);

struct enip_item {
    uint16_t type;
    uint32_t at, len;                   /* of the item, without its header of 4 bytes */
    struct slice message;               /* CIP in it; len 0: none */
    uint32_t message_at;
};
/* Takes the items of a valid message, one after the other. */
bool enip_take_item(const struct enip_pdu *pdu, struct bytes *in, struct enip_item *out);

struct enip_tx {
    struct app_tx tx;
    struct enip_pdu *request, *response;  /* NULL: not there */
};
static inline struct enip_tx *enip_tx_of(const struct app_tx *tx)
{
    return (struct enip_tx *)(uintptr_t)tx;
}

struct enip_state {
    bool lost[2];                       /* after a gap, searching for a message */
};

const char *enip_vendor_name(uint16_t number);          /* all: NULL: unknown */
const char *enip_device_name(uint16_t number);
const char *cip_service_name(uint8_t number);
const char *cip_status_name(uint8_t number);
const char *cip_extended_name(uint16_t number);
const char *cip_class_name(uint32_t number);

extern const struct app_buffer *const enip_buffers[];
extern const struct app_integer *const enip_integers[];
extern const struct app_match *const enip_matches[];
extern const struct app_log *const enip_logs[];
void enip_alert_metadata(struct json *j, struct app_tx *tx);

#endif
