/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/names.c - procedures (RFC 1094 section 2.2, RFC 1813 section 3, RFC 7530 section
 * 16), status codes, and flavors of credentials (RFC 5531 section 8.2), as Suricata spells them. */
#include "app/proto/nfs/nfs.h"

#include "base/array.h"

#define NAME_OF(table, number) ((number) < ARRAY_LEN(table) ? (table)[number] : NULL)

#define NAME(name) #name,
static const char *const procedures_2[] = { NFS2_PROCEDURE_LIST(NAME) };
static const char *const procedures_3[] = { NFS3_PROCEDURE_LIST(NAME) };
#undef NAME

/* RFC 1813 section 2.6 */
static const struct { uint32_t number; const char *name; } states[] = {
    { 0, "OK" }, { 1, "ERR_PERM" }, { 2, "ERR_NOENT" }, { 5, "ERR_IO" }, { 6, "ERR_NXIO" },
    { 13, "ERR_ACCES" }, { 17, "ERR_EXIST" }, { 18, "ERR_XDEV" }, { 19, "ERR_NODEV" },
    { 20, "ERR_NOTDIR" }, { 21, "ERR_ISDIR" }, { 22, "ERR_INVAL" }, { 27, "ERR_FBIG" },
    { 28, "ERR_NOSPC" }, { 30, "ERR_ROFS" }, { 31, "ERR_MLINK" }, { 63, "ERR_NAMETOOLONG" },
    { 66, "ERR_NOTEMPTY" }, { 69, "ERR_DQUOT" }, { 70, "ERR_STALE" }, { 71, "ERR_REMOTE" },
    { 10001, "ERR_BADHANDLE" }, { 10002, "ERR_NOT_SYNC" }, { 10003, "ERR_BAD_COOKIE" },
    { 10004, "ERR_NOTSUPP" }, { 10005, "ERR_TOOSMALL" }, { 10006, "ERR_SERVERFAULT" },
    { 10007, "ERR_BADTYPE" }, { 10008, "ERR_JUKEBOX" },
};

/* RFC 8881 has numbers between the named ones and ILLEGAL, for which records have no names. */
static const char *operation_name(uint32_t op)
{
#define CASE(name, number, read) case number: return #name;
    switch (op) {
    NFS4_OP_LIST(CASE)
    default: return NULL;
    }
#undef CASE
}

/* Version 0, unknown, has the names of version 2. */
const char *nfs_procedure_name(uint32_t version, uint32_t procedure)
{
    if (version == 3)
        return NAME_OF(procedures_3, procedure);
    if (version < 3)
        return NAME_OF(procedures_2, procedure);
    return operation_name(procedure);
}

const char *nfs_status_name(uint32_t status)
{
    for (unsigned i = 0; i < ARRAY_LEN(states); i++)
        if (states[i].number == status)
            return states[i].name;
    return NULL;
}

const char *rpc_status_name(uint32_t status)
{
    static const char *const names[] = { "ACCEPTED", "DENIED" };

    return NAME_OF(names, status);
}

const char *rpc_flavor_name(uint32_t flavor)
{
    static const char *const names[] = { "NULL", "UNIX", "SHORT", "DH", "KERB", "RSA", "GSS" };

    return NAME_OF(names, flavor);
}
