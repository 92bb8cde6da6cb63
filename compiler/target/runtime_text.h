/* runtime_text.h: the files of runtime/ as text inside the compiler: kernels to paste, the rest to copy. */
#ifndef RUNTIME_TEXT_H
#define RUNTIME_TEXT_H

#include <stdbool.h>

/* copied: into every folder; texts: of models with a tokenizer alone. */
typedef struct RuntimeFile { const char *name, *text; bool copied, texts; } RuntimeFile;

extern const RuntimeFile runtime_files[];           /* ends with a NULL name */
const char *runtime_text(const char *name);         /* die() when there is none */

#endif
