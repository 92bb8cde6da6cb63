/* huggingface.h: what the files of the folder reader share. Included by huggingface*.c only. */
#ifndef HUGGINGFACE_H
#define HUGGINGFACE_H

#include "family.h"

/* Read c->path, whose arena and diag are set; false after errors. Ends with config_close. */
bool config_open(Config *c);
void config_close(Config *c);
/* A key's value as JSON, in one line. */
const char *config_shown(const Config *c, const char *key);
/* The row of a key, of the family or of what it is like; NULL where there is none. */
const ConfigKey *family_key(const Family *f, const char *key);
bool config_is_list(const Config *c, const char *key);
bool config_is_object(const Config *c, const char *key);
/* The i-th element, a list of numbers: how many, -1 after an error for what is none. */
int config_list_at(const Config *c, const char *key, int i, double **numbers);
/* The marks that texts begin and end with, and the settings of generation: of generation_config.json in the folder, else of `c`. */
void config_take_generation(const Config *c, const char *folder);

/* What is behind the hidden states of an encoder: a classifier or a masked language model by its architecture, or what the files of
 * sentence-transformers beside it say. */
void config_head(const Config *c, const char *folder);

#endif
