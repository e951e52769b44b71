/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/rdp/rdp.h - RDP: the messages that open a session. Their text is in the
 * transaction's arena. */
#ifndef APP_RDP_RDP_H
#define APP_RDP_RDP_H

#include "app/log.h"

enum rdp_kind {
    RDP_REQUEST = 1, RDP_CONFIRM, RDP_CONNECT_REQUEST, RDP_CONNECT_RESPONSE, RDP_CERTIFICATES,
};

enum { RDP_NO_RESPONSE, RDP_ACCEPTED, RDP_REFUSED };

struct rdp_optional {
    bool has;
    uint32_t value;
};

/* Client core data. */
struct rdp_client {
    uint32_t version, build;
    uint16_t width, height, color_depth;
    uint32_t keyboard_layout, keyboard_type, keyboard_subtype, function_keys;
    struct slice name, ime, product;    /* UTF-8 */
    /* Each member is present only if all before it are. */
    struct rdp_optional post_beta2_depth, product_id, serial, high_depth, capabilities, hint;
    struct rdp_optional physical_width, physical_height, orientation, scale, device_scale;
};

struct rdp_tx {
    struct app_tx tx;
    enum rdp_kind kind;
    /* request, confirm */
    bool has_cookie;
    struct slice cookie;
    uint8_t flags;
    uint8_t negotiation;
    uint32_t protocol;                  /* accepted, or why not */
    /* connect request */
    struct rdp_client *client;          /* NULL: none */
    struct slice *channels;
    uint32_t channel_count;
    struct slice certificates;          /* a list of them, as TLS has it */
};
static inline struct rdp_tx *rdp_tx_of(const struct app_tx *tx)
{
    return (struct rdp_tx *)(uintptr_t)tx;
}

struct rdp_state {
    bool tls;                           /* for both sides */
    bool over;                          /* ignore all further input */
};

/* mcs.c: parses a connect request after its two bytes of type. */
void rdp_read_connect(struct slice body, struct rdp_tx *t);
/* The values that enumerations of the protocol have. */
bool rdp_is_high_depth(uint32_t depth);

/* names.c. NULL: unknown. */
const char *rdp_layout_name(uint32_t layout);
const char *rdp_build_name(uint32_t build);
const char *rdp_version_name(uint32_t version);

extern const struct app_log *const rdp_logs[];
void rdp_alert_metadata(struct json *j, struct app_tx *tx);

#endif
