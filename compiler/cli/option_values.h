/* option_values.h: parse the values of command-line options. The functions option_* return false
 * after reporting what is wrong. */
#ifndef OPTION_VALUES_H
#define OPTION_VALUES_H

#include <stdarg.h>

#include "run_options.h"

/* Print one line `xformc: …` on standard error, with control characters, invisible characters and
 * invalid UTF-8 escaped. */
__attribute__((format(printf, 1, 2))) void tell(const char *format, ...);
__attribute__((format(printf, 1, 0))) void tell_arguments(const char *format, va_list args);

bool option_integer(const char *option, const char *text, int least, int most, int *out);
/* Numbers separated by commas: at most `most` of them, each from 1 to `most`. */
bool option_threads(const char *option, const char *text, int *threads, int most, int *count);
bool option_bytes(const char *option, const char *text, size_t *out);
bool option_seconds(const char *option, const char *text, double *out);
bool option_word(const char *option, const char *text, const char *const *words, int n);
bool option_setting(const char *option, const char *text, GenerationOptions *g);
bool option_isas(const char *option, const char *text);
bool option_text(const char *option, const char *text, const char **out);

#endif
