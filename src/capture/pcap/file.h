/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/file.h - what a reader of files reports in addition to the ops. */
#ifndef CAPTURE_PCAP_FILE_H
#define CAPTURE_PCAP_FILE_H

#include "capture/capture.h"

extern const struct capture_ops capture_pcap_file;

/* Bytes read, and of all files; any thread. total 0: not known (a pipe). */
void pcap_file_progress(void *capture, uint64_t *done, uint64_t *total);

#endif
