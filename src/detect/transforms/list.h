/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/transforms/list.h - the transforms: one line each, X(symbol) for
 * `const struct transform_ops transform_<symbol>` in this directory. */
#ifndef DETECT_TRANSFORMS_LIST_H
#define DETECT_TRANSFORMS_LIST_H

#include "detect/rule/buffer.h"

#define TRANSFORM_LIST(X)   \
    X(dotprefix)            \
    X(strip_whitespace)     \
    X(compress_whitespace)  \
    X(to_lowercase)         \
    X(to_uppercase)         \
    X(to_md5)               \
    X(to_sha1)              \
    X(to_sha256)            \
    X(url_decode)           \
    X(xor)                  \
    X(pcrexform)            \
    X(header_lowercase)     \
    X(strip_pseudo_headers) \
    X(from_base64)          \
    X(gunzip)               \
    X(zlib_deflate)         \
    X(domain)               \
    X(tld)                  \
    X(luaxform)             \
    X(subslice)

#define X(symbol) extern const struct transform_ops transform_##symbol;
TRANSFORM_LIST(X)
#undef X

#endif
