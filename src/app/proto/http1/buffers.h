/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/buffers.h - the buffers and records of a transaction. */
#ifndef APP_HTTP1_BUFFERS_H
#define APP_HTTP1_BUFFERS_H

#include "app/log.h"
#include "app/proto/http1/tx.h"
#include "app/reports.h"

/* uri.c: fills htx->uri, if a rule needs it or the settings ask for events about it. */
void http_uri_normalise(struct http_tx *htx, const struct http_config *config);
void http_target_trim(htp_tx_t *htp);

/* buffers.c: NULL when there is no memory. */
struct http_derived_buffers *http_derived_buffers(struct http_tx *htx, enum direction d);
void http_derived_buffers_free(struct http_tx *htx, enum direction d);

extern const struct app_buffer *const http_buffers[], *const http_bodies[2];
extern const struct app_reports http_reports;
extern const struct app_log *const http_logs[];
void http1_alert_metadata(struct json *j, struct app_tx *tx);
/* The record with bodies, as far as they are retained. */
void http1_alert_contents(struct json *j, struct app_tx *tx, unsigned what);

#endif
