/* c_depth.h: how deep a C text is nested. libtcc reads expressions and statements by functions that call themselves, so what is
 * nested without end would overflow the stack; it is refused before libtcc sees it. */
#ifndef C_DEPTH_H
#define C_DEPTH_H

enum { C_MOST_BRACKETS = 256, C_MOST_TOKENS = 2048, C_MOST_ELSES = 512 };

/* The line, from 1, at which more than that many brackets are open, tokens follow each other without ; , { or }, or `else` stands in
 * one function, and in *what words for it; 0 where none is. Lines of the preprocessor, comments and texts do not count. */
int c_too_deep(const char *text, const char **what);

#endif
