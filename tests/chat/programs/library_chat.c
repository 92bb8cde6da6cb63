/* library_chat.c: answer a message with NAME_generate and the model's chat template.
 * usage: library_chat [-plain] MESSAGE [SYSTEM]
 * Compile with -DMODEL=name -DMODEL_HEADER='"name.h"' -DWEIGHTS_BYTES=NAME_WEIGHTS_BYTES */
#include <stdio.h>
#include <string.h>

#include MODEL_HEADER

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define CALL(name) JOIN(MODEL, name)

extern const unsigned char CALL(_weights)[];
static MODEL model;
static CALL(_state) state;

static bool print(void *user, const char *text, size_t n)
{
    (void)user;
    return fwrite(text, 1, n, stdout) == n;
}

int main(int argc, char **argv)
{
    const int plain = argc > 1 && !strcmp(argv[1], "-plain");
    rt_generate_options options = { .chat = 1, .plain_text = plain };
    argv += plain, argc -= plain;
    if (argc < 2) return 2;
    if (argc > 2) options.system = argv[2];
    rt_status status = CALL(_bind)(&model, CALL(_weights), WEIGHTS_BYTES);
    if (status == RT_OK) status = CALL(_generate)(&model, &state, argv[1], &options, print, NULL);
    puts("");
    if (status != RT_OK) fprintf(stderr, "%s\n", rt_status_text(status));
    return status != RT_OK;
}
