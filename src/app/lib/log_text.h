/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/log_text.h - text of the peer on its way into records and rules. */
#ifndef APP_LOG_TEXT_H
#define APP_LOG_TEXT_H

#include "base/memory/arena.h"
#include "base/text/bytes.h"
#include "base/report/json.h"

/* A copy in which each piece that is not UTF-8 has become U+FFFD. */
struct slice app_text_utf8(struct arena *arena, struct slice s);
struct slice app_text_copy(struct arena *arena, struct slice s);

/* As it is up to `limit` bytes; longer ones are cut, between characters, and say so. */
void app_json_limited(struct json *j, const char *key, struct slice s, size_t limit);
/* UTF-8 made fit to be a key: a string of the arena. */
const char *app_json_key(struct arena *arena, struct slice s);

static inline bool slice_is(struct slice s, const char *text)
{
    size_t n = strlen(text);

    return s.len == n && (n == 0 || memcmp(s.data, text, n) == 0);
}

#endif
