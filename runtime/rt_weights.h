/* rt_weights.h: a file of packed weights in memory, read-only and aligned to 64 bytes. */
#ifndef RT_WEIGHTS_H
#define RT_WEIGHTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RtWeights { const void *data; size_t bytes; int mapped; } RtWeights;

/* Weights may be appended to a program, at an offset in its file that is a multiple of 2 MiB, where
 * neither a linker nor a loader looks. The file then ends in RT_WEIGHTS_FOOTER bytes:
 * "xformc weights N" and a newline, where N is the size of the weights in bytes, as sixteen hex
 * digits. The functions below accept such a file as well as one that contains only the weights. */
enum { RT_WEIGHTS_FOOTER = 32 };

/* Load weights. If the system has pages of 2 MiB, weights of 4 MiB to a quarter of the machine's
 * memory in a regular file are read into such pages. Others in a regular file are mapped, or read
 * if the file is empty or cannot be mapped. Anything else, such as a pipe, is read to its end.
 * Returns 0, or an errno with *w empty. The file must not shrink while it is mapped. */
int rt_weights_open(RtWeights *w, const char *path);
/* Map a regular file of any size. A file that cannot be mapped, unless it is a program, is read
 * instead, to its end or until more than `most` bytes have been read. */
int rt_weights_map(RtWeights *w, const char *path, size_t most);
/* Copy weights that are mapped, or embedded in the program, into pages of 2 MiB, if rt_weights_open
 * would read a file of that size into such pages; otherwise *w is empty. Nothing may write to the
 * old weights: their memory is released, and the next access reads them from the file again. */
void rt_weights_copy(RtWeights *w, const void *data, size_t bytes);
/* Allocate `bytes` bytes and at least one more, to be released with free(): aligned to 64 bytes;
 * sizes of 2 MiB and more are in pages of 2 MiB. *room, if room is not NULL, receives the size.
 * NULL: no memory. */
void *rt_weights_room(size_t bytes, size_t *room);
/* Release weights from the functions above. *w may be empty. */
void rt_weights_close(RtWeights *w);

#ifdef __cplusplus
}
#endif

#endif
