/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/file.h - files in both directions, and calls through named pipes, which have the
 * form of file access. */
#ifndef APP_SMB_FILE_H
#define APP_SMB_FILE_H

#include "app/proto/smb/cache.h"
#include "app/tx.h"

struct smb_record;
struct smb_state;
struct smb_tx;

struct smb_extent {                  /* of a file, in a read answer or a write request */
    struct smb_id id;
    uint64_t offset;
    uint32_t len;
    struct slice data;              /* the part that has arrived */
    struct slice name;
};
/* Starts an extent. */
void smb_file_extent(struct smb_state *st, const struct smb_record *r, const struct smb_extent *p);
struct smb_tx *smb_file_find(struct smb_state *st, const struct smb_id *id, enum direction d,
                             bool open);
/* Adds data to the extent; data NULL: they were lost. Returns how many bytes belonged to the
 * file. */
uint32_t smb_file_data(struct smb_state *st, enum direction d, const uint8_t *data, uint32_t len);
void smb_file_close(struct smb_tx *t);
void smb_files_after_gap(struct smb_state *st, enum direction d);
void smb_files_abandon(struct smb_state *st);

/* --- pipe.c: calls through named pipes --- */

bool smb_is_call(struct slice data);
/* True if the file is a pipe that is known to carry calls. */
bool smb_pipe_has_calls(struct smb_state *st, const struct smb_id *id);
void smb_pipe_request(struct smb_state *st, const struct smb_record *r, struct slice data);
void smb_pipe_response(struct smb_state *st, const struct smb_record *r, const struct smb_id *id,
                       struct slice data);

#endif
