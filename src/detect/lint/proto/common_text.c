/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/proto/common_text.c - what requests and responses of the web have nearly always. A
 * pattern that is a part of it finds all of them. */
#include "detect/lint/private.h"

#include <string.h>
#include <strings.h>

/* Where a text is common; the same word elsewhere is rare. */
enum part { IN_HEADER = 1, IN_URI = 2, IN_AGENT = 4, IN_PAGE = 8, IN_FORM = 16, IN_TYPE = 32,
            IN_COOKIES = 64, IN_PAYLOAD = 127 };

struct common { const char *text; uint8_t parts; };

static const struct common texts[] = {
    { "GET / HTTP/1.1\r\n", 0 }, { "POST / HTTP/1.1\r\n", 0 }, { " HTTP/1.0\r\n", 0 },
    { "HTTP/1.1 200 OK\r\n", 0 }, { "\r\n\r\n", 0 },
    { "\r\nHost: www.", IN_HEADER }, { "\r\nConnection: Keep-Alive\r\n", IN_HEADER },
    { "\r\nConnection: close\r\n", IN_HEADER }, { "\r\nAccept: */*\r\n", IN_HEADER },
    { "\r\nAccept: text/html, application/xhtml+xml, */*\r\n", IN_HEADER },
    { "\r\nAccept-Encoding: gzip, deflate\r\n", IN_HEADER },
    { "\r\nAccept-Language: en-US", IN_HEADER }, { "\r\nCache-Control: no-cache\r\n", IN_HEADER },
    { "\r\nContent-Length: ", IN_HEADER }, { "\r\nContent-Type: text/html", IN_HEADER },
    { "\r\nContent-Type: application/x-www-form-urlencoded\r\n", IN_HEADER },
    { "\r\nReferer: http://", IN_HEADER }, { "\r\nServer: Apache", IN_HEADER },
    { "\r\nServer: nginx", IN_HEADER }, { "\r\nSet-Cookie: ", IN_COOKIES },
    { "\r\nCookie: ", IN_COOKIES }, { "\r\nDate: ", IN_HEADER },
    { "\r\nUser-Agent: Mozilla/", IN_HEADER },
    { "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
      IN_HEADER | IN_AGENT },
    { "Mozilla/4.0 (compatible; MSIE ", IN_HEADER | IN_AGENT },
    { "application/x-www-form-urlencoded", IN_TYPE }, { "text/html", IN_TYPE },
    { "multipart/form-data; boundary=", IN_HEADER | IN_TYPE },
    { "Content-Disposition: form-data; name=\"", IN_FORM },
    { "/index.php", IN_URI }, { "/index.html", IN_URI }, { ".php?id=", IN_URI },
    { "https://www.", IN_PAGE }, { "<html>", IN_PAGE }, { "</html>", IN_PAGE },
    { "<script", IN_PAGE }, { "</script>", IN_PAGE }, { "text/javascript", IN_PAGE },
    { "document.write(", IN_PAGE },
};

/* Shorter parts of the texts are parts of much else as well. */
#define PART_MIN 6

/* What is common though it is shorter. */
static const struct common words[] = {
    { "GET ", 0 }, { "POST ", 0 }, { "HTTP/", 0 }, { "Host:", IN_HEADER }, { ".php", IN_URI },
    { ".html", IN_URI }, { ".htm", IN_URI }, { ".com", IN_HEADER | IN_PAGE },
    { "www.", IN_HEADER | IN_PAGE }, { "http", IN_PAGE }, { "http:", IN_HEADER | IN_PAGE },
};

static const char *const values[] = { "GET", "POST", "200", "OK", "302", "404", NULL };

/* With its case: a browser that is written otherwise is rare. */
static bool is_at(const char *text, struct literal_pattern p)
{
    return p.nocase ? strncasecmp(text, (const char *)p.bytes, p.len) == 0
                    : memcmp(text, p.bytes, p.len) == 0;
}

static bool has_part(const char *text, struct literal_pattern p)
{
    size_t n = strlen(text);

    for (size_t i = 0; i + p.len <= n; i++)
        if (is_at(text + i, p))
            return true;
    return false;
}

static bool is_one_of(const char *const *list, const uint8_t *bytes, unsigned len)
{
    for (; *list != NULL; list++)
        if (strlen(*list) == len && strncasecmp(*list, (const char *)bytes, len) == 0)
            return true;
    return false;
}

/* Names of header fields without their values: clients send them in a few orders. */
static bool is_list_of_names(const uint8_t *bytes, unsigned len)
{
    for (unsigned i = 0; i < len; i++)
        if (bytes[i] == ':' || bytes[i] == ' ' || bytes[i] >= 0x80)
            return false;
    return memchr(bytes, '\n', len) != NULL;
}

/* A rule about other ports or another protocol looks at other traffic. */
static bool is_about_web(const struct rule *rule)
{
    uint32_t any = RULE_SPORT_ANY | RULE_DPORT_ANY;

    if (rule->app_proto == APP_PROTO_UNKNOWN)
        return (rule->flags & any) == any;
    return app_proto_matches((enum app_proto_id)rule->app_proto, APP_PROTO_http1) ||
           rule->app_proto == APP_PROTO_http2;
}

/* The parts that the buffer shows; 0: another part, of which nothing is known. */
static unsigned parts_of(const struct rule_list *list)
{
    static const struct { const char *name; unsigned parts; } buffers[] = {
        { "http.uri", IN_URI }, { "http.uri.raw", IN_URI }, { "http.header", IN_HEADER },
        { "http.header.raw", IN_HEADER | IN_COOKIES },
        { "http.request_header", IN_HEADER | IN_COOKIES },
        { "http.response_header", IN_HEADER | IN_COOKIES }, { "http.user_agent", IN_AGENT },
        { "http.content_type", IN_TYPE }, { "http.request_body", IN_FORM },
        { "http.response_body", IN_PAGE }, { "file.data", IN_PAGE },
    };

    if (list->buffer == NULL)
        return IN_PAYLOAD;
    for (unsigned i = 0; i < ARRAY_LEN(buffers); i++)
        if (strcmp(list->buffer->base->name, buffers[i].name) == 0)
            return buffers[i].parts;
    return 0;
}

/* Texts of no part are in the payload alone. */
static bool is_there(const struct common *c, unsigned parts)
{
    return c->parts == 0 ? parts == IN_PAYLOAD : (c->parts & parts) != 0;
}

/* The bytes may contain NUL, which no text has. */
bool lint_is_common_text(const struct rule *rule, const struct rule_list *list,
                         struct literal_pattern p)
{
    unsigned parts = parts_of(list);

    if (!is_about_web(rule) || p.len == 0 || memchr(p.bytes, 0, p.len) != NULL)
        return false;
    for (unsigned i = 0; i < ARRAY_LEN(words); i++)
        if (is_there(&words[i], parts) && strlen(words[i].text) == p.len &&
            is_at(words[i].text, p))
            return true;
    for (unsigned i = 0; i < ARRAY_LEN(texts) && p.len >= PART_MIN; i++)
        if (is_there(&texts[i], parts) && has_part(texts[i].text, p))
            return true;
    return false;
}

/* What each mail has, many requests, and the names of fields in certificates. */
static const char *const usual[] = { "MAIL FROM:", "RCPT TO:", "Subject: ", "From: ",
                                     "\x2a\x86\x48\x86\xf7", "Content-Length: 0\r\n",
                                     "text/html, application/xhtml+xml" };

bool lint_is_usual_text(const struct rule *rule, const struct rule_op *op)
{
    const uint8_t *bytes = op->content.bytes;
    unsigned len = op->content.len;

    for (unsigned i = 0; i < ARRAY_LEN(usual); i++) {
        size_t n = strlen(usual[i]);

        if (strncasecmp((const char *)bytes, usual[i], MIN(n, len)) == 0)
            return true;
    }
    return is_list_of_names(bytes, len) ||
           lint_is_common_text(rule, op->list, (struct literal_pattern){
               bytes, op->content.len, (op->flags & OP_NOCASE) != 0 });
}

bool lint_is_common_value(const uint8_t *bytes, unsigned len)
{
    return is_one_of(values, bytes, len);
}
