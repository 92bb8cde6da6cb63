/* command_build.c: compile and build: write C for a spec into a folder, and build a program from
 * it. */
#include "command.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* True if the program has a slot for each beam of the model's own search; otherwise reports an
 * error. */
static bool can_search(Session *s)
{
    const Model *m = s->model;
    const int beams = m->model_kind == KIND_GRAPH || !m->has_decoder ? 1 : (int)m->generation_num_beams;
    if (beams == 1 || beams <= session_slots(s)) return true;
    diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--slots %d: too few for %d beams; each beam needs "
               "a slot", session_slots(s), beams);
    return false;
}

/* Assemblers and linkers hold the weights in memory, so large ones are appended to the program. */
static void settle_weights(Session *s, const Plan *p)
{
    enum { MOST_LINKED = 64 << 20 };
    WeightsForm *form = &s->options.form.weights;
    if (*form == WEIGHTS_EMBED && p->weights_bytes > MOST_LINKED) *form = WEIGHTS_BEHIND;
}

/* Bytes of the files that make will replace. */
static double replaced_bytes(const Session *s, const char *folder)
{
    const char *const ends[] = { "", "_weights.o" };
    double bytes = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct stat info;
        if (stat(file_join(s->arena, folder, arena_format(s->arena, "%s%s", s->model->name, ends[i])), &info) == 0) bytes += (double)info.st_size;
    }
    return bytes;
}

/* Check that there is room for the weights file and, if the program will be built, for the files
 * that make copies the weights into. */
static bool has_room(const Session *s, const Plan *p, EmitForm form, const char *folder, bool built)
{
    const double weights = (double)p->weights_bytes;
    if (form.weights == WEIGHTS_LITERAL) return true;
    const double linked = form.weights == WEIGHTS_EMBED ? 2 * weights - replaced_bytes(s, folder)
                        : form.weights == WEIGHTS_BEHIND ? weights : 0;
    return file_has_room(s->arena, s->diag, folder, weights + (built ? linked : 0));
}

/* Remove the weights file once the weights are appended to the program; make can take them from the
 * program. */
static void keep_once(const Session *s, const char *folder)
{
    struct stat program, file;
    const char *path = file_join(s->arena, folder, s->model->name);
    const char *weights = arena_format(s->arena, "%s.safetensors", path);
    if (s->options.form.weights != WEIGHTS_BEHIND) return;
    if (stat(path, &program) != 0 || stat(weights, &file) != 0) return;
    if (program.st_size > file.st_size) unlink(weights);
}

/* If the program is built, a single instruction set is not emitted but passed to make: the emitted
 * text is then the same for all instruction sets. */
static EmitForm form_of(const Session *s, bool built)
{
    EmitForm form = s->options.form;
    if (built && form.isa && !strchr(form.isa, ',')) form.isa = NULL;
    return form;
}

/* False, after an error, if the output folder is the model's own. */
static bool is_apart(Session *s, const Options *o, const char *folder)
{
    struct stat from, to;
    if (stat(o->spec, &from) || stat(folder, &to) || !S_ISDIR(from.st_mode)) return true;
    if (from.st_dev != to.st_dev || from.st_ino != to.st_ino) return true;
    diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "%s is the model's own folder; choose another with -o", folder);
    return false;
}

/* Write the folder and return its path; NULL after an error. built: the program will be built. */
static const char *write_folder(Session *s, const Options *o, bool built)
{
    const char *folder = o->output ? o->output : s->model->name;
    if (!is_apart(s, o, folder) || !can_search(s)) return NULL;
    if (o->slots > 1 && session_slots(s) == 1)
        diag_remark(s->diag, (Loc){ 0 }, "--slots %d has no effect: a model without a decoder has "
                    "one slot", o->slots);
    const Plan *p = session_plan(s, TARGET_PANELS, o->taps);
    settle_weights(s, p);
    const EmitForm form = form_of(s, built);
    dump_text(s, p, form);
    if (emit_loops(p, form) && emit_leaves_layers(p))
        diag_remark(s->diag, (Loc){ 0 }, "%s: layers that differ from their neighbours are called one by one; loops cover the rest", s->model->name);
    if (s->model->chat_fault)
        diag_remark(s->diag, (Loc){ s->model->chat_path, 0, 0 }, "%s; the program has no --chat", s->model->chat_fault);
    chat_remark(s->diag, s->model);
    if (!has_room(s, p, form, folder, built)) return NULL;
    session_look_at_weights(s);
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
    compile.work = WORK_PACK;
    Session *s = session_new(&compile);
    progress_begin("compile", o->quiet);
    progress_say("reading %s", o->spec);
    const char *folder = session_open(s) ? write_folder(s, o, false) : NULL;
    if (folder) compiled(s, o, folder);
    progress_end();
    return session_end(s);
}

/* Report the program, and the weights if they are in a separate file. */
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
    compile.work = WORK_PACK;
    Session *s = session_new(&compile);
    progress_begin("build", o->quiet);
    progress_say("reading %s", o->spec);
    const char *folder = session_open(s) ? write_folder(s, o, true) : NULL;
    if (folder) {
        const char *name = s->model->name;
        const MakeOrder order = { folder, name, arena_format(s->arena, "%s.c", name), o->cc, s->options.form, false, o->debug,
                                  graph_has_custom(s->graph) };
        if (folder_make(s->arena, s->diag, &order)) {
            keep_once(s, folder);
            built(s, o, folder);
        }
    }
    progress_end();
    return session_end(s);
}
