/* native.h: emitted code in a shared library that a C compiler made. */
#ifndef NATIVE_H
#define NATIVE_H

#include "emit.h"
#include "engine.h"

/* cc: NULL for cc, the compiler on the PATH. cached: of that one take a library out of the cache, and put it there. polls: calls
 * end with RT_INTERRUPTED when jit_stop was called meanwhile. The form's weights are always those of a file. */
typedef struct NativeOrder { const char *cc; EmitForm form; bool cached, polls; } NativeOrder;

/* Emit, compile into a temporary folder and load. NULL after a reported error. */
Engine *native_open(Arena *a, Diag *d, const Plan *p, NativeOrder o);

/* Make an engine of jit_open go on in `library`, compiled from the same Plan: its state and packed weights stay, its threads
 * become `threads` of the library's own. The file may go afterwards. What it was stays beneath, in the arena. False after an error
 * told: then the engine is as before. */
bool native_replace(Arena *a, Diag *d, Engine *e, const char *library, int threads);
/* The engine of jit_open that was replaced; without a state. */
const Engine *native_beneath(const Engine *e);
/* Make it go on in memory again; at one thread where `threads` cannot be started. */
void native_undo(Engine *e, int threads);

#endif
