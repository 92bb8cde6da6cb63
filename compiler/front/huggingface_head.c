/* huggingface_head.c: what a folder has behind its encoder: the head of its architecture with the labels of its config.json, or the
 * modules of sentence-transformers. */
#include "huggingface.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

/* ---- architectures -------------------------------------------------------------------------------------- */

/* Heads by the end of the architecture's name, and what a model_type has in the place of tanh. */
static const char classifier[] = "ForSequenceClassification", masked[] = "ForMaskedLM";
static const struct { const char *model, *activation; } activations[] = { { "DistilBert", "relu" }, { "Electra", "gelu" } };

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && !strcmp(name + n - m, end);
}

static void set_word(const Config *c, FieldId id, const char *word)
{
    config_set(c, "architectures", SIDE_BOTH, id, field_word(&fields[id], word));
}

/* The labels of id2label in their order; how many classes there are. Scores that are no alternatives stay numbers. */
static int take_labels(const Config *c)
{
    Config names;
    int n;
    if (!config_object(c, "id2label", &names)) return (int)config_integer(c, "num_labels|_num_labels", 2);
    config_keys(&names, &n);
    FieldValue *labels = arena_array(c->arena, (size_t)n + 1, sizeof *labels);
    for (int i = 0; i < n; i++) {
        const char *key = arena_format(c->arena, "%d", i);
        labels[i] = (FieldValue){ .text = config_text(&names, key, NULL) };
    }
    if (!strcmp(config_text(c, "problem_type", ""), "") || !strcmp(config_text(c, "problem_type", ""), "single_label_classification"))
        draft_set(c->arena, c->draft, SIDE_BOTH, FIELD_ID_labels, config_place(c, "id2label"), labels, n);
    return n;
}

static void take_classifier(const Config *c, const char *name)
{
    const char *between = "tanh";
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (!strncmp(name, activations[i].model, strlen(activations[i].model))) between = activations[i].activation;
    const double widths[] = { config_get(c, SIDE_BOTH, FIELD_ID_d_model), take_labels(c) };
    const double active[] = { field_word(&fields[FIELD_ID_head_activation], between), field_word(&fields[FIELD_ID_head_activation], "none") };
    set_word(c, FIELD_ID_pooling, "cls");
    config_set_list(c, "id2label", SIDE_BOTH, FIELD_ID_head_width, widths, 2);
    config_set_list(c, "architectures", SIDE_BOTH, FIELD_ID_head_activation, active, 2);
}

/* DistilBERT's and BERT's have the activation of their layers there, RoBERTa's the gelu. */
static void take_masked(const Config *c, const char *name)
{
    const bool own = !strncmp(name, "Bert", 4) || !strncmp(name, "DistilBert", 10);
    const double gelu = field_word(&fields[FIELD_ID_head_activation], "gelu");
    config_set(c, "architectures", SIDE_BOTH, FIELD_ID_head_width, config_get(c, SIDE_BOTH, FIELD_ID_d_model));
    config_set(c, "architectures", SIDE_BOTH, FIELD_ID_head_activation, own ? config_get(c, SIDE_BOTH, FIELD_ID_activation) : gelu);
    config_set(c, "architectures", SIDE_BOTH, FIELD_ID_head_norm, 1);
    config_set(c, "architectures", SIDE_BOTH, FIELD_ID_head_tied, 1);
}

static bool take_architecture(const Config *c)
{
    if (!config_has(c, "architectures") || config_count(c, "architectures") < 1) return false;
    const char *name = config_text_at(c, "architectures", 0);
    if (ends_in(name, classifier)) take_classifier(c, name);
    else if (ends_in(name, masked) && strncmp(name, "Electra", 7)) take_masked(c, name);
    else return false;
    return true;
}

/* ---- sentence-transformers ------------------------------------------------------------------------------ */

/* In the order in which several are laid side by side: the keys of 1_Pooling/config.json, and the words of `pooling`. */
static const struct { const char *key, *word; } poolings[] = {
    { "pooling_mode_cls_token", "cls" }, { "pooling_mode_max_tokens", "max" }, { "pooling_mode_mean_tokens", "mean" },
    { "pooling_mode_mean_sqrt_len_tokens", "mean_sqrt" }, { "pooling_mode_weightedmean_tokens", "weightedmean" },
    { "pooling_mode_lasttoken", "lasttoken" },
};
enum { POOLINGS = sizeof poolings / sizeof *poolings };

/* A file of the folder as a config of the same draft; false where it is not there, or after errors. Then config_close. */
static bool open_beside(const Config *c, const char *folder, const char *name, Config *out)
{
    *out = (Config){ .arena = c->arena, .diag = c->diag, .path = file_join(c->arena, folder, name), .family = c->family, .draft = c->draft };
    return access(out->path, F_OK) == 0 && config_open(out);
}

static void take_pooling(const Config *p)
{
    double parts[POOLINGS];
    int n = 0;
    const char *mode = config_text(p, "pooling_mode", "");
    for (int i = 0; i < POOLINGS; i++)
        if (*mode ? !strcmp(mode, poolings[i].word) : config_bool(p, poolings[i].key, false))
            parts[n++] = field_word(&fields[FIELD_ID_pooling], poolings[i].word);
    if (n) config_set_list(p, *mode ? "pooling_mode" : NULL, SIDE_BOTH, FIELD_ID_pooling, parts, n);
    else config_fault(p, "pooling_mode", "no pooling is chosen that is supported: cls, max, mean, mean_sqrt, weightedmean or lasttoken");
}

/* At most what the positions take. */
static void take_sentence_length(const Config *c, const char *folder)
{
    Config s;
    if (!open_beside(c, folder, "sentence_bert_config.json", &s)) return;
    const int64_t length = config_integer(&s, "max_seq_length", 0);
    if (length > 0 && (double)length < config_get(c, SIDE_BOTH, FIELD_ID_max_len)) config_set_length(&s, "max_seq_length", length);
    config_close(&s);
}

/* modules.json: which modules there are, one behind the other. Normalize counts; a Dense is not read. Without the file there is none. */
static void take_modules(const Config *c, const char *folder)
{
    static const char *const known[] = { ".Transformer", ".Pooling", ".Normalize" };
    const char *path = file_join(c->arena, folder, "modules.json");
    const Loc at = { path, 0, 0 };
    json_error_t error;
    size_t size, i;
    if (access(path, F_OK) != 0) return;
    char *text = file_read(c->arena, c->diag, (Loc){ 0 }, path, 1 << 20, &size);
    json_t *list = text ? json_loadb(text, size, JSON_REJECT_DUPLICATES, &error) : NULL, *module;
    if (text && !list) diag_error(c->diag, EXIT_BAD_DATA, (Loc){ path, error.line > 0 ? error.line : 0, 0 }, "not JSON: %s", error.text);
    else if (list && !json_is_array(list)) diag_error(c->diag, EXIT_BAD_DATA, at, "not a list of modules");
    json_array_foreach(list, i, module) {
        const char *type = json_string_value(json_object_get(module, "type"));
        size_t k = 0;
        while (type && k < sizeof known / sizeof *known && !ends_in(type, known[k])) k++;
        if (!type || k == sizeof known / sizeof *known)
            diag_error(c->diag, EXIT_BAD_DATA, at, "module %zu, \"%.100s\", is not supported, only Transformer, Pooling and Normalize", i,
                type ? type : "");
        else if (k == 2) draft_set_number(c->arena, c->draft, SIDE_BOTH, FIELD_ID_normalize, at, 1);
    }
    json_decref(list);
}

void config_head(const Config *c, const char *folder)
{
    Config p;
    if (take_architecture(c) || !open_beside(c, folder, "1_Pooling/config.json", &p)) return;
    take_pooling(&p);
    config_close(&p);
    take_sentence_length(c, folder);
    take_modules(c, folder);
}
