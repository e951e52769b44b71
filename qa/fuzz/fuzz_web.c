/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_web.c - what a client of the metrics listener may send: the parts of a request that
 * libmicrohttpd hands on. The first byte chooses the page; then come lines: Host, Accept, the
 * arguments `since` and `sid`, an address to listen on, Origin, Sec-Fetch-Site, and the body of a
 * question. */
#include "control/private.h"
#include "control/rule_profile.h"
#include "control/web/address.h"
#include "control/web/web_private.h"
#include "detect/keywords/registry.h"
#include "detect/rule/ruleset.h"
#include "memory_file.h"
#include "quiet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int fuzz_input(const uint8_t *data, size_t size);

#define LINES 8

/* Always loaded, in the engine as here. */
static struct ruleset *load_rules(const struct conf_node *root)
{
    static const char rule[] = "alert ip any any -> any any (msg:\"a\"; content:\"a\"; sid:1;)\n";
    struct ruleset_request request = {
        .conf = root,
        .exclusive_file = memory_file(0, (const uint8_t *)rule, sizeof(rule) - 1) };
    struct ruleset_report report = { 0 };
    struct err err;

    app_protos_init();
    keyword_registry_init();
    return ruleset_load(&request, &report, &err);
}

/* Its sockets are removed at once: nobody connects. */
static struct web *make_web(void)
{
    static struct run_context context;
    static struct rule_profile_conf profile;
    char dir[] = "/tmp/fuzz-web-XXXXXX", socket[64], listen[64];
    static struct conf *yaml;       /* as long as the listener */
    struct control_conf conf = { .context = &context, .path = socket, .takes_jobs = true,
                                 .rule_profile = &profile };
    struct control *control;
    struct web *web;
    struct err err;

    if (mkdtemp(dir) == NULL)
        abort();
    yaml = conf_new();
    snprintf(socket, sizeof(socket), "%s/control", dir);
    snprintf(listen, sizeof(listen), "unix:%s/web", dir);
    conf_set(yaml, "metrics.enabled", "yes");
    conf_set(yaml, "metrics.listen", listen);
    conf_set(yaml, "metrics.token", "hidden");
    conf.root = context.conf = conf_root(yaml);
    pthread_mutex_init(&context.rules_lock, NULL);
    pthread_mutex_init(&context.qsbr_lock, NULL);
    quiet();
    context.rules = load_rules(conf.root);
    rule_profile_conf_read(&profile, conf.root);
    if (context.rules == NULL || control_open(&conf, &control, &err) < 0 ||
        (web = web_open(control, &err)) == NULL)
        abort();
    unlink(socket);
    unlink(listen + strlen("unix:"));
    rmdir(dir);
    return web;
}

/* Empty lines are absent, as headers and arguments may be. */
static void split(char *text, const char *line[LINES])
{
    for (unsigned i = 0; i < LINES; i++) {
        char *part = text != NULL ? strsep(&text, "\n") : NULL;

        line[i] = part != NULL && part[0] != '\0' ? part : NULL;
    }
}

/* A question that has begun is ended, so that the next one is not refused. */
static void ask(struct web *web, const char *body, struct buf *out)
{
    struct slice text = { (const uint8_t *)body, (uint32_t)MIN(strlen(body), WEB_BODY_MAX) };

    for (const struct web_action *a = web_actions; a->path != NULL; a++) {
        buf_clear(out);
        (void)a->run(web_control(web), text, out);
    }
}

int fuzz_input(const uint8_t *data, size_t size)
{
    const struct web_page *page = web_pages;
    static struct web *web;
    struct web_address address;
    const char *line[LINES];
    struct buf out = { 0 };
    struct err err;
    char *text;

    if (web == NULL)
        web = make_web();
    if (size < 1 || (text = strndup((const char *)data + 1, size - 1)) == NULL)
        return 0;
    for (unsigned n = data[0] % 16; n > 0 && page[1].path != NULL; n--)
        page++;
    split(text, line);
    (void)web_host_is_local(line[0]);
    (void)page->write(web, &(struct web_request){ line[1], line[2], line[3] }, &out);
    if (line[4] != NULL)
        (void)web_address_read(line[4], &address, &err);
    (void)web_post_forbidden(&(struct web_sender){ "", line[6], line[5], line[0] });
    if (line[7] != NULL)
        ask(web, line[7], &out);
    buf_fini(&out);
    free(text);
    return 0;
}
