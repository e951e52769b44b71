/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dnp3/objects.c - the objects of a message and their points, as in IEEE 1815-2012 annex
 * A. Names of fields are those of EVE. */
#include "app/proto/dnp3/dnp3.h"

#include "app/parser.h"

/* --- layouts ---------------------------------------------------------------------------------- */

/* BITS are read from the low end of a byte on. LENGTH is a number that a TEXT or BYTES field of the
 * same slot uses. VENDOR is four characters. */
enum field_kind {
    FIELD_END, FIELD_BITS, FIELD_UNSIGNED, FIELD_SIGNED, FIELD_FLOAT, FIELD_LENGTH, FIELD_TEXT,
    FIELD_BYTES, FIELD_VENDOR,
};

/* One field of a point. All numbers are little endian. */
struct field {
    const char *name;
    uint8_t kind;
    uint8_t size;               /* bits of a bit field, bytes of a number */
    uint8_t slot;               /* of a length, and of the field that has this length */
    uint32_t limit; /* of a field that fills the rest of the prefix's size: bytes at most */
};

enum need { NEED_NONE, NEED_SIZE, NEED_SIZE_16 };       /* of the prefix */
#define LENGTH_SLOTS 3

/* A row per group and variation. `packed`: points of 1 or 2 bits without other fields. */
struct dnp3_layout {
    uint8_t group, variation, need;
    uint8_t packed;             /* bits of a point; 0: points of whole bytes */
    const char *packed_name;
    const struct field *fields;
};

/* SHORT_REST, STRING_REST and BLOB_REST fill what the prefix's size leaves. TIME counts
 * milliseconds since 1970 in 48 bits. */
#define BITS(n, bits)        { #n, FIELD_BITS, bits, 0, 0 }
#define BIT(n)               BITS(n, 1)
#define U8(n)                { #n, FIELD_UNSIGNED, 1, 0, 0 }
#define U16(n)               { #n, FIELD_UNSIGNED, 2, 0, 0 }
#define U24(n)               { #n, FIELD_UNSIGNED, 3, 0, 0 }
#define U32(n)               { #n, FIELD_UNSIGNED, 4, 0, 0 }
#define TIME(n)              { #n, FIELD_UNSIGNED, 6, 0, 0 }    /* milliseconds since 1970 */
#define I16(n)               { #n, FIELD_SIGNED, 2, 0, 0 }
#define I32(n)               { #n, FIELD_SIGNED, 4, 0, 0 }
#define F32(n)               { #n, FIELD_FLOAT, 4, 0, 0 }
#define F64(n)               { #n, FIELD_FLOAT, 8, 0, 0 }
#define LENGTH(n, slot)      { #n, FIELD_LENGTH, 2, slot, 0 }
#define STRING(n, slot)      { #n, FIELD_TEXT, 0, slot, 0 }
#define BLOB(n, slot)        { #n, FIELD_BYTES, 0, slot, 0 }
#define STRING_REST(n)       { #n, FIELD_TEXT, 0, 0, UINT16_MAX }
#define SHORT_REST(n)        { #n, FIELD_TEXT, 0, 0, UINT8_MAX }
#define BLOB_REST(n)         { #n, FIELD_BYTES, 0, 0, UINT16_MAX }
#define VENDOR(n)            { #n, FIELD_VENDOR, 4, 0, 0 }
#define END                  { NULL, FIELD_END, 0, 0, 0 }
#define PACKED(g, v, n, bits) { g, v, NEED_NONE, bits, n, NULL }

/* Flag bytes, from bit 0 on (IEEE 1815-2012 section 11.6). */
#define BINARY_FLAGS \
    BIT(online), BIT(restart), BIT(comm_lost), BIT(remote_forced), BIT(local_forced), \
    BIT(chatter_filter), BIT(reserved), BIT(state)
#define DOUBLE_BIT_FLAGS \
    BIT(online), BIT(restart), BIT(comm_lost), BIT(remote_forced), BIT(local_forced), \
    BIT(chatter_filter), BITS(state, 2)
#define OUTPUT_FLAGS \
    BIT(online), BIT(restart), BIT(comm_lost), BIT(remote_forced), BIT(local_forced), \
    BIT(reserved0), BIT(reserved1), BIT(state)
#define COUNTER_FLAGS \
    BIT(online), BIT(restart), BIT(comm_lost), BIT(remote_forced), BIT(local_forced), \
    BIT(rollover), BIT(discontinuity), BIT(reserved0)
#define DELTA_FLAGS \
    BIT(online), BIT(restart), BIT(comm_lost), BIT(remote_forced), BIT(local_forced), \
    BIT(rollover), BIT(reserved0), BIT(reserved1)
#define FROZEN_FLAGS \
    BIT(online), BIT(restart), BIT(comm_lost), BIT(remote_forced), BIT(local_forced), \
    BIT(rollover), BIT(discontinuity), BIT(reserved1)
#define ANALOG_FLAGS \
    BIT(online), BIT(restart), BIT(comm_lost), BIT(remote_forced), BIT(local_forced), \
    BIT(over_range), BIT(reference_err), BIT(reserved0)
#define STATISTIC_FLAGS \
    BIT(online), BIT(restart), BIT(comm_lost), BIT(remote_forced), BIT(local_forced), \
    BIT(reserved0), BIT(discontinuity), BIT(reserved1)

static const struct field g1v2[] = { BINARY_FLAGS, END };
static const struct field g2v1[] = { U8(state), END };
static const struct field g2v2[] = { BINARY_FLAGS, TIME(timestamp), END };
static const struct field g2v3[] = { BINARY_FLAGS, U16(timestamp), END };
static const struct field g3v2[] = { DOUBLE_BIT_FLAGS, END };
static const struct field g4v2[] = { DOUBLE_BIT_FLAGS, TIME(timestamp), END };
static const struct field g4v3[] = { DOUBLE_BIT_FLAGS, U16(relative_time_ms), END };
static const struct field g10v2[] = { OUTPUT_FLAGS, END };
static const struct field g11v2[] = { OUTPUT_FLAGS, TIME(timestamp), END };
static const struct field g12v1[] = {
    BITS(op_type, 4), BIT(qu), BIT(cr), BITS(tcc, 2), U8(count), U32(ontime), U32(offtime),
    BITS(status_code, 7), BIT(reserved), END,
};
static const struct field g13v1[] = { BITS(status_code, 7), BIT(commanded_state), END };
static const struct field g13v2[] = {
    BITS(status_code, 7), BIT(commanded_state), TIME(timestamp), END,
};
static const struct field g20v1[] = { COUNTER_FLAGS, U32(count), END };
static const struct field g20v2[] = { COUNTER_FLAGS, U16(count), END };
static const struct field g20v3[] = { DELTA_FLAGS, U32(count), END };
static const struct field g20v4[] = { DELTA_FLAGS, U16(count), END };
static const struct field g20v5[] = { U32(count), END };
static const struct field g20v6[] = { U16(count), END };
static const struct field g21v5[] = { FROZEN_FLAGS, U32(count), TIME(timestamp), END };
static const struct field g21v6[] = { FROZEN_FLAGS, U16(count), TIME(timestamp), END };
static const struct field g21v7[] = { DELTA_FLAGS, U32(count), TIME(timestamp), END };
static const struct field g21v8[] = { DELTA_FLAGS, U16(count), TIME(timestamp), END };
static const struct field g22v6[] = { COUNTER_FLAGS, U16(count), TIME(timestamp), END };
static const struct field g23v5[] = { COUNTER_FLAGS, U32(count), TIME(timestamp), END };
static const struct field g30v1[] = { ANALOG_FLAGS, I32(value), END };
static const struct field g30v2[] = { ANALOG_FLAGS, I16(value), END };
static const struct field g30v3[] = { I32(value), END };
static const struct field g30v4[] = { I16(value), END };
static const struct field g30v5[] = { ANALOG_FLAGS, F32(value), END };
static const struct field g30v6[] = { ANALOG_FLAGS, F64(value), END };
static const struct field g31v3[] = { ANALOG_FLAGS, I32(value), TIME(timestamp), END };
static const struct field g31v4[] = { ANALOG_FLAGS, I16(value), TIME(timestamp), END };
static const struct field g32v7[] = { ANALOG_FLAGS, F32(value), TIME(timestamp), END };
static const struct field g32v8[] = { ANALOG_FLAGS, F64(value), TIME(timestamp), END };
static const struct field g34v1[] = { U16(deadband_value), END };
static const struct field g34v2[] = { U32(deadband_value), END };
static const struct field g34v3[] = { F32(deadband_value), END };
static const struct field g41v1[] = { I32(value), U8(control_status), END };
static const struct field g41v2[] = { I16(value), U8(control_status), END };
static const struct field g41v3[] = { F32(value), U8(control_status), END };
static const struct field g41v4[] = { F64(value), U8(control_status), END };
static const struct field g43v1[] = {
    BITS(status_code, 7), BIT(reserved0), I32(commanded_value), END,
};
static const struct field g43v2[] = {
    BITS(status_code, 7), BIT(reserved0), I16(commanded_value), END,
};
static const struct field g43v3[] = {
    BITS(status_code, 7), BIT(reserved0), I32(commanded_value), TIME(timestamp), END,
};
static const struct field g43v4[] = {
    BITS(status_code, 7), BIT(reserved0), I16(commanded_value), TIME(timestamp), END,
};
static const struct field g43v5[] = {
    BITS(status_code, 7), BIT(reserved0), F32(commanded_value), END,
};
static const struct field g43v6[] = {
    BITS(status_code, 7), BIT(reserved0), F64(commanded_value), END,
};
static const struct field g43v7[] = {
    BITS(status_code, 7), BIT(reserved0), F32(commanded_value), TIME(timestamp), END,
};
static const struct field g43v8[] = {
    BITS(status_code, 7), BIT(reserved0), F64(commanded_value), TIME(timestamp), END,
};
static const struct field g50v1[] = { TIME(timestamp), END };
static const struct field g50v2[] = { TIME(timestamp), U32(interval), END };
static const struct field g50v4[] = {
    TIME(timestamp), U32(interval_count), U8(interval_units), END,
};
static const struct field g52v1[] = { U16(delay_secs), END };
static const struct field g52v2[] = { U16(delay_ms), END };
static const struct field g70v1[] = {
    LENGTH(filename_size, 0), U8(filetype_code), U8(attribute_code), U16(start_record),
    U16(end_record), U32(file_size), TIME(created_timestamp), U16(permission), U32(file_id),
    U32(owner_id), U32(group_id), U8(file_function_code), U8(status_code), STRING(filename, 0),
    LENGTH(data_size, 1), STRING(data, 1), END,
};
static const struct field g70v2[] = {
    U16(username_offset), LENGTH(username_size, 0), U16(password_offset), LENGTH(password_size, 1),
    U32(authentication_key), STRING(username, 0), STRING(password, 1), END,
};
static const struct field g70v3[] = {
    U16(filename_offset), LENGTH(filename_size, 0), TIME(created), U16(permissions),
    U32(authentication_key), U32(file_size), U16(operational_mode), U16(maximum_block_size),
    U16(request_id), STRING(filename, 0), END,
};
static const struct field g70v4[] = {
    U32(file_handle), U32(file_size), U16(maximum_block_size), U16(request_id), U8(status_code),
    SHORT_REST(optional_text), END,
};
static const struct field g70v5[] = {
    U32(file_handle), U32(block_number), SHORT_REST(file_data), END,
};
static const struct field g70v6[] = {
    U32(file_handle), U32(block_number), U8(status_code), SHORT_REST(optional_text), END,
};
static const struct field g70v7[] = {
    U16(filename_offset), LENGTH(filename_size, 0), U16(file_type), U32(file_size),
    TIME(created_timestamp), U16(permissions), U16(request_id), STRING(filename, 0), END,
};
static const struct field g70v8[] = { STRING_REST(file_specification), END };
static const struct field g81v1[] = {
    BITS(fill_percentage, 7), BIT(overflow_state), U8(group), U8(variation), END,
};
static const struct field g83v1[] = {
    VENDOR(vendor_code), U16(object_id), LENGTH(length, 0), BLOB(data_objects, 0), END,
};
static const struct field g86v2[] = {
    BIT(rd), BIT(wr), BIT(st), BIT(ev), BIT(df), BIT(padding0), BIT(padding1), BIT(padding2), END,
};
static const struct field g102v1[] = { U8(value), END };
static const struct field g120v1[] = {
    U32(csq), U16(usr), U8(mal), U8(reason), BLOB_REST(challenge_data), END,
};
static const struct field g120v2[] = { U32(csq), U16(usr), BLOB_REST(mac_value), END };
static const struct field g120v3[] = { U32(csq), U16(user_number), END };
static const struct field g120v4[] = { U16(user_number), END };
static const struct field g120v5[] = {
    U32(ksq), U16(user_number), U8(key_wrap_alg), U8(key_status), U8(mal),
    LENGTH(challenge_data_len, 0), BLOB(challenge_data, 0), BLOB_REST(mac_value), END,
};
static const struct field g120v6[] = { U24(ksq), U16(usr), BLOB_REST(wrapped_key_data), END };
static const struct field g120v7[] = {
    U32(sequence_number), U16(usr), U16(association_id), U8(error_code), TIME(time_of_error),
    STRING_REST(error_text), END,
};
static const struct field g120v8[] = {
    U8(key_change_method), U8(certificate_type), BLOB_REST(certificate), END,
};
static const struct field g120v9[] = { BLOB_REST(mac_value), END };
static const struct field g120v10[] = {
    U8(key_change_method), U8(operation), U32(scs), U16(user_role), U16(user_role_expiry_interval),
    LENGTH(username_len, 0), LENGTH(user_public_key_len, 1), LENGTH(certification_data_len, 2),
    STRING(username, 0), BLOB(user_public_key, 1), BLOB(certification_data, 2), END,
};
static const struct field g120v11[] = {
    U8(key_change_method), LENGTH(username_len, 0), LENGTH(master_challenge_data_len, 1),
    STRING(username, 0), BLOB(master_challenge_data, 1), END,
};
static const struct field g120v12[] = {
    U32(ksq), U16(user_number), LENGTH(challenge_data_len, 0), BLOB(challenge_data, 0), END,
};
static const struct field g120v13[] = {
    U32(ksq), U16(user_number), LENGTH(encrypted_update_key_len, 0),
    BLOB(encrypted_update_key_data, 0), END,
};
static const struct field g120v14[] = { BLOB_REST(digital_signature), END };
static const struct field g120v15[] = { BLOB_REST(mac), END };
static const struct field g121v1[] = {
    STATISTIC_FLAGS, U16(association_id), U32(count_value), END,
};
static const struct field g122v2[] = {
    STATISTIC_FLAGS, U16(association_id), U32(count_value), TIME(timestamp), END,
};

/* Ordered by group and variation. Groups that share a layout name the same fields. */
static const struct dnp3_layout layouts[] = {
    PACKED(1, 1, "state", 1), { 1, 2, .fields = g1v2 }, { 2, 1, .fields = g2v1 },
    { 2, 2, .fields = g2v2 }, { 2, 3, .fields = g2v3 }, PACKED(3, 1, "state", 2),
    { 3, 2, .fields = g3v2 }, { 4, 1, .fields = g3v2 }, { 4, 2, .fields = g4v2 },
    { 4, 3, .fields = g4v3 }, PACKED(10, 1, "state", 1), { 10, 2, .fields = g10v2 },
    { 11, 1, .fields = g10v2 }, { 11, 2, .fields = g11v2 }, { 12, 1, .fields = g12v1 },
    { 12, 2, .fields = g12v1 }, PACKED(12, 3, "point", 1), { 13, 1, .fields = g13v1 },
    { 13, 2, .fields = g13v2 }, { 20, 1, .fields = g20v1 }, { 20, 2, .fields = g20v2 },
    { 20, 3, .fields = g20v3 }, { 20, 4, .fields = g20v4 }, { 20, 5, .fields = g20v5 },
    { 20, 6, .fields = g20v6 }, { 20, 7, .fields = g20v5 }, { 20, 8, .fields = g20v6 },
    { 21, 1, .fields = g20v1 }, { 21, 2, .fields = g20v2 }, { 21, 3, .fields = g20v3 },
    { 21, 4, .fields = g20v4 }, { 21, 5, .fields = g21v5 }, { 21, 6, .fields = g21v6 },
    { 21, 7, .fields = g21v7 }, { 21, 8, .fields = g21v8 }, { 21, 9, .fields = g20v5 },
    { 21, 10, .fields = g20v6 }, { 21, 11, .fields = g20v5 }, { 21, 12, .fields = g20v6 },
    { 22, 1, .fields = g20v1 }, { 22, 2, .fields = g20v2 }, { 22, 3, .fields = g20v3 },
    { 22, 4, .fields = g20v4 }, { 22, 5, .fields = g21v7 }, { 22, 6, .fields = g22v6 },
    { 22, 7, .fields = g21v7 }, { 22, 8, .fields = g21v8 }, { 23, 1, .fields = g20v1 },
    { 23, 2, .fields = g20v4 }, { 23, 3, .fields = g20v3 }, { 23, 4, .fields = g20v4 },
    { 23, 5, .fields = g23v5 }, { 23, 6, .fields = g22v6 }, { 23, 7, .fields = g21v7 },
    { 23, 8, .fields = g21v8 }, { 30, 1, .fields = g30v1 }, { 30, 2, .fields = g30v2 },
    { 30, 3, .fields = g30v3 }, { 30, 4, .fields = g30v4 }, { 30, 5, .fields = g30v5 },
    { 30, 6, .fields = g30v6 }, { 31, 1, .fields = g30v1 }, { 31, 2, .fields = g30v2 },
    { 31, 3, .fields = g31v3 }, { 31, 4, .fields = g31v4 }, { 31, 5, .fields = g30v3 },
    { 31, 6, .fields = g30v4 }, { 31, 7, .fields = g30v5 }, { 31, 8, .fields = g30v6 },
    { 32, 1, .fields = g30v1 }, { 32, 2, .fields = g30v2 }, { 32, 3, .fields = g31v3 },
    { 32, 4, .fields = g31v4 }, { 32, 5, .fields = g30v5 }, { 32, 6, .fields = g30v6 },
    { 32, 7, .fields = g32v7 }, { 32, 8, .fields = g32v8 }, { 33, 1, .fields = g30v1 },
    { 33, 2, .fields = g30v2 }, { 33, 3, .fields = g31v3 }, { 33, 4, .fields = g31v4 },
    { 33, 5, .fields = g30v5 }, { 33, 6, .fields = g30v6 }, { 33, 7, .fields = g32v7 },
    { 33, 8, .fields = g32v8 }, { 34, 1, .fields = g34v1 }, { 34, 2, .fields = g34v2 },
    { 34, 3, .fields = g34v3 }, { 40, 1, .fields = g30v1 }, { 40, 2, .fields = g30v2 },
    { 40, 3, .fields = g30v5 }, { 40, 4, .fields = g30v6 }, { 41, 1, .fields = g41v1 },
    { 41, 2, .fields = g41v2 }, { 41, 3, .fields = g41v3 }, { 41, 4, .fields = g41v4 },
    { 42, 1, .fields = g30v1 }, { 42, 2, .fields = g30v2 }, { 42, 3, .fields = g31v3 },
    { 42, 4, .fields = g31v4 }, { 42, 5, .fields = g30v5 }, { 42, 6, .fields = g30v6 },
    { 42, 7, .fields = g32v7 }, { 42, 8, .fields = g32v8 }, { 43, 1, .fields = g43v1 },
    { 43, 2, .fields = g43v2 }, { 43, 3, .fields = g43v3 }, { 43, 4, .fields = g43v4 },
    { 43, 5, .fields = g43v5 }, { 43, 6, .fields = g43v6 }, { 43, 7, .fields = g43v7 },
    { 43, 8, .fields = g43v8 }, { 50, 1, .fields = g50v1 }, { 50, 2, .fields = g50v2 },
    { 50, 3, .fields = g50v1 }, { 50, 4, .fields = g50v4 }, { 51, 1, .fields = g50v1 },
    { 51, 2, .fields = g50v1 }, { 52, 1, .fields = g52v1 }, { 52, 2, .fields = g52v2 },
    { 70, 1, .fields = g70v1 }, { 70, 2, .fields = g70v2 }, { 70, 3, .fields = g70v3 },
    { 70, 4, NEED_SIZE, .fields = g70v4 }, { 70, 5, NEED_SIZE, .fields = g70v5 },
    { 70, 6, NEED_SIZE, .fields = g70v6 }, { 70, 7, .fields = g70v7 },
    { 70, 8, NEED_SIZE_16, .fields = g70v8 }, PACKED(80, 1, "state", 1), { 81, 1, .fields = g81v1 },
    { 83, 1, .fields = g83v1 }, { 86, 2, .fields = g86v2 }, { 102, 1, .fields = g102v1 },
    { 120, 1, NEED_SIZE_16, .fields = g120v1 }, { 120, 2, NEED_SIZE_16, .fields = g120v2 },
    { 120, 3, .fields = g120v3 }, { 120, 4, .fields = g120v4 },
    { 120, 5, NEED_SIZE_16, .fields = g120v5 }, { 120, 6, NEED_SIZE_16, .fields = g120v6 },
    { 120, 7, NEED_SIZE_16, .fields = g120v7 }, { 120, 8, NEED_SIZE_16, .fields = g120v8 },
    { 120, 9, .fields = g120v9 }, { 120, 10, NEED_SIZE_16, .fields = g120v10 },
    { 120, 11, NEED_SIZE_16, .fields = g120v11 }, { 120, 12, NEED_SIZE_16, .fields = g120v12 },
    { 120, 13, NEED_SIZE_16, .fields = g120v13 }, { 120, 14, NEED_SIZE_16, .fields = g120v14 },
    { 120, 15, NEED_SIZE_16, .fields = g120v15 }, { 121, 1, .fields = g121v1 },
    { 122, 1, .fields = g121v1 }, { 122, 2, .fields = g122v2 },
};

/* NULL: unknown, and the message's reading ends here. */
static const struct dnp3_layout *layout_of(uint8_t group, uint8_t variation)
{
    for (unsigned i = 0; i < ARRAY_LEN(layouts); i++)
        if (layouts[i].group == group && layouts[i].variation == variation)
            return &layouts[i];
    return NULL;
}

/* --- points ----------------------------------------------------------------------------------- */

/* Codes 4 to 6: the prefix is a size of 1, 2 or 4 bytes; 1 to 3: an index. */
bool dnp3_prefix_is_size(uint8_t prefix_code)
{
    return prefix_code >= 4 && prefix_code <= 6;
}

static uint64_t take_number(struct bytes *in, unsigned size)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)take_u8(in) << 8 * i;
    return value;
}

static uint32_t take_prefix(struct bytes *in, uint8_t prefix_code)
{
    static const uint8_t sizes[8] = { 0, 1, 2, 4, 1, 2, 4, 0 };

    return (uint32_t)take_number(in, sizes[prefix_code]);
}

/* IEEE 754, 4 or 8 bytes. */
static double to_real(uint64_t bits, unsigned size)
{
    uint32_t half = (uint32_t)bits;
    double value;
    float small;

    if (size == 4) {
        memcpy(&small, &half, sizeof(small));
        return (double)small;
    }
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Sign-extended, and printed as unsigned, as Suricata does. */
static uint64_t to_signed(uint64_t bits, unsigned size)
{
    return size == 2 ? (uint64_t)(int16_t)bits : (uint64_t)(int32_t)bits;
}

/* State that the fields of one point share. */
struct point_reader {
    struct bytes *in;
    const uint8_t *start;
    uint32_t prefix;
    uint32_t length[LENGTH_SLOTS];
    uint8_t octet, used;                /* of bit fields */
};

/* Bit fields of a point always fill complete bytes, see the tables. */
static uint64_t take_bits(struct point_reader *r, unsigned bits)
{
    uint64_t value;

    if (r->used == 0)
        r->octet = take_u8(r->in);
    value = r->octet >> r->used & ((1u << bits) - 1);
    r->used = (uint8_t)((r->used + bits) % 8);
    return value;
}

/* Text or bytes: as long as a length field says, or what the prefix's size leaves. A prefix smaller
 * than the fields before is malformed. */
static struct slice take_variable(struct point_reader *r, const struct field *f)
{
    uint32_t taken = (uint32_t)(r->in->next - r->start);

    if (f->limit == 0)
        return take_slice(r->in, r->length[f->slot]);
    if (r->prefix < taken || r->prefix - taken > f->limit) {
        r->in->failed = true;
        return (struct slice){ NULL, 0 };
    }
    return take_slice(r->in, r->prefix - taken);
}

static void take_field(struct point_reader *r, const struct field *f, struct dnp3_value *out)
{
    *out = (struct dnp3_value){ .name = f->name, .kind = DNP3_NUMBER };
    switch ((enum field_kind)f->kind) {
    case FIELD_BITS:
        out->number = take_bits(r, f->size);
        break;
    case FIELD_UNSIGNED:
        out->number = take_number(r->in, f->size);
        break;
    case FIELD_SIGNED:
        out->number = to_signed(take_number(r->in, f->size), f->size);
        break;
    case FIELD_FLOAT:
        out->kind = DNP3_REAL;
        out->real = to_real(take_number(r->in, f->size), f->size);
        break;
    case FIELD_LENGTH:
        out->number = r->length[f->slot] = (uint32_t)take_number(r->in, f->size);
        break;
    case FIELD_TEXT:
        out->kind = DNP3_TEXT;
        out->bytes = take_variable(r, f);
        break;
    case FIELD_BYTES:
        out->kind = DNP3_BYTES;
        out->bytes = take_variable(r, f);
        break;
    case FIELD_VENDOR:
        out->kind = DNP3_VENDOR;
        out->bytes = take_slice(r->in, f->size);
        break;
    case FIELD_END:
        break;
    }
}

static void take_fields(struct dnp3_points *points, struct dnp3_point *out)
{
    struct point_reader r = { .in = &points->in, .start = points->in.next,
                              .prefix = out->prefix };

    for (const struct field *f = points->layout->fields; f->kind != FIELD_END; f++)
        take_field(&r, f, &out->value[out->count++]);
}

/* Layouts with a rest need a prefix with a size. */
static bool prefix_fits(enum need need, uint8_t prefix_code)
{
    return need == NEED_NONE || (need == NEED_SIZE && dnp3_prefix_is_size(prefix_code)) ||
           (need == NEED_SIZE_16 && prefix_code == 5);
}

/* Starts a walk over an object's points. Packed points have one prefix for all. They are taken to
 * fill count / 8 + 1 bytes, whatever their width, as in Suricata, so that records are the same. */
struct dnp3_points dnp3_points_of(const struct dnp3_object *object)
{
    struct dnp3_points points = {
        .layout = object->layout, .in = bytes_of_slice(object->points), .left = object->count,
        .index = object->start, .prefix_code = object->prefix_code };

    if (object->layout == NULL) {
        points.left = 0;
        return points;
    }
    if (object->layout->packed > 0) {
        points.prefix = take_prefix(&points.in, object->prefix_code);
        points.octets = object->count / 8 + 1;
    } else if (!prefix_fits((enum need)object->layout->need, object->prefix_code) ||
               object->points.len < object->count / 8) {
        points.in.failed = true;
    }
    return points;
}

/* False: the end. Bytes beyond the points are skipped. */
static bool next_packed(struct dnp3_points *points, struct dnp3_point *out)
{
    unsigned width = points->layout->packed;

    if (points->left == 0) {
        take_skip(&points->in, points->octets);
        points->octets = 0;
        return false;
    }
    if (points->used == 0) {
        if (points->octets == 0)
            return false;
        points->octets--;
        points->octet = take_u8(&points->in);
    }
    out->prefix = points->prefix;
    out->count = 1;
    out->value[0] = (struct dnp3_value){
        .name = points->layout->packed_name, .kind = DNP3_NUMBER,
        .number = points->octet >> points->used & ((1u << width) - 1) };
    points->used = (uint8_t)((points->used + width) % 8);
    return !points->in.failed;
}

static bool next_plain(struct dnp3_points *points, struct dnp3_point *out)
{
    if (points->left == 0 || points->in.failed)
        return false;
    out->count = 0;
    out->prefix = take_prefix(&points->in, points->prefix_code);
    take_fields(points, out);
    return !points->in.failed;
}

/* *in.failed of `points` tells a malformed object from the end. */
bool dnp3_next_point(struct dnp3_points *points, struct dnp3_point *out)
{
    if (points->layout == NULL)
        return false;
    if (!(points->layout->packed > 0 ? next_packed(points, out) : next_plain(points, out)))
        return false;
    out->index = points->index++;
    if (points->prefix_code >= 1 && points->prefix_code <= 3)
        out->index = out->prefix;
    out->size = out->prefix;
    points->left--;
    return true;
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Bytes of each number of the range field, by code. */
static unsigned range_width(uint8_t code)
{
    static const uint8_t width[] = { 1, 2, 4, 1, 2, 4, 0, 1, 2, 4, 0, 1 };

    return width[code];
}

/* IEEE 1815-2012 table 4-5. False: a reserved code, or too short. stop < start wraps to a large
 * count, which max-points rejects. */
static bool take_range(struct bytes *in, struct dnp3_object *o)
{
    bool is_range = o->range_code <= 5;
    unsigned width;

    if (o->range_code == 10 || o->range_code > 11)
        return false;
    width = range_width(o->range_code);
    if (!bytes_have(in, is_range ? 2 * width : width))
        return false;
    if (is_range) {
        o->start = (uint32_t)take_number(in, width);
        o->stop = (uint32_t)take_number(in, width);
        o->count = o->stop - o->start + 1;
    } else {
        o->count = (uint32_t)take_number(in, width);
    }
    return true;
}

/* Counts the points and moves past them. False: an unknown layout, or truncated points. */
static bool take_points(struct bytes *in, struct dnp3_object *o)
{
    struct dnp3_points points;
    struct dnp3_point point;

    o->layout = layout_of(o->group, o->variation);
    if (o->layout == NULL)
        return false;
    o->points = (struct slice){ in->next, (uint32_t)bytes_left(in) };
    points = dnp3_points_of(o);
    while (dnp3_next_point(&points, &point))
        o->point_count++;
    if (points.in.failed)
        return false;
    in->next = points.in.next;
    return true;
}

static struct dnp3_object *object_new(struct dnp3_tx *t, struct bytes *header)
{
    struct dnp3_object *o = arena_zalloc(&t->tx.arena, sizeof(*o));

    if (o == NULL)
        return NULL;
    o->group = take_u8(header);
    o->variation = take_u8(header);
    o->qualifier = take_u8(header);
    o->prefix_code = o->qualifier >> 4 & 7;
    o->range_code = o->qualifier & 15;
    *t->objects_end = o;
    t->objects_end = &o->next;
    return o;
}

/* False: the rest was not read. max-objects and max-points bound the work: a range of 4 billion
 * points takes 11 bytes to write. Variation 0 asks for any variation and has no points. */
static bool read_all(struct dnp3_tx *t, struct bytes in, const struct dnp3_settings *settings)
{
    uint64_t objects = 0, points = 0;

    while (bytes_left(&in) > 0) {
        struct dnp3_object *o;

        if (bytes_left(&in) < 3)
            return false;
        if (++objects > settings->max_objects) {
            app_tx_event(&t->tx, DNP3_TOO_MANY_OBJECTS);
            return false;
        }
        o = object_new(t, &in);
        if (o == NULL || !take_range(&in, o))
            return false;
        if (o->variation == 0 || o->count == 0)
            continue;
        points += o->count;
        if (points > settings->max_points) {
            app_tx_event(&t->tx, DNP3_TOO_MANY_POINTS);
            return false;
        }
        if (!take_points(&in, o)) {
            app_tx_event(&t->tx, DNP3_UNKNOWN_OBJECT);
            return false;
        }
    }
    return true;
}

/* Function code and control (2 bytes) come before the objects; a response has indications, too. */
void dnp3_read_objects(struct dnp3_tx *t, const struct dnp3_settings *settings)
{
    struct bytes in = bytes_of(t->data, t->len);

    take_skip(&in, t->is_request ? 2 : 4);
    t->complete = !in.failed && read_all(t, in, settings);
}
