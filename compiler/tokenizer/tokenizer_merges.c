/* tokenizer_merges.c: import vocab.json and merges.txt, a byte-level BPE. The class, a row of the
 * table below, determines how texts are split and which special tokens surround them. */
#include "tokenizer_json.h"

#include <string.h>

#include "file.h"

enum {
    MERGES_NFC = 1,
    MERGES_QWEN2 = 2,           /* Qwen 2's pattern instead of GPT-2's */
    MERGES_AROUND = 4           /* cls A sep; cls A sep sep B sep */
};

#define END "<|endoftext|>"
/* Classes; model types, for folders that name no class; flags; and the special tokens bos, eos,
 * unk, sep, pad, cls, mask. */
static const TokClassRow classes[] = {
    { "GPT2 CodeGen", "gpt2 gpt_neo gptj codegen opt phi starcoder2 gpt_bigcode dbrx", 0,
      { END, END, END, NULL, NULL, NULL, NULL } },
    { "GPTNeoX", "gpt_neox mamba mamba2 mpt olmo olmoe rwkv falcon_mamba", MERGES_NFC,
      { END, END, END, NULL, "<|padding|>", NULL, NULL } },
    { "Qwen2", "qwen2 qwen2_moe qwen3 qwen3_moe", MERGES_NFC | MERGES_QWEN2, { NULL, END, END, NULL, END, NULL, NULL } },
    { "Roberta Bart Longformer LED", "roberta roberta-prelayernorm data2vec-text bart longformer led", MERGES_AROUND,
      { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" } },
};
enum { CLASSES = sizeof classes / sizeof *classes };

const char *tok_classes_of_merges(Arena *a)
{
    Text t = text_new(a);
    for (int i = 0; i < CLASSES; i++) tok_list_words(&t, classes[i].names);
    return t.data;
}

/* ---- files ---------------------------------------------------------------------------------------- */

/* A line is two pieces separated by a space. */
static void read_merges(TokBuild *b, const char *data, size_t size)
{
    int line = 0;
    uint32_t rank = 0;
    for (size_t at = 0, next; at < size && !tok_failed(b); at = next) {
        const char *end = memchr(data + at, '\n', size - at);
        size_t n = end ? (size_t)(end - (data + at)) : size - at;
        next = at + n + 1;
        line++;
        if (n && data[at + n - 1] == '\r') n--;
        if (!n || (line == 1 && n > 8 && memcmp(data + at, "#version", 8) == 0)) continue;
        const char *space = memchr(data + at, ' ', n);
        TokString part[2] = { { data + at, space ? (size_t)(space - (data + at)) : 0 }, { space ? space + 1 : "", 0 } };
        part[1].n = space ? n - part[0].n - 1 : 0;
        const char *both = arena_format(b->arena, "%.*s%.*s", (int)part[0].n, part[0].s, (int)part[1].n, part[1].s);
        TokString whole = tok_string(both);
        bool good = part[0].n && part[1].n && tok_bytes(b->arena, part[0], &part[0]) && tok_bytes(b->arena, part[1], &part[1]);
        good = good && tok_bytes(b->arena, whole, &whole);
        const uint32_t left = good ? tok_id(b, part[0]) : RT_TOK_NONE, right = good ? tok_id(b, part[1]) : RT_TOK_NONE,
                       merged = good ? tok_id(b, whole) : RT_TOK_NONE;
        if (left == RT_TOK_NONE || right == RT_TOK_NONE || merged == RT_TOK_NONE)
            diag_error(b->diag, EXIT_BAD_DATA, (Loc){ b->file, line, 1 }, "expected two pieces of the vocabulary that merge into a third");
        else tok_merge(b, left, right, rank++, merged);
    }
}

/* ---- the class ------------------------------------------------------------------------------------ */

/* The row of the folder's class; NULL if the folder names neither a class nor a model_type, or
 * after an error. */
static const TokClassRow *find_class(TokBuild *b, const TokFolder *f)
{
    const TokClassRow *class = tok_class_of(b, f, classes, CLASSES);
    const char *shown = tok_class_shown(b, f);
    if (!class && shown)
        tok_refuse(b, "vocab.json and merges.txt of the %s are not supported; those of %s are", shown, tok_classes_of_merges(b->arena));
    return class;
}

static void split_texts(TokBuild *b, const TokClassRow *class, const TokFolder *f)
{
    const unsigned flags = class ? class->flags : 0;
    const bool prefix = f->has_prefix_space && f->prefix_space;
    uint32_t node = 0;
    if (flags & MERGES_NFC) tok_form(b, true, false);
    if (flags & MERGES_QWEN2 && tok_regex(b, tok_string(TOK_PATTERN_QWEN2), &node))
        tok_split(b, (RtTokOp){ .kind = TOK_SPLIT, .a = node, .b = TOK_ISOLATED });
    tok_byte_level(b, prefix, !(flags & MERGES_QWEN2));
}

static void add_special(TokBuild *b, TokString text)
{
    const uint32_t id = text.n ? tok_piece_of_text(b, text) : RT_TOK_NONE;
    const uint32_t flags = text.n == 6 && memcmp(text.s, "<mask>", 6) == 0 ? TOK_ADDED_LSTRIP : 0;
    if (id != RT_TOK_NONE) tok_add(b, (TokAdded){ text, id, flags, false, true, false, false });
}

/* Without a class, the special tokens are pieces such as <|this|> and <this>, and those that the
 * folder names. */
static void guess_marks(TokBuild *b, const TokConfig *c)
{
    for (int i = 0; i < b->size; i++) {
        const TokString s = b->pieces.at[i].text;
        if (s.n > 2 && s.s[0] == '<' && s.s[s.n - 1] == '>') add_special(b, s);
    }
    for (int i = 0; i < TOK_MARKS; i++) add_special(b, c->folder.mark[i].text);
}

static void settle_template(TokBuild *b, const TokClassRow *class, const TokConfig *c)
{
    const TokAdded *mark = c->folder.mark;
    const TokString cls = mark[TOK_CLS].text.s ? mark[TOK_CLS].text : tok_string("<s>");
    const TokString sep = mark[TOK_SEP].text.s ? mark[TOK_SEP].text : tok_string("</s>");
    const TokString bos = mark[TOK_BOS].text.s ? mark[TOK_BOS].text : tok_string(class && class->mark[TOK_BOS] ? class->mark[TOK_BOS] : "");
    const TokString eos = mark[TOK_EOS].text.s ? mark[TOK_EOS].text : tok_string(class && class->mark[TOK_EOS] ? class->mark[TOK_EOS] : "");
    const uint32_t begin = tok_id_of_text(b, cls), end = tok_id_of_text(b, sep);
    const bool masked = tok_id_of_text(b, tok_string("<mask>")) != RT_TOK_NONE;
    const bool around = class ? (class->flags & MERGES_AROUND) != 0 : masked;
    const uint32_t first = bos.n && c->add_bos ? tok_id_of_text(b, bos) : RT_TOK_NONE;
    const uint32_t last = eos.n && c->add_eos ? tok_id_of_text(b, eos) : RT_TOK_NONE;
    if (around && begin != RT_TOK_NONE && end != RT_TOK_NONE) {
        tok_template_roberta(b, begin, end);
        tok_trim(b, false);
    } else if (first != RT_TOK_NONE || last != RT_TOK_NONE) {
        tok_template_ends(b, first != RT_TOK_NONE ? (int)first : -1, last != RT_TOK_NONE ? (int)last : -1);
    }
}

bool tok_import_vocab_merges(TokBuild *b, const char *vocab, size_t vocab_size, const char *merges, size_t merges_size,
                             const TokConfig *config)
{
    static const TokConfig none;
    const TokConfig *c = config ? config : &none;
    const char *vocab_path = b->file;
    const TokClassRow *class = find_class(b, &c->folder);
    json_t *root = tok_failed(b) ? NULL : tok_json_load(b, vocab, vocab_size);
    if (root) split_texts(b, class, &c->folder);
    if (root) tok_json_ids(b, root, true);
    json_decref(root);
    if (tok_failed(b)) return false;
    tok_index(b);
    b->file = file_join(b->arena, file_folder(b->arena, vocab_path), "merges.txt");
    read_merges(b, merges, merges_size);
    b->file = vocab_path;
    b->head[TOK_HEAD_MODEL] = TOK_BPE;
    tok_decoder(b, (RtTokOp){ .kind = TOK_TO_BYTES });
    if (!class) guess_marks(b, c);
    if (c->folder.path) {
        static const char *const unknown[TOK_MARKS] = { NULL };
        tok_refuse_taken(b, c);
        tok_add_folder(b, c, class ? class->mark : unknown, TOK_ADDED_LSTRIP);
    }
    settle_template(b, class, c);
    return !tok_failed(b);
}
