/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/log.c - EVE `smb`. Keys and values are those of Suricata 8. */
#include "app/proto/smb/names.h"
#include "app/proto/smb/state.h"
#include "app/proto/smb/tx.h"
#include "base/memory/lib_memory.h"

#include <stdio.h>
#include <stdlib.h>

struct log_settings {
    uint32_t kinds;                 /* bit per enum smb_kind; 0: all */
};

static const char *const kind_names[] = { SMB_KIND_LIST(APP_ENUM_TEXT) };

/* --- values --------------------------------------------------------------------------------- */

/* A GUID: the first three groups are little endian on the wire ([MS-DTYP] section 2.3.4.2). */
static void log_guid(struct json *j, const char *key, const uint8_t *g)
{
    json_printf(j, key, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6], g[9], g[8], g[11], g[10], g[15],
                g[14], g[13], g[12]);
}

/* 16 bytes are an SMB2 FileId; an SMB1 id begins with the file number, and the session's number
 * after it is not shown. */
static void log_id(struct json *j, const struct smb_id *id)
{
    if (id->len == 16)
        log_guid(j, "fuid", id->at);
    else if (id->len > 0)
        json_printf(j, "fuid", "%02x%02x", id->at[1], id->at[0]);
    else
        json_string(j, "fuid", "");
}

/* A value without a known name is shown as its number, in text. */
static void log_name_or_number(struct json *j, const char *key, const char *name, uint32_t number)
{
    if (name != NULL)
        json_string(j, key, name);
    else
        json_printf(j, key, "%u", number);
}

/* A name may still be UTF-16, whose zero bytes are dropped. An empty name is the share's root. */
static void log_path(struct json *j, const char *key, struct slice name)
{
    /* Longer names are rare and use the heap. */
    char stack[512], *text = name.len <= sizeof(stack) ? stack : lib_malloc(name.len);
    uint32_t n = 0;

    if (text == NULL)
        return;
    for (uint32_t i = 0; i < name.len; i++)
        if (name.data[i] != 0)
            text[n++] = (char)name.data[i];
    if (n > 0)
        json_lossy(j, key, (struct slice){ (const uint8_t *)text, n });
    else
        json_string(j, "filename", "<share_root>");
    if (text != stack)
        lib_free(text);
}

/* A DOS error has a class and a code; everything else is an NTSTATUS. */
static void log_status(struct json *j, const struct smb_tx *t)
{
    char text[24];

    if (!t->has_status)
        return;
    if (t->is_dos_error) {
        json_string(j, "status", smb_dos_error_text(t->error_class, (uint16_t)t->status, text,
                                                    sizeof(text)));
        json_printf(j, "status_code", "0x%04x", t->status);
        return;
    }
    log_name_or_number(j, "status", smb_status_name(t->status), t->status);
    json_printf(j, "status_code", "0x%x", t->status);
}

/* The dialect belongs to the flow, not to the transaction: SMB2's number, else SMB1's text. */
static void log_dialect(struct json *j, const struct smb_state *st)
{
    if (st->dialect != 0)
        log_name_or_number(j, "dialect", smb2_dialect_name(st->dialect), st->dialect);
    else if (st->dialect_name.len > 0)
        json_slice(j, "dialect", buf_slice(&st->dialect_name));
    else
        json_string(j, "dialect", "unknown");
}

/* Members that every record has. Suricata counts transactions from 1 here. */
static void log_common(struct json *j, const struct smb_tx *t)
{
    json_u64(j, "id", t->tx.id + 1);
    log_dialect(j, t->tx.flow->state);
    if (t->version != 0)
        log_name_or_number(j, "command", t->version == 1 ? smb1_command_name(t->command)
                                                         : smb2_command_name(t->command),
                           t->command);
    log_status(j, t);
    json_u64(j, "session_id", t->scope.session);
    json_u64(j, "tree_id", t->scope.tree);
}

/* --- kinds ---------------------------------------------------------------------------------- */

/* NULL: SMB1 without that part of the exchange, or SMB2. */
static void log_hosts(struct json *j, const char *key, const struct smb_hosts *hosts)
{
    if (hosts == NULL)
        return;
    json_object(j, key);
    json_lossy(j, "native_os", hosts->os);
    json_lossy(j, "native_lm", hosts->lan_manager);
    json_object_end(j);
}

/* NTLMSSP and Kerberos exclude each other, see auth.c; the hosts are SMB1's. */
static void log_setup(struct json *j, const struct smb_session_setup *s)
{
    if (s->ntlmssp != NULL) {
        json_object(j, "ntlmssp");
        json_lossy(j, "domain", s->ntlmssp->domain);
        json_lossy(j, "user", s->ntlmssp->user);
        json_lossy(j, "host", s->ntlmssp->host);
        if (s->ntlmssp->has_version)
            json_printf(j, "version", "%u.%u build %u rev %u", s->ntlmssp->major,
                        s->ntlmssp->minor, s->ntlmssp->build, s->ntlmssp->revision);
        json_object_end(j);
    }
    if (s->ticket != NULL) {
        json_object(j, "kerberos");
        json_lossy(j, "realm", s->ticket->realm);
        json_array(j, "snames");
        for (unsigned i = 0; i < s->ticket->server.count; i++)
            json_lossy(j, NULL, s->ticket->server.part[i]);
        json_array_end(j);
        json_object_end(j);
    }
    log_hosts(j, "request", s->hosts[TO_SERVER]);
    log_hosts(j, "response", s->hosts[TO_CLIENT]);
}

static void log_create(struct json *j, const struct smb_create *c)
{
    /* [MS-SMB2] section 2.2.13, CreateDisposition. */
    static const char *const dispositions[] = {
        "FILE_SUPERSEDE", "FILE_OPEN", "FILE_CREATE", "FILE_OPEN_IF", "FILE_OVERWRITE",
        "FILE_OVERWRITE_IF",
    };

    log_path(j, c->is_directory ? "directory" : "filename", c->name);
    json_string(j, "disposition", c->disposition < ARRAY_LEN(dispositions)
                                      ? dispositions[c->disposition] : "UNKNOWN");
    json_string(j, "access", c->delete_on_close ? "delete on close" : "normal");
    json_u64(j, "created", c->created);
    json_u64(j, "accessed", c->accessed);
    json_u64(j, "modified", c->modified);
    json_u64(j, "changed", c->changed);
    json_u64(j, "size", c->size);
    log_id(j, &c->id);
}

/* An SMB1 NEGOTIATE may be answered in SMB2: the record has both kinds of dialects. */
static void log_negotiate(struct json *j, const struct smb_tx *t)
{
    const struct smb_state *st = t->tx.flow->state;
    const struct smb_negotiate *n = &t->negotiate;

    json_array(j, "client_dialects");
    for (unsigned i = 0; i < n->dialect_count; i++)
        json_lossy(j, NULL, n->dialect[i]);
    for (unsigned i = 0; i < n->dialect2_count; i++)
        log_name_or_number(j, NULL, smb2_dialect_name(n->dialect2[i]), n->dialect2[i]);
    json_array_end(j);
    if (n->has_client_guid)
        log_guid(j, "client_guid", n->client_guid);
    if (n->has_server_guid)
        log_guid(j, "server_guid", n->server_guid);
    else
        json_string(j, "server_guid", "");
    if (st->max_read > 0)
        json_u64(j, "max_read_size", st->max_read);
    if (st->max_write > 0)
        json_u64(j, "max_write_size", st->max_write);
}

static void log_tree(struct json *j, const struct smb_tx *t)
{
    /* [MS-SMB2] section 2.2.10 */
    static const char *const types[] = { [1] = "FILE", [2] = "PIPE", [3] = "PRINT" };
    const struct smb_tree_connect *c = &t->tree;

    json_lossy(j, c->is_pipe ? "named_pipe" : "share", c->share);
    /* SMB1 has services in place of the share's type. */
    if (t->version != 1) {
        json_string(j, "share_type", c->share_type > 0 && c->share_type < ARRAY_LEN(types)
                                         ? types[c->share_type] : "UNKNOWN");
        return;
    }
    json_object(j, "service");
    if (c->service[TO_SERVER].data != NULL)
        json_lossy(j, "request", c->service[TO_SERVER]);
    if (c->service[TO_CLIENT].data != NULL)
        json_lossy(j, "response", c->service[TO_CLIENT]);
    json_object_end(j);
}

static void log_file(struct json *j, const struct smb_file *f)
{
    json_lossy(j, "filename", f->name);
    json_lossy(j, "share", f->share);
    log_id(j, &f->id);
}

/* SMB2 renames by SET_INFO; SMB1 has a command, and the record no class. */
static void log_rename(struct json *j, const struct smb_tx *t)
{
    if (t->version == 2) {
        json_object(j, "set_info");
        json_string(j, "class", "FILE_INFO");
        json_string(j, "info_level", "SMB2_FILE_RENAME_INFO");
        json_object_end(j);
    }
    json_object(j, "rename");
    json_lossy(j, "from", t->rename.from);
    json_lossy(j, "to", t->rename.to);
    json_object_end(j);
    log_id(j, &t->rename.id);
}

/* Values of TRANS2, see smb1_data.c. SMB2's class and level have other numbers and no names
 * here. */
static void log_set_info(struct json *j, const struct smb_set_info *s)
{
    log_path(j, "filename", s->name);
    json_string(j, "access", s->delete_on_close ? "delete on close" : "normal");
    if (s->subcommand == 8)
        json_string(j, "subcmd", "SET_FILE_INFO");
    else if (s->subcommand == 6)
        json_string(j, "subcmd", "SET_PATH_INFO");
    if (s->level == 1013)
        json_string(j, "level_of_interest", "Set Disposition Information");
    log_id(j, &s->id);
}

/* --- calls ---------------------------------------------------------------------------------- */

/* `with_response`: in a record of a bind. ack_reason is always 0, as in Suricata. */
static void log_interface(struct json *j, const struct dce_interface *one, bool with_response)
{
    char text[DCE_UUID_TEXT];

    json_object(j, NULL);
    json_string(j, "uuid", dce_uuid_text(one->uuid, text));
    json_printf(j, "version", "%u.%u", one->version, one->minor);
    if (with_response && one->acknowledged) {
        json_u64(j, "ack_result", one->result);
        json_u64(j, "ack_reason", 0);       /* never filled in, but there */
    }
    json_object_end(j);
}

/* Logs the interfaces of a bind (`all`), or the one whose context a call names. */
static void log_interfaces(struct json *j, const struct smb_tx *t, bool all)
{
    const struct smb_state *st = t->tx.flow->state;
    bool any = false;

    for (unsigned i = 0; i < st->interfaces.count; i++) {
        const struct dce_interface *one = &st->interfaces.at[i];

        if (!all && one->context != t->call.context)
            continue;
        if (!any)
            json_array(j, "interfaces");
        any = true;
        log_interface(j, one, all);
    }
    if (any)
        json_array_end(j);
}

/* Number of fragments, and bytes of stub data that are kept. */
static void log_sizes(struct json *j, const char *key, const struct smb_call *c, enum direction d)
{
    json_object(j, key);
    json_u64(j, "frag_cnt", c->ds[d].fragments);
    json_u64(j, "stub_data_size", c->ds[d].stub.kept.len);
    json_object_end(j);
}

/* The PDU's type, or `missing` when this direction was not seen. */
static const char *call_type(const struct smb_call *c, enum direction d, const char *missing,
                             char text[DCE_TYPE_TEXT])
{
    return c->ds[d].set ? dce_type_text(c->ds[d].type, text) : missing;
}

/* Interfaces are shown for requests and binds only; sizes only where stub data exist. */
static void log_call(struct json *j, const struct smb_tx *t)
{
    const struct smb_call *c = &t->call;
    char text[DCE_TYPE_TEXT];

    json_object(j, "dcerpc");
    json_string(j, "request", call_type(c, TO_SERVER, "REQUEST_LOST", text));
    json_string(j, "response", call_type(c, TO_CLIENT, "UNREPLIED", text));
    if (c->ds[TO_SERVER].set && c->ds[TO_SERVER].type == DCE_REQUEST) {
        json_u64(j, "opnum", c->opnum);
        log_sizes(j, "req", c, TO_SERVER);
        log_interfaces(j, t, false);
    } else if (c->ds[TO_SERVER].set && c->ds[TO_SERVER].type == DCE_BIND) {
        log_interfaces(j, t, true);
    }
    if (c->ds[TO_CLIENT].set && c->ds[TO_CLIENT].type == DCE_RESPONSE)
        log_sizes(j, "res", c, TO_CLIENT);
    json_u64(j, "call_id", c->call_id);
    json_object_end(j);
}

/* Members of each kind of transaction. A generic one has the common members only. */
static void log_kind(struct json *j, const struct smb_tx *t)
{
    switch (t->kind) {
    case SMB_FILE:
        log_file(j, &t->file);
        return;
    case SMB_TREE_CONNECT:
        log_tree(j, t);
        return;
    case SMB_NEGOTIATE:
        log_negotiate(j, t);
        return;
    case SMB_DCERPC:
        log_call(j, t);
        return;
    case SMB_CREATE:
        log_create(j, &t->create);
        return;
    case SMB_SESSION_SETUP:
        log_setup(j, &t->setup);
        return;
    case SMB_IOCTL:
        log_name_or_number(j, "function", smb_fsctl_name(t->ioctl), t->ioctl);
        return;
    case SMB_RENAME:
        log_rename(j, t);
        return;
    case SMB_SET_INFO:
        log_set_info(j, &t->set_info);
        return;
    default:
        return;
    }
}

/* --- the event ------------------------------------------------------------------------------ */

static int kind_by_name(const char *name)   /* -1: unknown */
{
    for (unsigned i = 0; i < SMB_KIND_COUNT; i++)
        if (strcmp(kind_names[i], name) == 0)
            return (int)i;
    return -1;
}

/* `types` limits the log to these kinds. NULL, also without memory: all are logged. */
static void *smb_log_configure(const struct conf_node *node, struct err *err UNUSED)
{
    const struct conf_node *types = conf_find(node, "types");
    struct log_settings *s;

    if (types == NULL)
        return NULL;
    s = calloc(1, sizeof(*s));
    if (s == NULL)
        return NULL;
    CONF_EACH(item, types) {
        int kind = kind_by_name(conf_item_name(item));

        if (kind < 0)
            conf_warning(item, "unknown type for smb logging: %s", conf_item_name(item));
        else
            s->kinds |= 1u << kind;
    }
    if (s->kinds == 0)
        conf_warning(types, "empty types list for smb is interpreted as logging all");
    return s;
}

/* False: the configuration excludes this kind, and no record is written. */
static bool smb_log(struct json *j, struct app_tx *tx, enum direction d UNUSED, const void *conf)
{
    const struct smb_tx *t = smb_tx_of(tx);
    const struct log_settings *s = conf;

    if (s != NULL && s->kinds != 0 && (s->kinds & 1u << t->kind) == 0)
        return false;
    log_common(j, t);
    log_kind(j, t);
    return true;
}

/* An alert shows the transaction whatever `types` says. */
void smb_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "smb");
    smb_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log eve = {
    .has_tx_id = true,
    .conf_name = "smb", .event_type = "smb", .key = "smb", .progress = { 1, 1 },
    .configure = smb_log_configure, .log = smb_log,
};

const struct app_log *const smb_logs[] = { &eve, NULL };
