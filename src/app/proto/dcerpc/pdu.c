/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dcerpc/pdu.c - headers, binds and stubs of connection-oriented PDUs (C706 section
 * 12.6). */
#include "app/proto/dcerpc/pdu.h"

#include "base/array.h"
#include "base/memory/lib_memory.h"
#include "base/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYNTAX_LEN 20               /* UUID and version of a transfer syntax */

static uint16_t take_u16(struct bytes *in, bool little)
{
    return little ? take_le16(in) : take_be16(in);
}

static uint32_t take_u32(struct bytes *in, bool little)
{
    return little ? take_le32(in) : take_be32(in);
}

/* C706 section 12.6.3. The representation decides the byte order of all numbers after it. */
bool dce_take_header(struct bytes *in, struct dce_header *out)
{
    out->major = take_u8(in);
    out->minor = take_u8(in);
    out->type = take_u8(in);
    out->flags = take_u8(in);
    out->representation[0] = take_u8(in);
    out->representation[1] = take_u8(in);
    take_skip(in, 2);
    out->little = (out->representation[0] & 0x10) != 0;
    out->length = take_u16(in, out->little);
    take_skip(in, 2);               /* auth_length */
    out->call_id = take_u32(in, out->little);
    return !in->failed;
}

/* C706 section 12.6.4.9. */
bool dce_take_request(struct bytes *in, bool little, struct dce_request *out)
{
    take_skip(in, 4);               /* alloc_hint */
    out->context = take_u16(in, little);
    out->opnum = take_u16(in, little);
    return !in->failed;
}

/* --- interfaces ----------------------------------------------------------------------------- */

void dce_interfaces_free(struct dce_interfaces *list)
{
    lib_free(list->at);
    *list = (struct dce_interfaces){ 0 };
}

/* The first three groups of a UUID follow the sender's byte order. */
void dce_uuid_order(const uint8_t *wire, bool little, uint8_t out[DCE_UUID_LEN])
{
    static const uint8_t order[DCE_UUID_LEN] = { 3, 2, 1, 0, 5, 4, 7, 6,
                                                 8, 9, 10, 11, 12, 13, 14, 15 };

    for (unsigned i = 0; i < DCE_UUID_LEN; i++)
        out[i] = wire[little ? order[i] : i];
}

/* One element of a bind: context, UUID, version, transfer syntaxes. At least one syntax is
 * assumed. */
static bool take_interface(struct bytes *in, const struct dce_header *h,
                           struct dce_interface *out)
{
    const uint8_t *uuid;
    unsigned syntaxes;

    out->context = take_u16(in, h->little);
    syntaxes = take_u8(in);
    take_skip(in, 1);
    uuid = take_bytes(in, DCE_UUID_LEN);
    if (uuid != NULL)
        dce_uuid_order(uuid, h->little, out->uuid);
    if (h->little) {
        out->version = take_le16(in);
        out->minor = take_le16(in);
    } else {
        out->minor = take_be16(in);
        out->version = take_be16(in);
    }
    take_skip(in, (size_t)SYNTAX_LEN * MAX(syntaxes, 1));
    out->call_id = h->call_id;
    out->first_fragment = (h->flags & DCE_FIRST_FRAGMENT) != 0;
    return !in->failed;
}

/* A context that is offered again replaces the earlier one. Beyond DCE_INTERFACES_MAX new ones are
 * dropped. */
static void put_interface(struct dce_interfaces *list, const struct dce_interface *new)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (list->at[i].context == new->context) {
            list->at[i] = *new;
            return;
        }
    }
    if (list->count == DCE_INTERFACES_MAX)
        return;
    if (list->count == list->space) {
        uint8_t space = (uint8_t)MAX(list->space * 2, 4);
        struct dce_interface *at = lib_realloc(list->at, space * sizeof(*at));

        if (at == NULL)
            return;
        list->at = at;
        list->space = space;
    }
    list->at[list->count++] = *new;
}

/* C706 section 12.6.4.3. The count is one byte; a truncated list is malformed. */
bool dce_read_bind(struct bytes body, const struct dce_header *h, struct dce_interfaces *list)
{
    unsigned count;

    take_skip(&body, 2 + 2 + 4);    /* greatest fragments, association group */
    count = take_u8(&body);
    take_skip(&body, 3);
    for (unsigned i = 0; i < count; i++) {
        struct dce_interface one = { .index = (uint8_t)i };

        if (!take_interface(&body, h, &one))
            return false;
        put_interface(list, &one);
    }
    return !body.failed;
}

/* Results come in the order of the bind's elements. */
static void acknowledge(struct dce_interfaces *list, const struct dce_header *h, unsigned index,
                        uint16_t result)
{
    for (unsigned i = 0; i < list->count; i++) {
        struct dce_interface *one = &list->at[i];

        if (one->index != index || one->call_id != h->call_id)
            continue;
        one->result = result;
        one->acknowledged = true;
    }
}

/* C706 section 12.6.4.4. The secondary address is padded to 4 bytes. */
bool dce_read_bind_ack(struct bytes body, const struct dce_header *h, struct dce_interfaces *list)
{
    unsigned address, count;

    take_skip(&body, 2 + 2 + 4);
    address = take_u16(&body, h->little);
    take_skip(&body, address);
    take_skip(&body, -(2 + address) & 3);
    count = take_u8(&body);
    take_skip(&body, 3);
    for (unsigned i = 0; i < count; i++) {
        uint16_t result = take_u16(&body, h->little);

        take_skip(&body, 2 + SYNTAX_LEN);       /* reason, transfer syntax */
        if (body.failed)
            return false;
        acknowledge(list, h, i, result);
    }
    return !body.failed;
}

/* --- stubs ---------------------------------------------------------------------------------- */

/* Keeps at most `limit` bytes. The buffer doubles, because arena memory is not returned. */
void dce_stub_add(struct dce_stub *stub, struct arena *arena, struct slice more, uint32_t limit)
{
    uint32_t n = MIN(more.len, limit - MIN(stub->kept.len, limit));

    if (n == 0)
        return;
    if (stub->space - stub->kept.len < n) {
        uint32_t space = stub->data == NULL ? n : MAX(2 * stub->kept.len, stub->kept.len + n);
        uint8_t *bigger = arena_alloc(arena, space);

        if (bigger == NULL)
            return;
        if (stub->data != NULL)
            memcpy(bigger, stub->data, stub->kept.len);
        stub->kept.data = stub->data = bigger;
        stub->space = space;
    }
    memcpy(stub->data + stub->kept.len, more.data, n);
    stub->kept.len += n;
}

/* --- text ----------------------------------------------------------------------------------- */

const char *dce_uuid_text(const uint8_t uuid[DCE_UUID_LEN], char out[DCE_UUID_TEXT])
{
    static const char hex[] = "0123456789abcdef";
    char *p = out;

    for (unsigned i = 0; i < DCE_UUID_LEN; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        *p++ = hex[uuid[i] >> 4];
        *p++ = hex[uuid[i] & 15];
    }
    *p = '\0';
    return out;
}

const char *dce_type_text(uint8_t type, char out[DCE_TYPE_TEXT])
{
    static const char *const names[] = {
        "REQUEST", "PING", "RESPONSE", "FAULT", "WORKING", "NOCALL", "REJECT", "ACK", "CL_CANCEL",
        "FACK", "CANCEL_ACK", "BIND", "BINDACK", "BINDNAK", "ALTER_CONTEXT",
        "ALTER_CONTEXT_RESP", "AUTH3", "SHUTDOWN", "CO_CANCEL", "ORPHANED", "RTS",
    };

    if (type < ARRAY_LEN(names))
        return names[type];
    if (type == DCE_UNKNOWN)
        return "UNKNOWN";
    snprintf(out, DCE_TYPE_TEXT, "%u", type);
    return out;
}
