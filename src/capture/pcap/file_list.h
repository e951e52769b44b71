/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/file_list.h - which capture files to read, in which order: named files, and those of
 * named directories, by time of last change and then by name.
 *
 * Shared by all threads that read. A lock protects the list, which is used once per file. */
#ifndef CAPTURE_PCAP_FILE_LIST_H
#define CAPTURE_PCAP_FILE_LIST_H

#include "base/err.h"
#include "packet/capture_file.h"

enum delete_when { DELETE_NEVER, DELETE_ALWAYS, DELETE_WITHOUT_ALERTS };

struct pcap_files_conf {
    const char *const *paths;           /* NULL-ended; borrowed while it lives */
    bool recursive;                     /* also subdirectories */
    bool continuous;                    /* look for new files until the run ends */
    unsigned delay_s, poll_s;           /* continuous: least age of a file; interval between
                                         * searches */
    enum delete_when delete_when;
};

/* Lives as long as the list. */
struct pcap_input {
    char *path;
    struct capture_file file;           /* for its packets */
    uint64_t size;
    int64_t changed_ns;
    bool is_alone;                      /* named itself, not found in a directory */
    bool is_regular;                    /* opening and reading it does not wait for a writer */
};

struct pcap_files;

/* NULL with *err when a path does not exist or cannot be read. */
struct pcap_files *pcap_files_new(const struct pcap_files_conf *conf, struct err *err);
void pcap_files_free(struct pcap_files *files);

/* True if the first one is known by now, and regular. */
bool pcap_files_first_is_regular(struct pcap_files *files);
/* Returns file number i, from 0. NULL: no such file; *more: one may follow later. */
struct pcap_input *pcap_files_at(struct pcap_files *files, unsigned i, bool *more);
/* With several readers: returns the next file that no reader has taken. */
struct pcap_input *pcap_files_take(struct pcap_files *files, bool *more);
/* The reader calls it when the last packet of the file has been returned. Deletes the file, if so
 * configured. */
void pcap_files_done(struct pcap_files *files, struct pcap_input *input, uint64_t alerts);
uint64_t pcap_files_total(struct pcap_files *files);        /* bytes of all known */

#endif
