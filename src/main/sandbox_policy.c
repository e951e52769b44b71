/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/sandbox_policy.c - which paths the sandbox allows. It names directories instead of
 * files: a file that was replaced is another file to the kernel, and a reload must still
 * be able to read it. */
#include "config.h"

#include "main/sandbox_policy.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/sandbox.h"

/* Settings that name a file which a reload reads again; their directories become readable. */
static const char *const file_keys[] = {
    "classification-file", "reference-config-file", "threshold-file",
    "reputation-categories-file", "magic-file", "geoip-database",
};
/* Settings that name a directory. */
static const char *const read_keys[] = { "default-rule-path", "default-reputation-path" };
static const char *const write_keys[] = { "default-data-dir", "default-log-dir",
                                          "detect.sgh-mpm-caching-path" };

/* `paths` borrows its strings, from the configuration or from `directories`. */
struct sandbox_policy {
    struct sandbox_paths paths;
    ARRAY_OF(char *) directories;           /* made here */
};

/* dirname(3) may return a part of its argument or a constant, so the result is moved to
 * the front of the copy. */
static const char *directory_of(struct sandbox_policy *f, const char *file)
{
    char *copy = xstrdup(file), *directory = dirname(copy);

    memmove(copy, directory, strlen(directory) + 1);
    ARRAY_PUSH(&f->directories, copy);
    return copy;
}

static void add_keys(struct sandbox_policy *f, const struct setup *s)
{
    for (unsigned i = 0; i < ARRAY_LEN(file_keys); i++) {
        const char *path = conf_string(s->root, file_keys[i], NULL);

        if (path != NULL)
            ARRAY_PUSH(&f->paths.read, directory_of(f, path));
    }
    for (unsigned i = 0; i < ARRAY_LEN(read_keys); i++) {
        const char *path = conf_string(s->root, read_keys[i], NULL);

        if (path != NULL)
            ARRAY_PUSH(&f->paths.read, path);
    }
    for (unsigned i = 0; i < ARRAY_LEN(write_keys); i++) {
        const char *path = conf_string(s->root, write_keys[i], NULL);

        if (path != NULL)
            ARRAY_PUSH(&f->paths.write, path);
    }
}

/* Tenants that a command adds later must be in a directory that is allowed already. */
static void add_tenants(struct sandbox_policy *f, const struct tenants *tenants)
{
    for (size_t i = 0; tenants != NULL && i < tenants->list.count; i++) {
        const struct tenant *tenant = tenants->list.at[i];
        const char *path = conf_string(conf_root(tenant->conf), "default-rule-path", NULL);

        ARRAY_PUSH(&f->paths.read, directory_of(f, tenant->file));
        if (path != NULL)
            ARRAY_PUSH(&f->paths.read, path);
    }
}

/* The pid file and the socket are removed at the end, so their directories need to be
 * writable. Files of a capture are read only, unless they are deleted when done. */
static void add_options(struct sandbox_policy *f, const struct setup *s)
{
    const struct options *o = s->options;
    bool deletes = conf_string(s->root, "pcap-file.delete-when-done", NULL) != NULL;

    for (size_t i = 0; i < o->rule_files.count; i++)
        ARRAY_PUSH(&f->paths.read, directory_of(f, o->rule_files.at[i]));
    if (o->only_rule_file != NULL)
        ARRAY_PUSH(&f->paths.read, directory_of(f, o->only_rule_file));
    if (o->firewall_file != NULL)
        ARRAY_PUSH(&f->paths.read, directory_of(f, o->firewall_file));
    if (setup_pid_file(o, s->root) != NULL)
        ARRAY_PUSH(&f->paths.write, directory_of(f, setup_pid_file(o, s->root)));
    if (control_path(s->control) != NULL && control_path(s->control)[0] != '\0')
        ARRAY_PUSH(&f->paths.write, directory_of(f, control_path(s->control)));
    if (s->context.capture->live)
        return;
    for (size_t i = 0; i < s->sources.count; i++) {
        ARRAY_PUSH(&f->paths.read, s->sources.at[i]);
        if (deletes)
            ARRAY_PUSH(&f->paths.write, directory_of(f, s->sources.at[i]));
        if (deletes)
            ARRAY_PUSH(&f->paths.write, s->sources.at[i]);
    }
}

/* The strings may be freed afterwards: the kernel has opened the paths. */
int sandbox_policy_enter(const struct setup *s, struct err *err)
{
    struct sandbox_policy f = { 0 };
    int status;

    add_keys(&f, s);
    add_tenants(&f, s->context.tenants);
    add_options(&f, s);
    ARRAY_PUSH(&f.paths.read, s->config_dir);
    ARRAY_PUSH(&f.paths.write, s->log_dir);
    f.paths.copies = s->takes_jobs && setup_parallel_jobs(s) > 1;
    status = sandbox_enter(s->root, &f.paths, err);
    for (size_t i = 0; i < f.directories.count; i++)
        free(f.directories.at[i]);
    ARRAY_FREE(&f.directories);
    ARRAY_FREE(&f.paths.read);
    ARRAY_FREE(&f.paths.write);
    return status;
}
