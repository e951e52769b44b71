/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/names.h - names of status codes, commands and functions, and the log records. */
#ifndef APP_SMB_NAMES_H
#define APP_SMB_NAMES_H

#include "app/log.h"

const char *smb_status_name(uint32_t status);           /* NULL: not known */
const char *smb_dos_error_text(uint8_t class, uint16_t code, char *out, size_t size);
const char *smb1_command_name(uint16_t command);        /* NULL: not known */
const char *smb2_command_name(uint16_t command);
const char *smb2_dialect_name(uint16_t dialect);
const char *smb_fsctl_name(uint32_t function);

extern const struct app_log *const smb_logs[];
void smb_alert_metadata(struct json *j, struct app_tx *tx);

#endif
