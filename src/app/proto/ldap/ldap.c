/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ldap/ldap.c - LDAP over TCP and UDP: recognition, messages, requests and responses. */
#include "app/proto/ldap/ldap.h"

#include "app/lib/log_text.h"
#include "app/proto.h"
#include "base/text/utf8.h"

#define STARTTLS "1.3.6.1.4.1.1466.20037"

struct ldap_settings {
    uint32_t max_responses;
};

struct ldap_state {
    bool starttls_requested, starttls_granted;
    bool gap[2];
    bool in_frame[2];
    uint32_t frame[2];
};

enum { FRAME_STREAM, FRAME_PDU };

static int configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                     void *settings, struct err *err UNUSED)
{
    struct ldap_settings *s = settings;

    s->max_responses = (uint32_t)conf_u64_range(node, "max-responses", 1024, 1, UINT32_MAX);
    return 0;
}

/* --- messages --------------------------------------------------------------------------------- */

static bool message_parse(struct slice input, struct ldap_message *out)
{
    struct bytes in = bytes_of_slice(input), body = der_enter(&in, DER_SEQUENCE);
    struct slice id = { 0 };
    struct der op = { 0 };

    *out = (struct ldap_message){ 0 };
    if (!der_take_tag(&body, DER_INTEGER, &id) || !der_take(&body, &op) ||
        !der_uint(id, &out->id))
        return false;
    out->op = op.tag & 0x1f;
    out->body = op.content;
    if ((op.tag & 0xc0) != DER_APPLICATION || ldap_name(ldap_operations, out->op) == NULL)
        return false;
    if (der_peek(&body) == DER_CONTEXT_CONSTRUCTED)
        der_take_tag(&body, DER_CONTEXT_CONSTRUCTED, &out->controls);
    return !body.failed;
}

/* A name and a password, or SASL (RFC 4511, 4.2): with anything else in a bind it is not LDAP as we
 * know it. Names are text. */
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

/* The first bytes tell: a sequence, a number, an operation of a known kind. */
static enum app_probe_result probe(struct bytes in, enum direction direction,
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

static void complete(struct ldap_tx *t)
{
    t->tx.progress[TO_SERVER] = t->tx.progress[TO_CLIENT] = 1;
}

static bool requests_starttls(const struct ldap_message *m)
{
    struct bytes in = bytes_of_slice(m->body);
    struct slice name;

    return m->op == LDAP_EXTENDED_REQUEST && der_take_tag(&in, DER_CONTEXT, &name) &&
           slice_is(name, STARTTLS);
}

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
    if (m->op == LDAP_UNBIND_REQUEST || m->op == LDAP_ABANDON_REQUEST)
        complete(t);
    return t;
}

static struct ldap_tx *find_request(struct app_flow *af, uint64_t id)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next) {
        struct ldap_tx *t = ldap_tx_of(tx);

        if (t->request != NULL && t->request->id == id)
            return t;
    }
    return NULL;
}

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

static void note_starttls(struct ldap_state *st, const struct ldap_message *m)
{
    struct ldap_result result;
    struct bytes in;

    if (!st->starttls_requested || m->op != LDAP_EXTENDED_RESPONSE)
        return;
    st->starttls_requested = false;
    st->starttls_granted |= ldap_take_result(m, &in, &result) && result.code == 0;
}

/* An extended response may come unasked (RFC 4511, 4.4); all others answer something. */
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

static enum parse_status refuse(struct app_flow *af, unsigned event)
{
    if (af->last != NULL)
        app_tx_event(af->last, event);
    return PARSE_STOP;
}

static void open_frame(struct app_flow *af, const struct app_input *in)
{
    struct ldap_state *st = af->state;

    if (st->in_frame[in->direction] && !in->is_udp)
        return;
    st->in_frame[in->direction] = true;
    st->frame[in->direction] = app_frame(af, in->direction, FRAME_PDU, in->offset, -1,
                                         APP_FRAME_NO_TX);
}

static enum parse_status take_message(struct app_flow *af, struct app_input *in)
{
    struct ldap_state *st = af->state;
    struct ldap_message m;
    struct ldap_tx *t;
    uint64_t size = 0;
    enum der_framing framing = der_frame(app_input_bytes(in), &size);

    in->consumed = 0;
    if (framing == DER_FRAME_BAD || in->data[0] != DER_SEQUENCE)
        return refuse(af, LDAP_INVALID_DATA);
    if (framing == DER_FRAME_MORE || size > in->len) {
        in->need = framing == DER_FRAME_MORE ? 0 : (uint32_t)MIN(size, UINT32_MAX);
        return in->is_udp ? refuse(af, LDAP_INCOMPLETE_DATA) : PARSE_MORE;
    }
    if (!message_parse((struct slice){ in->data, (uint32_t)size }, &m))
        return refuse(af, LDAP_INVALID_DATA);
    in->consumed = (uint32_t)size;
    t = in->direction == TO_SERVER ? add_request(af, &m) : add_response(af, &m);
    if (t == NULL)
        return PARSE_STOP;
    st->in_frame[in->direction] = false;
    app_frame_set_length(af, in->direction, st->frame[in->direction], (int64_t)size);
    /* Frames count transactions from 1, as readers of these records expect. */
    app_frame_set_tx(af, in->direction, st->frame[in->direction], t->tx.id + 1);
    return PARSE_OK;
}

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
    /* TLS begins with what the client sends next, not with the server's consent. */
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
    .raw_on_tx_end = true,
    .inspect_both_dirs = true,
    .transports = APP_TCP | APP_UDP,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "389,3268", .max = 16,
          .probe = probe },
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "389,3268", .max = 16,
          .probe = probe },
        { .probe = NULL } },
    .settings_size = sizeof(struct ldap_settings),
    .configure = configure,
    .state_size = sizeof(struct ldap_state),
    .tx_size = sizeof(struct ldap_tx),
    .too_many_tx_event = LDAP_TOO_MANY_TRANSACTIONS,
    .parse = ldap_parse,
    .handles_gaps = true,
    .buffer_limit = 1u << 20,
    .progress_done = { 1, 1 },
    .events = events,
    .frames = (const char *const[]){ "stream", "pdu", NULL },
    .buffers = ldap_buffers,
    .integers = ldap_integers,
    .logs = ldap_logs,
    .alert_metadata = ldap_alert_metadata,
};
