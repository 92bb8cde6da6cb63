/* tokenizer_build.h: a tokenizer as importers describe it, before it becomes a blob. Everything
 * lives in the arena. */
#ifndef TOKENIZER_BUILD_H
#define TOKENIZER_BUILD_H

#include "rt_tokenizer_format.h"
#include "text.h"
#include "tokenizer.h"

enum { TOK_OPS_MOST = 32, TOK_PIECE_MOST = 2048, TOK_IDS_MOST = 1 << 24 };

/* A text of any bytes. */
typedef struct TokString { const char *s; size_t n; } TokString;

/* text: as in the vocabulary. key: as the model sees it, usually the same, but bytes for a
 * byte-level piece; key.s NULL: the model does not know the piece. */
typedef struct TokPiece { TokString text, key; double score; unsigned char kind; } TokPiece;
typedef struct TokMerge { uint32_t left, right, rank, merged; } TokMerge;
/* normalised: it is matched after the normalisers have run, by its normalised text or, if verbatim
 * is set, by its unchanged text. listed: it is in a list of special tokens, without a name of its
 * own. */
typedef struct TokAdded { TokString text; uint32_t id, flags; bool normalised, special, verbatim, listed; } TokAdded;
typedef struct TokItem { uint32_t kind, id, type; } TokItem;

/* A set of characters: those that have one of the properties or are in one of the ranges; negated:
 * all others. */
typedef struct TokRange { uint32_t first, last; } TokRange;
typedef struct TokClass { uint64_t properties; TokRange *ranges; int count, room; bool negated; } TokClass;

/* A growing array. */
#define TOK_LIST(type) struct { type *at; int count, room; }
/* Append an element, zeroed; gives its address. */
#define TOK_NEW(b, list) \
    ((list)->count == (list)->room ? (void)((list)->at = tok_grow((b)->arena, (list)->at, &(list)->room, sizeof *(list)->at)) : (void)0, \
     &(list)->at[(list)->count++])
void *tok_grow(Arena *a, void *old, int *room, size_t size);

/* A hash table from texts to numbers: open addressing, never more than half full. A table whose
 * bytes are all 0 is empty. */
typedef struct TokTexts { struct TokTextsSlot { TokString text; uint32_t value; bool used; } *slot; uint32_t room, count; } TokTexts;
void tok_texts_put(Arena *a, TokTexts *t, TokString text, uint32_t value);      /* or replace */
uint32_t tok_texts_find(const TokTexts *t, TokString text);     /* RT_TOK_NONE if absent */

/* A trie from strings of bytes to values, in the runtime's format. */
typedef struct TokEntry { TokString key; uint32_t value; } TokEntry;
typedef struct TokTrie { uint32_t *units, count; } TokTrie;     /* units[2 * count] */

typedef struct TokBuild {
    Arena *arena;
    Diag *diag;
    const char *file, *part;        /* for messages; part: the key of tokenizer.json being read, or
                                     * NULL */
    FileMap map;                    /* of a mapped file; unmapped once the blob is made */
    TokenizerOrigin origin;
    int errors;                     /* how many diag had when the build began */
    TOK_LIST(TokPiece) pieces;      /* by id; after the first `size` come symbols that are not
                                     * pieces */
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
    TokTexts added_texts;  int added_known;     /* index of the first added token with each text,
                                                 * among the first added_known */
    TokTexts piece_texts;  bool pieces_known;   /* id of the last piece with each text:
                                                 * tok_piece_of_text */
    TokenizerChat chat;
    uint32_t head[TOK_HEADS];
    double growth, split_growth, form_growth, extra, split_extra;
    int era;                        /* TokEra of the properties */
    bool rust_words;                /* \w in patterns is Rust's, else Oniguruma's */
    bool properties, forms, compatible, lower, graphemes;       /* which Unicode tables the blob needs */
    TokString charsmap, charsmap_text;
    bool byte_level;
    bool bytes_given;  uint32_t bytes[256];     /* TOK_BYTES; if not given, tok_finish finds them */
    bool template_given;
    int64_t rows;                   /* of the model's embedding; tok_add leaves out a new token
                                     * whose id has no row. 0: not known */
    bool told_rows;                 /* a remark said that one was left out */
} TokBuild;

TokBuild *tok_build_new(Arena *a, Diag *d, const char *file);

/* Report that the file is wrong, or has something that is not supported. */
void tok_refuse(TokBuild *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool tok_failed(const TokBuild *b);
const char *tok_first_word(TokBuild *b, const char *words);

TokString tok_string(const char *s);
bool tok_same(TokString a, TokString b);
float tok_float(uint32_t bits);     /* the f32 with these bits */
/* Words separated by spaces: get the next one, false at the end; true if a word is in the list. */
bool tok_next_word(const char **s, TokString *word);
bool tok_has_word(const char *words, const char *word);
/* Append words to a list, separated by commas. */
void tok_list_words(Text *list, const char *words);

/* ---- vocabulary ------------------------------------------------------------------------------------------------ */

/* Set the piece of an id, and grow the vocabulary if needed. NULL after an error: the id is out of
 * range, or the text is too long. `known`: the model knows the piece. */
TokPiece *tok_piece(TokBuild *b, int64_t id, TokString text, bool known);
/* Index the pieces: needed before tok_id. Keys of byte-level pieces become bytes. */
void tok_index(TokBuild *b);
uint32_t tok_id(const TokBuild *b, TokString key);              /* RT_TOK_NONE if absent */
uint32_t tok_id_of_text(TokBuild *b, TokString text);           /* also of added tokens */
uint32_t tok_added_of_text(TokBuild *b, TokString text);        /* index of the first in b->added */
/* The last piece with a text, known to the model or not; RT_TOK_NONE if there is none. */
uint32_t tok_piece_of_text(TokBuild *b, TokString text);
void tok_merge(TokBuild *b, uint32_t left, uint32_t right, uint32_t rank, uint32_t merged);
/* Decode text in the alphabet of byte-level pieces; false if it has other characters. */
bool tok_bytes(Arena *a, TokString text, TokString *bytes);

/* Add an added token, which is matched in texts, or replace the one with the same text. Its id is
 * x.id, and the piece of that id gets its text. If x.id is RT_TOK_NONE, the token gets the id of
 * the added token or piece with its text, else a new id (tok_next_id). Returns the id; RT_TOK_NONE
 * for an empty text, after an error, or if the model has no row for the token, which is then left
 * out. */
uint32_t tok_add(TokBuild *b, TokAdded x);
uint32_t tok_next_id(const TokBuild *b);                        /* the first free id from the number
                                                                 * of tokens on */

/* ---- steps ------------------------------------------------------------------------------------------------------ */

void tok_normaliser(TokBuild *b, RtTokOp op);                   /* its text is already in the pool */
void tok_lower_first(TokBuild *b);                              /* lower-case before all others */
void tok_split(TokBuild *b, RtTokOp op);
void tok_decoder(TokBuild *b, RtTokOp op);
uint32_t tok_pool(TokBuild *b, TokString s);                    /* append to TOK_TEXT; gives the offset */
RtTokOp tok_op(TokBuild *b, RtTokOpKind kind, TokString text);
void tok_item(TokBuild *b, bool pair, uint32_t kind, uint32_t id, uint32_t type);

/* A saved template. tok_template_take removes it from b, so that another can be made;
 * tok_template_put restores it. */
typedef struct TokTemplate { TokItem *single, *pair; int singles, pairs; } TokTemplate;
TokTemplate tok_template_take(TokBuild *b);
bool tok_template_same(const TokBuild *b, const TokTemplate *x);
void tok_template_put(TokBuild *b, const TokTemplate *x);

/* Parts of common pipelines. */
void tok_bert_normaliser(TokBuild *b, bool clean, bool chinese, bool strip_accents, bool lowercase);
void tok_bert_split(TokBuild *b);
void tok_byte_level(TokBuild *b, bool prefix_space, bool use_regex);
void tok_form(TokBuild *b, bool compose, bool compatible);
void tok_strip_accents(TokBuild *b);
/* Add a normaliser; first: before all others. */
void tok_replace(TokBuild *b, const char *regex, const char *by, bool first);
void tok_metaspace(TokBuild *b, TokString mark, RtTokPrepend scheme, bool split);
void tok_template_begin(TokBuild *b, uint32_t bos);                             /* bos A; bos A B, B of type 1 */
void tok_template_ends(TokBuild *b, int bos, int eos);      /* around every text; below 0: none */
/* cls A sep; cls A sep B sep, the last two of type 1 */
void tok_template_bert(TokBuild *b, uint32_t cls, uint32_t sep);
void tok_template_roberta(TokBuild *b, uint32_t cls, uint32_t sep);             /* cls A sep; cls A sep sep B sep */
/* Exclude white space at both ends of a token from its span; keeps_first: but not at the start of a
 * text. */
void tok_trim(TokBuild *b, bool keeps_first);
bool tok_charsmap(TokBuild *b, const unsigned char *data, size_t n, RtTokOpKind kind);
/* True if the SentencePiece library accepts this charsmap. All units are checked, even those that
 * cannot be reached. */
bool tok_charsmap_is_whole(TokString map);

/* ---- patterns --------------------------------------------------------------------------------------------------- */

/* Parse a regular expression in Oniguruma's syntax; false after an error that names what is not
 * supported. */
bool tok_regex(TokBuild *b, TokString regex, uint32_t *node);
/* Number the nodes of a pattern at which the matcher remembers failures, and store how many there
 * are in the node `first`, with which the pattern begins. The pattern consists of all nodes from
 * `offset` on. */
void tok_memo(TokBuild *b, uint32_t offset, uint32_t first);
/* A pattern that matches one character of a class, or a literal text. */
uint32_t tok_class_pattern(TokBuild *b, TokClass class);
uint32_t tok_text_pattern(TokBuild *b, TokString text);
uint64_t tok_properties(const char *name);                      /* "L", "Nd", …; 0 if unknown */
void tok_add_range(TokBuild *b, TokClass *c, uint32_t first, uint32_t last);
/* \w by itself, or inside brackets, where Oniguruma's lacks superscript digits and fractions; with
 * b->rust_words, Rust's, which lacks them everywhere. */
TokClass tok_word_class(TokBuild *b, bool in_brackets);
/* [:name:]; false if there is no class of that name. */
bool tok_posix_class(TokBuild *b, const char *name, size_t bytes, TokClass *c);

/* Decode as SentencePiece does, for files that do not define a decoder. */
void tok_decode_sentencepiece(TokBuild *b, TokString mark, bool prefix);

/* ---- the end ---------------------------------------------------------------------------------------------------- */

/* Sorts the entries; of entries with equal keys, the one with the largest value is kept. */
TokTrie tok_trie(Arena *a, TokEntry *entries, int count);
/* The bits of TOK_JOINS: *count words in the arena. *count is 0 if there are no merges, or if it is
 * unknown which symbols a merged one begins and ends with. bytes: TOK_BYTES. */
uint32_t *tok_joins(const TokBuild *b, const uint32_t bytes[256], uint32_t *count);
bool tok_finish(TokBuild *b, TokenizerBlob *out);

/* The pattern with which Qwen 2 splits texts, in its classes and in its GGUF files. */
#define TOK_PATTERN_QWEN2 "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" \
                          "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* ---- importers: false after errors -------------------------------------------------------------------------------- */

/* Special tokens by purpose, in the order in which transformers assigns ids to them. */
typedef enum TokMark { TOK_BOS, TOK_EOS, TOK_UNK, TOK_SEP, TOK_PAD, TOK_CLS, TOK_MASK, TOK_MARKS } TokMark;

/* The settings for the class of a folder's tokenizer. tokenizer_marks.c reads them from the files
 * of the folder. */
typedef struct TokFolder {
    const char *path;               /* of the folder */
    const char *class_name;         /* tokenizer_class without "Tokenizer" and "Fast"; NULL for none
                                     * or a generic one */
    const char *model_type;         /* of config.json; NULL for none */
    TokAdded mark[TOK_MARKS];       /* text.s NULL: not named; ids are RT_TOK_NONE */
    TOK_LIST(TokAdded) added;       /* added_tokens.json */
    TOK_LIST(TokAdded) extra;       /* special tokens with other names; ids are RT_TOK_NONE */
    TOK_LIST(TokAdded) listed;      /* those in a list, such as additional_special_tokens; ids are
                                     * RT_TOK_NONE */
    TOK_LIST(TokAdded) objects;     /* those of `listed` that are objects in
                                     * special_tokens_map.json; when they decode, the classes of
                                     * transformers 5 that are written in Python do not recognise
                                     * these as special tokens */
    bool left_out;                  /* a token of a second list was left out */
    TokString source_language, language_codes, word_tokenizer, sentence_mask;
    bool has_sentence_mask;         /* mask_token_sent, which may be null */
    int64_t extra_ids, offset;      /* below 0: not given */
    bool legacy, has_legacy, language_last, keep_accents, prefix_space, has_prefix_space;
} TokFolder;

/* Other settings of tokenizer_config.json and of sentence-transformers. */
typedef struct TokConfig {
    bool do_lower_case, has_do_lower_case, strip_accents, has_strip_accents, chinese, has_chinese;
    bool add_bos, has_add_bos, add_eos, has_add_eos, legacy, prefix_space, has_prefix_space;
    bool clean_spaces, clean_bpe;   /* clean_up_tokenization_spaces; its variant for BPE */
    bool cut_left, has_side;        /* truncation_side, which overrides tokenizer.json */
    bool no_types;                  /* model_input_names lacks token_type_ids: all types are 0 */
    bool lower_first;               /* sentence-transformers first lower-cases a text */
    const char *class_name;         /* tokenizer_class; NULL: none */
    TokString prompt;               /* sentence-transformers puts it before every text; s NULL: none */
    TOK_LIST(TokAdded) added;       /* added_tokens_decoder */
    TokFolder folder;
} TokConfig;

/* The type of a piece of a SentencePiece model. TYPE_WORD: an entry of the vocabulary that is not a
 * piece of the model. */
typedef enum TokType { TYPE_WORD, TYPE_NORMAL, TYPE_UNKNOWN, TYPE_CONTROL, TYPE_USER, TYPE_UNUSED, TYPE_BYTE } TokType;

/* A SentencePiece model, from its own file or from GGUF: pieces with scores and types, and the
 * treatment of spaces. */
typedef struct TokSentencePieces {
    bool unigram, byte_fallback, prefix, no_extra_spaces, escape;
    bool words;                     /* split at white space, with a prefix for each word, as Hugging
                                     * Face does */
    bool alone;                     /* a model file without a folder: decode as the SentencePiece
                                     * library does, which also scores user pieces of a unigram by
                                     * their length; false for GGUF */
    bool runs;                      /* collapse runs of blanks, with a prefix for each part, as
                                     * Hugging Face does */
    bool metaspace;  RtTokPrepend scheme;       /* Hugging Face's prefix, not SentencePiece's */
    TokString charsmap;             /* s NULL: none */
    int bos, eos, unk;              /* -1: none */
    bool add_bos, add_eos;
    const float *score;  const int32_t *type;   /* of each of b->pieces; a type is a TokType */
} TokSentencePieces;
bool tok_sentencepiece(TokBuild *b, const TokSentencePieces *s);    /* needs pieces */
/* Like tok_sentencepiece, but with the ids, spaces and special tokens of the folder's class. */
bool tok_lay_pieces(TokBuild *b, TokSentencePieces *s, const TokConfig *config);
/* Classes that read a vocabulary in the same way. names: the classes; types: the model_types,
 * for folders that name no class; both separated by spaces. */
typedef struct TokClassRow { const char *names, *types; unsigned flags; const char *mark[TOK_MARKS]; } TokClassRow;
/* The row of a folder's class, or of its model_type if it names no class; tok_note_class records
 * the class of the row. NULL if there is no such row, or if the folder names neither. */
const TokClassRow *tok_class_of(TokBuild *b, const TokFolder *folder, const TokClassRow *rows, int n);
/* "class NAMETokenizer" or "model_type NAME", for messages; NULL if the folder names neither. */
const char *tok_class_shown(TokBuild *b, const TokFolder *folder);

/* Record the class whose rules are used: the one that the folder names, or that of its model_type.
 * NULL stands for the rules of the SentencePiece library. */
void tok_note_class(TokBuild *b, const TokFolder *folder, const char *class_name);
/* tok_is_spelt: true for a class, such as M2M100, whose pieces have the ids of a vocab.json and are
 * followed by languages. For a vocabulary with these ids, the other two functions add the languages
 * and the folder's tokens after them, and the special tokens around a text. */
bool tok_is_spelt(const TokFolder *folder);
void tok_lay_languages(TokBuild *b, const TokConfig *config);
void tok_lay_marks(TokBuild *b, const TokConfig *config);

/* The supported classes for a SentencePiece model, for vocab.json with merges.txt, and for
 * vocab.txt, separated by commas. */
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
bool tok_read_folder(TokBuild *b, const char *folder, TokConfig *config);       /* needs tok_read_config; gives config->folder, b->rows */
/* True if a list has a token with this text. */
bool tok_is_listed(const TokAdded *list, int count, TokString text);
/* True if a text is one of the special tokens that the folder names. */
bool tok_is_mark(const TokFolder *folder, TokString text);
/* True if a piece with a different text has the id. */
bool tok_is_taken(const TokBuild *b, uint32_t id, TokString text);
/* Report a folder that gives an added token the id of a piece with a different text. */
void tok_refuse_taken(TokBuild *b, const TokConfig *config);
/* Add everything that the folder adds to a vocabulary. preset: the special tokens used where it
 * names none; mask_flags: of the preset mask token. */
void tok_add_folder(TokBuild *b, const TokConfig *config, const char *const preset[TOK_MARKS], uint32_t mask_flags);
/* The added tokens of added_tokens_decoder, else of added_tokens.json, sorted by id. Sets b->file
 * to the file that has them. */
const TokAdded *tok_added_beside(TokBuild *b, const TokConfig *config, int *count);
/* Add the special tokens that the folder names and its tokenizer.json lacks. */
void tok_add_named(TokBuild *b, const TokConfig *config);
/* Set all token types in the templates to 0. */
void tok_no_types(TokBuild *b);
/* Drop blanks before punctuation and English contractions in decoded text; for a BPE model only
 * with `bpe`. */
void tok_clean_spaces(TokBuild *b, bool bpe);
/* Set the side on which a text that is too long is cut. */
void tok_cut_side(TokBuild *b, bool left);

#endif
