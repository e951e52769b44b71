/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/nfq/verdict.c - collects verdicts in one buffer and passes them to the kernel together.
 *
 * If the same thread receives and gives verdicts, verdicts are in the order of the ids. Then a run
 * of equal verdicts without mark or payload is one message: "all up to here". */
#include "capture/nfq/nfq.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* nla_len has 16 bits and includes the attribute's header. */
#define PAYLOAD_MAX (65535 - sizeof(struct nlattr))

/* Belongs to the thread that gives verdicts on this queue. */
struct nfq_verdict {
    const struct nfq_conf *conf;
    unsigned number;
    bool in_order;
    struct counters *counters;
    counter_id too_long;
    unsigned count;                     /* verdicts since the last flush */
    bool has_run;
    uint32_t run_id, run_mark;
    bool run_sets_mark;
    struct nfq_sender *sender;
    struct nfq_buffer *out;             /* the sender's */
};

/* One verdict before it becomes a message. */
struct verdict {
    uint32_t id, code, mark;
    bool sets_mark;
    const uint8_t *payload;             /* NULL: as it was */
    uint32_t payload_len;
};

struct nfq_verdict *nfq_verdict_new(const struct nfq_conf *conf, struct nfq_binding queue,
                                    struct counters *counters, bool in_order,
                                    struct helper_thread *sender)
{
    struct nfq_verdict *tx = xcalloc(1, sizeof(*tx));

    tx->conf = conf;
    tx->number = queue.number;
    tx->counters = counters;
    tx->in_order = in_order;
    tx->too_long = counter_register_own("capture.nfq.modified_too_long", COUNTER_SUM);
    tx->sender = nfq_sender_new(queue.fd, counters, in_order ? sender : NULL);
    tx->out = nfq_sender_buffer(tx->sender);
    return tx;
}

/* Sends the remaining verdicts, so that no packet stays without one. */
void nfq_verdict_free(struct nfq_verdict *tx)
{
    if (tx == NULL)
        return;
    nfq_verdict_flush(tx);
    nfq_sender_free(tx->sender);
    free(tx);
}

/* The caller has checked the space with make_space(). */
static void put_attribute(struct nfq_buffer *out, uint16_t type, const void *data, size_t len)
{
    struct nlattr attr = { .nla_len = (uint16_t)(sizeof(attr) + len), .nla_type = type };
    uint8_t *at = out->data + out->len;

    memcpy(at, &attr, sizeof(attr));
    memcpy(at + sizeof(attr), data, len);
    out->len += NLA_ALIGN(sizeof(attr) + len);
}

/* No NLM_F_ACK: an answer per verdict would double the traffic with the kernel. */
static void put_message(struct nfq_verdict *tx, unsigned type, const struct verdict *v)
{
    struct nlmsghdr head = { .nlmsg_type = (uint16_t)(NFNL_SUBSYS_QUEUE << 8 | type),
                             .nlmsg_flags = NLM_F_REQUEST };
    struct nfgenmsg gen = { .version = NFNETLINK_V0, .res_id = htons((uint16_t)tx->number) };
    struct nfqnl_msg_verdict_hdr body = { .verdict = htonl(v->code), .id = htonl(v->id) };
    struct nfq_buffer *out = tx->out;
    uint32_t mark = htonl(v->mark);
    size_t start = out->len;

    memcpy(out->data + start + sizeof(head), &gen, sizeof(gen));
    out->len += sizeof(head) + sizeof(gen);
    put_attribute(out, NFQA_VERDICT_HDR, &body, sizeof(body));
    if (v->sets_mark)
        put_attribute(out, NFQA_MARK, &mark, sizeof(mark));
    if (v->payload != NULL)
        put_attribute(out, NFQA_PAYLOAD, v->payload, v->payload_len);
    head.nlmsg_len = (uint32_t)(out->len - start);
    memcpy(out->data + start, &head, sizeof(head));
}

static void send_buffer(struct nfq_verdict *tx)
{
    nfq_sender_send(tx->sender, tx->count);
    tx->out = nfq_sender_buffer(tx->sender);
    tx->count = 0;
}

/* Writes the verdict of the run that is being collected. */
static void end_run(struct nfq_verdict *tx)
{
    struct verdict all = { .id = tx->run_id, .code = NF_ACCEPT, .mark = tx->run_mark,
                           .sets_mark = tx->run_sets_mark };

    if (!tx->has_run)
        return;
    tx->has_run = false;
    if (tx->conf->mode == NFQ_REPEAT)
        all.code = NF_REPEAT;
    else if (tx->conf->mode == NFQ_ROUTE)
        all.code = NF_QUEUE | (uint32_t)tx->conf->route_queue << 16;
    put_message(tx, NFQNL_MSG_VERDICT_BATCH, &all);
}

void nfq_verdict_flush(struct nfq_verdict *tx)
{
    end_run(tx);
    send_buffer(tx);
}

/* 256 bytes hold headers, verdict and mark of the run and of one message. */
static void make_space(struct nfq_verdict *tx, size_t more)
{
    if (tx->out->len + more + 256 > sizeof(tx->out->data))
        nfq_verdict_flush(tx);
}

/* The mark that the packet continues with. It is only sent if it changes. */
static void set_mark(const struct nfq_conf *conf, const struct packet *p, struct verdict *v)
{
    const struct nfq_slot *slot = capture_slot(p)->holder;
    uint32_t mark = p->mark;

    if (conf->mode == NFQ_REPEAT)
        mark = (mark & ~conf->repeat_mask) | (conf->repeat_mark & conf->repeat_mask);
    if ((p->flags & PACKET_BYPASSED) != 0 && conf->bypass_mask != 0)
        mark = (mark & ~conf->bypass_mask) | (conf->bypass_mark & conf->bypass_mask);
    v->mark = mark;
    v->sets_mark = mark != slot->mark;
}

/* PACKET_MODIFIED (rules with `replace`): the new payload goes back with the verdict. */
static void let_pass(struct nfq_verdict *tx, const struct packet *p, struct verdict *v)
{
    set_mark(tx->conf, p, v);
    if (tx->conf->mode == NFQ_REPEAT)
        v->code = NF_REPEAT;
    else if (tx->conf->mode == NFQ_ROUTE)
        v->code = NF_QUEUE | (uint32_t)tx->conf->route_queue << 16;
    if ((p->flags & PACKET_MODIFIED) == 0)
        return;
    if (p->len > PAYLOAD_MAX) {
        /* a packet that should be changed must not pass unchanged */
        counter_inc(tx->counters, tx->too_long);
        v->code = NF_DROP;
        return;
    }
    v->payload = p->data;
    v->payload_len = p->len;
}

/* A drop or a new payload is a separate message. It ends the run first, because the run's verdict
 * covers all ids up to its own. */
static void put_verdict(struct nfq_verdict *tx, const struct verdict *v)
{
    bool plain = tx->in_order && v->payload == NULL && v->code != NF_DROP;

    if (tx->has_run && (!plain || v->sets_mark != tx->run_sets_mark ||
                          (v->sets_mark && v->mark != tx->run_mark)))
        end_run(tx);
    make_space(tx, v->payload_len);
    if (plain) {
        tx->has_run = true;
        tx->run_id = v->id;
        tx->run_mark = v->mark;
        tx->run_sets_mark = v->sets_mark;
    } else {
        put_message(tx, NFQNL_MSG_VERDICT, v);
    }
    if (++tx->count == tx->conf->batch)
        nfq_verdict_flush(tx);
}

void nfq_verdict_add(struct nfq_verdict *tx, struct packet *p)
{
    struct verdict v = { .id = (uint32_t)capture_slot(p)->id, .code = NF_ACCEPT };

    if ((p->action & ACTION_DROP) != 0)
        v.code = NF_DROP;
    else
        let_pass(tx, p, &v);
    put_verdict(tx, &v);
}

/* For packets that the engine does not see, at once: there may be no vector that flushes. */
void nfq_verdict_add_id(struct nfq_verdict *tx, uint32_t id, bool accept)
{
    struct verdict v = { .id = id, .code = accept ? NF_ACCEPT : NF_DROP };

    make_space(tx, 0);
    put_message(tx, NFQNL_MSG_VERDICT, &v);
    send_buffer(tx);
}

void nfq_verdict_accept_rest(struct nfq_verdict *tx, uint32_t last_id)
{
    /* The kernel compares ids as signed differences that wrap; this one is after all existing
     * ids. */
    struct verdict v = { .id = last_id + 0x3fffffff, .code = NF_ACCEPT };

    put_message(tx, NFQNL_MSG_VERDICT_BATCH, &v);
    send_buffer(tx);
}
