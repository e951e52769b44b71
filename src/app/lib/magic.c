/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/magic.c - libmagic at a price. The price is an estimate from the content and not the time
 * taken, so that the same traffic has the same answers on every machine. */
#include "config.h"

#include "app/lib/magic.h"

#include "base/containers/hash.h"
#include "base/memory/lib_memory.h"

#include <stdlib.h>
#include <string.h>
#ifdef HAVE_MAGIC
#include <magic.h>
#ifndef MAGIC_PARAM_ENCODING_MAX
#define MAGIC_PARAM_ENCODING_MAX (-1)   /* older versions have no such limit */
#endif
#endif

/* Measured with libmagic 5.44: most contents take as long as they have few blanks and line feeds.
 * From each of these, regular expressions of the database search on. */
#define PRICE_LOOKUP 256u
#define PRICE_BLANK 2u
#define BYTES_PER_UNIT 16u

#define MAGIC_LEAST 512u                /* fewer bytes say too little of a longer file */
#define REGEX_BYTES 1024u               /* how far a regular expression of the database searches */

/* --- the price -------------------------------------------------------------------------------- */

static bool is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

uint32_t magic_cost(const uint8_t *data, size_t len)
{
    uint32_t blanks = 0;

    for (size_t i = 0; i < len; i++)
        blanks += is_blank(data[i]);
    return PRICE_LOOKUP + PRICE_BLANK * blanks + (uint32_t)len / BYTES_PER_UNIT;
}

/* Walks at most MAGIC_HEAD bytes, once for a file. */
size_t magic_head(const uint8_t *data, size_t len, uint64_t units)
{
    const size_t most = MIN(len, MAGIC_HEAD);
    uint64_t spent = PRICE_LOOKUP;
    size_t n = 0;

    for (; n < most; n++) {
        spent += (is_blank(data[n]) ? PRICE_BLANK : 0) + (n % BYTES_PER_UNIT == 0);
        if (spent > units)
            break;
    }
    return n < MIN(most, MAGIC_LEAST) ? 0 : n;
}

#ifdef HAVE_MAGIC
/* --- answers kept ----------------------------------------------------------------------------- */

/* Both ordinary sites and attackers send the same again. A head belongs to one set, by its
 * keyed hash, and takes the place of the answer there that was used least recently. */
#define SETS 64u
#define WAYS 4u
#define ANSWER_MAX 224u                 /* longer ones are not kept */

struct kept {
    uint64_t hash;
    uint32_t len, used;                 /* of the head; 0: free */
    char text[ANSWER_MAX];
};

struct app_magic {
    magic_t handle;
    uint32_t clock;
    struct kept kept[SETS][WAYS];
};

static struct kept *kept_find(struct app_magic *m, uint64_t hash, size_t len)
{
    struct kept *set = m->kept[hash % SETS];

    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].len == len && set[i].hash == hash) {
            set[i].used = ++m->clock;
            return &set[i];
        }
    }
    return NULL;
}

static void kept_add(struct app_magic *m, uint64_t hash, size_t len, const char *text)
{
    struct kept *set = m->kept[hash % SETS], *oldest = set;

    if (strlen(text) >= ANSWER_MAX)
        return;
    for (unsigned i = 1; i < WAYS; i++)
        if (set[i].used < oldest->used)
            oldest = &set[i];
    *oldest = (struct kept){ .hash = hash, .len = (uint32_t)len, .used = ++m->clock };
    memcpy(oldest->text, text, strlen(text) + 1);
}

/* --- libmagic --------------------------------------------------------------------------------- */

static void set_limits(magic_t handle)
{
    const size_t head = MAGIC_HEAD, regex = REGEX_BYTES;

    (void)magic_setparam(handle, MAGIC_PARAM_BYTES_MAX, &head);
    (void)magic_setparam(handle, MAGIC_PARAM_REGEX_MAX, &regex);
    (void)magic_setparam(handle, MAGIC_PARAM_ENCODING_MAX, &head);
}

struct app_magic *app_magic_new(const char *database)
{
    struct app_magic *m = lib_calloc(1, sizeof(*m));

    if (m == NULL)
        return NULL;
    m->handle = magic_open(MAGIC_PRESERVE_ATIME);
    if (m->handle != NULL && magic_load(m->handle, database) == 0) {
        set_limits(m->handle);
        return m;
    }
    app_magic_free(m);
    return NULL;
}

void app_magic_free(struct app_magic *m)
{
    if (m == NULL)
        return;
    if (m->handle != NULL)
        magic_close(m->handle);
    lib_free(m);
}

/* An answer is kept for all of the head only. */
struct magic_answer app_magic_look_up(struct app_magic *m, struct slice file, uint64_t units)
{
    const size_t most = MIN(file.len, MAGIC_HEAD), len = magic_head(file.data, most, units);
    const uint64_t hash = hash_bytes(file.data, most);
    const struct kept *known = kept_find(m, hash, most);
    struct magic_answer out = { .outcome = MAGIC_SKIPPED };

    if (known != NULL)
        return (struct magic_answer){ .outcome = MAGIC_KNOWN, .text = known->text };
    if (len == 0)
        return out;
    out.outcome = len < most ? MAGIC_SHORTENED : MAGIC_ASKED;
    out.spent = magic_cost(file.data, len);
    out.text = magic_buffer(m->handle, file.data, len);
    if (out.text != NULL && len == most)
        kept_add(m, hash, most, out.text);
    return out;
}
#else
struct app_magic *app_magic_new(const char *database UNUSED)
{
    return NULL;
}

void app_magic_free(struct app_magic *m UNUSED)
{
}

struct magic_answer app_magic_look_up(struct app_magic *m UNUSED, struct slice file UNUSED,
                                      uint64_t units UNUSED)
{
    return (struct magic_answer){ .outcome = MAGIC_SKIPPED };
}
#endif
