/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/enip/cip.c - CIP messages (ODVA, The CIP Networks Library, volume 1) as views of their
 * bytes: nothing is copied. */
#include "app/proto/enip/enip.h"

#define RESPONSE_FLAG 0x80

/* Takes one segment of a path: logical segments only, with values of 1, 2 or 4 bytes. The wider
 * ones have a byte of padding. Any other segment makes the path invalid. */
bool cip_take_segment(struct bytes *path, struct cip_segment *out)
{
    uint8_t type = take_u8(path);

    if (path->failed || type >> 5 != 1 || (type & 3) == 3)
        return path->failed = true, false;
    out->type = type;
    if ((type & 3) != 0)
        take_skip(path, 1);
    out->value = (type & 3) == 0 ? take_u8(path) : (type & 3) == 1 ? take_le16(path)
                                                                   : take_le32(path);
    return !path->failed;
}

static bool path_holds(struct slice path)
{
    struct bytes in = bytes_of_slice(path);
    struct cip_segment segment;

    while (bytes_left(&in) > 0)
        if (!cip_take_segment(&in, &segment))
            return false;
    return true;
}

/* A Multiple Service Packet: a count, offsets, then the messages. Offsets count from the position
 * of the count. */
static void take_multiple(struct bytes *in, const uint8_t *start, struct cip *out)
{
    out->is_multiple = true;
    out->multiple_at = (uint32_t)(in->next - start);
    out->multiple = (struct slice){ in->next, (uint32_t)bytes_left(in) };
    out->multiple_count = take_le16(in);
    take_skip(in, 2u * out->multiple_count);
}

/* The length of the path is in words. Messages within a packet may not contain packets again: this
 * bounds the recursion. */
static void take_request(struct bytes *in, const uint8_t *start, bool outermost, struct cip *out)
{
    out->path = take_slice(in, 2u * take_u8(in));
    if (in->failed || !path_holds(out->path)) {
        in->failed = true;
        return;
    }
    if (out->service == CIP_GET_ATTRIBUTES)
        out->attributes = take_slice(in, 2u * take_le16(in));
    else if (out->service == CIP_SET_ATTRIBUTES)
        out->attributes = take_slice(in, take_le16(in) > 0 ? 2 : 0);
    else if (out->service == CIP_MULTIPLE && outermost)
        take_multiple(in, start, out);
}

/* Takes status and extended status, whose size counts as a number of bytes. */
static void take_response(struct bytes *in, const uint8_t *start, bool outermost, struct cip *out)
{
    take_skip(in, 1);
    out->status = take_u8(in);
    out->extended = take_slice(in, take_u8(in));
    if (out->service == CIP_MULTIPLE && outermost)
        take_multiple(in, start, out);
}

/* One message, without the messages within it. False: malformed. */
static bool read_one(struct slice bytes, bool outermost, struct cip *out)
{
    struct bytes in = bytes_of_slice(bytes);
    uint8_t service = take_u8(&in);

    *out = (struct cip){ .service = service & (RESPONSE_FLAG - 1),
                         .is_response = service & RESPONSE_FLAG };
    if (out->is_response)
        take_response(&in, bytes.data, outermost, out);
    else
        take_request(&in, bytes.data, outermost, out);
    out->size = (uint32_t)(in.next - bytes.data);
    return !in.failed;
}

/* The nth message within `outer`, at *at bytes from its start. False: no such message. */
bool cip_nested(const struct cip *outer, unsigned n, struct cip *out, uint32_t *at)
{
    uint32_t offset;

    if (n >= outer->multiple_count)
        return false;
    offset = get_le16(outer->multiple.data + 2 + 2 * n);
    if (offset >= outer->multiple.len)
        return false;
    *at = outer->multiple_at + offset;
    return read_one((struct slice){ outer->multiple.data + offset,
                                    outer->multiple.len - offset }, false, out);
}

/* Messages within a packet may overlap, because offsets are free. Their sizes together may not
 * exceed the packet's: otherwise little input would cause much work. */
bool cip_read(struct slice in, struct cip *out)
{
    uint64_t total = 0;
    struct cip inner;
    uint32_t at;

    if (!read_one(in, true, out))
        return false;
    for (unsigned i = 0; i < out->multiple_count; i++) {
        if (!cip_nested(out, i, &inner, &at))
            return false;
        total += inner.size;
        if (total > in.len)
            return false;
    }
    return true;
}
