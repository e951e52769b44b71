/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smtp/settings.c - app-layer.protocols.smtp. */
#include "app/proto/smtp/smtp.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONTENT_LIMIT 100000    /* bytes; defaults of Suricata */
#define CONTENT_INSPECT_MIN_SIZE 32768
#define CONTENT_INSPECT_WINDOW 4096

/* Schemes are compared with "://", so that a plain "http" in a text is no URL. */
static void add_scheme(struct mime_settings *s, const char *name)
{
    size_t n = strlen(name);
    char *text = xmalloc(n + sizeof("://"));

    memcpy(text, name, n + 1);
    if (n > 0 && name[n - 1] != '/')
        memcpy(text + n, "://", sizeof("://"));
    s->schemes = xrealloc(s->schemes, (s->scheme_count + 1) * sizeof(s->schemes[0]));
    s->schemes[s->scheme_count++] = text_of(text);
}

/* The default is http, as in Suricata. */
static void read_schemes(struct mime_settings *s, const struct conf_node *node)
{
    const struct conf_node *list = conf_find(node, "extract-urls-schemes");

    if (list == NULL)
        add_scheme(s, "http");
    CONF_EACH (item, list)
        if (item->value != NULL && item->value[0] != '\0')
            add_scheme(s, item->value);
}

static void read_mime(struct smtp_settings *s, const struct conf_node *node)
{
    s->decode_mime = conf_bool(node, "decode-mime", true);
    s->mime.decode_base64 = conf_bool(node, "decode-base64", true);
    s->mime.decode_quoted_printable = conf_bool(node, "decode-quoted-printable", true);
    s->mime.extract_urls = conf_bool(node, "extract-urls", true);
    s->mime.log_url_scheme = conf_bool(node, "log-url-scheme", false);
    s->body_md5_auto = strcasecmp(conf_string(node, "body-md5", "auto"), "auto") == 0;
    s->mime.body_md5 = !s->body_md5_auto && conf_bool(node, "body-md5", false);
    /* Fields are kept complete, as far as the memory of a message allows. The value is still
     * checked, so that a wrong one is reported. */
    (void)conf_u64_within(node, "header-value-depth", 2000, 0, UINT32_MAX);
    read_schemes(&s->mime, node);
}

int smtp_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                   void *settings, struct err *err UNUSED)
{
    struct smtp_settings *s = settings;
    const struct conf_node *tracker = conf_find(node, "inspected-tracker");

    read_mime(s, conf_find(node, "mime"));
    s->window.limit = conf_size_or_default(tracker, "content-limit", CONTENT_LIMIT);
    s->window.min_inspect = (uint32_t)conf_size_or_default(tracker, "content-inspect-min-size",
                                                           CONTENT_INSPECT_MIN_SIZE);
    s->window.window = (uint32_t)conf_size_or_default(tracker, "content-inspect-window",
                                                      CONTENT_INSPECT_WINDOW);
    s->bdat_lines = conf_bool(node, "bdat-lines", true);
    s->raw_extraction = conf_bool(node, "raw-extraction", false);
    if (s->raw_extraction && s->decode_mime) {
        /* The message is Suricata's. */
        conf_error(conf_find(node, "raw-extraction"),
                   "\"decode-mime\" and \"raw-extraction\" options can't be enabled at the same "
                   "time, disabling raw extraction");
        s->raw_extraction = false;
    }
    return 0;
}

void smtp_settings_free(void *settings)
{
    struct smtp_settings *s = settings;

    for (unsigned i = 0; i < s->mime.scheme_count; i++)
        free((char *)(uintptr_t)s->mime.schemes[i].p);
    free(s->mime.schemes);
}
