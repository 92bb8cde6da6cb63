/* sentence_file.c: find the Transformer's settings file, which has had several names, in a
 * sentence-transformers folder. */
#include "file.h"
#include "json_read.h"
#include "tokenizer.h"

/* In the order in which sentence-transformers looks for them. */
static const char *const names[] = {
    "sentence_bert_config.json", "sentence_roberta_config.json", "sentence_distilbert_config.json", "sentence_camembert_config.json",
    "sentence_albert_config.json", "sentence_xlm-roberta_config.json", "sentence_xlnet_config.json",
};

const char *tokenizer_sentence_file(Arena *a, Diag *d, const char *folder)
{
    const int errors = diag_errors(d);
    for (size_t i = 0; i < sizeof names / sizeof *names && diag_errors(d) == errors; i++) {
        const char *path = file_join(a, folder, names[i]);
        json_t *root = json_read_object(a, d, path);
        const bool says = json_object_size(root) > 0;
        json_decref(root);
        if (says) return path;
    }
    return NULL;
}
