/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/digest.c - a context for each algorithm: one for all would be made anew at each change. */
#include "app/digest.h"

#include <openssl/evp.h>
#include <stdlib.h>

#include "base/array.h"

struct digests {
    EVP_MD_CTX *context[DIGEST_COUNT];      /* NULL: not to be had */
};

static EVP_MD_CTX *context_new(const char *name)
{
    EVP_MD *algorithm = EVP_MD_fetch(NULL, name, NULL);
    EVP_MD_CTX *context = algorithm != NULL ? EVP_MD_CTX_new() : NULL;

    if (context != NULL && EVP_DigestInit_ex(context, algorithm, NULL) != 1) {
        EVP_MD_CTX_free(context);
        context = NULL;
    }
    EVP_MD_free(algorithm);             /* the context holds its own reference */
    return context;
}

struct digests *digests_new(void)
{
    static const char *const names[DIGEST_COUNT] = { "MD5", "SHA1", "SHA256" };
    struct digests *d = xcalloc(1, sizeof(*d));

    for (unsigned i = 0; i < DIGEST_COUNT; i++)
        d->context[i] = context_new(names[i]);
    return d;
}

void digests_free(struct digests *d)
{
    if (d == NULL)
        return;
    for (unsigned i = 0; i < DIGEST_COUNT; i++)
        EVP_MD_CTX_free(d->context[i]);
    free(d);
}

unsigned digest(struct digests *d, enum digest which, const void *data, size_t len,
                uint8_t out[DIGEST_MAX])
{
    EVP_MD_CTX *context = d != NULL ? d->context[which] : NULL;
    unsigned size = 0;

    if (context == NULL)
        return 0;
    if (EVP_DigestInit_ex(context, NULL, NULL) != 1 ||
        EVP_DigestUpdate(context, data, len) != 1 ||
        EVP_DigestFinal_ex(context, out, &size) != 1)
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
