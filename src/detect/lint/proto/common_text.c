/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/proto/common_text.c - what requests and responses of the web have nearly always. A
 * pattern that is a part of it finds all of them. */
#include "detect/lint/private.h"

#include <string.h>
#include <strings.h>

static const char *const texts[] = {
    "GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\n", " HTTP/1.0\r\n", "HTTP/1.1 200 OK\r\n",
    "\r\nHost: www.", "\r\nConnection: Keep-Alive\r\n", "\r\nConnection: close\r\n",
    "\r\nAccept: */*\r\n", "\r\nAccept-Encoding: gzip, deflate\r\n", "\r\nAccept-Language: en-US",
    "\r\nCache-Control: no-cache\r\n", "\r\nContent-Length: ", "\r\nContent-Type: text/html",
    "\r\nContent-Type: application/x-www-form-urlencoded\r\n", "\r\nReferer: http://",
    "\r\nUser-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like "
    "Gecko) Chrome/",
    "Mozilla/4.0 (compatible; MSIE ", "\r\nServer: Apache", "\r\nServer: nginx",
    "\r\nSet-Cookie: ", "\r\nCookie: ", "\r\nDate: ", "https://www.", ".html", ".php?", ".com/",
    "/index.php", "<html>", "</html>", "<script", "</script>", "text/javascript", "document.write(",
    "\r\n\r\n", "multipart/form-data; boundary=", "Content-Disposition: form-data; name=\"",
};

static bool has_part(const char *text, const uint8_t *bytes, unsigned len)
{
    size_t n = strlen(text);

    for (size_t i = 0; i + len <= n; i++)
        if (strncasecmp(text + i, (const char *)bytes, len) == 0)
            return true;
    return false;
}

/* The bytes may contain NUL, which no text has. */
bool lint_is_common_text(const uint8_t *bytes, unsigned len)
{
    if (len == 0 || memchr(bytes, 0, len) != NULL)
        return false;
    for (unsigned i = 0; i < ARRAY_LEN(texts); i++)
        if (has_part(texts[i], bytes, len))
            return true;
    return false;
}
