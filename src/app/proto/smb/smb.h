/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/smb.h - SMB over NetBIOS session service: [MS-CIFS], [MS-SMB2], RFC 1002 section
 * 4.3. For this directory.
 *
 * A transaction is a command with its answer, a call through a named pipe, or a file that goes
 * one way. What later commands refer to (names of open files, trees, offsets of reads) stays in
 * caches of the flow, each with a limit. */
#ifndef APP_SMB_SMB_H
#define APP_SMB_SMB_H

#include "app/core/transfer.h"
#include "app/log.h"
#include "app/proto.h"
#include "app/proto/dcerpc/pdu.h"
#include "app/proto/krb5/ticket.h"
#include "app/proto/smb/cache.h"

#define NBSS_HEADER_LEN 4
#define SMB1_HEADER_LEN 32
#define SMB2_HEADER_LEN 64
#define SMB3_HEADER_LEN 52
#define SMB_PARTIAL_MIN 512         /* of a long read or write before it is taken as it comes */

#define SMB_EVENT_LIST(E)                                                           \
    E(SMB_INTERNAL_ERROR, "internal_error")                                         \
    E(SMB_MALFORMED_DATA, "malformed_data")                                         \
    E(SMB_RECORD_OVERFLOW, "record_overflow")                                       \
    E(SMB_MALFORMED_NTLMSSP_REQUEST, "malformed_ntlmssp_request")                   \
    E(SMB_MALFORMED_NTLMSSP_RESPONSE, "malformed_ntlmssp_response")                 \
    E(SMB_DUPLICATE_NEGOTIATE, "duplicate_negotiate")                               \
    E(SMB_NEGOTIATE_MALFORMED_DIALECTS, "negotiate_malformed_dialects")             \
    E(SMB_FILE_OVERLAP, "file_overlap")                                             \
    E(SMB_REQUEST_TO_CLIENT, "request_to_client")                                   \
    E(SMB_RESPONSE_TO_SERVER, "response_to_server")                                 \
    E(SMB_NEGOTIATE_MAX_READ_SIZE_TOO_LARGE, "negotiate_max_read_size_too_large")   \
    E(SMB_NEGOTIATE_MAX_WRITE_SIZE_TOO_LARGE, "negotiate_max_write_size_too_large") \
    E(SMB_READ_REQUEST_TOO_LARGE, "read_request_too_large")                         \
    E(SMB_READ_RESPONSE_TOO_LARGE, "read_response_too_large")                       \
    E(SMB_READ_QUEUE_SIZE_EXCEEDED, "read_queue_size_exceeded")                     \
    E(SMB_READ_QUEUE_CNT_EXCEEDED, "read_queue_cnt_exceeded")                       \
    E(SMB_WRITE_REQUEST_TOO_LARGE, "write_request_too_large")                       \
    E(SMB_WRITE_QUEUE_SIZE_EXCEEDED, "write_queue_size_exceeded")                   \
    E(SMB_WRITE_QUEUE_CNT_EXCEEDED, "write_queue_cnt_exceeded")                     \
    E(SMB_UNUSUAL_NTLMSSP_ORDER, "unusual_ntlmssp_order")                           \
    E(SMB_TOO_MANY_TRANSACTIONS, "too_many_transactions")

enum smb_event { SMB_EVENT_NONE, SMB_EVENT_LIST(APP_EVENT_ID) };

enum smb_frame {
    SMB_FRAME_STREAM, NBSS_FRAME_PDU, NBSS_FRAME_HDR, NBSS_FRAME_DATA,
    SMB1_FRAME_PDU, SMB1_FRAME_HDR, SMB1_FRAME_DATA,
    SMB2_FRAME_PDU, SMB2_FRAME_HDR, SMB2_FRAME_DATA,
    SMB3_FRAME_PDU, SMB3_FRAME_HDR, SMB3_FRAME_DATA,
};

enum { STATUS_SUCCESS = 0, STATUS_PENDING = 0x103, STATUS_BUFFER_OVERFLOW = 0x80000005,
       STATUS_END_OF_FILE = 0xc0000011 };

/* What one direction may bring: of read answers, of write requests. 0: no limit. */
struct smb_limits {
    uint32_t max_size, max_queue_size, max_queue_count;
};

struct smb_settings {
    struct smb_limits limits[2];    /* by direction of the data */
    uint32_t max_tx, max_stub_size;
    uint32_t max_names, max_keys, max_offsets, max_trees, max_fragments;    /* in caches */
};

enum smb_kind {
    SMB_GENERIC, SMB_FILE, SMB_TREE_CONNECT, SMB_NEGOTIATE, SMB_DCERPC, SMB_CREATE,
    SMB_SESSION_SETUP, SMB_IOCTL, SMB_RENAME, SMB_SET_INFO, SMB_KIND_COUNT,
};

/* Where a command belongs. Two meet when all but the tree are the same. */
struct smb_scope {
    enum { SCOPE_NONE, SCOPE_GENERIC, SCOPE_HEADER, SCOPE_TREE } kind;
    uint64_t session, message;
    uint32_t tree;
};

struct smb_ntlmssp {
    struct slice domain, user, host;
    bool has_version, unusual_order;
    uint8_t major, minor, revision;
    uint16_t build;
};

struct smb_hosts { struct slice os, lan_manager; };

struct smb_session_setup {
    struct smb_ntlmssp *ntlmssp;    /* NULL: none */
    struct krb5_ticket *ticket;
    struct smb_hosts *hosts[2];     /* SMB1: who asks, who answers */
};

struct smb_negotiate {
    struct slice *dialect;          /* of SMB1: text */
    unsigned dialect_count;
    uint16_t *dialect2;
    unsigned dialect2_count;
    bool has_client_guid;
    uint8_t client_guid[16], server_guid[16];
    bool has_server_guid;
};

struct smb_tree_connect {
    bool is_pipe;
    uint8_t share_type;
    struct slice share;
    struct slice service[2];        /* SMB1: asked for, answered; data NULL: none */
};

struct smb_create {
    uint32_t disposition;
    bool delete_on_close, is_directory;
    struct slice name;              /* as it came */
    struct smb_id id;
    uint32_t created, accessed, modified, changed;      /* seconds since 1970 */
    uint64_t size;
};

struct smb_call {                   /* DCERPC through a named pipe */
    uint32_t call_id;
    uint16_t opnum, context;
    struct { bool set; uint8_t type; uint16_t fragments; struct dce_stub stub; } ds[2];
};

struct smb_file {
    enum direction direction;
    struct smb_id id;
    struct slice name, share;
    struct app_transfer transfer;
    uint64_t abandon_us;            /* after a gap: done when nothing has come till then */
};

struct smb_rename { struct smb_id id; struct slice from, to; };

struct smb_set_info {
    uint16_t subcommand, level;
    bool delete_on_close;
    struct slice name;
    struct smb_id id;
};

struct smb_tx {
    struct app_tx tx;
    uint8_t version;                /* 1, 2; 0: unknown */
    uint16_t command;
    bool has_status, is_dos_error;
    uint8_t error_class;
    uint32_t status;
    struct smb_scope scope;
    enum smb_kind kind;
    union {
        struct smb_file file;
        struct smb_tree_connect tree;
        struct smb_negotiate negotiate;
        struct smb_call call;
        struct smb_create create;
        struct smb_session_setup setup;
        uint32_t ioctl;             /* which function */
        struct smb_rename rename;
        struct smb_set_info set_info;
    };
};

static inline struct smb_tx *smb_tx_of(const struct app_tx *tx)
{
    return (struct smb_tx *)(uintptr_t)tx;
}

struct smb_dir {
    bool started;
    bool searching;                 /* for a record: after a gap, or picked up midstream */
    bool had_gap;
    bool cut_off;                   /* nothing more that makes sense will come */
    uint32_t skip;                  /* bytes of the current record to skip */
    uint32_t file_left;             /* bytes of it that belong to a file */
    struct smb_id file_id;
};

struct smb_state {
    struct app_flow *flow;
    struct smb_dir ds[2];
    uint64_t now_us;
    uint16_t dialect;               /* of SMB2; 0: not known */
    struct buf dialect_name;        /* of SMB1 */
    uint32_t max_read, max_write;   /* as negotiated; 0: not known */
    struct dce_interfaces interfaces;
    bool check_files, full;         /* files that a gap may have ended; no transaction left */
    struct app_lru names;         /* file -> name */
    struct app_lru keys;          /* message -> name or file */
    struct app_lru offsets;       /* message -> file and offset of a read */
    struct app_lru trees;         /* session and tree -> share */
    struct app_lru fragments;     /* pipe -> beginning of an answer */
};

/* One command of a record, of either version. */
struct smb_record {
    uint8_t version;
    uint16_t command;               /* AndX: the one at hand */
    uint32_t status;
    bool is_dos_error, unicode, is_response;
    uint64_t session, message;
    uint32_t tree;
    uint32_t chain, header_len;     /* SMB2 */
    struct slice complete;             /* SMB1: behind the header; offsets count from 32 before */
    struct slice body;              /* of the command: SMB1 parameter words, SMB2 structure */
    uint32_t missing;               /* bytes of the record that have not come yet */
    enum direction direction;
};

/* --- tx.c: transactions ---------------------------------------------------------------------- */
/* NULL when there are too many: an event, and the parser stops. */
struct smb_tx *smb_tx_new(struct smb_state *st, enum smb_kind kind, const struct smb_record *r);
struct smb_scope smb_scope_of(const struct smb_record *r, unsigned kind);
/* The one with this command and scope; kind SMB_KIND_COUNT: of any kind. */
struct smb_tx *smb_tx_find(struct smb_state *st, const struct smb_record *r,
                           struct smb_scope scope);
struct smb_tx *smb_changing(struct smb_tx *t);
struct smb_tx *smb_tx_find_kind(struct smb_state *st, enum smb_kind kind, struct smb_scope scope);
struct smb_tx *smb_tx_negotiate(struct smb_state *st, uint8_t version);
void smb_set_status(struct smb_tx *t, const struct smb_record *r);
void smb_on_response(struct smb_tx *t, const struct smb_record *r);        /* with its status */
void smb_done(struct smb_tx *t, enum direction d);
void smb_event(struct smb_state *st, enum smb_event event);     /* on the newest transaction */
struct slice smb_keep(struct smb_tx *t, struct slice s);
struct slice smb_keep_text(struct smb_tx *t, struct slice s);   /* without its zero bytes */

/* --- file.c: files, both ways ---------------------------------------------------------------- */
struct smb_extent {                  /* of a file, in a read answer or a write request */
    struct smb_id id;
    uint64_t offset;
    uint32_t len;
    struct slice data;              /* what has come of it */
    struct slice name;
};
/* An extent begins. */
void smb_file_extent(struct smb_state *st, const struct smb_record *r, const struct smb_extent *p);
struct smb_tx *smb_file_find(struct smb_state *st, const struct smb_id *id, enum direction d,
                             bool open);
/* More of it; data NULL: lost. Gives how much of it was the file's. */
uint32_t smb_file_data(struct smb_state *st, enum direction d, const uint8_t *data, uint32_t len);
void smb_file_close(struct smb_tx *t);
void smb_files_after_gap(struct smb_state *st, enum direction d);
void smb_files_abandon(struct smb_state *st);

/* --- pipe.c: calls through named pipes ------------------------------------------------------- */
bool smb_is_call(struct slice data);
/* Is the file a pipe on which calls are known to go? */
bool smb_pipe_has_calls(struct smb_state *st, const struct smb_id *id);
void smb_pipe_request(struct smb_state *st, const struct smb_record *r, struct slice data);
void smb_pipe_response(struct smb_state *st, const struct smb_record *r, const struct smb_id *id,
                       struct slice data);

/* --- auth.c ---------------------------------------------------------------------------------- */
void smb_read_token(struct smb_tx *t, struct slice token);

/* --- smb1.c, smb2.c -------------------------------------------------------------------------- */
bool smb1_take_record(struct bytes *in, struct smb_record *r);
void smb1_request(struct smb_state *st, struct smb_record *r);
void smb1_response(struct smb_state *st, struct smb_record *r);
bool smb2_take_record(struct bytes *in, enum direction d, struct smb_record *r);
void smb2_request(struct smb_state *st, const struct smb_record *r);
void smb2_response(struct smb_state *st, const struct smb_record *r);
/* The beginning of a read answer or write request: takes it on if its data are a file's, and may
 * then come in extents. */
bool smb1_begin_data(struct smb_state *st, struct smb_record *r);
bool smb2_begin_data(struct smb_state *st, const struct smb_record *r);

/* --- nbss.c, log.c, status.c, names.c -------------------------------------------------------- */
enum parse_status smb_parse(struct app_flow *af, struct app_input *in);
enum app_probe_result smb_probe(struct bytes in, enum direction d, const struct flow *flow);
extern const struct app_log *const smb_logs[];
void smb_alert_metadata(struct json *j, struct app_tx *tx);
const char *smb_status_name(uint32_t status);           /* NULL: not known */
const char *smb_dos_error_text(uint8_t class, uint16_t code, char *out, size_t size);
const char *smb1_command_name(uint16_t command);        /* NULL: not known */
const char *smb2_command_name(uint16_t command);
const char *smb2_dialect_name(uint16_t dialect);
const char *smb_fsctl_name(uint32_t function);

#endif
