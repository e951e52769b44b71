/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/defrag.c - IP fragments: trackers (one per datagram) and their frags.
 *
 * The frags of a tracker are in order and never overlap. When a fragment arrives, the policy of the
 * destination decides for each frag that it overlaps which one keeps the common bytes, and the
 * other one is trimmed at once. So a datagram is complete if the bytes held reach from 0 to the end
 * without a hole, which two numbers tell.
 *
 * Hostile input: fragments may overlap, repeat, never complete, or fill the memory. Frags, memory
 * and time are limited; at the limit the tracker that waits longest is removed. RFC 5722 forbids
 * overlaps for IPv6, but receivers may accept them, so ids reassembles them and raises an event. */
#include "packet/defrag_private.h"

#include "base/array.h"
#include "base/memory/traffic_memory.h"
#include "base/text/bytes.h"
#include "packet/checksum.h"
#include "packet/defrag_policy.h"
#include "packet/flow_hash.h"
#include "packet/seqno.h"

#include <stdlib.h>
#include <string.h>

/* The total length of IPv4 and the payload length of IPv6 have 16 bits. */
#define DATAGRAM_MAX   65535u
#define IPV6_HEADER_LEN 40u
#define FRAG_MIN      512u         /* smallest buffer, so that buffers fit other fragments later */
#define HEAD_MIN       128u
#define EXPIRE_SLACK_US 10000000u   /* lookups enforce timeouts; others go later */

/* A datagram of more frags than this has an index of where they are: who sends fragments decides
 * how many lie before the next one. */
#define NEAR_FROM 32u
#define NEAR_BYTES 512u
#define NEAR_SLOTS ((DATAGRAM_MAX + 1) / NEAR_BYTES)

/* Bytes [start, end) of the datagram. */
struct frag {
    struct frag *next;
    uint32_t start, end;
    uint32_t fragment_start, fragment_end;  /* of the fragment that it is a part of */
    bool last;                              /* its fragment had no "more fragments" */
    uint32_t base;                          /* offset in the datagram of data[0] */
    uint32_t cap;
    uint8_t *data;
};

/* One datagram. Belongs to one decoder, as all of this file. */
struct tracker {
    struct tracker *hash_next;
    struct tracker *older, *newer;          /* by their latest fragment */
    struct frag *frags, *tail;
    struct frag **near;                     /* by NEAR_BYTES of start: one frag that begins there;
                                             * NULL: there are few */
    uint32_t count;
    uint32_t covered, end;                  /* bytes held; end of the last frag */
    uint32_t hash;
    uint64_t deadline_us;                   /* by the fragments' timestamps */
    uint64_t end_us;                        /* by the order of packets, in which time goes on */
    uint32_t timeout_s;
    struct ip src, dst;
    uint32_t id;
    uint16_t vlan[PACKET_VLANS_MAX];
    uint8_t proto;
    uint8_t policy;
    bool seen_last;
    uint8_t datalink;                       /* of the fragment with byte 0, and its headers: */
    uint32_t ip_offset;
    uint8_t *head;
    uint32_t head_len, head_cap;
};

struct defrag {
    const struct defrag_conf *conf;
    struct counters *counters;
    struct tracker **row;
    uint64_t memory;                        /* bytes allocated, used or spare */
    uint32_t frags_in_use;
    struct frag *spare_frags;
    struct tracker *spare_trackers;
    struct tracker *oldest, *newest;
    struct buf frame;                       /* the complete datagram, until it is taken */
};

/* --- memory --- */

static void memory_change(struct defrag *df, int64_t bytes)
{
    df->memory += (uint64_t)bytes;
    counter_set(df->counters, df->conf->memuse, df->memory);
}

/* Other threads may lower the memcap at run time, hence the atomic load. */
static bool memory_has(const struct defrag *df, uint64_t bytes)
{
    return df->memory + bytes <= __atomic_load_n(&df->conf->memcap_each, __ATOMIC_RELAXED);
}

static void frag_destroy(struct defrag *df, struct frag *frag)
{
    memory_change(df, -(int64_t)(sizeof(*frag) + frag->cap));
    traffic_free(frag->data);
    traffic_free(frag);
}

static void tracker_remove(struct defrag *df, struct tracker *tr);

static bool drop_spare_frag(struct defrag *df)
{
    struct frag *frag = df->spare_frags;

    if (frag == NULL)
        return false;
    df->spare_frags = frag->next;
    frag_destroy(df, frag);
    return true;
}

/* Makes space: first from spare buffers, then from the trackers that wait longest. Never from the
 * newest one, which is the caller's. */
static bool memory_make_space(struct defrag *df, uint64_t bytes)
{
    while (!memory_has(df, bytes)) {
        if (drop_spare_frag(df))
            continue;
        if (df->oldest == df->newest)
            return false;
        counter_inc(df->counters, df->conf->hard_reuse);
        tracker_remove(df, df->oldest);
    }
    return true;
}

/* Sizes are rounded up to 128 bytes, so that buffers are reused more often. */
static bool bytes_grow(struct defrag *df, uint8_t **data, uint32_t *cap, uint32_t need,
                       uint32_t least)
{
    uint32_t size = (MAX(need, least) + 127) & ~127u;
    uint8_t *grown;

    if (*cap >= need)
        return true;
    if (!memory_make_space(df, size - *cap))
        return false;
    grown = traffic_realloc(*data, size);
    if (grown == NULL)
        return false;
    memory_change(df, (int64_t)size - *cap);
    *data = grown;
    *cap = size;
    return true;
}

static void frag_put(struct defrag *df, struct frag *frag)
{
    frag->next = df->spare_frags;
    df->spare_frags = frag;
    df->frags_in_use--;
}

/* NULL at max-frags or at the memcap. */
static struct frag *frag_get(struct defrag *df, uint32_t size)
{
    struct frag *frag = df->spare_frags;

    if (df->frags_in_use >= df->conf->frag_limit)
        return NULL;
    if (frag != NULL) {
        df->spare_frags = frag->next;
    } else {
        if (!memory_make_space(df, sizeof(*frag)) ||
            (frag = traffic_calloc(1, sizeof(*frag))) == NULL)
            return NULL;
        memory_change(df, sizeof(*frag));
    }
    df->frags_in_use++;
    if (bytes_grow(df, &frag->data, &frag->cap, size, FRAG_MIN))
        return frag;
    frag_put(df, frag);
    return NULL;
}

/* --- trackers --- */

/* Trackers are in a list by the time of their latest fragment: the oldest is the next to expire. */
static void age_unlink(struct defrag *df, struct tracker *tr)
{
    *(tr->older != NULL ? &tr->older->newer : &df->oldest) = tr->newer;
    *(tr->newer != NULL ? &tr->newer->older : &df->newest) = tr->older;
}

static void age_append(struct defrag *df, struct tracker *tr)
{
    tr->older = df->newest;
    tr->newer = NULL;
    *(df->newest != NULL ? &df->newest->newer : &df->oldest) = tr;
    df->newest = tr;
}

static struct tracker **row_of(const struct defrag *df, uint32_t hash)
{
    return &df->row[hash % df->conf->hash_size];
}

static void near_free(struct defrag *df, struct tracker *tr)
{
    if (LIKELY(tr->near == NULL))
        return;
    traffic_free(tr->near);
    memory_change(df, -(int64_t)(NEAR_SLOTS * sizeof(tr->near[0])));
    tr->near = NULL;
}

static void tracker_clear(struct defrag *df, struct tracker *tr)
{
    near_free(df, tr);
    while (tr->frags != NULL) {
        struct frag *frag = tr->frags;

        tr->frags = frag->next;
        frag_put(df, frag);
    }
}

static void tracker_remove(struct defrag *df, struct tracker *tr)
{
    struct tracker **link = row_of(df, tr->hash);

    while (*link != tr)
        link = &(*link)->hash_next;
    *link = tr->hash_next;
    age_unlink(df, tr);
    tracker_clear(df, tr);
    tr->hash_next = df->spare_trackers;
    df->spare_trackers = tr;
}

static void tracker_destroy(struct tracker *tr)
{
    traffic_free(tr->head);
    traffic_free(tr);
}

/* Takes a spare tracker, allocates one, or at the memcap reuses the one that has waited longest
 * for a fragment. */
static struct tracker *tracker_get(struct defrag *df)
{
    struct tracker *tr;

    if (df->spare_trackers == NULL && !memory_make_space(df, sizeof(*tr)) && df->oldest != NULL) {
        counter_inc(df->counters, df->conf->hard_reuse);
        tracker_remove(df, df->oldest);
    }
    tr = df->spare_trackers;
    if (tr != NULL) {
        df->spare_trackers = tr->hash_next;
        return tr;
    }
    if (!memory_has(df, sizeof(*tr)) || (tr = traffic_calloc(1, sizeof(*tr))) == NULL)
        return NULL;
    memory_change(df, sizeof(*tr));
    return tr;
}

/* Compares the fields that identify a datagram: addresses, protocol and identification (RFC
 * 791), and the VLANs, because other networks use the same addresses. */
static bool key_equal(const struct tracker *tr, const struct packet *p)
{
    return tr->id == p->fragment.id && tr->proto == p->ip_proto && ip_equal(&tr->src, &p->src) &&
           ip_equal(&tr->dst, &p->dst) && memcmp(tr->vlan, p->vlan, sizeof(tr->vlan)) == 0;
}

/* Policy and timeout are those of the destination: the host that reassembles. */
static void tracker_init(struct defrag *df, struct tracker *tr, uint32_t hash,
                         const struct packet *p)
{
    const struct defrag_conf *conf = df->conf;
    uint8_t *head = tr->head;
    uint32_t head_cap = tr->head_cap;

    *tr = (struct tracker){
        .head = head,
        .head_cap = head_cap,
        .hash = hash,
        .src = p->src,
        .dst = p->dst,
        .id = p->fragment.id,
        .proto = p->ip_proto,
        .policy = (uint8_t)ip_settings_find(conf->policies, &p->dst, DEFRAG_BSD),
        .timeout_s = ip_settings_find(conf->timeouts, &p->dst, conf->timeout_s),
    };
    memcpy(tr->vlan, p->vlan, sizeof(tr->vlan));
    tr->hash_next = *row_of(df, hash);
    *row_of(df, hash) = tr;
    age_append(df, tr);
}

/* Removes expired trackers from its chain. What is found does not depend on which of them
 * defrag_expire() has removed before. */
static struct tracker *tracker_find(struct defrag *df, uint32_t hash, const struct packet *p)
{
    for (struct tracker *tr = *row_of(df, hash), *next; tr != NULL; tr = next) {
        next = tr->hash_next;
        if (tr->deadline_us <= p->time_us || tr->end_us <= packet_order_us(p)) {
            counter_inc(df->counters, df->conf->lookup_timeout);
            tracker_remove(df, tr);
        } else if (key_equal(tr, p)) {
            return tr;
        }
    }
    return NULL;
}

/* Suricata's exception policy of defrag. Fragments have no flow, so flow policies act on the
 * packet. */
static void apply_memcap_policy(struct defrag *df, struct packet *p)
{
    enum memcap_policy policy = df->conf->memcap_policy;

    if (policy == MEMCAP_IGNORE)
        return;
    counter_inc(df->counters, df->conf->applied[policy]);
    p->flags |= PACKET_NO_INSPECT | PACKET_NO_PAYLOAD_INSPECT;
    if (policy == MEMCAP_PASS)
        return;
    packet_drop(p, DROP_DEFRAG_MEMCAP);
    if (policy == MEMCAP_REJECT)
        p->action |= ACTION_REJECT_SRC;
    if (policy == MEMCAP_REJECT_BOTH)
        p->action |= ACTION_REJECT;
}

/* simulate_memcap is for tests of the policies: it fails at one packet. */
static struct tracker *tracker_for(struct defrag *df, struct packet *p)
{
    uint32_t hash = fragment_hash(p);
    struct tracker *tr = tracker_find(df, hash, p);
    bool full = df->conf->simulate_memcap != 0 && p->number == df->conf->simulate_memcap;

    if (tr != NULL)
        return tr;
    tr = full ? NULL : tracker_get(df);
    if (tr == NULL) {
        counter_inc(df->counters, df->conf->max_trackers);
        apply_memcap_policy(df, p);
        return NULL;
    }
    tracker_init(df, tr, hash, p);
    return tr;
}

/* --- where frags are --- */

static uint32_t near_slot(uint32_t at)
{
    return MIN(at / NEAR_BYTES, NEAR_SLOTS - 1);
}

static void near_note(struct tracker *tr, struct frag *frag)
{
    if (tr->near != NULL)
        tr->near[near_slot(frag->start)] = frag;
}

/* Called before the frag is freed or its start changes. */
static void near_remove(struct tracker *tr, const struct frag *frag)
{
    uint32_t slot = near_slot(frag->start);

    if (tr->near == NULL || tr->near[slot] != frag)
        return;
    tr->near[slot] = frag->next != NULL && near_slot(frag->next->start) == slot ? frag->next : NULL;
}

/* Without memory the list is walked. */
static COLD void near_make(struct defrag *df, struct tracker *tr)
{
    if (!memory_make_space(df, NEAR_SLOTS * sizeof(tr->near[0])))
        return;
    tr->near = traffic_calloc(NEAR_SLOTS, sizeof(tr->near[0]));
    if (tr->near == NULL)
        return;
    memory_change(df, NEAR_SLOTS * sizeof(tr->near[0]));
    for (struct frag *frag = tr->frags; frag != NULL; frag = frag->next)
        near_note(tr, frag);
}

/* A frag that begins before `start`, and near it; NULL: none is known. Frags do not overlap, so
 * that those before it end before `start`. */
static struct frag *near_before(const struct tracker *tr, uint32_t start)
{
    uint32_t slot = near_slot(start);

    if (tr->near == NULL)
        return NULL;
    if (tr->near[slot] != NULL && tr->near[slot]->start < start)
        return tr->near[slot];
    while (slot > 0)
        if (tr->near[--slot] != NULL)
            return tr->near[slot];
    return NULL;
}

/* --- frags --- */

/* The fragment that is being inserted. */
struct newcomer {
    struct defrag *df;
    struct tracker *tr;
    const uint8_t *data;
    uint32_t start, end;
    bool last;
    bool owns_first;            /* byte 0 of the datagram is from it */
};

static void note_new(struct newcomer *n, struct frag *frag)
{
    n->tr->count++;
    if (UNLIKELY(n->tr->count == NEAR_FROM && n->tr->near == NULL))     /* frags go again, too */
        near_make(n->df, n->tr);
    else
        near_note(n->tr, frag);
}

/* Puts bytes [from, to) of the newcomer before *link. NULL: no space. */
static struct frag *append_frag(struct newcomer *n, struct frag **link, uint32_t from,
                               uint32_t to)
{
    struct frag *frag = frag_get(n->df, to - from);

    if (frag == NULL)
        return NULL;
    memcpy(frag->data, n->data + (from - n->start), to - from);
    frag->base = frag->start = from;
    frag->end = to;
    frag->fragment_start = n->start;
    frag->fragment_end = n->end;
    frag->last = n->last;
    frag->next = *link;
    *link = frag;
    if (frag->next == NULL)
        n->tr->tail = frag;
    note_new(n, frag);
    n->tr->end = MAX(n->tr->end, to);
    n->tr->covered += to - from;
    n->tr->seen_last |= n->last;
    n->owns_first |= from == 0;
    return frag;
}

/* Splits an older frag that contains the newcomer: makes the part after the newcomer. */
static bool split_frag(struct newcomer *n, struct frag *frag)
{
    struct frag *tail = frag_get(n->df, frag->end - n->end);
    uint8_t *data;
    uint32_t cap;

    if (tail == NULL)
        return false;
    data = tail->data;
    cap = tail->cap;
    *tail = *frag;
    tail->data = data;
    tail->cap = cap;
    tail->base = tail->start = n->end;
    memcpy(tail->data, frag->data + (n->end - frag->base), frag->end - n->end);
    frag->next = tail;
    if (tail->next == NULL)
        n->tr->tail = tail;
    note_new(n, tail);
    n->tr->covered += tail->end - tail->start;
    return true;
}

/* The older frag at *link gives its common bytes to the newcomer. Returns the next link; NULL: no
 * space. */
static struct frag **trim_old(struct newcomer *n, struct frag **link)
{
    struct frag *frag = *link;
    struct tracker *tr = n->tr;

    if (frag->start < n->start) {
        if (frag->end > n->end && !split_frag(n, frag))
            return NULL;
        tr->covered -= frag->end - n->start;
        frag->end = n->start;
        return &frag->next;
    }
    if (frag->end > n->end) {
        tr->covered -= n->end - frag->start;
        near_remove(tr, frag);
        frag->start = n->end;
        near_note(tr, frag);
        return &frag->next;
    }
    tr->covered -= frag->end - frag->start;
    near_remove(tr, frag);
    tr->count--;
    *link = frag->next;
    frag_put(n->df, frag);
    return link;
}

/* First pass: trims older frags that lose against the newcomer. They compare by the extents of
 * their original fragments, not by what is left of them, as the receiving system does. */
static bool make_way(struct newcomer *n, bool *overlap)
{
    struct frag *before = near_before(n->tr, n->start);
    struct frag **link = before != NULL ? &before : &n->tr->frags;

    while (*link != NULL && (*link)->start < n->end) {
        struct frag *old = *link;

        if (old->end <= n->start) {
            link = &old->next;
            continue;
        }
        *overlap = true;
        if (defrag_policy_keeps_old(n->tr->policy, old->fragment_start, old->fragment_end,
                                    n->start, n->end)) {
            link = &old->next;
            continue;
        }
        link = trim_old(n, link);
        if (link == NULL)
            return false;
    }
    return true;
}

/* In-order fragments are the common case: no list is walked for them. */
static bool is_behind_all(const struct newcomer *n)
{
    return n->tr->tail != NULL && n->start >= n->tr->end;
}

/* Second pass: the newcomer fills the holes that are left. */
static bool fill_holes(struct newcomer *n)
{
    struct frag *before = near_before(n->tr, n->start);
    struct frag **link = is_behind_all(n) ? &n->tr->tail->next
                         : before != NULL ? &before : &n->tr->frags;
    uint32_t from = n->start;

    while (from < n->end) {
        struct frag *old = *link;
        uint32_t to = old != NULL ? MIN(old->start, n->end) : n->end;

        if (from < to) {
            struct frag *frag = append_frag(n, link, from, to);

            if (frag == NULL)
                return false;
            link = &frag->next;
            from = to;
        } else {
            from = MAX(from, old->end);
            link = &old->next;
        }
    }
    return true;
}

/* The headers of the fragment with byte 0 become the datagram's (RFC 791; RFC 8200, section
 * 4.5). */
static bool keep_head(struct newcomer *n, const struct packet *p, const struct fragment *f)
{
    struct tracker *tr = n->tr;

    if (!n->owns_first)
        return true;
    if (!bytes_grow(n->df, &tr->head, &tr->head_cap, f->head_len, HEAD_MIN))
        return false;
    memcpy(tr->head, p->data, f->head_len);
    if (f->next_at != 0)
        tr->head[f->next_at] = f->next;
    tr->head_len = f->head_len;
    tr->ip_offset = (uint32_t)(p->l3 - p->data);
    tr->datalink = p->datalink;
    return true;
}

/* --- the datagram --- */

static bool is_complete(const struct tracker *tr)
{
    return tr->seen_last && tr->covered == tr->end;
}

/* The fragment without "more fragments" ends the datagram, even if others reach further. */
static uint32_t datagram_end(const struct tracker *tr)
{
    for (const struct frag *frag = tr->frags; frag != NULL; frag = frag->next)
        if (frag->last)
            return frag->fragment_end;
    return tr->end;
}

static void copy_data(struct buf *frame, const struct tracker *tr)
{
    uint32_t end = datagram_end(tr);

    for (const struct frag *frag = tr->frags; frag != NULL && frag->start < end;
         frag = frag->next)
        buf_add(frame, frag->data + (frag->start - frag->base),
                MIN(frag->end, end) - frag->start);
}

/* Updates the checksum for the changed fields instead of computing it again (RFC 1624). So it stays
 * wrong if that of the first fragment was wrong. */
static void fix_ipv4(uint8_t *ip, uint32_t total)
{
    uint64_t sum = (uint16_t)~get_be16(ip + 10);

    sum += (uint16_t)~get_be16(ip + 2) + (uint16_t)~get_be16(ip + 6) + total;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    put_be16(ip + 10, (uint16_t)~sum);
    put_be16(ip + 2, total);
    put_be16(ip + 6, 0);
}

/* False if the datagram exceeds what IP can describe. */
static bool assemble(struct defrag *df, const struct tracker *tr)
{
    struct buf *frame = &df->frame;
    uint32_t ip_len;

    buf_clear(frame);
    buf_add(frame, tr->head, tr->head_len);
    copy_data(frame, tr);
    if (frame->failed) {
        counter_inc(df->counters, df->conf->max_frags);
        return false;
    }
    ip_len = (uint32_t)frame->len - tr->ip_offset;
    if (tr->src.version == 4) {
        if (ip_len > DATAGRAM_MAX)
            return false;
        fix_ipv4(frame->data + tr->ip_offset, ip_len);
        counter_inc(df->counters, df->conf->ipv4_reassembled);
    } else {
        if (ip_len - IPV6_HEADER_LEN > DATAGRAM_MAX)
            return false;
        put_be16(frame->data + tr->ip_offset + 4, ip_len - IPV6_HEADER_LEN);
        counter_inc(df->counters, df->conf->ipv6_reassembled);
    }
    return true;
}

/* Suricata writes the length of a datagram that is too long modulo 2^16. If the headers before the
 * fragment do not fit in that, they are truncated. The datagram is not read here, but has the
 * event. */
static bool is_cut_modulo(const struct defrag *df, const struct tracker *tr)
{
    uint32_t payload = (uint32_t)df->frame.len - tr->ip_offset - IPV6_HEADER_LEN;

    return tr->src.version == 6 && !df->frame.failed && payload > DATAGRAM_MAX &&
           (payload & DATAGRAM_MAX) < tr->head_len - tr->ip_offset - IPV6_HEADER_LEN;
}

/* False, with the event set: the datagram would end beyond what IP can describe (the "ping of
 * death"). */
static bool length_ok(struct packet *p, const struct fragment *f)
{
    bool v4 = p->src.version == 4;
    uint32_t end = p->fragment.offset + f->data_len + (v4 ? 20 : 0);

    if (end <= DATAGRAM_MAX)
        return true;
    packet_set_event(p, v4 ? EVENT_IPV4_FRAG_PKT_TOO_LARGE : EVENT_IPV6_FRAG_PKT_TOO_LARGE);
    return false;
}

/* Without space the complete datagram is given up: see defrag_add(). */
static bool insert(struct defrag *df, struct tracker *tr, struct packet *p,
                   const struct fragment *f)
{
    bool overlap = false, space;
    struct newcomer n = {
        .df = df,
        .tr = tr,
        .data = f->data,
        .start = p->fragment.offset,
        .end = p->fragment.offset + f->data_len,
        .last = !p->fragment.more,
    };

    if (f->data_len == 0)
        return true;
    space = (is_behind_all(&n) || make_way(&n, &overlap)) && fill_holes(&n) && keep_head(&n, p, f);
    if (overlap)
        packet_set_event(p, p->src.version == 4 ? EVENT_IPV4_FRAG_OVERLAP
                                                : EVENT_IPV6_FRAG_OVERLAP);
    if (space)
        return true;
    packet_set_event(p, p->src.version == 4 ? EVENT_IPV4_FRAG_IGNORED
                                            : EVENT_IPV6_FRAG_IGNORED);
    counter_inc(df->counters, df->conf->max_frags);
    return false;
}

/* True: a datagram is complete and in df->frame, until defrag_take_frame(). */
bool defrag_add(struct defrag *df, struct packet *p, const struct fragment *fragment,
                struct datagram *datagram)
{
    const struct defrag_conf *conf = df->conf;
    struct tracker *tr;
    bool done = false;

    counter_inc(df->counters, p->src.version == 4 ? conf->ipv4_fragments : conf->ipv6_fragments);
    tr = tracker_for(df, p);
    if (tr == NULL || !length_ok(p, fragment))
        return false;
    tr->deadline_us = (p->time_us / 1000000 + tr->timeout_s) * 1000000;
    tr->end_us = packet_order_us(p) + tr->timeout_s * UINT64_C(1000000) + EXPIRE_SLACK_US;
    age_unlink(df, tr);
    age_append(df, tr);
    if (!insert(df, tr, p, fragment)) {
        tracker_remove(df, tr);
        return false;
    }
    if (!is_complete(tr))
        return false;
    done = assemble(df, tr);
    if (UNLIKELY(!done) && is_cut_modulo(df, tr))
        packet_set_event(p, EVENT_IPV6_TRUNC_EXTHDR);
    *datagram = (struct datagram){ .ip_offset = tr->ip_offset, .datalink = tr->datalink };
    tracker_remove(df, tr);
    return done;
}

/* Exchanges buffers, so that the packet owns the frame without a copy. */
void defrag_take_frame(struct defrag *df, struct buf *frame)
{
    struct buf taken = df->frame;

    df->frame = *frame;
    *frame = taken;
}

/* Called after each vector. A lookup would find an expired tracker too; this returns the memory of
 * trackers that no fragment asks for. */
void defrag_expire(struct defrag *df, uint64_t now_us)
{
    while (df->oldest != NULL && df->oldest->end_us <= now_us) {
        counter_inc(df->counters, df->conf->sweep_timeout);
        tracker_remove(df, df->oldest);
    }
}

struct defrag *defrag_new(const struct defrag_conf *conf, struct counters *counters)
{
    struct defrag *df = xcalloc(1, sizeof(*df));

    df->conf = conf;
    df->counters = counters;
    df->row = xcalloc(conf->hash_size, sizeof(df->row[0]));
    memory_change(df, (int64_t)(conf->hash_size * sizeof(df->row[0])));
    return df;
}

/* At the end of a capture file: another file is another network. */
void defrag_clear(struct defrag *df)
{
    while (df->oldest != NULL)
        tracker_remove(df, df->oldest);
}

void defrag_free(struct defrag *df)
{
    if (df == NULL)
        return;
    defrag_clear(df);
    while (df->spare_trackers != NULL) {
        struct tracker *tr = df->spare_trackers;

        df->spare_trackers = tr->hash_next;
        tracker_destroy(tr);
    }
    while (df->spare_frags != NULL) {
        struct frag *frag = df->spare_frags;

        df->spare_frags = frag->next;
        frag_destroy(df, frag);
    }
    buf_fini(&df->frame);
    free(df->row);
    free(df);
}
