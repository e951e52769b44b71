/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/settings.h - app-layer.protocols.http.libhtp: a section for each group of
 * servers. Read once, shared by all threads. */
#ifndef APP_HTTP1_SETTINGS_H
#define APP_HTTP1_SETTINGS_H

#include "app/core/file.h"
#include "base/text/ip.h"
#include "conf/conf.h"

#include <htp/htp.h>

enum http_inline { BODY_INLINE_AUTO, BODY_INLINE_NO, BODY_INLINE_YES };

/* One section: default-config, or one of server-config. */
struct http_config {
    htp_cfg_t *htp;
    struct file_window body[2];         /* by direction */
    uint32_t max_tx;
    uint32_t bomb_limit;                /* bytes that unpacking may give, see decoder.c */
    uint32_t body_expansion;            /* what may come out of a byte, see decoder.c; 0: any */
    uint32_t bomb_count;                /* bombs in a flow, then nothing more is unpacked */
    uint32_t layer_limit, lzma_layers;  /* codings of a body, of them lzma; 0: any number */
    bool lzma_off;              /* lzma-enabled: no */
    uint32_t lzma_memlimit;
    uint32_t time_limit_us;             /* for unpacking one body */
    enum http_inline body_inline;       /* inspect bodies as they come */
    bool double_decode_path, double_decode_query;
    bool uri_include_all;               /* http.uri with scheme and host */
    bool lower_paths;                   /* libhtp writes paths in lower case */
    bool await_status_line;             /* see lead_in.c */
    bool swf;
    bool swf_deflate, swf_lzma;
    uint32_t swf_compress_depth, swf_decompress_depth;
};

struct http_server {
    struct ip net;
    uint8_t prefix_bits;
    const struct http_config *config;
};

struct http_settings {
    struct http_config *config;         /* [0] is the default */
    unsigned config_count;
    struct http_server *server;         /* longest prefix first */
    unsigned server_count;
};

int http1_configure(const struct conf_node *node, const struct conf_node *root, void *settings,
                    struct err *err);
void http1_settings_free(void *settings);
const struct http_config *http_config_for(const struct http_settings *s, const struct ip *server);

#endif
