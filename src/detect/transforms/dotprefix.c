/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dotprefix - puts a dot in front, so that content:".example.com"; endswith; matches
 * example.com and its subdomains, but not badexample.com. */
#include "base/memory/buf.h"
#include "detect/transforms/list.h"

static void dotprefix_apply(struct slice in, const void *arg UNUSED, struct buf *out)
{
    if (in.len == 0)
        return;
    buf_add_u8(out, '.');
    buf_add(out, in.data, in.len);
}

const struct transform_ops transform_dotprefix = {
    .name = "dotprefix",
    .doc = "modify buffer to extract the dotprefix",
    .apply = dotprefix_apply,
};
