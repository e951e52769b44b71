/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of capture/send_thread: all that is given is sent, in order, also what is left at the end. */
#include "base/test.h"
#include "capture/transmit/send_thread.h"

#include <sched.h>

struct sent {
    unsigned last, wrong;
};

static void take(void *arg, void *buffer)
{
    struct sent *sent = arg;
    unsigned *number = buffer;

    sent->wrong += *number != sent->last + 1;
    sent->last = *number;
    *number = 0;
}

static void push(struct test *t, struct send_thread *s, unsigned number)
{
    unsigned *buffer = send_thread_buffer(s);

    CHECK_INT(*buffer, 0);
    *buffer = number;
    send_thread_push(s, 1);
}

TEST(send_thread_sends_all_in_order)
{
    struct sent sent = { 0 };
    struct helper_thread side = { .name = "test" };
    struct send_thread *s = send_thread_new(&side, sizeof(unsigned), take, &sent);

    CHECK(s != NULL);
    if (s == NULL)
        return;
    CHECK(send_thread_is_idle(s));
    for (unsigned i = 1; i <= 500; i++)
        push(t, s, i);
    while (!send_thread_is_idle(s))
        sched_yield();
    CHECK_INT(sent.last, 500);          /* it may be looked at: nothing is under way */
    take(&sent, &(unsigned){ 501 });
    for (unsigned i = 502; i <= 510; i++)
        push(t, s, i);
    send_thread_free(s);
    CHECK_INT(sent.last, 510);
    CHECK_INT(sent.wrong, 0);
    CHECK_INT(side.jobs, 509);
    CHECK(helper_thread_cpu_ns(&side) > 0);
}
