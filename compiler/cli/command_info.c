/* command_info.c: the memory and cost of a model, without running it, and pictures of it; or, with
 * --lua, its spec; or, with --families, what xformc can read. */
#include "command.h"

#include <string.h>

#include "hf.h"
#include "info.h"
#include "progress.h"
#include "svg.h"
#include "tokenizer.h"

/* Write a picture to a file, or to stdout for `-`. */
static bool write_picture(Session *s, const char *path, Text picture)
{
    if (strcmp(path, "-") != 0) return file_replace(s->arena, s->diag, path, svg_kind, picture.data, picture.size);
    fwrite(picture.data, 1, picture.size, stdout);      /* main reports write errors */
    return true;
}

static bool write_pictures(Session *s, const Options *o, const Plan *p)
{
    return (!o->memory || write_picture(s, o->memory, info_memory_picture(s->arena, p))) &&
           (!o->graph || write_picture(s, o->graph, info_graph_picture(s->arena, s->graph)));
}

/* The limits that the command line sets; NULL if there are none, or after an error. */
static InfoTarget *target_of(Session *s, const Options *o, InfoTarget *t)
{
    *t = (InfoTarget){ .name = NULL };
    if (o->target && !info_target(s->diag, o->target, t)) return NULL;
    if (o->max_ram) t->ram = o->max_ram;
    if (o->max_flash) t->flash = o->max_flash;
    return o->target || o->max_ram || o->max_flash ? t : NULL;
}

/* The position from the command line; -1: the last; -2 after an error. */
static int64_t position_of(Session *s, const Options *o)
{
    const Model *m = s->model;
    const int64_t length = m->has_decoder ? m->max_target : m->has_encoder ? m->max_source : 1;
    if (o->position < 0) return -1;
    if (o->position < length) return o->position;
    diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--position %d: the last position of %s is %lld", o->position, m->name, (long long)length - 1);
    return -2;
}

/* True if the kernels are written for SIMD instructions: unrolled and portable ones are not, nor
 * are those for another device. */
static bool uses_vectors(const Options *o, EmitForm form)
{
    const bool here = !o->target || strcmp(o->target, "host") == 0;
    return here && form.kernels != KERNELS_UNROLLED && !(form.isa && strcmp(form.isa, "portable") == 0);
}

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

static void show(Session *s, const Options *o, int64_t position, const InfoTarget *target)
{
    const Plan *p = session_plan(s, TARGET_PANELS, o->taps);
    const EmitForm form = s->options.form;
    Info *i = info_new(s->arena, p, position, uses_vectors(o, form));
    progress_begin("info", o->quiet);
    if (o->code) i->code = info_code(s->arena, s->diag, p, o->cc, form);
    progress_end();
    if (o->code && !i->code) return;
    if (!write_pictures(s, o, p)) return;
    bool picture_only = is_stdout(o->memory) || is_stdout(o->graph);
    if (o->json) info_json(s->arena, i, target, stdout);
    else if (!picture_only && !o->quiet) info_print(i, target, stdout);
    if (target) info_tell_misfits(s->arena, s->diag, i, *target);
}

Exit command_info(const Options *o)
{
    CompileOptions compile;
    if (o->families) {
        Arena *a = arena_new();
        families_print(stdout);
        fputs("\nTokenizer files, and the transformers classes that they are read as:\n", stdout);
        tokenizer_print_layouts(a, stdout);
        arena_free(a);
        return EXIT_DONE;
    }
    if (!options_compile(o, &compile)) return EXIT_USAGE;
    compile.sizes_only = true;
    compile.chat = true;
    Session *s = session_new(&compile);
    InfoTarget room, *target = target_of(s, o, &room);
    const bool good = !diag_errors(s->diag) && session_open(s);
    if (good && o->lua) session_print_lua(s, stdout);
    else if (good) {
        const int64_t position = position_of(s, o);
        if (position >= -1) show(s, o, position, target);
    }
    return session_end(s);
}
