/* json_read.h: read all JSON that xformc did not write. The parser also accepts what JSON allows
 * but the library rejects: integers beyond 2^63 - 1 in magnitude, which become reals, and \u0000 in
 * strings, whose length only json_string_length gives. */
#ifndef JSON_READ_H
#define JSON_READ_H

#include <jansson.h>

#include "diag.h"

/* Parse s[n]; NULL with *error filled. The caller owns the value (json_decref). flags: the
 * library's JSON_... */
json_t *json_parse(Arena *a, const char *s, size_t n, size_t flags, json_error_t *error);

/* Like json_parse, for the content of the file `path`; NULL after an error reported at its line,
 * which quotes none of the text. */
json_t *json_read(Arena *a, Diag *d, const char *path, const char *s, size_t n);

/* The object in a file, owned by the caller; NULL if the file does not exist, or after an error. */
json_t *json_read_object(Arena *a, Diag *d, const char *path);

/* A message of the parser without the quoted text: everything before " near '". */
const char *json_fault(Arena *a, const char *said);

#endif
