/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/resume.c - flows whose first part another process has parsed. Their protocol is known,
 * but not the position within a message. So each direction waits for a chunk that begins as the
 * protocol's messages do, by the protocol's own patterns and probes; bytes before it are dropped.
 *
 * Only the beginning of a chunk counts: bytes within a body that look like a message are data that
 * a peer has chosen. A protocol that is recognised only by its first message, or whose state its
 * later messages need (HTTP/2, SSH), is never parsed again. */
#include "app/core/session.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "flow/flow_export.h"

#include <string.h>
#include <strings.h>

#define RESUME_MAX 1024u                    /* bytes that may wait for more, to be recognised */

/* --- the process that stops ------------------------------------------------------------------- */

/* A name that does not fit is none: its flow is recognised again. */
static void export_name(char out[APP_EXPORT_NAME], uint16_t id)
{
    const char *name = app_proto_name((enum app_proto_id)id);

    memset(out, 0, APP_EXPORT_NAME);
    if (id != APP_PROTO_UNKNOWN && strlen(name) < APP_EXPORT_NAME)
        memcpy(out, name, strlen(name));
}

/* While a change of protocol is under way, the next one is not known. */
void app_export(const struct flow *f, struct app_export *out)
{
    const struct app_session *s = f->app != NULL ? app_session_of(f->app) : NULL;

    memset(out, 0, sizeof(*out));
    if (s != NULL && s->changing)
        return;
    export_name(out->proto[0], f->app_proto);
    export_name(out->proto[1], f->app_proto_dir[TO_SERVER]);
    export_name(out->proto[2], f->app_proto_dir[TO_CLIENT]);
    out->is_over = s != NULL && (s->off || s->flow.encrypted);
}

uint16_t app_exported_proto(const char *name)
{
    const struct app_proto *proto = app_proto_by_name(name);

    if (proto != NULL)
        return (uint16_t)proto->id;
    return strcmp(name, app_proto_name(APP_PROTO_FAILED)) == 0 ? APP_PROTO_FAILED
                                                                 : APP_PROTO_UNKNOWN;
}

/* --- the process that goes on ----------------------------------------------------------------- */

static bool is_enabled(const struct app_session *s, uint16_t id)
{
    const struct app_proto_conf *pc = &s->flow.thread->conf->proto[id];

    return id == APP_PROTO_FAILED || (pc->proto != NULL && pc->enabled[s->transport]);
}

/* Rules on the protocol have matched in the other process, so it is not signalled once more. */
void app_resume(struct app_session *s)
{
    struct flow *f = s->flow.flow;
    bool is_over = f->app_resume == FLOW_APP_OVER;

    f->app_resume = 0;
    if (!is_enabled(s, f->app_proto)) {
        f->app_proto = f->app_proto_dir[TO_SERVER] = f->app_proto_dir[TO_CLIENT] =
            APP_PROTO_UNKNOWN;
        return;
    }
    app_session_set_proto(s, (enum app_proto_id)f->app_proto);
    s->first_sender = FIRST_SENDER_PARSED;
    s->ds[TO_SERVER].detected = s->ds[TO_CLIENT].detected = true;
    if (f->app_proto == APP_PROTO_FAILED || is_over)
        app_stop_parsing(s);
    else if (s->transport == TRANSPORT_TCP)
        s->resume = APP_BOTH;
}

static bool bytes_equal(const struct app_pattern *p, const uint8_t *data, size_t len)
{
    if (p->nocase)
        return strncasecmp((const char *)data, p->bytes, len) == 0;
    return memcmp(data, p->bytes, len) == 0;
}

static enum app_probe_result ask_pattern(const struct app_pattern *p, struct slice data,
                                         const struct app_session *s, enum direction d)
{
    size_t len = p->len != 0 ? p->len : strlen(p->bytes);
    size_t end = p->depth != 0 ? p->depth : p->offset + len;
    bool hit = false;

    for (size_t at = p->offset; at + len <= end && !hit; at++) {
        if (at >= data.len)
            return APP_PROBE_MORE;
        hit = bytes_equal(p, data.data + at, MIN(len, data.len - at));
        if (hit && data.len - at < len)
            return APP_PROBE_MORE;
    }
    if (!hit || p->confirm == NULL)
        return hit ? APP_PROBE_YES : APP_PROBE_NO;
    if (data.len < p->confirm_min)
        return APP_PROBE_MORE;
    return p->confirm(bytes_of_slice(data), d, s->flow.flow);
}

static enum app_probe_result ask_probe(const struct app_probe *p, struct slice data,
                                       const struct app_session *s, enum direction d)
{
    if (data.len < p->min)
        return APP_PROBE_MORE;
    return p->probe(bytes_of_slice(data), d, s->flow.flow);
}

/* All of the protocol's patterns and probes for this direction. */
struct answers {
    unsigned asked;
    bool yes, more;
};

static void add_answer(struct answers *a, enum app_probe_result answer)
{
    a->asked++;
    a->yes |= answer == APP_PROBE_YES;
    a->more |= answer == APP_PROBE_MORE;
}

static struct answers ask_all(const struct app_session *s, enum direction d, struct slice data)
{
    const struct app_proto *proto = app_proto_by_id((enum app_proto_id)s->flow.flow->app_proto);
    struct answers a = { 0, false, false };

    for (const struct app_pattern *p = proto->patterns; p != NULL && p->bytes != NULL; p++)
        if ((p->transport & APP_TCP) != 0 && (p->directions & APP_DIRECTION_BIT(d)) != 0)
            add_answer(&a, ask_pattern(p, data, s, d));
    for (const struct app_probe *p = proto->probes; p != NULL && p->probe != NULL; p++)
        if ((p->transport & APP_TCP) != 0 && (p->directions & APP_DIRECTION_BIT(d)) != 0)
            add_answer(&a, ask_probe(p, data, s, d));
    return a;
}

/* Nothing recognises a direction of some protocols. Its messages answer those of the other
 * direction, so it begins after that one. */
static struct answers begins(const struct app_session *s, enum direction d)
{
    const struct app_dir *ds = &s->ds[d];
    struct answers a = ask_all(s, d, (struct slice){ ds->data, ds->len });

    if (a.asked == 0)
        a.yes = (s->resume & APP_DIRECTION_BIT(OTHER_DIRECTION(d))) == 0;
    return a;
}

/* Bytes that waited were no beginning: they go, and the chunk that followed may be one. Until a
 * parser runs, `need` is the number of bytes that waited. */
static struct answers ask(const struct app_session *s, struct app_dir *ds, enum direction d)
{
    struct answers a = begins(s, d);

    if (a.yes || a.more || ds->need == 0 || ds->need >= ds->len)
        return a;
    ds->data += ds->need;
    ds->len -= ds->need;
    ds->offset += ds->need;
    return begins(s, d);
}

bool app_resume_at(struct app_session *s, enum direction d, bool end)
{
    struct app_dir *ds = &s->ds[d];
    struct answers a = ask(s, ds, d);

    ds->need = 0;
    if (ds->len > 0 && a.yes && ds->lost == 0) {
        s->resume &= (uint8_t)~APP_DIRECTION_BIT(d);
        return true;
    }
    if (!a.more || end || ds->len > RESUME_MAX || ds->lost > 0)
        app_dir_drop(s, d);
    else
        ds->need = ds->len;
    return end;
}
