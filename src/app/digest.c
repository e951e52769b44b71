/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/digest.c - one context and the algorithms, fetched once. */
#include "app/digest.h"

#include <openssl/evp.h>
#include <stdlib.h>

#include "base/array.h"

struct digests {
    EVP_MD_CTX *context;
    EVP_MD *algorithm[DIGEST_COUNT];
};

struct digests *digests_new(void)
{
    static const char *const names[DIGEST_COUNT] = { "MD5", "SHA1", "SHA256" };
    struct digests *d = xcalloc(1, sizeof(*d));

    d->context = EVP_MD_CTX_new();
    if (d->context == NULL) {
        free(d);
        return NULL;
    }
    for (unsigned i = 0; i < DIGEST_COUNT; i++)
        d->algorithm[i] = EVP_MD_fetch(NULL, names[i], NULL);
    return d;
}

void digests_free(struct digests *d)
{
    if (d == NULL)
        return;
    for (unsigned i = 0; i < DIGEST_COUNT; i++)
        EVP_MD_free(d->algorithm[i]);
    EVP_MD_CTX_free(d->context);
    free(d);
}

unsigned digest(struct digests *d, enum digest which, const void *data, size_t len,
                uint8_t out[DIGEST_MAX])
{
    unsigned size = 0;

    if (d == NULL || d->algorithm[which] == NULL)
        return 0;
    if (EVP_DigestInit_ex(d->context, d->algorithm[which], NULL) != 1 ||
        EVP_DigestUpdate(d->context, data, len) != 1 ||
        EVP_DigestFinal_ex(d->context, out, &size) != 1)
        return 0;
    return size;
}

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
