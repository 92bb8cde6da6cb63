/* huggingface.h: what the files of the folder reader share. Included by huggingface*.c only. */
#ifndef HUGGINGFACE_H
#define HUGGINGFACE_H

#include "family.h"

/* Whether a value is one of those, written as JSON with | between. */
bool config_is_one_of(const char *shown, const char *words);
/* The marks that texts begin and end with, and the settings of generation: of generation_config.json in the folder, else of `c`. */
/* outer: the whole config.json, which is c where nothing is nested. */
void config_take_generation(const Config *c, const Config *outer, const char *folder);

/* What is behind the hidden states of an encoder: a classifier or a masked language model, by its architecture. Heads that are
 * not read are refused by name, of any kind of model. */
void config_head(const Config *c, const char *folder);

/* A file of a folder as a config of the same draft; false where it is not there, or after errors. Then config_close. */
bool config_beside(const Config *c, const char *folder, const char *name, Config *out);

/* The modules of a folder of sentence-transformers, in their order; a path is a folder in it, in full. */
typedef enum ModuleKind { MODULE_TRANSFORMER, MODULE_POOLING, MODULE_DENSE, MODULE_NORMALIZE, MODULE_DROPOUT } ModuleKind;
typedef struct Module { ModuleKind kind; const char *path; Loc at; } Module;
typedef struct Modules {
    Module *module;  int count;     /* 0: it is no such folder */
    const char *transformer;        /* the folder of the model itself */
} Modules;
/* By modules.json; without that file 1_Pooling says that there is a pooling. False after errors. */
bool modules_read(Arena *a, Diag *d, const char *folder, Modules *out);
/* What they compute behind the encoder. Returns whether they say how long a text may be. */
bool config_modules(const Config *c, const Modules *m);
/* The same of a Transformer alone, which has nothing behind it. */
bool config_modules_length(const Config *c, const Modules *m);

#endif
