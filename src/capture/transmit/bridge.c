/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/bridge.c - which interfaces forward to which: copy-mode and copy-iface. */
#include "capture/transmit/bridge.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/report/log.h"
#include "base/text/text.h"

static const struct conf_node *item_of(struct capture_section section, const char *name)
{
    return conf_item(conf_find(section.root, section.name), "interface", name);
}

/* The enum value of the word; negative if it is unknown. */
static int mode_of(const char *word)
{
    static const char *const words[] = { "none", "tap", "ips" };

    for (int i = 0; i < (int)ARRAY_LEN(words); i++)
        if (text_equal_nocase(text_of(word), words[i]))
            return i;
    return -1;
}

/* BRIDGE_NONE without a peer, or with an unknown word; bridge_read() reports the latter. */
enum bridge_copy bridge_copy_mode(struct capture_section section, const char *name,
                                  const char **peer)
{
    const struct conf_node *item = item_of(section, name);
    int mode = mode_of(conf_string(item, "copy-mode", "none"));

    *peer = conf_string(item, "copy-iface", NULL);
    return *peer != NULL && strcmp(*peer, "none") != 0 && mode >= 0 ? (enum bridge_copy)mode
                                                                    : BRIDGE_NONE;
}

/* Both interfaces name each other. */
bool bridge_are_pair(struct capture_section section, const char *one, const char *other)
{
    const char *there, *back;

    return bridge_copy_mode(section, one, &there) != BRIDGE_NONE && strcmp(there, other) == 0 &&
           bridge_copy_mode(section, other, &back) != BRIDGE_NONE && strcmp(back, one) == 0;
}

/* The other interface of a pair; NULL if forwarding is one-way or off. */
const char *bridge_peer(struct capture_section section, const char *name)
{
    const char *peer;

    return bridge_copy_mode(section, name, &peer) != BRIDGE_NONE &&
           bridge_are_pair(section, name, peer) ? peer : NULL;
}

/* A pair is one source, so its second interface is left out. */
static bool is_second_of_pair(struct capture_section section, const struct capture_names *names,
                              const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (bridge_are_pair(section, names->at[i], name))
            return true;
    return false;
}

/* One-way forwarding is possible but rarely intended, hence the warning. */
int bridge_sources(struct capture_section section, const char *const *given, size_t count,
                   struct capture_names *out, struct err *err)
{
    struct capture_names all = { 0 };
    int status = capture_interfaces(section, given, count, &all, err);

    for (size_t i = 0; i < all.count; i++) {
        const char *peer;

        if (is_second_of_pair(section, out, all.at[i]))
            continue;
        capture_names_add(out, all.at[i]);
        if (bridge_copy_mode(section, all.at[i], &peer) != BRIDGE_NONE &&
            !bridge_are_pair(section, all.at[i], peer))
            log_warning(section.name, "what comes in by %s goes out by %s, but nothing comes "
                        "back: %s has no copy-iface: %s", all.at[i], peer, peer, all.at[i]);
    }
    capture_names_free(&all);
    return status;
}

/* `least` is BRIDGE_TAP for "forwards at all", BRIDGE_IPS for "may drop". */
bool bridge_any(struct capture_section section, const char *const *sources, size_t count,
                enum bridge_copy least)
{
    const char *peer;

    for (size_t i = 0; i < count; i++)
        if (bridge_copy_mode(section, sources[i], &peer) >= least)
            return true;
    return false;
}

/* What the two keys say; the interfaces need not be the kernel's. */
int bridge_read_keys(struct capture_section section, const char *self, struct bridge *out,
                     struct err *err)
{
    const struct conf_node *item = item_of(section, self);
    const struct conf_node *key = conf_find(item, "copy-mode");
    const char *name;

    if (key != NULL && mode_of(conf_string(item, "copy-mode", "none")) < 0)
        return err_at(err, key->at, "copy-mode: expected ips, tap or none, got \"%s\"", key->value);
    out->copy = bridge_copy_mode(section, self, &name);
    if (out->copy == BRIDGE_NONE && key != NULL && mode_of(key->value) != BRIDGE_NONE)
        return err_at(err, key->at, "copy-mode: %s needs copy-iface: the interface by which the "
                      "packets of %s go on", key->value, self);
    if (out->copy == BRIDGE_NONE)
        return 0;
    if (strcmp(name, self) == 0)
        return err_at(err, conf_find(item, "copy-iface")->at,
                      "copy-iface is the interface itself");
    snprintf(out->peer, sizeof(out->peer), "%s", name);
    return 0;
}

/* Different MTUs are no reason to refuse: only packets between the two sizes are lost. */
int bridge_read(struct capture_section section, const char *self,
                const struct net_device *facts, struct bridge *out, struct err *err)
{
    const char *name = out->peer;
    struct net_device there;

    if (bridge_read_keys(section, self, out, err) < 0)
        return -1;
    if (out->copy == BRIDGE_NONE)
        return 0;
    if (net_device_read(name, &there, err) < 0)
        return -1;
    if (there.mtu != facts->mtu)
        log_error(section.name, "the MTU of %s is %u, that of %s is %u: larger packets will not "
                  "pass; `ip link set dev %s mtu %u`", self, facts->mtu, name, there.mtu,
                  there.mtu < facts->mtu ? name : self, MAX(there.mtu, facts->mtu));
    return 0;
}
