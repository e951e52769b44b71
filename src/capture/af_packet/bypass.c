/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/bypass.c - the kernel drops packets of bypassed flows: a socket filter looks up
 * each packet in a table of addresses and ports, which this file fills.
 *
 * Each direction has an entry. It is added when a packet that the engine has bypassed returns to
 * the pool. The kernel's table is independent of the engine's flow table. So one packet in
 * SAMPLE_NS still passes and keeps the engine's flow alive. An entry that saw no packet for half of
 * the engine's timeout of such flows is no longer valid. A SYN removes an entry: a new connection
 * is always inspected. FIN and RST pass too, so that the engine sees the end. */
#include "config.h"

#include "capture/af_packet/af_packet.h"

#ifdef HAVE_BPF
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text/bytes.h"
#include "base/system/clock.h"

/* 65,536 directions; the kernel evicts the least recently used one when the table is full. */
#define ENTRIES 65536
/* Must be below the engine's timeout of bypassed flows; read_bypass() requires 20 s. */
#define SAMPLE_NS UINT64_C(5000000000)

/* The map compares keys byte by byte, so unused bytes must be 0 on both sides. */
struct bypass_key {
    uint8_t src[16], dst[16];       /* IPv4 in the first four bytes */
    uint8_t ports[4];
    uint8_t proto, version;
    uint8_t unused[2];
};
_Static_assert(sizeof(struct bypass_key) == 40, "as the program has it on its stack");

/* Nanoseconds of CLOCK_MONOTONIC: bpf_ktime_get_ns() in the program, clock_ns() here. */
struct bypass_value { uint64_t last_ns, passed_ns; };
struct bypass_totals { uint64_t packets, bytes; };

struct af_bypass {
    int table_fd, totals_fd, program_fd;
};

/* --- the program ------------------------------------------------------------------------------ */

/* Jump targets; NEXT is no jump. */
enum label { NEXT, IPV4, TRANSPORT, PORTS, TCP, SAMPLED, DELETE, PASS, LABELS };

#define CODE_MAX 160            /* the program has 134 instructions */

/* A small assembler: jumps name a label and are resolved when the program is complete. */
struct code {
    struct bpf_insn at[CODE_MAX];
    uint8_t target[CODE_MAX];       /* enum label */
    unsigned count;
    unsigned position[LABELS];
};

/* Instructions have the form of linux/bpf.h. The methods below are named after what they emit. */
static void put(struct code *c, struct bpf_insn instruction)
{
    c->at[c->count++] = instruction;
}

/* dst = dst OP imm, or whatever else takes at most one register and a constant. */
static void put_imm(struct code *c, unsigned op, unsigned dst, int imm)
{
    put(c, (struct bpf_insn){ .code = (uint8_t)op, .dst_reg = dst & 0xf, .imm = imm });
}

/* dst = dst OP src */
static void put_reg(struct code *c, unsigned op, unsigned dst, unsigned src)
{
    put(c, (struct bpf_insn){ .code = (uint8_t)op, .dst_reg = dst & 0xf, .src_reg = src & 0xf });
}

/* Between a register and memory at another register + off. */
static void put_memory(struct code *c, unsigned op, unsigned dst, unsigned src, int off)
{
    put(c, (struct bpf_insn){ .code = (uint8_t)op, .dst_reg = dst & 0xf, .src_reg = src & 0xf,
                              .off = (int16_t)off });
}

static void mov(struct code *c, unsigned dst, int imm)
{
    put_imm(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, imm);
}

static void copy(struct code *c, unsigned dst, unsigned src)
{
    put_reg(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src);
}

static void add(struct code *c, unsigned dst, int imm)
{
    put_imm(c, BPF_ALU64 | BPF_ADD | BPF_K, dst, imm);
}

static void subtract(struct code *c, unsigned dst, unsigned src)
{
    put_reg(c, BPF_ALU64 | BPF_SUB | BPF_X, dst, src);
}

/* dst = the frame pointer + at */
static void stack(struct code *c, unsigned dst, int at)
{
    copy(c, dst, BPF_REG_10);
    add(c, dst, at);
}

static void load(struct code *c, unsigned size, unsigned dst, unsigned from, int off)
{
    put_memory(c, BPF_LDX | BPF_MEM | size, dst, from, off);
}

static void store(struct code *c, unsigned size, unsigned to, int off, unsigned src)
{
    put_memory(c, BPF_STX | BPF_MEM | size, to, src, off);
}

static void add_atomic(struct code *c, unsigned to, int off, unsigned src)
{
    put(c, (struct bpf_insn){ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = to & 0xf,
                              .src_reg = src & 0xf, .off = (int16_t)off, .imm = BPF_ADD });
}

/* A 64-bit constant takes two instructions (BPF_LD | BPF_IMM | BPF_DW). With kind BPF_PSEUDO_MAP_FD
 * the kernel replaces a file descriptor by the address of its map. */
static void load_wide(struct code *c, unsigned dst, unsigned kind, uint64_t value)
{
    put(c, (struct bpf_insn){ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = dst & 0xf,
                              .src_reg = kind & 0xf, .imm = (int)(uint32_t)value });
    put(c, (struct bpf_insn){ .imm = kind == 0 ? (int)(value >> 32) : 0 });
}

static void jump(struct code *c, unsigned op, unsigned reg, int imm, enum label to)
{
    c->target[c->count] = (uint8_t)to;
    put_imm(c, BPF_JMP | op | BPF_K, reg, imm);
}

/* A signed comparison: the clock of another CPU may be slightly behind, which makes the difference
 * negative. */
static void jump_greater(struct code *c, unsigned reg, unsigned than, enum label to)
{
    c->target[c->count] = (uint8_t)to;
    put_reg(c, BPF_JMP | BPF_JSGT | BPF_X, reg, than);
}

static void call(struct code *c, int helper)
{
    put_imm(c, BPF_JMP | BPF_CALL, 0, helper);
}

static void leave(struct code *c)
{
    put_imm(c, BPF_JMP | BPF_EXIT, 0, 0);
}

static void here(struct code *c, enum label label)
{
    c->position[label] = c->count;
}

/* Copies bytes of the frame to the stack, at offset `at` of the frame or of the transport header. A
 * frame that is too short passes: skb_load_bytes fails, so the program reads nothing beyond its
 * end. */
static void fetch(struct code *c, int at, bool at_l4, int to, int len)
{
    copy(c, BPF_REG_1, BPF_REG_6);
    if (at_l4) {
        copy(c, BPF_REG_2, BPF_REG_9);
        add(c, BPF_REG_2, at);
    } else {
        mov(c, BPF_REG_2, at);
    }
    stack(c, BPF_REG_3, to);
    mov(c, BPF_REG_4, len);
    call(c, BPF_FUNC_skb_load_bytes);
    jump(c, BPF_JNE, BPF_REG_0, 0, PASS);
}

/* Offsets from the frame pointer: the key, an IP header, and a word for small things. */
#define KEY (-40)
#define KEY_AT(member) (KEY + (int)offsetof(struct bypass_key, member))
#define HEADER (-80)
#define SMALL (-88)

static void copy_words(struct code *c, int from, int to, unsigned words)
{
    for (int i = 0; i < (int)words * 4; i += 4) {
        load(c, BPF_W, BPF_REG_1, BPF_REG_10, from + i);
        store(c, BPF_W, BPF_REG_10, to + i, BPF_REG_1);
    }
}

static void set_version(struct code *c, int version, int l4)
{
    mov(c, BPF_REG_1, version);
    store(c, BPF_B, BPF_REG_10, KEY_AT(version), BPF_REG_1);
    mov(c, BPF_REG_9, l4);
}

/* Registers from here on: r6 the packet, r7 TCP flags, r8 protocol, r9 offset of the transport
 * header. Frames with a VLAN tag, fragments, IPv4 with options and IPv6 with extension headers
 * pass: the engine sees them as before. The key is zeroed first, because the verifier rejects reads
 * of stack that was never written. */
static void write_addresses(struct code *c)
{
    copy(c, BPF_REG_6, BPF_REG_1);
    load(c, BPF_W, BPF_REG_0, BPF_REG_6, offsetof(struct __sk_buff, vlan_present));
    jump(c, BPF_JNE, BPF_REG_0, 0, PASS);
    mov(c, BPF_REG_7, 0);
    for (int i = KEY; i < 0; i += 8)
        store(c, BPF_DW, BPF_REG_10, i, BPF_REG_7);
    fetch(c, 12, false, SMALL, 2);
    load(c, BPF_H, BPF_REG_1, BPF_REG_10, SMALL);
    jump(c, BPF_JEQ, BPF_REG_1, htons(0x0800), IPV4);
    jump(c, BPF_JNE, BPF_REG_1, htons(0x86dd), PASS);

    fetch(c, 14, false, HEADER, 40);
    load(c, BPF_B, BPF_REG_8, BPF_REG_10, HEADER + 6);
    copy_words(c, HEADER + 8, KEY_AT(src), 4);
    copy_words(c, HEADER + 24, KEY_AT(dst), 4);
    set_version(c, 6, 54);
    jump(c, BPF_JA, 0, 0, TRANSPORT);

    here(c, IPV4);
    fetch(c, 14, false, HEADER, 20);
    load(c, BPF_B, BPF_REG_1, BPF_REG_10, HEADER);
    jump(c, BPF_JNE, BPF_REG_1, 0x45, PASS);
    load(c, BPF_H, BPF_REG_1, BPF_REG_10, HEADER + 6);
    jump(c, BPF_JSET, BPF_REG_1, htons(0x3fff), PASS);      /* a fragment */
    load(c, BPF_B, BPF_REG_8, BPF_REG_10, HEADER + 9);
    copy_words(c, HEADER + 12, KEY_AT(src), 1);
    copy_words(c, HEADER + 16, KEY_AT(dst), 1);
    set_version(c, 4, 34);
    here(c, TRANSPORT);
}

static void write_ports(struct code *c, int table_fd)
{
    jump(c, BPF_JEQ, BPF_REG_8, 6, TCP);
    jump(c, BPF_JNE, BPF_REG_8, 17, PASS);
    jump(c, BPF_JA, 0, 0, PORTS);
    here(c, TCP);
    fetch(c, 13, true, SMALL, 1);
    load(c, BPF_B, BPF_REG_7, BPF_REG_10, SMALL);
    here(c, PORTS);
    fetch(c, 0, true, KEY_AT(ports), 4);
    store(c, BPF_B, BPF_REG_10, KEY_AT(proto), BPF_REG_8);
    jump(c, BPF_JSET, BPF_REG_7, 0x02, DELETE);             /* SYN */
    jump(c, BPF_JSET, BPF_REG_7, 0x05, PASS);               /* FIN, RST */
    load_wide(c, BPF_REG_1, BPF_PSEUDO_MAP_FD, (uint32_t)table_fd);
    stack(c, BPF_REG_2, KEY);
    call(c, BPF_FUNC_map_lookup_elem);
    jump(c, BPF_JEQ, BPF_REG_0, 0, PASS);
    copy(c, BPF_REG_7, BPF_REG_0);
}

/* Registers: r7 the entry, r8 the time. */
static void write_times(struct code *c, uint64_t idle_ns)
{
    call(c, BPF_FUNC_ktime_get_ns);
    copy(c, BPF_REG_8, BPF_REG_0);
    load(c, BPF_DW, BPF_REG_1, BPF_REG_7, offsetof(struct bypass_value, last_ns));
    copy(c, BPF_REG_2, BPF_REG_8);
    subtract(c, BPF_REG_2, BPF_REG_1);
    load_wide(c, BPF_REG_3, 0, idle_ns);
    jump_greater(c, BPF_REG_2, BPF_REG_3, DELETE);
    store(c, BPF_DW, BPF_REG_7, offsetof(struct bypass_value, last_ns), BPF_REG_8);
    load(c, BPF_DW, BPF_REG_1, BPF_REG_7, offsetof(struct bypass_value, passed_ns));
    copy(c, BPF_REG_2, BPF_REG_8);
    subtract(c, BPF_REG_2, BPF_REG_1);
    load_wide(c, BPF_REG_3, 0, SAMPLE_NS);
    jump_greater(c, BPF_REG_2, BPF_REG_3, SAMPLED);
}

/* Drops the packet (0 bytes are kept) and counts it. Totals need atomic adds, since all CPUs run
 * this program. */
static void write_end(struct code *c, int table_fd, int totals_fd)
{
    mov(c, BPF_REG_1, 0);
    store(c, BPF_W, BPF_REG_10, SMALL, BPF_REG_1);
    load_wide(c, BPF_REG_1, BPF_PSEUDO_MAP_FD, (uint32_t)totals_fd);
    stack(c, BPF_REG_2, SMALL);
    call(c, BPF_FUNC_map_lookup_elem);
    jump(c, BPF_JEQ, BPF_REG_0, 0, PASS);
    mov(c, BPF_REG_1, 1);
    add_atomic(c, BPF_REG_0, offsetof(struct bypass_totals, packets), BPF_REG_1);
    load(c, BPF_W, BPF_REG_1, BPF_REG_6, offsetof(struct __sk_buff, len));
    add_atomic(c, BPF_REG_0, offsetof(struct bypass_totals, bytes), BPF_REG_1);
    mov(c, BPF_REG_0, 0);
    leave(c);

    here(c, SAMPLED);
    store(c, BPF_DW, BPF_REG_7, offsetof(struct bypass_value, passed_ns), BPF_REG_8);
    jump(c, BPF_JA, 0, 0, PASS);
    here(c, DELETE);
    load_wide(c, BPF_REG_1, BPF_PSEUDO_MAP_FD, (uint32_t)table_fd);
    stack(c, BPF_REG_2, KEY);
    call(c, BPF_FUNC_map_delete_elem);
    here(c, PASS);
    mov(c, BPF_REG_0, -1);          /* pass all bytes */
    leave(c);
}

/* Offsets of jumps count instructions from the next one. */
static int load_program(const struct af_bypass *b, uint64_t idle_ns)
{
    struct code c = { .count = 0 };

    write_addresses(&c);
    write_ports(&c, b->table_fd);
    write_times(&c, idle_ns);
    write_end(&c, b->table_fd, b->totals_fd);
    for (unsigned i = 0; i < c.count; i++)
        if (c.target[i] != NEXT)
            c.at[i].off = (int16_t)(c.position[c.target[i]] - i - 1);
    return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "ids_bypass", "GPL", c.at, c.count, NULL);
}

/* --- its use ---------------------------------------------------------------------------------- */

/* Half of the engine's timeout, so that entries become invalid before the engine's flow does. */
struct af_bypass *af_bypass_new(unsigned timeout_s, struct err *err)
{
    struct af_bypass *b = xcalloc(1, sizeof(*b));
    uint64_t idle_ns = MAX(timeout_s * UINT64_C(1000000000) / 2, 2 * SAMPLE_NS);

    b->totals_fd = b->program_fd = -1;
    b->table_fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "ids_bypassed", sizeof(struct bypass_key),
                                 sizeof(struct bypass_value), ENTRIES, NULL);
    if (b->table_fd >= 0)
        b->totals_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ids_totals", sizeof(uint32_t),
                                      sizeof(struct bypass_totals), 1, NULL);
    if (b->totals_fd >= 0)
        b->program_fd = load_program(b, idle_ns);
    if (b->program_fd >= 0)
        return b;
    err_set(err, "the kernel takes no eBPF program: %s", strerror(errno));
    af_bypass_free(b);
    return NULL;
}

void af_bypass_free(struct af_bypass *b)
{
    if (b == NULL)
        return;
    if (b->program_fd >= 0)
        close(b->program_fd);
    if (b->totals_fd >= 0)
        close(b->totals_fd);
    if (b->table_fd >= 0)
        close(b->table_fd);
    free(b);
}

/* SO_ATTACH_BPF replaces any filter of the socket, also the one that lets nothing in. */
int af_bypass_attach(const struct af_bypass *b, int fd, struct err *err)
{
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_BPF, &b->program_fd, sizeof(b->program_fd)) < 0)
        return err_set(err, "the kernel does not take the filter of bypassed flows: %s",
                       strerror(errno));
    return 0;
}

static bool take_copy(struct bytes *in, uint8_t *to, unsigned size)
{
    const uint8_t *at = take_bytes(in, size);

    if (at != NULL)
        memcpy(to, at, size);
    return at != NULL;
}

/* Builds the key in the same way as the program. Returns false for packets that the program always
 * passes. */
static bool key_of(const uint8_t *frame, uint32_t len, struct bypass_key *key)
{
    struct bytes in = bytes_of(frame, len);
    unsigned type, size;

    take_skip(&in, 12);
    type = take_be16(&in);
    *key = (struct bypass_key){ .version = type == 0x0800 ? 4 : 6 };
    if (type == 0x0800) {
        if (take_u8(&in) != 0x45)
            return false;
        take_skip(&in, 5);
        if ((take_be16(&in) & 0x3fff) != 0)
            return false;
        take_skip(&in, 1);
        key->proto = take_u8(&in);
        take_skip(&in, 2);
    } else if (type == 0x86dd) {
        take_skip(&in, 6);
        key->proto = take_u8(&in);
        take_skip(&in, 1);
    } else {
        return false;
    }
    size = key->version == 4 ? 4 : 16;
    if (!take_copy(&in, key->src, size) || !take_copy(&in, key->dst, size) ||
        !take_copy(&in, key->ports, sizeof(key->ports)))
        return false;
    return key->proto == 6 || key->proto == 17;
}

/* Called when a packet returns to its pool. BPF_NOEXIST leaves the times of an existing entry
 * alone. */
enum af_bypass_result af_bypass_add(struct af_bypass *b, const uint8_t *frame, uint32_t len)
{
    uint64_t now = clock_ns();
    struct bypass_value value = { .last_ns = now, .passed_ns = now };
    struct bypass_key key;

    if (!key_of(frame, len, &key))
        return AF_BYPASS_NOT;
    if (bpf_map_update_elem(b->table_fd, &key, &value, BPF_NOEXIST) == 0)
        return AF_BYPASS_ADDED;
    return errno == EEXIST ? AF_BYPASS_NOT : AF_BYPASS_FAILED;
}

void af_bypass_totals(const struct af_bypass *b, uint64_t *packets, uint64_t *bytes)
{
    struct bypass_totals totals = { 0 };
    uint32_t key = 0;

    (void)bpf_map_lookup_elem(b->totals_fd, &key, &totals);
    *packets = totals.packets;
    *bytes = totals.bytes;
}
#else
struct af_bypass *af_bypass_new(unsigned timeout_s, struct err *err)
{
    (void)timeout_s;
    err_set(err, "built without libbpf");
    return NULL;
}

void af_bypass_free(struct af_bypass *b)
{
    (void)b;
}

int af_bypass_attach(const struct af_bypass *b, int fd, struct err *err)
{
    (void)b, (void)fd;
    return err_set(err, "built without libbpf");
}

enum af_bypass_result af_bypass_add(struct af_bypass *b, const uint8_t *frame, uint32_t len)
{
    (void)b, (void)frame, (void)len;
    return AF_BYPASS_NOT;
}

void af_bypass_totals(const struct af_bypass *b, uint64_t *packets, uint64_t *bytes)
{
    (void)b;
    *packets = *bytes = 0;
}
#endif
