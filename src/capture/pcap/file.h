/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/file.h - functions of the capture of files in addition to its ops. */
#ifndef CAPTURE_PCAP_FILE_H
#define CAPTURE_PCAP_FILE_H

#include "capture/capture.h"

extern const struct capture_ops capture_pcap_file;

/* Returns the bytes read so far, and the bytes of all files. Any thread may call it. total 0: not
 * known (a pipe). */
void pcap_file_progress(void *capture, uint64_t *done, uint64_t *total);

#endif
