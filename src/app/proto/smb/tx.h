/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/tx.h - a transaction: a command with its response, a call through a named pipe,
 * or the transfer of a file. */
#ifndef APP_SMB_TX_H
#define APP_SMB_TX_H

#include "app/core/transfer.h"
#include "app/proto/dcerpc/pdu.h"
#include "app/proto/krb5/ticket.h"
#include "app/proto/smb/cache.h"

struct smb_record;
struct smb_state;

#define SMB_KIND_LIST(E)                  \
    E(SMB_GENERIC, "generic")             \
    E(SMB_FILE, "file")                   \
    E(SMB_TREE_CONNECT, "tree_connect")   \
    E(SMB_NEGOTIATE, "negotiate")         \
    E(SMB_DCERPC, "dcerpc")               \
    E(SMB_CREATE, "create")               \
    E(SMB_SESSION_SETUP, "session_setup") \
    E(SMB_IOCTL, "ioctl")                 \
    E(SMB_RENAME, "rename")               \
    E(SMB_SET_INFO, "set_file_path_info")
/* The names are those of the key `types` in the log's configuration. */
enum smb_kind { SMB_KIND_LIST(APP_ENUM_ID) SMB_KIND_COUNT };

/* The scope of a command. A response belongs to a request if all members but the tree are equal. */
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
    struct smb_hosts *hosts[2];     /* SMB1: client and server */
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
    struct slice service[2];        /* SMB1: requested, and returned; data NULL: none */
};

struct smb_create {
    uint32_t disposition;
    bool delete_on_close, is_directory;
    struct slice name;              /* as sent */
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
    uint64_t abandon_us;            /* after a gap: the file ends at this time unless data arrive */
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
        uint32_t ioctl;             /* function code */
        struct smb_rename rename;
        struct smb_set_info set_info;
    };
};

static inline struct smb_tx *smb_tx_of(const struct app_tx *tx)
{
    return (struct smb_tx *)(uintptr_t)tx;
}

/* --- tx.c --- */

/* NULL: there are too many transactions, which is an event, and the parser stops. */
struct smb_tx *smb_tx_new(struct smb_state *st, enum smb_kind kind, const struct smb_record *r);
struct smb_scope smb_scope_of(const struct smb_record *r, unsigned kind);
/* Gives the transaction the scope in which it is found. */
void smb_set_scope(struct smb_tx *t, struct smb_scope scope);
/* What the keys of transactions are made of begins with one of these. */
enum { SMB_KEY_OF_SCOPE, SMB_KEY_OF_CALL, SMB_KEY_OF_TRANSFER };
/* Finds the transaction with this command and scope; kind SMB_KIND_COUNT: of any kind. */
struct smb_tx *smb_tx_find(struct smb_state *st, const struct smb_record *r,
                           struct smb_scope scope);
struct smb_tx *smb_changing(struct smb_tx *t);
struct smb_tx *smb_tx_find_kind(struct smb_state *st, enum smb_kind kind, struct smb_scope scope);
struct smb_tx *smb_tx_negotiate(struct smb_state *st, uint8_t version);
void smb_set_status(struct smb_tx *t, const struct smb_record *r);
void smb_on_response(struct smb_tx *t, const struct smb_record *r);        /* with its status */
void smb_done(struct smb_tx *t, enum direction d);
struct slice smb_keep(struct smb_tx *t, struct slice s);
struct slice smb_keep_text(struct smb_tx *t, struct slice s);   /* without its zero bytes */

/* --- auth.c --- */

void smb_read_token(struct smb_tx *t, struct slice token);

#endif
