/* command_pack.c: pack: the weights of a spec, or others of the same shapes, into the file that a program built from that spec
 * reads. What shapes a plan must be as it was for the program, and so must the version of xformc. */
#include "command.h"

#include "folder.h"

Exit command_pack(const Choices *c)
{
    Session *s = session_new(c);
    if (session_read(s)) {
        const Plan *p = session_plan(s, TARGET_PANELS, c->taps);
        const char *path = c->folder ? c->folder : arena_format(s->arena, "%s.safetensors", s->model->name);
        if (folder_write_weights(s->arena, s->diag, p, path) && !c->quiet)
            fprintf(stderr, "%s: weights for %s\n", path, s->model->name);
    }
    return session_end(s);
}
