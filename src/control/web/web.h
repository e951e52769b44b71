/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/web.h - the engine's HTTP listener: metrics for Prometheus, and a page.
 *
 * `metrics: {enabled: yes, listen: 127.0.0.1:9917}`; off by default. libmicrohttpd implements HTTP,
 * on the listener's own thread. It reads the counters of packet threads, and takes the lock of the
 * control socket, which no packet thread takes. So packets never wait for a reader.
 *
 * An address other than loopback requires a token (`token-file`), sent as "Authorization: Bearer
 * TOKEN" or, by a browser, once as "?token=TOKEN". The listener changes nothing but one
 * thing: it asks about rules (post.c). All else goes through the control socket. */
#ifndef CONTROL_WEB_WEB_H
#define CONTROL_WEB_WEB_H

#include "base/err.h"
#include "conf/conf.h"

struct control;
struct web;

/* True if the configuration enables the listener. */
bool web_is_enabled(const struct conf_node *root);
/* Checks the settings without binding. -1 with err set and its location. */
int web_check(const struct conf_node *root, struct err *err);
/* Binds the address, before privileges are dropped; control is borrowed. NULL with err set: the
 * address, the token or the certificate is invalid. */
struct web *web_open(struct control *control, struct err *err);
/* Starts to answer. NULL is allowed here and below. */
int web_start(struct web *web, struct err *err);
/* Call it when a run begins or ends, after control_set_run(). */
void web_set_run(struct web *web);
/* Call it in a new process, which must not keep the address in use. */
void web_leave(struct web *web);
/* Closes all connections; call it before control_free(). */
void web_free(struct web *web);

#endif
