/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/record.h - a record of either version ([MS-CIFS], [MS-SMB2]) in the NetBIOS
 * session service (RFC 1002 section 4.3), and the parsers of its commands. */
#ifndef APP_SMB_RECORD_H
#define APP_SMB_RECORD_H

#include "app/proto/smb/cache.h"
#include "app/tx.h"

struct smb_state;

#define NBSS_HEADER_LEN 4
#define SMB1_HEADER_LEN 32
#define SMB2_HEADER_LEN 64
#define SMB3_HEADER_LEN 52
#define SMB_PARTIAL_MIN 512         /* of a long read or write before it is taken as it comes */

enum { STATUS_SUCCESS = 0, STATUS_PENDING = 0x103, STATUS_BUFFER_OVERFLOW = 0x80000005,
       STATUS_END_OF_FILE = 0xc0000011 };

/* One command of a record, of either version. */
struct smb_record {
    uint8_t version;
    uint16_t command;               /* with AndX: the current one */
    uint32_t status;
    bool is_dos_error, unicode, is_response;
    uint64_t session, message;
    uint32_t tree;
    uint32_t chain, header_len;     /* SMB2 */
    struct slice complete;             /* SMB1: all after the header; offsets count from 32 bytes
                                        * before */
    struct slice body;              /* of the command: SMB1 parameter words, SMB2 structure */
    uint32_t missing;               /* bytes of the record that have not arrived */
    enum direction direction;
};

bool smb1_take_record(struct bytes *in, struct smb_record *r);
void smb1_request(struct smb_state *st, struct smb_record *r);
void smb1_response(struct smb_state *st, struct smb_record *r);
bool smb2_take_record(struct bytes *in, enum direction d, struct smb_record *r);
void smb2_request(struct smb_state *st, const struct smb_record *r);
void smb2_response(struct smb_state *st, const struct smb_record *r);
/* Starts a read response or write request. True: its data belong to a file, and may arrive in
 * several parts. */
bool smb1_begin_data(struct smb_state *st, struct smb_record *r);
bool smb2_begin_data(struct smb_state *st, const struct smb_record *r);

#endif
