/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/detect.h - the interface of detect/ for modules, control, outputs and main: rulesets, and
 * the threads that inspect packets with them. Nothing inside detect/ includes it. */
#ifndef DETECT_DETECT_H
#define DETECT_DETECT_H

#include "detect/inspect/inspect.h"
#include "detect/rule/ruleset.h"

#endif
