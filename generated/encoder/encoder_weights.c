/* encoder_weights.c: embeds the packed weights, encoder.safetensors, in the program. */
#if defined(__APPLE__)
#define SECTION ".const"
#define SYMBOL "_encoder_weights"
#else
#define SECTION ".section .rodata"
#define SYMBOL "encoder_weights"
#endif

extern const unsigned char encoder_weights[];
__asm__(SECTION "\n.balign 64\n.globl " SYMBOL "\n" SYMBOL
        ":\n.incbin \"encoder.safetensors\"\n.text\n");
