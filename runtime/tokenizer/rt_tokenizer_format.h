/* rt_tokenizer_format.h: the layout of a tokenizer, which the compiler writes and the runtime
 * reads.
 *
 * A blob is little-endian and contains no pointers:
 *   u32 magic, version, bytes in all, number of sections; then {u32 offset, u32 bytes} of each
 *   section, in the order of RtTokSection; offsets are from the start and multiples of 8; then the
 *   sections.
 * A text is {offset, bytes} in TOK_TEXT. An id is the number of a piece; symbols after the pieces
 * exist only while a word is encoded.
 * Tries over bytes are double arrays of {u32 base, u32 check}. The child of s by byte b is
 * base[s] + b + 1 if its check is s + 1; the value of s is base[base[s]] if check[base[s]] is
 * s + 1. State 0 is the root.
 * Tables by code point have two stages: u16 block[4352], one for each 256 code points, then the
 * blocks of 256 values; block 0 first. Values are one or two bytes wide. */
#ifndef RT_TOKENIZER_FORMAT_H
#define RT_TOKENIZER_FORMAT_H

#include <stdint.h>

#define RT_TOK_NONE UINT32_C(0xFFFFFFFF)

enum { RT_TOK_MAGIC = 0x4B544658, RT_TOK_VERSION = 3, RT_TOK_PLANES = 0x110000, RT_TOK_BLOCKS = RT_TOK_PLANES / 256 };

typedef enum RtTokSection {
    TOK_HEAD,           /* u32[TOK_HEADS] */
    TOK_TEXT,           /* bytes */
    TOK_OPS,            /* RtTokOp: normalisers, then splits, then decoders */
    TOK_PIECES,         /* u32[pieces + 1]: where each piece begins in TOK_TEXT; no gaps */
    TOK_KINDS,          /* u8[pieces]: RtTokKind */
    TOK_SCORES,         /* f64[symbols], unigram only: a symbol that is not a piece is unknown */
    TOK_TRIE,           /* the model's vocabulary: text to id or symbol */
    TOK_BYTES,          /* u32[256]: the piece of a single byte, or RT_TOK_NONE */
    TOK_MERGES,         /* {u32 left, right, rank, merged} */
    TOK_MERGE_SLOTS,    /* u32[power of two]: 1 + the index of a merge, 0 if empty; the hash
                           is rt_tok_merge_hash */
    TOK_JOINS,          /* u32[power of two]: bits by rt_tok_merge_hash, set for each pair of initial
                           symbols that merges may ever join, and for others that collide; empty:
                           any pair may be joined */
    TOK_ADDED,          /* {u32 id, flags}: TOK_ADDED_SINGLE_WORD ... */
    TOK_ADDED_RAW,      /* a trie: added tokens that are matched before the normalisers run */
    TOK_ADDED_NORMAL,   /* a trie: added tokens that are matched after the normalisers */
    TOK_TEMPLATE,       /* {u32 kind, id, type}: of one text, then of a pair */
    TOK_NODES,          /* u32[8] for each node of a pattern: RtTokNode */
    TOK_CLASSES,        /* {u32 ascii[4], u64 properties, u32 first range, ranges, negated, 0} */
    TOK_RANGES,         /* {u32 first, last} */
    TOK_PROPERTIES,     /* two stages, 1 byte: general category, plus 32 for white space */
    TOK_COMBINING,      /* two stages, 1 byte: combining class */
    TOK_DECOMPOSE,      /* two stages, 2 bytes: index in TOK_SEQUENCES of a decomposition, or 0 */
    TOK_SEQUENCES,      /* u32: for each decomposition, its length, then its code points */
    TOK_COMPOSE,        /* {u32 first, second, composed}, ascending */
    TOK_LOWER,          /* {u32 code point, its lower case, a second code point or 0}, ascending */
    TOK_GRAPHEMES,      /* two stages, 1 byte: RtTokBreak */
    TOK_CHARSMAP,       /* u32: a darts-clone trie, as in SentencePiece */
    TOK_CHARSMAP_TEXT,  /* its texts, each NUL-terminated */
    TOK_SECTIONS
} RtTokSection;

/* TOK_HEAD. */
typedef enum RtTokHead {
    TOK_HEAD_MODEL,             /* RtTokModel */
    TOK_HEAD_PIECES,
    TOK_HEAD_SYMBOLS,           /* how many pieces and other symbols */
    TOK_HEAD_UNKNOWN,           /* id, or RT_TOK_NONE */
    TOK_HEAD_FLAGS,             /* RtTokFlag */
    TOK_HEAD_WORD_MOST,         /* wordpiece: maximum number of characters of a word */
    TOK_HEAD_UNKNOWN_SCORE,     /* unigram: bits of an f64, low word first */
    TOK_HEAD_UNKNOWN_SCORE_HIGH,
    TOK_HEAD_PREFIX, TOK_HEAD_PREFIX_BYTES,     /* text: continuing_subword_prefix */
    TOK_HEAD_SUFFIX, TOK_HEAD_SUFFIX_BYTES,     /* text: end_of_word_suffix */
    TOK_HEAD_NORMALISERS, TOK_HEAD_SPLITS, TOK_HEAD_DECODERS,
    TOK_HEAD_NORMAL_GROWTH,     /* normalisers make at most n * growth + extra bytes of n */
    TOK_HEAD_NORMAL_EXTRA,
    TOK_HEAD_FORM_GROWTH,       /* likewise, up to the last normalisation form; 0: none */
    TOK_HEAD_SPLIT_GROWTH,      /* likewise, for the copies that splits make */
    TOK_HEAD_SPLIT_EXTRA,
    TOK_HEAD_SINGLE, TOK_HEAD_PAIR,             /* how many template items */
    TOK_HEAD_MOST_IDS,          /* of rt_tokenizer_cut; 0 in every file */
    TOK_HEAD_PROMPT, TOK_HEAD_PROMPT_BYTES,     /* text: before every text, or a pair's first */
    TOK_HEAD_WORD_CLASS,        /* of \w, for added tokens that are single words; or RT_TOK_NONE */
    TOK_HEADS
} RtTokHead;

typedef enum RtTokModel { TOK_BPE, TOK_UNIGRAM, TOK_WORDPIECE, TOK_WORDS, TOK_MODELS } RtTokModel;

typedef enum RtTokFlag {
    TOK_FUSE_UNKNOWN = 1,       /* adjacent unknown characters are one token */
    TOK_BYTE_FALLBACK = 2,      /* an unknown character becomes its bytes if all have pieces */
    TOK_IGNORE_MERGES = 4,      /* a word that is a piece becomes that piece, unmerged */
    TOK_BYTE_LEVEL = 8,         /* characters are bytes; the trie has the model's pieces as bytes */
    TOK_FLOAT_SCORES = 16,      /* sums of scores are rounded to f32, as in SentencePiece */
    TOK_KEEP_ORIGIN = 32,       /* the place of a word in the text affects its ids */
    TOK_TRIM_SPANS = 64,        /* spans exclude white space at both ends of a token, */
    TOK_TRIM_KEEPS_FIRST = 128, /* except at the beginning of a text */
    TOK_CUT_LEFT = 256,         /* a text that is too long loses its beginning, not its end */
    TOK_CLEAN_SPACES = 512,     /* decoded text loses blanks before punctuation: clean_up_tokenization_spaces */
    TOK_NO_OUTER_SPACES = 1024  /* decoded text has no blanks at its ends */
} RtTokFlag;

/* In decoded text, APART: a space is before and after the token; BLANK_BEHIND: one is after it;
 * TRIM_BEHIND: what follows is decoded like the beginning of a text. */
typedef enum RtTokKind { TOK_PIECE = 0, TOK_SPECIAL = 1, TOK_ABSENT = 2, TOK_APART = 4, TOK_BLANK_BEHIND = 8, TOK_TRIM_BEHIND = 16 } RtTokKind;

/* FIRST: only at the beginning of a text, or right after an added token that is not FIRST. PIECE: a
 * charsmap keeps the token's characters, and then it is a piece like any other: it does not split
 * the text. */
enum {
    TOK_ADDED_SINGLE_WORD = 1, TOK_ADDED_LSTRIP = 2, TOK_ADDED_RSTRIP = 4, TOK_ADDED_FIRST = 8,
    TOK_ADDED_PIECE = 16
};

enum { TOK_ITEM_SPECIAL, TOK_ITEM_A, TOK_ITEM_B };

/* A step of the pipeline: u32[8]. */
typedef struct RtTokOp { uint32_t kind, a, b, c, text, text_bytes, other, other_bytes; } RtTokOp;

typedef enum RtTokOpKind {
    /* normalisers */
    TOK_CLEAN,          /* drop U+0000, U+FFFD, control, format and private-use characters; white space becomes ' ' */
    TOK_CHINESE,        /* spaces around each CJK ideograph */
    TOK_DROP,           /* drop characters with the properties a | b << 32 */
    TOK_LOWERCASE,
    TOK_FORM,           /* a: compose */
    TOK_STRIP,          /* white space: a: at the start, b: at the end */
    TOK_REPLACE,        /* matches of pattern `a` become `text` */
    TOK_PREPEND,        /* `text` before a text that is not empty */
    TOK_MAP_GRAPHEMES,  /* charsmap by grapheme clusters, shortest prefix, as Hugging Face does */
    TOK_MAP_LONGEST,    /* charsmap by the longest prefix, as SentencePiece does */
    TOK_SPACES,         /* SentencePiece: a: drop extra spaces, b: add a space before the text,
                         * c: spaces become `text` */
    /* splits */
    TOK_SPLIT,          /* a: pattern, b: RtTokBehaviour, c: invert the pattern */
    TOK_PREFIX_SPACE,   /* a space before a word that does not begin with one */
    TOK_METASPACE,      /* ' ' becomes `text`; a: RtTokPrepend */
    /* decoders */
    TOK_TO_BYTES,       /* characters to the bytes they stand for */
    TOK_TO_WORDS,       /* after the first piece: drop the prefix `text`, or put a space before;
                         * a: clean up */
    TOK_TO_SPACES,      /* `text` becomes ' '; a: but nothing in the first piece */
    TOK_TO_SUFFIX,      /* `text` becomes ' ', or nothing at the end of the text */
    TOK_TO_REPLACED,    /* `text` becomes `other` */
    TOK_TO_FALLBACK,    /* <0xNN> to bytes; a: invalid bytes do not affect the rest of a run */
    TOK_TO_FUSED,       /* the decoders that follow see one text */
    TOK_TO_STRIPPED,    /* strip the character `text`: up to `a` at the start, up to `b` at the end;
                         * c: at the start, at most one of each piece */
    TOK_TO_JOINED,      /* ' ' between pieces */
    TOK_OP_KINDS
} RtTokOpKind;

typedef enum RtTokBehaviour { TOK_REMOVED, TOK_ISOLATED, TOK_MERGED_PREVIOUS, TOK_MERGED_NEXT, TOK_CONTIGUOUS, TOK_BEHAVIOURS } RtTokBehaviour;

typedef enum RtTokPrepend { TOK_PREPEND_ALWAYS, TOK_PREPEND_FIRST, TOK_PREPEND_NEVER } RtTokPrepend;

/* A node of a pattern. `next` and the other nodes that it names have higher numbers, so every walk
 * ends. e: 1 + the number of its memo, 0: none; a matcher has a bit for each memo and position in
 * the text, set if the node has failed there. f of a first node: how many memos its pattern has. */
typedef struct RtTokNode { uint32_t kind, next, a, b, c, d, e, f; } RtTokNode;
typedef enum RtTokNodeKind {
    TOK_NODE_MATCH,     /* the pattern, or a lookahead, has matched */
    TOK_NODE_CHARS,     /* a: class; b: least, c: most times; d: 0 greedy, 1 lazy, 2 possessive */
    TOK_NODE_EITHER,    /* a, or else next */
    TOK_NODE_AHEAD,     /* lookahead: a must match here; with b, must not */
    TOK_NODE_START, TOK_NODE_END,
    TOK_NODE_KINDS
} RtTokNodeKind;

enum { TOK_NODE_WORDS = 8, TOK_NODES_MOST = 1024, TOK_REPEAT_MOST = 0x7FFFFFFF, TOK_CLASS_WORDS = 10, TOK_SPACE_PROPERTY = 32 };

/* General categories, in utf8proc's order. */
typedef enum RtTokCategory {
    TOK_CN, TOK_LU, TOK_LL, TOK_LT, TOK_LM, TOK_LO, TOK_MN, TOK_MC, TOK_ME, TOK_ND, TOK_NL, TOK_NO, TOK_PC, TOK_PD, TOK_PS, TOK_PE,
    TOK_PI, TOK_PF, TOK_PO, TOK_SM, TOK_SC, TOK_SK, TOK_SO, TOK_ZS, TOK_ZL, TOK_ZP, TOK_CC, TOK_CF, TOK_CS, TOK_CO
} RtTokCategory;

/* The classes of characters that determine the boundaries of grapheme clusters. */
typedef enum RtTokBreak {
    TOK_BREAK_OTHER, TOK_BREAK_CR, TOK_BREAK_LF, TOK_BREAK_CONTROL, TOK_BREAK_EXTEND, TOK_BREAK_L, TOK_BREAK_V, TOK_BREAK_T,
    TOK_BREAK_LV, TOK_BREAK_LVT, TOK_BREAK_FLAG, TOK_BREAK_SPACING, TOK_BREAK_PREPEND, TOK_BREAK_ZWJ, TOK_BREAK_PICTURE
} RtTokBreak;

static inline uint32_t rt_tok_merge_hash(uint32_t left, uint32_t right)
{
    uint32_t h = left * UINT32_C(0x9E3779B1) ^ right * UINT32_C(0x85EBCA6B);
    return (h ^ h >> 15) * UINT32_C(0x2C1B3C6D) >> 7;
}

#endif
