/* file.h: whole files, read and written. Errors go to the Diag, with path and strerror. */
#ifndef FILE_H
#define FILE_H

#include <stdint.h>

#include "diag.h"

/* What the bytes are, where they are no file that anybody meant but what stands in its place: a pointer of Git LFS, an HTML
 * page, an answer of a server. A sentence without its subject, or NULL. file_read and file_map refuse these. */
const char *file_impostor(const void *bytes, size_t n);

/* The bytes of a file, NUL-terminated, in the arena; NULL after an error reported at `at`: 66 not there, 74 unreadable,
 * 65 larger than `limit`. A folder is an error. */
char *file_read(Arena *a, Diag *d, Loc at, const char *path, size_t limit, size_t *size);

/* A file mapped read-only until file_unmap; an empty file gives size 0 and a valid pointer. */
typedef struct FileStamp {
    uint64_t device, inode;
    int64_t size, seconds, nanoseconds;             /* of the last writing */
    int64_t changed_seconds, changed_nanoseconds;   /* of the last change, of its name or mode too */
} FileStamp;
typedef struct FileMap { const unsigned char *data; size_t size; FileStamp stamp; } FileMap;
bool  file_map(Diag *d, Loc at, const char *path, FileMap *map);
/* Whether the mapped file was written to since: its bytes are others now, and past its end there are none. Another file that
 * took its name does not count: what is mapped stays. */
bool  file_map_changed(const FileMap *map, const char *path);
void  file_unmap(FileMap *map);

/* A file written beside its place and renamed over it when complete, so it is never half there. */
typedef struct FileWriter FileWriter;
FileWriter *file_create(Arena *a, Diag *d, const char *path);           /* NULL after an error */
bool  file_keep_private(FileWriter *w);                 /* mode 0600; false after an error */
bool  file_append(FileWriter *w, const void *data, size_t size);        /* false after the first error */
bool  file_patch(FileWriter *w, size_t at, const void *data, size_t size);      /* over what was written; not of a pipe */
bool  file_view(FileWriter *w, FileMap *map);   /* what is written so far; not of a pipe */
bool  file_commit(FileWriter *w);                                       /* rename; false after an error, and removed */
void  file_abandon(FileWriter *w);
bool  file_write(Arena *a, Diag *d, const char *path, const void *data, size_t size);

/* SPACE-PID: what tells this process from every other, also of another machine. Whether the process of
 * an id, and of what follows it, is alive: 1 yes, 0 no, -1 where it is of another SPACE. */
const char *file_own_id(Arena *a);
int   file_has_owner(const char *id);

/* A name that no file of the user's has and no other process gives. Such files of processes that were
 * killed are removed; one that may be a live one's stays. */
const char *file_own_name(Arena *a, const char *end);                   /* end: ".log" */
void  file_remove_stale(const char *folder);

/* What takes the place of nothing but its own kind: a file that begins otherwise, and is not empty, stays as it is, EXIT_BAD_DATA.
 * A name that ends as files of other kinds do, "x.png", is EXIT_USAGE. */
typedef struct FileKind { const char *begins, *what, *ending; } FileKind;       /* "<svg", "an SVG picture", ".svg" */
bool  file_replace(Arena *a, Diag *d, const char *path, FileKind kind, const void *data, size_t size);
bool  file_may_replace(Arena *a, Diag *d, const char *path, FileKind kind);     /* before long work; opens no device, and leaves nothing */

/* Whether the disk that `path` lies on, or will, has so much room; false after an error, EXIT_IO. */
bool  file_has_room(Arena *a, Diag *d, const char *path, double bytes);

/* Flush standard output: NULL where all that was ever put there is written, else why not. */
const char *file_output_fault(void);

bool  file_is_regular(const char *path);                                /* through links; a pipe or a device is none */
/* `path`, or where nothing is there and it is relative, what `make install` put under that name: in share/xformc beside
 * the folder of this program. */
const char *file_installed(Arena *a, const char *path);
bool  file_is_folder(const char *path);
bool  file_is_same(Arena *arena, const char *a, const char *b);        /* one file by two names, also where it is not there yet */
size_t file_first_bytes(const char *path, void *bytes, size_t room);    /* of a regular file, else 0 */

bool  file_make_folder(Diag *d, const char *path);                      /* with parents; existing is fine */
const char *file_join(Arena *a, const char *folder, const char *name);  /* an absolute name stays as it is */
const char *file_folder(Arena *a, const char *path);                    /* "." where there is none */

#endif
