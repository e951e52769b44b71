/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/reader.h - reads frames from a capture file: classic pcap (micro- and nanoseconds,
 * both byte orders, the "modified" format with longer headers) and pcapng (sections, several
 * interfaces, enhanced, simple and obsolete packet blocks).
 *
 * Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng. One thread. */
#ifndef CAPTURE_PCAP_READER_H
#define CAPTURE_PCAP_READER_H

#include "base/err.h"

struct pcap_frame {
    uint8_t *data;              /* valid as byte_source_peek() says */
    uint32_t len, wire_len;
    uint64_t time_us;           /* since 1970 */
    int link_type;              /* LINKTYPE_ number */
};

enum pcap_status {
    PCAP_STATUS_FRAME, PCAP_STATUS_END, PCAP_STATUS_BROKEN,
    PCAP_STATUS_LATER,          /* when earlier frames have been released, or are held, or when
                                 * a pipe has more data */
};

struct pcap_reader;

/* NULL with *err: it cannot be opened, or is no capture file. */
struct pcap_reader *pcap_reader_open(const char *path, size_t buffer_size, struct err *err);
void pcap_reader_close(struct pcap_reader *r);

/* Before the first frame: a pcapng file may have interfaces that differ in link type, snaplen or
 * byte order. Otherwise the second kind ends it. */
void pcap_reader_mix(struct pcap_reader *r);
/* Before the first frame: seconds of a pcap file above 2^31 are times up to 2106. Otherwise such a
 * time is 1970. pcapng has 64 bits and does not need it. */
void pcap_reader_go_beyond_2038(struct pcap_reader *r);

/* BROKEN: truncated or invalid from here on; pcap_reader_problem() has the reason and place. */
enum pcap_status pcap_reader_next(struct pcap_reader *r, struct pcap_frame *frame);
/* Releases the frames so far, if they were stable. */
void pcap_reader_release(struct pcap_reader *r);
/* Of a reader that holds frames which are not written: those before this one are hardly needed. */
void pcap_reader_release_to(struct pcap_reader *r, const uint8_t *frame);
/* Keeps the frames valid; is_written: the caller writes to them. True: all frames stay in place
 * from here on. */
bool pcap_reader_hold(struct pcap_reader *r, bool is_written);
/* After LATER: until the pipe has data or ends. True: it still has none. False at once if it is no
 * pipe. */
bool pcap_reader_wait(const struct pcap_reader *r, int timeout_ms);
const char *pcap_reader_problem(const struct pcap_reader *r);

bool pcap_reader_is_stable(const struct pcap_reader *r);     /* frames stay until released */
void pcap_reader_progress(const struct pcap_reader *r, uint64_t *done, uint64_t *total);

#endif
