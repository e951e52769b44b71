/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/settings.c - app-layer.protocols.http.libhtp: one libhtp configuration for the
 * default and for each server section. The longest prefix that covers the server's address selects
 * it.
 *
 * libhtp has separate decoder options for paths and for parameters; each setting sets both. */
#include "app/proto/http1/settings.h"

#include "app/proto/http1/state.h"
#include "base/array.h"
#include "base/containers/hash.h"
#include "base/text/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BODY_LIMIT (4096u)  /* bytes; defaults of Suricata */
#define MIN_INSPECT (32u << 10)
#define WINDOW (4u << 10)
#define FIELD_LIMIT 18000   /* bytes of a header line */
#define HEADERS_LIMIT 1024  /* header lines of a message */
#define MAX_TX 512

/* libhtp's names; APACHE and APACHE_2_2 mean APACHE_2. */
static const struct { const char *name; enum htp_server_personality_t value; } personalities[] = {
    { "MINIMAL", HTP_SERVER_MINIMAL }, { "GENERIC", HTP_SERVER_GENERIC }, { "IDS", HTP_SERVER_IDS },
    { "IIS_4_0", HTP_SERVER_IIS_4_0 }, { "IIS_5_0", HTP_SERVER_IIS_5_0 },
    { "IIS_5_1", HTP_SERVER_IIS_5_1 }, { "IIS_6_0", HTP_SERVER_IIS_6_0 },
    { "IIS_7_0", HTP_SERVER_IIS_7_0 }, { "IIS_7_5", HTP_SERVER_IIS_7_5 },
    { "APACHE_2", HTP_SERVER_APACHE_2 },
    { "APACHE", HTP_SERVER_APACHE_2 }, { "APACHE_2_2", HTP_SERVER_APACHE_2 },
};

/* --- one section ------------------------------------------------------------------------------ */

static uint32_t size_of(const struct conf_node *node, const char *path, uint32_t otherwise)
{
    uint64_t size = conf_size(node, path, otherwise);

    if (size <= UINT32_MAX)
        return (uint32_t)size;
    conf_error(conf_find(node, path), "%s: expected less than 4 GiB", path);
    return otherwise;
}

static uint32_t size_not_zero(const struct conf_node *node, const char *path, uint32_t otherwise)
{
    uint32_t size = size_of(node, path, otherwise);

    if (size > 0)
        return size;
    conf_error(conf_find(node, path), "%s: expected more than 0", path);
    return otherwise;
}

/* A personality sets many decoder options at once, so that it is read before the single options. */
static void read_personality(htp_cfg_t *cfg, const struct conf_node *node)
{
    const char *name = conf_string(node, "personality", NULL);

    if (name == NULL)
        return;
    for (size_t i = 0; i < ARRAY_LEN(personalities); i++) {
        if (strcasecmp(personalities[i].name, name) != 0)
            continue;
        if (htp_config_set_server_personality(cfg, personalities[i].value) != HTP_OK) {
            conf_warning(conf_find(node, "personality"), "personality %s is not supported", name);
            return;
        }
        /* Rules are written for URIs in their original case. */
        htp_config_set_convert_lowercase(cfg, HTP_DECODER_DEFAULTS, 0);
        if (personalities[i].value == HTP_SERVER_IDS ||
            personalities[i].value >= HTP_SERVER_IIS_6_0)
            htp_config_set_u_encoding_decode(cfg, HTP_DECODER_URLENCODED,
                                             personalities[i].value != HTP_SERVER_APACHE_2);
        return;
    }
    conf_warning(conf_find(node, "personality"), "unknown personality \"%s\"", name);
}

static const struct {
    const char *key;
    void (*set)(htp_cfg_t *cfg, enum htp_decoder_ctx_t ctx, int enabled);
} decoder_flags[] = {
    { "path-convert-backslash-separators", htp_config_set_backslash_convert_slashes },
    { "path-convert-lowercase", htp_config_set_convert_lowercase },
    { "path-nul-encoded-terminates", htp_config_set_nul_encoded_terminates },
    { "path-nul-raw-terminates", htp_config_set_nul_raw_terminates },
    { "path-separators-compress", htp_config_set_path_separators_compress },
    { "path-separators-decode", htp_config_set_path_separators_decode },
    { "path-u-encoding-decode", htp_config_set_u_encoding_decode },
    { "path-utf8-convert-bestfit", htp_config_set_utf8_convert_bestfit },
    { "query-plusspace-decode", htp_config_set_plusspace_decode },
};

/* The order of `handlings` is that of libhtp's enumeration. */
static void read_decoder(htp_cfg_t *cfg, const struct conf_node *node)
{
    static const char *const handlings[] = { "preserve_percent", "remove_percent",
                                             "decode_invalid", NULL };
    const char *replacement = conf_string(node, "path-bestfit-replacement-char", NULL);
    int handling = conf_choice(node, "path-url-encoding-invalid-handling", handlings, -1);

    for (size_t i = 0; i < ARRAY_LEN(decoder_flags); i++)
        if (conf_find(node, decoder_flags[i].key) != NULL)
            decoder_flags[i].set(cfg, HTP_DECODER_DEFAULTS,
                                 conf_bool(node, decoder_flags[i].key, false));
    if (replacement != NULL && strlen(replacement) == 1)
        htp_config_set_bestfit_replacement_byte(cfg, HTP_DECODER_DEFAULTS, replacement[0]);
    else if (replacement != NULL)
        conf_error(conf_find(node, "path-bestfit-replacement-char"), "expected one character");
    if (handling >= 0)
        htp_config_set_url_encoding_invalid_handling(cfg, HTP_DECODER_DEFAULTS,
                                                     (enum htp_url_encoding_handling_t)handling);
}

/* A number of layers, or yes (1) and no (0). */
static int lzma_layers(const struct conf_node *node)
{
    const char *value = conf_string(node, "lzma-enabled", NULL);
    uint64_t layers = 0;
    bool on = false;

    if (value == NULL)
        return 0;
    if (text_to_u64(text_of(value), INT8_MAX, &layers))
        return (int)layers;
    if (!text_to_bool(text_of(value), &on))
        conf_error(conf_find(node, "lzma-enabled"), "expected yes, no or a number of layers");
    return on;
}

static void read_compression(struct http_config *c, const struct conf_node *node)
{
    /* decoder.c removes codings, not libhtp. */
    htp_config_set_response_decompression(c->htp, 0);
    htp_config_set_request_decompression(c->htp, 0);
    c->layer_limit = size_of(node, "response-body-decompress-layer-limit", 2);
    c->lzma_layers = (uint32_t)lzma_layers(node);
    c->lzma_off = conf_string(node, "lzma-enabled", NULL) != NULL && c->lzma_layers == 0;
    c->lzma_memlimit = size_not_zero(node, "lzma-memlimit", 1u << 20);
    c->bomb_limit = size_not_zero(node, "compression-bomb-limit", 1u << 20);
    c->body_expansion = (uint32_t)conf_u64_range(node, "max-body-expansion", 100, 0, 1u << 20);
    c->bomb_count = (uint32_t)conf_u64_range(node, "compression-bomb-count", 3, 1, UINT8_MAX);
    c->time_limit_us = (uint32_t)conf_u64_or_end(node, "decompression-time-limit", 100000, 1,
                                                1000000);
}

static void read_swf(struct http_config *c, const struct conf_node *node)
{
    static const char *const types[] = { "no", "deflate", "lzma", "both", NULL };
    int type = conf_choice(node, "swf-decompression.type", types, 3);

    c->swf = conf_bool(node, "swf-decompression.enabled", false);
    c->swf_deflate = type == 1 || type == 3;
    c->swf_lzma = type == 2 || type == 3;
    c->swf_compress_depth = size_of(node, "swf-decompression.compress-depth", 0);
    c->swf_decompress_depth = size_of(node, "swf-decompression.decompress-depth", 0);
}

/* With randomize-inspection-sizes, sizes differ a little from start to start, so that an attacker
 * cannot place a pattern across the end of a window. The hash has a random seed per process. */
static uint32_t randomize(uint32_t size, unsigned which, unsigned range)
{
    double share = (double)hash_bytes(&which, sizeof(which)) / (double)UINT64_MAX;

    return (uint32_t)(size + size * (share - 0.5) * range / 100);
}

static void read_windows(struct http_config *c, const struct conf_node *node)
{
    unsigned range = (unsigned)conf_u64_range(node, "randomize-inspection-range", 10, 0, 100);

    c->body[TO_SERVER].limit = size_of(node, "request-body-limit", BODY_LIMIT);
    c->body[TO_CLIENT].limit = size_of(node, "response-body-limit", BODY_LIMIT);
    c->body[TO_SERVER].min_inspect = size_of(node, "request-body-minimal-inspect-size",
                                             MIN_INSPECT);
    c->body[TO_CLIENT].min_inspect = size_of(node, "response-body-minimal-inspect-size",
                                             MIN_INSPECT);
    c->body[TO_SERVER].window = size_of(node, "request-body-inspect-window", WINDOW);
    c->body[TO_CLIENT].window = size_of(node, "response-body-inspect-window", WINDOW);
    if (!conf_bool(node, "randomize-inspection-sizes", false))
        return;
    for (unsigned d = 0; d < 2; d++) {
        c->body[d].min_inspect = randomize(c->body[d].min_inspect, 2 * d, range);
        c->body[d].window = randomize(c->body[d].window, 2 * d + 1, range);
    }
}

static enum http_inline read_inline(const struct conf_node *node)
{
    const char *value = conf_string(node, "http-body-inline", "auto");
    bool on = false;

    if (strcmp(value, "auto") == 0)
        return BODY_INLINE_AUTO;
    if (!text_to_bool(text_of(value), &on))
        conf_warning(conf_find(node, "http-body-inline"), "expected yes, no or auto");
    return on ? BODY_INLINE_YES : BODY_INLINE_NO;
}

/* Order matters: personality, single decoder options, then our own. */
static int read_section(struct http_config *c, const struct conf_node *node, struct err *err)
{
    htp_cfg_t *cfg = htp_config_create();
    uint32_t field_limit;

    if (cfg == NULL)
        return err_set(err, "libhtp: cannot make a configuration");
    c->htp = cfg;
    htp_config_set_parse_request_cookies(cfg, 0);
    htp_config_set_parse_request_auth(cfg, 1);
    htp_config_set_allow_space_uri(cfg, 1);     /* evaders put spaces into URIs */
    htp_config_set_plusspace_decode(cfg, HTP_DECODER_DEFAULTS, 0);
    read_personality(cfg, node);
    read_decoder(cfg, node);
    read_compression(c, node);
    read_swf(c, node);
    read_windows(c, node);
    field_limit = size_not_zero(node, "meta-field-limit", FIELD_LIMIT);
    htp_config_set_field_limits(cfg, field_limit, field_limit);
    htp_config_set_number_headers_limit(cfg, size_of(node, "headers-limit", HEADERS_LIMIT));
    c->max_tx = size_of(node, "max-tx", MAX_TX);
    c->body_inline = read_inline(node);
    c->double_decode_path = conf_bool(node, "double-decode-path", false);
    c->double_decode_query = conf_bool(node, "double-decode-query", false);
    c->lower_paths = conf_bool(node, "path-convert-lowercase", false);
    c->uri_include_all = conf_bool(node, "uri-include-all", false);
    c->await_status_line = conf_bool(node, "await-status-line", false);
    http_hooks_register(cfg);
    return 0;
}

/* --- servers ---------------------------------------------------------------------------------- */

/* Longest prefix first, so that the first hit of http_config_for() is the best. */
static int by_prefix(const void *a, const void *b)
{
    return (int)((const struct http_server *)b)->prefix_bits -
           (int)((const struct http_server *)a)->prefix_bits;
}

static bool parse_net(struct text in, struct http_server *out)
{
    struct text address = in, rest = in;
    uint64_t bits;

    text_split(&rest, '/', &address);
    if (!ip_parse(address, &out->net))
        return false;
    bits = out->net.version == 4 ? 32 : 128;
    if (rest.n > 0 && !text_to_u64(text_trim(rest), bits, &bits))
        return false;
    out->prefix_bits = (uint8_t)bits;
    return true;
}

static void read_addresses(struct http_settings *s, const struct http_config *c,
                           const struct conf_node *addresses)
{
    CONF_EACH (item, addresses) {
        struct http_server server = { .config = c };

        if (item->value == NULL || !parse_net(text_of(item->value), &server)) {
            conf_warning(item, "expected an address or a network, found \"%s\"", item->value);
            continue;
        }
        s->server = xrealloc(s->server, (s->server_count + 1) * sizeof(s->server[0]));
        s->server[s->server_count++] = server;
    }
}

static unsigned count_children(const struct conf_node *node)
{
    unsigned n = 0;

    CONF_EACH (child, node)
        n++;
    return n;
}

/* Suricata accepts the section also at the top of the file. */
int http1_configure(const struct conf_node *node, const struct conf_node *root, void *settings,
                    struct err *err)
{
    struct http_settings *s = settings;
    const struct conf_node *libhtp = conf_find(node, "libhtp");
    const struct conf_node *servers;

    if (libhtp == NULL)
        libhtp = conf_find(root, "libhtp");
    servers = conf_find(libhtp, "server-config");
    s->config = xcalloc(count_children(servers) + 1, sizeof(s->config[0]));
    s->config_count = 1;
    if (read_section(&s->config[0], conf_find(libhtp, "default-config"), err) < 0)
        return -1;
    CONF_EACH (item, servers) {
        const struct conf_node *body = conf_item_body(item);
        struct http_config *c = &s->config[s->config_count++];

        if (read_section(c, body, err) < 0)
            return -1;
        read_addresses(s, c, conf_find(body, "address"));
    }
    if (s->server_count > 0)
        qsort(s->server, s->server_count, sizeof(s->server[0]), by_prefix);
    return 0;
}

void http1_settings_free(void *settings)
{
    struct http_settings *s = settings;

    for (unsigned i = 0; i < s->config_count; i++)
        htp_config_destroy(s->config[i].htp);
    free(s->config);
    free(s->server);
}

/* Compares complete bytes, then the remaining bits. */
static bool net_has(const struct http_server *s, const struct ip *ip)
{
    unsigned bytes = s->prefix_bits / 8, bits = s->prefix_bits % 8;

    if (s->net.version != ip->version || memcmp(s->net.b, ip->b, bytes) != 0)
        return false;
    return bits == 0 || ((s->net.b[bytes] ^ ip->b[bytes]) >> (8 - bits)) == 0;
}

const struct http_config *http_config_for(const struct http_settings *s, const struct ip *server)
{
    for (unsigned i = 0; i < s->server_count; i++)
        if (net_has(&s->server[i], server))
            return s->server[i].config;
    return &s->config[0];
}
