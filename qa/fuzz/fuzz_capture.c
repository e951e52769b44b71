/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_capture.c - any bytes as a capture file: pcap, pcapng, compressed or not.
 *
 * The first byte chooses how the reader is used. Each frame is read, and written to where the
 * reader allows that. */
#include "capture/pcap/reader.h"
#include "memory_file.h"

#include <stdbool.h>
#include <stdlib.h>

int fuzz_input(const uint8_t *data, size_t size);

/* The window that the header of an xz or zstd file asks for: 256 MiB and 128 MiB at most. Files
 * packed with `zstd --ultra -22` need it. */
extern const uint64_t fuzz_memory_floor;
const uint64_t fuzz_memory_floor = (uint64_t)320 << 20;

/* A compressed file may hold many more frames than it has bytes. */
#define FRAMES_MAX 2000u

static UNCOVERED void touch(const struct pcap_frame *frame, bool is_written)
{
    volatile uint8_t seen;
    uint8_t sum = 0;

    for (uint32_t i = 0; i < frame->len; i++)
        sum = (uint8_t)(sum + frame->data[i]);
    seen = sum;
    (void)seen;
    if (is_written && frame->len > 0)
        frame->data[0] = frame->data[frame->len - 1] = 0;
}

static void read_frames(struct pcap_reader *r, bool releases, bool is_written)
{
    uint64_t done, total;
    struct pcap_frame frame;
    enum pcap_status status = PCAP_STATUS_FRAME;

    for (unsigned n = 0; n < FRAMES_MAX; n++) {
        status = pcap_reader_next(r, &frame);
        if (status == PCAP_STATUS_FRAME)
            touch(&frame, is_written && pcap_reader_is_stable(r));
        else if (status != PCAP_STATUS_LATER)
            break;
        if (status == PCAP_STATUS_LATER || releases)
            pcap_reader_release(r);
    }
    if (status == PCAP_STATUS_BROKEN && pcap_reader_problem(r) == NULL)
        abort();
    pcap_reader_progress(r, &done, &total);
    if (total != 0 && done > total)
        abort();
}

int fuzz_input(const uint8_t *data, size_t size)
{
    static const size_t buffers[] = { 0, 64, 4096, 1 << 16 };
    struct pcap_reader *r;
    struct err err;

    if (size < 1)
        return 0;
    r = pcap_reader_open(memory_file(0, data + 1, size - 1), buffers[data[0] & 3], &err);
    if (r == NULL)
        return 0;
    if ((data[0] & 32) != 0)
        pcap_reader_mix(r);
    if ((data[0] & 4) != 0)
        (void)pcap_reader_hold(r, (data[0] & 8) != 0);
    read_frames(r, (data[0] & 16) != 0, (data[0] & 12) == 12);
    pcap_reader_close(r);
    return 0;
}
