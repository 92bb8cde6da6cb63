/* command_build.c: compile and build: a spec into a folder of C, and that into a program. */
#include "command.h"

#include <string.h>

#include "chat.h"
#include "folder.h"
#include "progress.h"
#include "selftest.h"

static void dump_text(Session *s, const Plan *p, EmitForm form)
{
    if (!s->options.dumps || !strchr(s->options.dumps, 'c')) return;
    Pack pack = pack_layout(s->arena, p);
    int n;
    EmittedFile *files = emit_files(s->arena, p, pack.identity, pack.head_bytes, form, &n);
    fputs(files[0].text.data, stderr);
}

/* Whether a program has a sequence for each beam of the model's own search; false after telling. */
static bool can_search(Session *s)
{
    const Model *m = s->model;
    const int beams = m->model_kind == KIND_GRAPH || !m->has_decoder ? 1 : (int)m->generation_num_beams;
    if (beams == 1 || beams <= session_slots(s)) return true;
    diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--slots %d are too few for %d beams", session_slots(s), beams);
    return false;
}

/* Write the folder; returns its path, or NULL after an error. */
static const char *write_folder(Session *s, const Options *o, EmitForm form)
{
    if (!can_search(s)) return NULL;
    if (o->slots > 1 && session_slots(s) == 1)
        diag_remark(s->diag, (Loc){ 0 }, "--slots %d changes nothing: without a decoder there is one slot", o->slots);
    const Plan *p = session_plan(s, TARGET_PANELS, o->taps);
    dump_text(s, p, form);
    if (emit_loops(p, form) && emit_leaves_layers(p))
        diag_remark(s->diag, (Loc){ 0 }, "%s: layers that differ from their neighbours are called one by one; loops cover the rest", s->model->name);
    if (s->model->chat_fault)
        diag_remark(s->diag, (Loc){ s->model->chat_path, 0, 0 }, "%s; the program has no --chat", s->model->chat_fault);
    chat_remark(s->diag, s->model);
    const char *folder = o->output ? o->output : s->model->name;
    return folder_write(s->arena, s->diag, p, form, folder, engine_selftest) ? folder : NULL;
}

static void compiled(const Session *s, const Options *o, const char *folder)
{
    Arena *a = s->arena;
    const char *name = s->model->name, *line = arena_format(a, "%s: C for %s", folder, name);
    const char *end = s->options.form.weights == WEIGHTS_LITERAL ? "_weights.c" : ".safetensors";
    const char *weights = file_join(a, folder, arena_format(a, "%s%s", name, end));
    command_ended(o, line, arena_format(a, "%s, weights %s", line, command_file_size(a, weights)),
                  arena_format(a, "build it: make -C %s", command_shell_path(a, folder)));
}

Exit command_compile(const Options *o)
{
    CompileOptions compile;
    if (!options_compile(o, &compile)) return EXIT_USAGE;
    compile.chat = true;
    Session *s = session_new(&compile);
    progress_begin("compile", o->quiet);
    progress_say("reading %s", o->spec);
    const char *folder = session_open(s) ? write_folder(s, o, s->options.form) : NULL;
    if (folder) compiled(s, o, folder);
    progress_end();
    return session_end(s);
}

/* Weights that stay in a file of their own are told apart. */
static void built(const Session *s, const Options *o, const char *folder)
{
    Arena *a = s->arena;
    const char *name = s->model->name, *program = file_join(a, folder, name);
    const char *weights = arena_format(a, "%s.safetensors", program);
    const char *done = arena_format(a, "built %s: program %s", name, command_file_size(a, program));
    if (s->options.form.weights == WEIGHTS_FILE)
        done = arena_format(a, "%s, weights %s", done, command_file_size(a, weights));
    const char *run = command_shell_path(a, program), *example = command_example(s->model);
    command_ended(o, arena_format(a, "%s: built", program), done,
                  arena_format(a, "run it: %s%s", run, example));
}

Exit command_build(const Options *o)
{
    CompileOptions compile;
    if (!options_compile(o, &compile)) return EXIT_USAGE;
    compile.chat = true;
    Session *s = session_new(&compile);
    progress_begin("build", o->quiet);
    progress_say("reading %s", o->spec);
    const bool read = session_open(s);
    EmitForm text = s->options.form;
    if (text.isa && !strchr(text.isa, ',')) text.isa = NULL;        /* one set is passed to make: the text is that of any */
    const char *folder = read ? write_folder(s, o, text) : NULL;
    if (folder) {
        const char *name = s->model->name;
        const MakeOrder order = { folder, name, arena_format(s->arena, "%s.c", name), o->cc, s->options.form, false, o->debug };
        if (folder_make(s->arena, s->diag, &order)) built(s, o, folder);
    }
    progress_end();
    return session_end(s);
}
