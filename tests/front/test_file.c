/* test_file.c: Files are read and mapped, and written whole or not at all, even with a size limit,
 * on a full file system and after SIGKILL. Also links, folders, joined names and stale temporary
 * files. */
#include "front_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static const Loc nowhere;

typedef struct World { Arena *arena; Diag *diag; const char *folder; } World;

static World new_world(void)
{
    Arena *a = arena_new();
    return (World){ a, diag_new(a), new_folder(a) };
}

static const char *in(World *w, const char *name)
{
    return file_join(w->arena, w->folder, name);
}

static void end_world(World *w)
{
    remove_folder(w->folder);
    arena_free(w->arena);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    World w = new_world();
    size_t size;
    assert_true(file_write(w.arena, w.diag, in(&w, "x"), "one\0two", 7));
    assert_true(file_write(w.arena, w.diag, in(&w, "x"), "three", 5));
    assert_string_equal(file_read(w.arena, w.diag, nowhere, in(&w, "x"), 100, &size), "three");
    assert_int_equal(size, 5);
    FileMap map;
    assert_true(file_map(w.diag, nowhere, in(&w, "x"), &map));
    assert_int_equal(map.size, 5);
    assert_memory_equal(map.data, "three", 5);
    file_unmap(&map);
    assert_int_equal(diag_errors(w.diag), 0);
    remove_file(w.arena, w.folder, "x");
    end_world(&w);
}

static void an_empty_file_is_fine(void **state)
{
    (void)state;
    World w = new_world();
    size_t size = 9;
    FileMap map;
    assert_true(file_write(w.arena, w.diag, in(&w, "x"), NULL, 0));
    assert_string_equal(file_read(w.arena, w.diag, nowhere, in(&w, "x"), 0, &size), "");
    assert_int_equal(size, 0);
    assert_true(file_map(w.diag, nowhere, in(&w, "x"), &map));
    assert_non_null(map.data);
    assert_int_equal(map.size, 0);
    file_unmap(&map);
    remove_file(w.arena, w.folder, "x");
    end_world(&w);
}

static void what_cannot_be_read_is_told(void **state)
{
    (void)state;
    World w = new_world();
    size_t size;
    FileMap map;
    assert_null(file_read(w.arena, w.diag, nowhere, in(&w, "none"), 100, &size));
    assert_int_equal(diag_exit(w.diag), EXIT_NO_INPUT);
    assert_non_null(strstr(printed(w.arena, w.diag), "none: No such file"));
    Diag *d = diag_new(w.arena);
    assert_null(file_read(w.arena, d, nowhere, w.folder, 100, &size));
    assert_false(file_map(d, nowhere, w.folder, &map));
    assert_int_equal(diag_exit(d), EXIT_NO_INPUT);
    assert_non_null(strstr(printed(w.arena, d), "is a folder"));
    d = diag_new(w.arena);
    assert_true(file_write(w.arena, d, in(&w, "x"), "12345", 5));
    assert_null(file_read(w.arena, d, nowhere, in(&w, "x"), 4, &size));
    assert_int_equal(diag_exit(d), EXIT_BAD_DATA);
    remove_file(w.arena, w.folder, "x");
    end_world(&w);
}

static void an_abandoned_file_is_not_there(void **state)
{
    (void)state;
    World w = new_world();
    FileWriter *f = file_create(w.arena, w.diag, in(&w, "x"));
    assert_non_null(f);
    assert_true(file_append(f, "half", 4));
    assert_int_not_equal(access(in(&w, "x"), F_OK), 0);
    file_abandon(f);
    assert_int_not_equal(access(in(&w, "x"), F_OK), 0);
    assert_int_equal(diag_errors(w.diag), 0);
    end_world(&w);
}

/* file_view shows all that has been written so far; later patches and appends reach the file. */
static void a_file_is_viewed_before_it_is_there(void **state)
{
    (void)state;
    World w = new_world();
    FileMap map;
    size_t size;
    FileWriter *f = file_create(w.arena, w.diag, in(&w, "x"));
    assert_true(f && file_append(f, "0123456789", 10) && file_view(f, &map));
    assert_int_equal(map.size, 10);
    assert_memory_equal(map.data, "0123456789", 10);
    file_unmap(&map);
    assert_true(file_patch(f, 3, "abc", 3) && file_append(f, "X", 1) && file_view(f, &map));
    assert_int_equal(map.size, 11);
    assert_memory_equal(map.data, "012abc6789X", 11);
    file_unmap(&map);
    assert_int_not_equal(access(in(&w, "x"), F_OK), 0);
    assert_true(file_commit(f));
    const char *read = file_read(w.arena, w.diag, nowhere, in(&w, "x"), 100, &size);
    assert_string_equal(read, "012abc6789X");
    remove_file(w.arena, w.folder, "x");
    end_world(&w);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    World w = new_world();
    static char block[1 << 16];
    if (access("/dev/full", W_OK)) skip();
    FileWriter *f = file_create(w.arena, w.diag, "/dev/full");
    assert_non_null(f);
    for (int i = 0; i < 4; i++) file_append(f, block, sizeof block);
    assert_false(file_commit(f));
    assert_int_equal(diag_exit(w.diag), EXIT_IO);
    assert_int_equal(diag_errors(w.diag), 1);
    assert_non_null(strstr(printed(w.arena, w.diag), "/dev/full: No space left on device"));
    end_world(&w);
}

static void what_cannot_be_written_is_told(void **state)
{
    (void)state;
    World w = new_world();
    assert_false(file_write(w.arena, w.diag, in(&w, "none/x"), "x", 1));
    assert_false(file_write(w.arena, w.diag, w.folder, "x", 1));
    assert_int_equal(diag_errors(w.diag), 2);
    assert_int_equal(diag_exit(w.diag), EXIT_IO);
    end_world(&w);
}

static void devices_and_links_stay(void **state)
{
    (void)state;
    World w = new_world();
    struct stat info;
    assert_true(file_write(w.arena, w.diag, "/dev/null", "x", 1));
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_true(file_write(w.arena, w.diag, in(&w, "real"), "old", 3));
    assert_int_equal(symlink("real", in(&w, "link")), 0);
    assert_true(file_write(w.arena, w.diag, in(&w, "link"), "new", 3));
    assert_int_equal(lstat(in(&w, "link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    size_t size;
    assert_string_equal(file_read(w.arena, w.diag, nowhere, in(&w, "real"), 10, &size), "new");
    remove_file(w.arena, w.folder, "link");
    remove_file(w.arena, w.folder, "real");
    end_world(&w);
}

/* Writing to a dangling link creates its target, or fails if the target's folder does not exist or
 * the link leads to itself. The link stays. */
static void links_to_nothing_stay(void **state)
{
    (void)state;
    World w = new_world();
    struct stat info;
    size_t size;
    assert_true(file_make_folder(w.diag, in(&w, "sub")));
    assert_int_equal(symlink("sub/second", in(&w, "first")), 0);
    assert_int_equal(symlink("../real", in(&w, "sub/second")), 0);
    assert_true(file_is_same(w.arena, in(&w, "first"), in(&w, "./sub/../real")));
    assert_false(file_is_same(w.arena, in(&w, "first"), in(&w, "sub/real")));
    assert_true(file_write(w.arena, w.diag, in(&w, "first"), "new", 3));
    assert_true(lstat(in(&w, "first"), &info) == 0 && S_ISLNK(info.st_mode));
    assert_true(lstat(in(&w, "sub/second"), &info) == 0 && S_ISLNK(info.st_mode));
    assert_string_equal(file_read(w.arena, w.diag, nowhere, in(&w, "real"), 10, &size), "new");
    assert_true(file_is_same(w.arena, in(&w, "first"), in(&w, "./sub/../real")));
    assert_int_equal(symlink("none/x", in(&w, "lost")), 0);
    assert_int_equal(symlink("loop", in(&w, "loop")), 0);
    assert_false(file_write(w.arena, w.diag, in(&w, "lost"), "new", 3));
    assert_false(file_write(w.arena, w.diag, in(&w, "loop"), "new", 3));
    assert_int_equal(diag_errors(w.diag), 2);
    assert_int_equal(diag_exit(w.diag), EXIT_IO);
    assert_true(lstat(in(&w, "lost"), &info) == 0 && S_ISLNK(info.st_mode));
    static const char *const names[] = { "first", "sub/second", "real", "lost", "loop" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove_file(w.arena, w.folder, names[i]);
    rmdir(in(&w, "sub"));
    end_world(&w);
}

static void folders_are_made_with_parents(void **state)
{
    (void)state;
    World w = new_world();
    assert_true(file_make_folder(w.diag, in(&w, "a/b/c")));
    assert_true(file_make_folder(w.diag, in(&w, "a/b/c/")));
    assert_true(file_write(w.arena, w.diag, in(&w, "a/x"), "x", 1));
    assert_false(file_make_folder(w.diag, in(&w, "a/x/y")));
    assert_int_equal(diag_exit(w.diag), EXIT_IO);
    unlink(in(&w, "a/x"));
    rmdir(in(&w, "a/b/c"));
    rmdir(in(&w, "a/b"));
    rmdir(in(&w, "a"));
    end_world(&w);
}

static void names_are_joined(void **state)
{
    (void)state;
    Arena *a = arena_new();
    assert_string_equal(file_join(a, "specs", "x"), "specs/x");
    assert_string_equal(file_join(a, "specs/", "x"), "specs/x");
    assert_string_equal(file_join(a, ".", "x"), "x");
    assert_string_equal(file_join(a, "specs", "/x"), "/x");
    assert_string_equal(file_folder(a, "x"), ".");
    assert_string_equal(file_folder(a, "/x"), "/");
    assert_string_equal(file_folder(a, "a/b/x"), "a/b");
    arena_free(a);
}

/* ---- writers that fail ----------------------------------------------------------------------- */

enum { PIECE = 1 << 12, PIECES = 64, KEPT = PIECES / 2 };
typedef enum Hindrance { HINDER_LIMIT, HINDER_KILL, HINDER_FULL } Hindrance;

/* The number of xformc's temporary files in the folder. */
static int count_own(World *w)
{
    int n = 0;
    DIR *dir = opendir(w->folder);
    assert_non_null(dir);
    for (struct dirent *f; (f = readdir(dir)) != NULL;) n += strncmp(f->d_name, ".xf-", 4) == 0;
    closedir(dir);
    return n;
}

static const char *first_own(World *w)
{
    const char *name = NULL;
    DIR *dir = opendir(w->folder);
    assert_non_null(dir);
    for (struct dirent *f; (f = readdir(dir)) != NULL;)
        if (strncmp(f->d_name, ".xf-", 4) == 0) name = arena_text(w->arena, f->d_name);
    closedir(dir);
    assert_non_null(name);
    return name;
}

/* file_remove_stale skips the folder that it searched last: search another one. */
static void look_again(World *w) { file_remove_stale(file_folder(w->arena, w->folder)); }

/* Create a temporary file of this name, `seconds` old. */
static const char *leave(World *w, const char *name, int seconds)
{
    const char *path = in(w, name);
    const struct timespec then[] = { { time(NULL) - seconds, 0 }, { time(NULL) - seconds, 0 } };
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0 && close(fd) == 0 && utimensat(AT_FDCWD, path, then, 0) == 0);
    return path;
}

/* A locked file stays, however old, and so does a link. A file whose process may be alive stays
 * until it is old. */
static void files_of_the_living_stay(void **state)
{
    (void)state;
    World w = new_world();
    FileWriter *f = file_create(w.arena, w.diag, in(&w, "x"));
    assert_true(f && file_append(f, "half", 4) && count_own(&w) == 1);
    const char *log = leave(&w, file_own_name(w.arena, ".log"), 60);
    const char *foreign = leave(&w, ".xf-12345678-1-0.tmp", 7200);
    look_again(&w);
    file_remove_stale(w.folder);
    assert_int_equal(count_own(&w), 3);
    unlink(log), unlink(foreign);
    const struct timespec then[] = { { 0, 0 }, { 0, 0 } };
    assert_int_equal(count_own(&w), 1);
    const char *mine = in(&w, first_own(&w));
    assert_int_equal(utimensat(AT_FDCWD, mine, then, 0), 0);     /* very old, but locked */
    leave(&w, file_own_name(w.arena, ".log"), 7200);
    leave(&w, ".xf-12345678-1-0.tmp", 100000);
    leave(&w, ".xf-77.log", 100000);
    assert_int_equal(symlink("/dev/null", in(&w, ".xf-12345678-1-1.tmp")), 0);
    look_again(&w);
    file_remove_stale(w.folder);
    assert_int_equal(count_own(&w), 2);
    assert_true(file_commit(f) && count_own(&w) == 1);
    remove_file(w.arena, w.folder, ".xf-12345678-1-1.tmp");
    remove_file(w.arena, w.folder, "x");
    end_world(&w);
}

/* In a child: write PIECES pieces to `path`. A size limit, a full file system or SIGKILL stops this
 * after at most KEPT of them. Exits with the code of the diagnostics. */
static void write_hindered(World *w, const char *path, Hindrance how)
{
    static char piece[PIECE];
    const struct rlimit limit = { KEPT * PIECE, KEPT * PIECE };
    memset(piece, 'n', sizeof piece);
    signal(SIGXFSZ, SIG_IGN);
    if (how == HINDER_LIMIT && setrlimit(RLIMIT_FSIZE, &limit)) _exit(99);
    FileWriter *f = file_create(w->arena, w->diag, path);
    for (int i = 0; f && i < PIECES; i++) {
        if (i == KEPT && how == HINDER_KILL) raise(SIGKILL);
        file_append(f, piece, sizeof piece);
    }
    const bool good = f && file_commit(f);
    _exit(good ? 0 : diag_exit(w->diag));
}

static int end_of(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A writer that fails leaves an old file unchanged; if there was none, it creates none. */
static void hinder(World *w, Hindrance how, int code)
{
    for (int old = 0; old < 2; old++) {
        const char *path = in(w, "x");
        size_t size;
        unlink(path);
        if (old) assert_true(file_write(w->arena, w->diag, path, "old", 3));
        const pid_t child = fork();
        if (child == 0) write_hindered(w, path, how);
        assert_int_equal(end_of(child), code);
        if (old) assert_string_equal(file_read(w->arena, w->diag, nowhere, path, 10, &size), "old");
        else assert_int_not_equal(access(path, F_OK), 0);
        unlink(path);
        /* after SIGKILL the temporary file stays until the next write to its folder */
        assert_int_equal(count_own(w), how == HINDER_KILL);
        look_again(w);
        assert_true(file_write(w->arena, w->diag, path, "next", 4));
        assert_int_equal(count_own(w), 0);
        unlink(path);
    }
}

static void a_limit_leaves_the_old_file(void **state)
{
    (void)state;
    World w = new_world();
    hinder(&w, HINDER_LIMIT, EXIT_IO);
    end_world(&w);
}

static void a_killed_writer_leaves_the_old_file(void **state)
{
    (void)state;
    World w = new_world();
    hinder(&w, HINDER_KILL, 128 + SIGKILL);
    end_world(&w);
}

/* A file system with room for half of the pieces. Skipped if it cannot be mounted. */
static void a_full_file_system_leaves_the_old_file(void **state)
{
    (void)state;
    World w = new_world();
    const char *options = arena_format(w.arena, "size=%d", KEPT * PIECE);
    if (mount("tmpfs", w.folder, "tmpfs", 0, options)) {
        end_world(&w);
        skip();
    }
    hinder(&w, HINDER_FULL, EXIT_IO);
    assert_int_equal(umount(w.folder), 0);
    end_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read), cmocka_unit_test(an_empty_file_is_fine),
        cmocka_unit_test(what_cannot_be_read_is_told), cmocka_unit_test(an_abandoned_file_is_not_there),
        cmocka_unit_test(a_file_is_viewed_before_it_is_there),
        cmocka_unit_test(a_full_disk_is_told), cmocka_unit_test(what_cannot_be_written_is_told),
        cmocka_unit_test(devices_and_links_stay), cmocka_unit_test(links_to_nothing_stay), cmocka_unit_test(folders_are_made_with_parents),
        cmocka_unit_test(names_are_joined), cmocka_unit_test(a_limit_leaves_the_old_file),
        cmocka_unit_test(a_killed_writer_leaves_the_old_file),
        cmocka_unit_test(files_of_the_living_stay), cmocka_unit_test(a_full_file_system_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
