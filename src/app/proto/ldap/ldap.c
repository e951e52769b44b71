/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ldap/ldap.c - LDAP over TCP and UDP: protocol detection, messages, requests and
 * responses. */
#include "app/proto/ldap/ldap.h"

#include "app/lib/log_text.h"
#include "app/proto.h"
#include "base/text/utf8.h"

#define STARTTLS "1.3.6.1.4.1.1466.20037"   /* RFC 4511 section 4.14.1 */

/* From the configuration, read only while the engine runs. */
struct ldap_settings {
    uint32_t max_responses;     /* for one transaction; a search may return any number of entries */
};

/* Owned by the flow; arrays are indexed by direction. */
struct ldap_state {
    bool starttls_requested, starttls_granted;  /* the flow goes to TLS after a granted request */
    bool gap[2]; /* bytes were lost; look for a message at the next segment's start */
    bool in_frame[2]; /* the frame of an incomplete message is already there */
    uint32_t frame[2];                          /* identifier of that frame */
    bool odd_bind_told;         /* LDAP_INVALID_DATA of a bind, once in a flow */
};

#define FRAME_LIST(E)         \
    E(FRAME_STREAM, "stream") \
    E(FRAME_PDU, "pdu")
enum { FRAME_LIST(APP_ENUM_ID) };

/* 1024 responses unless configured: then the transaction keeps no more of them. */
static int ldap_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                          void *settings, struct err *err UNUSED)
{
    struct ldap_settings *s = settings;

    s->max_responses = (uint32_t)conf_u64_range(node, "max-responses", 1024, 1, UINT32_MAX);
    return 0;
}

/* --- messages --------------------------------------------------------------------------------- */

/* LDAPMessage (RFC 4511 section 4.1.1): messageID, protocolOp, controls [0] OPTIONAL. `out` points
 * into the input. False for operations that the RFC does not have, and for negative identifiers. */
static bool message_parse(struct slice input, struct ldap_message *out)
{
    struct bytes in = bytes_of_slice(input), body = der_enter(&in, DER_SEQUENCE);
    struct slice id = { 0 };
    struct der op = { 0 };

    *out = (struct ldap_message){ 0 };
    if (!der_take_tag(&body, DER_INTEGER, &id) || !der_take(&body, &op) ||
        !der_uint(id, &out->id))
        return false;
    out->op = op.tag & 0x1f;    /* the operation is the number of the APPLICATION tag */
    out->body = op.content;
    if ((op.tag & 0xc0) != DER_APPLICATION || ldap_name(ldap_operations, out->op) == NULL)
        return false;
    if (der_peek(&body) == DER_CONTEXT_CONSTRUCTED)     /* 0xa0: controls [0] */
        der_take_tag(&body, DER_CONTEXT_CONSTRUCTED, &out->controls);
    return !body.failed;
}

/* Stricter than the parser: for detection, where a false match would hide another protocol, and for
 * the event of a bind that RFC 4511 does not have. A bind request has a version, a name and either
 * a password, [0], or SASL credentials, [3] (section 4.2). A bind response has a result code and a
 * DN, which must be UTF-8. */
static bool is_plausible(const struct ldap_message *m)
{
    struct bytes in = bytes_of_slice(m->body);
    struct slice version, name;

    if (m->op == LDAP_BIND_RESPONSE)
        return der_take_tag(&in, DER_ENUMERATED, &version) &&
               der_take_tag(&in, DER_OCTET_STRING, &name) && utf8_is_valid(name);
    if (m->op != LDAP_BIND_REQUEST)
        return true;
    return der_take_tag(&in, DER_INTEGER, &version) &&
           der_take_tag(&in, DER_OCTET_STRING, &name) &&
           (der_peek(&in) == DER_CONTEXT || der_peek(&in) == DER_CONTEXT_CONSTRUCTED + 3);
}

/* The side that sends an operation shows the direction in protocol detection. */
static bool is_request(uint8_t op)
{
    switch ((enum ldap_op)op) {
    case LDAP_BIND_REQUEST: case LDAP_UNBIND_REQUEST: case LDAP_SEARCH_REQUEST:
    case LDAP_MODIFY_REQUEST: case LDAP_ADD_REQUEST: case LDAP_DEL_REQUEST:
    case LDAP_MOD_DN_REQUEST: case LDAP_COMPARE_REQUEST: case LDAP_ABANDON_REQUEST:
    case LDAP_EXTENDED_REQUEST:
        return true;
    default:
        return false;
    }
}

/* Needs a complete first message; the engine calls again with more bytes until then. A message that
 * goes against the assumed direction shows that detection began in the middle of a flow, or that
 * the server spoke first: YES_REVERSED exchanges client and server. */
static enum app_probe_result ldap_probe(struct bytes in, enum direction direction,
                                        const struct flow *flow UNUSED)
{
    struct ldap_message m;
    uint64_t size;

    switch (der_frame(in, &size)) {
    case DER_FRAME_MORE: return APP_PROBE_MORE;
    case DER_FRAME_BAD:  return APP_PROBE_NO;
    case DER_FRAME_OK:   break;
    }
    if (peek_u8(&in) != DER_SEQUENCE)
        return APP_PROBE_NO;
    if (size > bytes_left(&in))
        return APP_PROBE_MORE;
    if (!message_parse(take_slice(&in, size), &m) || !is_plausible(&m))
        return APP_PROBE_NO;
    return is_request(m.op) == (direction == TO_SERVER) ? APP_PROBE_YES : APP_PROBE_YES_REVERSED;
}

/* --- transactions ----------------------------------------------------------------------------- */

/* Copies a message to the transaction's arena, where getters and logs read it later. */
static struct ldap_message *keep(struct ldap_tx *t, const struct ldap_message *m)
{
    struct ldap_message *copy = arena_copy(&t->tx.arena, m, sizeof(*m));

    if (copy == NULL)
        return NULL;
    copy->next = NULL;
    copy->body = app_text_copy(&t->tx.arena, m->body);
    copy->controls = app_text_copy(&t->tx.arena, m->controls);
    return copy;
}

/* Both sides end together: a transaction is complete with its last response. */
static void complete(struct ldap_tx *t)
{
    t->tx.progress[TO_SERVER] = t->tx.progress[TO_CLIENT] = 1;
}

/* requestName [0] of an extended request (RFC 4511 section 4.12) is StartTLS. */
static bool requests_starttls(const struct ldap_message *m)
{
    struct bytes in = bytes_of_slice(m->body);
    struct slice name;

    return m->op == LDAP_EXTENDED_REQUEST && der_take_tag(&in, DER_CONTEXT, &name) &&
           slice_is(name, STARTTLS);
}

/* NULL: the flow has too many transactions; the caller stops. An unbind and an abandon request have
 * no response (RFC 4511 sections 4.3 and 4.11), so they are complete at once. */
static struct ldap_tx *add_request(struct app_flow *af, const struct ldap_message *m)
{
    struct ldap_state *st = af->state;
    struct ldap_tx *t = (struct ldap_tx *)app_tx_new(af);

    if (t == NULL)
        return NULL;
    st->starttls_requested |= requests_starttls(m);
    t->request = keep(t, m);
    if (t->request == NULL)
        return NULL;
    app_tx_key(&t->tx, m->id);
    if (m->op == LDAP_UNBIND_REQUEST || m->op == LDAP_ABANDON_REQUEST)
        complete(t);
    return t;
}

/* The oldest transaction with this message identifier. Identifiers are unique only among requests
 * that are still open (RFC 4511 section 4.1.1.1); finished transactions are soon removed. */
static struct ldap_tx *find_request(struct app_flow *af, uint64_t id)
{
    struct app_tx *tx = app_tx_by_key(af, id);

    return tx != NULL ? ldap_tx_of(tx) : NULL;
}

/* A response beyond the limit is dropped with an event, so that a server, or an attacker who plays
 * one, cannot make a transaction grow without end. */
static void append_response(struct app_flow *af, struct ldap_tx *t, const struct ldap_message *m)
{
    const struct ldap_settings *s = af->settings;
    struct ldap_message *copy;

    if (t->response_count >= s->max_responses) {
        app_tx_event(&t->tx, LDAP_TOO_MANY_RESPONSES);
        return;
    }
    copy = keep(t, m);
    if (copy == NULL)
        return;
    if (t->last != NULL)
        t->last->next = copy;
    else
        t->responses = copy;
    t->last = copy;
    t->response_count++;
}

/* The response to StartTLS is found by its operation only: the first extended response after the
 * request. A result other than success, 0, leaves the flow as LDAP. */
static void note_starttls(struct ldap_state *st, const struct ldap_message *m)
{
    struct ldap_result result;
    struct bytes in;

    if (!st->starttls_requested || m->op != LDAP_EXTENDED_RESPONSE)
        return;
    st->starttls_requested = false;
    st->starttls_granted |= ldap_take_result(m, &in, &result) && result.code == 0;
}

/* A response with a result ends the transaction; search entries, references and intermediate
 * responses do not (RFC 4511 sections 4.5.2 and 4.13). Without a request the response becomes a
 * transaction of its own. That is an anomaly, unless it is an extended response: servers send
 * notices of disconnection without a request (RFC 4511 section 4.4). */
static struct ldap_tx *add_response(struct app_flow *af, const struct ldap_message *m)
{
    struct ldap_tx *t = find_request(af, m->id);
    struct ldap_result result;
    struct bytes in;

    if (t != NULL) {
        append_response(af, t, m);
        if (ldap_take_result(m, &in, &result))
            complete(t);
    } else {
        t = (struct ldap_tx *)app_tx_new(af);
        if (t == NULL)
            return NULL;
        append_response(af, t, m);
        if (m->op != LDAP_EXTENDED_RESPONSE)
            app_tx_event(&t->tx, LDAP_REQUEST_NOT_FOUND);
        complete(t);
    }
    note_starttls(af->state, m);
    return t;
}

/* --- parsing ---------------------------------------------------------------------------------- */

/* Ends the parser with an event on the last transaction. Without a transaction there is no place
 * for the event and it is lost. */
static enum parse_status refuse(struct app_flow *af, unsigned event)
{
    if (af->last != NULL)
        app_tx_event(af->last, event);
    return PARSE_STOP;
}

/* NTLM binds of Windows have choices of their own, and their responses a DN of bytes. Suricata's
 * parser ends at the first one, with this event of the transaction before, if there still is one.
 * Here the flow is followed, and the event told once. */
static void check_bind(struct app_flow *af, struct ldap_tx *t, const struct ldap_message *m)
{
    struct app_tx *before = m->op == LDAP_BIND_REQUEST ? t->tx.prev : NULL;
    struct ldap_state *st = af->state;

    if (st->odd_bind_told || is_plausible(m))
        return;
    st->odd_bind_told = true;
    app_tx_event(before != NULL ? before : &t->tx, LDAP_INVALID_DATA);
}

/* Opens a frame at the first byte of a message, once: the parser sees an incomplete message again
 * with each segment. The length is not known yet, -1; over UDP nothing is continued, so each call
 * opens one. */
static void open_frame(struct app_flow *af, const struct app_input *in)
{
    struct ldap_state *st = af->state;

    if (st->in_frame[in->direction] && !in->is_udp)
        return;
    st->in_frame[in->direction] = true;
    st->frame[in->direction] = app_frame(af, in->direction, FRAME_PDU, in->offset, -1,
                                         APP_FRAME_NO_TX);
}

/* Takes one message from the front of the input. An incomplete one waits for more bytes over TCP;
 * over UDP no more can come. The limit for the wait is `buffer_limit` of the declaration. */
static enum parse_status take_message(struct app_flow *af, struct app_input *in)
{
    struct ldap_state *st = af->state;
    struct ldap_message m;
    struct ldap_tx *t;
    uint64_t size = 0;
    enum der_framing framing = der_frame(app_input_bytes(in), &size);

    in->consumed = 0;
    /* No later boundary is known. */
    if (framing == DER_FRAME_BAD || in->data[0] != DER_SEQUENCE)
        return refuse(af, LDAP_INVALID_DATA);
    if (framing == DER_FRAME_MORE || size > in->len) {
        /* 0: any number of further bytes. */
        in->need = framing == DER_FRAME_MORE ? 0 : (uint32_t)MIN(size, UINT32_MAX);
        return in->is_udp ? refuse(af, LDAP_INCOMPLETE_DATA) : PARSE_MORE;
    }
    if (!message_parse((struct slice){ in->data, (uint32_t)size }, &m))
        return refuse(af, LDAP_INVALID_DATA);
    in->consumed = (uint32_t)size;
    t = in->direction == TO_SERVER ? add_request(af, &m) : add_response(af, &m);
    if (t == NULL)
        return PARSE_STOP;
    check_bind(af, t, &m);
    st->in_frame[in->direction] = false;
    app_frame_set_length(af, in->direction, st->frame[in->direction], (int64_t)size);
    /* Frames number transactions from 1, because existing readers of these records expect it. */
    app_frame_set_tx(af, in->direction, st->frame[in->direction], t->tx.id + 1);
    return PARSE_OK;
}

/* Called with one direction's bytes in order. After a gap only the start of a segment can be the
 * start of a message; a segment that does not parse as one ends the parser. */
static enum parse_status ldap_parse(struct app_flow *af, struct app_input *in)
{
    struct ldap_state *st = af->state;
    struct ldap_message m;

    if (in->gap > 0) {
        st->gap[in->direction] = true;
        st->in_frame[in->direction] = false;
        return PARSE_OK;
    }
    if (in->len == 0)
        return PARSE_OK;
    /* TLS begins with the next bytes of the client: the server's consent itself is still LDAP. */
    if (st->starttls_granted && in->direction == TO_SERVER) {
        app_change_protocol(af, APP_PROTO_tls, 0);
        return PARSE_OK;
    }
    if (st->gap[in->direction] &&
        !message_parse((struct slice){ in->data, in->len }, &m))
        return PARSE_STOP;
    st->gap[in->direction] = false;
    open_frame(af, in);
    return take_message(af, in);
}

static const struct app_name events[] = { LDAP_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

const struct app_proto app_ldap = {
    .id = APP_PROTO_ldap,
    .name = "ldap",
    .raw_on_tx_end = true,  /* match raw payload once more at the end of each transaction */
    .inspect_both_dirs = true,
    .transports = APP_TCP | APP_UDP,
    .probes = (const struct app_probe[]){
        /* 389: LDAP. 3268: the global catalog of Active Directory. */
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "389,3268", .max = 16,
          .probe = ldap_probe },
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "389,3268", .max = 16,
          .probe = ldap_probe },
        { .probe = NULL } },
    .settings_size = sizeof(struct ldap_settings),
    .configure = ldap_configure,
    .state_size = sizeof(struct ldap_state),
    .tx_size = sizeof(struct ldap_tx),
    .too_many_tx_event = LDAP_TOO_MANY_TRANSACTIONS,
    .marks_tx = true,
    .parse = ldap_parse,
    .handles_gaps = true,
    .buffer_limit = 1u << 20,   /* bytes; the largest message that the parser waits for */
    .progress_done = { 1, 1 },
    .events = events,
    .frames = (const char *const[]){ FRAME_LIST(APP_ENUM_TEXT) NULL },
    .buffers = ldap_buffers,
    .integers = ldap_integers,
    .logs = ldap_logs,
    .alert_metadata = ldap_alert_metadata,
};
