/* gguf.h: the head of a GGUF file, version 2 or 3: keys with values, and where tensors lie. Texts and items point into the file. */
#ifndef GGUF_H
#define GGUF_H

#include "model.h"

typedef enum GgufType { GGUF_U8, GGUF_I8, GGUF_U16, GGUF_I16, GGUF_U32, GGUF_I32, GGUF_F32, GGUF_BOOL, GGUF_STRING, GGUF_ARRAY,
                        GGUF_U64, GGUF_I64, GGUF_F64 } GgufType;

typedef struct GgufText { const char *s; size_t n; } GgufText;
/* A text for a message: at most 100 bytes of it, with NUL and control characters as escapes. */
const char *gguf_shown(Arena *a, GgufText text);

/* Bytes being read, from the front; bad: some were asked for that are not there. */
typedef struct GgufBytes { const unsigned char *s; size_t n; bool bad; } GgufBytes;
uint64_t gguf_take_word(GgufBytes *b, size_t bytes);                    /* little-endian */
GgufText gguf_take_text(GgufBytes *b);

/* A value; of an array its items, one behind the other, read when they are asked for: at most
 * GGUF_ITEMS_MOST. */
enum { GGUF_ITEMS_MOST = 1 << 24 };
typedef struct GgufValue { uint32_t type, items_type; uint64_t bits; GgufText text; uint64_t count; GgufBytes items; } GgufValue;
typedef struct GgufKey { GgufText name; GgufValue value; } GgufKey;

/* dims[0] is the one whose elements lie side by side. type: as ggml numbers its types. offset: from the start of the file. */
typedef struct GgufTensor { GgufText name; uint32_t type; int rank; uint64_t dims[MAX_RANK]; uint64_t offset; } GgufTensor;

/* architecture: what general.architecture says. */
typedef struct Gguf {
    GgufText architecture;
    GgufKey *keys;  uint64_t key_count;
    GgufTensor *tensors;  uint64_t tensor_count;
} Gguf;

bool is_gguf(const unsigned char *data, size_t size);
/* Everything but the tensors' numbers; what is wrong with it, or NULL. */
const char *gguf_read(Arena *a, const unsigned char *data, size_t size, Gguf *out);

/* Which part of how many it is, from 1: 1 of 1 where the file is whole. */
typedef struct GgufSplit { int64_t part, count; } GgufSplit;
GgufSplit gguf_split(const Gguf *g);
/* What stands before -00001-of-00003.gguf in a path; NULL where it does not end so. */
const char *gguf_name_of_split(Arena *a, const char *path);

/* A file, or all parts of a split one by the path of the first, mapped and with their heads read. False after errors reported at
 * `at`, with nothing mapped. */
typedef struct GgufPart { const char *path; FileMap map; Gguf head; } GgufPart;
typedef struct GgufParts { GgufPart *part; int count; } GgufParts;
bool gguf_open_parts(Arena *a, Diag *d, Loc at, const char *path, GgufParts *out);
void gguf_close_parts(GgufParts *parts);

/* The keys of gguf_keys.def. gguf_read checks their types and ranges, except the keys of an
 * architecture: gguf_architecture_fault checks those. A fault is a text to follow "the file ". */
typedef enum GgufKeyId {
#define GGUF_KEY(id, ...) GGUF_KEY_##id,
#include "gguf_keys.def"
#undef GGUF_KEY
    GGUF_KEYS
} GgufKeyId;
const GgufValue *gguf_find(const Gguf *g, GgufKeyId id);                /* NULL if absent */
const char *gguf_key_name(Arena *a, const Gguf *g, GgufKeyId id);
const char *gguf_keys_fault(Arena *a, Gguf *g);
const char *gguf_architecture_fault(Arena *a, const Gguf *g);
const char *gguf_type_fault(Arena *a, const GgufKey *key);      /* a type that GGUF does not have */

bool gguf_is(GgufText text, const char *word);
/* A number or a bool of any type as a number; of an array the first item. False for other values.
 * gguf_number gives for F32 the shortest decimal that rounds to it. */
bool gguf_exact_number(const GgufValue *v, double *number);
bool gguf_number(const GgufValue *v, double *number);
/* Bytes of an item of that type; 0 for texts, arrays and what is not a type. */
size_t gguf_item_bytes(uint32_t type);

#endif
