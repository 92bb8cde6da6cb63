/* story_weights.c: the packed weights inside the program; their format is that of
 * story.safetensors. */
#if defined(__APPLE__)
#define SECTION ".const"
#define SYMBOL "_story_weights"
#else
#define SECTION ".section .rodata"
#define SYMBOL "story_weights"
#endif

extern const unsigned char story_weights[];
__asm__(SECTION "\n.balign 64\n.globl " SYMBOL "\n" SYMBOL
        ":\n.incbin \"story.safetensors\"\n.text\n");
