/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of sequencer/hosts: which thread has a host, and that it waits for no thread where it has the
 * host alone. */
#include "sequencer/hosts.h"

#include "base/test.h"
#include "sequencer/setup.h"

#include <stdlib.h>

static struct ip host(const char *text)
{
    struct ip ip;

    if (!ip_parse(text_of(text), &ip))
        abort();
    return ip;
}

TEST(seq_hosts_belong_to_one_thread_or_to_none)
{
    struct seq_hosts *hosts = seq_hosts_new();
    struct ip a = host("10.0.0.1"), b = host("2001:db8::1");

    CHECK(!seq_hosts_belongs(hosts, &a, 0));
    CHECK_INT(seq_hosts_thread(hosts, seq_hosts_slot(hosts, &a)), -1);
    seq_hosts_add(hosts, seq_hosts_slot(hosts, &a), 3);
    seq_hosts_add(hosts, seq_hosts_slot(hosts, &a), 3);
    CHECK(seq_hosts_belongs(hosts, &a, 3) && !seq_hosts_belongs(hosts, &a, 0));
    CHECK_INT(seq_hosts_thread(hosts, seq_hosts_slot(hosts, &a)), 3);
    CHECK(!seq_hosts_belongs(hosts, &b, 3));
    seq_hosts_add(hosts, seq_hosts_slot(hosts, &a), 0);
    CHECK(!seq_hosts_belongs(hosts, &a, 3) && !seq_hosts_belongs(hosts, &a, 0));
    CHECK_INT(seq_hosts_thread(hosts, seq_hosts_slot(hosts, &a)), -1);
    seq_hosts_free(hosts);
}

static unsigned slept;

static void sleeps(void *self)
{
    slept++;
    seq_publish(self, SEQNO_END, SEQNO_END);
}

static void nothing(void *self UNUSED)
{
}

/* Whether a thread that is at packet 4 waits for another that is behind. */
static bool waits(struct seq_hosts *notes, const struct ip *one, const struct ip *other)
{
    struct sequencer *seq = sequencer_new();
    struct seq_thread behind = { NULL, NULL, nothing, nothing }, ours = behind;
    struct packet p = { .seqno = 4 };

    ours.self = seq_handle_new(seq, &behind);
    ours.sleeps = sleeps;
    sequencer_slot(&p)->handle = seq_handle_new(seq, &ours);
    seq_handle_set_hosts(sequencer_slot(&p)->handle, notes, 1);
    slept = 0;
    packet_seq_wait_hosts(&p, one, other);
    sequencer_free(seq);
    return slept > 0;
}

TEST(seq_hosts_of_one_thread_need_no_wait)
{
    struct seq_hosts *hosts = seq_hosts_new();
    struct ip own = host("10.0.0.1"), of_other = host("10.0.0.2"), shared = host("10.0.0.3");

    seq_hosts_add(hosts, seq_hosts_slot(hosts, &own), 1);
    seq_hosts_add(hosts, seq_hosts_slot(hosts, &of_other), 0);
    seq_hosts_add(hosts, seq_hosts_slot(hosts, &shared), 0);
    seq_hosts_add(hosts, seq_hosts_slot(hosts, &shared), 1);
    CHECK(!waits(hosts, &own, NULL));
    CHECK(waits(hosts, &of_other, NULL) && waits(hosts, &shared, NULL));
    CHECK(!waits(hosts, &shared, &own) && !waits(hosts, &own, &shared));
    CHECK(waits(hosts, &shared, &of_other));
    CHECK(waits(NULL, &own, NULL));
    seq_hosts_free(hosts);
}
