/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/modbus/log.c - EVE modbus, as in Suricata. */
#include "app/proto/modbus/modbus.h"

#include "base/array.h"

#include <string.h>

/* A row: a set of bits and its name. */
struct flag_name { unsigned bits; const char *name; };

/* "READ | COILS": the names of all sets of bits that are set completely. */
static void log_flags(struct json *j, const char *key, unsigned flags,
                      const struct flag_name *names, size_t count)
{
    char text[128];
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(names[i].name);

        if ((flags & names[i].bits) != names[i].bits || n + len + 3 > sizeof(text))
            continue;
        if (n > 0) {
            memcpy(text + n, " | ", 3);
            n += 3;
        }
        memcpy(text + n, names[i].name, len);
        n += len;
    }
    if (n > 0)
        json_bytes(j, key, text, n);
    else
        json_string(j, key, "NONE");
}

/* The sets overlap: a write of a single coil is WRITE, COILS, SINGLE and WRITE_SINGLE. The names
 * are those of Suricata's records. */
static void log_all_flags(struct json *j, const struct modbus_message *m)
{
    static const struct flag_name accesses[] = {
        { ACCESS_READ, "READ" }, { ACCESS_WRITE, "WRITE" }, { ACCESS_DISCRETES, "DISCRETES" },
        { ACCESS_COILS, "COILS" }, { ACCESS_INPUT, "INPUT" }, { ACCESS_HOLDING, "HOLDING" },
        { ACCESS_SINGLE, "SINGLE" }, { ACCESS_MULTIPLE, "MULTIPLE" },
        { ACCESS_WRITE | ACCESS_SINGLE, "WRITE_SINGLE" },
        { ACCESS_WRITE | ACCESS_MULTIPLE, "WRITE_MULTIPLE" },
    };
    static const struct flag_name categories[] = {
        { CATEGORY_ASSIGNED, "PUBLIC_ASSIGNED" }, { CATEGORY_UNASSIGNED, "PUBLIC_UNASSIGNED" },
        { CATEGORY_USER, "USER_DEFINED" }, { CATEGORY_RESERVED, "RESERVED" },
    };
    static const struct flag_name errors[] = {
        { ERROR_VALUE, "DATA_VALUE" }, { ERROR_LENGTH, "DATA_LENGTH" },
        { ERROR_EXCEPTION, "EXC_CODE" }, { ERROR_FUNCTION, "FUNC_CODE" },
        { ERROR_PROTOCOL, "PROTO_ID" },
    };

    log_flags(j, "access_type", m->access, accesses, ARRAY_LEN(accesses));
    log_flags(j, "category", m->category, categories, ARRAY_LEN(categories));
    log_flags(j, "error_flags", m->errors, errors, ARRAY_LEN(errors));
}

/* `otherwise`: the name of an unknown code. */
static void log_coded(struct json *j, const char *key, const struct modbus_message *m,
                      const char *name, const char *otherwise)
{
    json_object(j, key);
    json_u64(j, "raw", m->code);
    json_string(j, "code", name != NULL ? name : otherwise);
    if (m->kind != MODBUS_EXCEPTION_DATA)
        json_slice(j, "data", m->data);
    json_object_end(j);
}

/* A response has data; a request has an address and a number of values. */
static void log_read(struct json *j, const struct modbus_message *m)
{
    json_object(j, "read");
    if (m->kind == MODBUS_READ_RESPONSE) {
        json_slice(j, "data", m->data);
    } else {
        json_u64(j, "address", m->read_address);
        json_u64(j, "quantity", m->read_quantity);
    }
    json_object_end(j);
}

/* The value of a single write is in `quantity`. Data of a multiple write are raw bytes. */
static void log_write(struct json *j, const struct modbus_message *m)
{
    json_object(j, "write");
    json_u64(j, "address", m->address);
    switch (m->kind) {
    case MODBUS_WRITE_ONE:
        json_u64(j, "data", m->quantity);
        break;
    case MODBUS_WRITE_MASK:
        json_u64(j, "and_mask", m->and_mask);
        json_u64(j, "or_mask", m->or_mask);
        break;
    default:
        json_u64(j, "quantity", m->quantity);
        json_slice(j, "data", m->data);
        break;
    }
    json_object_end(j);
}

/* Which object shows the data follows from their kind; a message without data has none. */
static void log_data(struct json *j, const struct modbus_message *m)
{
    switch (m->kind) {
    case MODBUS_EMPTY:
        return;
    case MODBUS_BYTES:
        json_slice(j, "data", m->data);
        return;
    case MODBUS_EXCEPTION_DATA:
        log_coded(j, "exception", m, modbus_exception_name(m->code), "Unknown");
        return;
    case MODBUS_DIAGNOSTIC_DATA:
        log_coded(j, "diagnostic", m, modbus_diagnostic_name(m->code), "Reserved");
        return;
    case MODBUS_MEI_DATA:
        log_coded(j, "mei", m, modbus_mei_name(m->code), "Unknown");
        return;
    case MODBUS_READ_REQUEST:
    case MODBUS_READ_RESPONSE:
        log_read(j, m);
        return;
    case MODBUS_READ_AND_WRITE:     /* function 23 has both parts */
        log_read(j, m);
        log_write(j, m);
        return;
    default:
        log_write(j, m);
        return;
    }
}

/* NULL: this side of the transaction is missing. */
static void log_message(struct json *j, const char *key, const struct modbus_message *m)
{
    if (m == NULL)
        return;
    json_object(j, key);
    json_u64(j, "transaction_id", m->transaction);
    json_u64(j, "protocol_id", m->protocol);
    json_u64(j, "unit_id", m->unit);
    json_u64(j, "function_raw", m->raw);
    json_string(j, "function_code", modbus_function_name(m->function));
    log_all_flags(j, m);
    log_data(j, m);
    json_object_end(j);
}

/* Transactions have numbers from 1 in records. */
static bool modbus_log_tx(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                          const void *conf UNUSED)
{
    const struct modbus_tx *t = modbus_tx_of(tx);

    json_u64(j, "id", tx->id + 1);
    log_message(j, "request", t->message[TO_SERVER]);
    log_message(j, "response", t->message[TO_CLIENT]);
    return true;
}

/* The same fields within an alert. */
void modbus_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "modbus");
    modbus_log_tx(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

const struct app_log modbus_log = {
    .conf_name = "modbus", .event_type = "modbus", .key = "modbus", .progress = { 1, 1 },
    .log = modbus_log_tx,
};
