/* tokenizer_spelt.c: import the SentencePiece models of Marian and M2M100, whose pieces have the
 * ids of a vocab.json in the same folder. A piece that vocab.json lacks becomes a symbol after all
 * ids, which is encoded as unknown. */
#include "tokenizer_json.h"

#include <string.h>

#include "file.h"

/* Copy the rules of the model to b, which has the vocabulary. */
static void take_rules(TokBuild *b, const TokBuild *pieces)
{
    memcpy(b->head, pieces->head, sizeof b->head);
    b->head[TOK_HEAD_FLAGS] &= ~(uint32_t)TOK_BYTE_FALLBACK;
    b->text = pieces->text;
    b->normalisers.at = pieces->normalisers.at;
    b->normalisers.count = pieces->normalisers.count;
    b->normalisers.room = pieces->normalisers.room;
    b->growth = pieces->growth;
    b->extra = pieces->extra;
    b->charsmap = pieces->charsmap;
    b->charsmap_text = pieces->charsmap_text;
    tok_decode_sentencepiece(b, tok_string("\xE2\x96\x81"), true);
}

/* The id of a special token, which vocab.json must have. Its piece becomes special. */
static uint32_t mark_of(TokBuild *b, const char *text)
{
    const uint32_t id = tok_piece_of_text(b, tok_string(text));
    if (id == RT_TOK_NONE) tok_refuse(b, "vocab.json has no %s", text);
    else b->pieces.at[id].kind |= TOK_SPECIAL;
    return id;
}

/* Read the ids of vocab.json into b, and return the pieces of the model; NULL after errors. */
static TokBuild *read_both(TokBuild *b, const char *model, size_t model_size, const char *vocab, size_t vocab_size)
{
    TokBuild *pieces = tok_build_new(b->arena, b->diag, b->file);
    if (!tok_import_sentencepiece(pieces, model, model_size, NULL)) return NULL;
    if (pieces->head[TOK_HEAD_MODEL] != TOK_UNIGRAM)
        tok_refuse(b, "a SentencePiece model with a vocab.json must be a unigram model");
    const char *path = b->file;
    b->file = file_join(b->arena, file_folder(b->arena, path), "vocab.json");
    json_t *root = tok_failed(b) ? NULL : tok_json_load(b, vocab, vocab_size);
    if (root) tok_json_ids(b, root, false);
    json_decref(root);
    b->file = path;
    return tok_failed(b) ? NULL : pieces;
}

/* Join the pieces and rules of the model to b. Tokens that were added to b before keep their ids;
 * the symbols follow them. */
static bool join(TokBuild *b, const TokBuild *pieces)
{
    const int size = b->size;
    const uint32_t unknown = mark_of(b, "<unk>");
    for (int i = 0; i < pieces->size && !tok_failed(b); i++) {
        const TokPiece *p = &pieces->pieces.at[i];
        if (!p->key.s) continue;
        const uint32_t id = tok_piece_of_text(b, p->text);
        TokPiece *to = id != RT_TOK_NONE ? &b->pieces.at[id] : TOK_NEW(b, &b->pieces);
        *to = (TokPiece){ .text = p->text, .key = p->text, .score = p->score, .kind = to->kind };
    }
    b->size = size;
    if (tok_failed(b)) return false;
    tok_index(b);
    take_rules(b, pieces);
    b->head[TOK_HEAD_FLAGS] |= TOK_NO_OUTER_SPACES;
    b->head[TOK_HEAD_UNKNOWN] = unknown;
    return true;
}

/* ---- Marian -------------------------------------------------------------------------------------------------------- */

static bool is_language(TokString s) { return s.n > 4 && memcmp(s.s, ">>", 2) == 0 && memcmp(s.s + s.n - 2, "<<", 2) == 0; }

#define UNKNOWN_CODE "\xEF\xA3\xBF"       /* U+F8FF, which no vocabulary has */

/* A language code such as >>fr<< is matched only at the beginning of a text, where one that the
 * vocabulary lacks becomes <unk>. */
bool tok_import_marian(TokBuild *b, const char *model, size_t model_size, const char *vocab, size_t vocab_size, const TokConfig *config)
{
    const TokFolder *f = &config->folder;
    static const char *const none[TOK_MARKS] = { NULL };
    static const char *const marks[] = { "</s>", "<unk>", "<pad>" };
    const TokBuild *pieces = read_both(b, model, model_size, vocab, vocab_size);
    if (!pieces) return false;
    b->origin.rules = "class Marian by its files";
    for (int i = 0; i < b->size; i++)
        if (b->pieces.at[i].text.s && is_language(b->pieces.at[i].text))
            tok_add(b, (TokAdded){ b->pieces.at[i].text, (uint32_t)i, TOK_ADDED_FIRST, false, false, false, false });
    const uint32_t end = mark_of(b, "</s>");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const uint32_t id = tok_piece_of_text(b, tok_string(marks[i]));
        if (id == RT_TOK_NONE) continue;
        tok_add(b, (TokAdded){ tok_string(marks[i]), id, 0, false, true, false, false });
        b->pieces.at[id].kind |= TOK_BLANK_BEHIND;
    }
    tok_add_folder(b, config, none, 0);
    for (int i = 0; i < b->added.count; i++) {
        TokAdded *x = &b->added.at[i];
        /* The class regards only blanks as word boundaries. */
        if (x->flags & TOK_ADDED_SINGLE_WORD)
            tok_refuse(b, "the added token \"%.60s\" has single_word, which is not supported in a Marian tokenizer", x->text.s);
        x->normalised = false;
        if (tok_is_mark(f, x->text) && !tok_is_listed(f->objects.at, f->objects.count, x->text)) b->pieces.at[x->id].kind |= TOK_BLANK_BEHIND;
    }
    if (tok_failed(b) || !join(b, pieces)) return false;
    /* An unknown code becomes one token, without a prefix. */
    tok_replace(b, "\\A>>[^<]*<<", UNKNOWN_CODE " ", true);
    tok_replace(b, "\\A\xE2\x96\x81" UNKNOWN_CODE, UNKNOWN_CODE, false);
    tok_item(b, false, TOK_ITEM_A, 0, 0);
    tok_item(b, false, TOK_ITEM_SPECIAL, end, 0);
    tok_item(b, true, TOK_ITEM_A, 0, 0);
    tok_item(b, true, TOK_ITEM_B, 0, 0);
    tok_item(b, true, TOK_ITEM_SPECIAL, end, 0);
    return !tok_failed(b);
}

/* ---- M2M100 -------------------------------------------------------------------------------------------------------- */

bool tok_import_spelt(TokBuild *b, const char *model, size_t model_size, const char *vocab, size_t vocab_size, const TokConfig *config)
{
    const TokBuild *pieces = read_both(b, model, model_size, vocab, vocab_size);
    if (!pieces) return false;
    tok_lay_languages(b, config);
    /* Added tokens do not get the prefix. */
    for (int i = 0; i < b->added.count; i++) b->added.at[i].normalised = false;
    if (tok_failed(b) || !join(b, pieces)) return false;
    tok_lay_marks(b, config);
    for (int i = 0; i < b->added.count; i++)
        if (b->added.at[i].special) b->pieces.at[b->added.at[i].id].kind |= TOK_TRIM_BEHIND;
    return !tok_failed(b);
}
