/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/pcap_files.h - the files of pcap-log, as a sink. There is one file for all threads (mode
 * normal) or one for each (multi). At the limit a new file begins and the oldest is removed; files
 * may be compressed. */
#ifndef OUTPUT_PCAP_FILES_H
#define OUTPUT_PCAP_FILES_H

#include "output/logger.h"

#define PCAP_SNAPLEN 262144u

/* The header of a packet on its way to the sink; the packet's bytes follow. */
struct pcap_record {
    uint32_t seconds, micros, len, wire_len;    /* as in the file */
    uint32_t thread;                              /* number of the thread */
};

struct pcap_files;

/* Creates the sink and registers it with conf, which will close it. */
struct pcap_files *pcap_files_open(const struct output_request *request,
                                   const struct conf_node *node, struct sink **sink,
                                   struct output_conf *conf, struct err *err);
/* Any thread: reports the time of a packet; that of the first one names the first file. */
void pcap_files_note(struct pcap_files *f, uint64_t time_us);
/* Any thread: appends the name of the file that currently receives this thread's packets. */
void pcap_files_name(struct pcap_files *f, unsigned thread, uint64_t time_us, struct buf *name);
void pcap_files_set_linktype(struct pcap_files *f, int linktype);

#endif
