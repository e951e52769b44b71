/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/line_log.c - what `http-log` and `tls-log` share. */
#include "output/lines/line_log.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/proto.h"
#include "base/report/log.h"
#include "output/output_private.h"
#include "output/text.h"

/* Without the line feed: Suricata's buffer has 65,535. */
#define LINE_MAX_BYTES 65534u
#define LINE_LOGS_MAX 16                /* bits of app_tx.lines_logged */
/* The limits on items are those of Suricata's parser (log-cf-common.c). */
#define ITEM_MOST_MAX 8191
#define ITEM_MOST_DIGITS 9
#define ITEM_NAME_MAX 252
/* The format of %t without braces. */
#define TIME_FORMAT "%D-%H:%M:%S"

/* --- formats ------------------------------------------------------------------------------ */

/* A copy of `len` bytes and a 0 after them; line_format_free() frees it. */
static void format_add(struct line_format *format, char what, uint32_t most, const char *text,
                       size_t len)
{
    char *copy = xcalloc(1, len + 1);

    memcpy(copy, text, len);
    ARRAY_PUSH(&format->items, (struct line_item){ .what = what, .most = most, .text = copy });
}

/* "[12]". A number out of range sets no limit, as in Suricata. NULL: not of this form.
 * Otherwise what follows the "]". */
static const char *read_most(const char *at, uint32_t *most)
{
    const char *end = strchr(at, ']');
    long n;

    if (end == NULL || end == at + 1 || end - at > ITEM_MOST_DIGITS + 1)
        return NULL;
    n = strtol(at + 1, NULL, 10);
    *most = n > 0 && n <= ITEM_MOST_MAX ? (uint32_t)n : 0;
    return end + 1;
}

/* at: after the "%". Returns what follows the item; NULL: not an item. Any letter is
 * accepted here: which of them mean something, the log knows. */
static const char *read_item(struct line_format *format, const char *at)
{
    const char *name = at;
    size_t len = 0;
    uint32_t most = 0;

    if (*at == '[')
        at = read_most(at, &most);
    if (at != NULL && *at == '{') {
        name = at + 1;
        len = strcspn(name, "}");
        if (len == 0 || len > ITEM_NAME_MAX || name[len] == '\0')
            return NULL;
        at = name + len + 1;
    }
    if (at == NULL || *at == '\0')
        return NULL;
    if (*at == '%')
        format_add(format, '%', 0, "%", 1);
    else
        format_add(format, *at, most, name, len);
    return at + 1;
}

int line_format_read(struct line_format *format, const char *text, struct err *err)
{
    const char *at = text;

    while (*at != '\0') {
        size_t len = strcspn(at, "%");
        const char *item = at;

        if (len > 0) {
            format_add(format, '%', 0, at, len);
            at += len;
            continue;
        }
        at = read_item(format, at + 1);
        if (at == NULL)
            return err_at(err, NO_LOCATION, "customformat: \"%s\" does not begin with %%X, "
                          "%%{NAME}X or %%[MOST]X", item);
    }
    return 0;
}

void line_format_free(struct line_format *format)
{
    for (size_t i = 0; i < format->items.count; i++)
        free(format->items.at[i].text);
    ARRAY_FREE(&format->items);
}

/* --- settings ----------------------------------------------------------------------------- */

/* `custom: yes` without `customformat` is ignored. */
int line_log_init(struct line_log *log, struct output_conf *conf, const struct conf_node *node,
                  struct err *err)
{
    const char *format = conf_string(node, "customformat", NULL);

    if (conf->line_logs == LINE_LOGS_MAX)
        return err_at(err, NO_LOCATION, "at most %u outputs of this kind", LINE_LOGS_MAX);
    log->custom = format != NULL && conf_bool(node, "custom", false);
    log->extended = conf_bool(node, "extended", false);
    if (log->custom && line_format_read(&log->format, format, err) < 0)
        return -1;
    log->bit = (uint16_t)(1u << conf->line_logs++);
    return 0;
}

void line_log_fini(struct line_log *log)
{
    line_format_free(&log->format);
}

/* --- lines -------------------------------------------------------------------------------- */

/* Each log has a bit in the transaction, because several http-logs may have different
 * targets. `progress` is where Suricata logs; a direction that has ended early counts,
 * too. */
bool line_log_due(const struct line_log *log, struct app_tx *tx, const uint8_t progress[2])
{
    if (tx->no_log || (output_tx(tx)->lines_logged & log->bit))
        return false;
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        if (tx->progress[d] < progress[d] && !app_tx_done(tx, d, tx->flow->proto))
            return false;
    output_tx(tx)->lines_logged |= log->bit;
    return true;
}

struct line_ends line_ends_of(const struct packet *p)
{
    if (packet_direction(p) == TO_SERVER)
        return (struct line_ends){ &p->src, &p->dst, p->src_port, p->dst_port };
    return (struct line_ends){ &p->dst, &p->src, p->dst_port, p->src_port };
}

/* %{FORMAT}t. Local time, as in all text logs. If the result is empty or too long, the time is left
 * out. */
static void add_time(struct buf *out, const char *format, uint64_t time_us)
{
    time_t t = (time_t)(time_us / 1000000);
    struct tm tm;
    char text[128];
    size_t n;

    localtime_r(&t, &tm);
    n = strftime(text, sizeof(text), format[0] != '\0' ? format : TIME_FORMAT, &tm);
    text_escape(out, (struct slice){ .data = (const uint8_t *)text, .len = (uint32_t)n });
}

bool line_add_common(struct buf *out, const struct line_item *item, const struct packet *p,
                     const struct line_ends *ends)
{
    switch (item->what) {
    case '%': buf_add_string(out, item->text); return true;
    case 't': add_time(out, item->text, p->time_us); return true;
    case 'z': buf_printf(out, "%06u", (unsigned)(p->time_us % 1000000)); return true;
    case 'a': text_address(out, ends->client); return true;
    case 'A': text_address(out, ends->server); return true;
    case 'p': buf_printf(out, "%u", ends->client_port); return true;
    case 'P': buf_printf(out, "%u", ends->server_port); return true;
    default: return false;
    }
}

void line_add_value(struct buf *out, struct slice value, uint32_t most)
{
    if (value.data == NULL) {
        buf_add_u8(out, '-');
        return;
    }
    if (most > 0)
        value.len = MIN(value.len, most);
    text_escape(out, value);
}

/* Cuts a line that is too long, so that it is still one line. */
void line_end(struct render *r, const struct packet *p)
{
    if (record_slice(r).len > LINE_MAX_BYTES)
        r->out->len -= record_slice(r).len - LINE_MAX_BYTES;
    buf_add_u8(r->out, '\n');
    record_end_line(r, p);
}
