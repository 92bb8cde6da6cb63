/* huggingface_head.c: what a folder has behind its encoder: the head of its architecture, with the labels of its config.json. */
#include "huggingface.h"

#include <string.h>

#include "tokenizer.h"

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

/* The activation of a cross-encoder's scores, in both spellings; NULL where none is told. */
static const char *told_activation(const Config *c)
{
    Config own;
    if (config_has(c, "sbert_ce_default_activation_function")) return config_text(c, "sbert_ce_default_activation_function", "");
    return config_object(c, "sentence_transformers", &own) && config_has(&own, "activation_fn") ? config_text(&own, "activation_fn", "") : NULL;
}

/* As what scores are answered: as transformers' pipeline does, or as sentence-transformers' CrossEncoder by what it has put into the config. */
static void set_scores(const Config *c, int labels, const char *problem)
{
    static const struct { const char *class, *word; } known[] = {
        { "torch.nn.modules.linear.Identity", "none" }, { "torch.nn.modules.activation.Sigmoid", "sigmoid" },
    };
    const char *key = config_has(c, "sbert_ce_default_activation_function") ? "sbert_ce_default_activation_function" : "sentence_transformers";
    const char *told = labels == 1 ? told_activation(c) : NULL;
    const char *word = !strcmp(problem, "regression") ? "none" : !strcmp(problem, "multi_label_classification") ? "sigmoid" : NULL;
    if (!told) key = "problem_type";
    for (size_t i = 0; told && i < sizeof known / sizeof *known; i++)
        if (!strcmp(told, known[i].class)) word = known[i].word, told = NULL;
    if (told) config_fault(c, key, "the activation \"%.100s\" of scores is not supported", told);
    if (word) config_set(c, key, SIDE_BOTH, FIELD_ID_label_scores, field_word(&fields[FIELD_ID_label_scores], word));
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
    const char *problem = config_text(c, "problem_type", "");
    if (!strcmp(problem, "regression") && n > 1) return n;
    draft_set(c->arena, c->draft, SIDE_BOTH, FIELD_ID_labels, config_place(c, "id2label"), labels, n);
    set_scores(c, n, problem);
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
    config_set(c, "architectures", SIDE_BOTH, FIELD_ID_pairs, 1);
    config_set_list(c, "id2label", SIDE_BOTH, FIELD_ID_head_width, widths, 2);
    config_set_list(c, "architectures", SIDE_BOTH, FIELD_ID_head_activation, active, 2);
}

/* DistilBERT's and BERT's have the activation of their layers there, RoBERTa's the gelu. */
static void take_masked(const Config *c, const char *name, const char *folder)
{
    const bool own = !strncmp(name, "Bert", 4) || !strncmp(name, "DistilBert", 10);
    const bool narrow = draft_choice(c->draft, SIDE_BOTH, FIELD_ID_embed_width) != NULL;
    const double embed = config_get(c, SIDE_BOTH, narrow ? FIELD_ID_embed_width : FIELD_ID_d_model);
    const double gelu = field_word(&fields[FIELD_ID_head_activation], "gelu");
    config_set(c, "architectures", SIDE_BOTH, FIELD_ID_head_width, embed);
    config_set(c, "architectures", SIDE_BOTH, FIELD_ID_head_activation, own ? config_get(c, SIDE_BOTH, FIELD_ID_activation) : gelu);
    config_set(c, "architectures", SIDE_BOTH, FIELD_ID_head_norm, 1);
    config_set(c, "architectures", SIDE_BOTH, FIELD_ID_head_tied, 1);
    const int mask = tokenizer_in_folder(c->arena, folder) ? tokenizer_mask(c->arena, c->diag, (Loc){ c->path, 0, 0 }, folder) : -1;
    if (mask >= 0) config_set(c, NULL, SIDE_BOTH, FIELD_ID_mask_id, mask);
}

/* Heads that are not read: without them the answer would be that of another model. */
static const struct { const char *end; bool of_encoders; } refused[] = {
    { "ForTokenClassification", true }, { "ForQuestionAnswering", true }, { "ForMultipleChoice", true }, { "ForNextSentencePrediction", true },
    { "ForSequenceClassification", false }, { "ForMaskedLM", false }, { "RewardModel", false },
};

static bool refuse(const Config *c, const char *name)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (!ends_in(name, refused[i].end) || (c->family->kind == KIND_ENCODER && !refused[i].of_encoders)) continue;
        config_fault(c, "architectures", "the head of a %s is not supported", name);
        return true;
    }
    return false;
}

void config_head(const Config *c, const char *folder)
{
    if (!config_has(c, "architectures") || config_count(c, "architectures") < 1) return;
    const char *name = config_text_at(c, "architectures", 0);
    if (refuse(c, name) || c->family->kind != KIND_ENCODER) return;
    if (ends_in(name, classifier)) take_classifier(c, name);
    else if (ends_in(name, masked)) take_masked(c, name, folder);
}
