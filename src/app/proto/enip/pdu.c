/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/enip/pdu.c - one message of EtherNet/IP (ODVA, volume 2, chapter 2). */
#include "app/proto/enip/enip.h"

/* Types of items in the Common Packet Format. */
enum {
    ITEM_IDENTITY = 0x0c, ITEM_CONNECTED = 0xb1, ITEM_UNCONNECTED = 0xb2, ITEM_SERVICES = 0x100,
};
#define SOCKET_ADDRESS_LEN 16           /* bytes */
#define SERVICE_NAME_LEN   16
#define INTERFACE_LEN      6            /* bytes: handle and timeout, before items with CIP */

/* 24 bytes, little endian. */
bool enip_read_header(struct bytes in, struct enip_header *out)
{
    out->command = take_le16(&in);
    out->len = take_le16(&in);
    out->session = take_le32(&in);
    out->status = take_le32(&in);
    take_skip(&in, 8);                  /* the sender's context */
    out->options = take_le32(&in);
    return !in.failed;
}

/* An identity item. The socket address is the only part in network order. */
static bool read_identity(struct slice item, struct enip_identity *out)
{
    struct bytes in = bytes_of_slice(item);

    out->version = take_le16(&in);
    take_skip(&in, SOCKET_ADDRESS_LEN);
    out->vendor = take_le16(&in);
    out->device = take_le16(&in);
    out->product = take_le16(&in);
    out->revision = take_be16(&in);     /* a byte each */
    out->status = take_le16(&in);
    out->serial = take_le32(&in);
    out->name = take_slice(&in, take_u8(&in));
    out->state = take_u8(&in);
    return !in.failed;
}

/* Of the list of services only the first item counts. */
static bool read_services(struct slice item, struct enip_services *out)
{
    struct bytes in = bytes_of_slice(item);

    out->version = take_le16(&in);
    out->capabilities = take_le16(&in);
    out->name = take_slice(&in, SERVICE_NAME_LEN);
    return !in.failed;
}

/* Starts with in->next == NULL. Of a connected item, a sequence number comes before the message. */
bool enip_take_item(const struct enip_pdu *pdu, struct bytes *in, struct enip_item *out)
{
    struct slice item;
    uint32_t sequence_len;

    if (in->next == NULL) {
        *in = bytes_of_slice(pdu->bytes);
        take_skip(in, pdu->items_at);
    }
    out->type = take_le16(in);
    out->len = take_le16(in);
    item = take_slice(in, out->len);
    if (in->failed)
        return false;
    out->at = (uint32_t)(item.data - pdu->bytes.data) - 4;
    sequence_len = out->type == ITEM_CONNECTED ? 2 : 0;
    out->message = (struct slice){ NULL, 0 };
    out->message_at = out->at + 4 + sequence_len;
    if ((out->type == ITEM_CONNECTED || out->type == ITEM_UNCONNECTED) && item.len > sequence_len)
        out->message = (struct slice){ item.data + sequence_len, item.len - sequence_len };
    return true;
}

/* Each CIP message must be valid; the first one is kept. */
static bool read_message(const struct enip_item *item, struct enip_pdu *pdu)
{
    struct cip cip;

    if (item->message.len == 0 || !cip_read(item->message, &cip))
        return false;
    if (!pdu->has_message)
        pdu->message = item->message;
    pdu->has_message = true;
    return true;
}

/* `n`: index of the item. The sequence number is that of the second item, after the address. */
static bool read_item(const struct enip_item *item, unsigned n, struct enip_pdu *pdu)
{
    struct slice body = { pdu->bytes.data + item->at + 4, item->len };
    struct enip_identity identity;
    struct enip_services services;

    switch (item->type) {
    case ITEM_IDENTITY:
        if (!read_identity(body, &identity))
            return false;
        if (n == 0) {
            pdu->identity = identity;
            pdu->has_identity = true;
        }
        return true;
    case ITEM_SERVICES:
        if (!read_services(body, &services))
            return false;
        if (n == 0) {
            pdu->services = services;
            pdu->has_services = true;
        }
        return true;
    case ITEM_CONNECTED:
        if (n == 1 && body.len >= 2) {
            pdu->second_connected = true;
            pdu->sequence = get_le16(body.data);
        }
        return read_message(item, pdu);
    case ITEM_UNCONNECTED:
        return read_message(item, pdu);
    default:
        return true;
    }
}

/* False: a truncated or malformed item. The count is the sender's: the loop ends with the data. */
static bool read_items(uint32_t at, struct enip_pdu *pdu)
{
    struct bytes count = bytes_of_slice(pdu->bytes), in = { NULL, NULL, false };
    struct enip_item item;

    take_skip(&count, at);
    pdu->item_count = take_le16(&count);
    pdu->items_at = at + 2;
    if (count.failed)
        return false;
    for (unsigned i = 0; i < pdu->item_count; i++)
        if (!enip_take_item(pdu, &in, &item) || !read_item(&item, i, pdu))
            return false;
    return true;
}

static bool read_session(struct enip_pdu *pdu)
{
    struct bytes in = bytes_of_slice(pdu->bytes);

    take_skip(&in, ENIP_HEADER_LEN);
    pdu->version = take_le16(&in);
    pdu->options = take_le16(&in);
    return !in.failed;
}

/* Requests for a list have no body. */
static enum enip_payload payload_of(const struct enip_header *h)
{
    switch (h->command) {
    case ENIP_REGISTER_SESSION:
        return ENIP_REGISTER;
    case ENIP_LIST_SERVICES:
        return h->len > 0 ? ENIP_SERVICES : ENIP_UNPARSED;
    case ENIP_LIST_INTERFACES:
        return h->len > 0 ? ENIP_INTERFACES : ENIP_UNPARSED;
    case ENIP_LIST_IDENTITY:
        return h->len > 0 ? ENIP_IDENTITIES : ENIP_UNPARSED;
    case ENIP_SEND_RR_DATA: case ENIP_SEND_UNIT_DATA:
        return ENIP_CIP;
    default:
        return ENIP_UNPARSED;
    }
}

/* An invalid message keeps its header only. */
void enip_read_pdu(struct slice bytes, const struct enip_header *header, struct enip_pdu *out)
{
    enum enip_payload payload = payload_of(header);

    *out = (struct enip_pdu){ .header = *header, .bytes = bytes };
    if (payload == ENIP_UNPARSED)
        return;
    if (payload == ENIP_REGISTER)
        out->invalid = !read_session(out);
    else
        out->invalid = !read_items(ENIP_HEADER_LEN + (payload == ENIP_CIP ? INTERFACE_LEN : 0),
                                   out);
    if (!out->invalid)
        out->payload = payload;
    out->has_identity &= out->payload == ENIP_IDENTITIES;
    out->has_services &= out->payload == ENIP_SERVICES;
}
