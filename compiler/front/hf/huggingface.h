/* huggingface.h: what the files of the folder reader share. Included by huggingface*.c only. */
#ifndef HUGGINGFACE_H
#define HUGGINGFACE_H

#include "family.h"

/* Read c->path, whose arena and diag are set; false after errors. Ends with config_close. */
bool config_open(Config *c);
void config_close(Config *c);
/* The same for a file that is a list of so many objects; the i-th, which needs no config_close, false after an error. */
bool config_open_list(Config *c, int *n);
bool config_item(const Config *list, int i, Config *out);
/* A key's value as JSON, in one line. */
const char *config_shown(const Config *c, const char *key);
bool config_is_list(const Config *c, const char *key);
bool config_is_object(const Config *c, const char *key);
/* The i-th element, a list of numbers: how many, -1 after an error for what is none. */
int config_list_at(const Config *c, const char *key, int i, double **numbers);
/* The marks that texts begin and end with, and the settings of generation: of generation_config.json in the folder, else of `c`. */
void config_take_generation(const Config *c, const char *folder);

/* What is behind the hidden states of an encoder: a classifier or a masked language model, by its architecture. Heads that are
 * not read are refused by name, of any kind of model. */
void config_head(const Config *c, const char *folder);

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

#endif
