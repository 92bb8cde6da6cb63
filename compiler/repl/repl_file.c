/* repl_file.c: run a Lua file. It runs as a whole; if that gives a syntax error, as do the bare
 * expressions of a session that :save wrote, it runs piece by piece like lines from a pipe. All
 * pieces are parsed before the first one runs, so that nothing runs if one has a syntax error. */
#include "repl.h"

#include <string.h>

#include "file.h"

enum { MOST_BYTES = 16 << 20, DEEPEST = 16 };

/* The lines of a file that are one chunk or one command, from `line` on. */
typedef struct Piece { const char *text; int line; bool command; } Piece;
typedef struct Cut { Arena *arena; Piece *list; int count; size_t room; } Cut;

static void add_piece(Cut *p, Piece piece)
{
    if ((size_t)p->count == p->room) {
        const size_t room = p->room ? 2 * p->room : 64;
        p->list = arena_grow(p->arena, p->list, p->room * sizeof *p->list, room * sizeof *p->list);
        p->room = room;
    }
    p->list[p->count++] = piece;
}

/* Join a piece that is not Lua by itself with the piece before it, which is removed from the list:
 * `a = b` and `+ c` on the next line are one piece. CHUNK_FAILED if the piece before is a
 * command or missing, or if together they are not Lua either. */
static ChunkResult join(Repl *r, Cut *p, Piece *piece)
{
    const Piece *before = p->count ? &p->list[p->count - 1] : NULL;
    if (!before || before->command) return CHUNK_FAILED;
    Text joined = text_new(p->arena);
    text_add(&joined, before->text);
    const char *at = before->text;
    int line = before->line;
    for (; *at; at++) line += *at == '\n';
    for (; line < piece->line; line++) text_add(&joined, "\n");
    text_add(&joined, piece->text);
    const ChunkResult result = repl_chunk_check(r, joined.data);
    if (result == CHUNK_FAILED) return CHUNK_FAILED;
    *piece = (Piece){ joined.data, before->line, false };
    p->count--;
    return result;
}

/* Split a file into pieces. False if a piece is not Lua; then *bad is that piece. */
static bool cut(Repl *r, Cut *p, const char *text, Piece *bad)
{
    Text chunk = text_new(p->arena);
    ReplScan scan = REPL_SCAN;
    int begin = 1, line = 0;
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, "\n");
        const char *this = arena_copy(p->arena, text, (size_t)(end - text));
        line++;
        if (!chunk.size) {
            begin = line;
            if (!this[strspn(this, " \t\r")]) continue;
            if (repl_is_command(this)) {
                add_piece(p, (Piece){ this, line, true });
                continue;
            }
        }
        text_printf(&chunk, "%s%s", chunk.size ? "\n" : "", this);
        repl_scan(&scan, this);
        if (!repl_scan_due(&scan, chunk.size)) continue;
        Piece piece = { arena_text(p->arena, chunk.data + (*chunk.data == '=')), begin, false };
        ChunkResult result = repl_chunk_check(r, piece.text);
        if (result == CHUNK_FAILED) {
            *bad = piece;
            result = join(r, p, &piece);
            if (result == CHUNK_FAILED) return false;
            chunk = text_new(p->arena);
            text_add(&chunk, piece.text);
            begin = piece.line;
        }
        if (result == CHUNK_INCOMPLETE) continue;
        add_piece(p, piece);
        chunk.size = 0;
        scan = REPL_SCAN;
    }
    *bad = (Piece){ chunk.data, begin, false };
    return !chunk.size;
}

static bool run_pieces(Repl *r, const Cut *p, const ReplWhole *whole)
{
    bool good = true;
    for (int i = 0; i < p->count && !r->quit && !(i && repl_interrupted()); i++) {
        const Piece *piece = &p->list[i];
        const Exit before = r->exit_code;
        r->exit_code = EXIT_DONE;
        if (piece->command) repl_run_command(r, piece->text);
        else repl_run_piece(r, whole, piece->line, piece->text);
        good = good && r->exit_code == EXIT_DONE;
        if (r->exit_code == EXIT_DONE) r->exit_code = before;
    }
    return good;
}

/* Run a file that is not valid Lua as a whole. */
static bool run_lines(Repl *r, const char *path, const char *text)
{
    Arena *a = arena_new();
    Cut pieces = { .arena = a };
    Piece bad;
    const ReplWhole whole = repl_whole(r, path, text);
    const bool good = cut(r, &pieces, text, &bad) ? run_pieces(r, &pieces, &whole) : repl_run_piece(r, &whole, bad.line, bad.text) == CHUNK_DONE;
    arena_free(a);
    return good;
}

bool repl_file(Repl *r, const char *path)
{
    static const char mark[] = "\xEF\xBB\xBF";
    if (r->files == DEEPEST) {
        repl_refuse(r, EXIT_BAD_DATA, "%s: files load each other more than %d levels deep", path, DEEPEST);
        return false;
    }
    Arena *a = arena_new();
    Diag *d = diag_new(a);
    size_t size, lines = 1;
    char *text = file_read(a, d, (Loc){ 0 }, path, MOST_BYTES, &size);
    const char *zero = text ? memchr(text, 0, size) : NULL;
    for (const char *s = text; zero && s < zero; s++) lines += *s == '\n';
    if (zero) diag_error(d, EXIT_BAD_DATA, (Loc){ path, (int)lines, 0 }, "a zero byte; a Lua file must be text");
    diag_print(d, stderr, diag_colours(2));
    if (diag_errors(d)) r->exit_code = diag_exit(d);
    bool good = !diag_errors(d);
    const size_t marked = good && size >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    if (marked) memset(text, ' ', marked);
    if (good && size >= marked + 2 && memcmp(text + marked, "#!", 2) == 0) memcpy(text + marked, "--", 2);
    r->files++;
    if (good) good = repl_is_lua(r, text) ? repl_run(r, path, text, true) == CHUNK_DONE : run_lines(r, path, text);
    r->files--;
    arena_free(a);
    return good;
}
