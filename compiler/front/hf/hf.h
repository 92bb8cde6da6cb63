/* hf.h: folders of Hugging Face, GGUF files and checkpoints of llama2.c as Drafts. */
#ifndef HF_H
#define HF_H

#include "fields.h"
#include "gguf.h"

/* What the config.json of a Hugging Face folder says; NULL after errors reported to `d`. */
Draft *draft_from_folder(Arena *a, Diag *d, const char *path);
/* What the header of a llama2.c checkpoint says; likewise. */
Draft *draft_from_checkpoint(Arena *a, Diag *d, const char *path);
/* What the keys of a GGUF file say; likewise. */
Draft *draft_from_gguf(Arena *a, Diag *d, const char *path);
/* What ends an answer of it, ids of its vocabulary: first that of its key for the end of a text. */
Numbers gguf_ends(Arena *a, Diag *d, Loc at, const Gguf *g);
/* The families of Hugging Face folders, a line each: model_type, models. */
void families_print(FILE *to);
/* A text as a model's name: a C identifier that nobody has taken. */
const char *model_name_of(Arena *a, const char *text);
const char *model_name_of_file(Arena *a, const char *base);     /* without its last ending */

#endif
