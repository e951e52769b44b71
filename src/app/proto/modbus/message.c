/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/modbus/message.c - the content of a request or response, and its errors (MODBUS
 * Application Protocol Specification V1.1b3). */
#include "app/proto/modbus/modbus.h"

#define QUANTITY_BITS_MAX 2000  /* coils or inputs in one request */
#define QUANTITY_WORDS_MAX 125  /* registers in one request */
#define READ_COUNT_MAX 250      /* bytes: 125 registers */
#define DATA_LENGTH(m) ((m)->length - MODBUS_LENGTH_MIN)

/* What a function does to which of the four tables. 0: it does not access them. */
static uint8_t access_of(uint8_t function)
{
    switch (function) {
    case MODBUS_READ_COILS: return ACCESS_COILS | ACCESS_READ;
    case MODBUS_READ_DISCRETES: return ACCESS_DISCRETES | ACCESS_READ;
    case MODBUS_READ_HOLDING: return ACCESS_HOLDING | ACCESS_READ;
    case MODBUS_READ_INPUT: return ACCESS_INPUT | ACCESS_READ;
    case MODBUS_WRITE_COIL: return ACCESS_COILS | ACCESS_WRITE | ACCESS_SINGLE;
    case MODBUS_WRITE_REGISTER: return ACCESS_HOLDING | ACCESS_WRITE | ACCESS_SINGLE;
    case MODBUS_WRITE_COILS: return ACCESS_COILS | ACCESS_WRITE | ACCESS_MULTIPLE;
    case MODBUS_WRITE_REGISTERS: return ACCESS_HOLDING | ACCESS_WRITE | ACCESS_MULTIPLE;
    case MODBUS_MASK_WRITE: return ACCESS_HOLDING | ACCESS_WRITE;
    case MODBUS_READ_WRITE: return ACCESS_HOLDING | ACCESS_READ | ACCESS_WRITE | ACCESS_MULTIPLE;
    default: return 0;
    }
}

/* An unknown number counts as one function for rules. */
static uint8_t function_of(uint8_t raw)
{
    uint8_t function = raw & (uint8_t)~MODBUS_EXCEPTION;

    return (function >= 1 && function <= MODBUS_READ_FIFO) || function == MODBUS_MEI
               ? function : MODBUS_UNKNOWN;
}

/* Categories of numbers that the protocol does not define (section 5 of the specification). */
static uint8_t category_of_raw(uint8_t raw)
{
    static const struct { uint8_t below, category; } ranges[] = {
        { 1, 0 }, { 9, CATEGORY_UNASSIGNED }, { 15, CATEGORY_RESERVED },
        { 41, CATEGORY_UNASSIGNED }, { 43, CATEGORY_RESERVED }, { 65, CATEGORY_UNASSIGNED },
        { 73, CATEGORY_USER }, { 90, CATEGORY_UNASSIGNED }, { 92, CATEGORY_RESERVED },
        { 100, CATEGORY_UNASSIGNED }, { 111, CATEGORY_USER }, { 125, CATEGORY_UNASSIGNED },
        { 128, CATEGORY_RESERVED },
    };

    for (unsigned i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (raw < ranges[i].below)
            return ranges[i].category;
    return 0;
}

/* Subfunctions decide for diagnostics and encapsulated transport. */
static uint8_t category_of(const struct modbus_message *m)
{
    switch (m->function) {
    case MODBUS_DIAGNOSTIC:
        if (m->kind != MODBUS_DIAGNOSTIC_DATA)
            return 0;
        return modbus_diagnostic_name(m->code) != NULL ? CATEGORY_ASSIGNED : CATEGORY_RESERVED;
    case MODBUS_MEI:
        if (m->kind != MODBUS_MEI_DATA)
            return 0;
        return modbus_mei_name(m->code) != NULL ? CATEGORY_ASSIGNED : CATEGORY_RESERVED;
    case MODBUS_UNKNOWN:
        return category_of_raw(m->raw);
    default:
        return CATEGORY_ASSIGNED;
    }
}

/* --- parts ---------------------------------------------------------------------------------- */

/* Data without a structure that rules could use. */
static void take_all(struct modbus_message *m, struct bytes *in)
{
    m->data = take_rest(in);
    m->kind = MODBUS_BYTES;
}

/* Exception 8 is defined for files only. */
static void take_exception(struct modbus_message *m, struct bytes *in)
{
    bool on_files = m->function == MODBUS_READ_FILE || m->function == MODBUS_WRITE_FILE;
    uint8_t code = take_u8(in);

    if (in->failed)
        return;
    m->kind = MODBUS_EXCEPTION_DATA;
    m->code = code;
    if (modbus_exception_name(code) == NULL || (code == 8 && !on_files))
        m->errors |= ERROR_EXCEPTION;
}

/* A diagnostic begins with a sub-function of two bytes (section 6.8 of the specification). */
static void take_diagnostic(struct modbus_message *m, struct bytes *in)
{
    uint16_t code;

    if (DATA_LENGTH(m) < 2) {
        m->errors |= ERROR_LENGTH;
        (void)take_rest(in);
        return;
    }
    code = take_be16(in);
    m->kind = MODBUS_DIAGNOSTIC_DATA;
    m->code = code;
    m->data = take_rest(in);
}

/* Encapsulated transport begins with a MEI type of one byte (section 6.19 of the specification). */
static void take_mei(struct modbus_message *m, struct bytes *in)
{
    if (DATA_LENGTH(m) < 1) {
        m->errors |= ERROR_LENGTH;
        return;
    }
    m->kind = MODBUS_MEI_DATA;
    m->code = take_u8(in);
    m->data = take_rest(in);
}

/* A read of 0 or too many values is an error. READ_WRITE has more data after this part. */
static void take_read_request(struct modbus_message *m, struct bytes *in)
{
    uint16_t address = take_be16(in), quantity = take_be16(in);
    uint16_t most = m->access & ACCESS_BITS ? QUANTITY_BITS_MAX : QUANTITY_WORDS_MAX;

    if (in->failed)
        return;
    if (quantity == 0 || quantity > most)
        m->errors |= ERROR_VALUE;
    if (m->function != MODBUS_READ_WRITE && DATA_LENGTH(m) > 4)
        m->errors |= ERROR_LENGTH;
    m->kind = MODBUS_READ_REQUEST;
    m->read_address = address;
    m->read_quantity = quantity;
}

/* The count must be that of the data. */
static void take_read_response(struct modbus_message *m, struct bytes *in)
{
    uint8_t count;

    if (DATA_LENGTH(m) < 1) {
        m->errors |= ERROR_LENGTH;
        return;
    }
    count = take_u8(in);
    m->data = take_rest(in);
    m->kind = MODBUS_READ_RESPONSE;
    if (count == 0 || count > READ_COUNT_MAX || m->data.len != count)
        m->errors |= ERROR_VALUE;
}

/* A mask write: the device computes (old AND and_mask) OR (or_mask AND NOT and_mask). */
static void take_mask(struct modbus_message *m, struct bytes *in)
{
    uint16_t address = take_be16(in), and_mask = take_be16(in), or_mask = take_be16(in);

    if (in->failed)
        return;
    m->kind = MODBUS_WRITE_MASK;
    m->address = address;
    m->and_mask = and_mask;
    m->or_mask = or_mask;
}

/* Both the request and the response of a single write; of a multiple write's response. */
static void take_one(struct modbus_message *m, struct bytes *in)
{
    uint16_t address = take_be16(in), value = take_be16(in);

    if (in->failed)
        return;
    m->kind = MODBUS_WRITE_ONE;
    m->address = address;
    m->quantity = value;
}

/* Coils are packed 8 per byte, registers take 2 bytes. */
static bool fits(const struct modbus_message *m, uint16_t quantity, uint8_t count)
{
    if (m->access & ACCESS_BITS)
        return quantity <= QUANTITY_BITS_MAX && count == (quantity + 7) / 8;
    return quantity <= QUANTITY_WORDS_MAX && count == 2 * quantity;
}

/* The write part of a request. After a read part it is READ_WRITE. */
static void take_many(struct modbus_message *m, struct bytes *in)
{
    uint16_t address = take_be16(in), quantity = take_be16(in);
    uint8_t count = take_u8(in);
    struct slice data;

    if (in->failed)
        return;
    data = take_rest(in);
    if (quantity == 0 || data.len != count)
        m->errors |= ERROR_LENGTH;
    if (!fits(m, quantity, count))
        m->errors |= ERROR_VALUE;
    m->kind = m->kind == MODBUS_READ_REQUEST ? MODBUS_READ_AND_WRITE : MODBUS_WRITE_MULTIPLE;
    m->address = address;
    m->quantity = quantity;
    m->data = data;
}

/* --- requests and responses ----------------------------------------------------------------- */

/* A coil is written with 0xff00 (on) or 0 (off). */
static void take_write_request(struct modbus_message *m, struct bytes *in)
{
    if (m->access & ACCESS_SINGLE) {
        take_one(m, in);
        if ((m->access & ACCESS_COILS) && m->quantity != 0 && m->quantity != 0xff00)
            m->errors |= ERROR_VALUE;
    } else if (m->access & ACCESS_MULTIPLE) {
        take_many(m, in);
    } else {
        take_mask(m, in);
    }
}

/* The response to a single write and to a mask write repeats the request; the response to a
 * multiple write has address and quantity without data. */
static void take_write_response(struct modbus_message *m, struct bytes *in)
{
    if ((m->access & (ACCESS_SINGLE | ACCESS_MULTIPLE)) == 0) {
        take_mask(m, in);
        return;
    }
    take_one(m, in);
    if (in->failed || (m->access & ACCESS_SINGLE))
        return;
    /* The limits are exchanged between bits and registers, as in Suricata, whose rules on
     * mismatches rely on it. */
    if (m->quantity == 0 ||
        m->quantity > (m->access & ACCESS_BITS ? QUANTITY_WORDS_MAX : QUANTITY_BITS_MAX))
        m->errors |= ERROR_VALUE;
}

/* The data that a diagnostic requires, by subfunction. */
static bool diagnostic_is_valid(const struct modbus_message *m)
{
    const uint8_t *data = m->data.data;

    if (m->kind != MODBUS_DIAGNOSTIC_DATA || m->data.len != 2 ||
        modbus_diagnostic_name(m->code) == NULL)
        return true;
    switch (m->code) {
    case 0:                             /* sent back as they are; listen only */
    case 4: return true;
    case 1: return data[1] == 0 && (data[0] == 0 || data[0] == 0xff);
    case 3: return data[1] == 0;
    default: return data[0] == 0 && data[1] == 0;
    }
}

/* Sub-function and one word of data. A different length is an error; the sub-function is read when
 * it is there. */
static void diagnostic_request(struct modbus_message *m, struct bytes *in)
{
    if (DATA_LENGTH(m) != 4)
        m->errors |= ERROR_LENGTH;
    take_diagnostic(m, in);
    if (!diagnostic_is_valid(m))
        m->errors |= ERROR_VALUE;
}

/* Functions whose requests have a fixed length. */
static bool request_length_is_wrong(const struct modbus_message *m)
{
    switch (m->function) {
    case MODBUS_READ_FILE:
    case MODBUS_WRITE_FILE: return DATA_LENGTH(m) == 0;
    case MODBUS_READ_EXCEPTION_STATUS:
    case MODBUS_EVENT_COUNTER:
    case MODBUS_EVENT_LOG:
    case MODBUS_REPORT_SERVER_ID: return DATA_LENGTH(m) > 0;
    case MODBUS_READ_FIFO: return DATA_LENGTH(m) != 2;
    default: return false;
    }
}

/* Errors do not stop the reading: each becomes an event, and the data stay visible. */
static void take_request(struct modbus_message *m, struct bytes *in)
{
    if (m->function == MODBUS_DIAGNOSTIC) {
        diagnostic_request(m, in);
        return;
    }
    if (m->function == MODBUS_MEI) {
        take_mei(m, in);
        return;
    }
    if (request_length_is_wrong(m)) {
        m->errors |= ERROR_LENGTH;
        take_all(m, in);
        return;
    }
    if (m->raw == 0 || m->raw >= MODBUS_EXCEPTION)
        m->errors |= ERROR_FUNCTION;
    if (m->access & ACCESS_READ)
        take_read_request(m, in);
    if (m->access & ACCESS_WRITE)
        take_write_request(m, in);
    if ((m->access & (ACCESS_READ | ACCESS_WRITE)) == 0)
        take_all(m, in);
}

/* Functions whose responses have a fixed length. */
static bool response_length_is_wrong(const struct modbus_message *m)
{
    return (m->function == MODBUS_READ_EXCEPTION_STATUS && DATA_LENGTH(m) != 1) ||
           (m->function == MODBUS_EVENT_COUNTER && DATA_LENGTH(m) != 4);
}

/* The order matters: an exception bit makes any function an exception, and access bits say which
 * structure the data have. */
static void take_response(struct modbus_message *m, struct bytes *in)
{
    if (m->raw >= MODBUS_EXCEPTION) {
        take_exception(m, in);
    } else if (m->function == MODBUS_DIAGNOSTIC) {
        take_diagnostic(m, in);
    } else if (m->function == MODBUS_MEI) {
        take_mei(m, in);
    } else if (response_length_is_wrong(m)) {
        m->errors |= ERROR_LENGTH;
        take_all(m, in);
    } else if (m->access & ACCESS_READ) {
        take_read_response(m, in);
    } else if (m->access & ACCESS_WRITE) {
        take_write_response(m, in);
    } else {
        take_all(m, in);
    }
}

/* For detection, when the sender is not known. */
static void take_either(struct modbus_message *m, struct bytes *in)
{
    if (m->raw >= MODBUS_EXCEPTION)
        take_exception(m, in);
    else if (m->function == MODBUS_DIAGNOSTIC)
        take_diagnostic(m, in);
    else if (m->function == MODBUS_MEI)
        take_mei(m, in);
    else
        take_all(m, in);
}

/* `in` has exactly the bytes that the header's length counts. */
void modbus_parse_body(struct modbus_message *m, struct bytes in, enum modbus_sender sender)
{
    struct bytes data;

    m->unit = take_u8(&in);
    m->raw = take_u8(&in);
    m->function = function_of(m->raw);
    m->access = access_of(m->function);
    data = in;
    switch (sender) {
    case MODBUS_CLIENT:
        take_request(m, &in);
        break;
    case MODBUS_SERVER:
        take_response(m, &in);
        break;
    case MODBUS_ANYONE:
        take_either(m, &in);
        break;
    }
    if (in.failed || bytes_left(&in) > 0)
        m->errors |= ERROR_LENGTH;
    if (in.failed && m->kind == MODBUS_EMPTY)
        take_all(m, &data);
    m->category = category_of(m);
}

/* --- pairs ---------------------------------------------------------------------------------- */

/* Always true: different data do not separate the pair, they are an error of it. */
static bool compare(struct modbus_message *later, bool equal)
{
    if (!equal)
        later->errors |= ERROR_VALUE;
    return true;
}

/* Compares in bits also for registers, as in Suricata, whose rules on mismatches rely on it. */
static bool read_fits(const struct modbus_message *request, const struct modbus_message *response)
{
    unsigned quantity = request->read_quantity;

    if (request->kind == MODBUS_READ_AND_WRITE)
        return response->data.len == 2 * quantity;
    return response->data.len == (quantity + 7) / 8;
}

/* Both kinds have the fields read_address and read_quantity. */
static bool is_read_request(const struct modbus_message *m)
{
    return m->kind == MODBUS_READ_REQUEST || m->kind == MODBUS_READ_AND_WRITE;
}

/* False: these two do not belong together. Different data of a pair are an error on the later
 * one. */
static bool match_data(struct modbus_message *later, const struct modbus_message *other)
{
    enum modbus_kind a = later->kind, b = other->kind;

    if (a == MODBUS_BYTES && b == MODBUS_BYTES)
        return true;
    if (a == MODBUS_BYTES)
        return (later->errors & ERROR_LENGTH) != 0;
    if (b == MODBUS_BYTES)
        return (other->errors & ERROR_LENGTH) != 0;
    if (a == MODBUS_READ_RESPONSE && is_read_request(other))
        return compare(later, read_fits(other, later));
    if (is_read_request(later) && b == MODBUS_READ_RESPONSE)
        return compare(later, read_fits(later, other));
    if ((a == MODBUS_WRITE_ONE && (b == MODBUS_WRITE_ONE || b == MODBUS_WRITE_MULTIPLE)) ||
        (a == MODBUS_WRITE_MULTIPLE && b == MODBUS_WRITE_ONE))
        return compare(later, later->address == other->address &&
                                  later->quantity == other->quantity);
    if (a == MODBUS_WRITE_MASK && b == MODBUS_WRITE_MASK)
        return compare(later, later->address == other->address &&
                                  later->and_mask == other->and_mask &&
                                  later->or_mask == other->or_mask);
    return (a == MODBUS_DIAGNOSTIC_DATA || a == MODBUS_MEI_DATA) && a == b &&
           later->code == other->code;
}

/* Do request and response belong together? Numbers and function must be equal; of unassigned
 * functions the data are unknown. */
bool modbus_match(struct modbus_message *later, const struct modbus_message *other)
{
    if (later->transaction != other->transaction || later->unit != other->unit ||
        later->function != other->function || later->access != other->access)
        return false;
    if (later->category != CATEGORY_ASSIGNED || later->kind == MODBUS_EXCEPTION_DATA ||
        other->kind == MODBUS_EXCEPTION_DATA)
        return true;
    return match_data(later, other);
}

/* --- what rules ask ------------------------------------------------------------------------- */

/* Addresses on the wire start at 0, in rules at 1. */
bool modbus_addresses(const struct modbus_message *m, uint32_t *first, uint32_t *last)
{
    uint32_t address = m->address, quantity = m->quantity;

    switch (m->kind) {
    case MODBUS_WRITE_ONE:
    case MODBUS_WRITE_MASK:
        *first = *last = address + 1;
        return true;
    case MODBUS_READ_REQUEST:
        address = m->read_address;
        quantity = m->read_quantity;
        break;
    case MODBUS_WRITE_MULTIPLE:
    case MODBUS_READ_AND_WRITE:
        break;
    default:
        return false;
    }
    *first = address + 1;
    *last = address + quantity;
    return quantity > 0 && *last <= UINT16_MAX;
}

/* The value at `address` in the data of a multiple write. */
static bool one_of_many(const struct modbus_message *m, uint32_t address, uint32_t *value)
{
    bool coils = (m->access & ACCESS_COILS) != 0;
    uint32_t at, offset;

    if (address <= m->address)
        return false;
    at = address - m->address - 1;
    offset = coils ? at * 2 >> 3 : at * 2;
    if (offset + 1 >= m->data.len)
        return false;
    *value = get_be16(m->data.data + offset);
    if (coils)
        *value = *value >> (at & 7) & 1;
    return true;
}

/* The value that a request writes to an address. */
bool modbus_value_at(const struct modbus_message *m, uint32_t address, uint32_t *value)
{
    uint32_t first, last;

    if (modbus_addresses(m, &first, &last) && (address < first || address > last))
        return false;
    if (m->kind == MODBUS_WRITE_ONE && (m->access & ACCESS_SINGLE)) {
        *value = m->access & ACCESS_COILS ? m->quantity != 0 : m->quantity;
        return true;
    }
    return (m->kind == MODBUS_WRITE_MULTIPLE || m->kind == MODBUS_READ_AND_WRITE) &&
           one_of_many(m, address, value);
}
