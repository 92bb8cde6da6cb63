/* huggingface.h: shared by the source files of the folder reader. Only huggingface*.c include
 * it. */
#ifndef HUGGINGFACE_H
#define HUGGINGFACE_H

#include "family.h"

/* True if a text is among `words`, which are separated by |. */
bool config_is_one_of(const char *shown, const char *words);
/* Set start and end ids and, except for an encoder, the generation settings, from
 * generation_config.json in the folder, else from config.json. c: the part of config.json with the
 * model's keys; outer: the whole; both are the same if nothing is nested. */
void config_take_generation(const Config *c, const Config *outer, const char *folder);

/* Set an encoder's head, that of a classifier or of a masked language model, by its architecture.
 * Unsupported heads are errors, for any kind of model. */
void config_head(const Config *c, const char *folder);

/* Open a JSON file of a folder as a Config of the same draft; false if it does not exist, or after
 * errors. If true, call config_close at the end. */
bool config_beside(const Config *c, const char *folder, const char *name, Config *out);

/* The modules of a sentence-transformers folder, in order; path: the full path of the module's
 * folder. */
typedef enum ModuleKind { MODULE_TRANSFORMER, MODULE_POOLING, MODULE_DENSE, MODULE_NORMALIZE, MODULE_DROPOUT } ModuleKind;
typedef struct Module { ModuleKind kind; const char *path; Loc at; } Module;
typedef struct Modules {
    Module *module;  int count;     /* 0: not a sentence-transformers folder */
    const char *transformer;        /* the folder of the Transformer */
} Modules;
/* Read modules.json; without that file, a folder 1_Pooling implies a pooling module. False after
 * errors. */
bool modules_read(Arena *a, Diag *d, const char *folder, Modules *out);
/* Set what the modules compute after the encoder, the similarity and the length limit. True if
 * there is a limit. */
bool config_modules(const Config *c, const Modules *m);
/* Set only the length limit, for a Transformer without other modules; true if there is a limit. */
bool config_modules_length(const Config *c, const Modules *m);

#endif
