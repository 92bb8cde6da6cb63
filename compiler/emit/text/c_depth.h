/* c_depth.h: check how deeply a C text is nested. libtcc parses expressions and statements by
 * recursion, so extreme nesting would overflow the stack; such a text is rejected before libtcc
 * sees it. */
#ifndef C_DEPTH_H
#define C_DEPTH_H

enum { C_MOST_BRACKETS = 256, C_MOST_TOKENS = 2048, C_MOST_ELSES = 512 };

/* The number of the first line that exceeds a limit, counted from 1; *what receives a description.
 * 0 if no line does. The limits are on open brackets, tokens without ; , { or } between them, and
 * `else` within one function. Preprocessor lines and comments are skipped; a string is one
 * token. */
int c_too_deep(const char *text, const char **what);

#endif
