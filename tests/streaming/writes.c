/* writes.c: print each write that a command makes to standard output as a line "[bytes]", with
 * newlines as \n and invalid UTF-8 as \xNN. The output is a socket that keeps writes apart.
 * usage: writes COMMAND...     exits with the command's code */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text.h"

static void print(const char *s, size_t n)
{
    putchar('[');
    for (int32_t c; n;) {
        const int bytes = utf8_next(s, n, &c);
        if (!bytes) printf("\\x%02x", (unsigned char)*s);
        else if (c == '\n') fputs("\\n", stdout);
        else fwrite(s, 1, (size_t)bytes, stdout);
        s += bytes ? bytes : 1;
        n -= bytes ? (size_t)bytes : 1;
    }
    puts("]");
}

int main(int argc, char **argv)
{
    int ends[2], status = 0;
    char chunk[65536];
    if (argc < 2 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)) return 74;
    const pid_t child = fork();
    if (child < 0) return 74;
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]), close(ends[1]);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], chunk, sizeof chunk)) > 0;) print(chunk, (size_t)n);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 70;
}
