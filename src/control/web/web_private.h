/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/web_private.h - what the listener, its pages and its samples share. */
#ifndef CONTROL_WEB_WEB_PRIVATE_H
#define CONTROL_WEB_WEB_PRIVATE_H

#include <pthread.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "control/web/web.h"
#include "output/metrics.h"
#include "output/output.h"

/* --- what a request asks for ------------------------------------------------------------------ */

struct web_request {
    const char *accept;         /* header; NULL: none */
    const char *since, *sid;    /* arguments; NULL: none */
};

struct web_page {
    const char *path;           /* "/metrics" */
    const char *type;           /* of the content; NULL: write() says it */
    /* Fills out; the type of the content, or NULL for page->type. On the listener's thread. */
    const char *(*write)(struct web *web, const struct web_request *request, struct buf *out);
};
extern const struct web_page web_pages[];      /* pages.c; the last has no path */

/* The page at "/", as page.S puts it into the program. */
extern const uint8_t web_page_html[];
extern const uint8_t web_page_html_end[];

struct control *web_control(struct web *web);
struct web_history *web_history(struct web *web);

/* --- history.c: a sample a second, for the last 15 minutes ------------------------------------ */

#define HISTORY_SECONDS 900

struct web_history;
struct web_history *history_new(void);
void history_free(struct web_history *h);
/* A run begins: threads may be others. */
void history_clear(struct web_history *h);
/* Takes a sample; with the control's lock held. */
void history_sample(struct web_history *h, struct control *control);
struct json;
/* Members of the open object: samples taken after `since` (seconds since 1970). */
void history_json(const struct web_history *h, uint64_t since, struct json *j);

struct history_thread {         /* shares of the last second, in per mille */
    char name[16];
    uint64_t packets, busy_ns, wait_ns, blocked_ns;     /* in all */
    uint16_t busy, wait, blocked;
};
/* The newest sample of a thread; NULL: there is none. */
const struct history_thread *history_thread(const struct web_history *h, const char *name);

/* --- feed.c: alerts as they are written ------------------------------------------------------- */

struct feed;
struct feed *feed_new(void);
void feed_free(struct feed *f);
/* The tap that outputs fill while a reader is connected. */
struct output_tap *feed_tap(struct feed *f);
void feed_clear(struct feed *f);

/* One reader. `at` is where it stands. */
struct feed_reader {
    struct feed *feed;
    uint64_t at;
};
/* False: there are as many readers as there may be. */
bool feed_join(struct feed *f, struct feed_reader *reader);
void feed_leave(struct feed_reader *reader);
/* The next record, its length in *len; 0 with nothing new. What is longer than `size` is passed
 * over. A reader that is too slow loses the oldest. */
size_t feed_take(struct feed_reader *reader, char *to, size_t size);
bool feed_has_more(const struct feed_reader *reader);

#endif
