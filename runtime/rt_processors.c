/* rt_processors.c: the number of processors that this process may use: those in its affinity mask,
 * but at most the quota of its control group (version 2 or 1), rounded up. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>

enum { PATH_ROOM = 4096 };

/* Read up to two numbers from a file; "max" counts as -1. Returns how many there were. */
static int read_numbers(const char *path, long long *a, long long *b)
{
    char word[2][32];
    FILE *f = fopen(path, "r");
    int n;
    if (!f) return 0;
    n = fscanf(f, "%31s %31s", word[0], word[1]);
    fclose(f);
    if (n >= 1 && sscanf(word[0], "%lld", a) != 1) *a = -1;
    if (n >= 2 && sscanf(word[1], "%lld", b) != 1) *b = -1;
    return n < 0 ? 0 : n;
}

static int quota_of(long long quota, long long period)
{
    return quota > 0 && period > 0 ? (int)((quota + period - 1) / period) : 0;
}

/* The quota in the folder `path`, in processors; 0 if none is set. */
static int quota_at(const char *path)
{
    char file[PATH_ROOM + 32];
    long long quota = -1, period = -1;
    int n;
    snprintf(file, sizeof file, "%s/cpu.max", path);
    if (read_numbers(file, &quota, &period) == 2) return quota_of(quota, period);
    snprintf(file, sizeof file, "%s/cpu.cfs_quota_us", path);
    n = read_numbers(file, &quota, &period);
    snprintf(file, sizeof file, "%s/cpu.cfs_period_us", path);
    return n >= 1 && read_numbers(file, &period, &period) >= 1 ? quota_of(quota, period) : 0;
}

/* The smallest quota of a group and its ancestors, up to `root`; 0 if none is set. */
static int least_quota(const char *root, const char *group)
{
    char path[PATH_ROOM];
    int least = 0;
    if (snprintf(path, sizeof path, "%s%s", root, group) >= (int)sizeof path) return 0;
    for (;;) {
        const int quota = quota_at(path);
        char *slash = strrchr(path, '/');
        if (quota && (!least || quota < least)) least = quota;
        if (strlen(path) <= strlen(root) || !slash) return least;
        *slash = '\0';
    }
}

/* True if a list such as "cpu,cpuacct" names the controller cpu. */
static int has_cpu(const char *list)
{
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (n == 3 && !strncmp(list, "cpu", 3)) return 1;
    }
    return 0;
}

/* Lines of /proc/self/cgroup are "0::/group" (version 2) and "4:cpu,cpuacct:/group" (version 1). In
 * a container the group's folder may be mounted as the root itself; least_quota finds it there on
 * its way up. */
static int cgroup_quota(void)
{
    char line[PATH_ROOM], *controllers, *group;
    int least = 0;
    FILE *f = fopen("/proc/self/cgroup", "r");
    if (!f) return 0;
    while (fgets(line, sizeof line, f)) {
        int quota;
        line[strcspn(line, "\n")] = '\0';
        if (!(controllers = strchr(line, ':')) || !(group = strchr(controllers + 1, ':'))) continue;
        *controllers++ = '\0', *group++ = '\0';
        if (*controllers && !has_cpu(controllers)) continue;
        quota = least_quota(*controllers ? "/sys/fs/cgroup/cpu" : "/sys/fs/cgroup", group);
        if (quota && (!least || quota < least)) least = quota;
    }
    fclose(f);
    return least;
}

static int affinity(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) ? (int)sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&allowed);
}
#else
static int cgroup_quota(void) { return 0; }
static int affinity(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }
#endif

int rt_processors(void)
{
    const int allowed = affinity(), quota = cgroup_quota();
    const int n = quota && quota < allowed ? quota : allowed;
    return n < 1 ? 1 : n;
}
