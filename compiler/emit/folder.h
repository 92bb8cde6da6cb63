/* folder.h: a model's folder on disk: emitted text, runtime, packed weights; and what make makes of it. */
#ifndef FOLDER_H
#define FOLDER_H

#include "emit.h"
#include "pack.h"

/* The text of a folder, and the layout of its weights. */
typedef struct FolderText { Pack pack; const EmittedFile *files; int count; } FolderText;
FolderText folder_text(Arena *a, const Plan *p, EmitForm form);

/* Write everything into `folder`, which is made if need be; each file is complete or not there. A folder in which one
 * of our files is somebody else's is refused: 65. */
bool folder_write(Arena *a, Diag *d, const Plan *p, EmitForm form, const char *folder, PackSelftest *selftest);
/* All but the weights. The text is that of the form, and weights are no text of C. */
bool folder_write_text(Arena *a, Diag *d, const Plan *p, const FolderText *text, const char *folder);

/* Write the packed weights alone, with the values of the self-test. Refused, 65: a file that is none of ours, or no file. */
bool folder_write_weights(Arena *a, Diag *d, const Plan *p, const char *path, PackSelftest *selftest);

/* What to make in a folder: `target`, of which `text` is the source. cc: NULL for the folder's own choice. unseen: nobody reads
 * standard error. debug: for a debugger. */
typedef struct MakeOrder { const char *folder, *target, *text, *cc; EmitForm form; bool unseen, debug; } MakeOrder;

/* Run make. On failure what the compiler said is shown, then one line of ours, in which its first error
 * stands if unseen: 74 where there was no room to write, 69 where the tools do not work, 70 where they
 * do. */
bool folder_make(Arena *a, Diag *d, const MakeOrder *o);

/* A new folder below TMPDIR, or /tmp; NULL after a reported error. Call it with signals held, and remove it. */
const char *folder_temporary(Arena *a, Diag *d);
/* Remove a folder of ours: its files, and those of its subfolders. */
void folder_remove(Arena *a, const char *path);

#endif
