/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/reports.c - what Suricata's reports say of rules about HTTP/2 and
 * about DNS in it. */
#include "app/proto/http2/buffers.h"
#include "app/reports.h"

#include <string.h>

/* What is known of a stream counts on, the response behind the request. */
static uint8_t other_progress(const char *list, enum direction direction, uint8_t declared)
{
    if (strcmp(list, "http2_header_name") == 0 || strcmp(list, "http_response_header") == 0)
        return declared;
    if (direction == TO_CLIENT)
        return 5;
    return declared > 1 || strncmp(list, "file", 4) == 0 ? 3 : declared;
}

const struct app_reports h2_reports = {
    .names = (const struct app_report_name[]){
        { "http2.header_name", "http2_header_name", NULL }, { "http2.errorcode", "http2", NULL },
        { "http2.frametype", "http2", NULL }, { "http2.priority", "http2", NULL },
        { "http2.settings", "http2", NULL }, { "http2.size_update", "http2", NULL },
        { "http2.window", "http2", NULL }, { NULL, NULL, NULL } },
    .order = (const struct app_report_order[]){
        { "file*", { 14, 12 } }, { "http_request_header", { 2, 0 } },
        { "http_response_header", { 0, 2 } }, { "http_connection", { 3, 6 } },
        { "http_content_*", { 3, 6 } }, { "http2_header_name", { 4, 2 } }, { "http*", { 4, 6 } },
        { NULL, { 0, 0 } } },
    .progress = (const struct app_report_progress[]){
        { "http2", APP_BOTH, 0 }, { NULL, 0, 0 } },
    .other_progress = other_progress,
    .hook_progress = 7,
};

const struct app_reports doh2_reports = {
    .order = (const struct app_report_order[]){
        { "file*", { 13, 11 } }, { "dns*", { 1, 3 } }, { "http_request_header", { 1, 0 } },
        { "http_response_header", { 0, 1 } }, { "http_connection", { 2, 5 } },
        { "http_content_*", { 2, 5 } }, { "http2_header_name", { 3, 1 } }, { "http*", { 3, 5 } },
        { NULL, { 0, 0 } } },
    .progress = (const struct app_report_progress[]){
        { "dns.opcode", APP_BOTH, 0 }, { "dns.rcode", APP_BOTH, 0 },
        { "dns.rrtype", APP_BOTH, 0 }, { "dns*", APP_BOTH, 1 }, { "http2", APP_BOTH, 0 },
        { NULL, 0, 0 } },
    .other_progress = other_progress,
    .hook_progress = 7,
};
