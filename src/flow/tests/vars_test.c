/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/test.h"
#include "flow/exception.h"
#include "flow/memcap.h"
#include "flow/vars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(flow_var_names_keep_their_numbers)
{
    uint32_t a = var_name_id(VAR_FLOWBIT, "test-a");

    CHECK(a > 0 && var_name_id(VAR_FLOWBIT, "test-b") != a);
    CHECK_INT(var_name_id(VAR_FLOWBIT, "test-a"), a);
    CHECK_STRING(var_name(VAR_FLOWBIT, a), "test-a");
    CHECK(var_name(VAR_FLOWINT, 9999) == NULL && var_name(VAR_FLOWBIT, 0) == NULL);
}

#define VIEW_TEXT 200

static bool collect(const struct flow_var_view *v, void *arg)
{
    char *text = arg;
    size_t used = strlen(text);

    snprintf(text + used, VIEW_TEXT - used, "%d:%u=%u:%.*s/%.*s ", (int)v->kind, v->id, v->number,
            (int)v->key.len, (const char *)v->key.data, (int)v->value.len,
            (const char *)v->value.data);
    return true;
}

/* As many as fit: the first four. */
static bool collect_few(const struct flow_var_view *v, void *arg)
{
    char *text = arg;

    (void)collect(v, arg);
    return strlen(text) < 48;
}

static bool count(const struct flow_var_view *v, void *arg)
{
    (void)v;
    ++*(int *)arg;
    return true;
}

static int count_vars(const struct flow *f)
{
    int n = 0;

    flow_vars_each(f, count, &n);
    return n;
}

static struct slice slice_of(const char *s)
{
    return (struct slice){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

TEST(flow_vars_are_set_and_listed_in_order)
{
    struct flow *f = aligned_alloc(CACHE_LINE, sizeof(*f));
    char text[VIEW_TEXT] = "";
    uint32_t n;

    memset(f, 0, sizeof(*f));
    CHECK(!flowbit_is_set(f, 3) && !flowint_get(f, 3, &n));
    for (uint32_t i = 1; i <= 10; i++)
        flowbit_set(f, i);
    flowbit_set(f, 3);
    flowint_put(f, 3, 70);
    flowint_put(f, 3, 71);
    CHECK(flowint_get(f, 3, &n) && n == 71);
    for (uint32_t i = 1; i <= 10; i++)
        if (i != 3)
            flowbit_unset(f, i);
    CHECK(flowbit_is_set(f, 3) && !flowbit_is_set(f, 4));
    flowvar_put(f, 5, slice_of("k"), slice_of("one"));
    flowvar_put(f, 5, slice_of("k"), slice_of("two!"));
    flowvar_put(f, 5, slice_of(""), slice_of("x"));
    flow_vars_each(f, collect, text);
    CHECK_STRING(text, "0:3=0:/ 1:3=71:/ 2:5=0:k/two! 2:5=0:/x ");
    flow_vars_free(f->vars);
    free(f);
}

/* Keys come from traffic: each is found again, in the order of setting, up to the limit. */
TEST(flow_vars_of_many_keys)
{
    struct flow *f = aligned_alloc(CACHE_LINE, sizeof(*f));
    char key[16], text[VIEW_TEXT] = "";

    memset(f, 0, sizeof(*f));
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 5000; i++) {
            snprintf(key, sizeof(key), "k%u", i);
            flowvar_put(f, 5 + i % 2, slice_of(key), slice_of(i < 3 && round == 1 ? "new" : "old"));
        }
    }
    flow_vars_each(f, collect_few, text);
    CHECK_STRING(text, "2:5=0:k0/new 2:6=0:k1/new 2:5=0:k2/new 2:6=0:k3/old ");
    CHECK_INT(count_vars(f), 4096);
    flow_vars_free(f->vars);
    free(f);
}

TEST(flow_memcap_is_exact_and_releases)
{
    struct memcap shared = { .limit = 1000 };
    struct memcap_reservation a = { .shared = &shared }, b = { .shared = &shared };

    CHECK(memcap_take(&a, 600) && memcap_take(&a, 400) && !memcap_take(&a, 1));
    CHECK(!memcap_take(&b, 1));
    memcap_release(&a, 400);
    CHECK(memcap_take(&a, 400));
    memcap_reservation_end(&a);
    CHECK(memcap_take(&b, 1000));
    memcap_reservation_end(&b);
    CHECK_INT(shared.reserved, 0);
    shared.limit = 10 * MEMCAP_STEP_MAX;
    CHECK(memcap_take(&a, 9 * MEMCAP_STEP_MAX));
    memcap_release(&a, 9 * MEMCAP_STEP_MAX);
    CHECK(shared.reserved <= 2 * MEMCAP_STEP_MAX);
}

TEST(flow_memcap_of_few_bytes_is_enough_for_two_threads)
{
    struct memcap shared = { .limit = MEMCAP_STEP_MAX };
    struct memcap_reservation a = { .shared = &shared }, b = { .shared = &shared };

    CHECK(memcap_take(&a, 300) && memcap_take(&b, 300));
    CHECK(memcap_take(&a, MEMCAP_STEP_MAX / 2));
    memcap_release(&a, MEMCAP_STEP_MAX / 2);
    CHECK(memcap_take(&b, MEMCAP_STEP_MAX * 9 / 10));
}

static enum exception_policy read(const char *yaml, bool is_inline, bool flow_too)
{
    struct conf *conf = conf_new();
    enum exception_policy policy;
    struct err err;

    conf_load_string(conf, yaml, "test", &err);
    policy = exception_policy_read(conf_root(conf), "stream.memcap-policy", flow_too, is_inline,
                                   false);
    conf_free(conf);
    return policy;
}

TEST(flow_exception_policy_from_settings)
{
    CHECK_INT(read("a: b", false, true), EXCEPTION_IGNORE);
    CHECK_INT(read("a: b", true, true), EXCEPTION_DROP_FLOW);
    CHECK_INT(read("exception-policy: auto", true, true), EXCEPTION_DROP_FLOW);
    CHECK_INT(read("exception-policy: auto", true, false), EXCEPTION_DROP_PACKET);
    CHECK_INT(read("exception-policy: auto", false, true), EXCEPTION_IGNORE);
    CHECK_INT(read("exception-policy: drop-flow", false, true), EXCEPTION_IGNORE);
    CHECK_INT(read("exception-policy: pass-flow", false, true), EXCEPTION_PASS_FLOW);
    CHECK_INT(read("exception-policy: bypass", true, false), EXCEPTION_IGNORE);
    CHECK_INT(read("exception-policy: ignore\nstream: { memcap-policy: reject }", true, true),
              EXCEPTION_REJECT);
}
