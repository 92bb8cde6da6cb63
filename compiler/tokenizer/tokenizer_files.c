/* tokenizer_files.c: find the files and the format of a tokenizer, for a file by its content and
 * name, for a folder by the names in it, and call the importer. Also list the formats, and find the
 * mask token of a folder. */
#include <string.h>

#include "file.h"
#include "gguf.h"
#include "tokenizer_build.h"

enum { MAX_BYTES = 1 << 30 };

typedef struct Contents { const char *path, *data; size_t size; } Contents;

static bool load(TokBuild *b, Loc at, const char *path, Contents *c)
{
    *c = (Contents){ .path = path };
    diag_conceal(b->diag, path);
    c->data = file_read(b->arena, b->diag, at, path, MAX_BYTES, &c->size);
    b->file = path;
    return c->data;
}

/* ---- one file ------------------------------------------------------------------------------------------------------- */

/* A SentencePiece model begins with a piece: field 1, whose message begins with field 1. */
static bool looks_like_protobuf(const Contents *c)
{
    const unsigned char *s = (const unsigned char *)c->data;
    return c->size > 4 && s[0] == 0x0A && (s[2] == 0x0A || (s[1] >= 0x80 && s[3] == 0x0A));
}

/* A llama2.c tokenizer begins with the length of the longest piece (u32), followed by the score
 * (f32) and the length (i32) of the first piece. Both lengths are below 65536. */
static bool looks_like_llama2c(const Contents *c)
{
    const unsigned char *s = (const unsigned char *)c->data;
    return c->size > 12 && !s[2] && !s[3] && !s[10] && !s[11] && s[0];
}

static char first_character(const Contents *c)
{
    size_t i = 0;
    while (i < c->size && strchr(" \t\r\n", c->data[i]) && c->data[i]) i++;
    return i < c->size ? c->data[i] : '\0';
}

/* The line after this one if this one is base64, a space and digits, and ends with a newline; else
 * NULL. */
static const char *tiktoken_line(const char *s)
{
    const size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=");
    const size_t digits = n && n % 4 == 0 && s[n] == ' ' ? strspn(s + n + 1, "0123456789") : 0;
    const char *end = s + n + 1 + digits;
    if (!digits) return NULL;
    if (*end == '\r') end++;
    return *end == '\n' ? end + 1 : NULL;
}

/* Describe a file of a known but unsupported kind; NULL for other files. */
static const char *foreign_kind(const Contents *c)
{
    const char *second = tiktoken_line(c->data);
    if (second && tiktoken_line(second)) return "tiktoken";
    if (first_character(c) == '{' && strstr(c->data, "\"token_bytes\"")) return "tekken (Mistral)";
    return NULL;
}

/* Import vocab.json with its merges.txt. */
static bool import_pair(TokBuild *b, Loc at, const char *vocab, const char *merges, const TokConfig *config)
{
    Contents v, m;
    if (!load(b, at, merges, &m) || !load(b, at, vocab, &v)) return false;
    return tok_import_vocab_merges(b, v.data, v.size, m.data, m.size, config);
}

/* The file usually holds a whole model, but only its header is read, so it is mapped. */
static bool import_gguf(TokBuild *b, Loc at, const char *path)
{
    diag_conceal(b->diag, path);
    b->file = path;
    return file_map(b->diag, at, path, &b->map) && tok_import_gguf(b, (const char *)b->map.data, b->map.size);
}

static bool import_file(TokBuild *b, Loc at, const char *path, const TokConfig *config)
{
    unsigned char first[4];
    Contents c;
    if (is_gguf(first, file_first_bytes(path, first, sizeof first))) return import_gguf(b, at, path);
    if (text_ends(path, ".lua")) {
        diag_error(b->diag, EXIT_BAD_DATA, (Loc){ path, 0, 0 }, "a spec is not a tokenizer; give its tokenizer_file, if it has one");
        return false;
    }
    if (!load(b, at, path, &c)) return false;
    if (text_ends(path, ".gguf") && !is_gguf((const unsigned char *)c.data, c.size)) {
        tok_refuse(b, "it is named like a GGUF file, but is not one: was the download complete?");
        return false;
    }
    const char *foreign = foreign_kind(&c);
    if (foreign) tok_refuse(b, "%s files are not supported; use the tokenizer.json from the model's Hugging Face folder", foreign);
    if (foreign) return false;
    if (is_gguf((const unsigned char *)c.data, c.size)) return tok_import_gguf(b, c.data, c.size);
    if (text_ends(path, "vocab.json")) return import_pair(b, at, path, file_join(b->arena, file_folder(b->arena, path), "merges.txt"), config);
    if (text_ends(path, ".json") || first_character(&c) == '{') return tok_import_json(b, c.data, c.size, config);
    if (text_ends(path, ".model") || text_ends(path, ".spm") || looks_like_protobuf(&c)) return tok_import_sentencepiece(b, c.data, c.size, config);
    if (text_ends(path, ".bin") || looks_like_llama2c(&c)) return tok_import_llama2c(b, c.data, c.size);
    return tok_import_words(b, c.data, c.size, config);
}

/* ---- a folder --------------------------------------------------------------------------------------------------------- */

static bool import_marian(TokBuild *b, Loc at, const char *model, const char *vocab, const TokConfig *config)
{
    Contents m, v;
    return load(b, at, vocab, &v) && load(b, at, model, &m) && tok_import_marian(b, m.data, m.size, v.data, v.size, config);
}

static bool import_spelt(TokBuild *b, Loc at, const char *model, const char *vocab, const TokConfig *config)
{
    Contents m, v;
    return load(b, at, vocab, &v) && load(b, at, model, &m) && tok_import_spelt(b, m.data, m.size, v.data, v.size, config);
}

/* The first row whose files are in a folder is used. with: a second file that must be there. */
static const struct { const char *name, *with; } known_files[] = {
    { "tokenizer.json", NULL }, { "source.spm", "vocab.json" }, { "vocab.json", "merges.txt" }, { "vocab.txt", NULL },
    { "tokenizer.model", NULL }, { "spiece.model", NULL }, { "sentencepiece.bpe.model", NULL }, { "tokenizer.bin", NULL },
};
enum { KNOWN_FILES = sizeof known_files / sizeof *known_files };

/* "tokenizer.json, source.spm with vocab.json, …" */
static const char *known_names(Arena *a)
{
    Text t = text_new(a);
    for (int i = 0; i < KNOWN_FILES; i++) {
        text_printf(&t, "%s%s", i ? ", " : "", known_files[i].name);
        if (known_files[i].with) text_printf(&t, " with %s", known_files[i].with);
    }
    return t.data;
}

/* Print a list separated by ", ", indented and wrapped at 80 columns. */
static void print_list(FILE *to, const char *list)
{
    enum { INDENT = 4, COLUMNS = 80 };
    for (size_t column = 0; *list;) {
        const size_t n = strcspn(list, ",") + (strchr(list, ',') != NULL);
        const bool first = column == 0, fits = column + 1 + n <= COLUMNS;
        if (!first && !fits) fputc('\n', to);
        column = first || !fits ? INDENT : column + 1;
        fprintf(to, "%*s%.*s", first || !fits ? INDENT : 1, "", (int)n, list);
        column += n, list += n;
        list += strspn(list, " ");
    }
    fputc('\n', to);
}

void tokenizer_print_layouts(Arena *a, FILE *to)
{
    const struct { const char *files, *classes; } rows[] = {
        { "tokenizer.json", "any" },
        { "tokenizer.model, spiece.model, sentencepiece.bpe.model", tok_classes_of_models(a) },
        { "source.spm with vocab.json", "Marian" },
        { "vocab.json with merges.txt", tok_classes_of_merges(a) },
        { "vocab.txt", tok_classes_of_words(a) },
        { "tokenizer.bin", "llama2.c" },
        { "NAME.gguf", "tokenizer.ggml.model llama, gpt2, bert or t5" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fprintf(to, "%s\n", rows[i].files);
        print_list(to, rows[i].classes);
    }
}

/* The index of the first row whose files are in the folder; KNOWN_FILES if there is none. */
static int find_known(Arena *a, const char *folder)
{
    int i = 0;
    for (; i < KNOWN_FILES; i++) {
        const char *with = known_files[i].with;
        if (file_is_regular(file_join(a, folder, known_files[i].name)) && (!with || file_is_regular(file_join(a, folder, with)))) break;
    }
    return i;
}

bool tokenizer_in_folder(Arena *a, const char *folder) { return find_known(a, folder) < KNOWN_FILES; }

bool tokenizers_in_folder(Arena *a, const char *folder)
{
    return file_is_regular(file_join(a, folder, "source.spm")) && file_is_regular(file_join(a, folder, "target_vocab.json"));
}

static bool import_folder(TokBuild *b, Loc at, const char *folder, TokConfig *config)
{
    if (tokenizers_in_folder(b->arena, folder)) {
        diag_error(b->diag, EXIT_NO_FEATURE, at, "%s: two vocabularies, vocab.json and target_vocab.json, are not supported", folder);
        return false;
    }
    const int i = find_known(b->arena, folder);
    const char *tekken = file_join(b->arena, folder, "tekken.json");
    /* The import reports why tekken.json is not supported. */
    if (i == KNOWN_FILES && file_is_regular(tekken)) return import_file(b, at, tekken, NULL);
    if (i == KNOWN_FILES) {
        diag_error(b->diag, EXIT_NO_INPUT, at, "%s has no tokenizer; it needs one of %s", folder, known_names(b->arena));
        return false;
    }
    if (!tok_read_config(b, folder, config) || !tok_read_folder(b, folder, config)) return false;
    const char *path = file_join(b->arena, folder, known_files[i].name), *with = known_files[i].with;
    const bool marian = with && strcmp(with, "vocab.json") == 0;
    const bool spelt = tok_is_spelt(&config->folder) && strcmp(known_files[i].name, "sentencepiece.bpe.model") == 0;
    const bool good = spelt ? import_spelt(b, at, path, file_join(b->arena, folder, "vocab.json"), config)
                      : marian ? import_marian(b, at, path, file_join(b->arena, folder, with), config)
                      : with ? import_pair(b, at, path, file_join(b->arena, folder, with), config)
                             : import_file(b, at, path, config);
    const char *second = spelt ? "vocab.json" : with;
    b->origin.files = arena_format(b->arena, "%s%s%s", known_files[i].name, second ? " with " : "", second ? second : "");
    if (good && config->lower_first) tok_lower_first(b);
    if (good && config->prompt.n) {
        b->head[TOK_HEAD_PROMPT] = tok_pool(b, config->prompt);
        b->head[TOK_HEAD_PROMPT_BYTES] = (uint32_t)config->prompt.n;
    }
    if (good && config->no_types) tok_no_types(b);
    if (good && config->clean_spaces) tok_clean_spaces(b, config->clean_bpe);
    if (good && config->has_side) tok_cut_side(b, config->cut_left);
    return good;
}

bool tokenizer_import(Arena *a, Diag *d, Loc at, const char *path, TokenizerBlob *out)
{
    TokBuild *b = tok_build_new(a, d, path);
    TokConfig config = { 0 };
    const bool read = file_is_folder(path) ? import_folder(b, at, path, &config) : import_file(b, at, path, NULL);
    const bool good = read && !tok_failed(b) && tok_finish(b, out);
    file_unmap(&b->map);
    if (!good) return false;
    const char *slash = strrchr(path, '/');
    if (!b->origin.files) b->origin.files = slash ? slash + 1 : path;
    out->origin = b->origin;
    return true;
}

int tokenizer_mask(Arena *a, Diag *d, Loc at, const char *folder)
{
    TokBuild *b = tok_build_new(a, d, folder);
    TokConfig config = { 0 };
    const bool read = import_folder(b, at, folder, &config) && !tok_failed(b);
    file_unmap(&b->map);
    if (!read) return -1;
    const TokString texts[] = { config.folder.mark[TOK_MASK].text, tok_string("[MASK]"), tok_string("<mask>") };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const uint32_t id = texts[i].s ? tok_id_of_text(b, texts[i]) : RT_TOK_NONE;
        if (id != RT_TOK_NONE) return (int)id;
    }
    return -1;
}
