/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/names.c - names of what to capture from, and settings that several methods have. */
#include "capture/capture.h"

#include "base/array.h"
#include "base/text/text.h"

#include <stdlib.h>
#include <string.h>

/* A name counts once: two entries for one interface would read its packets twice. */
void capture_names_add(struct capture_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i], name) == 0)
            return;
    ARRAY_PUSH(names, xstrdup(name));
}

void capture_names_free(struct capture_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->at[i]);
    ARRAY_FREE(names);
}

/* Interfaces of the command line, otherwise those of the section, without `default`. */
int capture_interfaces(struct capture_section section, const char *const *given, size_t count,
                       struct capture_names *out, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        capture_names_add(out, given[i]);
    if (count > 0)
        return 0;
    CONF_EACH(item, conf_find(section.root, section.name)) {
        const char *name = conf_string(item, "interface", NULL);

        if (name != NULL && strcmp(name, "default") != 0)
            capture_names_add(out, name);
    }
    if (out->count == 0)
        return err_set(err, "no interface to capture from: name one on the command line, or "
                       "under %s: in the configuration", section.name);
    return 0;
}

/* `kernel` is Suricata's word for trusting the kernel's status; ids treats it as auto. */
enum capture_checksums capture_checksums_read(const struct conf_node *item)
{
    struct text word = text_of(conf_string(item, "checksum-checks", "auto"));
    bool yes;

    if (text_to_bool(word, &yes))
        return yes ? CAPTURE_CHECKSUMS_YES : CAPTURE_CHECKSUMS_NO;
    if (!text_equal_nocase(word, "auto") && !text_equal_nocase(word, "kernel"))
        conf_error(conf_find(item, "checksum-checks"),
                   "expected auto, kernel, yes or no, got \"%.*s\": taken as auto", TEXT(word));
    return CAPTURE_CHECKSUMS_AUTO;
}
