/* rt_weights.h: a file of packed weights in memory, read-only and aligned to 64 bytes. */
#ifndef RT_WEIGHTS_H
#define RT_WEIGHTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RtWeights { const void *data; size_t bytes; int mapped; } RtWeights;

/* Weights may stand behind a program, from a multiple of 2 MB of its file on, where neither a linker nor a loader looks. The file
 * then ends in RT_WEIGHTS_FOOTER bytes, "xformc weights N" and a newline, with their number N as sixteen hex digits. Such a file
 * is as good as one of the weights alone. */
enum { RT_WEIGHTS_FOOTER = 32 };

/* Map a regular file, or read one of 4 MiB to a quarter of the machine's memory into pages of 2 MB; read anything else, such as a pipe, to
 * its end. Returns 0 or an errno; then *w is empty. The file must not shrink while it is mapped. */
int rt_weights_open(RtWeights *w, const char *path);
/* Map a regular file of any size. Reading, where it cannot be mapped, ends once there are more than `most` bytes. */
int rt_weights_map(RtWeights *w, const char *path, size_t most);
/* Copy weights that are mapped, or lie in the program itself, and that nothing writes to, into pages of 2 MB where rt_weights_open reads a
 * file of that size into them; else *w is empty. The memory that the old ones take is given back; they can still be read. */
void rt_weights_copy(RtWeights *w, const void *data, size_t bytes);
/* Room for `bytes` and at least one more, for free(): aligned to 64 bytes, of 2 MiB and more in pages of 2 MB; *room, where it is not NULL,
 * receives its size. NULL without memory. */
void *rt_weights_room(size_t bytes, size_t *room);
/* Release what rt_weights_open or rt_weights_map gave. An empty *w is allowed. */
void rt_weights_close(RtWeights *w);

#ifdef __cplusplus
}
#endif

#endif
