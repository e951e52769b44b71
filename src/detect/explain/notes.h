/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/notes.h - sentences: what a condition wanted, what was there, and why a rule whose
 * conditions all hold gives no alert. */
#ifndef DETECT_EXPLAIN_NOTES_H
#define DETECT_EXPLAIN_NOTES_H

#include "detect/explain/private.h"

/* notes.c: sentences about a condition of the latest evaluation. */
void note_make(struct explain *e, struct wanted *w, unsigned condition, const struct subject *s,
               struct note *out);
char *reason_make(const struct wanted *w, unsigned condition, const struct note *note);
char *title_make(const struct subject *s);
void text_add_tx(struct buf *out, struct app_tx *tx);
char *excerpt_make(struct slice data, uint64_t start, uint32_t at, uint32_t len);
void text_add_bytes(struct buf *out, struct slice bytes, unsigned most);
char *text_take(struct buf *b);                 /* its text; the buffer is empty then */
/* notes_steps.c */
void describe_step(struct explain *e, const struct condition *c, const struct subject *s,
                   struct note *note, struct buf *out);
void describe_no_buffer(const struct condition *c, const struct subject *s, struct buf *out);
/* other_buffer.c: what a step did not find, in the other buffers of the transaction. */
struct search {
    bool (*find)(const void *arg, struct slice data, uint32_t *at, bool *other_case);
    const void *arg;
};
struct found_in {
    const char *name;
    enum direction direction;
    uint32_t len, at;           /* of the buffer; in it */
    bool other_case;
};
bool other_buffer_find(const struct subject *s, const struct trace *t, const struct search *search,
                       struct found_in *out);
void describe_other_buffer(const struct subject *s, const struct trace *t, struct slice literal,
                           struct buf *out);
/* pcre_near.c: base: where the data begin that it sees. Marks a place in the note. */
struct expression;
struct pcre_place {
    const struct trace *trace;
    unsigned step;
    const struct expression *expression;
    uint32_t base;
};
void describe_pcre_near(struct explain *e, const struct pcre_place *p, const struct subject *s,
                        struct note *mark, struct buf *out);
/* proto/labels.c: the bytes are a name with dots, and the data have it in another form. */
void describe_labels(struct slice data, struct slice name, struct buf *out);
/* values.c: what a test looked at, "64"; false: not known. */
bool test_value(const struct rule_test *test, const struct match_input *in, struct buf *out);
/* setters.c: adds to notes about bits which rules set them, and when, as far as that was asked. */
void setters_tell(struct explain *e);
/* Calls for each rule that sets a bit which the rule asks for. */
void setters_each(const struct ruleset *set, const struct rule *r,
                  void (*visit)(void *arg, const struct rule *setter), void *arg);
/* variables.c: fills condition.value. */
void variables_read(struct explain *e, const struct conf_node *conf);
/* refused.c: why the stream does not store the packet's payload. */
bool stream_has_refused(const struct packet *p);
const char *stream_refusal(const struct packet *p, bool midstream);

/* held_back.c: why a rule whose conditions all hold gives no alert. `counted`: matches that its
 * threshold has counted; 0: not known. */
bool held_back_by_itself(const struct rule *r, struct buf *out);
/* What of the rule alone can keep its alerts back: "noalert"; false: nothing. */
bool held_back_in_short(const struct rule *r, struct buf *out);
bool held_back_by_threshold(const struct rule *r, const struct inspection *in, uint32_t counted,
                            struct buf *out);
char *held_back_make(struct explain *e, const struct wanted *w, const struct inspection *in,
                     uint32_t counted);
/* "threshold: type limit, ..."; false: the rule has none. */
bool describe_threshold(const struct rule *r, struct buf *out);
/* "pass rule 7", which has let the packet go. */
void describe_passed_by(const struct explain *e, const struct packet *p, struct buf *out);

#endif
