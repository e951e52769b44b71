/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ftp/command.c - names of commands. */
#include "app/proto/ftp/ftp.h"

#include <string.h>

static const struct { const char *name; uint32_t len; } commands[FTP_COMMAND_COUNT] = {
#define C(name) [FTP_COMMAND_##name] = { #name, sizeof(#name) - 1 },
    FTP_COMMAND_LIST(C)
#undef C
};

const char *ftp_command_name(enum ftp_command command)
{
    return commands[command].name;
}

static uint8_t upper(uint8_t c)
{
    return c >= 'a' && c <= 'z' ? (uint8_t)(c & ~0x20) : c;
}

/* The first command with this letter: each byte of a line that has no command is compared with two
 * or three names on average, and not with all 48. */
static unsigned first_with(uint8_t letter)
{
    static const uint8_t first[] = {
        ['A'] = FTP_COMMAND_ABOR, ['C'] = FTP_COMMAND_CDUP, ['D'] = FTP_COMMAND_DELE,
        ['E'] = FTP_COMMAND_EPRT, ['H'] = FTP_COMMAND_HELP, ['I'] = FTP_COMMAND_IDLE,
        ['L'] = FTP_COMMAND_LIST, ['M'] = FTP_COMMAND_MAIL, ['N'] = FTP_COMMAND_NLST,
        ['P'] = FTP_COMMAND_PASS, ['Q'] = FTP_COMMAND_QUIT, ['R'] = FTP_COMMAND_REIN,
        ['S'] = FTP_COMMAND_SITE, ['T'] = FTP_COMMAND_TYPE, ['U'] = FTP_COMMAND_UMASK,
    };

    return letter < sizeof(first) && first[letter] != FTP_UNKNOWN ? first[letter]
                                                                  : FTP_COMMAND_COUNT;
}

static bool is_at(const uint8_t *p, enum ftp_command command)
{
    for (uint32_t i = 0; i < commands[command].len; i++)
        if (upper(p[i]) != (uint8_t)commands[command].name[i])
            return false;
    return true;
}

/* Finds a command anywhere in the line, because "XCWD" and telnet bytes before it mean the same to
 * servers. The command that ends first wins; *end is after it. */
enum ftp_command ftp_command_find(struct slice line, uint32_t *end)
{
    enum ftp_command found = FTP_UNKNOWN;
    uint32_t limit = line.len + 1;

    for (uint32_t i = 0; i + 3 < limit; i++) {
        uint8_t letter = upper(line.data[i]);

        for (unsigned c = first_with(letter);
             c < FTP_COMMAND_COUNT && (uint8_t)commands[c].name[0] == letter; c++) {
            uint32_t behind = i + commands[c].len;

            if (behind >= limit || !is_at(line.data + i, (enum ftp_command)c))
                continue;
            found = (enum ftp_command)c;
            limit = *end = behind;
        }
    }
    return found;
}

/* The argument: what follows the name and one byte. */
struct slice ftp_command_data(const struct ftp_tx *tx)
{
    uint32_t name = tx->command != FTP_UNKNOWN ? commands[tx->command].len : 0;
    struct bytes in = bytes_of_slice(tx->request);

    if (name == 0 || tx->request.len <= name)
        return (struct slice){ 0 };
    take_skip(&in, name + 1);
    return take_rest(&in);
}
