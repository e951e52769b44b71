/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/tests/certificate_test.c - fields of a certificate, and certificates that are none. */
#include "app/proto/tls/certificate.h"
#include "app/proto/tls/tests/samples.h"
#include "app/proto/tls/when.h"

#include <stdlib.h>
#include <string.h>

/* The server's, out of the second record of its flight. */
static struct slice sample(void)
{
    struct bytes in = bytes_of(sample_tls12[1].data, sample_tls12[1].len);

    take_skip(&in, 3);
    take_skip(&in, take_be16(&in));
    take_skip(&in, 5 + 4 + 3);
    return take_slice(&in, take_be24(&in));
}

struct fixture {
    struct arena arena;
    struct digests *digests;
    struct tls_certificate certificate;
};

static enum tls_certificate_fault parse(struct fixture *f, struct slice der)
{
    arena_reset(&f->arena);
    return tls_certificate_parse(der, f->digests, &f->arena, &f->certificate);
}

static void open_fixture(struct fixture *f)
{
    arena_init(&f->arena, 1024, 0);
    f->digests = digests_new();
}

static void close_fixture(struct fixture *f)
{
    arena_fini(&f->arena);
    digests_free(f->digests);
}

static void check_slice(struct test *t, struct slice found, const char *expected)
{
    CHECK_BYTES(found.data, found.len, expected, strlen(expected));
}

TEST(tls_certificate_fields)
{
    struct fixture f;
    const struct tls_certificate *c = &f.certificate;

    open_fixture(&f);
    CHECK_INT(parse(&f, sample()), CERT_SOUND);
    check_slice(t, c->subject, "C=DE, ST=Hessen, O=Example GmbH, OU=Web, Mail, CN=www.example.org, "
                               "Email=who@example.org");
    check_slice(t, c->issuer, "C=US, O=Example Trust, CN=Example CA");
    check_slice(t, c->serial, "00:81:23:45:67:89");
    check_slice(t, c->fingerprint, "0d:32:18:99:d6:fe:ba:d2:32:58:e4:1b:40:36:9c:ee:68:54:fa:22");
    CHECK_INT(c->not_before, 1795254775);
    CHECK_INT(c->not_after, 2572854775);
    CHECK_INT(c->alt_name_count, 5);
    check_slice(t, c->alt_names[1], "*.example.org");
    check_slice(t, c->alt_names[2], "[192, 0, 2, 1]");
    check_slice(t, c->alt_names[3], "RFC822Name(who@example.org)");
    close_fixture(&f);
}

/* Cut short it is too short; with any byte changed it is read or refused, never overrun. */
TEST(tls_certificate_broken)
{
    struct slice complete = sample();
    uint8_t *copy = malloc(complete.len);
    struct fixture f;

    open_fixture(&f);
    for (uint32_t len = 0; len < complete.len; len++)
        CHECK_INT(parse(&f, (struct slice){ complete.data, len }), CERT_LENGTH);
    for (uint32_t i = 0; i < complete.len; i++) {
        memcpy(copy, complete.data, complete.len);
        copy[i] ^= 0x81;
        parse(&f, (struct slice){ copy, complete.len });
        copy[i] = 0xff;
        parse(&f, (struct slice){ copy, complete.len });
    }
    free(copy);
    close_fixture(&f);
}

/* Which field is bad is known by the first that cannot be read. */
TEST(tls_certificate_faults)
{
    static const struct { const char *fields; uint8_t len; enum tls_certificate_fault fault; }
    cases[] = {
        { "\xa0\x01\x02", 3, CERT_VERSION },
        { "\xa0\x03\x02\x01\x02\x04\x01\x05", 8, CERT_SERIAL },
        { "\x02\x01\x05\x31\x00", 5, CERT_ALGORITHM },
        { "\x02\x01\x05\x30\x00\x04\x00", 7, CERT_NAME },
        { "\x02\x01\x05\x30\x00\x30\x00\x30\x00", 9, CERT_DATE },
    };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        uint8_t der[40] = { 0x30, (uint8_t)(cases[i].len + 7), 0x30, cases[i].len };
        struct fixture f;

        memcpy(der + 4, cases[i].fields, cases[i].len);
        memcpy(der + 4 + cases[i].len, "\x30\x00\x03\x01\x00", 5);
        open_fixture(&f);
        CHECK_INT(parse(&f, (struct slice){ der, cases[i].len + 9u }), cases[i].fault);
        close_fixture(&f);
    }
}

/* A date with an offset is read, and marked: X.509 wants UTC. */
TEST(tls_certificate_local_date)
{
    static const char *const from[] = { "\x17\x0d" "250115120000Z", "\x17\x11" "250115120000+0530" };

    for (unsigned i = 0; i < ARRAY_LEN(from); i++) {
        uint8_t first = (uint8_t)strlen(from[i]), len = (uint8_t)(first + 15 + 13);
        struct buf der = { 0 };
        struct fixture f;

        buf_add(&der, (uint8_t[]){ 0x30, (uint8_t)(len + 7), 0x30, len }, 4);
        buf_add(&der, "\x02\x01\x05\x30\x00\x30\x00", 7);           /* serial, algorithm, issuer */
        buf_add(&der, (uint8_t[]){ 0x30, (uint8_t)(first + 15) }, 2);
        buf_add(&der, from[i], first);
        buf_add(&der, "\x17\x0d" "260115120000Z", 15);
        buf_add(&der, "\x30\x00\x30\x00" "\x30\x00\x03\x01\x00", 9);  /* subject, key */
        open_fixture(&f);
        CHECK_INT(parse(&f, buf_slice(&der)), CERT_SOUND);
        CHECK_INT(f.certificate.has_local_date, i);
        CHECK_INT(f.certificate.not_before, i == 0 ? 1736942400 : 1736922600);
        close_fixture(&f);
        buf_fini(&der);
    }
}

TEST(tls_when)
{
    struct when w;
    struct err err;

    CHECK_INT(when_parse(TEXT_LITERAL(">2015-10-22"), &w, &err), 0);
    CHECK(when_has(&w, 1445472000) && !when_has(&w, 1445471999));
    CHECK_INT(when_parse(TEXT_LITERAL("<1445852105"), &w, &err), 0);
    CHECK(when_has(&w, -5) && !when_has(&w, 1445852106));
    CHECK_INT(when_parse(TEXT_LITERAL("2015-10-22T23:59:59"), &w, &err), 0);
    CHECK(when_has(&w, 1445558399) && !when_has(&w, 1445558398));
    CHECK_INT(when_parse(TEXT_LITERAL("2015-10<>2015-11 "), &w, &err), 0);
    CHECK(when_has(&w, 1446335999) && !when_has(&w, 1446336001));
    CHECK_INT(when_parse(TEXT_LITERAL("2015-11<>2015-10"), &w, &err), -1);
    CHECK_INT(when_parse(TEXT_LITERAL("2015-13"), &w, &err), -1);
    CHECK_INT(when_parse(TEXT_LITERAL("soon"), &w, &err), -1);
}
