/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/requires.c - what an engine must offer for the rule to be loaded. */
#include "detect/rule/keyword.h"

/* The rule parser reads it before all others, see rule/requires.c. */
const struct keyword_ops keyword_requires = {
    .name = "requires",
    .doc = "load the rule only where all of these are there, joined by commas",
    .syntax = "version <op> <version>[ <op> <version>]...[ | <op> <version>]...\n"
              "feature <name>\n"
              "keyword <name>",
    .point = POINT_NONE,
};
