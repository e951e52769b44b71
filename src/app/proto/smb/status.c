/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/status.c - names of a server's status: NTSTATUS ([MS-ERREF] section 2.3.1), and DOS
 * error classes and codes of SMB1 ([MS-CIFS] section 2.2.2.4), as Suricata spells them. */
#include "app/proto/smb/names.h"
#include "app/proto/smb/status_table.h"
#include "base/text/named_number.h"

#include <stdio.h>

/* Ordered by number: NAMED_NUMBER searches by halves. */
static const struct named_number statuses[] = {
#define STATUS(value, name) { value, "STATUS_" #name },
#define OTHER(value, name) { value, #name },
    STATUS_TABLE(STATUS, OTHER)
#undef STATUS
#undef OTHER
};

const char *smb_status_name(uint32_t status)
{
    return NAMED_NUMBER(statuses, status);
}

/* Class 1, ERRDOS. NULL: no name. */
static const char *dos_name(uint16_t code)
{
    static const char *const names[] = {
        "DOS_SUCCESS", "DOS_BAD_FUNC", "DOS_BAD_FILE", "DOS_BAD_PATH", "DOS_TOO_MANY_OPEN_FILES",
        "DOS_ACCESS_DENIED",
    };

    return code < ARRAY_LEN(names) ? names[code] : NULL;
}

/* Class 2, ERRSRV. */
static const char *server_name(uint16_t code)
{
    switch (code) {
    case 1:
        return "SRV_ERROR";
    case 2:
        return "SRV_BADPW";
    case 3:
        return "SRV_BADTYPE";
    case 4:
        return "SRV_ACCESS";
    case 91:
        return "SRV_BADUID";
    default:
        return NULL;
    }
}

/* `out` has the text of a code without a name. */
const char *smb_dos_error_text(uint8_t class, uint16_t code, char *out, size_t size)
{
    const char *name = class == 1 ? dos_name(code) : class == 2 ? server_name(code) : NULL;

    if (name != NULL)
        return name;
    if (class == 1 || class == 2)
        snprintf(out, size, "%u", code);
    else
        snprintf(out, size, "UNKNOWN_%02x_%04x", class, code);
    return out;
}
