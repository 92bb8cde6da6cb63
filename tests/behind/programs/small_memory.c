/* small_memory.c: a library for LD_PRELOAD: sysconf reports a machine with 16 MiB of memory. */
#include <dlfcn.h>
#include <unistd.h>

long sysconf(int name)
{
    static long (*real)(int);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_PHYS_PAGES ? (16L << 20) / real(_SC_PAGESIZE) : real(name);
}
