/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/digest.c - MD5, SHA-1 and SHA-256 in the caller's memory. libcrypto 3 deprecates
 * these functions, but has no others that do not allocate. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/system/digest.h"

#include <openssl/md5.h>
#include <openssl/sha.h>

_Static_assert(sizeof(MD5_CTX) <= sizeof(((struct digest_stream *)0)->state), "no room for MD5");
_Static_assert(sizeof(SHA_CTX) <= sizeof(((struct digest_stream *)0)->state), "no room for SHA-1");
_Static_assert(sizeof(SHA256_CTX) <= sizeof(((struct digest_stream *)0)->state),
               "no room for SHA-256");

void digest_begin(struct digest_stream *s, enum digest which)
{
    s->which = which;
    switch (which) {
    case DIGEST_MD5: MD5_Init((MD5_CTX *)s->state); break;
    case DIGEST_SHA1: SHA1_Init((SHA_CTX *)s->state); break;
    default: SHA256_Init((SHA256_CTX *)s->state); break;
    }
}

void digest_add(struct digest_stream *s, const void *data, size_t len)
{
    switch (s->which) {
    case DIGEST_MD5: MD5_Update((MD5_CTX *)s->state, data, len); break;
    case DIGEST_SHA1: SHA1_Update((SHA_CTX *)s->state, data, len); break;
    default: SHA256_Update((SHA256_CTX *)s->state, data, len); break;
    }
}

unsigned digest_end(struct digest_stream *s, uint8_t *out)
{
    switch (s->which) {
    case DIGEST_MD5: MD5_Final(out, (MD5_CTX *)s->state); return MD5_DIGEST_LENGTH;
    case DIGEST_SHA1: SHA1_Final(out, (SHA_CTX *)s->state); return SHA_DIGEST_LENGTH;
    default: SHA256_Final(out, (SHA256_CTX *)s->state); return SHA256_DIGEST_LENGTH;
    }
}
