/* support_fuzz.h: shared by the fuzz targets. */
#ifndef SUPPORT_FUZZ_H
#define SUPPORT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "family.h"
#include "model.h"

/* Called by libFuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
/* Provided by libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

/* Put the bytes into a file in memory, rewind it and return its path, which is always the same. */
const char *fuzz_file(const uint8_t *data, size_t size);
/* Check that errors were reported if and only if `good` is false, with an exit code that input
 * can cause; abort otherwise. Prints the diagnostics to /dev/null first, so that excerpts and
 * carets are formatted too. */
void fuzz_told(Diag *d, bool good);
/* Print the condition and abort if it does not hold. */
#define fuzz_expect(what) ((what) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #what))
_Noreturn void fuzz_fail(const char *file, int line, const char *what);

/* Abort if an element of a tensor is outside its file: no sanitizer sees that in a mapped file. */
void fuzz_inside(const TensorSource *t);

/* Read a weights file of any format: its tensors are inside it, or an error is reported. */
void fuzz_weights(const char *path);

/* Read a file as a spec, with the reader of its format; build the model if it has few layers. */
typedef Draft *FuzzReader(Arena *a, Diag *d, const char *path);
void fuzz_draft(const char *path, FuzzReader *read);

/* A mutator for safetensors files. Half of its calls change only the header and then correct its
 * length, so that the file passes the first check. */
size_t fuzz_mutate_safetensors(uint8_t *data, size_t size, size_t room, unsigned seed);

/* A random number from 0 to n - 1. *random may start with any value. */
uint32_t fuzz_below(uint64_t *random, uint32_t n);

/* Mutators for the metadata of GGUF files and for JSON files. Three calls in four change keys and
 * values; the fourth changes bytes, and so does every call for an input that is shorter than the
 * head of a GGUF file or that is not JSON. */
size_t fuzz_mutate_gguf(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t fuzz_mutate_json(uint8_t *data, size_t size, size_t room, unsigned seed);

#endif
