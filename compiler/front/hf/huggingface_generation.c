/* huggingface_generation.c: read the generation settings from generation_config.json, or from the
 * same keys of an old config.json. Unsupported keys that change the output are errors, unless their
 * value has no effect. */
#include "huggingface.h"
#include "integer.h"

#include <string.h>
#include <sys/stat.h>

#include "text.h"

/* ---- keys ----------------------------------------------------------------------------------------------- */

static const struct { const char *key; FieldId field; } read_keys[] = {
#define READ_KEY(name) { #name, FIELD_ID_generation_##name }
    READ_KEY(do_sample), READ_KEY(temperature), READ_KEY(top_k), READ_KEY(top_p), READ_KEY(min_p), READ_KEY(typical_p),
    READ_KEY(repetition_penalty), READ_KEY(no_repeat_ngram_size), READ_KEY(bad_words_ids), READ_KEY(min_length), READ_KEY(min_new_tokens),
    READ_KEY(max_length), READ_KEY(max_new_tokens), READ_KEY(forced_bos_token_id), READ_KEY(forced_eos_token_id), READ_KEY(suppress_tokens),
    READ_KEY(begin_suppress_tokens), READ_KEY(num_beams), READ_KEY(length_penalty), READ_KEY(early_stopping), READ_KEY(stop_strings),
#undef READ_KEY
};

/* Unsupported keys that change the output, each with the values that do not change it, as JSON
 * separated by |. */
static const struct { const char *key, *words; } refused_keys[] = {
    { "num_beam_groups", "1" }, { "diversity_penalty", "0|0.0" }, { "encoder_no_repeat_ngram_size", "0" },
    { "encoder_repetition_penalty", "1|1.0" }, { "epsilon_cutoff", "0|0.0" }, { "eta_cutoff", "0|0.0" }, { "top_h", "1|1.0" },
    { "penalty_alpha", "0|0.0" }, { "guidance_scale", "1|1.0" }, { "constraints", "[]" }, { "force_words_ids", "[]" },
    { "sequence_bias", "{}|[]" }, { "exponential_decay_length_penalty", "" }, { "renormalize_logits", "false" },
    { "forced_decoder_ids", "[]" }, { "dola_layers", "" }, { "token_healing", "false" },
    { "watermarking_config", "" }, { "max_time", "" },
};

/* Keys that concern speed, results other than the ids, or the file itself, and the ids of
 * special tokens, which are read elsewhere if they have an effect. */
static const char *const idle_keys =
    "_from_model_config|transformers_version|bos_token_id|eos_token_id|pad_token_id|decoder_start_token_id|sep_token_id|use_cache|low_memory|"
    "cache_implementation|cache_config|return_legacy_cache|prefill_chunk_size|num_return_sequences|output_attentions|output_hidden_states|"
    "output_scores|output_logits|return_dict_in_generate|remove_invalid_values|is_assistant|num_assistant_tokens|num_assistant_tokens_schedule|"
    "assistant_confidence_threshold|assistant_early_exit|assistant_lookbehind|target_lookbehind|prompt_lookup_num_tokens|max_matching_ngram_size|"
    "speculative_decoding|use_model_defaults|trust_remote_code|disable_compile|compile_config|continuous_batching_config|do_sample_default|"
    "generation_kwargs|_commit_hash|custom_generate";

static bool is_among(const char *key, const char *keys)
{
    const size_t n = strlen(key);
    for (const char *k = keys; *k; k += strcspn(k, "|"), k += *k == '|')
        if (strcspn(k, "|") == n && !memcmp(k, key, n)) return true;
    return false;
}

static bool is_read(const char *key)
{
    for (size_t i = 0; i < sizeof read_keys / sizeof *read_keys; i++)
        if (!strcmp(read_keys[i].key, key)) return true;
    return false;
}

/* ---- values --------------------------------------------------------------------------------------------- */

/* False after an error: a number is not an id. */
static bool are_ids(const Config *c, const char *key, FieldId id, const double *numbers, int n)
{
    for (int i = 0; i < n; i++) {
        if (numbers[i] >= 0 && numbers[i] <= fields[id].most && numbers[i] == (double)(int64_t)numbers[i]) continue;
        config_fault(c, key, "\"%s\" lists %.9g; an id must be a whole number from 0 to %.9g", key, numbers[i], fields[id].most);
        return false;
    }
    return true;
}

static void set_list(const Config *c, const char *key, FieldId id, double *numbers, int n)
{
    Numbers *list = arena_alloc(c->arena, sizeof *list);
    *list = (Numbers){ n, numbers };
    const FieldValue v = { .list = list };
    draft_set(c->arena, c->draft, SIDE_BOTH, id, config_place(c, key), &v, 1);
}

/* An empty list sets nothing. */
static void take_ids(const Config *c, const char *key, FieldId id)
{
    const int errors = diag_errors(c->diag), n = config_count(c, key);
    double *numbers = arena_array(c->arena, n > 0 ? (size_t)n : 1, sizeof *numbers);
    for (int i = 0; i < n; i++) numbers[i] = config_number_at(c, key, i);
    if (n > 0 && diag_errors(c->diag) == errors && are_ids(c, key, id, numbers, n)) set_list(c, key, id, numbers, n);
}

/* Store each sequence, preceded by its length. */
static void take_sequences(const Config *c, const char *key, FieldId id)
{
    const int n = config_count(c, key);
    int used = 0, room = 0;
    double *all = NULL, *one;
    for (int i = 0; i < n; i++) {
        const int count = config_list_at(c, key, i, &one);
        if (!count) config_fault(c, key, "\"%s[%d]\" is empty", key, i);
        if (count < 1 || !are_ids(c, key, id, one, count)) return;
        if (used + count + 1 > room) {
            double *more = arena_array(c->arena, (size_t)(room = 2 * (used + count + 1)), sizeof *more);
            if (used) memcpy(more, all, (size_t)used * sizeof *more);
            all = more;
        }
        all[used++] = count;
        memcpy(all + used, one, (size_t)count * sizeof *one);
        used += count;
    }
    if (used) set_list(c, key, id, all, used);
}

/* The value is one of the field's words, as a string, or true or false if these are among the
 * words. */
static void take_word(const Config *c, const char *key, FieldId id)
{
    const char *shown = config_shown(c, key);
    const size_t n = strlen(shown);
    const char *word = *shown == '"' && n > 1 ? arena_copy(c->arena, shown + 1, n - 2) : shown;
    const int at = field_word(&fields[id], word);
    if (at >= 0) config_set(c, key, SIDE_BOTH, id, at);
    else config_fault(c, key, "\"%s\" = %s is not supported, only true, false or \"never\"", key, shown);
}

/* A forced id may be in a list of one. */
static void take_number(const Config *c, const char *key, FieldId id)
{
    const int errors = diag_errors(c->diag);
    const bool forced = id == FIELD_ID_generation_forced_bos_token_id || id == FIELD_ID_generation_forced_eos_token_id;
    const bool list = forced && config_is_list(c, key), whole = fields[id].type == TYPE_INT;
    if (list && config_count(c, key) != 1) {
        config_fault(c, key, "\"%s\" = %s is not supported, only one id", key, config_shown(c, key));
        return;
    }
    const double x = list ? config_number_at(c, key, 0) : whole ? (double)config_integer(c, key, 0) : config_number(c, key, 0);
    if (diag_errors(c->diag) == errors) config_set(c, key, SIDE_BOTH, id, x);
}

/* A string or a list of strings; an empty list sets nothing. */
static void take_texts(const Config *c, const char *key, FieldId id)
{
    const int errors = diag_errors(c->diag);
    const bool list = config_is_list(c, key);
    const int n = list ? config_count(c, key) : 1;
    FieldValue *texts = arena_array(c->arena, n > 0 ? (size_t)n : 1, sizeof *texts);
    for (int i = 0; i < n; i++) {
        texts[i] = (FieldValue){ .text = list ? config_text_at(c, key, i) : config_text(c, key, NULL) };
        if (diag_errors(c->diag) == errors && !*texts[i].text) config_fault(c, key, "\"%s\" contains an empty string", key);
    }
    if (n > 0 && diag_errors(c->diag) == errors) draft_set(c->arena, c->draft, SIDE_BOTH, id, config_place(c, key), texts, n);
}

static void take_key(const Config *c, const char *key, FieldId id)
{
    if (!config_has(c, key)) return;
    switch (fields[id].type) {
    case TYPE_BOOL: config_set(c, key, SIDE_BOTH, id, config_bool(c, key, false)); break;
    case TYPE_IDS: take_ids(c, key, id); break;
    case TYPE_SEQUENCES: take_sequences(c, key, id); break;
    case TYPE_WORD: take_word(c, key, id); break;
    case TYPE_TEXT: take_texts(c, key, id); break;
    default: take_number(c, key, id); break;
    }
}

static void refuse_keys(const Config *c)
{
    for (size_t i = 0; i < sizeof refused_keys / sizeof *refused_keys; i++) {
        const char *key = refused_keys[i].key;
        if (!config_has(c, key) || is_among(config_shown(c, key), refused_keys[i].words)) continue;
        config_fault(c, key, "\"%s\" = %s is not supported: it changes what is generated", key, config_shown(c, key));
    }
}

static void note_keys(const Config *c)
{
    int all, n = 0;
    Text t = text_new(c->arena);
    const char **keys = config_keys(c, &all);
    for (int i = 0; i < all; i++) {
        bool known = is_read(keys[i]) || is_among(keys[i], idle_keys);
        for (size_t k = 0; k < sizeof refused_keys / sizeof *refused_keys; k++) known |= !strcmp(refused_keys[k].key, keys[i]);
        if (!known && config_has(c, keys[i])) text_printf(&t, "%s\"%s\"", n++ ? ", " : "", keys[i]);
    }
    if (n)
        diag_remark(c->diag, (Loc){ c->path, 0, 0 }, "%d key%s unknown and ignored: %s", n,
                    n == 1 ? " is" : "s are", t.data);
}

/* ---- which file is used --------------------------------------------------------------------------------- */

static void take_settings(const Config *c)
{
    /* only checks its type: a single sequence is never padded */
    (void)config_integer(c, "pad_token_id", 0);
    for (size_t i = 0; i < sizeof read_keys / sizeof *read_keys; i++) take_key(c, read_keys[i].key, read_keys[i].field);
    if (!config_has(c, "do_sample") && config_has(c, "temperature")) config_set(c, NULL, SIDE_BOTH, FIELD_ID_generation_do_sample, 0);
    refuse_keys(c);
}

/* The first id of a list, or the single id; -1 if there is none. */
static int64_t first_id(const Config *c, const char *key)
{
    if (!config_has(c, key)) return -1;
    if (!config_is_list(c, key)) return config_integer(c, key, -1);
    return config_count(c, key) > 0 ? integer_of(config_number_at(c, key, 0)) : -1;
}

/* Set the end ids after the first of a list. */
static void take_more_ends(const Config *c)
{
    static const char key[] = "eos_token_id";
    const int errors = diag_errors(c->diag), n = config_is_list(c, key) ? config_count(c, key) : 0;
    if (n < 2) return;
    double *ids = arena_array(c->arena, (size_t)n - 1, sizeof *ids);
    for (int i = 1; i < n && diag_errors(c->diag) == errors; i++) {
        const FieldValue v = { .real = ids[i - 1] = config_number_at(c, key, i) };
        field_check(c->diag, config_place(c, key), &fields[FIELD_ID_end_ids], "\"eos_token_id\"", arena_format(c->arena, "%.9g", v.real), &v);
    }
    draft_set_numbers(c->arena, c->draft, SIDE_BOTH, FIELD_ID_end_ids, config_place(c, key), ids, n - 1);
}

/* The first config that has the key, else the last one. */
static const Config *who_says(const Config *const says[3], const char *key)
{
    for (int i = 0; i < 2; i++)
        if (says[i] && config_has(says[i], key)) return says[i];
    return says[2];
}

/* Start and end ids may be in both files: generation_config.json wins, then the outer
 * config.json. */
static void take_marks(const Config *c, const Config *outer, const Config *generation)
{
    const Config *const says[3] = { generation, outer, c }, *ends = who_says(says, "eos_token_id");
    const char *begin = config_kind(c) == KIND_ENCODER_DECODER ? "decoder_start_token_id|bos_token_id" : "bos_token_id";
    const Config *starts = who_says(says, begin);
    const int64_t start = first_id(starts, begin);
    config_set(ends, config_has(ends, "eos_token_id") ? "eos_token_id" : NULL, SIDE_BOTH, FIELD_ID_end_id, (double)first_id(ends, "eos_token_id"));
    if (config_kind(c) != KIND_ENCODER) take_more_ends(ends);
    if (start < 0 && config_kind(c) == KIND_ENCODER_DECODER && config_has(starts, begin))
        config_fault(starts, begin, "\"%s\" is %lld, not a token id",
                     config_has(starts, "decoder_start_token_id") ? "decoder_start_token_id"
                                                                  : "bos_token_id",
                     (long long)start);
    if (start >= 0) config_set(starts, begin, SIDE_BOTH, FIELD_ID_start_id, (double)start);
}

void config_take_generation(const Config *c, const Config *outer, const char *folder)
{
    Config g = { .arena = c->arena, .diag = c->diag, .family = c->family, .draft = c->draft };
    g.path = file_join(c->arena, folder, "generation_config.json");
    struct stat link;
    /* lstat: a dangling link is an error, not an absent file */
    const bool there = lstat(g.path, &link) == 0;
    if (there && !config_open(&g)) return;
    take_marks(c, outer, there ? &g : NULL);
    if (config_kind(c) != KIND_ENCODER) take_settings(there ? &g : c);
    if (config_kind(c) != KIND_ENCODER && !there && outer != c) take_settings(outer);
    if (there && config_kind(c) != KIND_ENCODER) note_keys(&g);
    if (there) config_close(&g);
}
