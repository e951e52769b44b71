/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/capture_file.h - the files of a capture, in the order in which they are read.
 *
 * The thread that reads appends; any thread looks up. A packet that no file has, such as the end of
 * a flow, belongs to the file that was being read at its position (packet/seqno.h): the file of the
 * last packet that its thread had would depend on the number of threads. */
#ifndef PACKET_CAPTURE_FILE_H
#define PACKET_CAPTURE_FILE_H

#include "base/base.h"

struct capture_file {
    const char *path;
    uint64_t first_seqno;               /* position of its first packet; 0: it had none yet */
    uint8_t datalink;                   /* enum datalink, of that packet */
    const struct capture_file *before;  /* with packets; NULL: none, or another capture's */
    const struct capture_file *after;   /* atomic; the same */
};

/* Notes the first packet of a file. {last} is the one before in the same capture; NULL: none. No
 * other thread has a packet of {file} before this returns. */
static inline void capture_file_begin(struct capture_file *file, struct capture_file *last,
                                      uint64_t seqno, uint8_t datalink)
{
    file->first_seqno = seqno;
    file->datalink = datalink;
    file->before = last;
    if (last != NULL)
        __atomic_store_n(&last->after, file, __ATOMIC_RELEASE);
}

/* The file that was being read at a position, from one nearby. */
static inline const struct capture_file *capture_file_at(const struct capture_file *near,
                                                         uint64_t seqno)
{
    const struct capture_file *after;

    while (near->first_seqno > seqno && near->before != NULL)
        near = near->before;
    while ((after = __atomic_load_n(&near->after, __ATOMIC_ACQUIRE)) != NULL &&
           after->first_seqno <= seqno)
        near = after;
    return near;
}

#endif
