/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/file/filesize.c - filesize: the length of a file. */
#include "app/proto.h"
#include "detect/keywords/file/file_test.h"

/* -1: unknown. A truncated file is at least as long as the bytes seen, so only "more than" can be
 * tested. The length of an open file is still unknown. */
static int size_fits(struct app_file *file, const void *arg)
{
    const struct int_match *m = arg;

    if (file->state == FILE_CLOSED)
        return int_match_has(m, file->size);
    if (file->state != FILE_OPEN && (m->op == INT_GT || m->op == INT_GE))
        return int_match_has(m, file->size);
    return -1;
}

/* The rule's hook is in the direction in which its protocol transfers no files. */
static bool hook_has_no_files(const struct rule *r)
{
    const struct app_proto *proto = app_proto_by_id((enum app_proto_id)r->app_proto);
    unsigned way = r->flags & RULE_TO_CLIENT ? APP_TC : APP_TS;

    return r->hook_in_app && proto != NULL && proto->file_directions != 0 &&
           (proto->file_directions & way) == 0;
}

/* "to_client,SIZE" restricts the test to one direction, which "=>" rules need. */
static int filesize_parse(struct rule_parser *p, struct text in, void *arg)
{
    bool to_client = text_starts(in, "to_client,"), to_server = text_starts(in, "to_server,");

    if (to_client || to_server)
        in = text_from(in, sizeof("to_client,") - 1);
    if (int_match_parse(p, in, 64, NULL, arg) < 0)
        return -1;
    if (hook_has_no_files(p->rule))
        return rule_error(p, "filesize: the rule's hook is in the direction without files");
    return file_test_add_in(p, to_client ? APP_TC : to_server ? APP_TS : APP_BOTH, size_fits,
                            arg, 0);
}

const struct keyword_ops keyword_filesize = {
    .name = "filesize",
    .doc = "length of a file in bytes",
    .syntax = "[to_server,|to_client,]<number>",
    .point = POINT_NONE,
    .quotes = true,
    .arg_size = sizeof(struct int_match),
    .parse = filesize_parse,
};
