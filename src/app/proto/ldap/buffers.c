/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ldap/buffers.c - what rules can see of requests and responses.
 *
 * Nothing is decoded in advance: each getter walks the DER of the stored message again, which costs
 * time only when a rule asks. Malformed content ends a walk; the parser checked only the frame. */
#include "app/proto/ldap/ldap.h"
#include "app/values.h"

/* NULL: there are fewer responses. */
static const struct ldap_message *nth_response(struct app_tx *tx, unsigned index)
{
    return APP_ITEM_AT(tx, ldap_tx_of(tx)->responses, ldap_message, index);
}

/* --- names ------------------------------------------------------------------------------------ */

/* The DN that a request is about (RFC 4511 sections 4.2 to 4.10). It comes first in the body,
 * except in a bind request, where the version is in front, and a delete request, which is nothing
 * but the DN. */
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
        der_take_int(&in);  /* version */
        return der_take_tag(&in, DER_OCTET_STRING, out);
    case LDAP_ADD_REQUEST: case LDAP_SEARCH_REQUEST: case LDAP_MODIFY_REQUEST:
    case LDAP_MOD_DN_REQUEST: case LDAP_COMPARE_REQUEST:
        return der_take_tag(&in, DER_OCTET_STRING, out);
    default:
        return false;
    }
}

/* One value for each response, so that the index of a value is the index of its response: a
 * response without a DN has an empty one. */
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
        ldap_attributes(m, out);    /* objectName of a SearchResultEntry (RFC 4511 section 4.5.2) */
    else if (ldap_take_result(m, &in, &result))
        *out = result.dn;   /* matchedDN (RFC 4511 section 4.1.9) */
    return true;
}

/* diagnosticMessage (RFC 4511 section 4.1.9); empty for responses that have no result. */
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

static bool take_type(struct bytes *list, struct slice *out)
{
    struct bytes values;

    return ldap_take_attribute(list, out, &values);
}

static bool take_changed(struct bytes *list, struct slice *out)
{
    struct bytes values;
    uint64_t operation;

    return ldap_take_change(list, &operation, out, &values);
}

static bool take_searched(struct bytes *list, struct slice *out)
{
    while (!list->failed && bytes_left(list) > 0)
        if (der_take_tag(list, DER_OCTET_STRING, out))
            return true;
    return false;
}

/* Modify request (RFC 4511 section 4.6): the object, then a list of changes. */
static struct bytes changes_of(const struct ldap_message *m)
{
    struct bytes in = bytes_of_slice(m->body);
    struct slice object;

    der_take_tag(&in, DER_OCTET_STRING, &object);
    return der_enter(&in, DER_SEQUENCE);
}

/* Search request (RFC 4511 section 4.5.1): baseObject, scope, derefAliases, sizeLimit, timeLimit,
 * typesOnly and filter come before the list of requested attributes. */
static struct bytes searched_of(const struct ldap_message *m)
{
    struct bytes in = bytes_of_slice(m->body);
    struct der d;

    for (unsigned i = 0; i < 7; i++)        /* the seven elements in front, filter included */
        der_take(&in, &d);
    return der_enter(&in, DER_SEQUENCE);
}

/* Attribute names of a request. A compare request (RFC 4511 section 4.10) has exactly one; binds,
 * deletes and extended requests have none. */
static bool get_request_attribute(struct app_tx *tx, enum direction d UNUSED, unsigned i,
                                  struct slice *out)
{
    const struct ldap_message *m = ldap_tx_of(tx)->request;
    struct app_encoded values = { .take = take_type };
    struct slice name;
    struct bytes in;

    if (m == NULL)
        return false;
    switch ((enum ldap_op)m->op) {
    case LDAP_SEARCH_REQUEST:
        values = (struct app_encoded){ .list = searched_of(m), .take = take_searched };
        break;
    case LDAP_MODIFY_REQUEST:
        values = (struct app_encoded){ .list = changes_of(m), .take = take_changed };
        break;
    case LDAP_ADD_REQUEST:
        values.list = ldap_attributes(m, &name);
        break;
    case LDAP_COMPARE_REQUEST:
        in = ldap_attributes(m, &name);
        return i == 0 && der_take_tag(&in, DER_OCTET_STRING, out);
    default:
        return false;
    }
    return app_encoded_value_at(tx, &values, i, out);
}

static struct bytes entry_attributes(const struct ldap_message *m)
{
    struct slice name;

    return m != NULL && m->op == LDAP_SEARCH_ENTRY ? ldap_attributes(m, &name)
                                                   : bytes_of(NULL, 0);
}

/* The attributes of all search entries, numbered through. */
static bool get_response_attribute(struct app_tx *tx, enum direction d UNUSED, unsigned i,
                                   struct slice *out)
{
    static const char keyword;
    const struct ldap_message *m = ldap_tx_of(tx)->responses;
    struct app_place *place = app_place_of(tx, m, &keyword, i);
    struct bytes rest = place->item != NULL ? place->rest : entry_attributes(m);
    unsigned n = place->index;

    if (place->item != NULL)
        m = place->item;
    for (; m != NULL; m = m->next, rest = entry_attributes(m)) {
        bool found;

        place->item = m;
        place->rest = rest;
        for (; (found = take_type(&rest, out)) && n < i; n++)
            place->rest = rest;
        place->index = n;
        if (found)
            return true;
    }
    return false;
}

static const struct app_buffer request_dn = {
    .name = "ldap.request.dn", .doc = "name of the object of a request", .directions = APP_TS,
    .get = get_request_dn,
};
static const struct app_buffer response_dn = {
    .name = "ldap.responses.dn", .doc = "name in each response", .directions = APP_TC,
    .multi = true, .lasts = true, .get = get_response_dn,
};
static const struct app_buffer message = {
    .name = "ldap.responses.message", .doc = "diagnostic text of each response",
    .directions = APP_TC, .multi = true, .lasts = true, .get = get_message,
};
static const struct app_buffer request_attribute = {
    .name = "ldap.request.attribute_type", .doc = "each attribute of a request",
    .directions = APP_TS, .multi = true, .get = get_request_attribute,
};
static const struct app_buffer response_attribute = {
    .name = "ldap.responses.attribute_type", .doc = "each attribute of responses",
    .directions = APP_TC, .multi = true, .lasts = true,
    .get = get_response_attribute,
};

const struct app_buffer *const ldap_buffers[] = {
    &request_dn, &response_dn, &message, &request_attribute, &response_attribute, NULL,
};

/* --- numbers ---------------------------------------------------------------------------------- */

static const struct app_path request_path = { APP_PATH_POINTER(ldap_tx, request) };
static const struct app_path responses_path = { APP_PATH_LIST(ldap_tx, responses, ldap_message) };

static bool has_result(const void *item, const void *arg UNUSED)
{
    struct ldap_result result;
    struct bytes in;

    return ldap_take_result(item, &in, &result);
}

/* Only responses with an LDAPResult count here, so an index is not the index of a response. */
static bool get_result_code(struct app_tx *tx, enum direction d UNUSED, unsigned i, uint64_t *out)
{
    static const char keyword;
    const struct app_values values = {
        .first = ldap_tx_of(tx)->responses, .next = offsetof(struct ldap_message, next),
        .fits = has_result, .arg = &keyword,
    };
    const struct ldap_message *m = app_value_at(tx, &values, i);
    struct ldap_result result;
    struct bytes in;

    if (m == NULL || !ldap_take_result(m, &in, &result))
        return false;
    *out = result.code;
    return true;
}

static const struct app_integer request_operation = {
    .name = "ldap.request.operation", .doc = "operation of a request", .bits = 8,
    .directions = APP_TS, .names = ldap_operations,
    /* The APPLICATION tag of the request (RFC 4511 section 4.2 on). */
    .field = APP_FIELD_PART(&request_path, ldap_message, op, ALWAYS),
};
static const struct app_integer response_operation = {
    .name = "ldap.responses.operation", .doc = "operations of responses", .bits = 8,
    .directions = APP_TC, .multi = true, .lasts = true, .names = ldap_operations,
    .field = APP_FIELD_PART(&responses_path, ldap_message, op, ALWAYS),
};
static const struct app_integer response_count = {
    .name = "ldap.responses.count", .doc = "number of responses", .bits = 32,
    .directions = APP_TC, .field = APP_FIELD(ldap_tx, response_count, ALWAYS),
};
static const struct app_integer result_code = {
    .name = "ldap.responses.result_code", .doc = "codes of results", .bits = 32,
    .directions = APP_TC, .multi = true, .lasts = true, .names = ldap_result_codes,
    .get = get_result_code,
};

const struct app_integer *const ldap_integers[] = {
    &request_operation, &response_operation, &response_count, &result_code, NULL,
};
