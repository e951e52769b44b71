/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dealing: both directions to one thread, whatever the scheduler, and evenly. */
#include "base/array.h"
#include "base/containers/hash.h"
#include "base/test.h"
#include "engine/scheduler.h"

#include <string.h>

static const char *const schedulers[] = {
    "hash", "ippair", "ftp-hash", "xor-251", "round-robin", "least-loaded"
};

static struct packet tcp_packet(uint32_t client, uint16_t port, uint16_t server_port, bool back)
{
    uint8_t a[4] = { 10, (uint8_t)(client >> 16), (uint8_t)(client >> 8), (uint8_t)client };
    uint8_t b[4] = { 192, 0, 2, (uint8_t)(client % 5) };
    struct packet p = { .ip_proto = 6, .time_us = 1000000 };

    p.src = ip_v4(back ? b : a);
    p.dst = ip_v4(back ? a : b);
    p.src_port = back ? server_port : port;
    p.dst_port = back ? port : server_port;
    p.flow_hash = (uint32_t)hash_mix(client + 1, port) | 1;
    return p;
}

TEST(scheduler_directions_agree)
{
    for (unsigned s = 0; s < ARRAY_LEN(schedulers); s++)
        for (unsigned n = 1; n <= 8; n++) {
            struct scheduler *scheduler = scheduler_new(&(struct scheduler_conf){ .scheduler = schedulers[s],
                                                              .consumers = n });
            for (uint32_t i = 0; i < 500; i++) {
                struct packet there = tcp_packet(i, (uint16_t)(1024 + i * 7), 80, false);
                struct packet back = tcp_packet(i, (uint16_t)(1024 + i * 7), 80, true);
                unsigned consumer = scheduler_pick(scheduler, &there);

                CHECK(consumer < n);
                CHECK_INT(scheduler_pick(scheduler, &back), consumer);
                CHECK_INT(scheduler_pick(scheduler, &there), consumer);
            }
            scheduler_free(scheduler);
        }
}

TEST(scheduler_is_about_even)
{
    for (unsigned s = 0; s < ARRAY_LEN(schedulers); s++) {
        unsigned count[4] = { 0 };
        struct scheduler *scheduler = scheduler_new(&(struct scheduler_conf){ .scheduler = schedulers[s],
                                                          .consumers = 4 });

        for (uint32_t i = 0; i < 8000; i++) {
            struct packet p = tcp_packet(i, (uint16_t)(1024 + hash_mix(i, 3) % 60000), 80, false);

            count[scheduler_pick(scheduler, &p)]++;
        }
        for (unsigned i = 0; i < 4; i++)
            CHECK(count[i] > 1700 && count[i] < 2300);
        scheduler_free(scheduler);
    }
}

TEST(scheduler_without_flow_goes_first)
{
    for (unsigned s = 0; s < ARRAY_LEN(schedulers); s++) {
        struct scheduler *scheduler = scheduler_new(&(struct scheduler_conf){ .scheduler = schedulers[s],
                                                          .consumers = 7 });
        struct packet p = { .flow_hash = 0 };

        CHECK_INT(scheduler_pick(scheduler, &p), 0);
        scheduler_free(scheduler);
    }
}

TEST(scheduler_ftp_together)
{
    struct scheduler *scheduler = scheduler_new(&(struct scheduler_conf){ .scheduler = "ftp-hash", .consumers = 8 });

    for (uint32_t i = 0; i < 100; i++) {
        struct packet control = tcp_packet(i, 40000, 21, false);
        struct packet active = tcp_packet(i, 20, 50001, true);
        struct packet passive = tcp_packet(i, 40001, 50002, false);

        active.src_port = 20;
        active.dst_port = 50001;
        CHECK_INT(scheduler_pick(scheduler, &active), scheduler_pick(scheduler, &control));
        CHECK_INT(scheduler_pick(scheduler, &passive), scheduler_pick(scheduler, &control));
    }
    scheduler_free(scheduler);
}

/* An ICMP error from a router on the way belongs to the flow it quotes. */
TEST(scheduler_icmp_error_follows_flow)
{
    static const char *const by_tuple[] = { "ippair", "ftp-hash", "xor-251" };

    for (unsigned s = 0; s < ARRAY_LEN(by_tuple); s++) {
        struct scheduler *scheduler = scheduler_new(&(struct scheduler_conf){ .scheduler = by_tuple[s],
                                                          .consumers = 8 });

        for (uint32_t i = 0; i < 100; i++) {
            struct packet p = tcp_packet(i, 40000, 80, false), error = { 0 };
            uint8_t quoted[28] = { 0x45 };
            uint8_t router[4] = { 172, 16, 0, 1 };

            quoted[9] = 6;
            memcpy(quoted + 12, p.src.b, 4);
            memcpy(quoted + 16, p.dst.b, 4);
            quoted[20] = 40000 >> 8;
            quoted[21] = 40000 & 0xff;
            quoted[23] = 80;
            error.src = ip_v4(router);
            error.dst = p.src;
            error.ip_proto = 1;
            error.flags = PACKET_ICMP_ERROR;
            error.icmp.embedded = quoted;
            error.icmp.embedded_len = sizeof(quoted);
            error.flow_hash = p.flow_hash;
            CHECK_INT(scheduler_pick(scheduler, &error), scheduler_pick(scheduler, &p));
            error.icmp.embedded_len = 10;       /* cut short: no matter where, but safely */
            CHECK(scheduler_pick(scheduler, &error) < 8);
        }
        scheduler_free(scheduler);
    }
}

static uint64_t stub_load(void *arg, unsigned consumer)
{
    const uint64_t *load = arg;

    return load[consumer];
}

TEST(scheduler_least_loaded_follows_and_evicts)
{
    uint64_t load[3] = { 50, 10, 90 };
    struct scheduler *scheduler = scheduler_new(&(struct scheduler_conf){ .scheduler = "least-loaded", .consumers = 3,
                                                      .idle_s = 100, .load = stub_load,
                                                      .load_arg = load });
    struct packet p = tcp_packet(1, 1, 80, false);

    CHECK_INT(scheduler_pick(scheduler, &p), 1);
    load[1] = 1000;
    load[2] = 0;
    p.time_us += 90 * 1000000;
    CHECK_INT(scheduler_pick(scheduler, &p), 1);        /* the flow lives: it stays */
    p.time_us += 90 * 1000000;
    CHECK_INT(scheduler_pick(scheduler, &p), 1);
    p.time_us += 126 * 1000000;
    CHECK_INT(scheduler_pick(scheduler, &p), 2);        /* it cannot live any more */
    scheduler_free(scheduler);
}
