/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/explain.c - starts a question, and collects the answer. Threads look at the question in
 * rounds only (modules/context.h): after a round without it none can come to it any more. */
#include "control/explain.h"

#include <inttypes.h>
#include <string.h>

#include "base/system/cpu.h"
#include "detect/explain/live.h"

#define ROUND_MS 2000

/* False: a packet thread still uses the one before. */
static bool drop_last(struct run_context *ctx)
{
    struct explain_live *last = ctx->explain_live;

    if (last == NULL)
        return true;
    __atomic_store_n(&ctx->explain_live, NULL, __ATOMIC_RELEASE);
    if (!qsbr_synchronize(ctx, NULL, NULL, ROUND_MS) || explain_live_is_used(last)) {
        __atomic_store_n(&ctx->explain_live, last, __ATOMIC_RELEASE);
        return false;
    }
    explain_live_free(last);
    return true;
}

int explain_start(struct run_context *ctx, const struct explain_question *q, struct err *err)
{
    struct explain_live_request request = { .rules = q->rules, .seconds = (unsigned)q->seconds };
    struct explain_live *live;
    struct tenants *tenants;
    struct ruleset *set;
    unsigned generation;

    if (q->seconds < 1 || q->seconds > EXPLAIN_SECONDS_MAX)
        return err_set(err, "seconds: expected 1 to %d", EXPLAIN_SECONDS_MAX);
    if (ctx->explain_live != NULL && explain_live_seconds_left(ctx->explain_live) > 0)
        return err_set(err, "explain: another question runs for %u s yet: wait, or stop it "
                       "(explain-stop)",
                       explain_live_seconds_left(ctx->explain_live));
    request.threads = __atomic_load_n(&ctx->inspecting, __ATOMIC_RELAXED);
    if (q->takes_captures)
        request.threads = MAX(request.threads, cpu_count());
    if (request.threads == 0)
        return err_set(err, "explain: no capture runs");
    if (!drop_last(ctx))
        return err_set(err, "explain: a packet thread does not answer; try again");
    set = run_context_rules(ctx, &generation);
    request.tenants = tenants = run_context_tenants(ctx);
    live = explain_live_new(&request, set, ctx->conf, err);
    tenants_unref(tenants);
    ruleset_unref(set);
    if (live == NULL)
        return -1;
    __atomic_store_n(&ctx->explain_live, live, __ATOMIC_RELEASE);
    (void)qsbr_synchronize(ctx, NULL, NULL, ROUND_MS);
    return 0;
}

void explain_stop(struct run_context *ctx)
{
    if (ctx->explain_live != NULL)
        explain_live_stop(ctx->explain_live);
}

/* A line of JSON for each rule becomes an item. */
static void rules_array(struct json *j, struct slice lines)
{
    const char *p = (const char *)lines.data, *end = p + lines.len;

    json_array(j, "rules");
    while (p < end) {
        const char *line = memchr(p, '\n', (size_t)(end - p));

        line = line != NULL ? line : end;
        if (line > p)
            json_raw(j, NULL, p, (size_t)(line - p));
        p = line + 1;
    }
    json_array_end(j);
}

/* A thread without packets leaves in a round. */
static bool is_done(struct run_context *ctx)
{
    if (explain_live_is_used(ctx->explain_live))
        (void)qsbr_synchronize(ctx, NULL, NULL, ROUND_MS);
    return !explain_live_is_used(ctx->explain_live);
}

enum explain_state explain_state(struct run_context *ctx)
{
    const struct explain_live *live = ctx->explain_live;

    if (live == NULL)
        return EXPLAIN_NONE;
    if (explain_live_seconds_left(live) > 0)
        return EXPLAIN_RUNNING;
    return is_done(ctx) ? EXPLAIN_DONE : EXPLAIN_ENDING;
}

void explain_text(struct run_context *ctx, struct buf *out)
{
    uint64_t packets, asked;

    switch (explain_state(ctx)) {
    case EXPLAIN_NONE:
        buf_add_string(out, "nothing has been asked: explain SID [SECONDS]");
        return;
    case EXPLAIN_RUNNING:
        buf_printf(out, "%u s left", explain_live_seconds_left(ctx->explain_live));
        return;
    case EXPLAIN_ENDING:
        buf_add_string(out, "a packet thread does not answer yet");
        return;
    case EXPLAIN_DONE:
        break;
    }
    explain_live_counts(ctx->explain_live, &packets, &asked);
    if (!explain_live_write(ctx->explain_live, false, out))
        buf_add_string(out, "\nMemory ran out: this is not all.\n");
    buf_printf(out, "\nAsked about %" PRIu64 " of %" PRIu64 " packets.\n", asked, packets);
}

void explain_state_members(struct run_context *ctx, struct json *j)
{
    static const char *const names[] = { [EXPLAIN_NONE] = "none", [EXPLAIN_RUNNING] = "running",
                                         [EXPLAIN_ENDING] = "ending", [EXPLAIN_DONE] = "done" };
    enum explain_state state = explain_state(ctx);
    const uint32_t *sids;
    unsigned count;

    json_string(j, "state", names[state]);
    if (state == EXPLAIN_NONE)
        return;
    json_array(j, "sids");
    count = explain_live_sids(ctx->explain_live, &sids);
    for (unsigned i = 0; i < count; i++)
        json_u64(j, NULL, sids[i]);
    json_array_end(j);
    if (state == EXPLAIN_RUNNING)
        json_u64(j, "seconds_left", explain_live_seconds_left(ctx->explain_live));
}

void explain_members(struct run_context *ctx, struct json *j)
{
    uint64_t packets, asked;
    struct buf out = { 0 };

    explain_state_members(ctx, j);
    if (explain_state(ctx) != EXPLAIN_DONE)
        return;
    explain_live_counts(ctx->explain_live, &packets, &asked);
    json_u64(j, "packets", packets);
    json_u64(j, "asked", asked);
    if (!explain_live_write(ctx->explain_live, true, &out))
        json_bool(j, "incomplete", true);
    rules_array(j, buf_slice(&out));
    buf_fini(&out);
}
