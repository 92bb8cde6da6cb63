/* test_background.c: A jit engine switches to native code in mid-sequence, with identical bits. One
 * child compiles at a time, the most recent request first. A dropped request leaves nothing behind.
 *
 * cc is the one on the PATH, with -O1. It waits while the file `hold` exists. */
/* tags: slow noasan */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../kernels/patience.h"
#include "background.h"
#include "clock.h"
#include "jit.h"
#include "native.h"
#include "session.h"

static char folder[] = "/tmp/xf-test-XXXXXX";

typedef struct Twin { CompileOptions options; Session *session; Engine *engine; Background native; } Twin;

static void open_twin(Twin *t, const char *spec, int threads)
{
    *t = (Twin){ .options = { .spec = spec, .threads = threads, .slots = 2, .hooks = EMIT_POLLS } };
    t->session = session_new(&t->options);
    assert_true(session_read(t->session));
    t->engine = session_engine(t->session, ENGINE_JIT, false);
    assert_non_null(t->engine);
}

static void ask(Twin *t) { background_ask(&t->native, t->session->arena, t->engine, t->options.form, t->options.threads); }

static void await(Twin *t)
{
    const int64_t end = clock_now_ns() + PATIENCE * INT64_C(1000000000);
    while (clock_now_ns() < end) {
        background_poll(&t->native, true);
        if (t->native.state == BACKGROUND_DONE || t->native.state == BACKGROUND_FAILED) return;
        background_sleep();
    }
    fail_msg("no native code after %d s", PATIENCE);
}

static void close_twin(Twin *t)
{
    background_drop(&t->native);
    engine_close(t->engine);
    session_free(t->session);
}

static int entries(const char *path)
{
    int n = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *f; (f = readdir(dir)) != NULL;) n += f->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void nothing_is_left(void)
{
    char tmp[64];
    snprintf(tmp, sizeof tmp, "%s/tmp", folder);
    assert_int_equal(entries(tmp), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);       /* no child */
}

static void equal_steps(const Twin *a, const Twin *b, int from, int to)
{
    const int64_t bytes = a->session->model->target_vocab * (int64_t)sizeof(float);
    for (int i = from; i < to; i++) {
        const int id = (i * 7 + 3) % (int)a->session->model->target_vocab;
        assert_int_equal(a->engine->ops->step(a->engine, id), RT_OK);
        assert_int_equal(b->engine->ops->step(b->engine, id), RT_OK);
        assert_memory_equal(a->engine->ops->logits(a->engine), b->engine->ops->logits(b->engine), (size_t)bytes);
    }
}

/* Encode a source, if there is an encoder, feed half of the target, switch, feed the rest, fork
 * into another slot; with `back`, switch back and feed more. Then interrupt a call. */
static void sequence(const char *spec, int threads, bool back)
{
    static Twin changed, pinned;
    const int ids[] = { 1, 2, 3, 4, 5, 6, 7 };
    open_twin(&changed, spec, threads);
    open_twin(&pinned, spec, threads);
    ask(&changed);
    if (changed.session->model->has_encoder) {
        assert_int_equal(changed.engine->ops->encode(changed.engine, 0, ids, 7), RT_OK);
        assert_int_equal(pinned.engine->ops->encode(pinned.engine, 0, ids, 7), RT_OK);
    }
    equal_steps(&changed, &pinned, 0, 4);
    assert_string_equal(changed.engine->name, "jit");
    await(&changed);
    assert_int_equal(changed.native.state, BACKGROUND_DONE);
    assert_true(changed.native.took_ns > 0);
    assert_string_equal(changed.engine->name, "native (cc)");
    nothing_is_left();
    equal_steps(&changed, &pinned, 4, 7);
    const rt_token row = { 1, 7, 2 };
    assert_int_equal(changed.engine->ops->fork(changed.engine, 0, 1), RT_OK);
    assert_int_equal(pinned.engine->ops->fork(pinned.engine, 0, 1), RT_OK);
    assert_int_equal(changed.engine->ops->decode(changed.engine, &row, 1), RT_OK);
    assert_int_equal(pinned.engine->ops->decode(pinned.engine, &row, 1), RT_OK);
    assert_memory_equal(changed.engine->ops->logits(changed.engine), pinned.engine->ops->logits(pinned.engine), sizeof(float) * 8);
    /* Switch back to the jit, and continue. */
    assert_string_equal(native_beneath(changed.engine)->name, "jit");
    if (back) {
        native_undo(changed.engine, threads);
        background_drop(&changed.native);
        assert_string_equal(changed.engine->name, "jit");
        equal_steps(&changed, &pinned, 7, 9);
    }
    /* An interrupted call gives no result; after `clear` the engine continues. */
    jit_stop();
    assert_int_equal(changed.engine->ops->step(changed.engine, 1), RT_INTERRUPTED);
    jit_go_on();
    assert_int_equal(changed.engine->ops->clear(changed.engine), RT_OK);
    assert_int_equal(changed.engine->ops->step(changed.engine, 1), RT_OK);
    close_twin(&pinned);
    close_twin(&changed);
}

static void in_mid_sequence(void **state)
{
    (void)state;
    sequence("specs/gpt.lua", 0, false);
    sequence("specs/gpt.lua", 0, true);
    sequence("specs/copy.lua", 0, false);
}

/* The library comes from the cache, where it is by now. With two threads, the library's own team
 * takes over. */
static void from_the_cache(void **state)
{
    (void)state;
    Twin t;
    open_twin(&t, "specs/gpt.lua", 0);
    ask(&t);
    background_poll(&t.native, false);
    assert_int_equal(t.native.state, BACKGROUND_DONE);
    assert_true(t.native.cached);
    close_twin(&t);
    sequence("specs/gpt.lua", 2, false);
    sequence("specs/copy.lua", 2, true);
}

/* Of three requests the first starts, and the last one is next. Only one child runs at a time. */
static void last_first(void **state)
{
    (void)state;
    static Twin t[3];
    setenv("XFORMC_CACHE", "off", 1);
    for (int i = 0; i < 3; i++) {
        open_twin(&t[i], "specs/self_attention.lua", 0);
        ask(&t[i]);
        background_poll(NULL, i == 0);
    }
    assert_int_equal(t[0].native.state, BACKGROUND_RUNS);
    await(&t[0]);
    assert_int_equal(t[0].native.state, BACKGROUND_DONE);
    assert_int_equal(t[1].native.state, BACKGROUND_WAITS);
    assert_int_equal(t[2].native.state, BACKGROUND_RUNS);
    background_drop(&t[2].native);
    background_poll(NULL, true);
    assert_int_equal(t[2].native.state, BACKGROUND_NONE);
    assert_int_equal(t[1].native.state, BACKGROUND_RUNS);
    await(&t[1]);
    assert_false(t[1].native.cached);
    nothing_is_left();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(t[i].engine->ops->run(t[i].engine), RT_OK);
        close_twin(&t[i]);
    }
    unsetenv("XFORMC_CACHE");
}

static void hold(bool on)
{
    char path[64];
    snprintf(path, sizeof path, "%s/hold", folder);
    const int fd = on ? open(path, O_WRONLY | O_CREAT, 0600) : -1;
    assert_true(on ? fd >= 0 : unlink(path) == 0);
    if (on) close(fd);
}

/* Drop a request while it waits, while the child writes, and while cc compiles, which `hold`
 * prolongs. */
static void dropped(void **state)
{
    (void)state;
    setenv("XFORMC_CACHE", "off", 1);
    hold(true);
    for (int i = 0; i < 8; i++) {
        Twin t;
        open_twin(&t, "specs/copy.lua", 0);
        ask(&t);
        if (i) background_poll(&t.native, true);
        assert_int_equal(t.native.state, i ? BACKGROUND_RUNS : BACKGROUND_WAITS);
        usleep((unsigned)(i * i) * 4000);
        close_twin(&t);
        nothing_is_left();
    }
    hold(false);
    unsetenv("XFORMC_CACHE");
}

/* The child of this process, by /proc/N/stat: "N (name) S PARENT ..". */
static pid_t only_child(void)
{
    pid_t found = 0;
    DIR *dir = opendir("/proc");
    if (!dir) skip();
    for (struct dirent *f; (f = readdir(dir)) != NULL;) {
        char path[300], line[512] = "";
        long parent = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", f->d_name);
        FILE *stat = fopen(path, "r");
        const char *name_end = stat && fgets(line, sizeof line, stat) ? strrchr(line, ')') : NULL;
        if (name_end && sscanf(name_end, ") %*c %ld", &parent) == 1 && parent == (long)getpid()) found = (pid_t)atol(f->d_name);
        if (stat) fclose(stat);
    }
    closedir(dir);
    if (!found) skip();
    return found;
}

/* If the child is killed, the engine stays as it is. A compiler that the child started ends when
 * the folder is removed. */
static void child_dies(void **state)
{
    (void)state;
    Twin t;
    setenv("XFORMC_CACHE", "off", 1);
    hold(true);
    open_twin(&t, "specs/self_attention.lua", 0);
    ask(&t);
    background_poll(&t.native, true);
    assert_int_equal(kill(only_child(), SIGKILL), 0);
    await(&t);
    assert_int_equal(t.native.state, BACKGROUND_FAILED);
    assert_string_equal(t.native.why, "the background compiler ended early");
    assert_string_equal(t.engine->name, "jit");
    assert_int_equal(t.engine->ops->run(t.engine), RT_OK);
    close_twin(&t);
    unsetenv("XFORMC_CACHE");
}

static int set_up(void **state)
{
    (void)state;
    char path[4096], command[8192];
    if (!mkdtemp(folder)) return -1;
    const char *const variables[] = { "TMPDIR", "tmp", "XDG_CACHE_HOME", "cache" };
    for (int i = 0; i < 4; i += 2) {
        snprintf(path, sizeof path, "%s/%s", folder, variables[i + 1]);
        if (mkdir(path, 0700) != 0) return -1;
        setenv(variables[i], path, 1);
    }
    snprintf(command, sizeof command,
             "printf '#!/bin/sh\\nwhile [ -e %s/hold ]; do sleep 0.05; done\\nexec %%s \"$@\" -O1\\n'"
             " \"$(command -v cc)\" > %s/cc && chmod +x %s/cc", folder, folder, folder);
    if (system(command) != 0) return -1;
    snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    unsetenv("XFORMC_CACHE");
    return setenv("PATH", path, 1);
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "until rm -rf %s; do sleep 0.05; done", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_mid_sequence), cmocka_unit_test(from_the_cache), cmocka_unit_test(last_first), cmocka_unit_test(dropped),
        cmocka_unit_test(child_dies)
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
