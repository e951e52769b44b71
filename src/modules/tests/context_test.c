/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs one after another in one process: each finds all places free. */
#include "base/test.h"
#include "modules/context.h"

#include <stdlib.h>

TEST(context_has_places_for_streams_in_every_run)
{
    struct run_context *ctx = xcalloc(1, sizeof(*ctx));
    struct err err = { 0 };

    for (unsigned run = 0; run < RUN_STREAMS_MAX; run++) {
        CHECK(run_stream_join(ctx, &err) != NULL);
        CHECK(run_stream_join(ctx, &err) != NULL);
        CHECK_INT(ctx->stream_count, 2);
        run_context_end_run(ctx);
    }
    CHECK_INT(ctx->stream_count, 0);
    CHECK_INT(ctx->queue_count, 0);
    for (unsigned i = 0; i < RUN_STREAMS_MAX; i++)
        CHECK(run_stream_join(ctx, &err) != NULL);
    CHECK(run_stream_join(ctx, &err) == NULL);
    CHECK(err.text[0] != '\0');
    run_context_end_run(ctx);
    free(ctx);
}
