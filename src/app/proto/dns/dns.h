/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dns/dns.h - DNS messages (RFC 1035, EDNS: RFC 6891). Shared with mdns.
 *
 * Each message is a transaction, which is complete at once. Responses are not paired with requests,
 * so neither a flood nor a lost packet leaves transactions open. All of a message is in its
 * transaction's arena. */
#ifndef APP_DNS_DNS_H
#define APP_DNS_DNS_H

#include "app/log.h"
#include "app/proto.h"
#include "app/rules.h"
#include "app/values.h"

#define DNS_EVENT_LIST(E)                             \
    E(DNS_MALFORMED_DATA, "malformed_data")           \
    E(DNS_NOT_REQUEST, "not_request")                 \
    E(DNS_NOT_RESPONSE, "not_response")               \
    E(DNS_Z_FLAG_SET, "z_flag_set")                   \
    E(DNS_INVALID_OPCODE, "invalid_opcode")           \
    E(DNS_NAME_TOO_LONG, "name_too_long")             \
    E(DNS_INFINITE_LOOP, "infinite_loop")             \
    E(DNS_TOO_MANY_LABELS, "too_many_labels")         \
    E(DNS_INVALID_ADDITIONALS, "invalid_additionals") \
    E(DNS_INVALID_AUTHORITIES, "invalid_authorities")

enum dns_event { DNS_EVENT_NONE, DNS_EVENT_LIST(APP_EVENT_ID) };
extern const struct app_name dns_events[];

#define DNS_TYPE_LIST(E)                                                                    \
    E(DNS_A, 1, "a") E(DNS_NS, 2, "ns") E(DNS_MD, 3, "md") E(DNS_MF, 4, "mf")               \
    E(DNS_CNAME, 5, "cname") E(DNS_SOA, 6, "soa") E(DNS_MB, 7, "mb") E(DNS_MG, 8, "mg")     \
    E(DNS_MR, 9, "mr") E(DNS_NULL, 10, "null") E(DNS_WKS, 11, "wks") E(DNS_PTR, 12, "ptr")  \
    E(DNS_HINFO, 13, "hinfo") E(DNS_MINFO, 14, "minfo") E(DNS_MX, 15, "mx")                 \
    E(DNS_TXT, 16, "txt") E(DNS_RP, 17, "rp") E(DNS_AFSDB, 18, "afsdb")                     \
    E(DNS_X25, 19, "x25") E(DNS_ISDN, 20, "isdn") E(DNS_RT, 21, "rt")                       \
    E(DNS_NSAP, 22, "nsap") E(DNS_NSAPPTR, 23, "nsapptr") E(DNS_SIG, 24, "sig")             \
    E(DNS_KEY, 25, "key") E(DNS_PX, 26, "px") E(DNS_GPOS, 27, "gpos")                       \
    E(DNS_AAAA, 28, "aaaa") E(DNS_LOC, 29, "loc") E(DNS_NXT, 30, "nxt")                     \
    E(DNS_SRV, 33, "srv") E(DNS_ATMA, 34, "atma") E(DNS_NAPTR, 35, "naptr")                 \
    E(DNS_KX, 36, "kx") E(DNS_CERT, 37, "cert") E(DNS_A6, 38, "a6")                         \
    E(DNS_DNAME, 39, "dname") E(DNS_OPT, 41, "opt") E(DNS_APL, 42, "apl")                   \
    E(DNS_DS, 43, "ds") E(DNS_SSHFP, 44, "sshfp") E(DNS_IPSECKEY, 45, "ipseckey")           \
    E(DNS_RRSIG, 46, "rrsig") E(DNS_NSEC, 47, "nsec") E(DNS_DNSKEY, 48, "dnskey")           \
    E(DNS_DHCID, 49, "dhcid") E(DNS_NSEC3, 50, "nsec3") E(DNS_NSEC3PARAM, 51, "nsec3param") \
    E(DNS_TLSA, 52, "tlsa") E(DNS_HIP, 55, "hip") E(DNS_CDS, 59, "cds")                     \
    E(DNS_CDNSKEY, 60, "cdnskey") E(DNS_HTTPS, 65, "https") E(DNS_SPF, 99, "spf")           \
    E(DNS_TKEY, 249, "tkey") E(DNS_TSIG, 250, "tsig") E(DNS_MAILA, 254, "maila")            \
    E(DNS_ANY, 255, "any") E(DNS_URI, 256, "uri")
enum dns_type { DNS_TYPE_LIST(APP_NUMBER_ID) };
/* Names and numbers of record types and response codes, lower case; NULL-ended. */
extern const struct app_name dns_types[], dns_rcodes[];

/* Labels with dots between them. */
#define DNS_NAME_LOOP      0x01
#define DNS_NAME_TRUNCATED 0x02
#define DNS_NAME_LABELS    0x04
struct dns_name {
    struct slice text;
    uint8_t flags;                      /* DNS_NAME_* */
};

struct dns_question {
    struct dns_name name;
    uint16_t type, class;
};

struct dns_soa {
    struct dns_name rname;              /* mname is the record's target */
    uint32_t serial, refresh, retry, expire, minimum;
};

struct dns_record {
    struct dns_name name;
    uint16_t type, class;
    uint32_t ttl;
    struct slice data;                  /* as it came */
    struct dns_name target;             /* CNAME, NS, PTR, MX, SRV; SOA: mname */
    const struct dns_soa *soa;          /* SOA only */
    uint16_t priority, weight, port;    /* SRV only */
};

struct dns_section {
    struct dns_record *at;
    unsigned count;
};

struct dns_message {
    uint16_t id, flags;
    uint32_t len;                       /* bytes of the message as sent */
    struct dns_question *question;
    unsigned question_count;
    struct dns_section answers, authorities, additionals;
    bool invalid_authorities, invalid_additionals;
    uint8_t name_flags;                 /* of all names */
};
#define DNS_FLAG_QR 0x8000
#define DNS_FLAG_AA 0x0400
#define DNS_FLAG_TC 0x0200
#define DNS_FLAG_RD 0x0100
#define DNS_FLAG_RA 0x0080
#define DNS_FLAG_Z  0x0040
#define DNS_FLAG_AD 0x0020
#define DNS_FLAG_CD 0x0010
static inline unsigned dns_opcode(const struct dns_message *m) { return m->flags >> 11 & 0xf; }
static inline unsigned dns_rcode(const struct dns_message *m) { return m->flags & 0xf; }

struct dns_tx {
    struct app_tx tx;
    bool is_response;                   /* by direction; mdns: by the QR bit */
    struct dns_message message;
};
static inline const struct dns_message *dns_message_of(const struct app_tx *tx)
{
    return &((const struct dns_tx *)(const void *)tx)->message;
}

static inline bool dns_is_response(const struct app_tx *tx)
{
    return ((const struct dns_tx *)(const void *)tx)->is_response;
}

#define DNS_HEADER_SIZE 12              /* bytes, RFC 1035 section 4.1.1 */
#define DNS_NOLOG_IDS_MAX 32            /* per flow; with more in flight the oldest is lost */

/* Ids of requests whose logging a rule has switched off (config: logging disable). Their responses
 * are not logged either. */
struct dns_nolog {
    uint8_t next, count;
    uint16_t ids[DNS_NOLOG_IDS_MAX];
};

/* The state of a flow of DNS, or of LLMNR, which has the same framing. */
struct dns_state {
    bool gap;                           /* since the last message */
    uint64_t inspected;                 /* transactions that rules have seen: those below this id */
    struct dns_nolog *nolog;            /* NULL: none, as in most flows */
};
enum app_probe_result dns_probe_udp(struct bytes in, enum direction direction,
                                    const struct flow *flow);
enum app_probe_result dns_probe_tcp(struct bytes in, enum direction direction,
                                    const struct flow *flow);
enum parse_status dns_parse(struct app_flow *af, struct app_input *in);
void dns_tx_close(struct app_tx *tx);
void dns_close(struct app_flow *af);

/* Could `len` bytes that begin so be a message? *request: a question. */
bool dns_header_fits(struct bytes message, size_t len, bool *request);

enum dns_parse { DNS_PARSED, DNS_INCOMPLETE, DNS_MALFORMED };
/* The header must fit. All memory from arena; the message's bytes are copied. With arena NULL
 * nothing is kept: is it well-formed? */
enum dns_parse dns_message_parse(struct slice in, struct arena *arena, struct dns_message *out);
void dns_message_events(struct app_tx *tx);

/* One text after the other of a TXT record; one option of an OPT record. */
bool dns_take_text(struct bytes *data, struct slice *out);
bool dns_take_option(struct bytes *data, uint16_t *code, struct slice *out);

/* Writes an address for logs: "1.2.3.4", or all groups of an IPv6 address; "" if the length fits
 * neither. */
#define DNS_ADDRESS_SIZE 46
void dns_address(struct slice data, char out[DNS_ADDRESS_SIZE]);
/* "AAAA", or the number. */
#define DNS_TYPE_SIZE 16
const char *dns_type_text(uint16_t type, char out[DNS_TYPE_SIZE]);
void dns_log_soa(struct json *j, const char *key, const struct dns_record *r);
void dns_log_srv(struct json *j, const char *key, const struct dns_record *r);
void dns_log_sshfp(struct json *j, const char *key, const struct dns_record *r);
void dns_log_options(struct json *j, const char *key, const struct dns_record *r);

/* A message as mdns and llmnr log it. flags: those of the protocol, ended by one without a name. */
struct dns_flag { uint16_t bit; const char *name; };
void dns_log_by_type(struct json *j, const struct app_tx *tx, const struct dns_flag *flags,
                     bool has_rcode);

/* The names that one multi-buffer shows: of a section, or of all sections one after the other with
 * the names in the data of records. */
enum dns_names {
    DNS_QUESTION_NAMES, DNS_ANSWER_NAMES, DNS_AUTHORITY_NAMES, DNS_ADDITIONAL_NAMES, DNS_ALL_NAMES,
};
bool dns_name_at(struct app_tx *tx, const struct dns_message *m, enum dns_names which,
                 unsigned index, struct slice *out);
/* DNS_ALL_NAMES from a place on, which then is that of `index`. */
bool dns_response_name(const struct dns_message *m, struct app_place *place, unsigned index,
                       struct slice *out);
struct app_key;
/* The `find` function of buffers of DNS and LLMNR: `key->number` is an enum dns_names. */
bool dns_find_name(struct app_tx *tx, enum direction direction, const struct app_key *key,
                   unsigned index, struct slice *out);
/* Numbers of a message, for integer keywords. TYPES: of the questions in a request, of the answers
 * in a response. The others have one instance. */
enum dns_number { DNS_OPCODE_NUMBER, DNS_RCODE_NUMBER, DNS_TYPES };
bool dns_number_at(const struct dns_message *m, enum dns_number which, enum direction direction,
                   unsigned index, uint64_t *out);
extern const struct app_text_facts dns_query_facts;
/* One multi-buffer of names that the function `find_` finds. */
#define DNS_NAMES(symbol, name_, directions_, step, which, find_, doc_)                       \
    static const struct app_buffer symbol = {                                                 \
        .name = (name_), .doc = (doc_), .directions = (directions_),                          \
        .progress = { (step), (step) }, .multi = true,                                        \
        .find = (find_), .key.number = (which),                                               \
    }

/* The "dns" object of a message that came in something else; settings by dns_log_configure(), NULL:
 * all of it. */
struct dns_log_settings;
void *dns_log_configure(const struct conf_node *node, struct err *err);
bool dns_log_object(struct json *j, const struct dns_message *m, bool response,
                    const struct dns_log_settings *s);

extern const struct app_buffer *const dns_buffers[];
extern const struct app_integer *const dns_integers[];
extern const struct app_log *const dns_logs[];
void dns_alert_metadata(struct json *j, struct app_tx *tx);

#endif
