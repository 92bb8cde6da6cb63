/* story_weights.c: embeds the packed weights, story.safetensors, in the program. */
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
