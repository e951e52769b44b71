/* SPDX-License-Identifier: GPL-2.0-or-later */
/* to_md5, to_sha1, to_sha256 - the raw hash of the buffer, not its hexadecimal text. A
 * content that is longer than the hash can never match and is an error. */
#include "base/memory/buf.h"
#include "detect/transforms/list.h"

/* OpenSSL 3 deprecates MD5(), but the buffer is complete, so the one-call functions are
 * enough. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/md5.h>
#include <openssl/sha.h>

static void to_md5_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    if (!buf_reserve(out, MD5_DIGEST_LENGTH))
        return;
    MD5(in.data, in.len, out->data);
    out->len = MD5_DIGEST_LENGTH;
}

static void to_sha1_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    if (!buf_reserve(out, SHA_DIGEST_LENGTH))
        return;
    SHA1(in.data, in.len, out->data);
    out->len = SHA_DIGEST_LENGTH;
}

static void to_sha256_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    if (!buf_reserve(out, SHA256_DIGEST_LENGTH))
        return;
    SHA256(in.data, in.len, out->data);
    out->len = SHA256_DIGEST_LENGTH;
}

/* A content longer than the hash cannot be found in it. A shorter one may match any part
 * of the hash. */
static bool md5_content_ok(struct slice pattern, const void *arg UNUSED)
{
    return pattern.len <= MD5_DIGEST_LENGTH;
}

static bool sha1_content_ok(struct slice pattern, const void *arg UNUSED)
{
    return pattern.len <= SHA_DIGEST_LENGTH;
}

static bool sha256_content_ok(struct slice pattern, const void *arg UNUSED)
{
    return pattern.len <= SHA256_DIGEST_LENGTH;
}

const struct transform_ops transform_to_md5 = {
    .name = "to_md5",
    .doc = "convert to md5 hash of the buffer",
    .apply = to_md5_apply,
    .content_ok = md5_content_ok,
};

const struct transform_ops transform_to_sha1 = {
    .name = "to_sha1",
    .doc = "convert to sha1 hash of the buffer",
    .apply = to_sha1_apply,
    .content_ok = sha1_content_ok,
};

const struct transform_ops transform_to_sha256 = {
    .name = "to_sha256",
    .doc = "convert to sha256 hash of the buffer",
    .apply = to_sha256_apply,
    .content_ok = sha256_content_ok,
};
