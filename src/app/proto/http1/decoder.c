/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/decoder.c - Content-Encoding: the header's list of codings, and a chain of layers
 * that removes them.
 *
 * Servers name codings that the body does not have, and browsers cope. A body that is not what the
 * header says is tried as raw deflate, zlib and gzip in turn; if it is none of them it passes
 * unchanged. The doubt ends when a coding with a header of its own produces output. Raw deflate
 * accepts a lot of plain text, so that it must fill a block or end in order. A later error ends the
 * body. During the doubt, input is retained and output held back, so that packet boundaries make no
 * difference. */
#include "app/proto/http1/body.h"
#include "app/proto/http1/coding.h"
#include "base/memory/lib_memory.h"
#include "base/system/clock.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 8192                        /* bytes of output of one layer */
#define RETAINED_LIMIT BLOCK /* of input without output: a gzip header with a long name */
#define OTHERS_MAX 3                /* codings tried after the one that was named */
#define BOMB_RATIO 2048             /* output bytes per input byte; no deflate reaches it */
#define BLOCKS_PER_CLOCK 64         /* of output between two readings of the clock */

enum layer_mode {
    LAYER_DOUBT,                    /* input is retained, output held back */
    LAYER_SURE,                     /* output is passed on */
    LAYER_PASS,                     /* bytes as they are */
    LAYER_OVER,                     /* no more bytes */
};

struct layer {
    const struct coding *coding;
    void *stream;
    struct decoder_memory memory;
    uint8_t mode;
    uint8_t others;                 /* codings tried so far */
    size_t buffered;                /* bytes in out, or in held */
    struct buf retained;            /* all input, while in doubt */
    struct buf held;                /* output that is held back while the decoder does not run */
    uint8_t *out;                   /* the thread's, of BLOCK bytes, while it runs */
};

struct http_decoder {
    struct http_tx *htx;
    enum direction direction;
    uint64_t in, out;
    uint64_t step_end;              /* input bytes up to which the ratio is judged */
    bool is_deflate;                /* one layer of it */
    uint64_t spent_ns, since_ns;    /* CPU time; since_ns 0: not running */
    unsigned blocks;
    /* While decoders take much memory: all input so far. One that waits is closed, and gets it
     * again when more comes. */
    struct buf input;
    bool retains, is_parked;
    uint8_t parks;
    uint64_t skip;                  /* output that is repeated */
    unsigned count;
    struct layer layer[];           /* the first removes the coding that was applied last */
};

static const struct coding *const codings[] = {
    [HTTP_CODING_GZIP] = &coding_gzip, [HTTP_CODING_DEFLATE] = &coding_deflate,
    [HTTP_CODING_ZLIB] = &coding_zlib, [HTTP_CODING_LZMA] = &coding_lzma,
    [HTTP_CODING_BROTLI] = &coding_brotli, [HTTP_CODING_ZSTD] = &coding_zstd,
};

static struct http_state *state_of(const struct http_decoder *dec)
{
    return dec->htx->tx.flow->state;
}

static struct http_thread *thread_of(const struct http_decoder *dec)
{
    return dec->htx->tx.flow->thread_data;
}

/* --- output ----------------------------------------------------------------------------------- */

/* Later data of this body are ignored. */
static void all_over(struct http_decoder *dec)
{
    for (unsigned i = 0; i < dec->count; i++)
        dec->layer[i].mode = LAYER_OVER;
}

/* Compressed bytes of the connection that count, the current step included. */
static uint64_t packed(const struct http_decoder *dec)
{
    return state_of(dec)->packed[dec->direction] + dec->step_end;
}

/* The output size from which the body is a bomb: above compression-bomb-limit and above BOMB_RATIO
 * times the input. */
static uint64_t bomb_at(const struct http_decoder *dec)
{
    const struct http_state *state = state_of(dec);
    uint64_t before = state->unpacked[dec->direction];
    uint64_t most = decoder_output_most(packed(dec), state->config->body_expansion,
                                        state->drawn[dec->direction]);

    most = most > before ? MAX(most - before, dec->out) : dec->out;
    if (dec->is_deflate)
        return most;
    return MIN(most, MAX(state->config->bomb_limit + UINT64_C(1),
                         BOMB_RATIO * (dec->step_end + 1)));
}

/* compression-bomb-count bombs on a connection stop decoding on it, see http_codings_read(). */
static void bomb(struct http_decoder *dec)
{
    struct http_state *state = state_of(dec);

    all_over(dec);
    app_tx_event(&dec->htx->tx, HTTP_EVENT_COMPRESSION_BOMB);
    if (++state->bombs == state->config->bomb_count)
        app_tx_event(&dec->htx->tx, HTTP_EVENT_COMPRESSION_BOMB_LIMIT_REACHED);
}

/* A body that takes more CPU time than decompression-time-limit passes undecoded. The clock costs a
 * system call at worst, so that it is read once per BLOCKS_PER_CLOCK blocks. */
static void check_time(struct http_decoder *dec)
{
    uint64_t now;

    if (++dec->blocks % BLOCKS_PER_CLOCK != 0)
        return;
    now = clock_thread_cpu_ns();
    if (dec->since_ns != 0)
        dec->spent_ns += now - dec->since_ns;
    dec->since_ns = now;
    if (dec->spent_ns / 1000 <= state_of(dec)->config->time_limit_us)
        return;
    app_tx_event(&dec->htx->tx, HTTP_EVENT_COMPRESSION_BOMB);
    for (unsigned i = 0; i < dec->count; i++)
        dec->layer[i].mode = LAYER_PASS;
}

/* Beyond the body's limit, decoding only serves to find bombs. Deflate cannot be one: it has at
 * most 1,032 output bytes per input byte, which BOMB_RATIO exceeds. */
static bool is_unpacked_in_vain(const struct http_decoder *dec)
{
    const struct coding *coding = dec->layer[0].coding;

    return dec->count == 1 && http_body_is_full(dec->htx, dec->direction) &&
           (coding == &coding_gzip || coding == &coding_deflate || coding == &coding_zlib);
}

/* False: the body has all that its connection may still get. */
static bool draw(struct http_decoder *dec)
{
    struct http_state *state = state_of(dec);

    return decoder_output_draw(dec->htx->tx.flow, packed(dec), state->config->body_expansion,
                               &state->drawn[dec->direction]);
}

static void layer_feed(struct http_decoder *dec, unsigned i, const uint8_t *data, size_t len);

/* Output of layer i goes to the next layer; the last one stores it. The cut at bomb_at() makes the
 * stored size independent of block boundaries. */
static void emit(struct http_decoder *dec, unsigned i, const uint8_t *data, size_t len)
{
    if (len == 0)
        return;
    if (i + 1 < dec->count) {
        layer_feed(dec, i + 1, data, len);
        return;
    }
    if (UNLIKELY(dec->skip > 0)) {
        const size_t known = (size_t)MIN(dec->skip, (uint64_t)len);

        dec->skip -= known;
        emit(dec, i, data + known, len - known);
        return;
    }
    while (UNLIKELY(len >= bomb_at(dec) - dec->out) && draw(dec))
        continue;
    len = MIN(len, bomb_at(dec) - dec->out);
    if (UNLIKELY(is_unpacked_in_vain(dec)))
        all_over(dec);
    http_body_store(dec->htx, dec->direction, data, len);
    dec->out += len;
    if (dec->out == bomb_at(dec))
        bomb(dec);
    check_time(dec);
}

/* Passes on what the layer holds back. */
static void release(struct http_decoder *dec, unsigned i)
{
    struct layer *l = &dec->layer[i];
    size_t buffered = l->buffered;

    l->buffered = 0;
    emit(dec, i, l->out, buffered);
}

/* A decoder that gets no memory is an event, once per transaction. */
static void refused(struct http_tx *htx, enum decoder_refusal why)
{
    enum http_event event = why == DECODER_AT_MEMCAP ? HTTP_EVENT_DECOMPRESSION_MEMCAP_REACHED
                                                     : HTTP_EVENT_DECOMPRESSION_WINDOW_TOO_LARGE;

    if (why != DECODER_GRANTED && !app_tx_has_event(&htx->tx, event))
        app_tx_event(&htx->tx, event);
}

/* --- one layer -------------------------------------------------------------------------------- */

static bool layer_open(struct http_decoder *dec, struct layer *l, enum http_coding coding)
{
    l->coding = codings[coding];
    l->stream = l->coding->open(thread_of(dec), state_of(dec)->config, &l->memory);
    return l->stream != NULL;
}

static void layer_close(struct http_decoder *dec, struct layer *l)
{
    if (l->stream != NULL)
        l->coding->close(thread_of(dec), l->stream, &l->memory);
    l->stream = NULL;
}

/* The doubt is over: retained input is freed. */
static void layer_sure(struct http_decoder *dec, struct layer *l, enum layer_mode mode)
{
    if (l->mode == LAYER_DOUBT)
        l->mode = (uint8_t)mode;
    http_buf_release(dec->htx->tx.flow, &l->retained);
}

/* When a guess counts as right, see the top of the file. A body that retains more than a block
 * without output is given up as undecidable: the current coding stays. */
static bool is_believed(const struct layer *l, enum coding_status status)
{
    if (l->retained.len > RETAINED_LIMIT)
        return true;
    return l->buffered > 0 && (l->others == 0 || l->coding->has_header || l->buffered == BLOCK ||
                           status == CODING_END);
}

/* The coding does not fit. False: another one was opened, and the retained input runs through it.
 * True: nothing left to try; in doubt all input passes unchanged. */
static bool layer_failed(struct http_decoder *dec, unsigned i)
{
    struct layer *l = &dec->layer[i];
    struct buf retained;

    layer_close(dec, l);
    l->buffered = 0;
    if (l->mode != LAYER_DOUBT) {
        l->mode = l->mode == LAYER_PASS ? LAYER_PASS : LAYER_OVER;
        return true;
    }
    if (l->others++ < OTHERS_MAX && layer_open(dec, l, l->coding->otherwise))
        return false;
    refused(dec->htx, l->memory.refusal);
    l->mode = LAYER_PASS;
    retained = l->retained;
    l->retained = (struct buf){ 0 };
    emit(dec, i, retained.data, retained.len);
    http_buf_release(dec->htx->tx.flow, &retained);
    return true;
}

/* The decoder was refused memory. Input that has produced no output passes unchanged. */
static void layer_refused(struct http_decoder *dec, unsigned i, struct bytes in)
{
    struct layer *l = &dec->layer[i];
    bool in_doubt = l->mode == LAYER_DOUBT;
    struct buf retained = l->retained;

    refused(dec->htx, l->memory.refusal);
    layer_close(dec, l);
    l->mode = LAYER_PASS;
    l->retained = (struct buf){ 0 };
    if (in_doubt) {
        l->buffered = 0;
        emit(dec, i, retained.data, retained.len);
    } else {
        emit(dec, i, in.next, bytes_left(&in));
    }
    http_buf_release(dec->htx->tx.flow, &retained);
}

/* Runs the layer until it needs more input. After a failure it starts again with all retained
 * input; OTHERS_MAX bounds the number of starts. */
static void layer_run(struct http_decoder *dec, unsigned i, struct bytes in)
{
    struct layer *l = &dec->layer[i];

    while (l->mode == LAYER_DOUBT || l->mode == LAYER_SURE) {
        size_t space = BLOCK - l->buffered, produced = 0;
        enum coding_status status =
            l->coding->run(l->stream, &in, l->out + l->buffered, space, &produced);

        l->buffered += produced;
        if (l->mode == LAYER_DOUBT && is_believed(l, status))
            layer_sure(dec, l, LAYER_SURE);
        if (l->mode == LAYER_SURE)
            release(dec, i);
        if (status == CODING_ERROR) {
            if (layer_failed(dec, i))
                return;
            in = bytes_of(l->retained.data, l->retained.len);
        } else if (status == CODING_REFUSED) {
            layer_refused(dec, i, in);
        } else if (status == CODING_END) {
            if (l->mode != LAYER_PASS)
                l->mode = LAYER_OVER;
            layer_sure(dec, l, LAYER_OVER);
        } else if (produced < space) {
            return;
        }
    }
}

static void layer_feed(struct http_decoder *dec, unsigned i, const uint8_t *data, size_t len)
{
    struct layer *l = &dec->layer[i];

    if (l->mode == LAYER_OVER)
        return;
    if (l->mode == LAYER_PASS) {
        emit(dec, i, data, len);
        return;
    }
    if (l->mode == LAYER_DOUBT) {
        if (l->retained.data == NULL)
            l->retained = http_buf_take(dec->htx->tx.flow);
        buf_add(&l->retained, data, len);
    }
    layer_run(dec, i, bytes_of(data, len));
}

/* --- a body ----------------------------------------------------------------------------------- */

/* The header lists codings in the order in which they were applied: the last one is removed
 * first. */
static bool layers_open(struct http_decoder *dec, const struct http_message *m)
{
    for (unsigned i = 0; i < dec->count; i++) {
        struct layer *l = &dec->layer[i];

        l->stream = NULL;
        l->memory = (struct decoder_memory){ .flow = dec->htx->tx.flow };
        l->mode = LAYER_DOUBT;
        l->others = 0;
        l->buffered = 0;
        l->retained = l->held = (struct buf){ 0 };
        l->out = NULL;
    }
    for (unsigned i = 0; i < dec->count; i++)
        if (!layer_open(dec, &dec->layer[i], m->coding[dec->count - 1 - i])) {
            refused(dec->htx, dec->layer[i].memory.refusal);
            return false;
        }
    return true;
}

/* Nearly all bodies have one layer. A thread keeps one such decoder for reuse. */
static struct http_decoder *decoder_take(struct http_thread *ht, unsigned layers)
{
    struct http_decoder *dec = ht != NULL && layers == 1 ? ht->decoder : NULL;

    if (dec == NULL)
        return lib_malloc(sizeof(*dec) + layers * sizeof(dec->layer[0]));
    ht->decoder = NULL;
    return dec;
}

static void decoder_release(struct http_thread *ht, struct http_decoder *dec)
{
    if (ht != NULL && dec->count == 1 && ht->decoder == NULL)
        ht->decoder = dec;
    else
        lib_free(dec);
}

void http_decoders_free(struct http_thread *ht)
{
    lib_free(ht->decoder);
    ht->decoder = NULL;
    for (unsigned i = 0; i < HTTP_CODINGS_MAX; i++) {
        lib_free(ht->output[i]);
        ht->output[i] = NULL;
    }
}

/* --- space for output, while a decoder runs --------------------------------------------------- */

static uint8_t *output_take(struct http_thread *ht, unsigned i)
{
    if (ht == NULL)
        return lib_malloc(BLOCK);
    if (ht->output[i] == NULL)
        ht->output[i] = lib_malloc(BLOCK);
    return ht->output[i];
}

/* What is held back stays with the layer. */
static void output_return(struct http_decoder *dec)
{
    struct http_thread *ht = thread_of(dec);

    for (unsigned i = 0; i < dec->count; i++) {
        struct layer *l = &dec->layer[i];

        buf_clear(&l->held);
        if (l->buffered == 0)
            buf_fini(&l->held);
        else if (!buf_add(&l->held, l->out, l->buffered))
            l->mode = LAYER_OVER;
        l->buffered = l->held.len;
        if (ht == NULL)
            lib_free(l->out);
        l->out = NULL;
    }
}

static bool output_begin(struct http_decoder *dec)
{
    for (unsigned i = 0; i < dec->count; i++) {
        struct layer *l = &dec->layer[i];

        l->out = output_take(thread_of(dec), i);
        if (l->out == NULL) {
            all_over(dec);
            return false;
        }
        if (UNLIKELY(l->buffered > 0))
            memcpy(l->out, l->held.data, l->buffered);
    }
    return true;
}

/* --- decoders that wait ----------------------------------------------------------------------- */

#define PARK_INPUT 2048u            /* a decoder with more input keeps its memory */
#define PARK_OUTPUT (32u << 10)     /* the same for output: it is decoded again */
#define PARKS_MAX 4u

static void retain_no_more(struct http_decoder *dec)
{
    buf_fini(&dec->input);
    dec->retains = false;
}

static void retain(struct http_decoder *dec, const uint8_t *data, size_t len)
{
    if (dec->input.len + len > PARK_INPUT || !buf_add(&dec->input, data, len))
        retain_no_more(dec);
}

/* A layer that has begun to pass its input on, or is over, would read it differently. */
static bool may_be_repeated(const struct http_decoder *dec)
{
    for (unsigned i = 0; i < dec->count; i++)
        if (dec->layer[i].mode != LAYER_DOUBT && dec->layer[i].mode != LAYER_SURE)
            return false;
    return true;
}

/* After the packet. What a layer in doubt holds comes again, too. */
void http_decoder_rest(struct http_decoder *dec)
{
    if (LIKELY(!dec->retains) || dec->is_parked || !decoder_memory_is_much(dec->htx->tx.flow))
        return;
    if (dec->out > PARK_OUTPUT || dec->parks == PARKS_MAX || !may_be_repeated(dec)) {
        retain_no_more(dec);
        return;
    }
    for (unsigned i = 0; i < dec->count; i++) {
        struct layer *l = &dec->layer[i];

        layer_close(dec, l);
        http_buf_release(dec->htx->tx.flow, &l->retained);
        buf_fini(&l->held);
        l->buffered = 0;
    }
    dec->is_parked = true;
    dec->parks++;
}

/* There is no memory to go on: what follows passes unchanged, as do bytes that gave no output. */
static void pass_on(struct http_decoder *dec)
{
    for (unsigned i = 0; i < dec->count; i++) {
        layer_close(dec, &dec->layer[i]);
        if (dec->layer[i].mode != LAYER_OVER)
            dec->layer[i].mode = LAYER_PASS;
        refused(dec->htx, dec->layer[i].memory.refusal);
    }
    if (dec->out == 0)
        layer_feed(dec, 0, dec->input.data, dec->input.len);
}

/* Opens the codings that were found, and repeats their input. What came out before is skipped. */
static void resume(struct http_decoder *dec)
{
    bool is_open = true;

    dec->is_parked = false;
    for (unsigned i = 0; i < dec->count; i++) {
        struct layer *l = &dec->layer[i];

        if (l->mode != LAYER_DOUBT && l->mode != LAYER_SURE)
            continue;
        l->stream = l->coding->open(thread_of(dec), state_of(dec)->config, &l->memory);
        is_open &= l->stream != NULL;
    }
    dec->skip = dec->out;
    if (is_open)
        layer_feed(dec, 0, dec->input.data, dec->input.len);
    dec->skip = 0;
    if (!is_open)
        pass_on(dec);
}

/* --- the decoder of a body -------------------------------------------------------------------- */

/* Input is decoded in steps. Output is checked at the end of each step, which does not depend on
 * segmentation. The first step counts as received: what a body of a few bytes may unpack to depends
 * on it. */
#define FIRST_STEP 128u

struct http_decoder *http_decoder_new(struct http_tx *htx, enum direction d)
{
    const struct http_message *m = &htx->message[d];
    struct http_decoder *dec;

    if (m->codings == 0)
        return NULL;
    dec = decoder_take(htx->tx.flow->thread_data, m->codings);
    if (dec == NULL)
        return NULL;
    memset(dec, 0, sizeof(*dec));
    dec->htx = htx;
    dec->direction = d;
    dec->count = m->codings;
    dec->step_end = FIRST_STEP;
    dec->is_deflate = m->codings == 1 && codings[m->coding[0]]->is_deflate;
    dec->retains = decoder_memory_is_much(htx->tx.flow);
    if (layers_open(dec, m))
        return dec;
    http_decoder_free(dec);
    return NULL;
}

void http_decoder_free(struct http_decoder *dec)
{
    if (dec == NULL)
        return;
    state_of(dec)->packed[dec->direction] += dec->in;
    state_of(dec)->unpacked[dec->direction] += dec->out;
    for (unsigned i = 0; i < dec->count; i++) {
        layer_close(dec, &dec->layer[i]);
        http_buf_release(dec->htx->tx.flow, &dec->layer[i].retained);
        buf_fini(&dec->layer[i].held);
    }
    buf_fini(&dec->input);
    decoder_release(thread_of(dec), dec);
}

bool http_decoder_is_over(const struct http_decoder *dec)
{
    for (unsigned i = 0; i < dec->count; i++)
        if (dec->layer[i].mode != LAYER_OVER)
            return false;
    return true;
}

/* Each step is a quarter longer than the one before, so that their number stays small. */
void http_decoder_data(struct http_decoder *dec, const uint8_t *data, size_t len)
{
    dec->since_ns = 0;
    if (!output_begin(dec))
        return;
    if (UNLIKELY(dec->is_parked))
        resume(dec);
    if (UNLIKELY(dec->retains))
        retain(dec, data, len);
    while (len > 0) {
        size_t n = (size_t)MIN((uint64_t)len, dec->step_end - dec->in);

        dec->in += n;
        layer_feed(dec, 0, data, n);
        if (dec->in == dec->step_end)
            dec->step_end += dec->step_end / 4;
        data += n;
        len -= n;
    }
    output_return(dec);
}

/* Releases what layers still hold back: a doubt at the end counts as right. */
void http_decoder_end(struct http_decoder *dec)
{
    if (!output_begin(dec))
        return;
    if (UNLIKELY(dec->is_parked))
        resume(dec);
    for (unsigned i = 0; i < dec->count; i++) {
        const struct layer *l = &dec->layer[i];

        if (l->mode == LAYER_OVER)
            continue;
        release(dec, i);
        if (l->stream != NULL && l->coding->is_bomb_at_end != NULL &&
            l->coding->is_bomb_at_end(l->stream))
            bomb(dec);
    }
    all_over(dec);
    output_return(dec);
}

/* --- the header ------------------------------------------------------------------------------- */

/* `nocase` lengths are equal, so that http_slice_has() compares the complete word. */
static bool is_word(struct slice s, const char *word, bool nocase)
{
    return s.len == strlen(word) && (nocase ? http_slice_has(s, word)
                                            : memcmp(s.data, word, s.len) == 0);
}

/* False: switched off, no coding, or more than HTTP_CODINGS_MAX. */
static bool add_coding(const struct http_config *config, struct http_message *m,
                       enum http_coding coding)
{
    if (coding == HTTP_CODING_LZMA && config->lzma_off)
        coding = HTTP_CODING_NONE;
    if (coding == HTTP_CODING_NONE || m->codings == HTTP_CODINGS_MAX)
        return false;
    m->coding[m->codings++] = (uint8_t)coding;
    return true;
}

/* Browsers ignore NUL bytes within a word. A word that does not fit into `out` is no coding. */
static struct slice without_zeros(struct slice s, uint8_t *out, size_t space)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s.len; i++) {
        if (s.data[i] == 0)
            continue;
        if (n == space)
            return s;
        out[n++] = s.data[i];
    }
    return (struct slice){ .data = out, .len = n };
}

/* The header names one coding, in any case: nearly all have this form. False: try it as a list. */
static bool one_coding(const struct http_config *config, struct http_message *m,
                       struct slice value)
{
    uint8_t word[16];
    static const struct { const char *name; enum http_coding coding; } names[] = {
        { "gzip", HTTP_CODING_GZIP }, { "x-gzip", HTTP_CODING_GZIP },
        { "deflate", HTTP_CODING_DEFLATE }, { "x-deflate", HTTP_CODING_DEFLATE },
        { "lzma", HTTP_CODING_LZMA }, { "br", HTTP_CODING_BROTLI },
        { "zstd", HTTP_CODING_ZSTD },
        { "inflate", HTTP_CODING_NONE }, { "none", HTTP_CODING_NONE },
    };

    value = without_zeros(value, word, sizeof(word));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (!is_word(value, names[i].name, true))
            continue;
        add_coding(config, m, names[i].coding);
        return true;
    }
    return false;
}

/* One word of a list. As in browsers, "gzip" and "deflate" count within longer words; that is an
 * event. */
static enum http_coding listed_coding(struct http_tx *htx, struct slice word)
{
    enum http_coding coding = HTTP_CODING_NONE;
    bool usual = true;

    if (http_slice_has(word, "gzip")) {
        coding = HTTP_CODING_GZIP;
        usual = is_word(word, "gzip", false) || is_word(word, "x-gzip", false);
    } else if (http_slice_has(word, "deflate")) {
        coding = HTTP_CODING_DEFLATE;
        usual = is_word(word, "deflate", false) || is_word(word, "x-deflate", false);
    } else if (is_word(word, "lzma", false)) {
        coding = HTTP_CODING_LZMA;
    } else if (is_word(word, "br", true)) {
        coding = HTTP_CODING_BROTLI;
    } else if (is_word(word, "zstd", true)) {
        coding = HTTP_CODING_ZSTD;
    } else {
        usual = is_word(word, "inflate", false) || is_word(word, "none", false) ||
                is_word(word, "identity", false);
    }
    if (!usual && !app_tx_has_event(&htx->tx, HTTP_EVENT_ABNORMAL_CE_HEADER))
        app_tx_event(&htx->tx, HTTP_EVENT_ABNORMAL_CE_HEADER);
    return coding;
}

static bool take_word(struct bytes *in, struct slice *word)
{
    const uint8_t *from;

    while (bytes_have(in, 1) && (peek_u8(in) == ',' || peek_u8(in) == ' '))
        take_u8(in);
    from = in->next;
    while (bytes_have(in, 1) && peek_u8(in) != ',' && peek_u8(in) != ' ')
        take_u8(in);
    *word = (struct slice){ .data = from, .len = (uint32_t)(in->next - from) };
    return word->len > 0;
}

/* Each coding costs memory and time. The limits are response-body-decompress-layer-limit and
 * lzma-enabled; what exceeds them is not decoded at all after that point. */
static void list_codings(struct http_tx *htx, enum direction d, struct slice value)
{
    const struct http_config *config = ((struct http_state *)htx->tx.flow->state)->config;
    struct http_message *m = &htx->message[d];
    struct bytes in = bytes_of_slice(value);
    unsigned lzma = 0;
    struct slice word;

    for (unsigned n = 1; take_word(&in, &word); n++) {
        enum http_coding coding;

        if (config->layer_limit != 0 && n > config->layer_limit) {
            app_tx_event(&htx->tx, HTTP_EVENT_TOO_MANY_ENCODING_LAYERS);
            return;
        }
        coding = listed_coding(htx, word);
        if (coding == HTTP_CODING_LZMA && config->lzma_off)
            coding = HTTP_CODING_NONE;
        lzma += coding == HTTP_CODING_LZMA;
        if (config->lzma_layers != 0 && lzma > config->lzma_layers) {
            app_tx_event(&htx->tx, d == TO_SERVER ? HTTP_EVENT_REQUEST_TOO_MANY_LZMA_LAYERS
                                                  : HTTP_EVENT_RESPONSE_TOO_MANY_LZMA_LAYERS);
            return;
        }
        if (!add_coding(config, m, coding) && coding != HTTP_CODING_NONE)
            return;
    }
}

/* Called when the header is complete, before the first byte of the body. */
void http_codings_read(struct http_tx *htx, enum direction d)
{
    const struct http_state *state = htx->tx.flow->state;
    const htp_header_t *h = http_header(htx, d, "content-encoding");

    htx->message[d].codings = 0;
    if (h == NULL || state->bombs >= state->config->bomb_count)
        return;
    if (!one_coding(state->config, &htx->message[d], http_bstr(h->value)))
        list_codings(htx, d, http_bstr(h->value));
}
