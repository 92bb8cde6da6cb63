#include "command.h"
Exit command_verify(const Choices *c) { (void)c; return EXIT_NO_FEATURE; }
