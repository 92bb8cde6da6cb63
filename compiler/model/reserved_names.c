/* reserved_names.c: names that C, C++, the standard library, or the emitted code and its Makefile
 * use. */
#include "reserved_names.h"

#include <ctype.h>
#include <string.h>

#include "text.h"

/* ---- C and its library ------------------------------------------------------------------------------------ */

static const char *const keywords[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "main", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict",
    "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "std", "struct", "switch", "template",
    "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
};

/* Macros that gcc and clang predefine with -std=gnu11 and later, for systems and processors. */
static const char *const machines[] = {
    "AVR", "MIPSEB", "MIPSEL", "MSP430", "R3000", "WIN32", "WIN64", "WINNT", "hppa", "hpux", "i386", "linux", "m68k",
    "mc68000", "mips", "sgi", "sparc", "sun", "tce", "unix", "vax",
};

/* Functions of math.h and complex.h; most also exist with the suffixes f and l. */
static const char *const math[] = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cabs", "carg", "cbrt", "ceil", "cexp", "clog", "conj",
    "copysign", "cos", "cosh", "cpow", "csin", "csqrt", "drem", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs",
    "fdim", "finite", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "gamma", "hypot", "ilogb", "isinf", "isnan", "j0",
    "j1", "jn", "ldexp", "lgamma", "lgamma_r", "llrint", "llround", "log", "log10", "log1p", "log2", "logb", "lrint",
    "lround", "modf", "nan", "nearbyint", "nextafter", "nexttoward", "pow", "pow10", "remainder", "remquo", "rint", "round",
    "scalb", "scalbln", "scalbn", "signbit", "significand", "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "tgamma",
    "trunc", "y0", "y1", "yn",
};

static const char *const library[] = {
    /* math.h, float.h */
    "FP_FAST_FMA", "FP_FAST_FMAF", "FP_ILOGB0", "FP_ILOGBNAN", "FP_INFINITE", "FP_NAN", "FP_NORMAL", "FP_SUBNORMAL",
    "FP_ZERO", "HUGE", "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "INFINITY", "MATH_ERREXCEPT", "MATH_ERRNO", "MAXFLOAT", "NAN",
    "DECIMAL_DIG", "FLT_EVAL_METHOD", "FLT_RADIX", "FLT_ROUNDS", "M_E", "M_PI", "M_LN2", "M_LN10", "M_SQRT2", "double_t",
    "float_t", "fpclassify", "isfinite", "isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater",
    "isnormal", "isunordered", "math_errhandling", "signgam",
    /* string.h, strings.h */
    "bcmp", "bcopy", "bzero", "ffs", "ffsl", "ffsll", "index", "memccpy", "memchr", "memcmp", "memcpy", "memmem", "memmove",
    "mempcpy", "memset", "rindex", "stpcpy", "stpncpy", "strcasecmp", "strcat", "strchr", "strcmp", "strcoll", "strcpy",
    "strcspn", "strdup", "strerror", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strndup", "strnlen",
    "strpbrk", "strrchr", "strsep", "strspn", "strstr", "strtok", "strxfrm",
    /* stddef.h, limits.h, stdarg.h, wchar.h, sys/types.h */
    "CHAR_BIT", "NULL", "MB_LEN_MAX", "PATH_MAX", "NAME_MAX", "SSIZE_MAX", "max_align_t", "nullptr_t", "off_t", "offsetof",
    "pid_t", "ptrdiff_t", "size_t", "ssize_t", "time_t", "clock_t", "va_list", "wint_t",
    /* stdio.h */
    "BUFSIZ", "EOF", "FILE", "FILENAME_MAX", "FOPEN_MAX", "L_tmpnam", "SEEK_CUR", "SEEK_END", "SEEK_SET", "TMP_MAX",
    "clearerr", "dprintf", "fclose", "fdopen", "feof", "ferror", "fflush", "fgetc", "fgetpos", "fgets", "fileno", "fopen",
    "fpos_t", "fprintf", "fputc", "fputs", "fread", "freopen", "fscanf", "fseek", "fseeko", "fsetpos", "ftell", "ftello",
    "fwrite", "getc", "getchar", "getdelim", "getline", "gets", "open_memstream", "pclose", "perror", "popen", "printf",
    "putc", "putchar", "puts", "remove", "rename", "rewind", "scanf", "setbuf", "setvbuf", "snprintf", "sprintf", "sscanf",
    "stderr", "stdin", "stdout", "tmpfile", "tmpnam", "ungetc", "vfprintf", "vfscanf", "vprintf", "vscanf", "vsnprintf",
    "vsprintf", "vsscanf",
    /* stdlib.h, assert.h, errno.h, time.h, setjmp.h, signal.h, ctype.h */
    "EXIT_FAILURE", "EXIT_SUCCESS", "MB_CUR_MAX", "NDEBUG", "RAND_MAX", "abort", "abs", "aligned_alloc", "alloca",
    "assert", "at_quick_exit", "atexit", "atof", "atoi", "atol", "atoll", "bsearch", "calloc", "clock", "ctime", "difftime",
    "div", "div_t", "errno", "exit", "free", "getenv", "gmtime", "isalnum", "isalpha", "isascii", "isblank", "iscntrl",
    "isdigit", "isgraph", "islower", "isprint", "ispunct", "isspace", "isupper", "isxdigit", "labs", "ldiv", "ldiv_t",
    "llabs", "lldiv", "lldiv_t", "localtime", "longjmp", "malloc", "mblen", "mbstowcs", "mbtowc", "mktime", "qsort",
    "quick_exit", "raise", "rand", "random", "realloc", "setenv", "setjmp", "signal", "srand", "srandom", "strftime",
    "strtod", "strtof", "strtol", "strtold", "strtoll", "strtoul", "strtoull", "system", "time", "timespec", "toascii",
    "tolower", "toupper", "unsetenv", "wcstombs", "wctomb",
    /* names of POSIX that the runtime of a program may use */
    "access", "alarm", "close", "dup", "dup2", "execl", "execv", "execve", "execvp", "fork", "fstat", "getopt", "getpid", "isatty",
    "kill", "lseek", "mmap", "munmap", "open", "optarg", "optind", "pipe", "poll", "pthread", "read", "select", "sleep",
    "stat", "sysconf", "unlink", "usleep", "vfork", "wait", "waitpid", "write", "environ",
};

static bool listed(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], name)) return true;
    return false;
}

#define is_in(list, name) listed(list, sizeof list / sizeof *list, name)

static bool begins(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

static bool is_math(const char *name)
{
    size_t n = strlen(name);
    char base[16];
    if (is_in(math, name)) return true;
    if (n < 2 || n > sizeof base || (name[n - 1] != 'f' && name[n - 1] != 'l')) return false;
    memcpy(base, name, n - 1);
    base[n - 1] = 0;
    return is_in(math, base);
}

/* Families of names in stdint.h, limits.h and float.h, such as int8_t, uint_least16_t, INT32_MAX,
 * UINT64_C and FLT_EPSILON. */
static bool is_of_a_family(const char *s)
{
    if (begins(s, "int") || begins(s, "uint")) return text_ends(s, "_t");
    if (begins(s, "FLT_") || begins(s, "DBL_") || begins(s, "LDBL_")) return true;
    const char *const limits[] = { "INT", "UINT", "LONG", "ULONG", "LLONG", "ULLONG", "SHRT", "USHRT", "CHAR", "SCHAR", "UCHAR", "SIZE",
                                   "PTRDIFF", "WCHAR", "WINT", "SIG_ATOMIC" };
    if (!text_ends(s, "_MAX") && !text_ends(s, "_MIN") && !text_ends(s, "_C") && !text_ends(s, "_WIDTH")) return false;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (begins(s, limits[i])) return true;
    return false;
}

bool name_is_of_c(const char *s)
{
    return is_in(keywords, s) || is_in(machines, s) || is_in(library, s) || is_math(s) || is_of_a_family(s);
}

/* ---- the emitted text --------------------------------------------------------------------------------------- */

/* Headers that a model's NAME.h would hide: the compiler looks in the model's folder first. */
static const char *const headers[] = {
    "alloca", "assert", "complex", "cpuid", "ctype", "dlfcn", "endian", "errno", "fcntl", "features", "fenv", "float",
    "getopt", "immintrin", "inttypes", "iso646", "limits", "locale", "math", "poll", "pthread", "sched", "setjmp", "signal",
    "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string", "strings",
    "termios", "tgmath", "threads", "time", "uchar", "unistd", "wchar", "wctype",
};

/* Names that the emitted code defines, and files and Makefile targets in its folder. */
static const char *const emitted[] = {
    "GNUmakefile", "HEAD_BYTES", "IDENTITY_AT", "Makefile", "all", "always",
    "append", "argc", "argmax", "argmax_rows", "argv", "at", "bind", "call", "characters", "clean", "clear", "command", "encode",
    "encode_batch", "encode_pair", "example", "few", "graph", "head", "head_body", "hidden", "ids",
    "is_bias", "is_mask",
    "job", "logits", "m", "makefile", "next", "note_saturation",
    "print", "program", "reset", "rows", "rows_of", "rt", "run", "run_body", "run_rows", "runtime",
    "saturated", "slot", "state", "team", "text", "w", "weights", "xf",
};

/* Beginnings of emitted names, such as those of blocks, offsets, inputs and shares of threads. The
 * names of kernels go on with a shape: linear_64x64. */
static const char *const stems[] = {
    "RT_", "Rt", "W_", "XF_", "at_", "call_", "decoder_embedding", "decoder_layer", "decoder_memory", "decoder_output",
    "encoder_embedding", "encoder_end", "encoder_layer", "encoder_output", "input_", "log_probabilities", "main_", "panel_",
    "rt_", "share_", "w_", "xf_",
};
static const char *const kernels[] = {
    "add", "argmax", "attention", "copy", "embed", "linear", "log_softmax", "norm", "pool", "position",
    "ring_keys", "ring_values", "rotary", "scale", "softcap", "store_keys", "store_values", "window",
#define RT_ACTIVATION(id, name, formula, vector, plain, exact) name,
#include "activations.def"
#undef RT_ACTIVATION
};

/* Kernel files that the model's kernels header includes. A model's own file of that name would be
 * found first. */
static const char *const files[] = {
#define KERNEL_FILE(name) #name,
#include "kernel_files.def"
};

static bool is_kernel(const char *s)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!begins(s, kernels[i])) continue;
        const char *end = s + strlen(kernels[i]);
        if (begins(end, "_gate")) end += strlen("_gate");           /* of a gated activation */
        if (end[0] == '_' && end[1] >= '0' && end[1] <= '9') return true;
    }
    return false;
}

bool name_is_reserved(const char *s)
{
    if (*s == '_' || name_is_of_c(s) || is_in(headers, s) || is_in(emitted, s) || is_in(files, s) || is_kernel(s) ||
        text_ends(s, "_body")) return true;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (begins(s, stems[i])) return true;
    return false;
}

static bool is_identifier(const char *s)
{
    if (!*s || isdigit((unsigned char)*s)) return false;
    for (; *s; s++)
        if (*s != '_' && !(isalnum((unsigned char)*s) && (unsigned char)*s < 0x80)) return false;
    return true;
}

const char *name_fault(Arena *a, const char *name)
{
    enum { LONGEST = 63 };
    if (!is_identifier(name))
        return arena_format(a, "(\"%s\") is not a C identifier: letters, digits and _, not starting with a digit", name);
    if (strlen(name) > LONGEST) return arena_format(a, "has %zu characters; at most %d are allowed", strlen(name), LONGEST);
    if (name_is_reserved(name)) return arena_format(a, "(\"%s\") is reserved in C, in C++ or by the emitted program", name);
    return NULL;
}
