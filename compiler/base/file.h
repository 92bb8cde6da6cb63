/* file.h: read and write whole files. Errors go to the Diag, with path and strerror. */
#ifndef FILE_H
#define FILE_H

#include <stdint.h>

#include "diag.h"

/* Recognise content that is not the expected file: a Git LFS pointer, an HTML page, an error
 * message of a server. Returns a sentence without its subject, or NULL. file_read and file_map
 * reject such files. */
const char *file_impostor(const void *bytes, size_t n);

/* The bytes of a file, NUL-terminated, in the arena; NULL after an error reported at `at`: 65 if it
 * is larger than `limit` or an impostor, 66 if missing or a folder, 69 if the system lacks memory,
 * 74 if unreadable. */
char *file_read(Arena *a, Diag *d, Loc at, const char *path, size_t limit, size_t *size);

/* Which file it is, and when it was last changed. */
typedef struct FileStamp {
    uint64_t device, inode;
    int64_t size, seconds, nanoseconds;             /* mtime */
    int64_t changed_seconds, changed_nanoseconds;   /* ctime: changes of name or mode too */
} FileStamp;
/* A file mapped read-only until file_unmap; an empty file gives size 0 and a valid pointer. */
typedef struct FileMap { const unsigned char *data; size_t size; FileStamp stamp; } FileMap;
bool  file_map(Diag *d, Loc at, const char *path, FileMap *map);
/* True if the mapped file has been written to since it was mapped, so the mapped bytes may have
 * changed or be gone. Another file renamed over it does not count: the mapping keeps the old
 * file. */
bool  file_map_changed(const FileMap *map, const char *path);
void  file_unmap(FileMap *map);

/* Writes a temporary file in the same folder and renames it when complete, so that no partial file
 * appears. A device or a pipe is written directly. */
typedef struct FileWriter FileWriter;
FileWriter *file_create(Arena *a, Diag *d, const char *path);           /* NULL after an error */
bool  file_keep_private(FileWriter *w);                 /* mode 0600; false after an error */
bool  file_append(FileWriter *w, const void *data, size_t size);        /* false after the first error */
bool  file_patch(FileWriter *w, size_t at, const void *data, size_t size);  /* overwrite; not a
                                                                             * pipe */
bool  file_view(FileWriter *w, FileMap *map);   /* map what is written; not a pipe or device */
bool  file_commit(FileWriter *w);               /* rename; after an error, remove the temporary
                                                 * file and return false */
void  file_abandon(FileWriter *w);
bool  file_write(Arena *a, Diag *d, const char *path, const void *data, size_t size);

/* SPACE-PID, which identifies this process across all machines. file_has_owner takes a text that
 * begins with a SPACE-PID. It returns 1 if that process is alive, 0 if not, -1 if SPACE differs
 * from ours. */
const char *file_own_id(Arena *a);
int   file_has_owner(const char *id);

/* A file name that is unique to this process. file_remove_stale removes such files of killed
 * processes from a folder; a file whose process may be alive, only if the file is old. A call
 * for the folder searched last does nothing. */
const char *file_own_name(Arena *a, const char *end);                   /* end: ".log" */
void  file_remove_stale(const char *folder);

/* file_replace overwrites only a file of the same kind. A file that is not empty and begins
 * differently is left as it is: EXIT_BAD_DATA. A name with the extension of another kind, such as
 * "x.png", is an error, too: EXIT_USAGE. */
typedef struct FileKind { const char *begins, *what, *ending; } FileKind;       /* "<svg", "an SVG picture", ".svg" */
bool  file_replace(Arena *a, Diag *d, const char *path, FileKind kind, const void *data, size_t size);
/* Do the checks of file_replace in advance, before long work. Opens no device and leaves no
 * file. */
bool  file_may_replace(Arena *a, Diag *d, const char *path, FileKind kind);

/* True if the file system of `path`, which need not exist yet, has that many bytes free, or
 * does not say; false after an error, EXIT_IO. */
bool  file_has_room(Arena *a, Diag *d, const char *path, double bytes);

/* Flush standard output: NULL if everything ever printed was written, else the reason. */
const char *file_output_fault(void);

bool  file_is_regular(const char *path);                                /* follows links */
/* `path`; if it is relative and missing, the file that `make install` installed under that name, if
 * there is one: in ../share/xformc relative to this program's folder, else in
 * /usr/local/share/xformc or /usr/share/xformc. */
const char *file_installed(Arena *a, const char *path);
bool  file_is_folder(const char *path);
/* True if both names refer to the same regular file, which need not exist yet. */
bool  file_is_same(Arena *arena, const char *a, const char *b);
/* Returns how many bytes were read; 0 if the file is empty, unreadable or not regular. */
size_t file_first_bytes(const char *path, void *bytes, size_t room);

bool  file_make_folder(Diag *d, const char *path);                      /* with parents; existing is fine */
const char *file_join(Arena *a, const char *folder, const char *name);  /* an absolute name stays as it is */
const char *file_folder(Arena *a, const char *path);                    /* "." where there is none */

#endif
