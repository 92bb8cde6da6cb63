/* rt_tokenizer_format.h: how a tokenizer lies in memory, for the compiler that writes it and the runtime that reads it.
 *
 * A blob is little-endian and holds no pointer:
 *   u32 magic, version, bytes of the whole, number of sections; then {u32 offset, u32 bytes} of each section, in the
 *   order of RtTokSection, offsets from the start and multiples of 8; then the sections.
 * A text is {offset, bytes} in TOK_TEXT. An id is that of a piece; symbols past the pieces exist only within a word.
 * Trees of bytes (tries) are double arrays of {u32 base, u32 check}: the child of s by byte b is base[s] + b + 1, where
 * check is s + 1; the value of s is base[base[s]], where check[base[s]] is s + 1. State 0 is the root.
 * Tables by code point have two stages: u16 block[4352], one for each 256 code points, then the blocks of 256 values;
 * block 0 first. Values are one or two bytes wide. */
#ifndef RT_TOKENIZER_FORMAT_H
#define RT_TOKENIZER_FORMAT_H

#include <stdint.h>

#define RT_TOK_NONE UINT32_C(0xFFFFFFFF)

enum { RT_TOK_MAGIC = 0x4B544658, RT_TOK_VERSION = 3, RT_TOK_PLANES = 0x110000, RT_TOK_BLOCKS = RT_TOK_PLANES / 256 };

typedef enum RtTokSection {
    TOK_HEAD,           /* u32[TOK_HEADS] */
    TOK_TEXT,           /* bytes */
    TOK_OPS,            /* RtTokOp: normalisers, then splits, then decoders */
    TOK_PIECES,         /* u32[pieces + 1]: where in TOK_TEXT each piece begins; they stand one behind the other */
    TOK_KINDS,          /* u8[pieces]: RtTokKind */
    TOK_SCORES,         /* f64[symbols], of a unigram model; there a symbol that is not a piece is unknown */
    TOK_TRIE,           /* the model's vocabulary: text to id or symbol */
    TOK_BYTES,          /* u32[256]: the piece of a single byte, or RT_TOK_NONE */
    TOK_MERGES,         /* {u32 left, right, rank, merged}: by ascending rank */
    TOK_MERGE_SLOTS,    /* u32[power of two]: 1 + a merge, 0 where empty; see rt_tok_merge_hash */
    TOK_JOINS,          /* u32[power of two], a bit for each pair of first symbols that some merge brings together, by
                           rt_tok_merge_hash, and for others by chance; empty: any pair may be */
    TOK_ADDED,          /* {u32 id, flags}: RtTokAdded */
    TOK_ADDED_RAW,      /* a trie: added tokens that are looked for before the normalisers run */
    TOK_ADDED_NORMAL,   /* a trie: those that are looked for behind them */
    TOK_TEMPLATE,       /* {u32 kind, id, type}: of one text, then of a pair */
    TOK_NODES,          /* u32[8] for each node of a pattern: RtTokNode */
    TOK_CLASSES,        /* {u32 ascii[4], u64 properties, u32 first range, ranges, negated, 0} */
    TOK_RANGES,         /* {u32 first, last} */
    TOK_PROPERTIES,     /* two stages, 1 byte: general category, and 32 where it is white space */
    TOK_COMBINING,      /* two stages, 1 byte: combining class */
    TOK_DECOMPOSE,      /* two stages, 2 bytes: where in TOK_SEQUENCES a decomposition stands; 0 where there is none */
    TOK_SEQUENCES,      /* u32: for each its length, then its code points */
    TOK_COMPOSE,        /* {u32 first, second, composed}, ascending */
    TOK_LOWER,          /* {u32 code point, its lower case, a second code point or 0}, ascending */
    TOK_GRAPHEMES,      /* two stages, 1 byte: RtTokBreak */
    TOK_CHARSMAP,       /* u32: a darts-clone trie, as SentencePiece has it */
    TOK_CHARSMAP_TEXT,  /* its texts, each with a NUL behind */
    TOK_SECTIONS
} RtTokSection;

/* TOK_HEAD. */
typedef enum RtTokHead {
    TOK_HEAD_MODEL,             /* RtTokModel */
    TOK_HEAD_PIECES,
    TOK_HEAD_SYMBOLS,           /* pieces, and what is none but may be merged into one */
    TOK_HEAD_UNKNOWN,           /* id, or RT_TOK_NONE */
    TOK_HEAD_FLAGS,             /* RtTokFlag */
    TOK_HEAD_WORD_MOST,         /* wordpiece: characters of a word */
    TOK_HEAD_UNKNOWN_SCORE,     /* unigram: bits of an f64, low word first */
    TOK_HEAD_UNKNOWN_SCORE_HIGH,
    TOK_HEAD_PREFIX, TOK_HEAD_PREFIX_BYTES,     /* text: before what continues a word */
    TOK_HEAD_SUFFIX, TOK_HEAD_SUFFIX_BYTES,     /* text: behind what ends a word */
    TOK_HEAD_NORMALISERS, TOK_HEAD_SPLITS, TOK_HEAD_DECODERS,
    TOK_HEAD_NORMAL_GROWTH,     /* a text of n bytes has at most n * growth + extra behind the normalisers, and between them */
    TOK_HEAD_NORMAL_EXTRA,
    TOK_HEAD_FORM_GROWTH,       /* the same up to the last normalisation form; 0 where there is none */
    TOK_HEAD_SPLIT_GROWTH,      /* the same for all that splits copy */
    TOK_HEAD_SPLIT_EXTRA,
    TOK_HEAD_SINGLE, TOK_HEAD_PAIR,             /* items of the templates */
    TOK_HEAD_MOST_IDS,          /* of rt_tokenizer_cut; 0 in every file */
    TOK_HEAD_PROMPT, TOK_HEAD_PROMPT_BYTES,     /* text: before every text, of a pair the first */
    TOK_HEAD_WORD_CLASS,        /* of \w, for added tokens that must be single words; RT_TOK_NONE where there is none */
    TOK_HEADS
} RtTokHead;

typedef enum RtTokModel { TOK_BPE, TOK_UNIGRAM, TOK_WORDPIECE, TOK_WORDS, TOK_MODELS } RtTokModel;

typedef enum RtTokFlag {
    TOK_FUSE_UNKNOWN = 1,       /* unknown characters side by side are one */
    TOK_BYTE_FALLBACK = 2,      /* an unknown character becomes its bytes, where there are pieces for all */
    TOK_IGNORE_MERGES = 4,      /* a word that is a piece is that piece */
    TOK_BYTE_LEVEL = 8,         /* characters are bytes, and pieces of the model stand in the trie as bytes */
    TOK_FLOAT_SCORES = 16,      /* sums of scores are rounded to f32, as SentencePiece has them */
    TOK_KEEP_ORIGIN = 32,       /* where in the text a word begins decides about it */
    TOK_TRIM_SPANS = 64,        /* white space that a token begins or ends with is not part of its span, */
    TOK_TRIM_KEEPS_FIRST = 128, /* but for what a text begins with */
    TOK_CUT_LEFT = 256,         /* what is too long loses its beginning, not its end */
    TOK_CLEAN_SPACES = 512,     /* decoded text loses blanks before punctuation: clean_up_tokenization_spaces */
    TOK_NO_OUTER_SPACES = 1024  /* decoded text has no blanks at its ends */
} RtTokFlag;

/* In texts that are decoded: TOK_APART: a blank stands before it and behind it; TOK_BLANK_BEHIND: one behind it; TOK_TRIM_BEHIND: what
 * follows begins as a text does. */
typedef enum RtTokKind { TOK_PIECE = 0, TOK_SPECIAL = 1, TOK_ABSENT = 2, TOK_APART = 4, TOK_BLANK_BEHIND = 8, TOK_TRIM_BEHIND = 16 } RtTokKind;

/* FIRST: only where a text begins, or behind a token that is none such. PIECE: a charsmap leaves the
 * token's characters as they are, and then it is a piece like others: it splits no text. */
enum {
    TOK_ADDED_SINGLE_WORD = 1, TOK_ADDED_LSTRIP = 2, TOK_ADDED_RSTRIP = 4, TOK_ADDED_FIRST = 8,
    TOK_ADDED_PIECE = 16
};

enum { TOK_ITEM_SPECIAL, TOK_ITEM_A, TOK_ITEM_B };

/* A step of the pipeline: u32[8]. */
typedef struct RtTokOp { uint32_t kind, a, b, c, text, text_bytes, other, other_bytes; } RtTokOp;

typedef enum RtTokOpKind {
    /* normalisers */
    TOK_CLEAN,          /* drop U+0000, U+FFFD and control characters; white space becomes ' ' */
    TOK_CHINESE,        /* spaces around each CJK ideograph */
    TOK_DROP,           /* drop characters of the properties a | b << 32 */
    TOK_LOWERCASE,
    TOK_FORM,           /* a: compose */
    TOK_STRIP,          /* white space: a: at the start, b: at the end */
    TOK_REPLACE,        /* what the pattern a matches becomes `text` */
    TOK_PREPEND,        /* `text` before a text that is not empty */
    TOK_MAP_GRAPHEMES,  /* the characters map by grapheme clusters, shortest prefix: Hugging Face's way */
    TOK_MAP_LONGEST,    /* the same by the longest prefix, as SentencePiece does */
    TOK_SPACES,         /* SentencePiece: a: drop extra spaces, b: prefix `text`, c: a space becomes `text` */
    /* splits */
    TOK_SPLIT,          /* a: pattern, b: RtTokBehaviour, c: what it does not match */
    TOK_PREFIX_SPACE,   /* a space before a word that does not begin with one */
    TOK_METASPACE,      /* ' ' becomes `text`; a: RtTokPrepend */
    /* decoders */
    TOK_TO_BYTES,       /* characters to the bytes they stand for */
    TOK_TO_WORDS,       /* without the prefix `text`, or behind a space; a: clean up */
    TOK_TO_SPACES,      /* `text` becomes ' '; a: none at the start of the first piece */
    TOK_TO_SUFFIX,      /* `text` becomes ' ', at the end nothing */
    TOK_TO_REPLACED,    /* `text` becomes `other` */
    TOK_TO_FALLBACK,    /* <0xNN> to bytes; a: where some are no UTF-8, the others stay */
    TOK_TO_FUSED,       /* all that follow see one text */
    TOK_TO_STRIPPED,    /* `text`, one character: up to a at the start, up to b at the end; c: of
                         * each piece one */
    TOK_TO_JOINED,      /* ' ' between pieces */
    TOK_OP_KINDS
} RtTokOpKind;

typedef enum RtTokBehaviour { TOK_REMOVED, TOK_ISOLATED, TOK_MERGED_PREVIOUS, TOK_MERGED_NEXT, TOK_CONTIGUOUS, TOK_BEHAVIOURS } RtTokBehaviour;

typedef enum RtTokPrepend { TOK_PREPEND_ALWAYS, TOK_PREPEND_FIRST, TOK_PREPEND_NEVER } RtTokPrepend;

/* A node of a pattern; `next` and the others are nodes of a higher number, so every walk ends. e: 1 + the number of its memo, of which a
 * matcher has one at every place of a text for where the node has failed; 0: none. f, of a first node: the memos of its pattern. */
typedef struct RtTokNode { uint32_t kind, next, a, b, c, d, e, f; } RtTokNode;
typedef enum RtTokNodeKind {
    TOK_NODE_MATCH,     /* the pattern, or what looks ahead, has matched */
    TOK_NODE_CHARS,     /* a: class; b: least, c: most times; d: 0 as many as may be, 1 as few, 2 all that there are */
    TOK_NODE_EITHER,    /* a, or else next */
    TOK_NODE_AHEAD,     /* a: what must match here; b: or must not */
    TOK_NODE_START, TOK_NODE_END,
    TOK_NODE_KINDS
} RtTokNodeKind;

enum { TOK_NODE_WORDS = 8, TOK_NODES_MOST = 1024, TOK_REPEAT_MOST = 0x7FFFFFFF, TOK_CLASS_WORDS = 10, TOK_SPACE_PROPERTY = 32 };

/* General categories, in utf8proc's order. */
typedef enum RtTokCategory {
    TOK_CN, TOK_LU, TOK_LL, TOK_LT, TOK_LM, TOK_LO, TOK_MN, TOK_MC, TOK_ME, TOK_ND, TOK_NL, TOK_NO, TOK_PC, TOK_PD, TOK_PS, TOK_PE,
    TOK_PI, TOK_PF, TOK_PO, TOK_SM, TOK_SC, TOK_SK, TOK_SO, TOK_ZS, TOK_ZL, TOK_ZP, TOK_CC, TOK_CF, TOK_CS, TOK_CO
} RtTokCategory;

/* What matters about a character for the borders of grapheme clusters. */
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
