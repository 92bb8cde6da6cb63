/* tokenizer.h: convert a tokenizer's files to a blob, the only form that the runtime reads
 * (runtime/tokenizer/rt_tokenizer.h).
 *
 * A blob is self-contained: vocabulary, merges, patterns, Unicode tables. It is little-endian and
 * addressed by offsets, so the packed weights of a model contain it unchanged. It lives in the
 * arena. The same files give the same bytes. */
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "rt_tokenizer.h"

typedef struct TokenizerBlob { const unsigned char *data; size_t size; TokenizerChat chat; TokenizerOrigin origin; } TokenizerBlob;

/* Read a file, whose content and name tell its type (tokenizer.json, vocab.txt, vocab.json with the
 * merges.txt next to it, a SentencePiece model, a GGUF file, llama2.c's tokenizer.bin), or the
 * files of a Hugging Face folder. False after errors reported to `d`: 66 if a file is missing, 74
 * if one cannot be read, 69 if the folder has two vocabularies or memory is lacking, 65 if a file
 * is damaged or has unsupported parts, which the errors name. A missing file is reported at `at`. */
bool tokenizer_import(Arena *a, Diag *d, Loc at, const char *path, TokenizerBlob *out);

/* Print the names of the files that tokenizer_import reads, and below each the supported classes of
 * transformers or, for files of other programs, their kinds of tokenizer. */
void tokenizer_print_layouts(Arena *a, FILE *to);

/* The id of the mask token of a folder's tokenizer; -1 if it has none, or after errors. */
int tokenizer_mask(Arena *a, Diag *d, Loc at, const char *folder);

/* True if a folder holds a file that tokenizer_import would read. */
bool tokenizer_in_folder(Arena *a, const char *folder);
/* True if the folder has separate source and target vocabularies, which are not supported. */
bool tokenizers_in_folder(Arena *a, const char *folder);

/* The settings file of the Transformer in a sentence-transformers folder. Of its several possible
 * names, the first whose file has a nonempty JSON object is used. NULL if there is none, or after
 * an error. */
const char *tokenizer_sentence_file(Arena *a, Diag *d, const char *folder);

/* Read a file of symbols, one per line. NULL after errors, reported at their lines; a missing file
 * is reported at `at`. */
Vocabulary *vocabulary_read(Arena *a, Diag *d, Loc at, const char *path);

#endif
