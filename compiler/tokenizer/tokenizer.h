/* tokenizer.h: a tokenizer's files into a blob, the one form that the runtime reads (runtime/tokenizer/rt_tokenizer.h).
 *
 * A blob is self-contained: vocabulary, merges, patterns, Unicode tables, everything little-endian and by offsets, so it
 * lies in the packed weights of a model as it is. The same files give the same bytes. It lives in the arena. */
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "rt_tokenizer.h"

typedef struct TokenizerBlob { const unsigned char *data; size_t size; TokenizerChat chat; TokenizerOrigin origin; } TokenizerBlob;

/* Read a file, by its content: tokenizer.json, vocab.txt, a SentencePiece model, a GGUF file, llama2.c's tokenizer.bin;
 * or the files of a Hugging Face folder. False after errors reported to `d`: 66 when nothing is there, 65 for damaged files
 * and for parts that are not supported, each by its name. `at` names who asked, for a file that is missing. */
bool tokenizer_import(Arena *a, Diag *d, Loc at, const char *path, TokenizerBlob *out);

/* What tokenizer_import reads: file names, and in the lines behind them the classes of transformers with whose ids each is
 * compared in tests. */
void tokenizer_print_layouts(Arena *a, FILE *to);

/* The id of the token that a folder's tokenizer has for a mask; -1 where it has none, or after errors. */
int tokenizer_mask(Arena *a, Diag *d, Loc at, const char *folder);

/* Whether a folder holds a file that tokenizer_import would read. */
bool tokenizer_in_folder(Arena *a, const char *folder);
/* Whether it has a vocabulary for what goes in and another for what comes out, which is not supported. */
bool tokenizers_in_folder(Arena *a, const char *folder);

/* The file of a Transformer's settings in a folder of sentence-transformers: the first of its names whose object is not empty.
 * NULL where there is none, or after an error. */
const char *tokenizer_sentence_file(Arena *a, Diag *d, const char *folder);

/* Symbols from a file, one a line; NULL after errors, reported at their lines. `at` names the field for a missing file. */
Vocabulary *vocabulary_read(Arena *a, Diag *d, Loc at, const char *path);

#endif
