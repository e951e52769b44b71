/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/reports.c - what Suricata's reports say of rules about HTTP. */
#include "app/proto/http1/buffers.h"
#include "app/reports.h"

#include <string.h>

static const char *content_note(struct slice content)
{
    static const struct { const char *start; bool method; } words[] = {
        { "GET /", true }, { "POST /", true }, { "HEAD /", true }, { "PUT /", true },
        { "User-Agent: ", false }, { "\nUser-Agent: ", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i].start);

        if (content.len < n || memcmp(content.data, words[i].start, n) != 0)
            continue;
        return words[i].method
                   ? "pattern looks like it inspects HTTP, use http.request_line or http.method "
                     "and http.uri instead for improved performance"
                   : "pattern looks like it inspects HTTP, use http.user_agent or http.header for "
                     "improved performance";
    }
    return NULL;
}

const struct app_reports http_reports = {
    .names = (const struct app_report_name[]){
        { "http.accept", "http_accept", NULL }, { "http.accept_enc", "http_accept_enc", NULL },
        { "http.accept_lang", "http_accept_lang", NULL },
        { "http.connection", "http_connection", NULL },
        { "http.content_len", "http_content_len", NULL },
        { "http.content_type", "http_content_type", NULL },
        { "http.cookie", "http_cookie", NULL }, { "http.header", "http_header", NULL },
        { "http.header.raw", "http_raw_header", NULL },
        { "http.header_names", "http_header_names", NULL }, { "http.host", "http_host", NULL },
        { "http.host.raw", "http_raw_host", NULL }, { "http.method", "http_method", NULL },
        { "http.protocol", "http_protocol", NULL }, { "http.referer", "http_referer", NULL },
        { "http.request_body", "http_client_body", NULL },
        { "http.request_header", "http_request_header", NULL },
        { "http.request_line", "http_request_line", NULL },
        { "http.response_header", "http_response_header", NULL },
        { "http.response_line", "http_response_line", NULL },
        { "http.start", "http_start", NULL }, { "http.stat_code", "http_stat_code", NULL },
        { "http.stat_msg", "http_stat_msg", NULL }, { "http.uri", "http_uri", NULL },
        { "http.uri.raw", "http_raw_uri", NULL }, { "http.user_agent", "http_user_agent", NULL },
        { NULL, NULL, NULL } },
    .order = (const struct app_report_order[]){
        { "file*", { 10, 9 } }, { "http_request_header", { 3, 0 } },
        { "http_response_header", { 0, 3 } }, { "http_connection", { 1, 4 } },
        { "http_content_*", { 1, 4 } }, { "http*", { 1, 2 } }, { NULL, { 0, 0 } } },
    .progress = (const struct app_report_progress[]){
        { "files", APP_BOTH, 3 }, { NULL, 0, 0 } },
    .content_note = content_note,
};
