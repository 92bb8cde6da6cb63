/* huggingface_sentence.c: read sentence-transformers folders: modules.json, the config.json of each
 * module after the encoder, the settings of the Transformer module and those of the whole model.
 *
 * The modules form a pipeline: the Transformer, one Pooling, then linears (Dense) and a division by
 * the norm (Normalize). Dropout is skipped; anything else is an error. */
#include "huggingface.h"
#include "tokenizer.h"
#include "weights.h"

#include <string.h>
#include <unistd.h>

/* ---- modules.json --------------------------------------------------------------------------------------- */

/* Module types by their last word; the words before it differ between versions. */
static const char *const kinds[] = {
    [MODULE_TRANSFORMER] = "Transformer", [MODULE_POOLING] = "Pooling", [MODULE_DENSE] = "Dense", [MODULE_NORMALIZE] = "Normalize",
    [MODULE_DROPOUT] = "Dropout",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *last_word(const char *type)
{
    const char *point = strrchr(type, '.');
    return point ? point + 1 : type;
}

/* True if a path stays inside the folder, or is the folder itself. */
static bool is_inside(const char *path)
{
    if (*path == '/') return false;
    for (const char *s = path; s; s = strchr(s, '/'), s += s != NULL)
        if (!strncmp(s, "..", 2) && (!s[2] || s[2] == '/')) return false;
    return true;
}

static void take_module(const Config *item, const char *folder, Modules *out)
{
    const int errors = diag_errors(item->diag);
    const char *type = config_text(item, "type", NULL), *path = config_text(item, "path", "");
    Module *m = &out->module[out->count];
    int kind = 0;
    while (kind < KINDS && strcmp(last_word(type), kinds[kind])) kind++;
    if (diag_errors(item->diag) > errors) return;
    if (kind == KINDS || strncmp(type, "sentence_transformers.", 22))
        config_fault(item, "type", "the module \"%.100s\" is not supported, only Transformer, Pooling, Dense, Normalize and Dropout of "
                     "sentence_transformers", type);
    else if (!is_inside(path)) config_fault(item, "path", "\"%.100s\" is not a path inside this folder", path);
    if (diag_errors(item->diag) > errors) return;
    *m = (Module){ (ModuleKind)kind, *path ? file_join(item->arena, folder, path) : folder, config_place(item, "type") };
    if (kind != MODULE_DROPOUT) out->count++;       /* Dropout is used only in training */
}

/* Check the order: a Transformer; after it, nothing, or one Pooling, any number of Dense modules
 * and at most one Normalize. */
static void check_order(Diag *d, const char *path, const Modules *m)
{
    const int errors = diag_errors(d);
    if (!m->count || m->module[0].kind != MODULE_TRANSFORMER)
        diag_error(d, EXIT_BAD_DATA, m->count ? m->module[0].at : (Loc){ path, 0, 0 }, "the first module must be a Transformer");
    for (int i = 1; i < m->count && diag_errors(d) == errors; i++) {
        const ModuleKind kind = m->module[i].kind, before = m->module[i - 1].kind;
        const bool fits = kind == MODULE_POOLING ? before == MODULE_TRANSFORMER : before >= MODULE_POOLING && before <= kind;
        if (!fits || kind == MODULE_TRANSFORMER || (kind == before && kind != MODULE_DENSE))
            diag_error(d, EXIT_BAD_DATA, m->module[i].at, "a %s after a %s is not supported",
                       kinds[kind], kinds[before]);
    }
}

/* Set the modules of an old folder, which has no modules.json: a pooling after the Transformer, if
 * there is a folder 1_Pooling. */
static void imply(Arena *a, const char *folder, Modules *out)
{
    const char *pooling = file_join(a, folder, "1_Pooling");
    if (access(file_join(a, pooling, "config.json"), F_OK) != 0) return;
    out->module = arena_array(a, 2, sizeof *out->module);
    out->module[out->count++] = (Module){ .kind = MODULE_TRANSFORMER, .path = folder };
    out->module[out->count++] = (Module){ .kind = MODULE_POOLING, .path = pooling };
}

bool modules_read(Arena *a, Diag *d, const char *folder, Modules *out)
{
    Config list = { .arena = a, .diag = d, .path = file_join(a, folder, "modules.json") }, item;
    const int errors = diag_errors(d);
    int n;
    *out = (Modules){ .transformer = folder };
    if (access(list.path, F_OK) != 0) {
        imply(a, folder, out);
        return true;
    }
    if (!config_open_list(&list, &n)) return false;
    out->module = arena_array(a, (size_t)n + 1, sizeof *out->module);
    for (int i = 0; i < n; i++)
        if (config_item(&list, i, &item)) take_module(&item, folder, out);
    if (diag_errors(d) == errors) check_order(d, list.path, out);
    if (diag_errors(d) == errors) out->transformer = out->module[0].path;
    config_close(&list);
    return diag_errors(d) == errors;
}

/* ---- pooling -------------------------------------------------------------------------------------------- */

/* In the order in which the poolings of several switches are concatenated. key: the switch in the
 * module's config.json; mode: the name in its pooling_mode; word: that of the field pooling. */
static const struct { const char *key, *mode, *word; } poolings[] = {
    { "pooling_mode_cls_token", "cls", "cls" },
    { "pooling_mode_max_tokens", "max", "max" },
    { "pooling_mode_mean_tokens", "mean", "mean" },
    { "pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", "mean_sqrt" },
    { "pooling_mode_weightedmean_tokens", "weightedmean", "weightedmean" },
    { "pooling_mode_lasttoken", "lasttoken", "lasttoken" },
};
enum { POOLINGS = sizeof poolings / sizeof *poolings };

bool config_beside(const Config *c, const char *folder, const char *name, Config *out)
{
    *out = (Config){ .arena = c->arena, .diag = c->diag, .path = file_join(c->arena, folder, name), .family = c->family, .draft = c->draft };
    return access(out->path, F_OK) == 0 && config_open(out);
}

/* Open the config.json of a module; false after an error, such as a missing file. */
static bool open_needed(const Config *c, const Module *m, Config *out)
{
    const int errors = diag_errors(c->diag);
    if (config_beside(c, m->path, "config.json", out)) return true;
    if (diag_errors(c->diag) == errors) diag_error(c->diag, EXIT_NO_INPUT, m->at, "%s has no config.json", m->path);
    return false;
}

static double pooling_word(int i) { return field_word(&fields[FIELD_ID_pooling], poolings[i].word); }

/* pooling_mode is a name, or a list that gives the order of concatenation. */
static void take_modes(const Config *p)
{
    const bool list = config_is_list(p, "pooling_mode");
    const int n = list ? config_count(p, "pooling_mode") : 1;
    double parts[POOLINGS + 1];
    for (int i = 0; i < n && i <= POOLINGS; i++) {
        const char *mode = list ? config_text_at(p, "pooling_mode", i) : config_text(p, "pooling_mode", NULL);
        int k = 0;
        while (k < POOLINGS && strcmp(mode, poolings[k].mode)) k++;
        if (k == POOLINGS) {
            config_fault(p, "pooling_mode", "the pooling_mode \"%.100s\" is not supported", mode);
            return;
        }
        parts[i] = pooling_word(k);
    }
    if (n < 1 || n > POOLINGS) config_fault(p, "pooling_mode", "\"pooling_mode\" must list 1 to %d modes", (int)POOLINGS);
    else config_set_list(p, "pooling_mode", SIDE_BOTH, FIELD_ID_pooling, parts, n);
}

/* One switch per pooling; the default is the mean. */
static void take_switches(const Config *p)
{
    double parts[POOLINGS];
    int n = 0;
    for (int i = 0; i < POOLINGS; i++)
        if (config_bool(p, poolings[i].key, false)) parts[n++] = pooling_word(i);
    if (!n) parts[n++] = field_word(&fields[FIELD_ID_pooling], "mean");
    config_set_list(p, NULL, SIDE_BOTH, FIELD_ID_pooling, parts, n);
}

/* Report pooling_mode_* switches that are on but not known. */
static void note_strange_switches(const Config *p)
{
    int n;
    const char **keys = config_keys(p, &n);
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < POOLINGS && strcmp(keys[i], poolings[k].key)) k++;
        if (k == POOLINGS && !strncmp(keys[i], "pooling_mode_", 13) && config_bool(p, keys[i], false))
            config_fault(p, keys[i], "\"%s\" is not supported", keys[i]);
    }
}

static void take_pooling(const Config *c, const Module *m)
{
    Config p;
    if (!open_needed(c, m, &p)) return;
    note_strange_switches(&p);
    if (config_has(&p, "pooling_mode")) take_modes(&p);
    else take_switches(&p);
    config_close(&p);
}

/* ---- linears -------------------------------------------------------------------------------------------- */

/* Activations by the Python class that the file names; the first is the default. */
static const struct { const char *class, *word; } activations[] = {
    { "torch.nn.modules.activation.Tanh", "tanh" }, { "torch.nn.modules.linear.Identity", "none" },
    { "torch.nn.modules.activation.ReLU", "relu" }, { "torch.nn.modules.activation.GELU", "gelu" },
    { "torch.nn.modules.activation.SiLU", "silu" }, { "torch.nn.modules.activation.Sigmoid", "sigmoid" },
};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

/* One entry per linear, in order. */
typedef struct Linears { double *width, *active, *bias; FieldValue *weights; int count; } Linears;

static void take_dense(const Config *c, const Module *m, double in, Linears *l)
{
    static const char sentence[] = "sentence_embedding";
    Config p;
    if (!open_needed(c, m, &p)) return;
    const char *class = config_text(&p, "activation_function", activations[0].class), *from = config_text(&p, "module_input_name", sentence);
    int k = 0;
    while (k < ACTIVATIONS && strcmp(class, activations[k].class)) k++;
    if (k == ACTIVATIONS) config_fault(&p, "activation_function", "the activation_function \"%.100s\" is not supported", class);
    if (strcmp(from, sentence))
        config_fault(&p, "module_input_name", "a Dense that reads \"%.100s\" is not supported, "
                     "only one that reads \"%s\"", from, sentence);
    if (strcmp(config_text(&p, "module_output_name", sentence), sentence))
        config_fault(&p, "module_output_name", "a Dense that writes anything but \"%s\" is not "
                     "supported", sentence);
    if (config_bool(&p, "use_residual", false)) config_fault(&p, "use_residual", "a Dense with \"use_residual\" is not supported");
    const double given = (double)config_integer(&p, "in_features", CONFIG_REQUIRED);
    if (given < in || given > in)
        config_fault(&p, "in_features", "\"in_features\" is %.9g, but the input has width %.9g",
                     given, in);
    l->width[l->count] = (double)config_integer(&p, "out_features", CONFIG_REQUIRED);
    l->active[l->count] = k < ACTIVATIONS ? field_word(&fields[FIELD_ID_head_activation], activations[k].word) : 0;
    l->bias[l->count] = config_bool(&p, "bias", true);
    l->weights[l->count++] = (FieldValue){ .text = weights_file_of(c->arena, m->path) };
    config_close(&p);
}

static void take_linears(const Config *c, const Modules *m)
{
    const size_t n = (size_t)m->count;
    const int errors = diag_errors(c->diag);
    Arena *a = c->arena;
    Linears l = { arena_array(a, n, sizeof *l.width), arena_array(a, n, sizeof *l.active), arena_array(a, n, sizeof *l.bias),
                  arena_array(a, n, sizeof *l.weights), 0 };
    const Choice *pooling = draft_choice(c->draft, SIDE_BOTH, FIELD_ID_pooling);
    double in = config_get(c, SIDE_BOTH, FIELD_ID_d_model) * (pooling ? pooling->count : 1);
    Loc at = { c->path, 0, 0 };
    for (int i = 0; i < m->count && diag_errors(c->diag) == errors; i++) {
        if (m->module[i].kind != MODULE_DENSE) continue;
        at = m->module[i].at;
        take_dense(c, &m->module[i], in, &l);
        if (l.count) in = l.width[l.count - 1];
    }
    if (!l.count || diag_errors(c->diag) > errors) return;
    config_set_list(c, NULL, SIDE_BOTH, FIELD_ID_head_width, l.width, l.count);
    config_set_list(c, NULL, SIDE_BOTH, FIELD_ID_head_activation, l.active, l.count);
    config_set_list(c, NULL, SIDE_BOTH, FIELD_ID_head_bias, l.bias, l.count);
    draft_set(a, c->draft, SIDE_BOTH, FIELD_ID_head_weights, at, l.weights, l.count);
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

static void require_word(const Config *c, const char *key, const char *word)
{
    const char *shown = config_has(c, key) ? config_shown(c, key) : word;
    if (shown == word || !strcmp(shown, arena_format(c->arena, "\"%s\"", word))) return;
    config_fault(c, key, "\"%s%s\" = %s is not supported, only \"%s\"", c->within, key, shown,
                 word);
}

/* Check the arguments that the library passes to the model, its config and its tokenizer: those
 * that do not change the vectors are ignored, and others are errors. */
static void reject_arguments(const Config *s)
{
    static const char *const keys[] = { "model_args", "model_kwargs", "config_args", "config_kwargs", "tokenizer_args",
                                        "processor_kwargs", "processing_kwargs" };
    static const char harmless[] = "attn_implementation|torch_dtype|dtype|device_map|trust_remote_code|revision|token|cache_dir|"
                                   "local_files_only|use_safetensors|low_cpu_mem_usage|add_pooling_layer|use_fast";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        Config given;
        int n = 0;
        if (!config_has(s, keys[i]) || !config_object(s, keys[i], &given)) continue;
        const char **names = config_keys(&given, &n);
        for (int k = 0; k < n; k++)
            if (!config_is_one_of(names[k], harmless))
                config_fault(s, keys[i], "\"%s\" with \"%.60s\" is not supported", keys[i], names[k]);
    }
}

/* Report unsupported settings in the Transformer's own file: another task, another output, inputs
 * wrapped as chat messages. scores: the model is a cross-encoder. */
static void check_transformer(const Config *s, bool scores)
{
    Config inputs, text;
    reject_arguments(s);
    require_word(s, "transformer_task", scores ? "sequence-classification" : "feature-extraction");
    require_word(s, "module_output_name", scores ? "scores" : "token_embeddings");
    if (!config_has(s, "modality_config") || !config_object(s, "modality_config", &inputs)) return;
    if (config_has(&inputs, "message"))
        config_fault(&inputs, "message",
                     "\"%smessage\": wrapping texts as messages with the chat template is "
                     "not supported",
                     inputs.within);
    else if (!config_has(&inputs, "text"))
        config_fault(s, "modality_config", "\"modality_config\" has no \"text\"");
    else if (config_object(&inputs, "text", &text)) {
        require_word(&text, "method", "forward");
        require_word(&text, "method_output_name", scores ? "logits" : "last_hidden_state");
    }
}

/* Set the length to max_seq_length, at most that of a learned position table; true if the key gives
 * a length above 0. */
static bool take_length(const Config *c, const Modules *m)
{
    const char *path = tokenizer_sentence_file(c->arena, c->diag, m->transformer);
    Config s;
    if (!path || !config_beside(c, m->transformer, strrchr(path, '/') + 1, &s)) return false;
    const int64_t length = config_integer(&s, "max_seq_length", 0);
    const bool scores = draft_choice(c->draft, SIDE_BOTH, FIELD_ID_pairs) != NULL;
    if (m->count > 1 || scores) check_transformer(&s, scores);
    else reject_arguments(&s);
    const bool table = position_is_learned((int)config_get(c, SIDE_BOTH, FIELD_ID_position));
    if (length > 0 && (!table || (double)length < config_get(c, SIDE_BOTH, FIELD_ID_max_len)))
        config_set(&s, "max_seq_length", SIDE_BOTH, FIELD_ID_max_len, (double)length);
    config_close(&s);
    return length > 0;
}

/* True if a pooling excludes the rows of the prompt. */
static bool leaves_prompt_out(const Config *c, const Modules *m)
{
    bool leaves = false;
    for (int i = 0; i < m->count; i++) {
        Config p;
        if (m->module[i].kind != MODULE_POOLING || !open_needed(c, &m->module[i], &p)) continue;
        leaves |= !config_bool(&p, "include_prompt", true);
        config_close(&p);
    }
    return leaves;
}

/* Set the similarity function. An unknown name is ignored, as in the library, but with a remark. */
static void take_similarity(const Config *s)
{
    static const char key[] = "similarity_fn_name";
    const Field *f = &fields[FIELD_ID_similarity];
    const int word = field_word(f, config_text(s, key, "cosine"));
    if (word > 0) config_set(s, key, SIDE_BOTH, FIELD_ID_similarity, word);
    else if (word < 0)
        diag_remark(s->diag, config_place(s, key), "the similarity_fn_name %s is unknown, so texts are compared by cosine similarity",
                    config_shown(s, key));
}

/* Check the default prompt. The tokenizer adds it, and reads it from its own folder. */
static void check_prompt(const Config *c, const Config *s, const Modules *m)
{
    static const char key[] = "default_prompt_name";
    Config prompts;
    const char *name = config_text(s, key, "");
    const bool known = config_object(s, "prompts", &prompts) && config_has(&prompts, name);
    const bool speaks = *name && known && *config_text(&prompts, name, "");
    if (*name && !known) config_fault(s, key, "\"prompts\" has no \"%.100s\"", name);
    else if (speaks && leaves_prompt_out(c, m))
        config_fault(s, key, "a default prompt that the pooling excludes (\"include_prompt\" = false) is not supported");
    else if (speaks && strcmp(m->transformer, c->draft->path))
        config_fault(s, key, "a default prompt is not supported if the Transformer has its own folder");
}

/* Read config_sentence_transformers.json: prompt, similarity, truncation. */
static void take_settings(const Config *c, const Modules *m)
{
    Config s;
    if (!config_beside(c, c->draft->path, "config_sentence_transformers.json", &s)) return;
    check_prompt(c, &s, m);
    take_similarity(&s);
    const int64_t width = config_integer(&s, "truncate_dim", 0);
    if (width > 0) config_fault(&s, "truncate_dim", "truncating vectors to \"truncate_dim\" = %lld is not supported", (long long)width);
    config_close(&s);
}

bool config_modules_length(const Config *c, const Modules *m) { return m->count && take_length(c, m); }

bool config_modules(const Config *c, const Modules *m)
{
    const int errors = diag_errors(c->diag);
    for (int i = 0; i < m->count; i++) {
        if (m->module[i].kind == MODULE_POOLING) take_pooling(c, &m->module[i]);
        if (m->module[i].kind == MODULE_NORMALIZE) draft_set_number(c->arena, c->draft, SIDE_BOTH, FIELD_ID_normalize, m->module[i].at, 1);
    }
    if (diag_errors(c->diag) == errors) take_linears(c, m);
    take_settings(c, m);
    return take_length(c, m);
}
