/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dcerpc/udp.c - connectionless PDUs (C706 section 12.5): a header of 80 bytes, and calls
 * joined from fragments by activity and sequence number. */
#include "app/proto/dcerpc/dcerpc.h"
#include "base/containers/hash.h"

#include <string.h>

enum { FLAG_LAST_FRAGMENT = 0x02, FLAG_FRAGMENT = 0x04 };   /* C706 section 12.5: bits of flags1 */

/* The fields that are needed, in host order. */
struct header {
    uint8_t version, type, flags1, flags2;
    uint8_t representation[2];
    uint8_t activity[DCE_UUID_LEN];
    uint32_t sequence;
    uint16_t opnum, length, fragment;
};

/* Byte order is the sender's choice. */
static uint16_t take_u16(struct bytes *in, bool little)
{
    return little ? take_le16(in) : take_be16(in);
}

/* C706 section 12.5: little endian unless the representation is 0. Skipped: object and
 * interface. */
static bool take_header(struct bytes *in, struct header *h)
{
    const uint8_t *activity;
    bool little;

    h->version = take_u8(in);
    h->type = take_u8(in);
    h->flags1 = take_u8(in);
    h->flags2 = take_u8(in);
    h->representation[0] = take_u8(in);
    h->representation[1] = take_u8(in);
    take_skip(in, 2);
    little = h->representation[0] != 0;
    take_skip(in, 2 * DCE_UUID_LEN);        /* object, interface */
    activity = take_bytes(in, DCE_UUID_LEN);
    if (activity != NULL)
        dce_uuid_order(activity, true, h->activity);
    take_skip(in, 4 + 4);                   /* server boot time, interface version */
    h->sequence = little ? take_le32(in) : take_be32(in);
    h->opnum = take_u16(in, little);
    take_skip(in, 2 + 2);                   /* hints */
    h->length = take_u16(in, little);
    h->fragment = take_u16(in, little);
    take_skip(in, 2);
    return !in->failed;
}

/* Only the first fragment is accepted for detection. */
enum app_probe_result dcerpc_probe_udp(struct bytes in, enum direction d,
                                       const struct flow *f UNUSED)
{
    struct header h;

    if (!take_header(&in, &h) || h.version != 4 || h.fragment != 0 ||
        bytes_left(&in) < h.length || (h.flags2 & 0xfc) != 0 ||
        (h.representation[0] & 0xee) != 0 || h.representation[1] > 3)
        return APP_PROBE_NO;
    return (h.type == DCE_REQUEST) == (d == TO_SERVER) ? APP_PROBE_YES : APP_PROBE_YES_REVERSED;
}

/* Of the calls of an activity and sequence number for which these directions are open. */
static uint64_t key_of(const uint8_t activity[DCE_UUID_LEN], uint32_t sequence, unsigned open)
{
    struct { uint8_t activity[DCE_UUID_LEN]; uint32_t sequence, open; } all = {
        .sequence = sequence, .open = open,
    };

    memcpy(all.activity, activity, DCE_UUID_LEN);
    return hash_bytes(&all, sizeof(all));
}

static void set_key(struct dcerpc_tx *t)
{
    unsigned open = (t->tx.progress[TO_SERVER] == 0 ? APP_TS : 0) |
                    (t->tx.progress[TO_CLIENT] == 0 ? APP_TC : 0);

    if (open != 0)
        app_tx_key(&t->tx, key_of(t->activity, t->sequence, open));
    else
        app_tx_key_drop(&t->tx);
}

/* The oldest open call of this activity and sequence number: both directions are open, or this one
 * only. */
static struct dcerpc_tx *find_tx(struct app_flow *af, const struct header *h, enum direction d)
{
    struct app_tx *both = app_tx_by_key(af, key_of(h->activity, h->sequence, APP_BOTH));
    struct app_tx *one = app_tx_by_key(af, key_of(h->activity, h->sequence,
                                                  APP_DIRECTION_BIT(d)));

    if (both == NULL || (one != NULL && one->id < both->id))
        return one != NULL ? dcerpc_tx_of(one) : NULL;
    return dcerpc_tx_of(both);
}

/* The types are preset for a call whose other part is never seen. */
static struct dcerpc_tx *new_tx(struct app_flow *af, const struct header *h)
{
    struct dcerpc_tx *t = dcerpc_tx_of(app_tx_new(af));

    if (t == NULL)
        return NULL;
    t->is_udp = true;
    t->little = (h->representation[0] & 0x10) != 0;
    t->sequence = h->sequence;
    memcpy(t->activity, h->activity, DCE_UUID_LEN);
    t->ds[TO_SERVER].type = DCE_REQUEST;
    t->ds[TO_CLIENT].type = DCE_RESPONSE;
    set_key(t);
    return t;
}

/* A datagram with another type stops the parsing of this datagram only. Fragments are appended in
 * the order of arrival. */
enum parse_status dcerpc_parse_udp(struct app_flow *af, struct app_input *in)
{
    const struct dcerpc_settings *settings = af->settings;
    struct bytes bytes = app_input_bytes(in);
    struct dcerpc_dir *ds;
    struct dcerpc_tx *t;
    struct header h;
    struct slice stub;
    enum direction d;

    if (in->len == 0)
        return PARSE_OK;
    if (!take_header(&bytes, &h) || h.version != 4)
        return PARSE_STOP;
    stub = take_slice(&bytes, h.length);
    if (bytes.failed || (h.type != DCE_REQUEST && h.type != DCE_RESPONSE))
        return PARSE_STOP;
    d = h.type == DCE_REQUEST ? TO_SERVER : TO_CLIENT;
    t = find_tx(af, &h, d);
    if (t == NULL)
        t = new_tx(af, &h);
    if (t == NULL)
        return PARSE_STOP;
    ds = &t->ds[d];
    ds->fragments = (uint16_t)MIN(ds->fragments + 1, UINT16_MAX);
    dce_stub_add(&ds->stub, &t->tx.arena, stub, settings->max_stub_size);
    if (d == TO_SERVER)
        t->opnum = h.opnum;
    if ((h.flags1 & FLAG_FRAGMENT) == 0 || (h.flags1 & FLAG_LAST_FRAGMENT) != 0)
        t->tx.progress[d] = 1;
    set_key(t);
    return PARSE_OK;
}
