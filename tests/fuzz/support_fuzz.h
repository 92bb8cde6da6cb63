/* support_fuzz.h: what the fuzz targets share. */
#ifndef SUPPORT_FUZZ_H
#define SUPPORT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "family.h"
#include "model.h"

/* What libFuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
/* What it offers. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

/* The bytes as a file without a place on a disk; the path is the same each time, and the file is rewound. */
const char *fuzz_file(const uint8_t *data, size_t size);
/* Abort unless an error was told exactly where `good` is false, with one of the exit codes for bad input. Prints all that was told
 * to nowhere, so that excerpts and carets are made too. */
void fuzz_told(Diag *d, bool good);
/* Abort, naming what should hold. */
#define fuzz_expect(what) ((what) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #what))
_Noreturn void fuzz_fail(const char *file, int line, const char *what);

/* Abort where an element of a tensor of a file lies outside the file: in a mapped file no sanitizer sees that. */
void fuzz_inside(const TensorSource *t);

/* A file of tensors, of whatever format: its elements lie inside it and are read, or an error is told. */
void fuzz_weights(const char *path);

/* A file as a spec, by its reader; and as a model, where it says that it is small. */
typedef Draft *FuzzReader(Arena *a, Diag *d, const char *path);
void fuzz_draft(const char *path, FuzzReader *read);

/* A mutator for safetensors files: the length of the header is mended after half of the changes, so that
 * they get past the first check. */
size_t fuzz_mutate_safetensors(uint8_t *data, size_t size, size_t room, unsigned seed);

/* A random number from 0 to n - 1; *random begins as any number. */
uint32_t fuzz_below(uint64_t *random, uint32_t n);

/* Mutators for the metadata of GGUF files and for JSON files: three of four changes leave what a reader can follow. Any other
 * input is changed byte by byte. */
size_t fuzz_mutate_gguf(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t fuzz_mutate_json(uint8_t *data, size_t size, size_t room, unsigned seed);

#endif
