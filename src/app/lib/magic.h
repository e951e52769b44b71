/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/magic.h - what libmagic says of the beginning of a file, with a bound on its work.
 *
 * libmagic has no limit for its work: 16,000 line feeds take it 100 times as long as a page of
 * text. So it gets the first MAGIC_HEAD bytes at most, and less where the caller has not the units
 * for so many. The latest answers are kept: both ordinary sites and attackers send the same again.
 * One thread uses a struct app_magic. */
#ifndef APP_LIB_MAGIC_H
#define APP_LIB_MAGIC_H

#include "base/text/bytes.h"

#define MAGIC_HEAD 4096u        /* bytes; libmagic never gets more */

/* What a lookup of these bytes costs, in units of about a microsecond. */
uint32_t magic_cost(const uint8_t *data, size_t len);
/* The most bytes of the head whose lookup costs no more than `units`; 0: not even 512, or all of a
 * shorter file. */
size_t magic_head(const uint8_t *data, size_t len, uint64_t units);

struct app_magic;

/* NULL: no memory, no such database, or a build without libmagic. */
struct app_magic *app_magic_new(const char *database);
void app_magic_free(struct app_magic *m);       /* NULL is fine */

/* Asked with all of the head or with less, answered from memory, or not asked. */
enum magic_outcome { MAGIC_ASKED, MAGIC_SHORTENED, MAGIC_KNOWN, MAGIC_SKIPPED };

struct magic_answer {
    enum magic_outcome outcome;
    uint32_t spent;             /* units */
    const char *text;           /* until the next call; NULL: libmagic has no answer */
};
struct magic_answer app_magic_look_up(struct app_magic *m, struct slice file, uint64_t units);

#endif
