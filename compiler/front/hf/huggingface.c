/* huggingface.c: read the config.json of a Hugging Face folder as a Draft, by the tables of its
 * family. Every key is accounted for: known keys without effect are skipped, unsupported ones are
 * errors, and unknown ones get a remark. */
#include "huggingface.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hf.h"
#include "integer.h"
#include "reserved_names.h"
#include "text.h"
#include "tokenizer.h"
#include "weights.h"

/* ---- keys ----------------------------------------------------------------------------------------------- */

static void require_value(const Config *c, const ConfigKey *k)
{
    if (!config_has(c, k->key)) return;
    const char *shown = config_shown(c, k->key);
    if (config_is_one_of(shown, k->words)) return;
    config_fault(c, k->key, "\"%s%.*s\" = %s is not supported, only %s", c->within, (int)strcspn(k->key, "|"), k->key, shown, k->words);
}

/* A key that is present under both of its names must have the same value under each. */
static void refuse_two_values(const Config *c, const ConfigKey *k)
{
    const int n = (int)strcspn(k->key, "|");
    const char *key = arena_format(c->arena, "%.*s", n, k->key);
    if (!config_has(c, key) || !config_has(c, k->words)) return;
    const char *one = config_shown(c, key), *other = config_shown(c, k->words);
    if (strcmp(one, other))
        config_fault(c, k->words, "\"%s%s\" = %s contradicts its alias \"%s\" = %s",
                     c->within, k->words, other, key, one);
}

static void take_value(const Config *c, const ConfigKey *k)
{
    const Field *f = &fields[k->field];
    if (k->words && k->field != FIELD_ID_activation) refuse_two_values(c, k);
    const bool there = config_has(c, k->key);
    if (k->field == FIELD_ID_max_len) {
        const int64_t most = (int64_t)f->most, length = config_integer(c, k->key, k->preset);
        if (there || k->preset != CONFIG_REQUIRED) config_set_length(c, k->key, length < most ? length : most);
    } else if (k->field == FIELD_ID_activation) {
        config_set_activation(c, k->key, k->side, config_text(c, k->key, k->words));
    } else if (f->type == TYPE_BOOL) {
        const bool yes = config_bool(c, k->key, k->preset != 0);
        config_set(c, there ? k->key : NULL, k->side, k->field, k->use == KEY_FLAG_NOT ? !yes : yes);
    } else {
        const int errors = diag_errors(c->diag);
        const bool null = k->field == FIELD_ID_kv_heads && config_is_null(c, k->key);
        if (!there && (k->preset == CONFIG_UNSET || null)) return;
        const double x = f->type == TYPE_INT ? (double)config_integer(c, k->key, k->preset) : config_number(c, k->key, k->preset);
        if (diag_errors(c->diag) == errors) config_set(c, there ? k->key : NULL, k->side, k->field, x);
    }
}

static void note_value(const Config *c, const ConfigKey *k)
{
    if (!config_has(c, k->key)) return;
    const char *shown = config_shown(c, k->key);
    if (!config_is_one_of(shown, k->words))
        diag_remark(c->diag, config_place(c, k->key),
                    "\"%s%s\" = %s has no effect on a model of this type", c->within, k->key,
                    shown);
}

static void take_key(const Config *c, const ConfigKey *k)
{
    switch (k->use) {
    case KEY_FIELD: case KEY_FLAG_NOT: take_value(c, k); break;
    case KEY_MUST: require_value(c, k); break;
    case KEY_NOTED: note_value(c, k); break;
    case KEY_READ: case KEY_IGNORED: break;
    }
}

/* Apply the family's rows, then those that it inherits from `like` and does not override. */
static void take_keys(const Config *c)
{
    for (const Family *f = c->family; f; f = f->like)
        for (const ConfigKey *k = f->keys; k && k->key; k++)
            if (family_key(c->family, k->key) == k) take_key(c, k);
}

static void take_more(const Config *c)
{
    const Family *f = c->family;
    while (f && !f->more) f = f->like;
    if (f) f->more(c);
}

/* Keys that no table needs to list: those without effect on the computation in any family, and
 * those that other code reads for all families, such as tie_word_embeddings and the keys of
 * generation. */
static const char *const idle_keys =
    "_name_or_path|architectures|auto_map|model_type|transformers_version|torch_dtype|dtype|use_cache|initializer_range|initializer_factor|init_std|"
    "id2label|label2id|num_labels|_num_labels|problem_type|finetuning_task|task_specific_params|return_dict|return_dict_in_generate|"
    "output_attentions|output_hidden_states|torchscript|pruned_heads|use_bfloat16|tf_legacy_loss|tokenizer_class|prefix|"
    "bos_token_id|eos_token_id|pad_token_id|sep_token_id|decoder_start_token_id|mask_token_id|cls_token_id|unk_token_id|"
    "attention_dropout|hidden_dropout|hidden_dropout_prob|attention_probs_dropout_prob|attn_pdrop|embd_pdrop|resid_pdrop|"
    "classifier_dropout|dropout|activation_dropout|dropout_rate|embd_dropout|seq_classif_dropout|qa_dropout|classif_dropout|layerdrop|"
    "encoder_layerdrop|decoder_layerdrop|pretraining_tp|gradient_checkpointing|tie_word_embeddings|chunk_size_feed_forward|"
    "min_length|max_length|do_sample|early_stopping|num_beams|num_beam_groups|diversity_penalty|temperature|top_k|top_p|typical_p|"
    "repetition_penalty|length_penalty|no_repeat_ngram_size|encoder_no_repeat_ngram_size|bad_words_ids|num_return_sequences|"
    "output_scores|forced_bos_token_id|forced_eos_token_id|remove_invalid_values|exponential_decay_length_penalty|suppress_tokens|"
    "begin_suppress_tokens|unsloth_version|unsloth_fixed|_attn_implementation_autoset|attn_implementation|cache_implementation|"
    "summary_type|summary_use_proj|summary_activation|summary_proj_to_labels|summary_first_dropout|summary_last_dropout|sentence_transformers|"
    "sbert_ce_default_activation_function|is_causal";

/* Check the types of the keys in config_types.def that the family has or that all families have. */
static void check_types(const Config *c)
{
    static const struct { const char *key, *types; } rows[] = {
#define TYPED(key, types) { key, types },
#include "config_types.def"
#undef TYPED
    };
    static const struct { char letter; const char *words; } names[] = {
        { 'i', "a whole number" }, { 'r', "a number" }, { 'b', "true or false" },
        { 't', "a string" },       { 'l', "a list" },   { 'o', "an object" },
        { 'z', "null" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *key = rows[i].key, *types = rows[i].types;
        const char type = config_type(c, key);
        if (!type || strchr(types, type)) continue;
        if (!family_key(c->family, key) && !config_is_one_of(key, idle_keys)) continue;
        const char *words[sizeof names / sizeof *names];
        int n = 0;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strchr(types, names[k].letter) && !(names[k].letter == 'i' && strchr(types, 'r'))) words[n++] = names[k].words;
        Text t = text_new(c->arena);
        for (int k = 0; k < n; k++) text_printf(&t, "%s%s", !k ? "" : k == n - 1 ? " or " : ", ", words[k]);
        config_fault(c, key, "\"%s%s\" must be %s, found %s", c->within, key, t.data,
                     config_shown(c, key));
    }
}

/* Keys for packed weights and for adapters; not supported in any family. */
static const char *const refused_keys = "quantization_config|adapter_config|adapters|lora_rank|compression_config";

/* Report packed weights, with the method that packed them if the config gives it. */
static void refuse_quantization(const Config *c, const char *key)
{
    Config packed;
    const char *method = config_is_object(c, key) && config_object(c, key, &packed)
                             ? config_text(&packed, "quant_method", "")
                             : "";
    config_fault(c, key, "weights quantized by another library (\"%s\"%s%s) are not supported: use "
                 "the unquantized model or a GGUF file", key, *method ? ": " : "", method);
}

static void refuse_keys(const Config *c)
{
    int n;
    const char **keys = config_keys(c, &n);
    for (int i = 0; i < n; i++) {
        if (!config_is_one_of(keys[i], refused_keys) || !config_has(c, keys[i])) continue;
        if (!strcmp(keys[i], "quantization_config")) refuse_quantization(c, keys[i]);
        else config_fault(c, keys[i], "\"%s\" is not supported", keys[i]);
    }
}

static void note_keys(const Config *c)
{
    enum { SHOWN = 8 };
    int all, n = 0;
    Text t = text_new(c->arena);
    const char **keys = config_keys(c, &all);
    for (int i = 0; i < all; i++) {
        const char *key = keys[i];
        if (config_is_one_of(key, refused_keys)) continue;
        if (!config_is_one_of(key, idle_keys) && !family_key(c->family, key) && config_has(c, key) && n++ < SHOWN)
            text_printf(&t, "%s\"%s%s\"", n > 1 ? ", " : "", c->within, key);
    }
    if (!n || diag_errors(c->diag)) return;
    diag_remark(c->diag, (Loc){ c->path, 0, 0 }, "%d key%s unknown and ignored: %s%s", n,
                n == 1 ? " is" : "s are", t.data, n > SHOWN ? ", …" : "");
}

/* ---- what all families share ---------------------------------------------------------------------------- */

/* For a nested config the outer value wins: the output layer belongs to the whole model. */
static void take_tying(const Config *c, const Config *outer)
{
    static const char key[] = "tie_word_embeddings";
    const Config *says = config_has(outer, key) ? outer : c;
    if (config_kind(c) == KIND_ENCODER) return;
    const bool tied = config_bool(says, key, c->family->tied);
    config_set(says, config_has(says, key) ? key : NULL, SIDE_BOTH, FIELD_ID_tied,
               tied || c->family->tied_always);
}

/* ---- names ---------------------------------------------------------------------------------------------- */

/* The folder's name. For a folder in the hub's cache, models--org--NAME/snapshots/REVISION, it is
 * NAME. */
static const char *folder_name(Arena *a, const char *folder)
{
    char *real = realpath(folder, NULL);
    char *path = arena_text(a, real ? real : folder), *slash = strrchr(path, '/');
    free(real);
    const char *name = slash ? slash + 1 : path;
    if (!slash) return name;
    *slash = '\0';
    char *above = strrchr(path, '/');
    if (!above || strcmp(above + 1, "snapshots")) return name;
    *above = '\0';
    const char *model = strrchr(path, '/');
    for (const char *s = model; s && (s = strstr(s, "--")); s += 2) model = s + 1;
    return model ? model + 1 : name;
}

const char *model_name_of(Arena *a, const char *text)
{
    char *name = arena_format(a, "%s%.50s", isdigit((unsigned char)*text) ? "model_" : "", text);
    for (char *s = name; *s; s++)
        if (!isalnum((unsigned char)*s) || (unsigned char)*s >= 0x80) *s = '_';
    if (!*name) return "model";
    if (name_is_reserved(name)) name = arena_format(a, "%s_model", name);
    return name_is_reserved(name) ? arena_format(a, "model_%s", name) : name;
}

const char *model_name_of_file(Arena *a, const char *base)
{
    const char *end = strrchr(base, '.');
    return model_name_of(a, end && end > base ? arena_copy(a, base, (size_t)(end - base)) : base);
}

static const char *without_slash(Arena *a, const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    return arena_copy(a, path, n);
}

/* ---- the folder ----------------------------------------------------------------------------------------- */

/* True if a config.json can name the family; those without keys are read from other formats. */
static bool has_keys(const Family *f) { return f && (f->keys || has_keys(f->like)); }

/* The feature that a well-known, unsupported model_type needs; NULL for other types. */
static const char *missing_of(const char *type)
{
    static const struct { const char *what, *types; } missing[] = {
#define MISSING(what, types) { what, types },
#include "families_missing.def"
#undef MISSING
    };
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (config_is_one_of(type, missing[i].types)) return missing[i].what;
    return NULL;
}

/* True if two names have the same digits: a different version is a different model, not a typo. */
static bool same_digits(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strcspn(a, "0123456789");
        b += strcspn(b, "0123456789");
        if (*a != *b || !*a) return *a == *b;
    }
}

/* The family name that a misspelt one probably means, within two edits; NULL if there is none. */
static const char *meant(Arena *a, const char *type)
{
    enum { MOST_SLIPS = 2 };
    const Field *names = &fields[FIELD_ID_names];
    const char **known = arena_array(a, (size_t)names->word_count, sizeof *known);
    int n = 0;
    for (int i = 1; i < names->word_count; i++)
        if (has_keys(family_of_word(i)) && same_digits(names->words[i], type))
            known[n++] = names->words[i];
    const char *near = diag_nearest(type, known, n);
    return near && diag_distance(near, type) <= MOST_SLIPS ? near : NULL;
}

static void refuse_type(const Config *c, const char *type)
{
    const char *what = missing_of(type), *near = what ? NULL : meant(c->arena, type);
    if (what)
        config_fault(c, "model_type", "the model_type \"%s\" is not supported: it needs %s", type,
                     what);
    else config_fault(c, "model_type", "the model_type \"%s\" is not supported", type);
    if (near) diag_note(c->diag, config_place(c, "model_type"), "did you mean \"%s\"?", near);
    diag_note(c->diag, (Loc){ 0 }, "'xformc info --families' lists the supported model types");
}

/* Find the family of a config by its model_type; false after an error. */
static bool find_family(Config *c)
{
    const Field *names = &fields[FIELD_ID_names];
    const char *type = config_text(c, "model_type", NULL);
    const int word = field_word(names, type);
    if (word > 0 && has_keys(family_of_word(word))) {
        c->family = family_of_word(word);
        family_apply(c->arena, c->draft, word);
        return true;
    }
    if (*type) refuse_type(c, type);
    return false;
}

/* Set an encoder's length to the model_max_length of tokenizer_config.json, if given. Only with
 * relative positions may it be longer than the model's. */
static void take_text_length(const Config *c, const char *folder)
{
    Config t = { .arena = c->arena, .diag = c->diag, .path = file_join(c->arena, folder, "tokenizer_config.json"), .draft = c->draft };
    if (access(t.path, F_OK) != 0 || !config_open(&t)) return;
    const double length = config_number(&t, "model_max_length", 0);
    const double most = config_get(c, SIDE_BOTH, FIELD_ID_max_len);
    const bool endless = (int)config_get(c, SIDE_BOTH, FIELD_ID_position) == POSITIONS_RELATIVE
        && length <= fields[FIELD_ID_max_len].most;
    if (length >= 1 && (length < most || endless))
        config_set(&t, "model_max_length", SIDE_BOTH, FIELD_ID_max_len, floor(length));
    config_close(&t);
}

/* Read a model with sentence-transformers modules as an encoder: a decoder becomes an encoder with
 * causal attention, and of an encoder-decoder only the encoder is used. False after an error. */
static bool read_as_encoder(const Config *c)
{
    const ModelKind kind = c->family->kind;
    if (kind == KIND_ENCODER_DECODER && !c->family->encoder_alone) {
        config_fault(c, "model_type", "sentence-transformers modules are not supported with model_type \"%s\"",
                     config_text(c, "model_type", ""));
        return false;
    }
    config_set(c, NULL, SIDE_BOTH, FIELD_ID_kind, KIND_ENCODER);
    if (kind == KIND_DECODER) config_set(c, NULL, SIDE_BOTH, FIELD_ID_causal, 1);
    return true;
}

/* is_causal = false makes attention bidirectional, which is supported for decoders that are
 * sentence models. Encoders ignore the key. */
static void take_causal(const Config *c)
{
    const bool alone = config_kind(c) == KIND_ENCODER;
    const bool decodes = c->family->kind == KIND_DECODER || !alone;
    if (!decodes || config_bool(c, "is_causal", true)) return;
    if (alone) config_both_ways(c, "is_causal", false);
    else if (c->family->kind == KIND_DECODER)
        config_fault(c, "is_causal", "\"is_causal\" = false is supported only with "
                     "sentence-transformers modules");
    else config_fault(c, "is_causal", "\"is_causal\" = false is not supported, only true");
}

/* Report a decoder that projects its hidden states to another width after the last norm. True if it
 * reported one. */
static bool refuse_projection(const Config *c)
{
    const bool narrow = draft_choice(c->draft, SIDE_BOTH, FIELD_ID_embed_width) != NULL;
    const int place = (int)config_get(c, SIDE_BOTH, FIELD_ID_embed_project);
    if (!narrow || place != PROJECTIONS_FIRST) return false;
    config_fault(c, "word_embed_proj_dim", "a sentence model whose hidden states and layers differ "
                 "in width is not supported");
    return true;
}

/* Read what follows an encoder: its sentence-transformers modules, else the head of its
 * architecture. */
static void read_encoder(const Config *c, const char *folder, const Modules *modules)
{
    bool limited = false;
    if (refuse_projection(c)) return;
    if (modules->count > 1) limited = config_modules(c, modules);
    else {
        config_head(c, folder);
        limited = config_modules_length(c, modules);
    }
    if (!limited) take_text_length(c, folder);
}

/* outer: the whole file; it is c if nothing is nested. */
static void read_keys(Config *c, const Config *outer, const char *folder, const Modules *modules)
{
    const int errors = diag_errors(c->diag);
    check_types(outer);
    if (c != outer) check_types(c);
    if (diag_errors(c->diag) > errors) return;
    take_keys(c);
    config_take_generation(c, outer, folder);
    take_tying(c, outer);
    if (!diag_errors(c->diag)) take_more(c);
    if (!diag_errors(c->diag)) take_causal(c);
    if (!diag_errors(c->diag) && config_kind(c) == KIND_ENCODER) read_encoder(c, folder, modules);
    else if (!diag_errors(c->diag)) config_head(c, folder);
    refuse_keys(outer);
    if (c != outer) refuse_keys(c);
    note_keys(c);
}

static void read_config(Config *c, const char *folder, const Modules *modules)
{
    Config inner;
    if (!find_family(c) || (modules->count > 1 && !read_as_encoder(c))) return;
    if (!c->family->nested) read_keys(c, c, folder, modules);
    else if (config_object(c, c->family->nested, &inner)) read_keys(&inner, c, folder, modules);
    else config_fault(c, NULL, "the key \"%s\" is missing", c->family->nested);
}

/* Report a folder with a PEFT adapter, which changes the weights. True if it reported one. */
static bool refuse_adapter(Arena *a, Diag *d, const char *folder)
{
    static const char *const names[] = { "adapter_model.safetensors", "adapter_model.bin" };
    const char *config = file_join(a, folder, "adapter_config.json");
    if (access(config, F_OK) != 0) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (access(file_join(a, folder, names[i]), F_OK) != 0) continue;
        diag_error(d, EXIT_BAD_DATA, (Loc){ config, 0, 0 },
                   "adapters are not supported: merge %s into its base model and pass the "
                   "merged model's folder",
                   names[i]);
        return true;
    }
    return false;
}

Draft *draft_from_folder(Arena *a, Diag *d, const char *path)
{
    Draft *draft = arena_alloc(a, sizeof *draft);
    const char *whole = without_slash(a, path);
    const int errors = diag_errors(d);
    Modules modules;
    if (!modules_read(a, d, whole, &modules)) return NULL;
    const char *folder = modules.transformer;
    Config c = { .arena = a, .diag = d, .path = file_join(a, folder, "config.json"), .draft = draft };
    draft->path = draft->folder = whole;
    draft->at = (Loc){ c.path, 0, 0 };
    if (refuse_adapter(a, d, folder)) return NULL;
    if (access(c.path, F_OK) != 0) {
        diag_error(d, EXIT_NO_INPUT, (Loc){ 0 }, "%s has no config.json, so it is not a model folder", folder);
        return NULL;
    }
    if (!config_open(&c)) return NULL;
    draft_set_text(a, draft, FIELD_ID_name, draft->at, model_name_of(a, folder_name(a, whole)));
    draft_set_text(a, draft, FIELD_ID_weights, draft->at, weights_file_of(a, folder));
    if (tokenizers_in_folder(a, folder))
        diag_remark(d, (Loc){ folder, 0, 0 }, "text input is not supported with two vocabularies, "
                    "vocab.json and target_vocab.json: use token ids");
    else if (tokenizer_in_folder(a, folder)) draft_set_text(a, draft, FIELD_ID_tokenizer_file, draft->at, folder);
    read_config(&c, folder, &modules);
    config_close(&c);
    return diag_errors(d) > errors ? NULL : draft;
}
