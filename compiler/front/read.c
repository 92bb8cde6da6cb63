/* read.c: recognise the format of a spec, read it, open its files, check it and make a Model. */
#include "front.h"

#include <string.h>

#include "draft_lua.h"
#include "gguf.h"
#include "hf.h"
#include "model_check.h"
#include "weights.h"

/* A Lua chunk cannot start with '{' or '['. */
static bool is_json(const unsigned char *b, size_t n)
{
    size_t i = 0;
    while (i < n && strchr(" \t\r\n", b[i]) && b[i]) i++;
    return i < n && (b[i] == '{' || b[i] == '[');
}

/* The kind of a weight file that is passed as a spec by mistake; NULL for other files. */
static const char *kind_of_weights(const unsigned char *b, size_t n)
{
    if (n > 8 && b[8] == '{' && !b[6] && !b[7]) return "a safetensors file";
    if (n > 4 && b[0] == 0x80 && b[2] == 0x8A && b[3] == 10) return "a checkpoint of an old PyTorch version";
    return n > 4 && !memcmp(b, "PK\3\4", 4) ? "a zip file such as pytorch_model.bin" : NULL;
}

/* The file type that the extension claims, for messages; NULL for other extensions. */
static const char *kind_by_name(const char *path)
{
    static const struct { const char *end, *kind; } kinds[] = {
        { ".gguf", "a GGUF file" }, { ".safetensors", "a safetensors file" }, { ".bin", "a llama2.c or PyTorch checkpoint" },
        { ".pt", "a PyTorch checkpoint" }, { ".pth", "a PyTorch checkpoint" }, { ".ckpt", "a PyTorch checkpoint" },
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(dot, kinds[i].end) == 0) return kinds[i].kind;
    return NULL;
}

/* True if the file starts like Lua: a spec may have any extension. */
static bool begins_as_lua(const unsigned char *b, size_t n)
{
    static const char *const words[] = { "return", "local", "xf", "--" };
    size_t i = 0;
    while (i < n && strchr(" \t\r\n", b[i]) && b[i]) i++;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (n - i > strlen(words[k]) && memcmp(b + i, words[k], strlen(words[k])) == 0) return true;
    return false;
}

/* Report a file that is known to be something else, such as a web page, or whose extension claims a
 * format that its content does not have. True after an error. */
static bool is_misnamed(Arena *a, Diag *d, const char *path, const unsigned char *bytes, size_t n)
{
    const char *sentence = file_impostor(bytes, n), *kind = kind_by_name(path);
    const Loc at = { arena_text(a, path), 0, 0 };
    if (sentence) diag_error(d, EXIT_BAD_DATA, at, "it %s", sentence);
    else if (kind && file_is_regular(path) && !begins_as_lua(bytes, n))
        diag_error(d, EXIT_BAD_DATA, at, "it is named like %s, but %s: was the download "
                   "complete?", kind, n ? "is not one that xformc knows" : "is empty");
    else return false;
    return true;
}

/* Print a note if there is no such file and it is named like a model on the Hugging Face Hub,
 * OWNER/NAME. */
static void note_hub(Arena *a, Diag *d, const char *path)
{
    const char *slash = strchr(path, '/'), *dot = strrchr(path, '.');
    if (!slash || slash == path || !slash[1] || strchr(slash + 1, '/') || *path == '.' || (dot && !strcmp(dot, ".lua"))) return;
    if (kind_by_name(path) || file_is_regular(path) || file_is_folder(path) || file_is_folder(arena_copy(a, path, (size_t)(slash - path)))) return;
    diag_note(d, (Loc){ 0 }, "xformc does not download models; get one with: hf download %s --local-dir %s", path, slash + 1);
}

Draft *draft_read(Arena *a, Diag *d, const char *path, const OpName *ops, int n, GraphShape *shape_of)
{
    unsigned char bytes[64];
    path = file_installed(a, path);
    if (file_is_folder(path)) return draft_from_folder(a, d, path);
    const size_t size = file_first_bytes(path, bytes, sizeof bytes);
    const char *weights = kind_of_weights(bytes, size);
    if (is_gguf(bytes, size)) return draft_from_gguf(a, d, path);
    if (is_checkpoint(bytes, size)) return draft_from_checkpoint(a, d, path);
    if (is_json(bytes, size)) {
        diag_error(d, EXIT_BAD_DATA, (Loc){ arena_text(a, path), 0, 0 }, "a JSON file is not a spec; pass the folder with config.json and "
                   "the weights, or a Lua spec");
        return NULL;
    }
    if (!weights && is_misnamed(a, d, path, bytes, size)) return NULL;
    if (!weights) {
        Draft *draft = draft_from_lua(a, d, path, ops, n, shape_of);
        if (!draft) note_hub(a, d, path);
        return draft;
    }
    diag_error(d, EXIT_BAD_DATA, (Loc){ arena_text(a, path), 0, 0 }, "%s does not describe its model; pass the folder with its config.json, "
               "or a spec", weights);
    return NULL;
}

/* Open the weights before the vocabulary files, which may be next to them: if the weights cannot be
 * opened, only that is reported. */
static void read_transformer(const ModelCheck *c)
{
    Model *m = c->model;
    model_check_sizes(c);
    if (model_check_is_good(c) && !model_open_weights(c->arena, c->diag, c->draft, m)) return;
    model_check_tokenizer(c);
    if (m->tokenizer == TOKENIZERS_CHARACTERS) model_read_vocabularies(c->arena, c->diag, c->draft, m);
    else if (m->tokenizer_file) model_read_tokenizer(c->arena, c->diag, c->draft, m);
    model_check_rest(c);
}

Model *model_from_draft(Arena *a, Diag *d, const Draft *draft)
{
    const ModelCheck c = model_check_begin(a, d, draft);
    if (!draft->graph) read_transformer(&c);
    if (model_check_is_good(&c)) model_find_tensors(a, d, draft, c.model);
    if (model_check_is_good(&c)) {
        model_note_unread(d, draft, c.model);
        return c.model;
    }
    model_close(c.model);
    return NULL;
}

Model *model_read(Arena *a, Diag *d, const char *path, const OpName *ops, int n, GraphShape *shape_of)
{
    const Draft *draft = draft_read(a, d, path, ops, n, shape_of);
    return draft ? model_from_draft(a, d, draft) : NULL;
}

void model_close(Model *m)
{
    if (!m) return;
    tensor_file_close(m->weight_file);
    m->weight_file = NULL;
}
