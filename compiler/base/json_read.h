/* json_read.h: the one reader of JSON that others wrote. It takes what JSON allows and the library alone refuses: numbers of any
 * size, as real ones, and \u0000 in texts, which json_string_length then counts. */
#ifndef JSON_READ_H
#define JSON_READ_H

#include <jansson.h>

#include "diag.h"

/* The value of a text s[n], which the caller gives back; NULL with *error filled. flags: of the library. */
json_t *json_parse(Arena *a, const char *s, size_t n, size_t flags, json_error_t *error);

/* The same for the content of a file; NULL after a reported error with its line, which shows nothing of the text. */
json_t *json_read(Arena *a, Diag *d, const char *path, const char *s, size_t n);

/* The object in a file, which the caller gives back; NULL where nothing has this name, or after an error. */
json_t *json_read_object(Arena *a, Diag *d, const char *path);

/* What a parser says, without the piece of the text that it found last. */
const char *json_fault(Arena *a, const char *said);

#endif
