/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/reader.c - frames of a capture file: pcap (draft-ietf-opsawg-pcap) and pcapng
 * (draft-ietf-opsawg-pcapng).
 *
 * A file is as hostile as the network: every length is checked against a limit and against the
 * bytes that exist before it is used. */
#include "capture/pcap/reader.h"

#include "base/array.h"
#include "base/memory/traffic_memory.h"
#include "base/text/bytes.h"
#include "capture/pcap/byte_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest frame, and libpcap's limit for most link types. */
#define FRAME_MAX 262144u
/* Blocks of pcapng are read completely; larger ones contain no packets. */
#define BLOCK_MAX (16u << 20)
/* Limits the memory that a file with interface blocks only can take. */
#define INTERFACES_MAX 65536

/* The distance at which memory is prefetched. Records are a chain: the address of the next one is
 * only known after this one has been read, which takes a cache miss each. Prefetching beyond the
 * end is harmless. */
#define AHEAD 8192

static inline void fetch_ahead(const uint8_t *from, size_t len)
{
    const uint8_t *at = from + AHEAD;

    for (size_t i = 0; i < len; i += CACHE_LINE)
        PREFETCH(at + i);
}

/* Block types of pcapng. The section header's type is a palindrome, so it needs no byte order. */
enum {
    BLOCK_SECTION = 0x0a0d0d0a, BLOCK_INTERFACE = 1, BLOCK_PACKET_OLD = 2, BLOCK_SIMPLE = 3,
    BLOCK_ENHANCED = 6,
};

/* `units` per second: 10^n or 2^n (if_tsresol). offset_s is if_tsoffset. */
struct ng_interface {
    int link_type;
    uint32_t snaplen;
    uint64_t units;
    int64_t offset_s;
};

/* Belongs to the thread that reads. */
struct pcap_reader {
    struct byte_source *source;
    enum pcap_status (*next)(struct pcap_reader *r, struct pcap_frame *f);
    bool big_endian, nanoseconds;
    unsigned header_size;               /* of a classic record */
    uint32_t snaplen;                   /* of a classic file */
    int link_type;
    bool after_2038;                    /* its seconds go up to 2106 */
    /* pcapng: */
    bool mixes;                         /* interfaces may differ in kind */
    bool has_first, first_is_big;       /* the first interface, and its byte order */
    struct ng_interface first;
    const char *wrong;                  /* what is wrong with the last block */
    ARRAY_OF(struct ng_interface) interfaces;
    char problem[200];
};

/* A snaplen of 0 or above INT_MAX is none, as in libpcap. */
static uint32_t limit_of(uint32_t snaplen)
{
    return snaplen == 0 || snaplen > INT32_MAX ? FRAME_MAX : snaplen;
}

static uint16_t read16(const struct pcap_reader *r, const uint8_t *p)
{
    return r->big_endian ? get_be16(p) : get_le16(p);
}

static uint32_t read32(const struct pcap_reader *r, const uint8_t *p)
{
    return r->big_endian ? get_be32(p) : get_le32(p);
}

static COLD enum pcap_status broken(struct pcap_reader *r, const char *what)
{
    const char *why = byte_source_error(r->source);

    snprintf(r->problem, sizeof(r->problem), "%s at byte %llu%s%s", what,
             (unsigned long long)byte_source_offset(r->source), why != NULL ? ": " : "",
             why != NULL ? why : "");
    return PCAP_STATUS_BROKEN;
}

/* Fewer bytes than needed: the regular end if there are none at all. */
static COLD enum pcap_status broken_off(struct pcap_reader *r, const char *what)
{
    if (byte_source_waits(r->source))
        return PCAP_STATUS_LATER;
    if (byte_source_left(r->source) == 0 && byte_source_error(r->source) == NULL)
        return PCAP_STATUS_END;
    return broken(r, what);
}

static COLD enum pcap_status truncated(struct pcap_reader *r, const char *what)
{
    return byte_source_waits(r->source) ? PCAP_STATUS_LATER : broken(r, what);
}

/* The format has unsigned numbers. libpcap, up to 1.10, reads both as signed, and Suricata takes 0
 * for what is negative. Where libpcap exchanges the bytes the seconds become unsigned: on most
 * machines in big-endian files. A fraction that large is wrong in any case. */
static uint64_t classic_time(const struct pcap_reader *r, uint32_t seconds, uint32_t fraction)
{
    if (UNLIKELY(seconds > INT32_MAX && !r->after_2038 && !r->big_endian))
        seconds = 0;
    if (UNLIKELY(fraction > INT32_MAX))
        fraction = 0;
    return (uint64_t)seconds * 1000000 + (r->nanoseconds ? fraction / 1000 : fraction);
}

/* A record of pcap: seconds, fraction, captured length, original length, data. Of a record that is
 * longer than the file's snaplen libpcap, and with it every tool that reads through it, gives no
 * more than that. */
static enum pcap_status classic_next(struct pcap_reader *r, struct pcap_frame *f)
{
    const uint8_t *h = byte_source_peek(r->source, r->header_size);

    if (UNLIKELY(h == NULL))
        return broken_off(r, "cut short in a packet header");
    f->len = read32(r, h + 8);
    f->wire_len = read32(r, h + 12);
    f->time_us = classic_time(r, read32(r, h), read32(r, h + 4));
    f->link_type = r->link_type;
    if (UNLIKELY(f->len > FRAME_MAX))
        return broken(r, "senseless packet length");
    h = byte_source_peek(r->source, r->header_size + f->len);
    if (UNLIKELY(h == NULL))
        return truncated(r, "cut short in a packet");
    f->data = (uint8_t *)(uintptr_t)h + r->header_size;
    byte_source_skip(r->source, r->header_size + f->len);
    fetch_ahead(h, r->header_size + f->len);
    f->len = MIN(f->len, r->snaplen);
    return PCAP_STATUS_FRAME;
}

/* if_tsresol: the highest bit selects 2^n, otherwise 10^n. 10^18 is the largest that fits. */
static uint64_t resolution(uint8_t code)
{
    uint64_t units = 1;

    if ((code & 0x80) != 0)
        return (uint64_t)1 << MIN(code & 0x7f, 63);
    for (unsigned i = 0; i < MIN(code, (uint8_t)18); i++)
        units *= 10;
    return units;
}

/* Options are 32-bit aligned; code 0 ends them. 9 is if_tsresol, 14 if_tsoffset. Malformed options
 * are ignored: the interface keeps what was read. */
static void interface_options(const struct pcap_reader *r, struct ng_interface *i,
                              struct bytes in)
{
    while (bytes_have(&in, 4)) {
        const uint8_t *h = take_bytes(&in, 4), *value;
        unsigned code = read16(r, h), len = read16(r, h + 2);

        if (code == 0 || !bytes_have(&in, len))
            return;
        value = take_bytes(&in, len);
        take_skip(&in, (4 - len % 4) % 4);
        if (code == 9 && len == 1)
            i->units = resolution(value[0]);
        if (code == 14 && len == 8)
            i->offset_s = (int64_t)(r->big_endian ? get_be64(value) : get_le64(value));
    }
}

/* libpcap, and with it Suricata, stops at an interface of another link type, snaplen or byte order
 * than the first one, whether or not a packet came from it. */
static bool is_of_kind(struct pcap_reader *r, const struct ng_interface *i)
{
    if (!r->has_first) {
        r->has_first = true;
        r->first = *i;
        r->first_is_big = r->big_endian;
    }
    if (r->mixes || (i->link_type == r->first.link_type && i->snaplen == r->first.snaplen &&
                     r->big_endian == r->first_is_big))
        return true;
    r->wrong = "an interface of another kind than the first (pcap-file.mixed-interfaces)";
    return false;
}

/* Units default to microseconds. */
static bool interface_block(struct pcap_reader *r, struct bytes in)
{
    struct ng_interface i = { .units = 1000000 };
    const uint8_t *h = take_bytes(&in, 8);

    if (h == NULL || r->interfaces.count >= INTERFACES_MAX)
        return false;
    i.link_type = read16(r, h);
    i.snaplen = limit_of(read32(r, h + 4));
    interface_options(r, &i, in);
    if (!is_of_kind(r, &i))
        return false;
    if (!ARRAY_HAS_SPACE(&r->interfaces, 1))
        return false;
    r->interfaces.at[r->interfaces.count++] = i;
    return true;
}

/* Converts to microseconds without overflow for any resolution. */
static uint64_t ng_time(const struct ng_interface *i, uint32_t high, uint32_t low)
{
    uint64_t t = (uint64_t)high << 32 | low;
    uint64_t us = i->units == 1000000
                ? t : t / i->units * 1000000 +
                      (uint64_t)((unsigned __int128)(t % i->units) * 1000000 / i->units);

    return us + (uint64_t)i->offset_s * 1000000;
}

/* Enhanced packet blocks have a 32-bit interface number, the obsolete packet blocks a 16-bit
 * one. */
static bool packet_block(struct pcap_reader *r, uint32_t type, struct bytes in,
                         struct pcap_frame *f)
{
    const uint8_t *h = take_bytes(&in, 20);
    uint32_t number;

    if (h == NULL)
        return false;
    number = type == BLOCK_ENHANCED ? read32(r, h) : read16(r, h);
    if (number >= r->interfaces.count)
        return false;
    f->link_type = r->interfaces.at[number].link_type;
    f->time_us = ng_time(&r->interfaces.at[number], read32(r, h + 4), read32(r, h + 8));
    f->len = read32(r, h + 12);
    f->wire_len = read32(r, h + 16);
    f->data = (uint8_t *)(uintptr_t)take_bytes(&in, f->len);
    return f->data != NULL && f->len <= FRAME_MAX;
}

/* A simple packet block has no time and belongs to the first interface; its length is only limited
 * by the snaplen. */
static bool simple_block(struct pcap_reader *r, struct bytes in, struct pcap_frame *f)
{
    const uint8_t *h = take_bytes(&in, 4);

    if (h == NULL || r->interfaces.count == 0)
        return false;
    f->link_type = r->interfaces.at[0].link_type;
    f->time_us = 0;
    f->wire_len = read32(r, h);
    f->len = f->wire_len;
    f->len = MIN(f->len, r->interfaces.at[0].snaplen);
    f->len = MIN(f->len, (uint32_t)bytes_left(&in));
    f->data = (uint8_t *)(uintptr_t)in.next;
    return f->len <= FRAME_MAX;
}

/* A section starts over: its own byte order, no interfaces. */
static bool section_block(struct pcap_reader *r, const uint8_t *h)
{
    if (get_be32(h + 8) == 0x1a2b3c4d)
        r->big_endian = true;
    else if (get_le32(h + 8) == 0x1a2b3c4d)
        r->big_endian = false;
    else
        return false;
    r->interfaces.count = 0;
    return true;
}

/* Of another major version nothing but its number is known (section 4.1 of the draft). */
static bool section_is_known(struct pcap_reader *r, struct bytes in)
{
    const uint8_t *h = take_bytes(&in, 6);

    if (h != NULL && read16(r, h + 4) == 1)
        return true;
    r->wrong = "section of an unknown version";
    return false;
}

/* Reads one block; *is_frame: it was a packet. Unknown blocks are skipped. */
static enum pcap_status ng_block(struct pcap_reader *r, struct pcap_frame *f, bool *is_frame)
{
    const uint8_t *h = byte_source_peek(r->source, 12);
    struct bytes body;
    uint32_t type, len;
    bool ok = true;

    if (UNLIKELY(h == NULL))
        return broken_off(r, "cut short in a block header");
    if (get_be32(h) == BLOCK_SECTION && !section_block(r, h))
        return broken(r, "section without a byte order");
    type = read32(r, h);
    len = read32(r, h + 4);
    if (UNLIKELY(len < 12 || len > BLOCK_MAX || len % 4 != 0))
        return broken(r, "senseless block length");
    h = byte_source_peek(r->source, len);
    if (UNLIKELY(h == NULL))
        return truncated(r, "cut short in a block");
    body = bytes_of(h + 8, len - 12);
    if (type == BLOCK_ENHANCED || type == BLOCK_PACKET_OLD)
        ok = *is_frame = packet_block(r, type, body, f);
    else if (type == BLOCK_SIMPLE)
        ok = *is_frame = simple_block(r, body, f);
    else if (type == BLOCK_INTERFACE)
        ok = interface_block(r, body);
    else if (type == BLOCK_SECTION)
        ok = section_is_known(r, body);
    if (UNLIKELY(!ok))
        return broken(r, r->wrong != NULL ? r->wrong : "senseless block");
    byte_source_skip(r->source, len);
    fetch_ahead(h, len);
    return PCAP_STATUS_FRAME;
}

static enum pcap_status ng_next(struct pcap_reader *r, struct pcap_frame *f)
{
    bool is_frame = false;
    enum pcap_status status;

    do {
        status = ng_block(r, f, &is_frame);
    } while (status == PCAP_STATUS_FRAME && !is_frame);
    return status;
}

/* Magic numbers of pcap: microseconds, nanoseconds, and Kuznetzov's modified format. */
static bool classic_magic(struct pcap_reader *r, uint32_t magic)
{
    switch (magic) {
    case 0xa1b2c3d4: r->header_size = 16; return true;
    case 0xa1b23c4d: r->header_size = 16; r->nanoseconds = true; return true;
    /* The modified format of old Linux distributions has 8 more bytes: interface, protocol, packet
     * type. */
    case 0xa1b2cd34: r->header_size = 24; return true;
    }
    return false;
}

/* The low 26 bits of the network field are the link type; the rest describes a frame check
 * sequence. */
static int read_start(struct pcap_reader *r, const char *path, struct err *err)
{
    const uint8_t *h = byte_source_peek(r->source, 4);
    uint64_t done, total;
    const char *why;

    if (h != NULL && get_be32(h) == BLOCK_SECTION) {
        r->next = ng_next;
        return 0;
    }
    if (h != NULL && (classic_magic(r, get_le32(h)) ||
                      (r->big_endian = classic_magic(r, get_be32(h))))) {
        h = byte_source_peek(r->source, 24);
        if (h == NULL)
            return err_set(err, "%s: the file header is cut short", path);
        r->next = classic_next;
        r->snaplen = limit_of(read32(r, h + 16));
        r->link_type = (int)(read32(r, h + 20) & 0x03ffffff);
        byte_source_skip(r->source, 24);
        return 0;
    }
    why = byte_source_error(r->source);
    if (why != NULL)
        return err_set(err, "%s: %s", path, why);
    byte_source_progress(r->source, &done, &total);
    if (byte_source_left(r->source) == 0)
        return err_set(err, "%s: %s", path, done > 0 ? "cut short before anything can be unpacked"
                                                     : "the file is empty");
    return err_set(err, "%s: neither pcap nor pcapng, nor one of them compressed", path);
}

struct pcap_reader *pcap_reader_open(const char *path, size_t buffer_size, struct err *err)
{
    struct pcap_reader *r = calloc(1, sizeof(*r));

    if (r == NULL) {
        err_set(err, "%s: no memory to read it", path);
        return NULL;
    }
    r->source = byte_source_open(path, buffer_size, err);
    if (r->source == NULL || read_start(r, path, err) < 0) {
        pcap_reader_close(r);
        return NULL;
    }
    byte_source_poll(r->source);
    return r;
}

void pcap_reader_mix(struct pcap_reader *r)
{
    r->mixes = true;
}

void pcap_reader_go_beyond_2038(struct pcap_reader *r)
{
    r->after_2038 = true;
}

void pcap_reader_close(struct pcap_reader *r)
{
    if (r == NULL)
        return;
    byte_source_close(r->source);
    ARRAY_FREE(&r->interfaces);
    free(r);
}

enum pcap_status pcap_reader_next(struct pcap_reader *r, struct pcap_frame *frame)
{
    return r->next(r, frame);
}

void pcap_reader_release(struct pcap_reader *r)
{
    byte_source_release(r->source);
}

void pcap_reader_release_to(struct pcap_reader *r, const uint8_t *frame)
{
    byte_source_release_to(r->source, frame);
}

bool pcap_reader_hold(struct pcap_reader *r, bool is_written)
{
    return byte_source_hold(r->source, is_written);
}

bool pcap_reader_wait(const struct pcap_reader *r, int timeout_ms)
{
    return byte_source_wait(r->source, timeout_ms);
}

const char *pcap_reader_problem(const struct pcap_reader *r)
{
    return r->problem;
}

bool pcap_reader_is_stable(const struct pcap_reader *r)
{
    return byte_source_is_stable(r->source);
}

void pcap_reader_progress(const struct pcap_reader *r, uint64_t *done, uint64_t *total)
{
    byte_source_progress(r->source, done, total);
}
