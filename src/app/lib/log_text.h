/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/log_text.h - makes text of the peer valid for records and rules. */
#ifndef APP_LOG_TEXT_H
#define APP_LOG_TEXT_H

#include "base/memory/arena.h"
#include "base/text/bytes.h"
#include "base/report/json.h"

/* Returns a copy in which each sequence that is not UTF-8 is replaced by U+FFFD. */
struct slice app_text_utf8(struct arena *arena, struct slice s);
struct slice app_text_copy(struct arena *arena, struct slice s);

/* Writes up to `limit` bytes. Truncates longer text between characters, with a note. */
void app_json_limited(struct json *j, const char *key, struct slice s, size_t limit);
/* Returns UTF-8 that is valid as a JSON key: a string in the arena. */
const char *app_json_key(struct arena *arena, struct slice s);

static inline bool slice_is(struct slice s, const char *text)
{
    size_t n = strlen(text);

    return s.len == n && (n == 0 || memcmp(s.data, text, n) == 0);
}

#endif
