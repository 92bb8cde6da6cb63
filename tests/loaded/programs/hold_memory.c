/* hold_memory.c: hold N MiB of memory, with each page written, until a signal arrives.
 * Prints "held" once all pages are written. usage: hold_memory N */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const size_t bytes = argc == 2 ? (size_t)strtoul(argv[1], NULL, 10) << 20 : 0;
    char *const memory = bytes ? malloc(bytes) : NULL;
    if (!memory) {
        fputs("usage: hold_memory N\n", stderr);
        return 2;
    }
    memset(memory, 1, bytes);
    puts("held");
    fflush(stdout);
    pause();
    return memory[bytes - 1];
}
