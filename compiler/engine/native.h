/* native.h: the engine that compiles emitted C with a C compiler and loads the shared library. */
#ifndef NATIVE_H
#define NATIVE_H

#include "emit.h"
#include "engine.h"

/* cc: NULL for `cc` on the PATH. cached: use and fill the cache; only if cc is NULL. polls: calls
 * that run the model return RT_INTERRUPTED if they end between jit_stop and jit_go_on. form.weights
 * is ignored: it is always WEIGHTS_FILE. */
typedef struct NativeOrder { const char *cc; EmitForm form; bool cached, polls; } NativeOrder;

/* Emit, compile in a temporary folder unless the cache has the library, and load. NULL after a
 * reported error. */
Engine *native_open(Arena *a, Diag *d, const Plan *p, NativeOrder o);

/* Switch an engine of jit_open to `library`, compiled from the same Plan. The state and the packed
 * weights stay; the threads of the jit end, and the library starts `threads` of its own. The file
 * may be removed afterwards. The jit engine is kept in the arena (native_beneath). False after a
 * reported error; then the engine is unchanged. */
bool native_replace(Arena *a, Diag *d, Engine *e, const char *library, int threads);
/* The jit engine that was replaced; it has no state. */
const Engine *native_beneath(const Engine *e);
/* Switch back to the jit engine; it runs with one thread if `threads` cannot be started. */
void native_undo(Engine *e, int threads);

#endif
