/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/file_slot.h - what detect keeps with a file, for outputs too. */
#ifndef DETECT_FILE_SLOT_H
#define DETECT_FILE_SLOT_H

#include "app/core/file.h"

/* The rules with filestore that matched; a file's record lists no more of them. */
struct detect_file {
    uint32_t sid_count;
    uint32_t sids[16];
};
APP_FILE_SLOT_ACCESSOR(detect, APP_FILE_SLOT_DETECT)

#endif
