/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/pcap_files.h - the files of pcap-log, as a sink: one for all threads (mode normal) or one
 * for each (multi), a new one at the limit, the oldest removed, compressed if that is wanted. */
#ifndef OUTPUT_PCAP_FILES_H
#define OUTPUT_PCAP_FILES_H

#include "output/logger.h"

#define PCAP_SNAPLEN 262144u

/* A packet on its way to the sink; its bytes follow. */
struct pcap_record {
    uint32_t seconds, micros, len, wire_len;    /* as in the file */
    uint32_t thread;                              /* number of the thread */
};

struct pcap_files;

/* Registers its sink with conf, which closes it. */
struct pcap_files *pcap_files_open(const struct output_request *request,
                                   const struct conf_node *node, struct sink **sink,
                                   struct output_conf *conf, struct err *err);
/* Any thread: a packet was seen; the time of the first one names the first file. */
void pcap_files_note(struct pcap_files *f, uint64_t time_us);
/* Any thread: appends the name of the file that this thread's packets go to now. */
void pcap_files_name(struct pcap_files *f, unsigned thread, uint64_t time_us, struct buf *name);
void pcap_files_set_linktype(struct pcap_files *f, int linktype);

#endif
