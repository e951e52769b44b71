/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/stores/tls_store.c - `tls-store`: stores the certificates of rules with tls.store in
 * files. A chain goes to SECONDS.MICROSECONDS-NUMBER.pem, its description to a .meta of the same
 * name; files with certificates of clients begin with "client-". */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/conf.h"
#include "app/proto/tls/tls.h"
#include "base/array.h"
#include "base/report/log.h"
#include "base/system/directories.h"
#include "output/log_limit.h"
#include "output/logger.h"
#include "output/text.h"

/* One for the run, shared by all inspecting threads. */
struct tls_store {
    char *dir;
    uint32_t number;            /* files so far; atomic */
    bool failure_logged;          /* atomic */
};

/* The TLS parser stores complete chains only if an output or a rule requires them. */
static void *tls_store_open(const struct output_request *request, struct output_conf *conf UNUSED,
                            const struct conf_node *node, struct err *err)
{
    char *dir = output_path(request, conf_string(node, "certs-log-dir", ""));
    struct app_required_features required = { .features = { [APP_PROTO_tls] = TLS_FEATURE_CHAIN } };
    struct tls_store *s;

    if (directory_make(dir, 0750) < 0) {
        err_set(err, "cannot make the directory %s: %s", dir, strerror(errno));
        free(dir);
        return NULL;
    }
    app_require(request->app, &required);
    s = xcalloc(1, sizeof(*s));
    s->dir = dir;
    return s;
}

static void tls_store_close(void *self)
{
    struct tls_store *s = self;

    free(s->dir);
    free(s);
}

/* --- content -------------------------------------------------------------------------------- */

/* 64 characters a line and padding with "=" (RFC 7468, section 2). */
static void add_base64_lines(struct buf *out, struct slice der)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" "abcdefghijklmnopqrstuvwxyz"
                                 "0123456789+/";
    struct bytes in = bytes_of_slice(der);

    for (unsigned column = 0; bytes_left(&in) > 0; column += 4) {
        unsigned n = (unsigned)MIN(bytes_left(&in), 3);
        uint32_t v = (uint32_t)take_u8(&in) << 16;

        v |= n > 1 ? (uint32_t)take_u8(&in) << 8 : 0;
        v |= n > 2 ? take_u8(&in) : 0;
        if (column > 0 && column % 64 == 0)
            buf_add_u8(out, '\n');
        buf_add_u8(out, (uint8_t)digits[v >> 18]);
        buf_add_u8(out, (uint8_t)digits[v >> 12 & 63]);
        buf_add_u8(out, n > 1 ? (uint8_t)digits[v >> 6 & 63] : '=');
        buf_add_u8(out, n > 2 ? (uint8_t)digits[v & 63] : '=');
    }
    buf_add_u8(out, '\n');
}

/* The certificates in the order in which they came. Those past the parser's limits are
 * missing. */
static void make_pem(struct buf *out, const struct tls_dir *ds)
{
    buf_clear(out);
    for (unsigned i = 0; i < tls_chain_retained(ds); i++) {
        BUF_LITERAL(out, "-----BEGIN CERTIFICATE-----\n");
        add_base64_lines(out, ds->chain->der[i]);
        BUF_LITERAL(out, "-----END CERTIFICATE-----\n");
    }
}

static void add_address(struct buf *out, const char *label, const struct ip *ip)
{
    buf_printf(out, "%s IP:            ", label);
    text_address(out, ip);
    buf_add_u8(out, '\n');
}

static void add_name(struct buf *out, const char *label, struct slice name)
{
    buf_add_string(out, label);
    buf_add(out, name.data, name.len);
    buf_add_u8(out, '\n');
}

/* SRC is always the client, whichever side sent this packet. */
static void make_meta(struct buf *out, const struct packet *p, const struct tls_dir *ds)
{
    bool forward = packet_direction(p) == TO_SERVER;
    const struct tls_certificate *c = tls_certificate_of(ds);

    buf_clear(out);
    BUF_LITERAL(out, "TIME:              ");
    text_time(out, p->time_us);
    buf_add_u8(out, '\n');
    if (p->number > 0)
        buf_printf(out, "PCAP PKT NUM:      %llu\n", (unsigned long long)p->number);
    add_address(out, "SRC", forward ? &p->src : &p->dst);
    add_address(out, "DST", forward ? &p->dst : &p->src);
    buf_printf(out, "PROTO:             %u\n", p->ip_proto);
    buf_printf(out, "SRC PORT:          %u\n", forward ? p->src_port : p->dst_port);
    buf_printf(out, "DST PORT:          %u\n", forward ? p->dst_port : p->src_port);
    add_name(out, "TLS SUBJECT:       ", c->subject);
    add_name(out, "TLS ISSUERDN:      ", c->issuer);
    add_name(out, "TLS FINGERPRINT:   ", c->fingerprint);
}

/* --- files ---------------------------------------------------------------------------------- */

/* A failure is logged once and does not concern the flow. */
static void write_file(struct tls_store *s, const char *path, const struct buf *content)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    bool done = fd >= 0;

    for (size_t at = 0; done && at < content->len;) {
        ssize_t n = write(fd, content->data + at, content->len - at);

        done = n > 0 || (n < 0 && errno == EINTR);
        at += n > 0 ? (size_t)n : 0;
    }
    if (!done && !__atomic_exchange_n(&s->failure_logged, true, __ATOMIC_RELAXED))
        log_warning("tls-store", "cannot write %s: %s; this is said once", path, strerror(errno));
    if (fd >= 0)
        close(fd);
}

/* The number makes names unique when two chains come in the same microsecond. */
static void store_direction(struct tls_store *s, struct render *r, const struct packet *p,
                       struct tls_dir *ds, const char *who)
{
    uint32_t number = __atomic_add_fetch(&s->number, 1, __ATOMIC_RELAXED);
    char path[4096];
    int n = snprintf(path, sizeof(path) - 6, "%s/%s%llu.%u-%u", s->dir, who,
                     (unsigned long long)(p->time_us / 1000000),
                     (unsigned)(p->time_us % 1000000), number);

    ds->stored = true;
    if (n < 0 || (size_t)n >= sizeof(path) - 6)
        return;
    make_pem(&r->scratch, ds);
    if (!log_limit_take_file(r, p, r->scratch.len))
        return;
    memcpy(path + n, ".pem", 5);
    write_file(s, path, &r->scratch);
    make_meta(&r->scratch, p, ds);
    if (!log_limit_take_file(r, p, r->scratch.len))
        return;
    memcpy(path + n, ".meta", 6);
    write_file(s, path, &r->scratch);
}

/* On each packet of the flow; `store` is set by a rule, `stored` here, so each chain is
 * written once. */
static void tls_store_tx(struct render *r, void *self, struct packet *p, struct app_tx *tx)
{
    struct tls_tx *t = tls_tx_of(tx);

    if (tx->flow->proto != &app_tls)
        return;
    for (unsigned d = 0; d < 2; d++) {
        struct tls_dir *ds = &t->ds[d == 0 ? TO_CLIENT : TO_SERVER];

        if (ds->store && !ds->stored && ds->has_certificate)
            store_direction(self, r, p, ds, d == 0 ? "" : "client-");
    }
}

const struct logger_ops logger_tls_store = {
    .name = "tls-store",
    .doc = "certificates as files",
    .open = tls_store_open,
    .close = tls_store_close,
    .tx = tls_store_tx,
};
