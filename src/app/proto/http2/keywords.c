/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/keywords.c - http2.* keywords for frames. */
#include "app/proto/http2/buffers.h"
#include "app/proto/http2/frame.h"
#include "app/proto/http2/tx.h"
#include "app/values.h"
#include "base/text/text.h"

#include <string.h>

#define FEW 16u                 /* notes that a rule compares each time */

/* --- numbers ---------------------------------------------------------------------------------- */

/* The types that occurred, each once, in ascending order. Their order of arrival is not retained,
 * so rules cannot name one by its position. */
static bool get_frametype(struct app_tx *tx, enum direction d, unsigned index, uint64_t *out)
{
    const struct h2_dir *ds = &h2_tx_of(tx)->ds[d];

    for (unsigned type = 0; type < 256; type++) {
        if ((ds->types[type / 64] >> type % 64 & 1) == 0 || index-- > 0)
            continue;
        *out = type;
        return true;
    }
    return false;
}

static bool is_of_kinds(const void *item, const void *key)
{
    const struct h2_note *n = item;

    return (((const struct app_key *)key)->number & 1u << n->kind) != 0;
}

/* The `index`-th note of the kinds in `key->number`. */
static bool find_note(struct app_tx *tx, enum direction d, const struct app_key *key,
                      unsigned index, uint64_t *out)
{
    const struct app_values values = {
        .first = h2_tx_of(tx)->ds[d].first_note, .next = offsetof(struct h2_note, next),
        .fits = is_of_kinds, .arg = key,
    };
    const struct h2_note *n = app_value_at(tx, &values, index);

    if (n == NULL)
        return false;
    *out = n->value;
    return true;
}
#define NOTES(kinds) .multi = true, .lasts = true, .find = find_note, .key.number = (kinds)

/* HPACK size updates are kept in the list of headers, where they occurred. */
static bool get_size_update(struct app_tx *tx, enum direction d, unsigned index, uint64_t *out)
{
    static const char keyword;
    const struct h2_dir *ds = &h2_tx_of(tx)->ds[d];
    struct app_place *place = app_place_of(tx, ds, &keyword, index);
    const struct h2_header *h;

    while (place->item == NULL || place->index < index) {
        if (place->at == ds->header_count) {
            app_place_keep(tx, place);
            return false;
        }
        h = &ds->header[place->at++];
        if (h->kind != H2_TABLE_SIZE)
            continue;
        place->index += place->item != NULL;
        place->item = h;
    }
    h = place->item;
    *out = h->table_size;
    return true;
}

static const struct app_name frame_names[] = { H2_TYPE_LIST(APP_ENUM_ROW) { NULL, 0 } };

/* RFC 9113 section 7 */
static const struct app_name error_names[] = {
    { "NO_ERROR", 0 }, { "PROTOCOL_ERROR", 1 }, { "INTERNAL_ERROR", 2 },
    { "FLOW_CONTROL_ERROR", 3 }, { "SETTINGS_TIMEOUT", 4 }, { "STREAM_CLOSED", 5 },
    { "FRAME_SIZE_ERROR", 6 }, { "REFUSED_STREAM", 7 }, { "CANCEL", 8 },
    { "COMPRESSION_ERROR", 9 }, { "CONNECT_ERROR", 10 }, { "ENHANCE_YOUR_CALM", 11 },
    { "INADEQUATE_SECURITY", 12 }, { "HTTP_1_1_REQUIRED", 13 }, { NULL, 0 },
};

/* Names are Suricata's. The last argument says how the number is found and how many there are. */
#define INTEGER(symbol, name_, bits_, names_, doc_, ...)                                         \
    static const struct app_integer symbol = {                                                   \
        .name = (name_), .doc = (doc_), .bits = (bits_), .directions = APP_BOTH,                 \
        .progress = { H2_BODY, H2_BODY }, .names = (names_),                                     \
        .plain = (names_) != NULL, .lenient = (names_) != NULL, __VA_ARGS__,                     \
    }
INTEGER(frametype, "http2.frametype", 8, frame_names, "type of a frame",
        .any_of_many = true, .get = get_frametype);
INTEGER(errorcode, "http2.errorcode", 32, error_names, "error code of RST_STREAM or GOAWAY",
        NOTES(1u << H2_NOTE_GOAWAY | 1u << H2_NOTE_RESET));
INTEGER(priority, "http2.priority", 8, NULL, "weight of a stream",
        NOTES(1u << H2_NOTE_PRIORITY));
INTEGER(window, "http2.window", 32, NULL, "increment of a WINDOW_UPDATE",
        NOTES(1u << H2_NOTE_WINDOW));
INTEGER(size_update, "http2.size_update", 64, NULL, "new size of the dynamic table",
        .multi = true, .lasts = true, .get = get_size_update);

#define H2_INTEGERS &frametype, &errorcode, &priority, &window, &size_update
const struct app_integer *const h2_integers[] = { H2_INTEGERS, NULL };

/* --- DNS messages (doh2) ---------------------------------------------------------------------- */

static bool find_number(struct app_tx *tx, enum direction d, const struct app_key *key,
                        unsigned index, uint64_t *out)
{
    const struct dns_message *m = h2_tx_of(tx)->ds[d].message;

    return m != NULL && dns_number_at(m, (enum dns_number)key->number, d, index, out);
}

#define DNS_INTEGER(symbol, name_, bits_, many_, names_, which)                                  \
    static const struct app_integer symbol = {                                                   \
        .name = (name_), .bits = (bits_), .directions = APP_BOTH,                                \
        .progress = { H2_BODY, H2_BODY }, .multi = (many_), .names = (names_),                   \
        .find = find_number, .key.number = (which),                                              \
    }
DNS_INTEGER(opcode, "dns.opcode", 8, false, NULL, DNS_OPCODE_NUMBER);
DNS_INTEGER(rcode, "dns.rcode", 16, false, dns_rcodes, DNS_RCODE_NUMBER);
DNS_INTEGER(rrtype, "dns.rrtype", 16, true, dns_types, DNS_TYPES);

const struct app_integer *const doh2_integers[] = { H2_INTEGERS, &opcode, &rcode, &rrtype, NULL };

/* --- settings --------------------------------------------------------------------------------- */

/* RFC 9113 section 6.5.2, RFC 8441, RFC 9218 */
static const struct app_name setting_names[] = {
    { "SETTINGS_HEADER_TABLE_SIZE", 1 }, { "SETTINGS_ENABLE_PUSH", 2 },
    { "SETTINGS_MAX_CONCURRENT_STREAMS", 3 }, { "SETTINGS_INITIAL_WINDOW_SIZE", 4 },
    { "SETTINGS_MAX_FRAME_SIZE", 5 }, { "SETTINGS_MAX_HEADER_LIST_SIZE", 6 },
    { "SETTINGS_ENABLE_CONNECT_PROTOCOL", 8 }, { "SETTINGS_NO_RFC7540_PRIORITIES", 9 },
    { NULL, 0 },
};

/* A setting with a value from low to high, or (inverted) any other value. */
struct setting_condition {
    uint16_t id;
    bool inverted;
    uint32_t low, high;
};

static bool take_char(struct text *in, char c)
{
    if (in->n == 0 || in->p[0] != c)
        return false;
    *in = (struct text){ in->p + 1, in->n - 1 };
    return true;
}

static struct text take_word(struct text *in, const char *stops)
{
    size_t n = 0;

    while (n < in->n && strchr(stops, in->p[n]) == NULL)
        n++;
    struct text word = { in->p, n };
    *in = (struct text){ in->p + n, in->n - n };
    return word;
}

static void skip_blanks(struct text *in)
{
    while (take_char(in, ' ')) {
    }
}

static bool take_number(struct text *in, uint32_t *out)
{
    uint64_t n;

    skip_blanks(in);
    if (!text_to_u64(take_word(in, " -<>"), UINT32_MAX, &n))
        return false;
    skip_blanks(in);
    *out = (uint32_t)n;
    return true;
}

/* >N, >=N, <N, <=N. An empty range is an error when rules load. */
static bool parse_bound(struct text *in, bool above, struct setting_condition *w)
{
    bool inclusive = take_char(in, '=');
    uint32_t n;

    if (!take_number(in, &n))
        return false;
    if (!inclusive && n == (above ? UINT32_MAX : 0))
        return false;
    if (above)
        w->low = inclusive ? n : n + 1;
    else
        w->high = inclusive ? n : n - 1;
    return true;
}

static bool parse_value(struct text *in, struct setting_condition *w)
{
    if (take_char(in, '>'))
        return parse_bound(in, true, w);
    if (take_char(in, '<'))
        return parse_bound(in, false, w);
    w->inverted = take_char(in, '!');
    take_char(in, '=');
    if (!take_number(in, &w->low))
        return false;
    w->high = w->low;
    if (!take_char(in, '-') && !(take_char(in, '<') && take_char(in, '>')))
        return true;
    /* N-M and N<>M exclude both limits. */
    if (!take_number(in, &w->high) || w->high < w->low || w->high - w->low < 2)
        return false;
    w->low++;
    w->high--;
    return true;
}

static bool setting_of(struct text name, uint16_t *id)
{
    for (const struct app_name *n = setting_names; n->name != NULL; n++) {
        if (!text_equal_nocase(name, n->name))
            continue;
        *id = (uint16_t)n->value;
        return true;
    }
    return false;
}

static int settings_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    struct setting_condition *w = arg;
    struct text name;

    skip_blanks(&in);
    name = take_word(&in, " <>=!");
    if (!setting_of(name, &w->id)) {
        err_set(err, "http2.settings: there is no setting \"%.*s\"", (int)name.n, name.p);
        return -1;
    }
    skip_blanks(&in);
    w->high = UINT32_MAX;
    if (in.n > 0 && (!parse_value(&in, w) || in.n > 0)) {
        err_set(err, "http2.settings: expected NAME, NAME=N, NAME>N, NAME<N or NAME=N-M");
        return -1;
    }
    return 0;
}

/* The setting without a value matches any value. */
static bool is_met(const struct setting_condition *w, const struct h2_note *n)
{
    return n->kind == H2_NOTE_SETTING && n->setting == w->id &&
           (n->value >= w->low && n->value <= w->high) != w->inverted;
}

/* Of many notes only those are compared that have come since the last time. */
static bool settings_match(struct app_tx *tx, enum direction d, const void *arg)
{
    const struct h2_note *first = h2_tx_of(tx)->ds[d].first_note, *n = first;
    struct app_seen few = { 0 }, *seen = &few;

    for (; n != NULL; n = n->next, seen->count++) {
        if (seen == &few && few.count == FEW) {
            seen = app_seen_of(tx, d, arg, true);
            if (seen == NULL)
                return false;
            seen->count = MAX(seen->count, FEW);
            n = APP_ITEM_AT(tx, first, h2_note, seen->count);
        }
        if (n == NULL || is_met(arg, n))
            break;
    }
    return n != NULL;
}

static const char *setting_name(uint16_t id)
{
    for (const struct app_name *n = setting_names; n->name != NULL; n++)
        if (n->value == id)
            return n->name;
    return NULL;
}

#define SETTINGS_SHOWN 8
#define NOTES_READ 64

static bool tell_settings(struct app_tx *tx, enum direction d, struct buf *out)
{
    unsigned count = 0, read = 0;

    for (const struct h2_note *n = h2_tx_of(tx)->ds[d].first_note;
         n != NULL && count < SETTINGS_SHOWN && read < NOTES_READ; n = n->next, read++)
        if (n->kind == H2_NOTE_SETTING && setting_name(n->setting) != NULL)
            buf_printf(out, "%s%s=%u", count++ > 0 ? ", " : "the settings are ",
                       setting_name(n->setting), n->value);
    if (count == 0)
        buf_add_string(out, "there are no settings with a name");
    return true;
}

static const struct app_match settings = {
    .name = "http2.settings", .doc = "a setting, and its value: = < > or between two",
    .syntax = "<setting>[<op><n>]\n"
              "<setting>=<n>-<n>",
    .directions = APP_BOTH, .progress = { H2_BODY, H2_BODY },
    .arg_size = sizeof(struct setting_condition), .parse = settings_parse, .match = settings_match,
    .tell = tell_settings,
};

const struct app_match *const h2_matches[] = { &settings, NULL };
