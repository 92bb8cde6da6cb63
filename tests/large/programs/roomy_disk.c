/* roomy_disk.c: a library for LD_PRELOAD: statvfs reports a terabyte of free space on every disk,
 * so that a program that checks the space still runs out of it half-way. */
#include <dlfcn.h>
#include <sys/statvfs.h>

int statvfs(const char *path, struct statvfs *disk)
{
    static int (*real)(const char *, struct statvfs *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "statvfs");
    const int status = real(path, disk);
    if (status == 0) disk->f_bavail = disk->f_bfree = (1ul << 40) / disk->f_frsize;
    return status;
}
