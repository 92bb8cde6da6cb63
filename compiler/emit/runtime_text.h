/* runtime_text.h: the files of runtime/ as text inside the compiler: kernels to paste, the rest to copy. */
#ifndef RUNTIME_TEXT_H
#define RUNTIME_TEXT_H

/* Into which folders a file is copied: of no model, of all, of those with a tokenizer, of an encoder alone. */
typedef enum RuntimeUse { RUNTIME_NONE, RUNTIME_ALL, RUNTIME_TEXTS, RUNTIME_VECTORS } RuntimeUse;
typedef struct RuntimeFile { const char *name, *text; RuntimeUse use; } RuntimeFile;

extern const RuntimeFile runtime_files[];           /* ends with a NULL name */
const char *runtime_text(const char *name);         /* die() when there is none */

#endif
