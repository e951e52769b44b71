/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/xbits.c - xbits and hostbits: named bits on hosts, pairs of hosts
 * and transactions. Bits of hosts expire; other flows, on other threads, read and change
 * them. */
#include "detect/inspect/flow_state.h"
#include "detect/state/host_bits.h"
#include "detect/rule/host_bit_use.h"
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset_private.h"
#include "flow/vars.h"
#include "sequencer/sequencer.h"

#include <string.h>

/* In the order of command_names[]. An xbit and a hostbit of the same name on the same host
 * are one bit, as in Suricata. */
enum bit_command { BIT_SET, BIT_ISSET, BIT_UNSET, BIT_ISNOTSET, BIT_TOGGLE };
/* TRACK_NONE: the rule names no owner, so the bit is never set. */
enum bit_track { TRACK_SRC, TRACK_DST, TRACK_PAIR, TRACK_TX, TRACK_NONE };

extern const struct keyword_ops keyword_xbits;

/* `expire` in seconds of packet time; `id` is the number of the name. */
struct bit_arg {
    struct host_bits *bits;     /* the ruleset's */
    uint32_t id, expire;
    uint8_t command, track;
};

static const char *const command_names[] = { "set", "isset", "unset", "isnotset", "toggle" };

static bool command_parse(struct text in, uint8_t *command)
{
    for (size_t i = 0; i < ARRAY_LEN(command_names); i++) {
        if (text_equal(in, command_names[i])) {
            *command = (uint8_t)i;
            return true;
        }
    }
    return false;
}

/* Packets without an IP header have no host. */
static bool has_owner(const struct match_input *in, const struct bit_arg *a)
{
    return in->packet->src.version != 0 && a->track != TRACK_NONE;
}

/* The bit of the packet's source, of its destination, or of the pair. */
static struct host_bit bit_of(const struct match_input *in, const struct bit_arg *a)
{
    struct packet_ends ends = packet_ends(in->packet, match_side(in));

    return (struct host_bit){
        .host = a->track == TRACK_DST ? ends.dst : ends.src,
        .peer = a->track == TRACK_PAIR ? ends.dst : NULL,
        .id = a->id,
    };
}

/* Waits until all earlier packets of these hosts are inspected, because one of them may change the
 * bit. Without the wait the result would depend on the number of threads. */
static void wait_in_sequence(const struct match_input *in, const struct bit_arg *a)
{
    struct host_bit bit = bit_of(in, a);

    if (host_bit_has_space(a->bits, bit))
        packet_seq_wait_hosts(in->packet, bit.host, bit.peer);
    else
        packet_seq_wait(in->packet);
}

static bool bit_test(const struct match_input *in, const void *arg)
{
    const struct bit_arg *a = arg;

    if (!has_owner(in, a))
        return false;
    wait_in_sequence(in, a);
    return host_bit_is_set(a->bits, bit_of(in, a), in->packet->time_us) ==
           (a->command == BIT_ISSET);
}

/* Waits as bit_test() does. Setting a bit that is set extends its time. */
static bool bit_change(const struct match_input *in, const void *arg)
{
    const struct bit_arg *a = arg;
    struct host_bit bit = bit_of(in, a);
    uint64_t now_us = in->packet->time_us;

    if (!has_owner(in, a))
        return true;
    wait_in_sequence(in, a);
    if (a->command == BIT_UNSET ||
        (a->command == BIT_TOGGLE && host_bit_is_set(a->bits, bit, now_us)))
        host_bit_unset(a->bits, bit, now_us);
    else
        host_bit_set(a->bits, bit, now_us, now_us + a->expire * UINT64_C(1000000));
    return true;
}

/* --- of a transaction: a list in its arena ---------------------------------------------------- */

struct tx_bit { /* freed with the transaction's arena */
    struct tx_bit *next;
    uint32_t id;
};

/* The list is short: as many bits as rules set on this transaction. */
static bool tx_bit_test(const struct match_input *in, const void *arg)
{
    const struct bit_arg *a = arg;

    const struct tx_bit *b = in->tx != NULL ? detect_tx(in->tx)->xbits : NULL;

    for (; b != NULL; b = b->next)
        if (b->id == a->id)
            return true;
    return false;
}

/* When the transaction's memory is used up the bit stays unset, and the rule that tests it
 * does not match. */
static bool tx_bit_set(const struct match_input *in, const void *arg)
{
    const struct bit_arg *a = arg;
    struct tx_bit *b;

    if (in->tx == NULL || tx_bit_test(in, arg))
        return true;
    b = arena_alloc(&in->tx->arena, sizeof(*b));
    if (b != NULL) {
        *b = (struct tx_bit){ detect_tx(in->tx)->xbits, a->id };
        detect_tx(in->tx)->xbits = b;
    }
    return true;
}

/* A test must run after the rule that sets the bit. Only a hook fixes the progress of
 * both, so it is required, as in Suricata. */
static int add_tx_test(struct rule_parser *p, struct bit_arg *a)
{
    struct rule_test test = { .keyword = p->keyword, .arg = a, .directions = APP_BOTH };

    if (a->command != BIT_SET && a->command != BIT_ISSET)
        return rule_error(p, "xbits: with \"track tx\" only set and isset make sense");
    if (a->command == BIT_SET) {
        test.match = tx_bit_set;
        rule_add_test(p, POINT_POST, &test);
        return 0;
    }
    if (p->rule->hook == 0 || p->rule->app_proto == APP_PROTO_UNKNOWN)
        return rule_error(p, "xbits: \"track tx\" needs a hook in the rule's protocol, such as "
                          "PROTOCOL:request_complete");
    test.match = tx_bit_test;
    rule_add_test(p, POINT_TX, &test);
    return 0;
}

/* Orders the rules as Suricata does: of xbits those that read count, of hostbits those
 * that write. */
static void order_hint(struct rule *r, bool is_xbits, bool tests, uint8_t track)
{
    if (is_xbits && tests)
        r->vars_read |= track == TRACK_PAIR ? RULE_VAR_PAIR : RULE_VAR_HOST;
    else if (!is_xbits && !tests)
        r->vars_set |= RULE_VAR_HOST;
}

/* uses_shared_state marks the rule: early hooks that have such rules inspect packets in
 * sequence. */
static void add_host_test(struct rule_parser *p, struct bit_arg *a)
{
    bool tests = a->command == BIT_ISSET || a->command == BIT_ISNOTSET;
    struct rule_test test = { .keyword = p->keyword, .arg = a,
                              .match = tests ? bit_test : bit_change };

    order_hint(p->rule, p->keyword == &keyword_xbits, tests, a->track);
    p->rule->uses_shared_state = true;
    a->bits = p->ruleset->host_bits;
    rule_add_test(p, tests ? POINT_PACKET : POINT_POST, &test);
}

/* --- for explanations ------------------------------------------------------------------------- */

static const char *const track_words[] = { "ip_src", "ip_dst", "ip_pair", "tx", "nothing" };

bool host_bit_use_of(const struct rule_test *test, struct host_bit_use *out)
{
    const struct bit_arg *a = test->arg;

    if (test->match != bit_test && test->match != bit_change && test->match != tx_bit_test &&
        test->match != tx_bit_set)
        return false;
    *out = (struct host_bit_use){ .command = command_names[a->command], .id = a->id,
                                  .track = track_words[a->track], .of_tx = a->track == TRACK_TX };
    return true;
}

static bool bit_tell(const struct rule_test *test, const struct match_input *in, struct buf *out)
{
    const struct bit_arg *a = test->arg;
    char host[IP_TEXT_SIZE], peer[IP_TEXT_SIZE];
    struct host_bit bit;
    bool set;

    if (a->track == TRACK_TX) {
        buf_printf(out, "the bit is %sset for the transaction", tx_bit_test(in, a) ? "" : "not ");
        return true;
    }
    if (!has_owner(in, a))
        return false;
    bit = bit_of(in, a);
    set = host_bit_is_set(a->bits, bit, in->packet->time_us);
    ip_format(bit.host, host);
    buf_printf(out, "the bit is %sset for %s", set ? "" : "not ", host);
    if (bit.peer != NULL) {
        ip_format(bit.peer, peer);
        buf_printf(out, " and %s", peer);
    }
    return true;
}

/* --- xbits ------------------------------------------------------------------------------------ */

/* A name with a value, other than track and expire. Suricata ignores such a setting. */
static bool is_other_setting(struct text in)
{
    const char *space = memchr(in.p, ' ', in.n);
    struct text name = { in.p, space != NULL ? (size_t)(space - in.p) : in.n };

    return space != NULL && !text_equal(name, "track") && !text_equal(name, "expire");
}

/* `expire` 0 would make a bit that is never seen, so it is an error. */
static int setting_parse(struct rule_parser *p, struct text in, struct bit_arg *a, bool *tracked)
{
    static const struct { const char *name; uint8_t track; } tracks[] = {
        { "ip_src", TRACK_SRC }, { "ip_dst", TRACK_DST }, { "ip_pair", TRACK_PAIR },
        { "tx", TRACK_TX },
    };
    bool is_track = text_starts(in, "track "), is_expire = text_starts(in, "expire ");
    struct text value = text_trim(text_from(in, is_track ? 6 : 7));
    uint64_t seconds;

    for (size_t i = 0; is_track && !*tracked && i < ARRAY_LEN(tracks); i++) {
        if (text_equal(value, tracks[i].name)) {
            a->track = tracks[i].track;
            *tracked = true;
            return 0;
        }
    }
    if (is_expire && a->expire == 0 && text_to_u64(value, UINT32_MAX, &seconds) && seconds > 0) {
        a->expire = (uint32_t)seconds;
        return 0;
    }
    if (is_other_setting(in)) {
        rule_warning(p, "xbits: there is no setting \"%.*s\"; it is left out", TEXT(in));
        return 0;
    }
    return rule_error(p,
                      "xbits: expected \"track ip_src|ip_dst|ip_pair|tx\" and \"expire SECONDS\", "
                      "found \"%.*s\"",
                      TEXT(in));
}

/* Without "track" Suricata loads the rule, and its bit is never set; so do we, with a
 * warning. 30 seconds is Suricata's default of expire. */
static int xbits_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct bit_arg *a = arg;
    struct text rest = in, command, name, setting;
    bool tracked = false;

    if (text_equal(in, "noalert")) {
        p->rule->flags |= RULE_NOALERT;
        return 0;
    }
    if (!text_split(&rest, ',', &command) || !command_parse(command, &a->command) ||
        !text_split(&rest, ',', &name) || name.n == 0 || memchr(name.p, ' ', name.n) != NULL)
        return rule_error(p, "xbits: expected set, unset, isset, isnotset or toggle, a name and "
                          "\"track ...\", or noalert, found \"%.*s\"", TEXT(in));
    while (text_split(&rest, ',', &setting))
        if (setting_parse(p, setting, a, &tracked) < 0)
            return -1;
    if (!tracked) {
        rule_warning(p, "xbits: without \"track ip_src|ip_dst|ip_pair|tx\" the bit is never "
                     "set");
        a->track = TRACK_NONE;
    }
    if (a->expire == 0)
        a->expire = 30;
    a->id = var_name_id(a->track == TRACK_TX ? VAR_XBIT : VAR_HOSTBIT,
                        arena_text(p->arena, name));
    if (a->track == TRACK_TX)
        return add_tx_test(p, a);
    add_host_test(p, a);
    return 0;
}

const struct keyword_ops keyword_xbits = {
    .name = "xbits",
    .doc = "set and test named bits on hosts, pairs of hosts or transactions",
    .syntax = "set|unset|isset|isnotset|toggle,<name>,track ip_src|ip_dst|ip_pair|tx["
              ",expire <seconds>]\n"
              "noalert",
    .features = "compatible with IP only rule,supports firewall",
    .point = POINT_NONE,
    .arg_size = sizeof(struct bit_arg),
    .parse = xbits_parse,
    .tell = bit_tell,
};

/* --- hostbits --------------------------------------------------------------------------------- */

#define HOSTBIT_SECONDS 300 /* Suricata's; a rule cannot change it */

/* The host is the source unless the rule says dst. */
static int hostbits_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct bit_arg *a = arg;
    struct text rest = in, command, name, side = { "src", 3 };

    if (text_equal(in, "noalert")) {
        p->rule->flags |= RULE_NOALERT;
        return 0;
    }
    if (!text_split(&rest, ',', &command) || !command_parse(command, &a->command) ||
        !text_split(&rest, ',', &name) || name.n == 0)
        return rule_error(p,
                          "hostbits: expected set, unset, isset, isnotset or toggle and a name, or "
                          "noalert, found \"%.*s\"",
                          TEXT(in));
    text_split(&rest, ',', &side);
    if (!text_equal(side, "src") && !text_equal(side, "dst"))
        return rule_error(p, "hostbits: expected src or dst behind the name, found \"%.*s\"",
                          TEXT(side));
    a->track = text_equal(side, "src") ? TRACK_SRC : TRACK_DST;
    a->expire = HOSTBIT_SECONDS;
    a->id = var_name_id(VAR_HOSTBIT, arena_text(p->arena, name));
    add_host_test(p, a);
    return 0;
}

const struct keyword_ops keyword_hostbits = {
    .name = "hostbits",
    .doc = "set and test named bits on hosts",
    .syntax = "set|unset|isset|isnotset|toggle,<name>[,src|dst]\n"
              "noalert",
    .features = "compatible with IP only rule",
    .point = POINT_NONE,
    .arg_size = sizeof(struct bit_arg),
    .parse = hostbits_parse,
    .tell = bit_tell,
};
