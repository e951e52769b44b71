/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/text_facts.c - what the buffers of all versions of HTTP do not have. */
#include "app/proto/http1/text_facts.h"

#include <string.h>

#define LINES(...) (const char *const[]){ __VA_ARGS__, NULL }

const struct app_text_facts http_status_facts = {
    .most = 3, .alphabet = "0123456789", .mend = "write the three digits of a status",
};

/* A name, a colon, and digits up to the end; addresses of IPv6 have colons, and no dot. */
static const char *port_of(struct slice content)
{
    uint32_t at = content.len;

    while (at > 0 && content.data[at - 1] >= '0' && content.data[at - 1] <= '9')
        at--;
    return at > 1 && at < content.len && content.data[at - 1] == ':' &&
           memchr(content.data, '.', at) != NULL ? "port" : NULL;
}

const struct app_text_facts http_host_facts = {
    .odd = port_of, .mend = "leave the port out, or name http.host.raw",
};
const struct app_text_facts http_header_facts = {
    .lines = LINES("Cookie:", "Set-Cookie:"),
    .mend = "write the value into http.cookie, or name http.header.raw",
};

/* Those of one field have its value alone. */
const struct app_text_facts http_cookie_facts = {
    .lines = LINES("Cookie:", "Set-Cookie:"), .mend = "leave the name of the field out",
};
const struct app_text_facts http_type_facts = {
    .lines = LINES("Content-Type:"), .mend = "leave the name of the field out",
};
const struct app_text_facts http_referer_facts = {
    .lines = LINES("Referer:"), .mend = "leave the name of the field out",
};
const struct app_text_facts http_server_facts = {
    .lines = LINES("Server:"), .mend = "leave the name of the field out",
};
const struct app_text_facts http_agent_facts = {
    .lines = LINES("User-Agent:"), .mend = "leave the name of the field out",
};
