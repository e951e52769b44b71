/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/chains.h - certificates as sent, and what was read of them, shared by the flows of
 * a thread.
 *
 * Clients connect to the same servers again and again, so most chains are equal to one that another
 * flow has. Equal means all bytes. A chain is freed with the last transaction that has it. */
#ifndef APP_TLS_CHAINS_H
#define APP_TLS_CHAINS_H

#include "app/proto/tls/certificate.h"

struct tls_chains;              /* of one thread; zeroed: empty */

/* A Certificate message. Only its owner writes it, before tls_chain_share(). */
struct tls_chain {
    struct tls_chain *next;             /* in its bucket */
    struct tls_chains *chains;          /* NULL: not shared */
    uint64_t hash;
    uint32_t refs;                      /* transactions and directions that have it */
    bool has_certificate;               /* one could be read: the peer's own */
    unsigned count;                     /* certificates that count */
    struct tls_certificate certificate;
    struct slice *der;
    struct slice list;                  /* as sent, after its length: what it is found by */
    struct arena arena;                 /* texts of the certificate, `der` */
};

struct tls_chains {
    struct tls_chain **bucket;          /* NULL: none was shared so far */
};

void tls_chains_fini(struct tls_chains *chains);        /* all transactions are gone */

/* Of the bytes of a chain, as below. */
uint64_t tls_chain_hash(struct slice list);
/* Returns the chain with these bytes, with a reference for the caller. NULL: there is none. */
struct tls_chain *tls_chain_find(const struct tls_chains *chains, uint64_t hash,
                                 struct slice list);
/* Returns a chain of the caller's own, with a copy of the bytes. NULL: out of memory. */
struct tls_chain *tls_chain_new(uint64_t hash, struct slice list);
/* Lets other flows find it. It stays the caller's own where memory or the table gives out. */
void tls_chain_share(struct tls_chains *chains, struct tls_chain *chain);
void tls_chain_unref(struct tls_chain *chain);          /* NULL is allowed */

#endif
