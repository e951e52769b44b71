/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ldap/ldap.h - LDAP version 3 (RFC 4511).
 *
 * A transaction is a request and the responses with its message identifier. Messages are stored
 * as sent, in the transaction's arena; rules and logs decode the parts that they need. */
#ifndef APP_LDAP_LDAP_H
#define APP_LDAP_LDAP_H

#include "app/lib/asn1/der.h"
#include "app/log.h"
#include "app/rules.h"

#define LDAP_EVENT_LIST(E)                                 \
    E(LDAP_TOO_MANY_TRANSACTIONS, "too_many_transactions") \
    E(LDAP_INVALID_DATA, "invalid_data")                   \
    E(LDAP_REQUEST_NOT_FOUND, "request_not_found")         \
    E(LDAP_INCOMPLETE_DATA, "incomplete_data")             \
    E(LDAP_TOO_MANY_RESPONSES, "too_many_responses")

enum ldap_event { LDAP_EVENT_NONE, LDAP_EVENT_LIST(APP_EVENT_ID) };

#define LDAP_OP_LIST(E)                                        \
    E(LDAP_BIND_REQUEST, 0, "bind_request")                    \
    E(LDAP_BIND_RESPONSE, 1, "bind_response")                  \
    E(LDAP_UNBIND_REQUEST, 2, "unbind_request")                \
    E(LDAP_SEARCH_REQUEST, 3, "search_request")                \
    E(LDAP_SEARCH_ENTRY, 4, "search_result_entry")             \
    E(LDAP_SEARCH_DONE, 5, "search_result_done")               \
    E(LDAP_MODIFY_REQUEST, 6, "modify_request")                \
    E(LDAP_MODIFY_RESPONSE, 7, "modify_response")              \
    E(LDAP_ADD_REQUEST, 8, "add_request")                      \
    E(LDAP_ADD_RESPONSE, 9, "add_response")                    \
    E(LDAP_DEL_REQUEST, 10, "del_request")                     \
    E(LDAP_DEL_RESPONSE, 11, "del_response")                   \
    E(LDAP_MOD_DN_REQUEST, 12, "mod_dn_request")               \
    E(LDAP_MOD_DN_RESPONSE, 13, "mod_dn_response")             \
    E(LDAP_COMPARE_REQUEST, 14, "compare_request")             \
    E(LDAP_COMPARE_RESPONSE, 15, "compare_response")           \
    E(LDAP_ABANDON_REQUEST, 16, "abandon_request")             \
    E(LDAP_SEARCH_REFERENCE, 19, "search_result_reference")    \
    E(LDAP_EXTENDED_REQUEST, 23, "extended_request")           \
    E(LDAP_EXTENDED_RESPONSE, 24, "extended_response")         \
    E(LDAP_INTERMEDIATE_RESPONSE, 25, "intermediate_response")
enum ldap_op { LDAP_OP_LIST(APP_NUMBER_ID) };
extern const struct app_name ldap_operations[], ldap_result_codes[];     /* NULL-ended */
const char *ldap_name(const struct app_name *names, uint64_t value);    /* NULL: none */

struct ldap_message {
    struct ldap_message *next;
    uint64_t id;
    uint8_t op;
    struct slice body, controls;        /* content of the operation, of the controls */
};

struct ldap_tx {
    struct app_tx tx;
    struct ldap_message *request, *responses, *last;
    uint32_t response_count;
};
static inline struct ldap_tx *ldap_tx_of(const struct app_tx *tx)
{
    return (struct ldap_tx *)(uintptr_t)tx;
}

/* Takes the result, which most responses contain. False for the others. */
struct ldap_result {
    uint64_t code;
    struct slice dn, text;
};
bool ldap_take_result(const struct ldap_message *m, struct bytes *in, struct ldap_result *out);

/* "type, SET OF value"; false at the end. */
bool ldap_take_attribute(struct bytes *list, struct slice *type, struct bytes *values);
/* Returns the list of attributes of an add request or a search entry, which follows the name. */
struct bytes ldap_attributes(const struct ldap_message *m, struct slice *name);
/* One change of a modify request: its operation and attribute. */
bool ldap_take_change(struct bytes *list, uint64_t *operation, struct slice *type,
                      struct bytes *values);

extern const struct app_buffer *const ldap_buffers[];
extern const struct app_integer *const ldap_integers[];
extern const struct app_log *const ldap_logs[];
void ldap_alert_metadata(struct json *j, struct app_tx *tx);

#endif
