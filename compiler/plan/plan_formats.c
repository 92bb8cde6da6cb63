/* plan_formats.c: formats.def as a table. */
#include "plan.h"

const FormatRow format_rows[FORMATS] = {
#define FORMAT(id, name, word, bits, dtype, size, doc) [FORMAT_##id] = { name, word, bits, dtype, size, doc },
#include "formats.def"
#undef FORMAT
};
