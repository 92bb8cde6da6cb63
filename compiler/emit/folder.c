/* folder.c: write a model's folder, and build it with its Makefile.
 *
 * Files that xformc did not write are not overwritten; the beginning of a file shows who wrote
 * it. */
#include "folder.h"

#include <dirent.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "isa.h"
#include "progress.h"
#include "runtime_text.h"

/* ---- writing ------------------------------------------------------------------------------------------------- */

typedef struct OutputFile { const char *path, *data; size_t size; } OutputFile;
typedef struct Output { Arena *arena; Diag *diag; OutputFile *files; int count, room; } Output;

static void add_file(Output *o, const char *path, const char *data, size_t size)
{
    if (o->count == o->room) {
        int room = o->room ? 2 * o->room : 64;
        o->files = arena_grow(o->arena, o->files, (size_t)o->room * sizeof *o->files, (size_t)room * sizeof *o->files);
        o->room = room;
    }
    o->files[o->count++] = (OutputFile){ path, data, size };
}

/* True if a file is missing, empty or ours: it begins like the new one up to a colon, as with
 * "# Build dates:", or its first line mentions xformc. */
static bool is_ours(const OutputFile *f)
{
    char old[257];
    const size_t n = file_first_bytes(f->path, old, sizeof old - 1), mark = strcspn(f->data, ":\n");
    if (n == 0) return true;
    old[n] = '\0';
    if (mark <= n && strncmp(old, f->data, mark) == 0) return true;
    old[strcspn(old, "\n")] = '\0';
    return strstr(old, "xformc") != NULL;
}

/* True if a file is missing, empty or packed by xformc: its header begins with xformc's
 * metadata. */
static bool is_packed(const char *path)
{
    static const char mark[] = "{\"__metadata__\":{\"xformc\":";
    char old[8 + sizeof mark - 1];
    const size_t n = file_first_bytes(path, old, sizeof old);
    return n == 0 || (n == sizeof old && memcmp(old + 8, mark, sizeof mark - 1) == 0);
}

static bool refuse(Diag *d, const char *path)
{
    diag_error(d, EXIT_BAD_DATA, (Loc){ 0 }, "%s was not written by xformc; choose another -o",
               path);
    return false;
}

/* True if make may write the program: no file has its name, or the one that does is a regular file
 * next to NAME.h, which shows that we built it. */
static bool is_free(Arena *a, const char *program)
{
    struct stat info;
    if (stat(program, &info) != 0) return true;
    return S_ISREG(info.st_mode) && file_is_regular(arena_format(a, "%s.h", program));
}

static bool all_ours(const Output *o, const char *program)
{
    const char *weights = arena_format(o->arena, "%s.safetensors", program);
    for (int i = 0; i < o->count; i++)
        if (!is_ours(&o->files[i])) return refuse(o->diag, o->files[i].path);
    return (is_free(o->arena, program) || refuse(o->diag, program)) && (is_packed(weights) || refuse(o->diag, weights));
}

/* Remove a pipe or a device. Otherwise, instead of creating a file, we would write to the device or
 * wait for a reader of the pipe. */
static void make_way(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) unlink(path);
}

/* A file with the right contents keeps its date, so that make does not build again. */
static bool write_if_changed(const Output *o, const OutputFile *f)
{
    char *old = arena_alloc(o->arena, f->size + 1);
    const size_t n = file_first_bytes(f->path, old, f->size + 1);
    if (file_is_regular(f->path) && n == f->size && memcmp(old, f->data, n) == 0) return true;
    make_way(f->path);
    return file_write(o->arena, o->diag, f->path, f->data, f->size);
}

static void add_runtime(Output *o, const char *folder, const Model *m)
{
    const bool wanted[] = { [RUNTIME_NONE] = false, [RUNTIME_ALL] = true, [RUNTIME_TEXTS] = m->tokenizer_data != NULL,
                            [RUNTIME_VECTORS] = m->has_encoder && !m->has_decoder };
    for (const RuntimeFile *f = runtime_files; f->name; f++)
        if (wanted[f->use]) add_file(o, file_join(o->arena, folder, f->name), f->text, strlen(f->text));
}

FolderText folder_text(Arena *a, const Plan *p, EmitForm form)
{
    FolderText t = { .pack = pack_layout(a, p) };
    t.files = emit_files(a, p, t.pack.identity, t.pack.head_bytes, form, &t.count);
    return t;
}

static void add_emitted(Output *o, const FolderText *t, const char *folder)
{
    for (int i = 0; i < t->count; i++)
        add_file(o, file_join(o->arena, folder, t->files[i].name), t->files[i].text.data, t->files[i].text.size);
}

static bool add_literal(Output *o, const Plan *p, const Pack *pack, const char *folder)
{
    Text *literal = arena_alloc(o->arena, sizeof *literal);
    *literal = text_new(o->arena);
    if (!pack_literal(o->arena, o->diag, pack, literal)) return false;
    const char *name = arena_format(o->arena, "%s_weights.c", p->graph->model->name);
    add_file(o, file_join(o->arena, folder, name), literal->data, literal->size);
    return true;
}

/* literal: weights to be written as C, or NULL. */
static bool write_text(Arena *a, Diag *d, const Plan *p, const FolderText *text, const char *folder, const Pack *literal)
{
    Output o = { .arena = a, .diag = d };
    const char *runtime = file_join(a, folder, "runtime");
    add_runtime(&o, runtime, p->graph->model);
    add_emitted(&o, text, folder);
    if (literal && !add_literal(&o, p, literal, folder)) return false;
    if (!file_make_folder(d, folder) || !all_ours(&o, file_join(a, folder, p->graph->model->name)) ||
        !file_make_folder(d, runtime)) return false;
    for (int i = 0; i < o.count && !cleanup_caught(); i++)
        if (!write_if_changed(&o, &o.files[i])) return false;
    return !cleanup_caught();
}

bool folder_write_text(Arena *a, Diag *d, const Plan *p, const FolderText *text, const char *folder)
{
    return write_text(a, d, p, text, folder, NULL);
}

bool folder_write(Arena *a, Diag *d, const Plan *p, EmitForm form, const char *folder, PackSelftest *selftest)
{
    const FolderText text = folder_text(a, p, form);
    const char *weights = file_join(a, folder, arena_format(a, "%s.safetensors", p->graph->model->name));
    Pack pack = text.pack;
    pack.selftest = selftest;
    if (!write_text(a, d, p, &text, folder, form.weights == WEIGHTS_LITERAL ? &pack : NULL)) return false;
    make_way(weights);
    return pack_write(a, d, &pack, weights);
}

bool folder_write_weights(Arena *a, Diag *d, const Plan *p, const char *path, PackSelftest *selftest)
{
    struct stat info;
    Pack pack = pack_layout(a, p);
    pack.selftest = selftest;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        diag_error(d, EXIT_BAD_DATA, (Loc){ 0 }, "%s is not a regular file; choose another -o", path);
        return false;
    }
    return is_packed(path) ? pack_write(a, d, &pack, path) : refuse(d, path);
}

/* ---- building ------------------------------------------------------------------------------------------------ */

static bool succeeded(int status) { return status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0; }

static void show(const char *log)
{
    char line[4096];
    FILE *f = fopen(log, "r");
    progress_clear();
    while (f && fgets(line, sizeof line, f)) fputs(line, stderr);
    if (f) fclose(f);
}

/* The first line of `log` that contains "error", else the first line that is not make's; NULL if
 * there is neither. */
static const char *first_said(Arena *a, const char *log)
{
    enum { LONGEST = 400 };
    char line[4096];
    const char *first = NULL;
    FILE *f = fopen(log, "r");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        const bool error = strstr(line, "error") != NULL;
        if (!*line || strncmp(line, "make: ", 6) == 0 || (first && !error)) continue;
        first = arena_format(a, "%.*s", LONGEST, line);
        if (error) break;
    }
    if (f) fclose(f);
    return first;
}

static bool there_is(Arena *a, Diag *d, const char *command, const char *what, const char *log)
{
    char *const argv[] = { arena_text(a, command), (char *)"--version", NULL };
    enum { PATIENCE = 10 };         /* seconds */
    int status = cleanup_run(argv, log, PATIENCE);
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) != 127) return true;
    if (cleanup_caught()) return false;
    if (status < 0 && errno == ETIMEDOUT) {
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "%s '%s' did not answer --version within %d s",
                   what, command, PATIENCE);
        return false;
    }
    if (status < 0 && errno != ENOENT && errno != EACCES) {
        diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot run %s: %s", command, strerror(errno));
        return false;
    }
    if (status >= 0 && WIFSIGNALED(status))
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "%s '%s' was killed by signal %d", what, command, WTERMSIG(status));
    else
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, status < 0 && errno == EACCES ? "%s '%s' cannot be executed"
                   : "%s '%s' is not installed", what, command);
    if (strpbrk(command, " \t") && !file_is_regular(command))
        diag_note(d, (Loc){ 0 }, "the whole value is used as the compiler's name; options are not supported");
    return false;
}

/* If make started this process, its variables must not reach the make that we start. */
static void forget_other_makes(void)
{
    static const char *const names[] = { "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "MAKEFILES", "MAKELEVEL", "MAKEOVERRIDES" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

/* True if a file begins like a program or a library, of any system. */
static bool is_binary(const char *path)
{
    static const char *const magics[] = { "\177ELF", "\317\372\355\376", "\312\376\272\276", "MZ", "\0asm", "!<ar", "!<th" };
    char head[4] = "";
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f) fclose(f);
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (n == sizeof head && memcmp(head, magics[i], magics[i][0] == 'M' ? 2 : 4) == 0) return true;
    return false;
}

/* True if the compiler builds a trivial program with these flags. */
static bool compiler_works(Arena *a, Diag *d, const char *folder, const char *cc, const char *flags)
{
    static const char text[] = "int main(void) { return 0; }\n";
    enum { WORDS = 16 * MAX_ISAS };
    const char *source = file_join(a, folder, file_own_name(a, ".c")), *program = file_join(a, folder, file_own_name(a, ".works"));
    const char *log = file_join(a, folder, file_own_name(a, ".works.log"));
    char *argv[WORDS + 5] = { arena_text(a, cc), (char *)"-std=c11" }, *rest = arena_text(a, flags);
    int n = 2;
    for (char *word = strtok(rest, " "); word && n < WORDS; word = strtok(NULL, " ")) argv[n++] = word;
    argv[n++] = (char *)"-o";
    argv[n++] = arena_text(a, program);
    argv[n] = arena_text(a, source);
    bool works = file_write(a, d, source, text, sizeof text - 1) && succeeded(cleanup_run(argv, log, 0)) && is_binary(program);
    unlink(source);
    unlink(program);
    unlink(log);
    return works;
}

/* True if make succeeds with an empty rule. */
static bool make_works(Arena *a, Diag *d, const char *folder)
{
    static const char text[] = "all: ;\n";
    const char *rules = file_join(a, folder, file_own_name(a, ".mk")), *log = file_join(a, folder, file_own_name(a, ".mk.log"));
    char *argv[5] = { (char *)"make", (char *)"-s", (char *)"-f", arena_text(a, rules) };
    bool works = file_write(a, d, rules, text, sizeof text - 1) && succeeded(cleanup_run(argv, log, 0));
    unlink(rules);
    unlink(log);
    return works;
}

static bool older(const struct stat *a, const struct stat *b)
{
    if (a->st_mtim.tv_sec != b->st_mtim.tv_sec) return a->st_mtim.tv_sec < b->st_mtim.tv_sec;
    return a->st_mtim.tv_nsec < b->st_mtim.tv_nsec;
}

/* True if the target exists and is not older than its source. */
static bool is_made(const char *target, const char *text)
{
    struct stat made, from;
    return stat(target, &made) == 0 && S_ISREG(made.st_mode) && stat(text, &from) == 0 && !older(&made, &from);
}

/* The system's message in `log` for a full disk, an exceeded quota or a file that is too large;
 * NULL if there is none. */
static const char *said_of_room(const char *log)
{
    const char *const words[] = { strerror(ENOSPC), strerror(EDQUOT), strerror(EFBIG),
                                  strsignal(SIGXFSZ) };
    enum { WORDS = sizeof words / sizeof *words };
    char line[4096];
    const char *said = NULL;
    FILE *f = fopen(log, "r");
    while (f && !said && fgets(line, sizeof line, f))
        for (int i = 0; i < WORDS && !said; i++)
            if (strcasestr(line, words[i])) said = words[i];
    if (f) fclose(f);
    return said;
}

/* The bytes of the files in a folder, without its subfolders. */
static int64_t bytes_in(Arena *a, const char *folder)
{
    struct stat info;
    int64_t bytes = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *f; dir && (f = readdir(dir)) != NULL;)
        if (lstat(file_join(a, folder, f->d_name), &info) == 0 && S_ISREG(info.st_mode)) bytes += info.st_size;
    if (dir) closedir(dir);
    return bytes;
}

/* Why a folder has no room for a file of `bytes` bytes, or NULL. Needed if a compiler reports
 * a full disk in another language, or if a signal ended the assembler or the linker for lack of
 * room. */
static const char *no_room_in(Arena *a, const char *folder, int64_t bytes)
{
    const char *path = file_join(a, folder, file_own_name(a, ".room"));
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const int error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
    if (fd >= 0) close(fd), unlink(path);
    return error == ENOSPC || error == EDQUOT || error == EFBIG ? strerror(error) : NULL;
}

static const char *no_room(Arena *a, const char *folder, const char *log)
{
    enum { USUAL = 1 << 20 };
    const char *tmp = getenv("TMPDIR"), *said = said_of_room(log);
    /* Embedded weights are written again, to an object and to the program. */
    const int64_t bytes = bytes_in(a, folder) + USUAL;
    if (!said) said = no_room_in(a, folder, bytes);
    return said ? said : no_room_in(a, tmp && *tmp ? tmp : "/tmp", bytes);
}

/* The flags of all instruction sets in a list. */
static const char *all_flags(Arena *a, const char *list)
{
    int n;
    const char *const *names = isa_list(a, list, &n), *flags = "";
    for (int i = 0; i < n; i++) flags = arena_format(a, "%s %s", flags, isa_flags(names[i]));
    return flags;
}

/* Report a failed build. The exit code is 74 if make could not be started or the disk is full, 69
 * if make was killed or if make or the compiler does not work. If both work, the C of an xf.op may
 * be wrong, 65; without one, the emitted text must be, 70. */
static void tell_failure(Arena *a, Diag *d, const MakeOrder *o, int status, const char *log)
{
    const char *cc = o->cc ? o->cc : "cc", *said = o->unseen ? first_said(a, log) : NULL;
    const char *room = no_room(a, o->folder, log);
    const char *more = !o->unseen ? "; see above" : said ? arena_format(a, ": %s", said)
                                                    : ", without a message";
    if (status < 0) diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot run make: %s", strerror(errno));
    else if (WIFSIGNALED(status)) diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "make was killed by signal %d", WTERMSIG(status));
    else if (room)
        diag_error(d, EXIT_IO, (Loc){ 0 }, "%s did not build %s: %s", cc, o->target, room);
    else if (succeeded(status)) diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "make succeeded but did not build %s", o->target);
    else if (!make_works(a, d, o->folder))
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "make fails even with nothing to do");
    else if (!compiler_works(a, d, o->folder, cc, all_flags(a, o->form.isa)))
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "%s did not build %s%s", cc, o->target, more);
    else if (o->custom)
        diag_error(d, EXIT_BAD_DATA, (Loc){ 0 }, "%s did not build %s, which contains the C of an xf.op%s", cc, o->target, more);
    else
        diag_error(d, EXIT_OUR_BUG, (Loc){ 0 }, "%s works, but did not build %s: a bug in the "
                   "emitted C%s", cc, o->target, more);
}

/* A path, quoted so that make passes it to the shell as one word. */
static const char *quoted_for_make(Arena *a, const char *path)
{
    Text t = text_new(a);
    for (const char *s = path; *s; s++) {
        if (*s == '$') text_add(&t, "\\$$");
        else text_printf(&t, isalnum((unsigned char)*s) || strchr("/._-+", *s) || (unsigned char)*s >= 0x80 ? "%c" : "\\%c", *s);
    }
    return t.data;
}

static bool make_held(Arena *a, Diag *d, const MakeOrder *o, const char *log)
{
    if (!there_is(a, d, "make", "the build tool", log) || !there_is(a, d, o->cc ? o->cc : "cc", "the C compiler", log)) return false;
    char *argv[10] = { (char *)"make", (char *)"--no-print-directory", (char *)"-s", (char *)"-C", arena_text(a, o->folder),
                      arena_text(a, o->target) };
    int n, words = 6;
    const char *const *isas = isa_list(a, o->form.isa, &n);
    /* For several instruction sets the Makefile has the flags. */
    if (n == 1) argv[words++] = arena_format(a, "ISA=%s", isa_flags(isas[0]));
    if (o->cc) argv[words++] = arena_format(a, "CC=%s", quoted_for_make(a, o->cc));
    if (o->debug) argv[words++] = arena_text(a, "DEBUG=1");
    forget_other_makes();
    if (!o->unseen) progress_say("compiling %s with %s", o->text, o->cc ? o->cc : "cc");
    int status = cleanup_run(argv, log, 0);
    if (cleanup_caught()) return false;
    const char *target = file_join(a, o->folder, o->target);
    if (succeeded(status) && is_made(target, file_join(a, o->folder, o->text))) {
        if (is_binary(target)) return true;
        diag_error(d, EXIT_NO_FEATURE, (Loc){ 0 }, "%s succeeded, but what it wrote to %s is neither a program nor a library",
                   o->cc ? o->cc : "cc", o->target);
        unlink(target);
        return false;
    }
    if (!o->unseen) show(log);
    tell_failure(a, d, o, status, log);
    return false;
}

/* A file may be dated in the future, for example if the clock was set back. make would keep such a
 * product although its sources have changed: give it an old date, and a source the current one. */
static void date_back(Arena *a, const char *folder, const char *target)
{
    const struct timespec old[2] = { { 1, 0 }, { 1, 0 } };
    struct stat info;
    struct timespec now;
    DIR *dir = opendir(folder);
    clock_gettime(CLOCK_REALTIME, &now);
    for (struct dirent *f; dir && (f = readdir(dir)) != NULL;) {
        const char *name = f->d_name, *path = file_join(a, folder, name);
        const bool made = strcmp(name, target) == 0 || text_ends(name, ".o") || text_ends(name, ".a") || text_ends(name, ".so");
        if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_mtim.tv_sec <= now.tv_sec) continue;
        utimensat(AT_FDCWD, path, made ? old : NULL, 0);
    }
    if (dir) closedir(dir);
}

bool folder_make(Arena *a, Diag *d, const MakeOrder *o)
{
    const char *log = file_join(a, o->folder, file_own_name(a, ".log"));
    file_remove_stale(o->folder);
    date_back(a, o->folder, o->target);
    date_back(a, file_join(a, o->folder, "runtime"), o->target);
    cleanup_hold();
    bool made = make_held(a, d, o, log);
    unlink(log);
    cleanup_release();
    return made;
}

/* ---- temporary folders --------------------------------------------------------------------------------------- */

static const char own_begin[] = "xformc-";

/* True if a name has the form of ours, xformc-SPACE-PID-XXXXXX. */
static bool is_own(const char *name)
{
    static const char hex[] = "0123456789abcdef", digits[] = "0123456789";
    if (strncmp(name, own_begin, sizeof own_begin - 1) != 0) return false;
    name += sizeof own_begin - 1;
    if (strspn(name, hex) != 8 || name[8] != '-') return false;
    const size_t n = strspn(name += 9, digits);
    return n && name[n] == '-' && strlen(name + n + 1) == 6;
}

/* True for a folder that a killed process left behind. Processes in another SPACE cannot be looked
 * up, so their folders count as left behind if they are old. */
static bool is_left(const char *path, const char *name)
{
    enum { OLD = 86400 };           /* seconds */
    struct stat info;
    if (!is_own(name) || lstat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return false;
    if (info.st_uid != geteuid() || (info.st_mode & 0777) != 0700) return false;
    const int owner = file_has_owner(name + sizeof own_begin - 1);
    return !owner || (owner < 0 && time(NULL) - info.st_mtim.tv_sec > OLD);
}

static void remove_left(Arena *a, const char *tmp)
{
    DIR *dir = opendir(tmp);
    for (struct dirent *f; dir && (f = readdir(dir)) != NULL;) {
        if (strncmp(f->d_name, own_begin, sizeof own_begin - 1) != 0) continue;
        const char *path = file_join(a, tmp, f->d_name);
        if (is_left(path, f->d_name)) folder_remove(a, path);
    }
    if (dir) closedir(dir);
}

const char *folder_temporary(Arena *a, Diag *d)
{
    const char *set = getenv("TMPDIR"), *tmp = set && *set ? set : "/tmp";
    char *folder = arena_format(a, "%s/%s%s-XXXXXX", tmp, own_begin, file_own_id(a));
    remove_left(a, tmp);
    if (mkdtemp(folder)) return folder;
    diag_error(d, EXIT_IO, (Loc){ 0 }, "cannot create the temporary folder %s: %s", folder, strerror(errno));
    return NULL;
}

void folder_remove(Arena *a, const char *path)
{
    struct stat info;
    DIR *dir = opendir(path);
    if (!dir) return;
    for (struct dirent *f; (f = readdir(dir)) != NULL;) {
        if (strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0) continue;
        const char *name = file_join(a, path, f->d_name);
        if (lstat(name, &info) == 0 && S_ISDIR(info.st_mode)) folder_remove(a, name);
        else unlink(name);
    }
    closedir(dir);
    rmdir(path);
}
