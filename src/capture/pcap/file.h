/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/file.h - the capture of files, for tests that drive it themselves. */
#ifndef CAPTURE_PCAP_FILE_H
#define CAPTURE_PCAP_FILE_H

#include "capture/capture.h"

extern const struct capture_ops capture_pcap_file;

#endif
