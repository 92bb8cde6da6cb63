/* gguf.h: the header of a GGUF file, version 2 or 3: metadata keys, and the places of the tensors.
 * Strings and array items point into the file. */
#ifndef GGUF_H
#define GGUF_H

#include "model.h"

typedef enum GgufType { GGUF_U8, GGUF_I8, GGUF_U16, GGUF_I16, GGUF_U32, GGUF_I32, GGUF_F32, GGUF_BOOL, GGUF_STRING, GGUF_ARRAY,
                        GGUF_U64, GGUF_I64, GGUF_F64 } GgufType;

typedef struct GgufText { const char *s; size_t n; } GgufText;
/* A string for messages: at most the first 100 bytes, with NUL and control characters escaped. */
const char *gguf_shown(Arena *a, GgufText text);

/* The bytes that remain to be read; bad: a read went past the end, or the data is invalid. */
typedef struct GgufBytes { const unsigned char *s; size_t n; bool bad; } GgufBytes;
uint64_t gguf_take_word(GgufBytes *b, size_t bytes);                    /* little-endian */
GgufText gguf_take_text(GgufBytes *b);

/* A value. The items of an array, at most GGUF_ITEMS_MOST, are not decoded: read them from
 * `items`. */
enum { GGUF_ITEMS_MOST = 1 << 24 };
typedef struct GgufValue { uint32_t type, items_type; uint64_t bits; GgufText text; uint64_t count; GgufBytes items; } GgufValue;
typedef struct GgufKey { GgufText name; GgufValue value; } GgufKey;

/* dims[0] is the contiguous dimension. type: a ggml_type value. offset: from the start of the
 * file. */
typedef struct GgufTensor { GgufText name; uint32_t type; int rank; uint64_t dims[MAX_RANK]; uint64_t offset; } GgufTensor;

/* architecture: the value of general.architecture. */
typedef struct Gguf {
    GgufText architecture;
    GgufKey *keys;  uint64_t key_count;
    GgufTensor *tensors;  uint64_t tensor_count;
} Gguf;

bool is_gguf(const unsigned char *data, size_t size);
/* Read everything except tensor data. Returns a fault, or NULL. */
const char *gguf_read(Arena *a, const unsigned char *data, size_t size, Gguf *out);

/* The number of this part of a split file, counted from 1, and the number of parts; 1 and 1 if the
 * file is not split. */
typedef struct GgufSplit { int64_t part, count; } GgufSplit;
GgufSplit gguf_split(const Gguf *g);
/* The part of a path before -00001-of-00003.gguf; NULL if it does not end like that. */
const char *gguf_name_of_split(Arena *a, const char *path);

/* Map a file and read its header; if it is the first part of a split file, do so for all parts.
 * False after errors reported at `at`, with nothing mapped. */
typedef struct GgufPart { const char *path; FileMap map; Gguf head; } GgufPart;
typedef struct GgufParts { GgufPart *part; int count; } GgufParts;
bool gguf_open_parts(Arena *a, Diag *d, Loc at, const char *path, GgufParts *out);
void gguf_close_parts(GgufParts *parts);

/* The keys of gguf_keys.def. gguf_read checks their types and ranges, except for the keys of an
 * architecture: gguf_architecture_fault checks those. A fault continues a sentence whose subject is
 * the file. */
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
const char *gguf_type_fault(Arena *a, const GgufKey *key);      /* an unknown or nested type */

bool gguf_is(GgufText text, const char *word);
/* The value of a number or bool of any type; for an array, that of its first item. False for other
 * values. gguf_number converts an F32 to the shortest decimal that rounds to it. */
bool gguf_exact_number(const GgufValue *v, double *number);
bool gguf_number(const GgufValue *v, double *number);
/* The size of a value of the given type, in bytes; 0 for strings, arrays and unknown types. */
size_t gguf_item_bytes(uint32_t type);

#endif
