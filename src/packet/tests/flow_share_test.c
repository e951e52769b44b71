/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each packet is in one share, with all packets between its two hosts. */
#include "base/array.h"
#include "base/test.h"
#include "packet/flow_share.h"

#define SHARES 5

static const char *const wrong[] = {
    "", "1", "/", "1/", "/4", "0/4", "5/4", "-1/4", "1/-4", " 1/4", "1/4 ", "1/4x", "1/5000",
    "0x1/4", "4294967297/4294967297",
};

TEST(flow_share_is_a_number_of_a_count)
{
    struct flow_share s;

    CHECK(flow_share_parse("3/8", &s) && s.number == 3 && s.count == 8);
    CHECK(flow_share_parse("1/1", &s) && flow_share_parse("4096/4096", &s));
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        CHECK(!flow_share_parse(wrong[i], &s));
}

/* Each of the shares must say the same. 0: none or several have the packet. */
static unsigned share_of(const struct packet *p)
{
    unsigned found = 0, count = 0;

    for (unsigned i = 1; i <= SHARES; i++) {
        struct flow_share s = { i, SHARES };

        if (flow_share_has(&s, p)) {
            found = i;
            count++;
        }
    }
    return count == 1 ? found : 0;
}

static unsigned share_between(struct ip src, struct ip dst)
{
    struct packet p = { .src = src, .dst = dst };

    return share_of(&p);
}

static struct ip address(unsigned version, unsigned host)
{
    uint8_t bytes[16] = { 10, 0, 0, (uint8_t)host };

    return version == 4 ? ip_v4(bytes) : ip_v6(bytes);
}

TEST(flow_share_takes_all_packets_between_two_hosts)
{
    for (unsigned version = 4; version <= 6; version += 2) {
        unsigned count[SHARES + 1] = { 0 };

        for (unsigned i = 0; i < 250; i++) {
            struct ip one = address(version, i), other = address(version, 251 + i % 4);
            unsigned share = share_between(one, other);

            CHECK_INT(share_between(other, one), share);
            count[share]++;
        }
        CHECK_INT(count[0], 0);
        for (unsigned i = 1; i <= SHARES; i++)
            CHECK(count[i] > 250 / SHARES / 2 && count[i] < 250 / SHARES * 2);
    }
}

/* Engines of other machines and of later versions must agree with this one. */
TEST(flow_share_is_the_same_everywhere)
{
    CHECK_INT(share_between(address(4, 1), address(4, 2)), 5);
    CHECK_INT(share_between(address(6, 1), address(6, 2)), 1);
}

TEST(flow_share_takes_errors_with_what_they_quote)
{
    for (unsigned i = 0; i < 50; i++) {
        struct packet p = { .src = address(4, 200), .dst = address(4, i),
                            .flags = PACKET_ICMP_ERROR };
        uint8_t quoted[28] = { 0x45, [12] = 10, [15] = (uint8_t)i, [16] = 10, [19] = 77 };

        p.icmp.embedded = quoted;
        CHECK_INT(share_of(&p), share_between(address(4, i), address(4, 77)));
    }
}

TEST(flow_share_1_has_packets_without_addresses)
{
    struct packet p = { 0 };
    struct flow_share all = { 0, 0 };

    CHECK_INT(share_of(&p), 1);
    CHECK(flow_share_has(&all, &p));
}
