/* command_pack.c: pack: write the weights of a spec, or others of the same shapes, as the file that
 * a program built from the spec reads. The version of xformc and all options that change the plan
 * must be those that the program was built with. */
#include "command.h"

#include "folder.h"
#include "progress.h"
#include "selftest.h"

Exit command_pack(const Options *o)
{
    CompileOptions compile;
    if (!options_compile(o, &compile)) return EXIT_USAGE;
    compile.work = WORK_PACK;
    Session *s = session_new(&compile);
    progress_begin("pack", o->quiet);
    progress_say("reading %s", o->spec);
    if (session_open(s)) {
        const Plan *p = session_plan(s, TARGET_PANELS, o->taps);
        const char *path = o->output ? o->output : arena_format(s->arena, "%s.safetensors", s->model->name);
        const bool room = file_has_room(s->arena, s->diag, path, (double)p->weights_bytes);
        if (room) session_look_at_weights(s);
        if (room && folder_write_weights(s->arena, s->diag, p, path, engine_selftest)) {
            const char *line = arena_format(s->arena, "%s: weights for %s", path, s->model->name);
            const char *size = command_file_size(s->arena, path), *name = s->model->name;
            const char *file = command_shell_path(s->arena, path);
            command_ended(o, line, arena_format(s->arena, "%s, %s", line, size),
                          arena_format(s->arena, "use them: %s --weights %s", name, file));
        }
    }
    progress_end();
    return session_end(s);
}
