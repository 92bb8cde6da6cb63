/* hf.h: read Hugging Face folders, GGUF files and llama2.c checkpoints as Drafts. */
#ifndef HF_H
#define HF_H

#include "fields.h"
#include "gguf.h"

/* Read the settings of a Hugging Face folder, the header of a llama2.c checkpoint, or the keys of a
 * GGUF file; NULL after errors reported to `d`. */
Draft *draft_from_folder(Arena *a, Diag *d, const char *path);
Draft *draft_from_checkpoint(Arena *a, Diag *d, const char *path);
Draft *draft_from_gguf(Arena *a, Diag *d, const char *path);
/* The ids that end generation; that of the key eos_token_id, if valid, comes first. */
Numbers gguf_ends(Arena *a, Diag *d, Loc at, const Gguf *g);
/* Print the supported families, one per line: model_type, models. */
void families_print(FILE *to);
/* Turn a string into a model's name: a C identifier that is not reserved. */
const char *model_name_of(Arena *a, const char *text);
const char *model_name_of_file(Arena *a, const char *base);     /* drops the extension first */

#endif
