/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/telnet/telnet.c - Telnet (RFC 854, 855): frames, and nothing else.
 *
 * A message is an option command, or data up to the end of the line. The server's prompts for name
 * and password have no line end but a colon and a space, so the parser follows the login to know
 * when a prompt can come. */
#include "app/proto.h"

#include <string.h>

#define MESSAGE_MAX 8192                /* bytes; data without an end are cut here */

enum { IAC = 255, SB = 250, WILL = 251, DONT = 254, SE = 240 };     /* RFC 854 */
#define FRAME_LIST(E)         \
    E(FRAME_STREAM, "stream") \
    E(FRAME_PDU, "pdu")       \
    E(FRAME_CTL, "ctl")       \
    E(FRAME_DATA, "data")
enum telnet_frame { FRAME_LIST(APP_ENUM_ID) };

/* The progress of a login. START: the server's prompt for a name is next. NAME_REQUESTED,
 * PASSWORD_REQUESTED: the client's line is next. NAME_GIVEN: the prompt for a password is next.
 * PASSWORD_GIVEN: the server's decision is next. IN: logged in. REFUSED: a new prompt for a name is
 * next. */
enum telnet_step {
    STEP_START, STEP_NAME_REQUESTED, STEP_NAME_GIVEN, STEP_PASSWORD_REQUESTED, STEP_PASSWORD_GIVEN,
    STEP_IN, STEP_REFUSED,
};

/* Owned by the flow; arrays by direction. */
struct telnet_state {
    enum telnet_step step;
    uint32_t pdu[2], part[2];           /* identifiers of the frames of the current message */
    bool started[2];                    /* those frames exist */
    size_t searched[2];                 /* bytes of the current subnegotiation, without its end */
};

/* The port decides: any bytes are valid Telnet. */
static enum app_probe_result telnet_probe(struct bytes in, enum direction direction UNUSED,
                                          const struct flow *flow UNUSED)
{
    return bytes_have(&in, 2) ? APP_PROBE_YES : APP_PROBE_MORE;
}

static const struct app_probe probes[] = {
    { .transport = APP_TCP, .directions = APP_BOTH, .ports = "23", .min = 2, .max = 16,
      .probe = telnet_probe },
    { .probe = NULL },
};

/* --- messages --------------------------------------------------------------------------------- */

/* Skips the content of a subnegotiation up to IAC SE (RFC 855), which stays and is a message of its
 * own. IAC IAC is a byte of content. False: the end is not there yet; *searched bytes need not be
 * looked at again. Else a byte for each packet would cost what all bytes before it cost. */
static bool take_subnegotiation(struct bytes *in, size_t *searched)
{
    struct slice skipped;
    struct bytes look = *in;

    take_skip(&look, *searched);
    while (take_until(&look, IAC, &skipped)) {
        if (!bytes_have(&look, 1)) {
            *searched = bytes_left(in) - 1;     /* what follows says what this byte is */
            return false;
        }
        if (take_u8(&look) != SE)
            continue;
        take_skip(in, bytes_left(in) - bytes_left(&look) - 2); /* without the two bytes of IAC SE */
        return true;
    }
    *searched = bytes_left(in);
    return false;
}

/* Takes a command: two bytes, three with an option (WILL, WONT, DO, DONT), or a subnegotiation.
 * False, and nothing is taken, while it is incomplete. */
static bool take_command(struct bytes *in, size_t *searched)
{
    struct bytes look = *in;
    uint8_t command;

    take_u8(&look);
    command = take_u8(&look);
    if (command == SB && !take_subnegotiation(&look, searched))
        return false;
    if (command >= WILL && command <= DONT)
        take_u8(&look);
    if (look.failed)
        return false;
    *in = look;
    return true;
}

/* Up to and with ": "; `out` is the text before it. */
static bool take_prompt(struct bytes *in, struct slice *out)
{
    const uint8_t *hit = memmem(in->next, bytes_left(in), ": ", 2);

    if (hit == NULL)
        return false;
    *out = take_slice(in, (size_t)(hit - in->next));
    take_skip(in, 2);
    return true;
}

/* Only the server sends prompts, and only at these steps. At other times its output ends with
 * lines. */
static bool is_prompt_due(const struct telnet_state *s, enum direction d)
{
    return d == TO_CLIENT &&
           (s->step == STEP_START || s->step == STEP_NAME_GIVEN || s->step == STEP_REFUSED);
}

/* Data up to their end. Without an end in MESSAGE_MAX bytes these bytes are a message: a program
 * that never sends a line end must not fill the buffer. */
static bool take_data(const struct telnet_state *s, enum direction d, struct bytes *in,
                      struct slice *out)
{
    if (is_prompt_due(s, d) ? take_prompt(in, out) : take_line(in, out))
        return true;
    if (bytes_left(in) < MESSAGE_MAX)
        return false;
    *out = take_slice(in, MESSAGE_MAX);
    return true;
}

/* --- what it means ---------------------------------------------------------------------------- */

/* The client's line answers a prompt; at other steps it changes nothing. */
static void on_client_data(struct telnet_state *s)
{
    if (s->step == STEP_NAME_REQUESTED)
        s->step = STEP_NAME_GIVEN;
    else if (s->step == STEP_PASSWORD_REQUESTED)
        s->step = STEP_PASSWORD_GIVEN;
}

/* The server's data at a step where they mean something. Any text but "Login incorrect" after the
 * password means that the login succeeded; empty lines do not count. */
static void on_server_data(struct telnet_state *s, struct slice data)
{
    static const char refusal[] = "Login incorrect";

    if (s->step == STEP_START || s->step == STEP_REFUSED)
        s->step = STEP_NAME_REQUESTED;
    else if (s->step == STEP_NAME_GIVEN)
        s->step = STEP_PASSWORD_REQUESTED;
    else if (s->step == STEP_PASSWORD_GIVEN && data.len > 0)
        s->step = data.len == sizeof(refusal) - 1 && memcmp(data.data, refusal, data.len) == 0
                      ? STEP_REFUSED : STEP_IN;
}

/* --- the stream ------------------------------------------------------------------------------- */

/* Opens the frames of a message, once, although the parser sees an incomplete message again with
 * each segment. The first byte decides between a command and data. */
static void begin_message(struct app_flow *af, const struct app_input *input,
                          const struct bytes *in)
{
    struct telnet_state *s = af->state;
    enum direction d = input->direction;
    uint64_t offset = input->offset + (uint64_t)(in->next - input->data);

    if (s->started[d])
        return;
    s->started[d] = true;
    s->pdu[d] = app_frame(af, d, FRAME_PDU, offset, -1, APP_FRAME_NO_TX);
    s->part[d] = app_frame(af, d, peek_u8(in) == IAC ? FRAME_CTL : FRAME_DATA, offset, -1,
                           APP_FRAME_NO_TX);
}

/* Frames got the length -1 at their start. */
static void end_message(struct app_flow *af, enum direction d, size_t len)
{
    struct telnet_state *s = af->state;

    app_frame_set_length(af, d, s->pdu[d], (int64_t)len);
    app_frame_set_length(af, d, s->part[d], (int64_t)len);
    s->started[d] = false;
    s->searched[d] = 0;
}

/* False: the message is incomplete. Data move the login, commands do not. */
static bool take_message(struct app_flow *af, const struct app_input *input, struct bytes *in)
{
    struct telnet_state *s = af->state;
    size_t before = bytes_left(in);
    struct slice data = { 0 };

    begin_message(af, input, in);
    if (peek_u8(in) == IAC) {
        if (!take_command(in, &s->searched[input->direction]))
            return false;
    } else {
        if (!take_data(s, input->direction, in, &data))
            return false;
        if (input->direction == TO_SERVER)
            on_client_data(s);
        else
            on_server_data(s, data);
    }
    end_message(af, input->direction, before - bytes_left(in));
    return true;
}

/* After a gap the next byte begins a message: an incomplete one will not be completed. */
static enum parse_status telnet_parse(struct app_flow *af, struct app_input *input)
{
    struct telnet_state *s = af->state;
    struct bytes in = app_input_bytes(input);
    bool more = false;

    if (input->gap > 0) {
        s->started[input->direction] = false;
        s->searched[input->direction] = 0;
        return PARSE_OK;
    }
    while (!more && bytes_have(&in, 1))
        more = !take_message(af, input, &in);
    input->consumed = (uint32_t)(input->len - bytes_left(&in));
    return more ? PARSE_MORE : PARSE_OK;
}

static const char *const frames[] = { FRAME_LIST(APP_ENUM_TEXT) NULL };

const struct app_proto app_telnet = {
    .id = APP_PROTO_telnet,
    .name = "telnet",
    .transports = APP_TCP,
    .probes = probes,
    .state_size = sizeof(struct telnet_state),
    .tx_size = sizeof(struct app_tx),
    .parse = telnet_parse,
    .handles_gaps = true,
    .progress_done = { 1, 1 },
    .frames = frames,
};
