/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/compatibility.c - the setting `compatibility`. */
#include "conf/compatibility.h"

static const char *const words[] = { "suricata-8", "suricata-9", NULL };

void conf_check_compatibility(const struct conf_node *root)
{
    (void)conf_choice_or_end(root, "compatibility", words, 0);
}

bool conf_is_suricata_9(const struct conf_node *root)
{
    return text_equal_nocase(text_of(conf_string(root, "compatibility", words[0])), words[1]);
}
