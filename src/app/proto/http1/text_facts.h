/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/text_facts.h - what the buffers of all versions of HTTP do not have. */
#ifndef APP_HTTP1_TEXT_FACTS_H
#define APP_HTTP1_TEXT_FACTS_H

#include "app/text_facts.h"

extern const struct app_text_facts http_status_facts, http_host_facts, http_header_facts,
    http_cookie_facts, http_type_facts, http_referer_facts, http_server_facts, http_agent_facts;

#endif
