/* support_plan.c: see plan_test.h. */
#include "front.h"
#include "plan_test.h"

#include "fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *write_spec(Arena *a, const char *text)
{
    char *path = arena_text(a, "/tmp/xformc-plan-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (long)strlen(text));
    close(fd);
    return path;
}

Planned planned_open(const char *spec)
{
    Planned o = { .arena = arena_new() };
    size_t length = strlen(spec);
    bool is_path = length > 4 && strcmp(spec + length - 4, ".lua") == 0;
    const char *path = is_path ? spec : write_spec(o.arena, spec);
    int n;
    const OpName *ops = graph_builder_ops(&n);
    o.diag = diag_new(o.arena);
    o.model = model_read(o.arena, o.diag, path, ops, n, graph_value_shape);
    if (o.model) o.graph = graph_build(o.arena, o.diag, o.model, 8);
    diag_print(o.diag, stderr, false);
    if (!is_path) unlink(path);
    if (!o.graph) fail_msg("no graph of:\n%s", spec);
    return o;
}

void planned_close(Planned *o)
{
    model_close(o->model);
    arena_free(o->arena);
}

Plan *planned_make(const Planned *o, PlanTarget target, bool taps, int slots)
{
    const PlanOptions options = { .target = target, .taps = taps, .slots = slots, .max_threads = target == TARGET_PANELS ? 16 : 1 };
    return plan_make(o->arena, o->graph, options);
}

/* If the body returns, the child exits with 0, so that no test runner continues in it. */
void dies(Body *body, void *arg, const char *words)
{
    char said[4096];
    size_t n = 0;
    int ends[2], status;
    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        body(arg);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; n + 1 < sizeof said && (got = read(ends[0], said + n, sizeof said - 1 - n)) > 0;) n += (size_t)got;
    said[n] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_OUR_BUG) fail_msg("expected a death with \"%s\"; the child said: %s", words, said);
    if (!strstr(said, words)) fail_msg("expected \"%s\"; the child said: %s", words, said);
}

/* ---- random specs ---------------------------------------------------------------------------- */

int draw(Random *r, int least, int most)
{
    uint64_t x = r->state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return least + (int)((x ^ x >> 31) % (uint64_t)(most - least + 1));
}

static const char *one_of(Random *r, const char *a, const char *b) { return draw(r, 0, 1) ? a : b; }

static void stack_fields(Text *t, Random *r, int d_model)
{
    const int layers = draw(r, 1, 4), heads = draw(r, 1, 4);
    text_printf(t, "{ layers = %d, heads = %d, head_dim = %d, value_dim = %d, norm = \"%s\", norm_at = \"%s\", ", layers, heads,
                draw(r, 1, 20), draw(r, 1, 20), one_of(r, "layer", "annotated"), one_of(r, "pre", "post"));
    if (draw(r, 0, 1)) text_printf(t, "final_norm = %s, ", one_of(r, "true", "false"));
    if (layers > 1 && draw(r, 0, 1)) text_printf(t, "d_ff = { %d, %d }, ", draw(r, 1, 70), draw(r, 1, 70));
    else text_printf(t, "d_ff = %d, ", draw(r, 1, 70));
    if (d_model % 2 || d_model < 4 || draw(r, 0, 3) == 0) text_add(t, "position = \"none\" }");
    else text_printf(t, "position_layout = \"%s\", position_divisor = \"%s\", position_first = %d }", one_of(r, "interleaved", "halves"),
                     one_of(r, "d/2", "d/2-1"), draw(r, 0, 2));
}

const char *random_spec(Arena *a, Random *r, int number)
{
    Text t = text_new(a);
    const int d_model = draw(r, 2, 50);
    text_printf(&t, "return xf.model { name = \"random_%d\", kind = \"encoder-decoder\", weights = \"random\", seed = %d,\n", number, number);
    text_printf(&t, "d_model = %d, max_source = %d, max_target = %d, source_vocab = %d, target_vocab = %d, log_softmax = %s,\nencoder = ", d_model,
                draw(r, 1, 40), draw(r, 1, 40), draw(r, 3, 40), draw(r, 3, 40), one_of(r, "true", "false"));
    stack_fields(&t, r, d_model);
    text_add(&t, ",\ndecoder = ");
    stack_fields(&t, r, d_model);
    text_add(&t, " }\n");
    return t.data;
}
