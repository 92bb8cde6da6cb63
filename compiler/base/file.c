/* file.c: read and write whole files. A file being written is a locked `.xf-SPACE-PID-N.tmp` in its
 * target's folder. The next run that writes to the folder removes what killed runs left there.
 * SPACE is a hash of the host, the boot and the namespace in which process ids are unique. */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "text.h"

static const Loc nowhere;

/* The errno of an earlier failed write is lost, so write again: what failed once usually fails
 * again. A newline after truncated output does no harm. */
const char *file_output_fault(void)
{
    if (fflush(stdout) != 0) return strerror(errno);
    if (!ferror(stdout)) return NULL;
    return write(STDOUT_FILENO, "\n", 1) < 0 ? strerror(errno) : "an earlier write failed";
}

/* Exit code 66 for a missing file, 69 for lack of memory, else 74. */
static void tell_errno(Diag *d, Loc at, const char *what, const char *path, int error)
{
    Exit code = error == ENOENT || error == ENOTDIR ? EXIT_NO_INPUT : error == ENOMEM ? EXIT_NO_FEATURE : EXIT_IO;
    diag_error(d, code, at, "cannot %s %s: %s", what, path, strerror(error));
}

/* ---- reading -------------------------------------------------------------------------------------------- */

/* Open a file that is not a folder; -1 after an error. With O_NONBLOCK, a pipe that has no writer
 * is opened at once. */
static int open_input(Diag *d, Loc at, const char *path, struct stat *info)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        tell_errno(d, at, "open", path, errno);
        return -1;
    }
    if (fstat(fd, info) < 0) tell_errno(d, at, "read", path, errno);
    else if (S_ISDIR(info->st_mode)) diag_error(d, EXIT_NO_INPUT, at, "%s is a folder, not a file", path);
    else return fd;
    close(fd);
    return -1;
}

/* Wait for more data from a pipe. at_end: there is no writer yet; wait at most PATIENCE_MS. False
 * if none came. */
static bool await_more(int fd, bool at_end)
{
    enum { PATIENCE_MS = 1000 };
    struct pollfd p = { fd, POLLIN, 0 };
    int n;
    while ((n = poll(&p, 1, at_end ? PATIENCE_MS : -1)) < 0)
        if (errno != EINTR) return false;
    return n > 0 && (!at_end || (p.revents & POLLIN));
}

static bool is_pipe(int fd)
{
    struct stat info;
    return !fstat(fd, &info) && S_ISFIFO(info.st_mode);
}

/* Read to the end or past the limit; a pipe has no known size. NULL with errno. */
static char *read_all(Arena *a, int fd, size_t first_room, size_t limit, size_t *size)
{
    size_t room = first_room + 1, used = 0;
    char *data = arena_alloc(a, room + 1);
    for (;;) {
        ssize_t n = read(fd, data + used, room - used);
        if (n < 0 && (errno == EINTR || (errno == EAGAIN && await_more(fd, false)))) continue;
        if (n < 0) return NULL;
        if (n == 0 && !used && is_pipe(fd) && await_more(fd, true)) continue;
        used += (size_t)n;
        if (n == 0 || used > limit) break;
        if (used < room) continue;
        data = arena_grow(a, data, used, room * 2 + 1);
        room *= 2;
    }
    data[used] = '\0';
    *size = used;
    return data;
}

static bool is_impostor(Diag *d, Loc at, const char *path, const void *data, size_t size)
{
    const char *sentence = file_impostor(data, size);
    if (sentence) diag_error(d, EXIT_BAD_DATA, at, "%s %s", path, sentence);
    return sentence;
}

char *file_read(Arena *a, Diag *d, Loc at, const char *path, size_t limit, size_t *size)
{
    struct stat info;
    int fd = open_input(d, at, path, &info);
    if (fd < 0) return NULL;
    char *data = NULL;
    *size = (size_t)info.st_size;       /* 0 for pipes and files in /proc */
    if (*size <= limit) {
        data = read_all(a, fd, *size ? *size : 4096, limit, size);
        if (!data) tell_errno(d, at, "read", path, errno);
    }
    close(fd);
    if (*size <= limit) return data && !is_impostor(d, at, path, data, *size) ? data : NULL;
    diag_error(d, EXIT_BAD_DATA, at, "%s is too large: more than %zu bytes", path, limit);
    return NULL;
}

static FileStamp stamp_of(const struct stat *info)
{
    return (FileStamp){ (uint64_t)info->st_dev, (uint64_t)info->st_ino, (int64_t)info->st_size, (int64_t)info->st_mtim.tv_sec,
                        (int64_t)info->st_mtim.tv_nsec, (int64_t)info->st_ctim.tv_sec, (int64_t)info->st_ctim.tv_nsec };
}

bool file_map_changed(const FileMap *map, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) return false;
    const FileStamp now = stamp_of(&info), *then = &map->stamp;
    if (now.device != then->device || now.inode != then->inode) return false;
    return now.size != then->size || now.seconds != then->seconds || now.nanoseconds != then->nanoseconds;
}

/* Messages about the open file name it `shown`. */
static bool map_file(Diag *d, Loc at, const char *path, const char *shown, FileMap *map)
{
    struct stat info;
    int fd = open_input(d, at, path, &info);
    if (fd < 0) return false;
    map->data = (const unsigned char *)"";
    map->size = (size_t)info.st_size;
    map->stamp = stamp_of(&info);
    void *p = NULL;
    if (!S_ISREG(info.st_mode)) {
        diag_error(d, EXIT_NO_INPUT, at, "%s is not a regular file", shown);
        p = MAP_FAILED;
    } else if (map->size) {
        p = mmap(NULL, map->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED && errno == ENOMEM)
            diag_error(d, EXIT_NO_FEATURE, at, "no memory to map the %zu bytes of %s", map->size, shown);
        else if (p == MAP_FAILED) tell_errno(d, at, "map", shown, errno);
        else map->data = p;
    }
    close(fd);
    if (p == MAP_FAILED) return false;
    const bool good = !is_impostor(d, at, shown, map->data, map->size);
    if (!good) file_unmap(map);
    return good;
}

bool file_map(Diag *d, Loc at, const char *path, FileMap *map) { return map_file(d, at, path, path, map); }

void file_unmap(FileMap *map)
{
    if (map->size) munmap((void *)(uintptr_t)map->data, map->size);
    map->data = NULL;
    map->size = 0;
}

/* ---- files of our own, and of runs that were killed -------------------------------------------- */

static uint32_t hash_bytes(uint32_t h, const void *data, size_t n)
{
    for (const unsigned char *p = data; n--; p++) h = (h ^ *p) * 16777619;      /* FNV-1a */
    return h;
}

/* A hash of the host, the boot and the namespace in which process ids are unique; never 0. */
static uint32_t id_space(void)
{
    static uint32_t h;
    char text[256] = "";
    struct stat space;
    if (h) return h;
    h = 2166136261;
    gethostname(text, sizeof text - 1);
    h = hash_bytes(h, text, strlen(text));
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (f && fgets(text, sizeof text, f)) h = hash_bytes(h, text, strlen(text));
    if (f) fclose(f);
    if (stat("/proc/self/ns/pid", &space) == 0)
        h = hash_bytes(h, &space.st_ino, sizeof space.st_ino);
    return h |= 1;
}

static const char own_begin[] = ".xf-";

const char *file_own_id(Arena *a)
{
    return arena_format(a, "%08" PRIx32 "-%ld", id_space(), (long)getpid());
}

const char *file_own_name(Arena *a, const char *end)
{
    return arena_format(a, "%s%s%s", own_begin, file_own_id(a), end);
}

int file_has_owner(const char *id)
{
    char *end;
    const unsigned long space = strtoul(id, &end, 16);
    if (*end != '-' || space != id_space()) return -1;
    const long pid = strtol(end + 1, NULL, 10);
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno != ESRCH);
}

/* True if a temporary file of xformc no longer has a writer: its lock is free and its process is
 * gone. If a process with its id is alive, or ids cannot be looked up from here, the file must
 * instead be old. */
static bool is_stale(const char *path, const char *name)
{
    enum { OLD = 3600, OLD_ELSEWHERE = 86400 };         /* seconds */
    struct stat info;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    const int owner = file_has_owner(name + sizeof own_begin - 1), least = owner > 0 ? OLD : OLD_ELSEWHERE;
    if (fd < 0) return false;
    bool stale = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid();
    if (stale && owner) stale = time(NULL) - info.st_mtim.tv_sec > least;
    if (stale) stale = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return stale;
}

void file_remove_stale(const char *folder)
{
    static char last[4096];                             /* the folder searched last */
    char path[sizeof last + 256];
    const size_t n = strlen(folder);
    if (n >= sizeof last || strcmp(folder, last) == 0) return;
    memcpy(last, folder, n + 1);
    DIR *dir = opendir(folder);
    for (struct dirent *f; dir && (f = readdir(dir)) != NULL;) {
        if (strncmp(f->d_name, own_begin, sizeof own_begin - 1) != 0) continue;
        const int length = snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        if (length > 0 && (size_t)length < sizeof path && is_stale(path, f->d_name)) unlink(path);
    }
    if (dir) closedir(dir);
}

/* ---- writing -------------------------------------------------------------------------------------------- */

struct FileWriter {
    Arena *arena;
    Diag *diag;
    FILE *to;
    const char *path;       /* as given, for messages */
    const char *target;     /* the file to replace, with links resolved */
    const char *temporary;  /* NULL for a device or a pipe, written directly */
    bool failed;
};

static bool write_failed(FileWriter *w, int error)
{
    if (!w->failed) diag_error(w->diag, error == ENOMEM ? EXIT_NO_FEATURE : EXIT_IO, nowhere, "cannot write %s: %s", w->path, strerror(error));
    w->failed = true;
    return false;
}

/* Create a locked file in the target's folder, with the default permissions of new files. */
static int open_temporary(FileWriter *w)
{
    static unsigned serial;
    const char *folder = file_folder(w->arena, w->target);
    file_remove_stale(folder);
    for (int tries = 0; tries < 100; tries++) {
        const char *end = arena_format(w->arena, "-%u.tmp", serial++);
        w->temporary = file_join(w->arena, folder, file_own_name(w->arena, end));
        cleanup_add(w->temporary);
        int fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            flock(fd, LOCK_EX | LOCK_NB);
            return fd;
        }
        cleanup_drop(w->temporary);
        if (errno != EEXIST) return -1;
    }
    return -1;
}

static const char *real_path(Arena *a, const char *path)
{
    char *real = realpath(path, NULL);
    const char *copy = real ? arena_text(a, real) : NULL;
    free(real);
    return copy;
}

/* Resolve a path through links. The file need not exist yet, but its folder must. NULL with
 * errno. */
static const char *target_of(Arena *a, const char *path)
{
    enum { MOST_LINKS = 40 };
    char to[4096];
    for (int i = 0; i < MOST_LINKS; i++) {
        const char *real = real_path(a, path), *folder = file_folder(a, path);
        if (real || errno != ENOENT) return real;
        const ssize_t n = readlink(path, to, sizeof to - 1);
        if (n < 0) {
            const char *slash = strrchr(path, '/'), *whole = real_path(a, folder);
            return whole ? file_join(a, whole, slash ? slash + 1 : path) : NULL;
        }
        to[n] = '\0';
        path = file_join(a, folder, to);
    }
    errno = ELOOP;
    return NULL;
}

/* A target that is not a regular file, such as a device, is opened directly: a rename would replace
 * it. */
static int open_output(FileWriter *w)
{
    struct stat info;
    const bool there = stat(w->path, &info) == 0;
    if (!there && errno != ENOENT) return -1;
    if (there && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (there && !S_ISREG(info.st_mode)) return open(w->path, O_WRONLY | O_CLOEXEC);
    w->target = target_of(w->arena, w->path);
    return w->target ? open_temporary(w) : -1;
}

FileWriter *file_create(Arena *a, Diag *d, const char *path)
{
    FileWriter *w = arena_alloc(a, sizeof *w);
    w->arena = a;
    w->diag = d;
    w->path = arena_text(a, path);
    int fd = open_output(w);
    if (fd < 0) {
        write_failed(w, errno);
        return NULL;
    }
    w->to = fdopen(fd, "wb");
    if (!w->to) no_memory("the file %s", path);
    return w;
}

bool file_keep_private(FileWriter *w)
{
    return fchmod(fileno(w->to), 0600) == 0 || write_failed(w, errno);
}

bool file_append(FileWriter *w, const void *data, size_t size)
{
    if (w->failed) return false;
    if (size && fwrite(data, 1, size, w->to) != size) return write_failed(w, errno);
    return true;
}

bool file_patch(FileWriter *w, size_t at, const void *data, size_t size)
{
    if (w->failed) return false;
    if (fseeko(w->to, (off_t)at, SEEK_SET)) return write_failed(w, errno);
    return file_append(w, data, size) && (fseeko(w->to, 0, SEEK_END) == 0 || write_failed(w, errno));
}

bool file_view(FileWriter *w, FileMap *map)
{
    if (w->failed) return false;
    if (fflush(w->to)) return write_failed(w, errno);
    if (w->temporary && map_file(w->diag, nowhere, w->temporary, w->target, map)) return true;
    w->failed = true;
    return false;
}

bool file_commit(FileWriter *w)
{
    if (!w->failed && fflush(w->to)) write_failed(w, errno);
    if (fclose(w->to) && !w->failed) write_failed(w, errno);
    w->to = NULL;
    if (!w->failed && w->temporary && rename(w->temporary, w->target)) write_failed(w, errno);
    if (w->failed && w->temporary) unlink(w->temporary);
    if (w->temporary) cleanup_drop(w->temporary);
    return !w->failed;
}

void file_abandon(FileWriter *w)
{
    w->failed = true;
    file_commit(w);
}

bool file_write(Arena *a, Diag *d, const char *path, const void *data, size_t size)
{
    FileWriter *w = file_create(a, d, path);
    if (!w) return false;
    file_append(w, data, size);
    return file_commit(w);
}

/* True, after an error, for a name with the extension of another kind: viewers rely on
 * extensions. */
static bool is_named_otherwise(Diag *d, const char *path, FileKind kind)
{
    static const char *const endings[] = { ".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".eps", ".ps", ".html",
                                           ".md", ".txt", ".csv", ".json", ".lua" };
    const char *base = strrchr(path, '/'), *end = strrchr(base ? base : path, '.');
    if (!end || strcasecmp(end, kind.ending) == 0) return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(end, endings[i]) == 0) {
            diag_error(d, EXIT_USAGE, (Loc){ 0 }, "%s: the output is %s; use a name that ends in %s",
                       path, kind.what, kind.ending);
            return true;
        }
    return false;
}

static bool is_another_kind(Diag *d, const char *path, FileKind kind)
{
    char bytes[32];
    const size_t most = strlen(kind.begins) < sizeof bytes ? strlen(kind.begins) : sizeof bytes, n = file_first_bytes(path, bytes, most);
    if (!n || (n == most && memcmp(bytes, kind.begins, n) == 0)) return is_named_otherwise(d, path, kind);
    diag_error(d, EXIT_BAD_DATA, (Loc){ path, 0, 0 }, "not %s, so it was left unchanged", kind.what);
    return true;
}

bool file_replace(Arena *a, Diag *d, const char *path, FileKind kind, const void *data, size_t size)
{
    return !is_another_kind(d, path, kind) && file_write(a, d, path, data, size);
}

bool file_may_replace(Arena *a, Diag *d, const char *path, FileKind kind)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return true;
    FileWriter *w = is_another_kind(d, path, kind) ? NULL : file_create(a, d, path);
    if (w) file_abandon(w);
    return w != NULL;
}

/* ---- folders and names ---------------------------------------------------------------------------------- */

bool file_is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool file_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool file_is_same(Arena *arena, const char *a, const char *b)
{
    struct stat x, y;
    if (stat(a, &x) == 0 && stat(b, &y) == 0) return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    const char *first = target_of(arena, a), *second = target_of(arena, b);
    return first && second && strcmp(first, second) == 0;
}

size_t file_first_bytes(const char *path, void *bytes, size_t room)
{
    const int fd = file_is_regular(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const ssize_t n = fd < 0 ? 0 : pread(fd, bytes, room, 0);
    if (fd >= 0) close(fd);
    return n < 0 ? 0 : (size_t)n;
}

bool file_has_room(Arena *a, Diag *d, const char *path, double bytes)
{
    struct statvfs disk;
    const char *there = path;               /* or its nearest existing parent */
    while (statvfs(there, &disk) != 0) {
        if (!strcmp(there, ".") || !strcmp(there, "/")) return true;
        there = file_folder(a, there);
    }
    const double room = (double)disk.f_bavail * (double)disk.f_frsize;
    if (bytes <= room || !disk.f_blocks) return true;       /* /proc has no blocks */
    diag_error(d, EXIT_IO, nowhere, "%s: no room for %s; the disk has only %s free", path,
               text_bytes(a, (size_t)bytes), text_bytes(a, (size_t)room));
    return false;
}

static bool make_one(const char *path)
{
    if (!mkdir(path, 0777)) return true;
    int error = errno;
    if (file_is_folder(path)) return true;
    errno = error;
    return false;
}

bool file_make_folder(Diag *d, const char *path)
{
    char *part = strdup(path);
    if (!part) no_memory("a path of %zu bytes", strlen(path));
    bool made = true;
    for (char *slash = part + 1; *part && made && (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        made = make_one(part);
        *slash = '/';
    }
    if (made) made = make_one(part);
    if (!made) diag_error(d, EXIT_IO, nowhere, "cannot create folder %s: %s", path, strerror(errno));
    free(part);
    return made;
}

const char *file_join(Arena *a, const char *folder, const char *name)
{
    if (name[0] == '/' || !strcmp(folder, ".")) return arena_text(a, name);
    size_t n = strlen(folder);
    return arena_format(a, n && folder[n - 1] == '/' ? "%s%s" : "%s/%s", folder, name);
}

const char *file_folder(Arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return ".";
    return arena_copy(a, path, slash == path ? 1 : (size_t)(slash - path));
}

/* The folder of this program; NULL if the system does not report it. */
static const char *program_folder(Arena *a)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) return NULL;
    path[n] = '\0';
    return file_folder(a, path);
}

const char *file_installed(Arena *a, const char *path)
{
    static const char *const usual[] = { "/usr/local/share/xformc", "/usr/share/xformc" };
    const char *beside = program_folder(a), *there;
    if (*path == '/' || access(path, F_OK) == 0) return path;
    if (beside && access(there = arena_format(a, "%s/../share/xformc/%s", beside, path), F_OK) == 0) return there;
    for (int i = 0; i < 2; i++)
        if (access(there = file_join(a, usual[i], path), F_OK) == 0) return there;
    return path;
}
