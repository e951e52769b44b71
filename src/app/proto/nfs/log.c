/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/log.c - EVE nfs, with the RPC call that carried it. Keys and values are
 * Suricata's. */
#include "app/proto/nfs/nfs.h"

#include <zlib.h>

static void log_known(struct json *j, const char *key, const char *name, uint32_t number)
{
    if (name != NULL)
        json_string(j, key, name);
    else
        json_printf(j, key, "%u", number);
}

/* Credentials are those of AUTH_SYS (RFC 5531 appendix A). */
static void log_rpc(struct json *j, const struct nfs_tx *t)
{
    json_object(j, "rpc");
    json_u64(j, "xid", t->xid);
    log_known(j, "status", rpc_status_name(t->rpc_status), t->rpc_status);
    log_known(j, "auth_type", rpc_flavor_name(t->flavor), t->flavor);
    if (t->flavor == RPC_AUTH_UNIX) {
        json_object(j, "creds");
        json_lossy(j, "machine_name", t->machine);
        json_u64(j, "uid", t->uid);
        json_u64(j, "gid", t->gid);
        json_object_end(j);
    }
    json_object_end(j);
}

static void log_file(struct json *j, const char *key, const struct nfs_tx *t)
{
    json_object(j, key);
    json_bool(j, "first", t->first);
    json_bool(j, "last", t->last);
    if (t->is_file) {
        json_u64(j, "last_xid", t->file.last_xid);
        json_u64(j, "chunks", t->file.extents);
    }
    json_object_end(j);
}

static void log_rename(struct json *j, const struct nfs_tx *t)
{
    json_object(j, "rename");
    json_lossy(j, "from", t->name);
    json_lossy(j, "to", t->new_name);
    json_object_end(j);
}

/* Members of single procedures, whose numbers differ by version. */
static void log_special(struct json *j, const struct nfs_tx *t, uint32_t version)
{
    static const struct { uint32_t read, write, rename; } numbers[] = {
        [2] = { NFS3_READ, NFS2_WRITE, NFS2_RENAME },
        [3] = { NFS3_READ, NFS3_WRITE, NFS3_RENAME },
        [4] = { NFS4_READ, NFS4_WRITE, NFS4_RENAME },
    };

    if (version < 2 || version > 4)
        return;
    if (t->procedure == numbers[version].read)
        log_file(j, "read", t);
    else if (t->procedure == numbers[version].write)
        log_file(j, "write", t);
    else if (t->procedure == numbers[version].rename)
        log_rename(j, t);
}

static void log_nfs(struct json *j, const struct nfs_tx *t)
{
    const struct nfs_state *st = t->tx.flow->state;

    json_object(j, "nfs");
    json_u64(j, "version", st->version);
    log_known(j, "procedure", nfs_procedure_name(st->version, t->procedure), t->procedure);
    json_lossy(j, "filename", t->name);
    if (t->handle.len > 0)
        /* A handle is opaque: its hash distinguishes files. */
        json_printf(j, "hhash", "%lx", crc32(0, t->handle.data, t->handle.len));
    json_u64(j, "id", t->tx.id + 1);
    json_bool(j, "file_tx", t->is_file);
    json_string(j, "type", "response");
    log_known(j, "status", nfs_status_name(t->status), t->status);
    log_special(j, t, st->version);
    json_object_end(j);
}

/* GETATTR calls are too many to log. */
static bool is_logged(const struct nfs_tx *t)
{
    const struct nfs_state *st = t->tx.flow->state;

    return st->version > 3 || t->procedure != NFS3_GETATTR;
}

static bool nfs_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                    const void *conf UNUSED)
{
    const struct nfs_tx *t = nfs_tx_of(tx);

    if (!is_logged(t))
        return false;
    log_rpc(j, t);
    log_nfs(j, t);
    return true;
}

void nfs_alert_metadata(struct json *j, struct app_tx *tx)
{
    log_rpc(j, nfs_tx_of(tx));
    log_nfs(j, nfs_tx_of(tx));
}

static const struct app_log eve = {
    .conf_name = "nfs", .event_type = "nfs", .progress = { 1, 1 }, .as_packet = true,
    .log = nfs_log,
};

const struct app_log *const nfs_logs[] = { &eve, NULL };
