/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dcerpc/pdu.h - DCE/RPC protocol data units (C706 chapter 12), connection-oriented.
 * Shared by the protocol over TCP and by named pipes in SMB.
 *
 * What is read borrows its bytes; only stubs are copied, into an arena. */
#ifndef APP_DCERPC_PDU_H
#define APP_DCERPC_PDU_H

#include "base/err.h"
#include "base/memory/arena.h"
#include "base/text/bytes.h"
#include "base/text/text.h"

struct buf;

#define DCE_HEADER_LEN 16
#define DCE_INTERFACES_MAX 64

enum dce_type {
    DCE_REQUEST = 0, DCE_RESPONSE = 2, DCE_BIND = 11, DCE_BIND_ACK = 12, DCE_ALTER_CONTEXT = 14,
    DCE_ALTER_CONTEXT_RESP = 15, DCE_TYPE_LAST = 20, DCE_UNKNOWN = 99,
};

enum { DCE_FIRST_FRAGMENT = 0x01, DCE_LAST_FRAGMENT = 0x02 };

struct dce_header {
    uint8_t major, minor, type, flags;
    uint8_t representation[2];
    bool little;
    uint16_t length;            /* of the entire fragment */
    uint32_t call_id;
};

struct dce_request {
    uint16_t context, opnum;
};

/* Writes it as 00112233-4455-6677-8899-aabbccddeeff. */
#define DCE_UUID_LEN 16
#define DCE_UUID_TEXT 37

/* An interface that a bind offered. */
struct dce_interface {
    uint8_t uuid[DCE_UUID_LEN]; /* in the order in which it is written */
    uint16_t context, version, minor;
    uint16_t result;
    uint8_t index;              /* within its bind */
    bool acknowledged, first_fragment;
    uint32_t call_id;
};

/* The interfaces of a connection or pipe; grows with the binds, at most DCE_INTERFACES_MAX. */
struct dce_interfaces {
    struct dce_interface *at;
    uint8_t count, space;
};
void dce_interfaces_free(struct dce_interfaces *list);

bool dce_take_header(struct bytes *in, struct dce_header *out);
bool dce_take_request(struct bytes *in, bool little, struct dce_request *out);

/* Reads the body of BIND and ALTER_CONTEXT: adds each interface to *list, or replaces the one with
 * its context id. False: too short. */
bool dce_read_bind(struct bytes body, const struct dce_header *h, struct dce_interfaces *list);
/* The body of their answers: marks the interfaces which the bind of this call offered. */
bool dce_read_bind_ack(struct bytes body, const struct dce_header *h,
                       struct dce_interfaces *list);

/* Stub data of one direction, in parts. */
struct dce_stub {
    struct slice kept;
    uint8_t *data;              /* of the same bytes */
    uint32_t space;
};
void dce_stub_add(struct dce_stub *stub, struct arena *arena, struct slice more, uint32_t limit);

/* Wire order to the order in which it is written. */
void dce_uuid_order(const uint8_t *wire, bool little, uint8_t out[DCE_UUID_LEN]);
const char *dce_uuid_text(const uint8_t uuid[DCE_UUID_LEN], char out[DCE_UUID_TEXT]);
#define DCE_TYPE_TEXT 8
const char *dce_type_text(uint8_t type, char out[DCE_TYPE_TEXT]);

/* --- rules: dcerpc.iface and dcerpc.opnum ---------------------------------------------------- */

struct dce_iface_arg {
    uint8_t uuid[DCE_UUID_LEN];
    enum { DCE_ANY_VERSION, DCE_EQUAL, DCE_NOT, DCE_LESS, DCE_MORE, DCE_LESS_EQUAL,
           DCE_MORE_EQUAL, DCE_RANGE } compare;
    uint16_t version, upper;
    bool any_fragment;
};
int dce_iface_parse(struct text in, void *arg, struct arena *arena, struct err *err);
/* An accepted interface of this UUID and version; context UINT32_MAX: of any. */
bool dce_iface_has(const struct dce_iface_arg *a, const struct dce_interface *interface);
/* For --explain: "the interfaces accepted are 4b324fc8-... version 3". */
void dce_ifaces_tell(const struct dce_interfaces *list, struct buf *out);

struct dce_opnum_range { uint32_t low, high; };
struct dce_opnum_arg {
    const struct dce_opnum_range *at;
    unsigned count;
    uint32_t mask;              /* of the bits that are compared */
    bool negated;               /* what no range has */
};
int dce_opnum_parse(struct text in, void *arg, struct arena *arena, struct err *err);
bool dce_opnum_has(const struct dce_opnum_arg *a, uint16_t opnum);

#endif
