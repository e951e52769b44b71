/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/smb1.h - SMB 1: its commands, what smb1.c and smb1_data.c share. */
#ifndef APP_SMB_SMB1_H
#define APP_SMB_SMB1_H

#include "app/proto/smb/record.h"
#include "app/proto/smb/state.h"
#include "app/proto/smb/tx.h"

enum {
    SMB1_CLOSE = 0x04, SMB1_RENAME = 0x07, SMB1_WRITE = 0x0b, SMB1_LOCKING_ANDX = 0x24,
    SMB1_TRANS = 0x25, SMB1_WRITE_AND_CLOSE = 0x2c, SMB1_OPEN_ANDX = 0x2d,
    SMB1_READ_ANDX = 0x2e, SMB1_WRITE_ANDX = 0x2f, SMB1_TRANS2 = 0x32,
    SMB1_TRANS2_SECONDARY = 0x33, SMB1_TREE_DISCONNECT = 0x71, SMB1_NEGOTIATE = 0x72,
    SMB1_SESSION_SETUP_ANDX = 0x73, SMB1_LOGOFF_ANDX = 0x74, SMB1_TREE_CONNECT_ANDX = 0x75,
    SMB1_NT_CREATE_ANDX = 0xa2, SMB1_NT_CANCEL = 0xa4, SMB1_NONE = 0xff,
};

/* Returns the bytes from an offset of the header on; failed when it is outside. */
struct bytes smb1_at(const struct smb_record *r, uint32_t offset);
bool smb1_take_string(struct smb_tx *t, struct bytes *in, bool unicode, struct slice *out);
void smb1_align(const struct smb_record *r, struct bytes *in);
bool smb1_take_id(const struct smb_record *r, struct bytes *in, struct smb_id *id);
struct smb_key smb1_message_key(const struct smb_record *r, uint32_t kind);
struct smb_key smb1_tree_key(const struct smb_record *r);
bool smb1_has_own_tx(unsigned command);
void smb1_close_file(struct smb_state *st, const struct smb_id *id, enum direction d);

/* smb1_data.c: reads, writes, transactions. */
void smb1_read_request(struct smb_state *st, const struct smb_record *r, bool *bad);
void smb1_read_response(struct smb_state *st, const struct smb_record *r);
void smb1_write_request(struct smb_state *st, const struct smb_record *r);
void smb1_trans_request(struct smb_state *st, const struct smb_record *r);
void smb1_trans_response(struct smb_state *st, const struct smb_record *r);
bool smb1_trans2(struct smb_state *st, const struct smb_record *r, bool *bad);
bool smb1_rename(struct smb_state *st, const struct smb_record *r, bool *bad);

#endif
