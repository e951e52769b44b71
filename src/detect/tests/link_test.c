/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about the link layer: ether, arp and ether.hdr. qa/cases/link-rules has the frames. */
#include "base/test.h"
#include "detect/tests/rules_fixture.h"
#include "detect/tests/rules_helper.h"

#include <stdio.h>

TEST(link_rules_parse)
{
    static const struct { const char *header; uint8_t link; bool tcp, none; } good[] = {
        { "ether", RULE_LINK_ETHER, true, true },
        { "arp", RULE_LINK_ARP, false, true },
        { "ip", RULE_LINK_ANY, true, true },
        { "igmp", RULE_LINK_ANY, false, false },
    };
    struct rules_fixture f;
    struct rule *r;

    rules_fixture_open(&f);
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        char text[80];

        snprintf(text, sizeof(text), "alert %s any any -> any any (sid:1;)", good[i].header);
        r = rules_fixture_parse(&f, text);
        CHECK(r != NULL);
        if (r == NULL)
            continue;
        CHECK_INT(r->link, good[i].link);
        CHECK_INT(rule_has_ip_proto(r, 6) != 0, good[i].tcp);
        CHECK_INT(rule_has_ip_proto(r, 0) != 0, good[i].none);
    }
    r = rules_fixture_parse(&f, "alert igmp any any -> any any (sid:1;)");
    CHECK(r != NULL && rule_has_ip_proto(r, 2));
    CHECK(rules_fixture_parse(&f, "alert arp any any -> any 80 (sid:1;)") == NULL);
    CHECK_STRING(f.err.text, "a rule about \"arp\" has no ports");
    r = rules_fixture_parse(&f, "alert ip any any -> any any (ether.hdr; content:\"x\"; sid:1;)");
    CHECK(r != NULL && r->link == RULE_LINK_ETHER && (r->flags & RULE_NEEDS_PACKET));
    rules_fixture_close(&f);
}

/* The sids that alert, a bit each. */
static unsigned sids_of(struct test_rules *r, struct packet *p)
{
    unsigned sids = 0;

    test_rules_inspect(r->thread, p);
    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++)
        sids |= 1u << packet_alerts(p)[i].rule->sid;
    packet_fini(p);
    return sids;
}

TEST(link_rules_on_frames_with_and_without_ip)
{
    uint8_t eth[14] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 6 }, arp[28] = { 0 };
    struct packet p = { .eth = eth, .l3 = arp, .l3_len = sizeof(arp), .ethertype = 0x0806 };
    struct test_rules r = { 0 };

    test_rules_add(&r, "alert arp any any -> any any (sid:1;)");
    test_rules_add(&r, "alert ether any any -> any any (ether.hdr; content:\"|02|\"; depth:1; "
                   "sid:2;)");
    test_rules_add(&r, "alert ip any any -> any any (flow:stateless; sid:3;)");
    test_rules_add(&r, "alert ether any any -> any any (ether.hdr; content:\"|03|\"; depth:1; "
                   "sid:4;)");
    test_rules_add(&r, "alert ip any any -> any any (ip_proto:0; sid:5;)");
    CHECK(test_rules_ready(&r));
    CHECK_INT(sids_of(&r, &p), 1u << 1 | 1u << 2);
    p = (struct packet){ .eth = eth, .ethertype = 0x88cc };
    CHECK_INT(sids_of(&r, &p), 1u << 2);
    p = (struct packet){ .ethertype = 0x0806, .l3 = arp };          /* a capture without Ethernet */
    CHECK_INT(sids_of(&r, &p), 0);
    p = (struct packet){ .eth = eth, .ethertype = 0x0800, .src.version = 4, .dst.version = 4 };
    CHECK_INT(sids_of(&r, &p), 1u << 2 | 1u << 5);                  /* IP protocol 0 is not ARP */
    test_rules_free(&r);
}
