/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/digest.c - a thread's memory for one hash at a time (TLS, SSH and QUIC
 * fingerprints). */
#include "app/lib/digest.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/array.h"

struct digests {
    struct digest_stream stream;
};

struct digests *digests_new(void)
{
    return xcalloc(1, sizeof(struct digests));
}

void digests_free(struct digests *d)
{
    free(d);
}

/* Returns 0 bytes for NULL digests (no memory, or no rule needs this hash). `out` has space for the
 * largest. */
unsigned digest(struct digests *d, enum digest which, const void *data, size_t len,
                uint8_t out[DIGEST_MAX])
{
    if (d == NULL)
        return 0;
    digest_begin(&d->stream, which);
    digest_add(&d->stream, data, len);
    return digest_end(&d->stream, out);
}

/* `between` is '\0' for none; `digits` decides upper or lower case. No '\0' at the end. */
size_t hex_text(const uint8_t *data, size_t len, char between, const char digits[16], char *out)
{
    char *to = out;

    for (size_t i = 0; i < len; i++) {
        if (i > 0 && between != '\0')
            *to++ = between;
        *to++ = digits[data[i] >> 4];
        *to++ = digits[data[i] & 15];
    }
    return (size_t)(to - out);
}

/* Warns at load of a rule that can never match; hex digits of either case are fine. */
bool md5_pattern_check(struct slice pattern, bool nocase UNUSED, struct err *err)
{
    if (pattern.len != 32) {
        err_set(err, "an MD5 has 32 digits, found %u characters: this will never match",
                pattern.len);
        return false;
    }
    for (uint32_t i = 0; i < pattern.len; i++) {
        if (!isxdigit(pattern.data[i])) {
            err_set(err, "an MD5 is written in hexadecimal digits: this will never match");
            return false;
        }
    }
    return true;
}
