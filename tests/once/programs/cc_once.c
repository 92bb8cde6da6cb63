/* cc_once.c: a compiler that compiles the same text only once. usage: cc_once STORE CC ARGUMENT...
 * CC is the full path of a compiler. If the command compiles one file with -c, its object is kept
 * in the folder STORE under a hash of the preprocessed text, the compiler and the arguments, and
 * copied from there the next time. With -MMD a note lists the sources of the text, so that next
 * time it need not be preprocessed. CC does everything else itself: linking, .incbin, options such
 * as -g and -E, and whatever fails or prints messages. If XFORMC_COMPILE_ANEW is set, CC
 * does everything. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A command: its words, and what they say about its output. */
typedef struct Command { char **words; int count; const char *object, *source; bool compiles, dependencies; } Command;

static char text[PATH_MAX], said[PATH_MAX], kept[PATH_MAX], fresh[PATH_MAX], depends[PATH_MAX], noted[PATH_MAX];
static volatile sig_atomic_t caught, child;

static void pass_on(int signal)
{
    caught = signal;
    if (child) kill((pid_t)child, signal);
}

static bool ends_in(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* Read the words of a command. True if the object depends only on them and on the preprocessed
 * text. */
static bool understood(Command *c)
{
    int sources = 0;
    for (int i = 1; i < c->count; i++) {
        const char *w = c->words[i];
        if (!strcmp(w, "-c")) c->compiles = true;
        else if (!strcmp(w, "-MMD")) c->dependencies = true;
        else if (!strcmp(w, "-o") && i + 1 < c->count) c->object = c->words[++i];
        else if (w[0] != '-' && ends_in(w, ".c")) c->source = w, sources++;
        else if ((!strncmp(w, "-I", 2) || !strncmp(w, "-D", 2)) && w[2]) continue;
        else if (w[0] != '-' || (!strncmp(w, "-M", 2) && strcmp(w, "-MP")) || !strncmp(w, "-save", 5) || !strncmp(w, "-g", 2) ||
                 !strcmp(w, "-E") || !strcmp(w, "-S") || !strncmp(w, "-x", 2) || !w[1]) return false;
    }
    return c->compiles && sources == 1 && c->object && ends_in(c->object, ".o");
}

/* Run a command, with its messages in a file unless `messages` is NULL. Returns the wait status. */
static int run(char **words, const char *messages)
{
    const pid_t id = fork();
    if (id == 0) {
        if (messages && dup2(open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0666), 2) < 0) _exit(127);
        execv(words[0], words);
        _exit(127);
    }
    int status = 127 << 8;
    if (id < 0) return status;
    child = id;
    if (caught) kill(id, caught);
    while (waitpid(id, &status, 0) < 0 && errno == EINTR) {}
    child = 0;
    return status;
}

/* Preprocess into `text`; with -MMD, also list the sources in `depends`. */
static bool preprocess(const Command *c)
{
    static char e[] = "-E", o[] = "-o", mmd[] = "-MMD", mp[] = "-MP", mf[] = "-MF", mt[] = "-MT";
    char *rest[] = { e, o, text, c->dependencies ? mmd : NULL, mp, mf, depends, mt, (char *)c->object, NULL };
    char **words = calloc((size_t)c->count + sizeof rest / sizeof *rest, sizeof *words);
    int n = 0;
    for (int i = 0; words && i < c->count; i++) {
        if (!strcmp(c->words[i], "-o")) i++;
        else if (strcmp(c->words[i], "-c") && strcmp(c->words[i], "-MMD") && strcmp(c->words[i], "-MP")) words[n++] = c->words[i];
    }
    if (!words) return false;
    memcpy(words + n, rest, sizeof rest);
    const bool good = run(words, said) == 0;
    free(words);
    return good;
}

/* FNV-1a, and a similar hash with other constants. */
typedef struct Hash { uint64_t a, b; } Hash;
static void hash_byte(Hash *h, unsigned char c)
{
    h->a = (h->a ^ c) * 1099511628211u;
    h->b = (h->b ^ c) * 6364136223846793005u + 1442695040888963407u;
}
static void hash_word(Hash *h, const char *s)
{
    for (; *s; s++) hash_byte(h, (unsigned char)*s);
    hash_byte(h, 0);
}

/* Hash the compiler and its words, without the output, -MMD and -MP. */
static bool hash_command(Hash *h, const Command *c)
{
    char compiler[PATH_MAX];
    if (!realpath(c->words[0], compiler)) return false;                    /* cc may be a link to gcc */
    hash_word(h, compiler);
    for (int i = 1; i < c->count; i++) {
        if (c->words[i] == c->object) continue;
        if (strcmp(c->words[i], "-MMD") && strcmp(c->words[i], "-MP")) hash_word(h, c->words[i]);
    }
    return true;
}

static bool hash_file(Hash *h, const char *path)
{
    FILE *f = fopen(path, "rb");
    int byte;
    if (!f) return false;
    while ((byte = getc_unlocked(f)) != EOF) hash_byte(h, (unsigned char)byte);
    return fclose(f) == 0;
}

static const Hash beginning = { 14695981039346656037u, 88172645463325252u };

/* Name the object in the store. False if its text has an .incbin or cannot be read. */
static bool name_object(const Command *c, const char *store)
{
    static const char incbin[] = ".incbin";
    Hash h = beginning;
    if (!hash_command(&h, c)) return false;
    FILE *f = fopen(text, "rb");
    size_t seen = 0;
    int byte;
    if (!f) return false;
    while ((byte = getc_unlocked(f)) != EOF && seen < sizeof incbin - 1) {
        hash_byte(&h, (unsigned char)byte);
        seen = byte == incbin[seen] ? seen + 1 : byte == incbin[0];
    }
    fclose(f);
    snprintf(kept, sizeof kept, "%s/%016llx%016llx.o", store, (unsigned long long)h.a, (unsigned long long)h.b);
    return seen < sizeof incbin - 1;
}

/* Copy a file. False if it is missing or the copy is incomplete. */
static bool copy(const char *from, const char *to)
{
    static char bytes[1 << 16];
    size_t n;
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    bool good = out != NULL;
    while (good && (n = fread(bytes, 1, sizeof bytes, in)) > 0) good = fwrite(bytes, 1, n, out) == n;
    if (in) good = !ferror(in) && fclose(in) == 0 && good;
    if (out) good = fclose(out) == 0 && good;
    return good;
}

/* Print the compiler's messages to standard error. True if there are none. */
static bool repeat(void)
{
    char bytes[4096];
    ssize_t n, all = 0;
    const int from = open(said, O_RDONLY);
    while (from >= 0 && (n = read(from, bytes, sizeof bytes)) > 0) {
        all += n;
        if (write(2, bytes, (size_t)n) < 0) break;
    }
    if (from >= 0) close(from);
    return all == 0;
}

static void remove_temporaries(void)
{
    unlink(text);
    unlink(said);
    unlink(fresh);
    unlink(depends);
}

static int finish(int status)
{
    remove_temporaries();
    const int signalled = caught ? caught : WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (!signalled) return WEXITSTATUS(status);
    signal(signalled, SIG_DFL);
    raise(signalled);
    return 128 + signalled;
}

/* ---- notes: the object's name in the store, then the hash and path of each source of its text,
 * then the compiler's list of them without the object's name, as make reads it ---- */

static bool name_note(const Command *c, const char *store)
{
    Hash h = beginning;
    hash_word(&h, "note");
    if (!c->dependencies || !hash_command(&h, c) || !hash_file(&h, c->source)) return false;
    snprintf(noted, sizeof noted, "%s/%016llx%016llx.note", store, (unsigned long long)h.a, (unsigned long long)h.b);
    return true;
}

/* foo.o -> foo.d */
static void name_list(const Command *c, char to[PATH_MAX]) { snprintf(to, PATH_MAX, "%.*s.d", (int)strlen(c->object) - 2, c->object); }

static bool all_hash(FILE *note)
{
    char line[PATH_MAX + 64];
    while (fgets(line, sizeof line, note) && strcmp(line, "\n")) {
        Hash h = beginning;
        unsigned long long a, b;
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%llx %llx %n", &a, &b, &at) != 2 || !at || !hash_file(&h, line + at) || h.a != a || h.b != b) return false;
    }
    return true;
}

/* Copy the object that a note names, and write the list for make, if all sources are unchanged. */
static bool copy_noted(const Command *c)
{
    char list[PATH_MAX], bytes[1 << 12];
    FILE *note = fopen(noted, "rb"), *to;
    size_t n;
    if (!note) return false;
    bool good = fgets(kept, sizeof kept, note) != NULL && all_hash(note);
    kept[strcspn(kept, "\n")] = '\0';
    name_list(c, list);
    if (good && (good = copy(kept, c->object)) && (good = (to = fopen(list, "wb")) != NULL)) {
        fputs(c->object, to);
        while ((n = fread(bytes, 1, sizeof bytes, note)) > 0) good = fwrite(bytes, 1, n, to) == n && good;
        good = fclose(to) == 0 && good;
    }
    fclose(note);
    return good;
}

/* Write a note from the list in `depends`; no note if there is no list, or if a name in it has a
 * blank or an escape. */
static void write_note(const Command *c)
{
    static char list[1 << 16];
    FILE *from = *noted ? fopen(depends, "rb") : NULL, *to = from ? fopen(fresh, "wb") : NULL;
    const size_t n = to ? fread(list, 1, sizeof list - 1, from) : 0, own = strlen(c->object);
    bool good = n > own && n < sizeof list - 1 && !strncmp(list, c->object, own) && list[own] == ':';
    if (from) fclose(from);
    if (!to) return;
    list[n] = '\0';
    fprintf(to, "%s\n", kept);
    for (const char *s = list + own + 1; good && *s && *s != '\n';) {
        const size_t length = strcspn(s, " \\\n");
        char path[PATH_MAX];
        Hash h = beginning;
        if (!length && *s == ' ') s++;
        else if (!length) good = s[0] == '\\' && s[1] == '\n', s += 2;
        else {
            snprintf(path, sizeof path, "%.*s", (int)length, s);
            good = hash_file(&h, path) && fprintf(to, "%016llx %016llx %s\n", (unsigned long long)h.a, (unsigned long long)h.b, path) > 0;
            s += length;
        }
    }
    fprintf(to, "\n%s", n > own ? list + own : "");
    if (fclose(to) == 0 && good) rename(fresh, noted);
    else unlink(fresh);
}

/* Compile, and keep the object if the compiler succeeded without messages. */
static int compile_and_keep(const Command *c)
{
    const int status = run(c->words, said);
    const bool silent = repeat();
    if (status == 0 && silent && !caught && copy(c->object, fresh) && rename(fresh, kept) == 0) write_note(c);
    return finish(status);
}

static bool copy_dependencies(const Command *c)
{
    char to[PATH_MAX];
    if (!c->dependencies) return true;
    name_list(c, to);
    return copy(depends, to);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: cc_once STORE CC ARGUMENT...\n", stderr);
        return 2;
    }
    Command c = { .words = argv + 2, .count = argc - 2 };
    const char *store = argv[1], *names[] = { "i", "err", "o", "d" };
    char *places[] = { text, said, fresh, depends };
    for (int i = 0; i < 4; i++) snprintf(places[i], PATH_MAX, "%s/%ld.%s", store, (long)getpid(), names[i]);
    if (!getenv("XFORMC_COMPILE_ANEW") && understood(&c)) {
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
        for (int i = 0; i < 3; i++)
            if (signal(signals[i], pass_on) == SIG_IGN) signal(signals[i], SIG_IGN);
        if (name_note(&c, store) && copy_noted(&c)) return 0;
        if (preprocess(&c) && !caught && name_object(&c, store)) {
            if (access(kept, R_OK) == 0 && copy(kept, c.object) && copy_dependencies(&c)) {
                write_note(&c);
                return finish(0);
            }
            return compile_and_keep(&c);
        }
        remove_temporaries();
        if (caught) return finish(0);
    }
    execv(argv[2], argv + 2);
    fprintf(stderr, "cc_once: cannot run %s: %s\n", argv[2], strerror(errno));
    return 127;
}
