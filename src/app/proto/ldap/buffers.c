/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ldap/buffers.c - what rules can see of requests and responses. */
#include "app/proto/ldap/ldap.h"

static const struct ldap_message *nth_response(const struct app_tx *tx, unsigned index)
{
    const struct ldap_message *m = ldap_tx_of(tx)->responses;

    while (m != NULL && index-- > 0)
        m = m->next;
    return m;
}

/* --- names ------------------------------------------------------------------------------------ */

static bool get_request_dn(struct app_tx *tx, enum direction d UNUSED, unsigned i UNUSED,
                           struct slice *out)
{
    const struct ldap_message *m = ldap_tx_of(tx)->request;
    struct bytes in;

    if (m == NULL)
        return false;
    in = bytes_of_slice(m->body);
    switch ((enum ldap_op)m->op) {
    case LDAP_DEL_REQUEST:
        *out = m->body;
        return true;
    case LDAP_BIND_REQUEST:
        der_take_int(&in);
        return der_take_tag(&in, DER_OCTET_STRING, out);
    case LDAP_ADD_REQUEST: case LDAP_SEARCH_REQUEST: case LDAP_MODIFY_REQUEST:
    case LDAP_MOD_DN_REQUEST: case LDAP_COMPARE_REQUEST:
        return der_take_tag(&in, DER_OCTET_STRING, out);
    default:
        return false;
    }
}

static bool get_response_dn(struct app_tx *tx, enum direction d UNUSED, unsigned i,
                            struct slice *out)
{
    const struct ldap_message *m = nth_response(tx, i);
    struct ldap_result result;
    struct bytes in;

    if (m == NULL)
        return false;
    *out = (struct slice){ (const uint8_t *)"", 0 };
    if (m->op == LDAP_SEARCH_ENTRY)
        ldap_attributes(m, out);
    else if (ldap_take_result(m, &in, &result))
        *out = result.dn;
    return true;
}

static bool get_message(struct app_tx *tx, enum direction d UNUSED, unsigned i,
                        struct slice *out)
{
    const struct ldap_message *m = nth_response(tx, i);
    struct ldap_result result;
    struct bytes in;

    if (m == NULL)
        return false;
    *out = (struct slice){ (const uint8_t *)"", 0 };
    if (ldap_take_result(m, &in, &result))
        *out = result.text;
    return true;
}

/* --- attributes ------------------------------------------------------------------------------- */

/* Counts *index down over the attributes of a list. */
static bool nth_attribute(struct bytes list, unsigned *index, struct slice *out)
{
    struct bytes values;

    while (ldap_take_attribute(&list, out, &values))
        if ((*index)-- == 0)
            return true;
    return false;
}

static bool nth_change(const struct ldap_message *m, unsigned index, struct slice *out)
{
    struct bytes in = bytes_of_slice(m->body), list, values;
    struct slice object;
    uint64_t operation;

    der_take_tag(&in, DER_OCTET_STRING, &object);
    list = der_enter(&in, DER_SEQUENCE);
    while (ldap_take_change(&list, &operation, out, &values))
        if (index-- == 0)
            return true;
    return false;
}

static bool nth_searched(const struct ldap_message *m, unsigned index, struct slice *out)
{
    struct bytes in = bytes_of_slice(m->body), list;
    struct der d;

    for (unsigned i = 0; i < 7; i++)        /* up to and with the filter */
        der_take(&in, &d);
    list = der_enter(&in, DER_SEQUENCE);
    while (!list.failed && bytes_left(&list) > 0)
        if (der_take_tag(&list, DER_OCTET_STRING, out) && index-- == 0)
            return true;
    return false;
}

static bool get_request_attribute(struct app_tx *tx, enum direction d UNUSED, unsigned i,
                                  struct slice *out)
{
    const struct ldap_message *m = ldap_tx_of(tx)->request;
    struct slice name;
    struct bytes in;

    if (m == NULL)
        return false;
    switch ((enum ldap_op)m->op) {
    case LDAP_SEARCH_REQUEST:
        return nth_searched(m, i, out);
    case LDAP_MODIFY_REQUEST:
        return nth_change(m, i, out);
    case LDAP_ADD_REQUEST:
        return nth_attribute(ldap_attributes(m, &name), &i, out);
    case LDAP_COMPARE_REQUEST:
        in = ldap_attributes(m, &name);
        return i == 0 && der_take_tag(&in, DER_OCTET_STRING, out);
    default:
        return false;
    }
}

static bool get_response_attribute(struct app_tx *tx, enum direction d UNUSED, unsigned i,
                                   struct slice *out)
{
    struct slice name;

    for (const struct ldap_message *m = ldap_tx_of(tx)->responses; m != NULL; m = m->next)
        if (m->op == LDAP_SEARCH_ENTRY && nth_attribute(ldap_attributes(m, &name), &i, out))
            return true;
    return false;
}

static const struct app_buffer request_dn = {
    .name = "ldap.request.dn", .doc = "name of the object of a request", .directions = APP_TS,
    .get = get_request_dn,
};
static const struct app_buffer response_dn = {
    .name = "ldap.responses.dn", .doc = "name in each response", .directions = APP_TC,
    .multi = true, .get = get_response_dn,
};
static const struct app_buffer message = {
    .name = "ldap.responses.message", .doc = "diagnostic text of each response",
    .directions = APP_TC, .multi = true, .get = get_message,
};
static const struct app_buffer request_attribute = {
    .name = "ldap.request.attribute_type", .doc = "each attribute of a request",
    .directions = APP_TS, .multi = true, .get = get_request_attribute,
};
static const struct app_buffer response_attribute = {
    .name = "ldap.responses.attribute_type", .doc = "each attribute of responses",
    .directions = APP_TC, .multi = true, .get = get_response_attribute,
};

const struct app_buffer *const ldap_buffers[] = {
    &request_dn, &response_dn, &message, &request_attribute, &response_attribute, NULL,
};

/* --- numbers ---------------------------------------------------------------------------------- */

static bool get_request_operation(struct app_tx *tx, enum direction d UNUSED, unsigned i UNUSED,
                                  uint64_t *out)
{
    const struct ldap_message *m = ldap_tx_of(tx)->request;

    if (m == NULL)
        return false;
    *out = m->op;
    return true;
}

static bool get_operation(struct app_tx *tx, enum direction d UNUSED, unsigned i, uint64_t *out)
{
    const struct ldap_message *m = nth_response(tx, i);

    if (m == NULL)
        return false;
    *out = m->op;
    return true;
}

static bool get_result_code(struct app_tx *tx, enum direction d UNUSED, unsigned i, uint64_t *out)
{
    struct ldap_result result;
    struct bytes in;

    for (const struct ldap_message *m = ldap_tx_of(tx)->responses; m != NULL; m = m->next) {
        if (!ldap_take_result(m, &in, &result) || i-- > 0)
            continue;
        *out = result.code;
        return true;
    }
    return false;
}

static const struct app_integer request_operation = {
    .name = "ldap.request.operation", .doc = "operation of a request", .bits = 8,
    .directions = APP_TS, .names = ldap_operations, .get = get_request_operation,
};
static const struct app_integer response_operation = {
    .name = "ldap.responses.operation", .doc = "operations of responses", .bits = 8,
    .directions = APP_TC, .multi = true, .names = ldap_operations, .get = get_operation,
};
static const struct app_integer response_count = {
    .name = "ldap.responses.count", .doc = "number of responses", .bits = 32,
    .directions = APP_TC, .field = APP_FIELD(ldap_tx, response_count, ALWAYS),
};
static const struct app_integer result_code = {
    .name = "ldap.responses.result_code", .doc = "codes of results", .bits = 32,
    .directions = APP_TC, .multi = true, .names = ldap_result_codes, .get = get_result_code,
};

const struct app_integer *const ldap_integers[] = {
    &request_operation, &response_operation, &response_count, &result_code, NULL,
};
