/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/pgsql/message.c - one message: a letter, a length that counts itself, a body. The first
 * message of a client has no letter.
 *
 * The source is PostgreSQL's manual, chapter "Frontend/Backend Protocol", section "Message
 * Formats". All numbers are big-endian. Functions return MORE with *size 0 while the header is
 * incomplete. */
#include "app/proto/pgsql/pgsql.h"

#include "app/lib/log_text.h"

/* Major "version" of an SSLRequest and a CancelRequest, which the manual gives as one number:
 * 80877103 and 80877102. */
#define SPECIAL_MAJOR 1234
#define MINOR_CANCEL  5678
#define MINOR_SSL     5679

/* An empty name ends the list: a startup message has a last zero byte. A string without its zero
 * byte ends it too, and then leaves the cursor as it was. */
bool pgsql_take_pair(struct bytes *in, struct slice *name, struct slice *value)
{
    struct bytes b = *in;

    if (!take_until(&b, 0, name) || name->len == 0 || !take_until(&b, 0, value))
        return false;
    *in = b;
    return true;
}

/* --- requests --------------------------------------------------------------------------------- */

/* StartupMessage, SSLRequest and CancelRequest differ only in the value at the position of the
 * version. Versions 1 to 3 have been in use. A startup message must name a user and end with a zero
 * byte. PostgreSQL's manual calls all other parameters optional. */
static enum pgsql_result startup(struct bytes in, struct pgsql_message *m)
{
    uint16_t major = take_be16(&in), minor = take_be16(&in);
    struct slice name, value;
    bool user = false;

    m->a = major;
    m->b = minor;
    if (major == SPECIAL_MAJOR && minor == MINOR_SSL) {     /* no body */
        m->kind = PGSQL_SSL_REQUEST;
        return PGSQL_OK;
    }
    if (major == SPECIAL_MAJOR && minor == MINOR_CANCEL) {
        m->kind = PGSQL_CANCEL;
        m->a = take_be32(&in);
        m->b = take_be32(&in);
        return in.failed ? PGSQL_BAD : PGSQL_OK;
    }
    if (major < 1 || major > 3)
        return PGSQL_BAD_TYPE;
    m->kind = PGSQL_STARTUP;
    m->text = (struct slice){ in.next, (uint32_t)bytes_left(&in) };
    while (pgsql_take_pair(&in, &name, &value))
        user |= slice_is(name, "user") && value.len > 0;
    return user && bytes_have(&in, 1) && peek_u8(&in) == 0 ? PGSQL_OK : PGSQL_BAD;
}

/* The untyped first message: length, which counts itself, and body. A length below 8 has no room
 * for the version. */
static enum pgsql_result startup_packet(struct bytes in, struct pgsql_message *m, uint32_t *size)
{
    uint32_t length = take_be32(&in);

    if (in.failed)
        return PGSQL_MORE;
    if (length < 8)
        return PGSQL_BAD_LENGTH;
    *size = length;
    if (!bytes_have(&in, length - 4))
        return PGSQL_MORE;
    return startup(take_sub(&in, length - 4), m);
}

/* SASLInitialResponse: the mechanism, then a length and the client's first message. Other
 * mechanisms than the two of PostgreSQL make the message bad; so do bytes behind the end. */
static enum pgsql_result sasl_initial(struct bytes in, struct pgsql_message *m)
{
    struct slice mechanism;

    if (!take_until(&in, 0, &mechanism))
        return PGSQL_BAD;
    m->b = slice_is(mechanism, "SCRAM-SHA-256-PLUS");   /* `b`: with channel binding */
    if (!m->b && !slice_is(mechanism, "SCRAM-SHA-256"))
        return PGSQL_BAD;
    m->text = take_slice(&in, take_be32(&in));  /* -1, no response, is longer than any body */
    return in.failed || bytes_left(&in) > 0 ? PGSQL_BAD : PGSQL_OK;
}

/* A string with its zero byte; bytes behind it are ignored. `min` is the least length without the
 * zero. */
static enum pgsql_result string(struct bytes in, uint32_t min, struct pgsql_message *m)
{
    return take_until(&in, 0, &m->text) && m->text.len >= min ? PGSQL_OK : PGSQL_BAD;
}

/* Messages of the extended query protocol (Parse, Bind, Execute, ...) and function calls are
 * NOTHING: skipped by their length. */
static enum pgsql_kind request_kind(uint8_t letter, enum pgsql_kind p_is)
{
    switch (letter) {
    case 'p': return p_is;
    case 'Q': return PGSQL_QUERY;
    case 'X': return PGSQL_TERMINATE;
    case 'd': return PGSQL_COPY_DATA;
    case 'c': return PGSQL_COPY_DONE;
    case 'f': return PGSQL_COPY_FAIL;
    default:  return PGSQL_NOTHING;
    }
}

/* Around each message but the first. */
struct frame {
    uint8_t letter;
    uint32_t size;              /* of the message on the wire; 0: not known yet */
    struct bytes body;          /* set only when all of it is there */
};

/* Both limits are for the length field, which counts its own 4 bytes. The size must fit in 32 bits,
 * which excludes UINT32_MAX. */
static enum pgsql_result take_frame(struct bytes in, uint32_t min, uint32_t max, struct frame *out)
{
    uint32_t length;

    *out = (struct frame){ .letter = take_u8(&in) };
    length = take_be32(&in);
    if (in.failed)
        return PGSQL_MORE;
    if (length < min || length > max || length == UINT32_MAX)
        return PGSQL_BAD_LENGTH;
    out->size = 1 + length;
    if (!bytes_have(&in, length - 4))
        return PGSQL_MORE;
    out->body = take_sub(&in, length - 4);
    return PGSQL_OK;
}

/* A startup message begins with a zero byte, because its length is below 16 MiB; no letter is zero.
 * `p_is` resolves the letter 'p', which four kinds of authentication message share. */
enum pgsql_result pgsql_request(struct bytes in, enum pgsql_kind p_is, struct pgsql_message *m,
                                uint32_t *size)
{
    uint8_t letter = peek_u8(&in);
    bool bare = letter == 'X' || letter == 'c';     /* Terminate and CopyDone have no body */
    enum pgsql_result result;
    struct bytes body;
    struct frame f;

    *m = (struct pgsql_message){ 0 };
    *size = 0;
    if (bytes_left(&in) > 0 && letter == 0)
        return startup_packet(in, m, size);
    result = take_frame(in, 4, bare ? 4 : UINT32_MAX, &f);
    *size = f.size;
    if (result != PGSQL_OK)
        return result;
    body = f.body;
    m->kind = request_kind(f.letter, p_is);
    switch (m->kind) {
    case PGSQL_PASSWORD:
    case PGSQL_QUERY:
        return string(body, 1, m);
    case PGSQL_SASL_INITIAL:
        return sasl_initial(body, m);
    case PGSQL_SASL_RESPONSE:
    case PGSQL_COPY_FAIL:
        m->text = take_rest(&body);
        return PGSQL_OK;
    case PGSQL_COPY_DATA:
        m->size = bytes_left(&body);
        return PGSQL_OK;
    default:
        return PGSQL_OK;
    }
}

/* --- responses -------------------------------------------------------------------------------- */

/* The first 32 bits tell the method. Kerberos, GSSAPI and SCM credentials (2, 6, 7, 8) are not
 * supported and cause an event. */
static enum pgsql_result authentication(struct bytes in, struct pgsql_message *m)
{
    switch (take_be32(&in)) {
    case 0:  m->kind = PGSQL_AUTH_OK; break;
    case 3:  m->kind = PGSQL_AUTH_CLEARTEXT; break;
    case 5:  m->kind = PGSQL_AUTH_MD5; break;
    case 9:  m->kind = PGSQL_AUTH_SSPI; break;
    case 10: m->kind = PGSQL_AUTH_SASL; break;
    case 11: m->kind = PGSQL_AUTH_SASL_CONTINUE; break;
    case 12: m->kind = PGSQL_AUTH_SASL_FINAL; break;
    default: return PGSQL_BAD_TYPE;
    }
    m->text = take_rest(&in);
    /* An MD5 salt has exactly 4 bytes. */
    return m->kind == PGSQL_AUTH_MD5 && m->text.len != 4 ? PGSQL_BAD : PGSQL_OK;
}

/* Bytes of all columns of a DataRow. A length beyond the body ends the walk: the frame is the only
 * reliable boundary. */
static uint64_t row_size(struct bytes in)
{
    uint64_t sum = 0;

    for (unsigned columns = take_be16(&in); columns > 0 && !in.failed; columns--) {
        uint32_t len = take_be32(&in);

        if (len > INT32_MAX)            /* -1: NULL, which has no bytes */
            continue;
        take_skip(&in, len);
        sum += len;
    }
    return sum;
}

/* The fields of an ErrorResponse: a type and a string each, and a zero byte behind the last one. */
static bool are_error_fields(struct bytes in)
{
    struct slice value;

    while (peek_u8(&in) != 0) {
        take_skip(&in, 1);
        if (!take_until(&in, 0, &value))
            return false;
    }
    return bytes_have(&in, 1);
}

/* Limits of the length field by type, its own 4 bytes included. They stop the parser early when it
 * reads something that is not PostgreSQL. */
static void response_lengths(uint8_t letter, uint32_t *min, uint32_t *max)
{
    *min = 4;
    *max = UINT32_MAX;
    switch (letter) {
    case 'K': *min = *max = 12; break;  /* process and key */
    case 'Z': *min = *max = 5; break;   /* one byte of status */
    case 'c': *max = 4; break;
    case 'R': case 'H': case 'G': *min = 8; break;  /* a 32-bit method; a format and columns */
    case 'T': *min = 7; break;
    default: break;
    }
}

/* Fills `m` from a complete body. BAD drops this message only: the frame gives the next
 * boundary. */
static enum pgsql_result response_body(uint8_t letter, struct bytes in, struct pgsql_message *m)
{
    struct slice name, value;

    switch (letter) {
    case 'R':
        return authentication(in, m);
    case 'E':
        m->kind = PGSQL_ERROR;
        m->text = (struct slice){ in.next, (uint32_t)bytes_left(&in) };
        return are_error_fields(in) ? PGSQL_OK : PGSQL_BAD;
    case 'K':
        m->kind = PGSQL_BACKEND_KEY;
        m->a = take_be32(&in);
        m->b = take_be32(&in);
        return PGSQL_OK;
    case 'S':
        m->kind = PGSQL_PARAMETER;
        m->text = (struct slice){ in.next, (uint32_t)bytes_left(&in) };
        return pgsql_take_pair(&in, &name, &value) ? PGSQL_OK : PGSQL_BAD;
    case 'C':
        m->kind = PGSQL_COMPLETE;
        return string(in, 0, m);
    case 'c':
        m->kind = PGSQL_COPY_DONE;
        return PGSQL_OK;
    case 'Z':
        m->kind = PGSQL_READY;
        /* Idle, in a transaction, in a failed transaction. */
        return memchr("ITE", take_u8(&in), 3) != NULL ? PGSQL_OK : PGSQL_BAD;
    case 'T':
        m->kind = PGSQL_ROW_DESCRIPTION;
        m->a = take_be16(&in);
        return PGSQL_OK;
    case 'D':
        m->kind = PGSQL_DATA_ROW;
        m->size = row_size(in);
        return PGSQL_OK;
    case 'd':
        m->kind = PGSQL_COPY_DATA;
        m->size = bytes_left(&in);
        return PGSQL_OK;
    case 'H':
    case 'G':
        m->kind = letter == 'H' ? PGSQL_COPY_OUT : PGSQL_COPY_IN;
        take_skip(&in, 1);  /* format: text or binary */
        m->a = take_be16(&in);
        return in.failed ? PGSQL_BAD : PGSQL_OK;
    default:
        return PGSQL_OK;                /* notices, notifications, types of later versions */
    }
}

/* The letter decides which lengths are possible before the body is waited for. */
enum pgsql_result pgsql_response(struct bytes in, struct pgsql_message *m, uint32_t *size)
{
    enum pgsql_result result;
    uint32_t min, max;
    struct frame f;

    *m = (struct pgsql_message){ 0 };
    response_lengths(peek_u8(&in), &min, &max);
    result = take_frame(in, min, max, &f);
    *size = f.size;
    return result == PGSQL_OK ? response_body(f.letter, f.body, m) : result;
}
