/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/proto/dns/dns.h"
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define HEAD(id, flags, q, an, au, ad) id flags "\0" q "\0" an "\0" au "\0" ad
#define ASK_A "\3www\7example\3org\0\0\1\0\1"

static const char request[] = HEAD("\x12\x34", "\1\0", "\1", "\0", "\0", "\1") ASK_A
    "\0\0\x29\x10\0\0\0\0\0\0\0";

/* CNAME to a pointer into itself, A, two texts, and an OPT with an option. */
static const char response[] = HEAD("\x12\x34", "\x81\x80", "\1", "\3", "\1", "\1") ASK_A
    "\xc0\x0c\0\5\0\1\0\0\0\x3c\0\6\3web\xc0\x10"
    "\xc0\x2d\0\1\0\1\0\0\0\x3c\0\4\x0a\1\2\3"
    "\xc0\x2d\0\x10\0\1\0\0\0\x3c\0\7\3one\2\x0a\xff"
    "\xc0\x10\0\6\0\1\0\0\1\0\0\x1d\2ns\xc0\x10\1m\xc0\x10\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5"
    "\0\0\x29\x10\0\0\0\0\0\0\6\0\x0a\0\2\xab\xcd";

#define REQUEST_LINE                                                                         \
    "dns {\"dns\":{\"version\":3,\"type\":\"request\",\"tx_id\":0,\"id\":4660,"              \
    "\"flags\":\"100\",\"rd\":true,\"opcode\":0,\"rcode\":\"NOERROR\",\"queries\":"          \
    "[{\"rrname\":\"www.example.org\",\"rrtype\":\"A\"}]}}\n"
#define RESPONSE_LINE                                                                        \
    "dns {\"dns\":{\"version\":3,\"type\":\"response\",\"tx_id\":1,\"id\":4660,"             \
    "\"flags\":\"8180\",\"qr\":true,\"rd\":true,\"ra\":true,\"opcode\":0,"                   \
    "\"rcode\":\"NOERROR\",\"queries\":[{\"rrname\":\"www.example.org\",\"rrtype\":\"A\"}]," \
    "\"answers\":["                                                                          \
    "{\"rrname\":\"www.example.org\",\"rrtype\":\"CNAME\",\"ttl\":60,"                       \
    "\"rdata\":\"web.example.org\"},"                                                        \
    "{\"rrname\":\"web.example.org\",\"rrtype\":\"A\",\"ttl\":60,\"rdata\":\"10.1.2.3\"},"   \
    "{\"rrname\":\"web.example.org\",\"rrtype\":\"TXT\",\"ttl\":60,\"rdata\":\"one\"},"      \
    "{\"rrname\":\"web.example.org\",\"rrtype\":\"TXT\",\"ttl\":60,"                         \
    "\"rdata\":\"\\n\\\\xff\"}],"                                                            \
    "\"grouped\":{\"CNAME\":[\"web.example.org\"],\"A\":[\"10.1.2.3\"],"                     \
    "\"TXT\":[\"one\",\"\\n\\\\xff\"]},"                                                     \
    "\"authorities\":[{\"rrname\":\"example.org\",\"rrtype\":\"SOA\",\"ttl\":256,"           \
    "\"soa\":{\"mname\":\"ns.example.org\",\"rname\":\"m.example.org\",\"serial\":1,"        \
    "\"refresh\":2,\"retry\":3,\"expire\":4,\"minimum\":5}}],"                               \
    "\"additionals\":[{\"rrname\":\"\",\"rrtype\":\"OPT\",\"ttl\":0,"                        \
    "\"opt\":[{\"code\":10,\"data\":\"abcd\"}]}]}}\n"

#define DATAGRAM(d, s) { (d), (s), sizeof(s) - 1 }

TEST(dns_udp_question_and_answer)
{
    static const struct split_step steps[] = { DATAGRAM(TO_SERVER, request),
                                               DATAGRAM(TO_CLIENT, response) };
    const struct split_case c = { .udp = true, .port = 53, .steps = steps, .count = 2 };

    split_expect(t, &c, "tx 0 " REQUEST_LINE "tx 1 " RESPONSE_LINE "flow dns dns dns\n");
}

/* A length in front; two questions in one go, a message of no length between. */
struct tcp_stream {
    uint8_t data[1024];
    uint32_t len;
};

static void add_tcp(struct tcp_stream *s, const char *message, size_t len)
{
    s->data[s->len++] = (uint8_t)(len >> 8);
    s->data[s->len++] = (uint8_t)len;
    if (len > 0)
        memcpy(s->data + s->len, message, len);
    s->len += (uint32_t)len;
}

TEST(dns_tcp_in_any_segmentation)
{
    struct tcp_stream ts = { .len = 0 }, tc = { .len = 0 };
    struct split_step steps[2];
    const struct split_case c = { .port = 53, .steps = steps, .count = 2, .frames = true };
    char *text;

    add_tcp(&ts, request, sizeof(request) - 1);
    add_tcp(&ts, NULL, 0);
    add_tcp(&ts, request, sizeof(request) - 1);
    add_tcp(&tc, response, sizeof(response) - 1);
    add_tcp(&tc, response, sizeof(response) - 1);
    steps[0] = (struct split_step){ TO_SERVER, ts.data, ts.len };
    steps[1] = (struct split_step){ TO_CLIENT, tc.data, tc.len };
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, "tx 0 " REQUEST_LINE) != NULL);
    CHECK(strstr(text, "tx 3 dns {\"dns\":{\"version\":3,\"type\":\"response\"") != NULL);
    CHECK(strstr(text, "frame ts pdu 2 44\n") != NULL);
    CHECK(strstr(text, "flow dns dns dns\n") != NULL);
    free(text);
    split_check(t, &c);
}

TEST(dns_tcp_gap_between_answers)
{
    struct tcp_stream ts = { .len = 0 }, tc = { .len = 0 };
    struct split_step steps[4];
    const struct split_case c = { .port = 53, .steps = steps, .count = 4 };
    char *text;

    add_tcp(&ts, request, sizeof(request) - 1);
    add_tcp(&tc, response, sizeof(response) - 1);
    steps[0] = (struct split_step){ TO_SERVER, ts.data, ts.len };
    steps[1] = (struct split_step){ TO_CLIENT, tc.data, tc.len };
    steps[2] = (struct split_step)SPLIT_GAP(TO_CLIENT, 500);
    steps[3] = steps[1];
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, "tx 2 dns {\"dns\":{\"version\":3,\"type\":\"response\"") != NULL);
    free(text);
}

static char *replay_udp(const void *message, uint32_t len, enum direction d, const char *yaml)
{
    struct split_step step = { d, message, len };
    const struct split_case c = { .udp = true, .port = 53, .steps = &step, .count = 1,
                                  .yaml = yaml };

    return split_replay(&c, SPLIT_NONE, 0);
}

#define CHECK_EVENT(message, d, event)                                          \
    do {                                                                        \
        char *text_ = replay_udp((message), sizeof(message) - 1, (d), NULL);      \
                                                                                \
        CHECK(strstr(text_, "event " event "\n") != NULL);                      \
        free(text_);                                                            \
    } while (0)

TEST(dns_events_of_messages)
{
    CHECK_EVENT(HEAD("\0\1", "\1\x40", "\1", "\0", "\0", "\0") ASK_A, TO_SERVER, "z_flag_set");
    CHECK_EVENT(HEAD("\0\1", "\x38\0", "\1", "\0", "\0", "\0") ASK_A, TO_SERVER,
                "invalid_opcode");
    CHECK_EVENT(HEAD("\0\1", "\1\0", "\1", "\0", "\0", "\1") ASK_A "\0\0\x29", TO_SERVER,
                "invalid_additionals");
    CHECK_EVENT(HEAD("\0\1", "\1\0", "\1", "\0", "\1", "\0") ASK_A "\x90\0\0\0\0\0\0\0\0\0\0",
                TO_SERVER, "invalid_authorities");
}

/* A name that points at a name that points back. */
TEST(dns_name_loops_end)
{
    static const char two[] = HEAD("\0\1", "\1\0", "\2", "\0", "\0", "\0")
        "\1a\xc0\x14\0\1\0\1" "\1b\xc0\x0c\0\1\0\1";
    static const char self[] = HEAD("\0\1", "\x81\0", "\1", "\1", "\0", "\0")
        "\1a\0\0\1\0\1" "\xc0\x13\0\1\0\1\0\0\0\0\0\0";
    char *text = replay_udp(two, sizeof(two) - 1, TO_SERVER, NULL);

    CHECK(strstr(text, "event too_many_labels\n") != NULL);
    CHECK(strstr(text, "event name_too_long\n") != NULL);
    free(text);
    text = replay_udp(self, sizeof(self) - 1, TO_CLIENT, NULL);
    CHECK_STRING(text, "flow failed unknown failed\n");
    free(text);
}

TEST(dns_junk_is_not_dns)
{
    char *text = replay_udp("junkjunkjunkjunkjunk", 20, TO_SERVER, NULL);

    CHECK_STRING(text, "flow failed failed unknown\n");
    free(text);
}

TEST(dns_every_truncation_is_survived)
{
    for (uint32_t n = 0; n < sizeof(response); n++) {
        struct arena arena;
        struct dns_message m;
        uint8_t *copy = malloc(n + 1);

        memcpy(copy, response, n);
        arena_init(&arena, 1024, 0);
        (void)dns_message_parse((struct slice){ copy, n }, &arena, &m);
        arena_fini(&arena);
        free(copy);
    }
    CHECK(true);
}

TEST(dns_response_names_one_by_one)
{
    static const char *const expected[] = {
        "www.example.org", "www.example.org", "web.example.org", "web.example.org",
        "web.example.org", "example.org", "ns.example.org" };
    struct slice complete = { (const uint8_t *)response, sizeof(response) - 1 };
    struct arena arena;
    struct dns_message m;
    struct slice name;
    unsigned n = 0;

    arena_init(&arena, 1024, 0);
    CHECK_INT(dns_message_parse(complete, &arena, &m), DNS_PARSED);
    for (; dns_name_at(&m, DNS_ALL_NAMES, n, &name); n++)
        CHECK_BYTES(name.data, name.len, expected[n], strlen(expected[n]));
    CHECK_INT(n, ARRAY_LEN(expected));
    arena_fini(&arena);
}

/* 200 answers that name one owner of 200 bytes by a pointer: two bytes each, 200 in the record. It
 * ends where it holds 4 KiB and eight times the message. */
TEST(dns_record_ends_in_proportion)
{
    static uint8_t message[8192];
    struct split_step step = { TO_CLIENT, message, 0 };
    const struct split_case c = { .udp = true, .port = 53, .steps = &step, .count = 1 };
    static const char head[] = HEAD("\x12\x34", "\x81\x80", "\1", "\xc8", "\0", "\0");
    static const char answer[] = "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x0a\1\2\3";
    uint32_t at = sizeof(head) - 1;
    size_t most;
    char *text;

    memcpy(message, head, at);
    for (unsigned label = 0; label < 4; label++, at += 51) {
        message[at] = 50;
        memset(message + at + 1, 'a', 50);
    }
    memcpy(message + at, "\0\0\1\0\1", 5);
    at += 5;
    for (unsigned i = 0; i < 200; i++, at += sizeof(answer) - 1)
        memcpy(message + at, answer, sizeof(answer) - 1);
    step.len = at;
    most = 4096 + 8 * (size_t)at;
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strlen(text) > most && strlen(text) < most + 1024);
    CHECK(strstr(text, "\"cut\":true}}\n") != NULL);
    free(text);
}
