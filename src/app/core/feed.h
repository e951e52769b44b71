/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/feed.h - the parser of a flow, for the driver: it is opened with the first bytes, gets
 * what is pending, and is closed at the latest with the flow. */
#ifndef APP_CORE_FEED_H
#define APP_CORE_FEED_H

#include "app/core/session.h"
#include "app/core/thread.h"

/* The settings of the recognised protocol; a subprotocol's after app_set_subprotocol(). */
static inline const struct app_proto_conf *app_session_conf(const struct app_session *s)
{
    return &s->flow.thread->conf->proto[s->flow.flow->app_proto];
}

/* Passes the pending bytes (and `end`) to the parser. -1: it failed, and the session is off. */
int app_feed(struct app_session *s, enum direction d, bool end);
/* Fails the flow because memory was refused. Always -1. */
int app_no_memory(struct app_session *s);
/* Opens the parser with the state that it had in another process, before its first bytes. -1: there
 * is no memory. */
int app_adopt(struct app_session *s, struct slice state);
void app_close_parser(struct app_session *s);
void app_count_flow(struct app_session *s);

#endif
