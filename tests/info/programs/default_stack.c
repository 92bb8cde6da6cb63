/* default_stack.c: print a model's answer on the target's default stack, for comparison.
 * usage: default_stack FILE.safetensors [TEXT], compiled as model_calls.h says. */
#include "model_calls.h"

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    if (prepare(argv[1], argc > 2 ? argv[2] : NULL)) return 3;
    clear();
    calls();
    printf("%d %016llx %.100s\n", status, (unsigned long long)hash(), answer);
    return status == RT_OK ? 0 : 1;
}
