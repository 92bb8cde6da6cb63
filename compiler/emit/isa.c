/* isa.c: the table of instruction sets ("native" and those of instruction_sets.def), and lists of
 * their names. */
#include "isa.h"

#include <stdbool.h>
#include <string.h>

static const struct { const char *name, *flags; } isas[] = {
    { "native", "-march=native" },
#define KERNEL_SET(name, machine, flags) { #name, flags },
#include "instruction_sets.def"
#undef KERNEL_SET
};
const char isa_option_more[] = "One of native"
#define KERNEL_SET(name, machine, flags) ", " #name
#include "instruction_sets.def"
#undef KERNEL_SET
    ", or a list such as avx512,avx2,portable, from which the program chooses when it runs.";
enum { ISAS = sizeof isas / sizeof *isas };

const char *isa_flags(const char *name)
{
    for (int i = 0; i < ISAS; i++)
        if (strcmp(isas[i].name, name) == 0) return isas[i].flags;
    return NULL;
}

const char *const *isa_names(int *n)
{
    static const char *names[ISAS];
    for (int i = 0; i < ISAS; i++) names[i] = isas[i].name;
    *n = ISAS;
    return names;
}

const char *const *isa_list(Arena *a, const char *list, int *n)
{
    if (!list) list = isas[0].name;
    int words = 1;
    for (const char *s = list; *s; s++) words += *s == ',';
    const char **names = arena_array(a, (size_t)words, sizeof *names);
    *n = 0;
    for (const char *s = list; *n < words; s++) {
        const size_t length = strcspn(s, ",");
        names[(*n)++] = arena_copy(a, s, length);
        s += length;
    }
    return names;
}

/* True if all flags -m... of `isa` are flags of `other`; false if a name is unknown. */
static bool runs_wherever(const char *isa, const char *other)
{
    const char *flag = isa_flags(isa), *given = isa_flags(other);
    if (!flag || !given) return false;
    for (size_t n; *flag; flag += n + strspn(flag + n, " ")) {
        n = strcspn(flag, " ");
        bool found = strncmp(flag, "-m", 2) != 0;
        for (const char *s = given; !found && *s; s += strcspn(s, " "), s += strspn(s, " "))
            found = strcspn(s, " ") == n && strncmp(s, flag, n) == 0;
        if (!found) return false;
    }
    return true;
}

const char *isa_list_fault(Arena *a, const char *list)
{
    int n;
    const char *const *names = isa_list(a, list, &n);
    if (n > MAX_ISAS) return arena_format(a, "at most %d instruction sets fit into one program", MAX_ISAS);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            if (strcmp(names[i], names[k]) == 0)
                return arena_format(a, "'%s' is listed twice", names[i]);
            if (runs_wherever(names[k], names[i]))
                return arena_format(a, "'%s' runs wherever '%s' does, so '%s' after it is never chosen", names[k], names[i], names[i]);
        }
    }
    return NULL;
}
