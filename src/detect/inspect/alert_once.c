/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/alert_once.c - a rule with a position in the payload matches the packet when it
 * comes and its bytes again when the stream brings them, and Suricata alerts twice. With
 * detect.alert-once the second match does not count. */
#include "detect/inspect/alert_once.h"

#include "base/array.h"
#include "base/memory/lib_memory.h"
#include "detect/inspect/inspect_private.h"

/* Bytes of the stream from start to before end: the lower 32 bits of their offsets. */
struct alerted {
    uint32_t rule, start, end;
};
struct alerted_bytes {
    uint16_t count, cap;
    struct alerted at[];
};

/* Per direction. A stream has few of them between two reports; further ones alert twice. */
#define ALERTED_MAX 256

/* Offsets that are compared are less than 2 GiB from each other, so they may wrap. */
static bool is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

/* Drops what has been reported. */
static void drop_old(struct alerted_bytes *list, uint32_t reported)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < list->count; i++)
        if (is_before(reported, list->at[i].end))
            list->at[kept++] = list->at[i];
    list->count = (uint16_t)kept;
}

/* NULL: full, or no memory. */
static struct alerted_bytes *with_space(struct stream_dir *ds)
{
    struct stream_ext *ext = stream_ext_get(ds);
    struct alerted_bytes *list = ext != NULL ? ext->alerted : NULL;
    unsigned cap = list != NULL ? list->cap : 0;

    if (ext == NULL || (list != NULL && list->count < cap))
        return list;
    if (cap == ALERTED_MAX)
        return NULL;
    cap = cap > 0 ? cap * 2 : 4;
    list = lib_realloc(list, sizeof(*list) + cap * sizeof(list->at[0]));
    if (list == NULL)
        return NULL;
    if (ext->alerted == NULL)
        list->count = 0;
    list->cap = (uint16_t)cap;
    ext->alerted = list;
    return list;
}

/* What the sender has sent counts its SYN and FIN. For a retransmission this is later data than the
 * packet's, and then one rule may alert twice. */
void alert_once_note(struct stream_dir *ds, const struct match_input *in)
{
    const struct packet *p = in->packet;
    uint32_t end = stream_slot(p)->sent[in->direction] - 1 - ((p->tcp.flags & TCP_FIN) != 0);
    struct alerted_bytes *list = ds->ext != NULL ? ds->ext->alerted : NULL;

    if (list != NULL)
        drop_old(list, (uint32_t)stream_dir_from(ds));
    list = with_space(ds);
    if (list != NULL)
        list->at[list->count++] =
            (struct alerted){ in->rule->index, end - p->payload_len, end };
}

bool alert_once_has(const struct stream_dir *ds, uint32_t rule)
{
    const struct alerted_bytes *list = ds->ext != NULL ? ds->ext->alerted : NULL;

    for (unsigned i = 0; list != NULL && i < list->count; i++)
        if (list->at[i].rule == rule && is_before(list->at[i].start, (uint32_t)ds->to) &&
            is_before((uint32_t)stream_dir_from(ds), list->at[i].end))
            return true;
    return false;
}

void alert_once_clear(struct alerted_bytes *list)
{
    if (list != NULL)
        list->count = 0;
}
