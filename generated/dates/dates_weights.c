/* dates_weights.c: embeds the packed weights, dates.safetensors, in the program. */
#if defined(__APPLE__)
#define SECTION ".const"
#define SYMBOL "_dates_weights"
#else
#define SECTION ".section .rodata"
#define SYMBOL "dates_weights"
#endif

extern const unsigned char dates_weights[];
__asm__(SECTION "\n.balign 64\n.globl " SYMBOL "\n" SYMBOL
        ":\n.incbin \"dates.safetensors\"\n.text\n");
