/* patience.h: how long a C test waits. Tests in several folders include this header. */
#ifndef PATIENCE_H
#define PATIENCE_H

enum { PATIENCE = 300 };            /* seconds until a test that hangs fails, mostly by alarm() */

#endif
