/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ssh/ssh.h - the state of an SSH flow; for this directory. */
#ifndef APP_SSH_SSH_H
#define APP_SSH_SSH_H

#include "app/lib/digest.h"
#include "app/log.h"
#include "app/parser.h"
#include "app/rules.h"

#define SSH_BANNER_MAX 256          /* bytes of the first line that are read */
#define SSH_KEX_MAX 65535           /* no HASSH of longer key exchange records */

#define SSH_PROGRESS_LIST(E)                  \
    E(SSH_IN_PROGRESS, "in_progress")         \
    E(SSH_BANNER_WAIT_EOL, "banner_wait_eol") \
    E(SSH_BANNER_DONE, "banner_done")         \
    E(SSH_FINISHED, "finished")
enum ssh_progress { SSH_PROGRESS_LIST(APP_ENUM_ID) };

#define SSH_EVENT_LIST(E)                           \
    E(SSH_EVENT_INVALID_BANNER, "invalid_banner")   \
    E(SSH_EVENT_LONG_BANNER, "long_banner")         \
    E(SSH_EVENT_INVALID_RECORD, "invalid_record")   \
    E(SSH_EVENT_LONG_KEX_RECORD, "long_kex_record")

enum ssh_event { SSH_EVENT_NONE, SSH_EVENT_LIST(APP_EVENT_ID) };

#define SSH_FRAME_LIST(E)            \
    E(SSH_FRAME_STREAM, "stream")    \
    E(SSH_FRAME_HDR, "record.hdr")   \
    E(SSH_FRAME_DATA, "record.data") \
    E(SSH_FRAME_PDU, "record.pdu")
enum { SSH_FRAME_LIST(APP_ENUM_ID) };

enum { SSH_FEATURE_HASSH = 1u << 0 };

struct ssh_settings {
    enum { SSH_TRACK_ONLY, SSH_BYPASS, SSH_FULL } encryption;
    bool hassh;
};

/* One direction. Slices lie in the transaction's arena. */
struct ssh_dir {
    uint8_t state;              /* enum ssh_progress: how far this side is, whatever the other */
    struct slice proto, software;
    struct slice hassh_string, hassh;
};

struct ssh_tx {
    struct app_tx tx;
    struct ssh_dir ds[2];
};

static inline struct ssh_tx *ssh_tx_of(const struct app_tx *tx)
{
    return (struct ssh_tx *)(uintptr_t)tx;
}

struct ssh_state {
    struct ssh_tx *tx;          /* NULL before the first bytes and after its removal */
    bool started;
    bool header_seen[2];        /* frames of an incomplete record exist */
    uint32_t skip[2];           /* bytes of the current record to skip */
};

/* A rule or the configuration requires HASSH. */
bool ssh_requires_hassh(const struct app_flow *af);
/* kex.c: HASSH of a key exchange record's content, unless there is one. */
void ssh_hassh(struct app_flow *af, struct ssh_tx *tx, struct bytes body, enum direction d);
/* parse.c */
enum parse_status ssh_parse(struct app_flow *af, struct app_input *in);

extern const struct app_buffer *const ssh_buffers[];
extern const struct app_log *const ssh_logs[];
void ssh_alert_metadata(struct json *j, struct app_tx *tx);

#endif
