/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/modbus/modbus.h - Modbus/TCP: MODBUS Application Protocol 1.1b3 over the Modbus
 * Messaging Guide's header. For this directory. A transaction is a request and its response. */
#ifndef APP_MODBUS_MODBUS_H
#define APP_MODBUS_MODBUS_H

#include "app/log.h"
#include "app/rules.h"

#define MODBUS_HEADER_LEN 6         /* up to the length, which counts unit and function too */
#define MODBUS_LENGTH_MIN 2
#define MODBUS_LENGTH_MAX 254
#define MODBUS_EXCEPTION 0x80       /* in the function of a response */

#define MODBUS_EVENT_LIST(E)                                   \
    E(MODBUS_UNSOLICITED_RESPONSE, "unsolicited_response")     \
    E(MODBUS_INVALID_FUNCTION_CODE, "invalid_function_code")   \
    E(MODBUS_INVALID_LENGTH, "invalid_length")                 \
    E(MODBUS_INVALID_VALUE, "invalid_value")                   \
    E(MODBUS_INVALID_EXCEPTION_CODE, "invalid_exception_code") \
    E(MODBUS_VALUE_MISMATCH, "value_mismatch")                 \
    E(MODBUS_FLOODED, "flooded")                               \
    E(MODBUS_INVALID_PROTOCOL_ID, "invalid_protocol_id")

enum modbus_event { MODBUS_EVENT_NONE, MODBUS_EVENT_LIST(APP_EVENT_ID) };

enum modbus_function {
    MODBUS_READ_COILS = 1, MODBUS_READ_DISCRETES = 2, MODBUS_READ_HOLDING = 3,
    MODBUS_READ_INPUT = 4, MODBUS_WRITE_COIL = 5, MODBUS_WRITE_REGISTER = 6,
    MODBUS_READ_EXCEPTION_STATUS = 7, MODBUS_DIAGNOSTIC = 8, MODBUS_EVENT_COUNTER = 11,
    MODBUS_EVENT_LOG = 12, MODBUS_WRITE_COILS = 15, MODBUS_WRITE_REGISTERS = 16,
    MODBUS_REPORT_SERVER_ID = 17, MODBUS_READ_FILE = 20, MODBUS_WRITE_FILE = 21,
    MODBUS_MASK_WRITE = 22, MODBUS_READ_WRITE = 23, MODBUS_READ_FIFO = 24, MODBUS_MEI = 43,
    MODBUS_UNKNOWN = 44,
};

/* The access of a function and its table. */
enum {
    ACCESS_READ = 0x01, ACCESS_WRITE = 0x02, ACCESS_DISCRETES = 0x04, ACCESS_COILS = 0x08,
    ACCESS_INPUT = 0x10, ACCESS_HOLDING = 0x20, ACCESS_SINGLE = 0x40, ACCESS_MULTIPLE = 0x80,
    ACCESS_BITS = ACCESS_DISCRETES | ACCESS_COILS,
    ACCESS_TABLES = ACCESS_BITS | ACCESS_INPUT | ACCESS_HOLDING,
};

enum {
    CATEGORY_ASSIGNED = 0x01, CATEGORY_UNASSIGNED = 0x02, CATEGORY_USER = 0x04,
    CATEGORY_RESERVED = 0x08,
};

enum {
    ERROR_VALUE = 0x01, ERROR_LENGTH = 0x02, ERROR_EXCEPTION = 0x04, ERROR_FUNCTION = 0x08,
    ERROR_PROTOCOL = 0x10,
};

enum modbus_kind {
    MODBUS_EMPTY, MODBUS_BYTES, MODBUS_EXCEPTION_DATA, MODBUS_DIAGNOSTIC_DATA, MODBUS_MEI_DATA,
    MODBUS_READ_REQUEST, MODBUS_READ_RESPONSE, MODBUS_WRITE_MULTIPLE, MODBUS_WRITE_MASK,
    MODBUS_WRITE_ONE, MODBUS_READ_AND_WRITE,
};

struct modbus_message {
    uint16_t transaction, protocol;
    uint16_t length;
    uint8_t unit, raw;              /* the function as it came */
    uint8_t function;               /* enum modbus_function, without the mark of exceptions */
    uint8_t access, category, errors;
    enum modbus_kind kind;
    uint16_t code;                  /* of an exception, a diagnostic, a MEI type */
    uint16_t read_address, read_quantity;
    uint16_t address, quantity;     /* written to; quantity is the value of MODBUS_WRITE_ONE */
    uint16_t and_mask, or_mask;
    struct slice data;
};

struct modbus_tx {
    struct app_tx tx;
    struct modbus_message *message[2];         /* NULL: not seen */
};

static inline struct modbus_tx *modbus_tx_of(const struct app_tx *tx)
{
    return (struct modbus_tx *)(uintptr_t)tx;
}

/* The sender of a message; a probe does not know it. */
enum modbus_sender { MODBUS_CLIENT, MODBUS_SERVER, MODBUS_ANYONE };

/* Parses the message after a complete header with a valid length; m->data points into `in`. */
void modbus_parse_body(struct modbus_message *m, struct bytes in, enum modbus_sender sender);
/* Belong together; what in `later` does not fit the other is an error of its value. */
bool modbus_match(struct modbus_message *later, const struct modbus_message *other);
/* Addresses, counted from 1, that a request is about: false when there are none. */
bool modbus_addresses(const struct modbus_message *m, uint32_t *first, uint32_t *last);
bool modbus_value_at(const struct modbus_message *m, uint32_t address, uint32_t *value);

/* keyword.c, log.c, names.c */
extern const struct app_match modbus_keyword;
extern const struct app_log modbus_log;
void modbus_alert_metadata(struct json *j, struct app_tx *tx);
const char *modbus_function_name(uint8_t function);
const char *modbus_diagnostic_name(uint16_t code);
const char *modbus_exception_name(uint16_t code);
const char *modbus_mei_name(uint16_t type);

#endif
