/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/redis_tls.h - TLS for the redis sink, with OpenSSL.
 *
 * hiredis has TLS in a separate library since 1.0, but Debian 12 has 0.14, and no version compares
 * the certificate's name with the server's. So hiredis only formats commands and parses replies;
 * their bytes go through an OpenSSL session. No call here blocks. */
#ifndef OUTPUT_SINKS_REDIS_TLS_H
#define OUTPUT_SINKS_REDIS_TLS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

struct conf_node;
struct redis_tls;

enum redis_tls_step { REDIS_TLS_DONE, REDIS_TLS_WAIT, REDIS_TLS_BROKEN };

/* node: `redis`. server: the name that the certificate must have unless `server-name` sets another.
 * NULL: TLS is not configured, or an error was logged and *ok is false. */
struct redis_tls *redis_tls_new(const struct conf_node *node, const char *server, bool *ok);
void redis_tls_free(struct redis_tls *tls);

/* Begins a new session on a connected socket. False: out of memory. */
bool redis_tls_begin(struct redis_tls *tls, int fd);
void redis_tls_end(struct redis_tls *tls);
/* WAIT: poll the socket for redis_tls_events(), then call again. */
enum redis_tls_step redis_tls_shake_hands(struct redis_tls *tls);
short redis_tls_events(const struct redis_tls *tls);

/* Appends bytes to those that wait to be sent. False: out of memory. */
bool redis_tls_add(struct redis_tls *tls, const char *data, size_t len);
/* DONE: all is sent. */
enum redis_tls_step redis_tls_send(struct redis_tls *tls);
/* Passes received bytes to hiredis' reader. */
enum redis_tls_step redis_tls_receive(struct redis_tls *tls, redisReader *reader);
/* The reason for BROKEN. */
const char *redis_tls_error(const struct redis_tls *tls);

#endif
