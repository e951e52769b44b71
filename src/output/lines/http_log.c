/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/http_log.c - `http-log`: HTTP/1, a line for each request and its response,
 * in Suricata's forms. */
#include <stdlib.h>

#include "app/proto.h"
#include "app/proto/http1/http1.h"
#include "base/text/text.h"
#include "output/lines/line_log.h"
#include "output/text.h"

static void *http_log_open(const struct output_request *request, struct output_conf *conf,
                           const struct conf_node *node, struct err *err)
{
    struct line_log *log = xcalloc(1, sizeof(*log));

    if (line_log_init(log, conf, node, err) == 0)
        log->sink = sink_open(request, conf, node, "http.log", err);
    if (log->sink == NULL) {
        line_log_fini(log);
        free(log);
        return NULL;
    }
    return log;
}

static void http_log_close(void *self)
{
    line_log_fini(self);
    free(self);
}

static void add_separator(struct buf *out)
{
    BUF_LITERAL(out, "[**]");
}

/* A value with unsafe bytes escaped, so that a request cannot forge a line; else `absent`. */
static void add_or(struct buf *out, struct slice value, const char *absent)
{
    if (value.data != NULL)
        text_escape(out, value);
    else
        buf_add_string(out, absent);
}

/* --- the fixed forms ---------------------------------------------------------------------- */

/* A redirect (301, 302) shows where it leads. */
static void add_status(struct buf *out, struct app_tx *tx, const struct http1_exchange *x)
{
    struct slice to = { 0 };

    add_or(out, x->status, "<no status>");
    if (x->status_number == 301 || x->status_number == 302)
        to = http1_header(tx, TO_CLIENT, "location");
    if (x->status.data != NULL && to.data != NULL) {
        BUF_LITERAL(out, " => ");
        text_escape(out, to);
    }
}

/* `extended: yes`: referer, method, protocol, status and length as well. */
static void add_extended(struct buf *out, struct app_tx *tx, const struct http1_exchange *x)
{
    add_separator(out);
    add_or(out, http1_header(tx, TO_SERVER, "referer"), "<no referer>");
    add_separator(out);
    add_or(out, x->method, "");
    add_separator(out);
    add_or(out, x->protocol, "<no protocol>");
    add_separator(out);
    add_status(out, tx, x);
    add_separator(out);
    buf_printf(out, "%llu bytes", (unsigned long long)x->response_len);
}

/* The fields are in Suricata's order. The client is on the left, whichever side sent this
 * packet. */
static void add_line(const struct line_log *log, struct buf *out, const struct packet *p,
                     struct app_tx *tx, const struct http1_exchange *x)
{
    struct line_ends ends = line_ends_of(p);

    text_time(out, p->time_us);
    buf_add_u8(out, ' ');
    add_or(out, x->hostname, "<hostname unknown>");
    add_separator(out);
    add_or(out, x->uri, "");
    add_separator(out);
    add_or(out, http1_header(tx, TO_SERVER, "user-agent"), "<useragent unknown>");
    if (log->extended)
        add_extended(out, tx, x);
    add_separator(out);
    text_address(out, ends.client);
    buf_printf(out, ":%u -> ", ends.client_port);
    text_address(out, ends.server);
    buf_printf(out, ":%u", ends.server_port);
}

/* --- the user's own form ------------------------------------------------------------------ */

/* The value of one cookie, with the ";" that ends it, as readers of these logs know it.
 * One byte after that is skipped; it should be a blank. */
static struct slice cookie_value(struct slice cookies, const char *name)
{
    struct bytes in = bytes_of_slice(cookies);
    struct slice key, value;

    while (take_until(&in, '=', &key) && bytes_left(&in) > 0) {
        struct bytes rest = in;

        if (take_until(&rest, ';', &value)) {
            value.len++;
            take_skip(&in, value.len);
        } else {
            value = take_rest(&in);
        }
        if (text_equal((struct text){ (const char *)key.data, key.len }, name))
            return value;
        if (bytes_left(&in) == 0)
            break;
        take_skip(&in, 1);
    }
    return (struct slice){ 0 };
}

/* The letters of Suricata's customformat. An unknown letter gives "-". */
static void add_item(struct buf *out, const struct line_item *item, struct app_tx *tx,
                     const struct http1_exchange *x)
{
    struct slice value = { 0 };
    uint32_t most = 0;

    switch (item->what) {
    case 'b': buf_printf(out, "%llu", (unsigned long long)x->request_len); return;
    case 'B': buf_printf(out, "%llu", (unsigned long long)x->response_len); return;
    case 'm': value = x->method; break;
    case 'H': value = x->protocol; break;
    case 's': value = x->status; break;
    case 'u': value = x->uri; most = item->most; break;
    case 'h': value = x->hostname; most = item->most; break;
    case 'i': value = http1_header(tx, TO_SERVER, item->text); most = item->most; break;
    case 'o': value = http1_header(tx, TO_CLIENT, item->text); most = item->most; break;
    case 'C':
        value = cookie_value(http1_header(tx, TO_SERVER, "cookie"), item->text);
        most = item->most;
        break;
    default: break;
    }
    line_add_value(out, value, most);
}

static void add_custom(const struct line_log *log, struct buf *out, const struct packet *p,
                       struct app_tx *tx, const struct http1_exchange *x)
{
    struct line_ends ends = line_ends_of(p);

    for (size_t i = 0; i < log->format.items.count; i++)
        if (!line_add_common(out, &log->format.items.at[i], p, &ends))
            add_item(out, &log->format.items.at[i], tx, x);
}

/* Runs on the inspecting thread, for each transaction and packet. HTTP/2 has no such log. */
static void http_log_tx(struct render *r, void *self, struct packet *p, struct app_tx *tx)
{
    const struct line_log *log = self;
    const struct app_proto *proto = tx->flow->proto;
    struct http1_exchange x;

    if (proto == NULL || proto->id != APP_PROTO_http1 ||
        !line_log_due(log, tx, proto->progress_done))
        return;
    x = http1_exchange_of(tx);
    record_begin(r, log->sink);
    if (log->custom)
        add_custom(log, r->out, p, tx, &x);
    else
        add_line(log, r->out, p, tx, &x);
    line_end(r, p);
}

const struct logger_ops logger_http_log = {
    .name = "http-log",
    .doc = "HTTP requests, one a line",
    .open = http_log_open,
    .close = http_log_close,
    .tx = http_log_tx,
};
