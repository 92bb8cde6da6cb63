/* file_kind.c: recognise, by its first bytes, content that was saved in place of the file that was
 * to be downloaded. */
#include "file.h"

#include <string.h>
#include <strings.h>

typedef struct Impostor { const char *begins, *sentence; } Impostor;

/* Saved by a git clone, a browser or a download tool. Case, a byte order mark and leading
 * white space are ignored. */
static const Impostor impostors[] = {
    { "version https://git-lfs.github.com/spec/", "is a Git LFS pointer, not the file itself: run `git lfs pull` in its folder" },
    { "version https://hawser.github.com/spec/", "is a Git LFS pointer, not the file itself: run `git lfs pull` in its folder" },
    { "<!doctype html", "is an HTML page, not the file itself: download the file, not the page that shows it" },
    { "<html", "is an HTML page, not the file itself: download the file, not the page that shows it" },
    { "entry not found", "is a server's error message, not the file: \"Entry not found\"" },
    { "repository not found", "is a server's error message, not the file: \"Repository not "
      "found\"" },
    { "invalid username or password", "is a server's error message, not the file: \"Invalid "
      "username or password\"" },
    { "access to model ", "is a server's error message, not the file: log in and accept the "
      "model's licence" },
};

const char *file_impostor(const void *bytes, size_t n)
{
    const char *s = bytes;
    if (n >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0) s += 3, n -= 3;
    while (n && (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\n')) s++, n--;
    for (size_t i = 0; i < sizeof impostors / sizeof *impostors; i++) {
        const size_t length = strlen(impostors[i].begins);
        if (n >= length && strncasecmp(s, impostors[i].begins, length) == 0) return impostors[i].sentence;
    }
    return NULL;
}
