/* huggingface_head.c: set the head of an encoder by its architecture, with the labels of
 * config.json. */
#include "huggingface.h"

#include <string.h>

#include "text.h"
#include "tokenizer.h"

/* ---- architectures -------------------------------------------------------------------------------------- */

/* Heads are recognised by the end of the architecture's name. activations: the models whose
 * classifier does not use tanh. */
static const char classifier[] = "ForSequenceClassification", masked[] = "ForMaskedLM";
static const struct { const char *model, *activation; } activations[] = { { "DistilBert", "relu" }, { "Electra", "gelu" } };

static void set_word(const Config *c, FieldId id, const char *word)
{
    config_set(c, "architectures", SIDE_BOTH, id, field_word(&fields[id], word));
}

/* ---- labels --------------------------------------------------------------------------------------------- */

/* The activation of a cross-encoder's scores and the place of its key; class NULL: not given. */
typedef struct Told { const char *class; Loc at; } Told;

static void take_told(const Config *c, const char *key, Told *told)
{
    if (!told->class && config_has(c, key)) *told = (Told){ config_text(c, key, ""), config_place(c, key) };
}

/* Look in the same order as sentence-transformers: in its own file, then for the new key in
 * config.json, then for the old one. */
static Told told_activation(const Config *c)
{
    Told told = { NULL, { 0 } };
    Config own;
    if (config_beside(c, c->draft->path, "config_sentence_transformers.json", &own)) {
        take_told(&own, "activation_fn", &told);
        config_close(&own);
    }
    if (config_object(c, "sentence_transformers", &own)) take_told(&own, "activation_fn", &told);
    take_told(c, "sbert_ce_default_activation_function", &told);
    return told;
}

/* Set how scores are computed: as in transformers' pipeline, by problem_type, or as in
 * sentence-transformers' CrossEncoder, if the config has its activation and one label. */
static void set_scores(const Config *c, int labels, const char *problem)
{
    static const struct { const char *class, *word; } known[] = {
        { "torch.nn.modules.linear.Identity", "none" }, { "torch.nn.modules.activation.Sigmoid", "sigmoid" },
    };
    Told told = told_activation(c);
    if (told.class && labels > 1) {
        diag_remark(c->diag, told.at,
                    "the score activation \"%.100s\" applies to a single label; with several, "
                    "\"problem_type\" decides", told.class);
        told.class = NULL;
    }
    const char *word = !strcmp(problem, "regression") ? "none" : !strcmp(problem, "multi_label_classification") ? "sigmoid" : NULL;
    const Loc at = told.class ? told.at : config_place(c, "problem_type");
    size_t i = 0;
    while (told.class && i < sizeof known / sizeof *known && strcmp(told.class, known[i].class)) i++;
    if (told.class && i < sizeof known / sizeof *known) word = known[i].word;
    else if (told.class) diag_error(c->diag, EXIT_BAD_DATA, at, "the score activation \"%.100s\" is not supported", told.class);
    if (word) draft_set_number(c->arena, c->draft, SIDE_BOTH, FIELD_ID_label_scores, at, field_word(&fields[FIELD_ID_label_scores], word));
}

/* Labels without names: LABEL_0, LABEL_1 and so on; two unless num_labels is given. */
static FieldValue *preset_labels(const Config *c, int *n)
{
    enum { MOST_LABELS = 65536 };
    const int64_t count = config_integer(c, "num_labels|_num_labels", 2);
    *n = count >= 1 && count <= MOST_LABELS ? (int)count : 0;
    if (!*n) config_fault(c, "num_labels|_num_labels", "\"%s\" must be from 1 to %d", config_has(c, "num_labels") ? "num_labels" : "_num_labels",
                          (int)MOST_LABELS);
    FieldValue *labels = arena_array(c->arena, (size_t)*n + 1, sizeof *labels);
    for (int i = 0; i < *n; i++) labels[i] = (FieldValue){ .text = arena_format(c->arena, "LABEL_%d", i) };
    return labels;
}

static FieldValue *named_labels(const Config *c, const Config *names, int *n)
{
    config_keys(names, n);
    const int64_t said = config_integer(c, "num_labels", *n);
    if (said != *n) config_fault(c, "num_labels", "\"num_labels\" is %lld, but \"id2label\" has %d label%s", (long long)said, *n,
                                 *n == 1 ? "" : "s");
    FieldValue *labels = arena_array(c->arena, (size_t)*n + 1, sizeof *labels);
    for (int i = 0; i < *n; i++) {
        const char *key = arena_format(c->arena, "%d", i), *shown = config_has(names, key) ? config_shown(names, key) : "";
        const bool number = *shown && strspn(shown, "-0123456789") == strlen(shown);
        labels[i] = (FieldValue){ .text = number ? shown : config_text(names, key, NULL) };
    }
    return labels;
}

/* Set the labels; returns the number of classes. A regression with several outputs gets no
 * labels. */
static int take_labels(const Config *c)
{
    Config names;
    int n;
    const bool named = config_object(c, "id2label", &names);
    FieldValue *labels = named ? named_labels(c, &names, &n) : preset_labels(c, &n);
    const char *problem = config_text(c, "problem_type", "");
    if (n == 1 && !strcmp(problem, "single_label_classification"))
        config_fault(c, "problem_type", "\"single_label_classification\" needs more than one label");
    if (!strcmp(problem, "regression") && n > 1) return n;
    draft_set(c->arena, c->draft, SIDE_BOTH, FIELD_ID_labels, config_place(c, named ? "id2label" : "architectures"), labels, n);
    set_scores(c, n, problem);
    return n;
}

/* ---- heads ---------------------------------------------------------------------------------------------- */

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

/* The head of a masked language model uses the layers' activation in BERT and DistilBERT, gelu in
 * other models. */
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
    const bool reads = tokenizer_in_folder(c->arena, folder);
    const int errors = diag_errors(c->diag), mask = reads ? tokenizer_mask(c->arena, c->diag, (Loc){ c->path, 0, 0 }, folder) : -1;
    if (reads && mask < 0 && diag_errors(c->diag) == errors)
        diag_remark(c->diag, (Loc){ c->path, 0, 0 }, "the tokenizer has no mask token, so the logits of all tokens are printed");
    if (mask >= 0) config_set(c, NULL, SIDE_BOTH, FIELD_ID_mask_id, mask);
}

/* Unsupported heads. They cannot be ignored, because the result would be that of another model.
 * of_encoders: unsupported in encoders, too. */
static const struct { const char *end; bool of_encoders; } refused[] = {
    { "ForTokenClassification", true }, { "ForQuestionAnswering", true }, { "ForMultipleChoice", true }, { "ForNextSentencePrediction", true },
    { "ForSequenceClassification", false }, { "ForMaskedLM", false }, { "RewardModel", false },
};

static bool refuse(const Config *c, const char *name)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (!text_ends(name, refused[i].end) || (c->family->kind == KIND_ENCODER && !refused[i].of_encoders)) continue;
        config_fault(c, "architectures", "the head of %s is not supported", name);
        return true;
    }
    return false;
}

void config_head(const Config *c, const char *folder)
{
    if (!config_has(c, "architectures") || config_count(c, "architectures") < 1) return;
    const char *name = config_text_at(c, "architectures", 0);
    if (refuse(c, name) || c->family->kind != KIND_ENCODER) return;
    if (text_ends(name, classifier)) take_classifier(c, name);
    else if (text_ends(name, masked)) take_masked(c, name, folder);
}
