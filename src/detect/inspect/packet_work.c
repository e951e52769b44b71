/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/packet_work.c - the steps that a packet pays for, and its flow. */
#include "detect/inspect/packet_work.h"

#include "base/array.h"
#include "flow/flow.h"

/* A step takes 10 to 20 ns. The headers of a packet pay for so many. */
#define STEPS_BY_PACKET 128
/* What a flow has not used grows to this, 20 ms. */
#define FLOW_STEPS_MOST (1u << 20)

/* Half is for the packet alone, so that few flows have to keep a sum. The other half is the
 * flow's. */
static uint64_t paid(const struct detect_thread *dt, uint64_t packets, uint64_t bytes)
{
    return (packets * STEPS_BY_PACKET + bytes * dt->plan->work_by_byte) / 2;
}

/* What the flow has left, this packet's part included. */
static uint64_t flow_left(const struct detect_thread *dt, const struct flow *f)
{
    const uint64_t spent = f->ext != NULL ? f->ext->rule_steps : 0;
    const uint64_t all = paid(dt, f->packets[0] + f->packets[1], f->bytes[0] + f->bytes[1]);

    return MIN(all - MIN(all, spent), FLOW_STEPS_MOST);
}

static void pay_alone(void *arg, struct program_work *work)
{
    const struct detect_thread *dt = arg;

    work->own = work->most = paid(dt, 1, dt->inspection->packet->len);
}

static void pay_with_flow(void *arg, struct program_work *work)
{
    const struct detect_thread *dt = arg;

    pay_alone(arg, work);
    if (dt->inspection->flow != NULL)
        work->most += flow_left(dt, dt->inspection->flow);
}

void packet_work_attach(struct detect_thread *dt)
{
    dt->program.packet = (struct program_work){ .arg = dt };
    packet_work_at_early_hook(dt, false);
}

void packet_work_at_early_hook(struct detect_thread *dt, bool early)
{
    struct program_work *work = &dt->program.packet;

    work->used = work->estimated = work->most = 0;
    work->pay = dt->plan->work_by_byte == 0 ? NULL : early ? pay_alone : pay_with_flow;
}

/* Without memory for the sum the flow starts with nothing used, which is no harm to rules. */
COLD void packet_work_finish(struct detect_thread *dt)
{
    struct program_work *work = &dt->program.packet;
    struct flow *f = dt->inspection->flow;

    if (f != NULL && work->used > work->own && flow_ext_make(f) != NULL) {
        const uint64_t all = paid(dt, f->packets[0] + f->packets[1], f->bytes[0] + f->bytes[1]);

        f->ext->rule_steps = all - MIN(all, flow_left(dt, f)) + (work->used - work->own);
    }
    work->used = work->estimated = work->most = 0;
}
