/* command_info.c: what a model takes and costs, before it runs, and pictures of it. */
#include "command.h"

#include <string.h>

#include "hf.h"
#include "info.h"
#include "progress.h"
#include "svg.h"

/* Write a picture to a file, or to stdout for `-`. */
static bool write_picture(Session *s, const char *path, Text picture)
{
    if (strcmp(path, "-") != 0) return file_replace(s->arena, s->diag, path, svg_kind, picture.data, picture.size);
    fwrite(picture.data, 1, picture.size, stdout);      /* main tells what fflush says */
    return true;
}

static bool write_pictures(Session *s, const Plan *p)
{
    const InfoChoices *c = &s->choices->info;
    return (!c->memory || write_picture(s, c->memory, info_memory_picture(s->arena, p))) &&
           (!c->graph || write_picture(s, c->graph, info_graph_picture(s->arena, s->graph)));
}

/* What the command line says there is room for; NULL where it says nothing. */
static InfoTarget *target_of(Session *s, InfoTarget *t)
{
    const InfoChoices *c = &s->choices->info;
    *t = (InfoTarget){ .name = NULL };
    if (c->target && !info_target(s->diag, c->target, t)) return NULL;
    if (c->max_ram) t->ram = c->max_ram;
    if (c->max_flash) t->flash = c->max_flash;
    return c->target || c->max_ram || c->max_flash ? t : NULL;
}

/* The position that the command line names, -1 for the last, -2 after an error. */
static int64_t position_of(Session *s)
{
    const InfoChoices *c = &s->choices->info;
    const Model *m = s->model;
    const int64_t length = m->has_decoder ? m->max_target : m->has_encoder ? m->max_source : 1;
    if (!c->has_position) return -1;
    if (c->position < length) return c->position;
    diag_error(s->diag, EXIT_USAGE, (Loc){ 0 }, "--position %d: the last position of %s is %lld", c->position, m->name, (long long)length - 1);
    return -2;
}

/* Whether the kernels are those of an instruction set: not of portable C, as devices other than this machine run it. */
static bool uses_vectors(const Choices *c, EmitForm form)
{
    const bool here = !c->info.target || strcmp(c->info.target, "host") == 0;
    return here && form.kernels != KERNELS_UNROLLED && !(form.isa && strcmp(form.isa, "portable") == 0);
}

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

static void show(Session *s, const Plan *p, int64_t position, const InfoTarget *target)
{
    const Choices *c = s->choices;
    const EmitForm form = session_form(c);
    Info *i = info_new(s->arena, p, position, uses_vectors(c, form));
    progress_begin("info", c->quiet);
    if (c->info.code) i->code = info_code(s->arena, s->diag, p, c->cc, form);
    progress_end();
    if (c->info.code && !i->code) return;
    if (!write_pictures(s, p)) return;
    bool picture_only = is_stdout(c->info.memory) || is_stdout(c->info.graph);
    if (c->json) info_json(s->arena, i, target, stdout);
    else if (!picture_only && !c->quiet) info_print(i, target, stdout);
    if (target) info_tell_misfits(s->arena, s->diag, i, *target);
}

Exit command_info(const Choices *c)
{
    if (c->info.families) {
        families_print(stdout);
        return EXIT_DONE;
    }
    Session *s = session_new(c);
    InfoTarget room, *target = target_of(s, &room);
    s->sizes_only = true;
    const bool good = !diag_errors(s->diag) && session_open(s);
    if (good && c->info.lua) session_print_lua(s, stdout);
    else if (good) {
        const int64_t position = position_of(s);
        if (position >= -1) show(s, session_plan(s, TARGET_PANELS, c->taps), position, target);
    }
    return session_end(s);
}
