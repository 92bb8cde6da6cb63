/* tokenizer_build.h: a tokenizer as its importers describe it, before it is a blob. Everything lives in the arena. */
#ifndef TOKENIZER_BUILD_H
#define TOKENIZER_BUILD_H

#include "rt_tokenizer_format.h"
#include "text.h"
#include "tokenizer.h"

enum { TOK_OPS_MOST = 32, TOK_PIECE_MOST = 2048, TOK_IDS_MOST = 1 << 24 };

/* A text of any bytes. */
typedef struct TokString { const char *s; size_t n; } TokString;

/* text: as in the vocabulary. key: as the model sees it, where it differs (bytes of a byte-level piece); s NULL: the model
 * does not know it. */
typedef struct TokPiece { TokString text, key; double score; unsigned char kind; } TokPiece;
typedef struct TokMerge { uint32_t left, right, rank, merged; } TokMerge;
/* normalised: looked for behind the normalisers, as they make it; verbatim: there, but as it is. */
typedef struct TokAdded { TokString text; uint32_t id, flags; bool normalised, special, verbatim; } TokAdded;
typedef struct TokItem { uint32_t kind, id, type; } TokItem;

/* Characters: those of the properties and ranges, or all others. */
typedef struct TokRange { uint32_t first, last; } TokRange;
typedef struct TokClass { uint64_t properties; TokRange *ranges; int count, room; bool negated; } TokClass;

/* A growing array. */
#define TOK_LIST(type) struct { type *at; int count, room; }
/* A new element at the end, zeroed. */
#define TOK_NEW(b, list) \
    ((list)->count == (list)->room ? (void)((list)->at = tok_grow((b)->arena, (list)->at, &(list)->room, sizeof *(list)->at)) : (void)0, \
     &(list)->at[(list)->count++])
void *tok_grow(Arena *a, void *old, int *room, size_t size);

/* Texts to numbers, by hash: open addressing, never more than half full. All zeros is empty. */
typedef struct TokTexts { struct TokTextsSlot { TokString text; uint32_t value; bool used; } *slot; uint32_t room, count; } TokTexts;
void tok_texts_put(Arena *a, TokTexts *t, TokString text, uint32_t value);      /* the last of a text counts */
uint32_t tok_texts_find(const TokTexts *t, TokString text);     /* RT_TOK_NONE if absent */

/* Bytes to values, for look-ups and as the runtime walks it. */
typedef struct TokEntry { TokString key; uint32_t value; } TokEntry;
typedef struct TokTrie { uint32_t *units, count; } TokTrie;     /* units[2 * count] */

typedef struct TokBuild {
    Arena *arena;
    Diag *diag;
    const char *file, *part;        /* for messages; part: the key that is being read, or NULL */
    FileMap map;                    /* of a file that is not read as a whole, until the blob is made */
    TokenizerOrigin origin;
    int errors;                     /* of diag, when it began */
    TOK_LIST(TokPiece) pieces;      /* by id; behind the first `size` stand symbols that are no pieces */
    int size;
    TOK_LIST(TokMerge) merges;
    TOK_LIST(TokAdded) added;
    TOK_LIST(TokItem) single;
    TOK_LIST(TokItem) pair;
    TOK_LIST(RtTokOp) normalisers;
    TOK_LIST(RtTokOp) splits;
    TOK_LIST(RtTokOp) decoders;
    TOK_LIST(RtTokNode) nodes;
    TOK_LIST(TokClass) classes;
    Text text;                      /* TOK_TEXT */
    TokTrie trie;                   /* of the pieces' keys: tok_index */
    TokTexts added_texts;  int added_known;     /* the first added token of each text, of those before `added_known` */
    TokTexts piece_texts;  bool pieces_known;   /* the last piece of each text: tok_piece_of_text */
    TokenizerChat chat;
    uint32_t head[TOK_HEADS];
    double growth, split_growth, form_growth, extra, split_extra;
    int era;                        /* TokEra of the properties */
    bool rust_words;                /* \w as Rust has it, while patterns are read; else as Oniguruma */
    bool properties, forms, compatible, lower, graphemes;       /* the tables that it needs */
    TokString charsmap, charsmap_text;
    bool byte_level;
    bool bytes_given;  uint32_t bytes[256];      /* TOK_BYTES, where pieces are not known by <0xNN> */
    bool template_given;
    int64_t rows;                   /* of the model's embedding; an added token beyond them is left out. 0: not known */
    bool told_rows;                 /* that one was */
} TokBuild;

TokBuild *tok_build_new(Arena *a, Diag *d, const char *file);

/* What is wrong with the file, or not supported. */
void tok_refuse(TokBuild *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool tok_failed(const TokBuild *b);
const char *tok_first_word(TokBuild *b, const char *words);

TokString tok_string(const char *s);
bool tok_same(TokString a, TokString b);
float tok_float(uint32_t bits);     /* of f32 */
/* Words of a text with blanks between: the next, false at its end; and whether one is there. */
bool tok_next_word(const char **s, TokString *word);
bool tok_has_word(const char *words, const char *word);
/* Add them, with commas between, to a list that may have some. */
void tok_list_words(Text *list, const char *words);

/* ---- vocabulary ------------------------------------------------------------------------------------------------ */

/* The piece of an id, which grows the vocabulary; NULL after refusing an id that is too large, or a text that is too long.
 * `known`: to the model. */
TokPiece *tok_piece(TokBuild *b, int64_t id, TokString text, bool known);
/* Index the pieces: needed before tok_id. Keys of byte-level pieces become bytes. */
void tok_index(TokBuild *b);
uint32_t tok_id(const TokBuild *b, TokString key);              /* RT_TOK_NONE if absent */
uint32_t tok_id_of_text(TokBuild *b, TokString text);           /* the same by the text in the vocabulary; added tokens too */
uint32_t tok_added_of_text(TokBuild *b, TokString text);        /* the first of b->added, or RT_TOK_NONE */
uint32_t tok_piece_of_text(TokBuild *b, TokString text);        /* the last piece, whether the model knows it or not, or RT_TOK_NONE */
void tok_merge(TokBuild *b, uint32_t left, uint32_t right, uint32_t rank, uint32_t merged);
/* Bytes of text in the alphabet of byte-level pieces; false where it has other characters. */
bool tok_bytes(Arena *a, TokString text, TokString *bytes);

/* Add a token to those that are looked for in a text. Its id is x.id, whose piece takes its text; where
 * that is RT_TOK_NONE, that of the piece with its text, else the first that is free. Returns the id;
 * RT_TOK_NONE where the model has no row for it. */
uint32_t tok_add(TokBuild *b, TokAdded x);
uint32_t tok_next_id(const TokBuild *b);                        /* the first that is free behind as many as there are tokens */

/* ---- steps ------------------------------------------------------------------------------------------------------ */

void tok_normaliser(TokBuild *b, RtTokOp op);                   /* its text already in the pool */
void tok_lower_first(TokBuild *b);                              /* a step before all normalisers */
void tok_split(TokBuild *b, RtTokOp op);
void tok_decoder(TokBuild *b, RtTokOp op);
uint32_t tok_pool(TokBuild *b, TokString s);                    /* where it stands in TOK_TEXT */
RtTokOp tok_op(TokBuild *b, RtTokOpKind kind, TokString text);
void tok_item(TokBuild *b, bool pair, uint32_t kind, uint32_t id, uint32_t type);

/* A template that another may take the place of. Taken, there is none; put back, it counts. */
typedef struct TokTemplate { TokItem *single, *pair; int singles, pairs; } TokTemplate;
TokTemplate tok_template_take(TokBuild *b);
bool tok_template_same(const TokBuild *b, const TokTemplate *x);
void tok_template_put(TokBuild *b, const TokTemplate *x);

/* The usual pipelines, by parts. */
void tok_bert_normaliser(TokBuild *b, bool clean, bool chinese, bool strip_accents, bool lowercase);
void tok_bert_split(TokBuild *b);
void tok_byte_level(TokBuild *b, bool prefix_space, bool use_regex);
void tok_form(TokBuild *b, bool compose, bool compatible);
void tok_strip_accents(TokBuild *b);
void tok_replace(TokBuild *b, const char *regex, const char *by, bool first);       /* a normaliser; first: before all others */
void tok_metaspace(TokBuild *b, TokString mark, RtTokPrepend scheme, bool split);
void tok_template_begin(TokBuild *b, uint32_t bos);                             /* bos A; bos A B of type 1 */
void tok_template_ends(TokBuild *b, int bos, int eos);      /* of every text; below 0: none */
void tok_template_bert(TokBuild *b, uint32_t cls, uint32_t sep);                /* cls A sep; cls A sep B sep, the last two of type 1 */
void tok_template_roberta(TokBuild *b, uint32_t cls, uint32_t sep);             /* cls A sep; cls A sep sep B sep */
void tok_trim(TokBuild *b, bool keeps_first);                                    /* spans without white space at their ends */
bool tok_charsmap(TokBuild *b, const unsigned char *data, size_t n, RtTokOpKind kind);
/* Whether the library takes this charsmap: every unit is looked at, reached or not. */
bool tok_charsmap_is_whole(TokString map);

/* ---- patterns --------------------------------------------------------------------------------------------------- */

/* A regular expression, as Oniguruma reads it; false after refusing what is not supported, by its name. */
bool tok_regex(TokBuild *b, TokString regex, uint32_t *node);
/* Number the nodes of a pattern whose failures are to be noted; its nodes are all from `offset` on, and it begins with `first`. */
void tok_memo(TokBuild *b, uint32_t offset, uint32_t first);
/* One character of a class; a text as it is. */
uint32_t tok_class_pattern(TokBuild *b, TokClass class);
uint32_t tok_text_pattern(TokBuild *b, TokString text);
uint64_t tok_properties(const char *name);                      /* "L", "Nd", …; 0 where there is none */
void tok_add_range(TokBuild *b, TokClass *c, uint32_t first, uint32_t last);
/* \w: alone, or as a part of a class in brackets, where digits above the line and fractions are missing. */
TokClass tok_word_class(TokBuild *b, bool in_brackets);
/* [:name:]; false if there is no class of that name. */
bool tok_posix_class(TokBuild *b, const char *name, size_t bytes, TokClass *c);

/* How the ids of text are decoded, where a file does not say. */
void tok_decode_sentencepiece(TokBuild *b, TokString mark, bool prefix);

/* ---- the end ---------------------------------------------------------------------------------------------------- */

TokTrie tok_trie(Arena *a, TokEntry *entries, int count);       /* of equal keys the last; sorts the entries */
/* The bits of TOK_JOINS, words[*count] in the arena; *count is 0 where there are no merges, or it cannot be said which symbols a
 * merged one begins and ends with. bytes: TOK_BYTES. */
uint32_t *tok_joins(const TokBuild *b, const uint32_t bytes[256], uint32_t *count);
bool tok_finish(TokBuild *b, TokenizerBlob *out);

/* How Qwen 2 splits texts: in its classes and in its GGUF files. */
#define TOK_PATTERN_QWEN2 "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" \
                          "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* ---- importers: false after errors -------------------------------------------------------------------------------- */

/* Marks by what they are for, in the order in which transformers gives them ids. */
typedef enum TokMark { TOK_BOS, TOK_EOS, TOK_UNK, TOK_SEP, TOK_PAD, TOK_CLS, TOK_MASK, TOK_MARKS } TokMark;

/* What the files of a folder say about the class of its tokenizer: tokenizer_marks.c. */
typedef struct TokFolder {
    const char *path;               /* of the folder */
    const char *class_name;         /* tokenizer_class without "Tokenizer" and "Fast"; NULL for none */
    const char *model_type;         /* of config.json; NULL for none */
    TokAdded mark[TOK_MARKS];       /* text.s NULL: not named; ids are RT_TOK_NONE */
    TOK_LIST(TokAdded) added;       /* added_tokens.json */
    TOK_LIST(TokAdded) extra;       /* additional_special_tokens and marks of other names; ids are RT_TOK_NONE */
    TokString source_language, language_codes, word_tokenizer, sentence_mask;
    bool has_sentence_mask;         /* mask_token_sent, which may be null */
    int64_t extra_ids, offset;      /* below 0: not said */
    bool legacy, has_legacy, language_last, keep_accents, prefix_space, has_prefix_space;
} TokFolder;

/* What tokenizer_config.json says besides. */
typedef struct TokConfig {
    bool do_lower_case, has_do_lower_case, strip_accents, has_strip_accents, chinese, has_chinese;
    bool add_bos, has_add_bos, add_eos, has_add_eos, legacy, prefix_space, has_prefix_space;
    bool clean_spaces, clean_bpe;   /* clean_up_tokenization_spaces; and of a BPE too, whose key says what it does */
    bool cut_left, has_side;        /* truncation_side, which goes before that of tokenizer.json */
    bool no_types;                  /* model_input_names without token_type_ids: all are 0 */
    bool lower_first;               /* sentence-transformers has a text in lower case before all else */
    const char *class_name;         /* tokenizer_class; NULL: none */
    TokString prompt;               /* sentence-transformers puts it before every text; s NULL: none */
    TOK_LIST(TokAdded) added;       /* added_tokens_decoder */
    TokFolder folder;
} TokConfig;

/* What a piece of a SentencePiece model is; a word: what stands in the vocabulary without being a piece of the model. */
typedef enum TokType { TYPE_WORD, TYPE_NORMAL, TYPE_UNKNOWN, TYPE_CONTROL, TYPE_USER, TYPE_UNUSED, TYPE_BYTE } TokType;

/* What these two have in common: pieces with scores and types, and how spaces are written. */
typedef struct TokSentencePieces {
    bool unigram, byte_fallback, prefix, no_extra_spaces, escape;
    bool words;                     /* white space parts words, and each has a prefix: Hugging Face's way */
    bool alone;                     /* without a folder: decoded as the library does it, which also
                                     * scores user pieces of a unigram by their length */
    bool runs;                      /* blanks in a row are one, each part has a prefix: Hugging Face's way */
    bool metaspace;  RtTokPrepend scheme;       /* Hugging Face's prefix in the place of SentencePiece's */
    TokString charsmap;             /* s NULL: none */
    int bos, eos, unk;              /* -1: none */
    bool add_bos, add_eos;
    const float *score;  const int32_t *type;   /* of b->pieces: TokType */
} TokSentencePieces;
bool tok_sentencepiece(TokBuild *b, const TokSentencePieces *s);    /* needs pieces */
/* The same as the class of the folder has it. */
bool tok_lay_pieces(TokBuild *b, TokSentencePieces *s, const TokConfig *config);
/* A class that reads a vocabulary in its own way. names, types: with blanks between; types: of folders that name no class. */
typedef struct TokClassRow { const char *names, *types; unsigned flags; const char *mark[TOK_MARKS]; } TokClassRow;
/* The row of a folder, which is noted; NULL where its class has none, or it names neither a class nor a model_type. */
const TokClassRow *tok_class_of(TokBuild *b, const TokFolder *folder, const TokClassRow *rows, int n);
/* "class NAMETokenizer" or "model_type NAME", for messages; NULL where the folder names neither. */
const char *tok_class_shown(TokBuild *b, const TokFolder *folder);

/* Note which class of a folder counts: the one that its files name, or that of its model_type. */
void tok_note_class(TokBuild *b, const TokFolder *folder, const char *class_name);
/* Whether its pieces have the ids of a vocab.json. Then b has these ids: what stands behind them, and the marks around a text. */
bool tok_is_spelt(const TokFolder *folder);
void tok_lay_languages(TokBuild *b, const TokConfig *config);
void tok_lay_marks(TokBuild *b, const TokConfig *config);

/* The classes that a SentencePiece model, vocab.json with merges.txt, and vocab.txt are read as, with commas between. */
const char *tok_classes_of_models(Arena *a);
const char *tok_classes_of_merges(Arena *a);
const char *tok_classes_of_words(Arena *a);

bool tok_import_json(TokBuild *b, const char *data, size_t size, const TokConfig *config);
bool tok_import_words(TokBuild *b, const char *data, size_t size, const TokConfig *config);         /* vocab.txt */
bool tok_import_vocab_merges(TokBuild *b, const char *vocab, size_t vocab_size, const char *merges, size_t merges_size, const TokConfig *config);
bool tok_import_sentencepiece(TokBuild *b, const char *data, size_t size, const TokConfig *config);
bool tok_import_llama2c(TokBuild *b, const char *data, size_t size);
bool tok_import_gguf(TokBuild *b, const char *data, size_t size);
bool tok_import_marian(TokBuild *b, const char *model, size_t model_size, const char *vocab, size_t vocab_size, const TokConfig *config);
bool tok_import_spelt(TokBuild *b, const char *model, size_t model_size, const char *vocab, size_t vocab_size, const TokConfig *config);
bool tok_read_config(TokBuild *b, const char *folder, TokConfig *config);
bool tok_read_folder(TokBuild *b, const char *folder, TokConfig *config);       /* needs tok_read_config; gives config->folder */
/* Whether a text is one of the folder's marks. */
bool tok_is_mark(const TokFolder *folder, TokString text);
/* Everything that the folder adds to a vocabulary, whose marks are `preset` where it names none; mask_flags: of that mask. */
void tok_add_folder(TokBuild *b, const TokConfig *config, const char *const preset[TOK_MARKS], uint32_t mask_flags);
/* The added tokens of added_tokens_decoder, else of added_tokens.json, by id; b->file becomes the file that has them. */
const TokAdded *tok_added_beside(TokBuild *b, const TokConfig *config, int *count);
/* Marks and additional special tokens that the folder names and its tokenizer.json lacks. */
void tok_add_named(TokBuild *b, const TokConfig *config);
/* All types of texts and of marks around them 0. */
void tok_no_types(TokBuild *b);
/* Decoded text without blanks before punctuation; a BPE's own blanks stay, unless `bpe`. */
void tok_clean_spaces(TokBuild *b, bool bpe);
/* The side on which a text that is too long is cut. */
void tok_cut_side(TokBuild *b, bool left);

#endif
