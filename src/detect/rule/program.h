/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/program.h - a rule's operations on one buffer: as parsed (ops) and as run (a
 * program).
 *
 * Keywords of POINT_BUFFER append ops to a list. rule_finish() checks the list and compiles it into
 * one array of steps, followed by the literals. inspect/run_program.c runs it.
 *
 * A relative step searches from the end of the last match. When it fails, the step before it is
 * tried again at a later position. A step on which nothing depends is not tried again, because a
 * later match only leaves fewer bytes. */
#ifndef DETECT_PROGRAM_H
#define DETECT_PROGRAM_H

#include "base/memory/buf.h"
#include "detect/rule/buffer.h"
#include "detect/rule/keyword.h"
#include "detect/rule/program_limits.h"
#include "detect/rule/rule.h"
#include "match/pcre_work.h"

enum op_kind {
    OP_CONTENT, OP_PCRE, OP_ISDATAAT, OP_BYTE_TEST, OP_BYTE_JUMP, OP_BYTE_EXTRACT, OP_BYTE_MATH,
    OP_BSIZE, OP_URILEN, OP_BASE64, OP_ABSENT, OP_CALL,
};

enum op_flag {
    OP_NEGATED        = 1u << 0,
    OP_RELATIVE       = 1u << 1,    /* its position counts from the end of the last match */
    OP_RETRY          = 1u << 2,    /* later steps depend on its position */
    OP_OFFSET_VAR     = 1u << 3,    /* the number is the index of a variable */
    OP_DEPTH_VAR      = 1u << 4,
    OP_DISTANCE_VAR   = 1u << 5,
    OP_WITHIN_VAR     = 1u << 6,
    OP_VALUE_VAR      = 1u << 7,
    OP_NBYTES_VAR     = 1u << 8,
    OP_LITTLE         = 1u << 9,
    OP_DCE            = 1u << 10,   /* byte order as the DCERPC header says */
    OP_STRING         = 1u << 11,   /* digits, not binary */
    OP_BITMASK        = 1u << 12,
    OP_ALIGN          = 1u << 13,
    OP_FROM_BEGINNING = 1u << 14,
    OP_FROM_END       = 1u << 15,
    OP_NOCASE         = 1u << 16,
    OP_DEPTH          = 1u << 17,
    OP_OFFSET         = 1u << 18,
    OP_DISTANCE       = 1u << 19,
    OP_WITHIN         = 1u << 20,
    OP_STARTSWITH     = 1u << 21,
    OP_ENDSWITH       = 1u << 22,
    OP_RAWBYTES       = 1u << 23,
    OP_FAST           = 1u << 24,   /* the rule has fast_pattern for it */
    OP_FAST_ONLY      = 1u << 25,
    OP_FAST_CHOP      = 1u << 26,
    OP_RELATIVE_NEXT  = 1u << 27,   /* the next op is relative to it */
    OP_LAST           = 1u << 28,
    OP_REPLACE        = 1u << 29,
    OP_OR_ELSE        = 1u << 30,   /* absent: or_else */
};

struct content_op {
    const uint8_t *bytes;       /* lower case if nocase */
    const uint8_t *written;     /* as in the rule */
    const uint8_t *replace;     /* same length */
    uint16_t len;
    uint16_t fast_offset, fast_len;
    int32_t offset, depth, distance, within;    /* depth counts from the buffer's start */
};

struct pcre_capture { uint8_t kind; bool has_key; uint32_t id; };
#define PCRE_CAPTURES_MAX 8
#define PCRE_MATCH_LIMIT 3500   /* Suricata's default */
struct pcre_op {
    const struct pcre_compiled *compiled;
    void *context;              /* pcre2_match_context */
    uint32_t match_limit, depth_limit;  /* as configured */
    struct pcre_capture *capture;
    unsigned capture_count;
    bool shares_context;
};

enum byte_operator { BYTE_EQ, BYTE_LT, BYTE_GT, BYTE_LE, BYTE_GE, BYTE_AND, BYTE_XOR,
                     BYTE_ADD, BYTE_SUB, BYTE_MUL, BYTE_DIV, BYTE_SHL, BYTE_SHR };

/* byte_test, byte_jump, byte_extract, byte_math and isdataat. */
struct byte_op {
    uint64_t value;             /* test: value; math: rvalue; or variable */
    uint32_t nbytes;            /* or variable */
    int32_t offset;             /* or variable; isdataat: the distance */
    uint32_t mask;
    int32_t post_offset;
    uint16_t multiplier;
    uint8_t base;               /* of digits: 8, 10, 16; 0: C prefixes */
    uint8_t mask_shift;
    uint8_t op;                 /* enum byte_operator */
    uint8_t align;              /* extract: 0, 2, 4 */
    uint8_t result;             /* variable to write */
};

struct base64_op { uint32_t bytes, offset; const struct rule_program *then; };

enum step_result { STEP_STOP = -1, STEP_NO = 0, STEP_YES = 1 };

struct program_run;
struct call_op {
    /* STEP_STOP: no other match of earlier steps can help. */
    enum step_result (*call)(struct program_run *run, const void *arg);
    const void *arg;
};

struct rule_op {
    struct rule_op *next, *prev;
    struct rule_list *list;
    const struct keyword_ops *keyword;
    uint32_t flags;             /* enum op_flag */
    uint16_t serial;            /* position in the rule's text, over all lists */
    uint8_t kind;               /* enum op_kind */
    union {
        struct content_op content;
        struct pcre_op *pcre;
        struct byte_op byte;
        struct int_match size;
        struct base64_op base64;
        struct call_op call;
    };
};

/* --- building ----------------------------------------------------------------------------- */

/* Appends an op to the current list. Without a current buffer, a relative op goes to the list of
 * the last op. NULL with p->err set when the list is full. */
struct rule_op *op_append(struct rule_parser *p, enum op_kind kind, bool relative);
/* Returns the rule's payload list; creates it if necessary. */
struct rule_list *rule_payload_list(struct rule_parser *p);
/* Returns the rule's list of a buffer; for a multi buffer always a new one. buffer NULL:
 * payload. */
struct rule_list *rule_buffer_list(struct rule_parser *p, const struct buffer *buffer);
/* For content modifiers and pcre flags, which name a buffer: returns the rule's existing list, for
 * multi buffers too. */
struct rule_list *rule_buffer_list_again(struct rule_parser *p, const struct buffer *buffer);
void op_move(struct rule_parser *p, struct rule_op *op, struct rule_list *to);
struct rule_op *op_last(struct rule_parser *p);         /* of the whole rule; NULL: none */
struct rule_op *op_last_content(struct rule_parser *p);

/* Variables of byte_extract and byte_math. */
int byte_var_find(struct rule_parser *p, struct text name);     /* -1: none */
int byte_var_make(struct rule_parser *p, struct text name);     /* -1: too many */
#define BYTE_VARS_MAX 32

/* A literal with |hex| and escapes. The bytes are valid until the rule has been parsed. */
int content_bytes_parse(struct rule_parser *p, struct text in, const char *keyword,
                        uint8_t **bytes, uint16_t *len);
/* Sets nocase on a content and changes its bytes to lower case. */
void content_set_nocase(struct rule_parser *p, struct content_op *content, uint32_t *flags);

/* Marks ops whose position affects later ones; call it before program_build(). */
void ops_mark_dependence(struct rule_list *list);
/* `then`: the program for the output of the list's base64_decode; NULL: none. Returns NULL only for
 * an arena with a limit. */
const struct rule_program *program_build(struct arena *arena, const struct rule_list *list,
                                         const struct rule_program *then);
/* The same, for an arena without limit. The list's contents are then the program's literals. */
const struct rule_program *program_of_list(struct arena *arena, struct rule_list *list,
                                           const struct rule_program *then);

/* --- running ------------------------------------------------------------------------------ */

struct step {
    uint32_t flags;
    uint8_t kind;
    uint16_t len;               /* of the literal */
    union {     /* literal: offset from the program's start */
        struct { uint32_t literal; int32_t offset, depth, distance, within;
                 const uint8_t *replace; } content;
        const struct pcre_op *pcre;
        struct byte_op byte;
        struct int_match size;
        struct base64_op base64;
        struct { struct call_op call; const struct keyword_ops *keyword; };  /* of the call */
    };
};

struct rule_program {
    uint16_t count;
    bool absent, absent_or_else;        /* begins with `absent` */
    bool revocable, only_absent;        /* later data can end the match; asks for absence alone */
    uint32_t min_len;                   /* shorter buffers cannot match */
    struct step step[];
};

/* Kinds of captures in addition to enum var_kind, for the alert's context. */
#define CAPTURE_JSON  254           /* the text is JSON, the key its name */
#define CAPTURE_ALERT 255           /* a text by its variable's name */

/* A capture that takes effect when all of the rule matches. */
struct pending_capture {
    uint8_t kind;               /* enum var_kind or CAPTURE_* */
    uint32_t id;
    uint32_t key_at, key_len, at, len;  /* in program_scratch.text */
};

/* Working memory of programs; one per thread. */
struct program_scratch {
    void *match_data;           /* pcre2_match_data */
    void *counted;              /* pcre2_match_context of expressions that count their work */
    struct pcre_work work;
    void *jit_stack;
    struct buf base64;
    struct buf text;
    unsigned capture_count;
    struct pending_capture capture[32];
    unsigned replace_count;
    struct { uint8_t *at; const uint8_t *with; uint16_t len; } replace[16];
    uint32_t step_limit;        /* from there on a step asks on_step(), steps_most and `packet` */
    uint32_t steps_most;        /* detect.inspection-recursion-limit */
    void (*on_step)(void *arg, const struct step *s);   /* NULL: steps are not timed */
    void *on_step_arg;
    uint8_t limits;             /* enum program_limit: of all programs since it was cleared */
    uint64_t extra_steps;       /* of all programs, see count_extra() */
    struct program_work packet;
};
void program_scratch_init(struct program_scratch *s, uint32_t step_limit);
void program_scratch_fini(struct program_scratch *s);
/* The limit of one program; 0: none. */
void program_scratch_set_steps(struct program_scratch *s, uint32_t step_limit);
void program_capture(struct program_scratch *s, uint8_t kind, uint32_t id, struct slice key,
                     struct slice text);

struct program_run {
    const uint8_t *data;
    uint32_t len;
    uint64_t start;             /* bytes of the buffer before data[0] */
    bool complete;              /* no more bytes will come */
    bool little;                /* DCERPC data is little-endian */
    bool is_payload;            /* of the packet: `replace` may write */
    uint32_t at;                /* end of the last match */
    uint32_t pcre_from, steps, check_at;    /* limits are asked at that step, */
    uint64_t scanned, check_scanned;        /* by retries from so many searched bytes on */
    uint64_t read, worked;      /* bytes of them and work of expressions, see match/pcre_work.h */
    uint64_t *vars;
    struct program_scratch *scratch;
    const struct match_input *input;    /* NULL in tests */
};

/* True if the program matches in run->data. */
bool program_match(const struct rule_program *program, struct program_run *run);

bool byte_extract_value(const struct step *s, const struct program_run *run, uint64_t *value,
                        uint32_t *end);

#endif
