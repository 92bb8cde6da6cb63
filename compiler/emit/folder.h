/* folder.h: write a model's folder (emitted text, runtime, packed weights) and run make in it. */
#ifndef FOLDER_H
#define FOLDER_H

#include "emit.h"
#include "pack.h"

/* The text of a folder, and the layout of its weights. */
typedef struct FolderText { Pack pack; const EmittedFile *files; int count; } FolderText;
FolderText folder_text(Arena *a, const Plan *p, EmitForm form);

/* Write everything into `folder`, creating it if needed. No partial file is left. If a file that
 * xformc did not write would be overwritten, nothing is written and the exit code is 65. */
bool folder_write(Arena *a, Diag *d, const Plan *p, EmitForm form, const char *folder, PackSelftest *selftest);
/* Write everything but the weights; `text` must not be of a form with WEIGHTS_LITERAL. */
bool folder_write_text(Arena *a, Diag *d, const Plan *p, const FolderText *text, const char *folder);

/* Write only the packed weights, with the values of the self-test. If `path` exists and is neither
 * a packed nor an empty file, nothing is written and the exit code is 65. */
bool folder_write_weights(Arena *a, Diag *d, const Plan *p, const char *path, PackSelftest *selftest);

/* Make `target` in a folder; `text` is its source file. cc: NULL for the folder's default. unseen:
 * the output of make is not shown. debug: build for a debugger. custom: the source has the C of an
 * xf.op. */
typedef struct MakeOrder { const char *folder, *target, *text, *cc; EmitForm form; bool unseen, debug, custom; } MakeOrder;

/* Run make. On failure the compiler's output is shown, then one line of ours; if unseen, only that
 * line, with the compiler's first error. The exit code is 74 if a tool cannot be started or the
 * disk is full, 69 if the tools are missing or do not work, and if they do, 65 with custom and 70
 * without. */
bool folder_make(Arena *a, Diag *d, const MakeOrder *o);

/* A new folder in TMPDIR or, if that is not set, in /tmp, from which folders that killed processes
 * left behind are removed first; NULL after a reported error. Call it with signals held; the caller
 * removes the folder. */
const char *folder_temporary(Arena *a, Diag *d);
/* Remove a folder that xformc made, with everything in it. */
void folder_remove(Arena *a, const char *path);

#endif
