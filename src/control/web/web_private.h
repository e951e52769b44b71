/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/web_private.h - declarations that the listener, its pages and its samples share. */
#ifndef CONTROL_WEB_WEB_PRIVATE_H
#define CONTROL_WEB_WEB_PRIVATE_H

#include <pthread.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "control/web/web.h"
#include "output/metrics.h"
#include "output/output.h"

/* --- requests --------------------------------------------------------------------------------- */

struct web_request {
    const char *accept;         /* header; NULL: none */
    const char *since, *sid;    /* arguments; NULL: none */
};

struct web_page {
    const char *path;           /* "/metrics" */
    const char *type;           /* of the content; NULL: write() returns it */
    /* Writes the content to `out`. Returns its type, or NULL for page->type. Runs on the listener's
     * thread. */
    const char *(*write)(struct web *web, const struct web_request *request, struct buf *out);
};
extern const struct web_page web_pages[];      /* pages.c; the list ends with a NULL path */

/* The page at "/", which page.S includes in the program. */
extern const uint8_t web_page_html[];
extern const uint8_t web_page_html_end[];

struct control *web_control(struct web *web);
struct web_history *web_history(struct web *web);

/* --- post.c: requests that start or end something --------------------------------------------- */

#define WEB_POST_HEADER "X-Ids-Request"
#define WEB_BODY_MAX 1024u

/* What headers say of the sender of a POST request; NULL: the header is missing. */
struct web_sender {
    const char *marker;         /* WEB_POST_HEADER */
    const char *site;           /* Sec-Fetch-Site */
    const char *origin, *host;
};
/* NULL: the request may change something. Otherwise why not. */
const char *web_post_forbidden(const struct web_sender *sender);

struct web_action {
    const char *path;
    /* Writes JSON, or with false a line that says what is wrong. On the listener's thread. */
    bool (*run)(struct control *control, struct slice body, struct buf *out);
};
extern const struct web_action web_actions[];  /* the list ends with a NULL path */
/* Whether the configuration lets readers ask; the caller holds the control's lock. */
bool web_may_ask(const struct control *control);

/* --- history.c: a sample a second, for the last 15 minutes ------------------------------------ */

#define HISTORY_SECONDS 900

struct web_history;
struct web_history *history_new(void);
void history_free(struct web_history *h);
/* Clears the samples for a new run, because its threads may differ. */
void history_clear(struct web_history *h);
/* Takes a sample; the caller holds the control's lock. */
void history_sample(struct web_history *h, struct control *control);
struct json;
/* Writes members of the open object: samples taken after `since` (seconds since 1970). */
void history_json(const struct web_history *h, uint64_t since, struct json *j);

struct history_thread {
    char name[16];
    uint64_t packets, busy_ns, wait_ns, blocked_ns;     /* totals */
    uint16_t busy, wait, blocked;       /* shares of the last second, in per mille */
};
/* Returns the newest sample of a thread; NULL: none. */
const struct history_thread *history_thread(const struct web_history *h, const char *name);

/* --- rule_costs.c: what rules cost ------------------------------------------------------------ */

/* Writes a member "cost" of the open object, if the rule has cost anything. The caller holds the
 * control's lock. */
void rule_cost_json(struct json *j, struct control *c, uint32_t sid);
/* A web_page.write. */
const char *rule_costs_write(struct web *web, const struct web_request *request, struct buf *out);

/* --- secrets.c: what the page does not show --------------------------------------------------- */

/* True for a setting whose value must not leave the machine. key: its complete path. */
bool web_is_secret(const char *key, const char *value);

/* --- threads.c: the threads of the run -------------------------------------------------------- */

struct plan;
/* Writes an array of the open object; the caller holds the control's lock. */
void threads_json(struct web *web, struct json *j, const struct plan *plan);
/* A web_page.write: the picture of the machine with the threads where they ran last. */
const char *threads_svg_write(struct web *web, const struct web_request *request, struct buf *out);

/* --- feed.c: alerts as they are written ------------------------------------------------------- */

struct feed;
struct feed *feed_new(void);
void feed_free(struct feed *f);
/* Returns the tap that outputs fill. */
struct output_tap *feed_tap(struct feed *f);
void feed_clear(struct feed *f);
/* Allows further records to be kept; call it a few times a second. */
void feed_refill(struct feed *f);

/* A reader; `at` is its position. */
struct feed_reader {
    struct feed *feed;
    uint64_t at;
};
/* last: the id of the last event that the reader had; NULL, or one of another process: it begins
 * with the newest records. False: the maximum of readers is reached. */
bool feed_join(struct feed *f, const char *last, struct feed_reader *reader);
void feed_leave(struct feed_reader *reader);
/* Appends the next record as a server-sent event with its id; false: nothing new. A reader that is
 * too slow loses the oldest records. */
bool feed_take(struct feed_reader *reader, struct buf *out);
bool feed_has_more(const struct feed_reader *reader);

#endif
