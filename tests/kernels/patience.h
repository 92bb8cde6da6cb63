/* patience.h: how long a C test waits. Tests of several folders include it. */
#ifndef PATIENCE_H
#define PATIENCE_H

enum { PATIENCE = 300 };            /* seconds until a test that hangs is killed: alarm(PATIENCE) */

#endif
