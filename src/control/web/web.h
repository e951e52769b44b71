/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/web.h - the engine's HTTP listener: metrics for Prometheus, and the page.
 *
 * `metrics: {enabled: yes, listen: 127.0.0.1:9917}`; off by default. libmicrohttpd speaks HTTP, on
 * one thread of the listener's own. It reads what packet threads count and takes the lock of the
 * control socket, which no packet thread takes: packets never wait for a reader.
 *
 * Who may read: an address other than loopback needs a token (`token-file`), sent as
 * "Authorization: Bearer TOKEN" or, by a browser, once as "?token=TOKEN". Nothing can be changed
 * here; changes go through the control socket. */
#ifndef CONTROL_WEB_WEB_H
#define CONTROL_WEB_WEB_H

#include "base/err.h"
#include "conf/conf.h"

struct control;
struct web;

/* Does the configuration ask for a listener? */
bool web_is_enabled(const struct conf_node *root);
/* Are its settings good? -1 with err set, and with the place. Binds nothing. */
int web_check(const struct conf_node *root, struct err *err);
/* Binds the address, before privileges are dropped; control is borrowed. NULL with err set: the
 * address, the token or the certificate is no good. */
struct web *web_open(struct control *control, struct err *err);
/* Begins to answer. NULL is fine, here and below. */
int web_start(struct web *web, struct err *err);
/* A run begins or ends; after control_set_run(). */
void web_set_run(struct web *web);
/* Ends all connections; before control_free(). */
void web_free(struct web *web);

#endif
