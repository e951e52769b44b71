/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ftp/ftp.h - FTP (RFC 959, 2428, 4217): declarations of its parts, and the facts of a
 * command that its data connection needs. */
#ifndef APP_FTP_FTP_H
#define APP_FTP_FTP_H

#include "app/conf.h"
#include "app/log.h"
#include "app/rules.h"
#include "base/report/counters.h"

#define FTP_NAME_MAX 4095               /* bytes of a file name */

enum ftp_command {
    FTP_UNKNOWN,
/* Those with one first letter stand together: command.c. */
#define FTP_COMMAND_LIST(C)                                                                    \
    C(ABOR) C(ACCT) C(ALLO) C(APPE) C(CDUP) C(CHMOD) C(CWD) C(DELE) C(EPRT) C(EPSV) C(HELP)    \
    C(IDLE) C(LIST) C(MAIL) C(MDTM) C(MKD) C(MLFL) C(MLSD) C(MODE) C(MRCP) C(MRSQ) C(MSAM)     \
    C(MSND) C(MSOM) C(NLST) C(NOOP) C(PASS) C(PASV) C(PORT) C(PWD) C(QUIT) C(REIN) C(REST)     \
    C(RETR) C(RMD) C(RNFR) C(RNTO) C(SITE) C(SIZE) C(SMNT) C(STAT) C(STOR) C(STOU) C(STRU)     \
    C(SYST) C(TYPE) C(UMASK) C(USER)
#define C(name) FTP_COMMAND_##name,
    FTP_COMMAND_LIST(C)
#undef C
    FTP_COMMAND_COUNT
};

#define FTP_EVENT_LIST(E)                                               \
    E(FTP_EVENT_REQUEST_COMMAND_TOO_LONG, "request_command_too_long")   \
    E(FTP_EVENT_RESPONSE_COMMAND_TOO_LONG, "response_command_too_long") \
    E(FTP_EVENT_TOO_MANY_TRANSACTIONS, "too_many_transactions")         \
    E(FTP_EVENT_FILE_BEFORE_PORT, "file_before_port")                   \
    E(FTP_EVENT_FILE_WITHOUT_NAME, "file_without_name")

enum ftp_event { FTP_EVENT_NONE, FTP_EVENT_LIST(APP_EVENT_ID) };

enum ftp_progress { FTP_OPEN, FTP_DONE };

struct ftp_settings {
    uint32_t max_line, max_tx;
    struct app_memory *memory;          /* of all threads; counted with a memcap only */
};

struct ftp_thread {
    struct counters *counters;
    counter_id used, refused;
};

struct ftp_reply {
    struct ftp_reply *next;
    struct slice code, text;            /* "226", "done"; code empty when there is none */
};

struct ftp_tx {
    struct app_tx tx;
    enum ftp_command command;           /* UNKNOWN: the server spoke unasked */
    struct slice request;               /* the line, without white space at its end */
    bool request_truncated, reply_truncated;
    bool active;
    bool replied;
    uint16_t dynamic_port;              /* once it holds; 0: none */
    struct ftp_reply *replies, **replies_end;
    uint32_t memory;
};

struct ftp_state {
    bool drop[2];                       /* the rest of a line that was too long */
    bool active;                        /* for the next transfer */
    bool auth_tls;                      /* AUTH TLS waits for its reply */
    enum ftp_command command;           /* the latest */
    uint16_t announced;                 /* port in PORT or EPRT */
    uint16_t dynamic_port;
    uint32_t open;                      /* transactions that wait for their reply */
};

/* The data of an expected data connection; from malloc(). */
struct ftp_transfer {
    enum ftp_command command;
    enum direction direction;           /* of the data */
    uint32_t name_len;                  /* 0: no file (a listing) */
    uint8_t name[];
};

const char *ftp_command_name(enum ftp_command command);
/* The command that ends first in the line, and where it ends; UNKNOWN: none is in it. */
enum ftp_command ftp_command_find(struct slice line, uint32_t *end);
/* Returns what follows the command and a space. */
struct slice ftp_command_data(const struct ftp_tx *tx);

/* port.c: the port that a line announces; 0: none. */
uint16_t ftp_port_of_port(struct slice request);
uint16_t ftp_port_of_eprt(struct slice request);
uint16_t ftp_port_of_pasv(struct slice reply);
uint16_t ftp_port_of_epsv(struct slice reply);
/* The address in "PORT h1,h2,h3,h4,p1,p2", host order; false: there is none. */
bool ftp_address_of_port(struct slice request, uint32_t *address);

/* -1: no sense in going on. line_truncated: it was too long. */
int ftp_request(struct app_flow *af, struct slice line, bool line_truncated);
int ftp_reply(struct app_flow *af, struct slice line, bool line_truncated);

/* memory.c: memory of transactions against the memcap. */
bool ftp_memory_take(struct ftp_tx *tx, uint32_t size);
void ftp_memory_release(struct ftp_tx *tx);

extern const struct app_buffer *const ftp_buffers[];
extern const struct app_integer *const ftp_integers[];
extern const struct app_match *const ftp_matches[];
extern const struct app_log *const ftp_logs[];
void ftp_alert_metadata(struct json *j, struct app_tx *tx);

#endif
