/* command_build.c: compile and build: a spec into a folder of C, and that into a program. */
#include "command.h"

#include <string.h>

#include "folder.h"

static void dump_text(Session *s, const Plan *p, WeightsForm weights)
{
    if (!s->choices->dumps || !strchr(s->choices->dumps, 'c')) return;
    Pack pack = pack_layout(s->arena, p);
    int n;
    EmittedFile *files = emit_files(s->arena, p, pack.identity, pack.head_bytes, weights, &n);
    fputs(files[0].text.data, stderr);
}

/* Write the folder; returns its path, or NULL after an error. */
static const char *write_folder(Session *s)
{
    const Choices *c = s->choices;
    if (!session_read(s)) return NULL;
    WeightsForm weights = c->file_weights ? WEIGHTS_FILE : WEIGHTS_EMBED;
    const Plan *p = session_plan(s, TARGET_PANELS, c->taps);
    dump_text(s, p, weights);
    const char *folder = c->folder ? c->folder : s->model->name;
    return folder_write(s->arena, s->diag, p, weights, folder) ? folder : NULL;
}

Exit command_compile(const Choices *c)
{
    Session *s = session_new(c);
    const char *folder = write_folder(s);
    if (folder && !c->quiet) fprintf(stderr, "%s: C for %s\n", folder, s->model->name);
    return session_end(s);
}

Exit command_build(const Choices *c)
{
    Session *s = session_new(c);
    const char *folder = write_folder(s);
    if (folder && folder_make(s->arena, s->diag, folder, s->model->name, c->cc, c->isa ? c->isa : "native") && !c->quiet)
        fprintf(stderr, "%s/%s: built\n", folder, s->model->name);
    return session_end(s);
}
