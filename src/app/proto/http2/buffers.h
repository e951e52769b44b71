/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/buffers.h - the buffers and records of HTTP/2, and of DNS over it. */
#ifndef APP_HTTP2_BUFFERS_H
#define APP_HTTP2_BUFFERS_H

#include "app/log.h"
#include "app/reports.h"
#include "app/rules.h"

extern const struct app_reports h2_reports, doh2_reports;
extern const struct app_buffer *const h2_buffers[], *const doh2_buffers[];
extern const struct app_integer *const h2_integers[], *const doh2_integers[];
extern const struct app_match *const h2_matches[];
extern const struct app_log *const h2_logs[];
void http2_alert_metadata(struct json *j, struct app_tx *tx);

bool h2_log_members(struct json *j, struct app_tx *tx);
extern const struct app_log *const doh2_logs[];
void doh2_alert_metadata(struct json *j, struct app_tx *tx);

#endif
