/* runtime_text.c: the files of runtime/, embedded by the assembler; paths are relative to the top
 * folder. */
#include "runtime_text.h"

#include <string.h>

#include "arena.h"

#ifdef __APPLE__
#define SECTION ".const"
#define SYMBOL(id) "_runtime_text_" #id
#else
#define SECTION ".section .rodata"
#define SYMBOL(id) "runtime_text_" #id
#endif

#define RUNTIME_FILE(id, folder, name, use)                                                                  \
    __asm__(SECTION "\n.globl " SYMBOL(id) "\n" SYMBOL(id) ":\n.incbin \"runtime/" folder name "\"\n.byte 0\n.text\n"); \
    extern const char runtime_text_##id[];
#include "runtime_files.def"
#undef RUNTIME_FILE

const RuntimeFile runtime_files[] = {
#define RUNTIME_FILE(id, folder, name, use) { name, runtime_text_##id, RUNTIME_##use },
#include "runtime_files.def"
#undef RUNTIME_FILE
    { NULL, NULL, RUNTIME_NONE }
};

const RuntimeFile *runtime_find(const char *name)
{
    for (const RuntimeFile *f = runtime_files; f->name; f++)
        if (strcmp(f->name, name) == 0) return f;
    die("no runtime file %s", name);
}

const char *runtime_text(const char *name) { return runtime_find(name)->text; }
