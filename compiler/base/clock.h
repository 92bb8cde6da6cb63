/* clock.h: time that only goes forward, for measuring. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

int64_t clock_now_ns(void);

#endif
