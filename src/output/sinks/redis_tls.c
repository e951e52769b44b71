/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/redis_tls.c - TLS for the redis sink, with OpenSSL.
 *
 * The server's certificate and name are always verified: a sink that accepts any certificate would
 * send its records and its password to any server. */
#include "config.h"

#ifdef HAVE_HIREDIS
#include "output/sinks/redis_tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory/buf.h"
#include "conf/conf.h"

#define RECEIVE_MAX 16384       /* at once: a record of TLS */

struct redis_tls {
    SSL_CTX *context;
    SSL *session;               /* NULL: not connected */
    char *name;                 /* that the certificate must have */
    bool is_address;            /* the name is one */
    bool wants_write;           /* WAIT: for space in the socket, not for bytes */
    struct buf out;
    size_t sent;                /* of out */
    char error[256];
};

/* --- set-up ---------------------------------------------------------------------------------- */

static const char *openssl_reason(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());

    return reason != NULL ? reason : "no reason given";
}

/* Without `ca` the system's authorities are trusted. */
static bool tls_read_ca(SSL_CTX *context, const struct conf_node *node)
{
    const char *ca = conf_string(node, "ca", NULL);

    if (ca == NULL)
        return SSL_CTX_set_default_verify_paths(context) == 1;
    if (SSL_CTX_load_verify_locations(context, ca, NULL) == 1)
        return true;
    conf_error(conf_find(node, "ca"), "redis: tls: ca %s: %s", ca, openssl_reason());
    return false;
}

/* Loads our certificate, for servers that require one, as redis does by default. */
static bool tls_read_cert(SSL_CTX *context, const struct conf_node *node)
{
    const char *cert = conf_string(node, "cert", NULL), *key = conf_string(node, "key", NULL);

    if (cert == NULL && key == NULL)
        return true;
    if (cert == NULL || key == NULL) {
        conf_error(node, "redis: tls: cert and key go together");
        return false;
    }
    if (SSL_CTX_use_certificate_chain_file(context, cert) != 1) {
        conf_error(conf_find(node, "cert"), "redis: tls: cert %s: %s", cert, openssl_reason());
        return false;
    }
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        conf_error(conf_find(node, "key"), "redis: tls: key %s: %s", key, openssl_reason());
        return false;
    }
    return true;
}

/* Renegotiation of TLS 1.2 would make reading wait for writing. */
static bool tls_read(SSL_CTX *context, const struct conf_node *node)
{
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    ERR_clear_error();
    return tls_read_ca(context, node) && tls_read_cert(context, node);
}

struct redis_tls *redis_tls_new(const struct conf_node *node, const char *server, bool *ok)
{
    const struct conf_node *keys = conf_find(node, "tls");
    struct in6_addr address;
    struct redis_tls *tls;

    *ok = true;
    if (!conf_bool(keys, "enabled", false))
        return NULL;
    *ok = false;
    if (strchr(server, '/') != NULL) {
        conf_error(keys, "redis: tls: server %s is a unix socket, which has no TLS", server);
        return NULL;
    }
    tls = xcalloc(1, sizeof(*tls));
    tls->name = xstrdup(conf_string(keys, "server-name", server));
    tls->is_address = inet_pton(AF_INET, tls->name, &address) == 1 ||
                      inet_pton(AF_INET6, tls->name, &address) == 1;
    tls->context = SSL_CTX_new(TLS_client_method());
    if (tls->context == NULL)
        conf_error(keys, "redis: tls: %s", openssl_reason());
    if (tls->context == NULL || !tls_read(tls->context, keys)) {
        redis_tls_free(tls);
        return NULL;
    }
    *ok = true;
    return tls;
}

void redis_tls_free(struct redis_tls *tls)
{
    if (tls == NULL)
        return;
    redis_tls_end(tls);
    SSL_CTX_free(tls->context);
    buf_fini(&tls->out);
    free(tls->name);
    free(tls);
}

/* --- a session ------------------------------------------------------------------------------- */

/* RFC 6066, section 3: an address is no server_name. */
static bool tls_expect(struct redis_tls *tls)
{
    if (tls->is_address)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls->session), tls->name) == 1;
    return SSL_set_tlsext_host_name(tls->session, tls->name) == 1 &&
           SSL_set1_host(tls->session, tls->name) == 1;
}

bool redis_tls_begin(struct redis_tls *tls, int fd)
{
    tls->session = SSL_new(tls->context);
    if (tls->session != NULL && SSL_set_fd(tls->session, fd) == 1 && tls_expect(tls)) {
        SSL_set_connect_state(tls->session);
        return true;
    }
    redis_tls_end(tls);
    return false;
}

/* The socket stays open: it is hiredis'. */
void redis_tls_end(struct redis_tls *tls)
{
    SSL_free(tls->session);
    tls->session = NULL;
    tls->sent = 0;
    tls->wants_write = false;
    buf_clear(&tls->out);
}

/* Returns the step for the result of an SSL_ call that did nothing. */
static enum redis_tls_step tls_failed(struct redis_tls *tls, int result)
{
    int failure = errno, kind = SSL_get_error(tls->session, result);
    long verified = SSL_get_verify_result(tls->session);

    tls->wants_write = kind == SSL_ERROR_WANT_WRITE;
    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE)
        return REDIS_TLS_WAIT;
    if (kind == SSL_ERROR_ZERO_RETURN || (kind == SSL_ERROR_SYSCALL && failure == 0))
        snprintf(tls->error, sizeof(tls->error), "TLS: server closed the connection");
    else if (kind == SSL_ERROR_SYSCALL)
        snprintf(tls->error, sizeof(tls->error), "TLS: %s", strerror(failure));
    else if (verified != X509_V_OK)
        snprintf(tls->error, sizeof(tls->error), "TLS: certificate of the server: %s",
                 X509_verify_cert_error_string(verified));
    else
        snprintf(tls->error, sizeof(tls->error), "TLS: %s", openssl_reason());
    return REDIS_TLS_BROKEN;
}

/* SSL_get_error() looks at what the thread's queue of errors has from before, too. */
static void tls_clear_errors(void)
{
    ERR_clear_error();
    errno = 0;
}

enum redis_tls_step redis_tls_shake_hands(struct redis_tls *tls)
{
    int result;

    tls_clear_errors();
    result = SSL_do_handshake(tls->session);
    return result == 1 ? REDIS_TLS_DONE : tls_failed(tls, result);
}

short redis_tls_events(const struct redis_tls *tls)
{
    return tls->wants_write ? POLLOUT : POLLIN;
}

bool redis_tls_add(struct redis_tls *tls, const char *data, size_t len)
{
    return buf_add(&tls->out, data, len);
}

/* Sent bytes are removed from the front when they are half of all, so that on average each byte
 * moves at most once. */
enum redis_tls_step redis_tls_send(struct redis_tls *tls)
{
    while (tls->sent < tls->out.len) {
        size_t n = 0;
        int result;

        tls_clear_errors();
        result = SSL_write_ex(tls->session, tls->out.data + tls->sent, tls->out.len - tls->sent,
                              &n);
        if (result != 1)
            return tls_failed(tls, result);
        tls->sent += n;
        if (tls->sent >= tls->out.len / 2) {
            buf_drop_front(&tls->out, tls->sent);
            tls->sent = 0;
        }
    }
    return REDIS_TLS_DONE;
}

/* Reads until OpenSSL has no more, because poll() does not see decrypted bytes. */
enum redis_tls_step redis_tls_receive(struct redis_tls *tls, redisReader *reader)
{
    char data[RECEIVE_MAX];

    for (;;) {
        size_t n = 0;
        int result;

        tls_clear_errors();
        result = SSL_read_ex(tls->session, data, sizeof(data), &n);
        if (result != 1) {
            enum redis_tls_step step = tls_failed(tls, result);

            return step == REDIS_TLS_WAIT ? REDIS_TLS_DONE : step;
        }
        if (redisReaderFeed(reader, data, n) != REDIS_OK) {
            snprintf(tls->error, sizeof(tls->error), "out of memory");
            return REDIS_TLS_BROKEN;
        }
    }
}

const char *redis_tls_error(const struct redis_tls *tls)
{
    return tls->error;
}

#endif
