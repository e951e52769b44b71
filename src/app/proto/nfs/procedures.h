/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/procedures.h - the procedures of versions 2 and 3, and the operations of version 4:
 * one list each, from which their enum and the table of their names come. */
#ifndef APP_NFS_PROCEDURES_H
#define APP_NFS_PROCEDURES_H

/* From 0 on: RFC 1094 section 2.2. */
#define NFS2_PROCEDURE_LIST(E)                                                    \
    E(NULL) E(GETATTR) E(SETATTR) E(ROOT) E(LOOKUP) E(READLINK) E(READ)           \
    E(WRITECACHE) E(WRITE) E(CREATE) E(REMOVE) E(RENAME) E(LINK) E(SYMLINK)       \
    E(MKDIR) E(RMDIR) E(READDIR) E(STATFS)

/* From 0 on: RFC 1813 section 3. */
#define NFS3_PROCEDURE_LIST(E)                                                    \
    E(NULL) E(GETATTR) E(SETATTR) E(LOOKUP) E(ACCESS) E(READLINK) E(READ)         \
    E(WRITE) E(CREATE) E(MKDIR) E(SYMLINK) E(MKNOD) E(REMOVE) E(RMDIR) E(RENAME)  \
    E(LINK) E(READDIR) E(READDIRPLUS) E(FSSTAT) E(FSINFO) E(PATHCONF) E(COMMIT)

/* E(name, number, whether ops.c reads it): RFC 7530 section 16. The two procedures share one range
 * of numbers with the operations. */
#define NFS4_OP_LIST(E)                                                           \
    E(NULL, 0, false)                   E(COMPOUND, 1, false)                     \
    E(ACCESS, 3, true)                  E(CLOSE, 4, true)                         \
    E(COMMIT, 5, true)                  E(CREATE, 6, true)                        \
    E(DELEGPURGE, 7, false)             E(DELEGRETURN, 8, true)                   \
    E(GETATTR, 9, true)                 E(GETFH, 10, true)                        \
    E(LINK, 11, false)                  E(LOCK, 12, false)                        \
    E(LOCKT, 13, false)                 E(LOCKU, 14, false)                       \
    E(LOOKUP, 15, true)                 E(LOOKUPP, 16, false)                     \
    E(NVERIFY, 17, false)               E(OPEN, 18, true)                         \
    E(OPENATTR, 19, false)              E(OPEN_CONFIRM, 20, true)                 \
    E(OPEN_DOWNGRADE, 21, false)        E(PUTFH, 22, true)                        \
    E(PUTPUBFH, 23, false)              E(PUTROOTFH, 24, true)                    \
    E(READ, 25, true)                   E(READDIR, 26, true)                      \
    E(READLINK, 27, false)              E(REMOVE, 28, true)                       \
    E(RENAME, 29, true)                 E(RENEW, 30, true)                        \
    E(RESTOREFH, 31, false)             E(SAVEFH, 32, true)                       \
    E(SECINFO, 33, false)               E(SETATTR, 34, true)                      \
    E(SETCLIENTID, 35, true)            E(SETCLIENTID_CONFIRM, 36, true)          \
    E(VERIFY, 37, false)                E(WRITE, 38, true)                        \
    E(RELEASE_LOCKOWNER, 39, false)     E(ILLEGAL, 10044, false)

/* RFC 8881 section 18. Records have no names for them, as in Suricata; ops.c reads all of these. */
#define NFS41_OP_LIST(E)                                                          \
    E(EXCHANGE_ID, 42)                  E(CREATE_SESSION, 43)                     \
    E(DESTROY_SESSION, 44)              E(GETDEVICEINFO, 47)                      \
    E(LAYOUTGET, 50)                    E(LAYOUTRETURN, 51)                       \
    E(SECINFO_NO_NAME, 52)              E(SEQUENCE, 53)                           \
    E(DESTROY_CLIENTID, 57)             E(RECLAIM_COMPLETE, 58)

#define NFS2_ID(name) NFS2_##name,
#define NFS3_ID(name) NFS3_##name,
#define NFS4_ID(name, number, ...) NFS4_##name = number,
enum nfs2_procedure { NFS2_PROCEDURE_LIST(NFS2_ID) };
enum nfs3_procedure { NFS3_PROCEDURE_LIST(NFS3_ID) };
enum nfs4_op { NFS4_OP_LIST(NFS4_ID) NFS41_OP_LIST(NFS4_ID) };
#undef NFS2_ID
#undef NFS3_ID
#undef NFS4_ID

#endif
