/* runtime_text.h: the files of runtime/ as strings in the compiler. */
#ifndef RUNTIME_TEXT_H
#define RUNTIME_TEXT_H

/* Which folders get a copy of a file. NONE: those of models whose kernels need it, if any; ALL: all
 * folders; TEXTS: those of models with a subword tokenizer; VECTORS: those of encoder-only
 * models. */
typedef enum RuntimeUse { RUNTIME_NONE, RUNTIME_ALL, RUNTIME_TEXTS, RUNTIME_VECTORS } RuntimeUse;
typedef struct RuntimeFile { const char *name, *text; RuntimeUse use; } RuntimeFile;

enum { RUNTIME_FILES = 0
#define RUNTIME_FILE(id, folder, name, use) + 1
#include "runtime_files.def"
#undef RUNTIME_FILE
};
extern const RuntimeFile runtime_files[];           /* ends with a NULL name */
const RuntimeFile *runtime_find(const char *name);  /* die() if there is none */
const char *runtime_text(const char *name);

#endif
