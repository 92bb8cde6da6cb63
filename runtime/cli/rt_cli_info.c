/* rt_cli_info.c: --info: describe a program, as lines with a name and a value, or as a JSON object.
 *
 * Keys: name about spec version encoder decoder max_source source_vocab max_target vocab slots
 * parameters weights_place weights_bytes dtype identity content state_bytes kv_dtype isa
 * processor_isa threads threads_max.
 * Keys that do not apply are left out; identity and content are those of the weights in use. */
#include "rt_cli_parts.h"

#include <stdio.h>
#include <string.h>

#include "rt_packed.h"

/* json: print an object, not lines; count: values printed so far. */
typedef struct Sheet { int json, count; } Sheet;

static void key(Sheet *s, const char *name, const char *words)
{
    if (s->json) printf("%s\"%s\":", s->count ? "," : "{", name);
    else printf("%-14s ", words);
    s->count++;
}

static void add_text(Sheet *s, const char *name, const char *words, const char *value, size_t bytes)
{
    if (!value) return;
    key(s, name, words);
    if (s->json) cli_json_text(stdout, value, bytes);
    else printf("%.*s\n", (int)bytes, value);
}

static void add_line(Sheet *s, const char *name, const char *words, const char *value)
{
    add_text(s, name, words, value, value ? strlen(value) : 0);
}

static void add_number(Sheet *s, const char *name, const char *words, long long value)
{
    if (value == 0) return;
    key(s, name, words);
    printf(s->json ? "%lld" : "%lld\n", value);
}

static void add_weights(Sheet *s, const Cli *cli)
{
    const rt_program *p = cli->program;
    const char *head = cli->weights.data;
    add_line(s, "weights_place", "weights", *cli->weights.place ? cli->weights.place : "in the program");
    add_number(s, "weights_bytes", "  bytes", (long long)p->weights_bytes);
    add_line(s, "dtype", "  as", p->dtype);
    if (p->weights_bytes < RT_PACKED_DATA_AT) return;
    add_text(s, "identity", "  identity", head + RT_PACKED_IDENTITY_AT, RT_PACKED_DIGITS);
    add_text(s, "content", "  content", head + RT_PACKED_CONTENT_AT, RT_PACKED_DIGITS);
}

int cli_info(Cli *cli)
{
    const rt_program *p = cli->program;
    Sheet s = { cli->options->json, 0 };
    add_line(&s, "name", "name", p->name);
    add_line(&s, "about", "what", p->about);
    add_line(&s, "spec", "made from", p->spec);
    add_line(&s, "version", "by xformc", p->version);
    add_line(&s, "encoder", "encoder", p->about_encoder);
    add_line(&s, "decoder", "decoder", p->about_decoder);
    add_number(&s, "max_source", "longest source", p->max_source);
    add_number(&s, "source_vocab", "  vocabulary", p->source_vocab);
    add_number(&s, "max_target", "longest target", p->max_target);
    add_number(&s, "vocab", "  vocabulary", p->vocab);
    add_number(&s, "slots", "sequences", p->slots);
    add_number(&s, "parameters", "parameters", p->parameters);
    add_weights(&s, cli);
    add_number(&s, "state_bytes", "state bytes", (long long)p->state_bytes);
    add_line(&s, "kv_dtype", "  caches as", p->kv_dtype);
    add_line(&s, "isa", "compiled for", rt_isa_text(p->isa));
    add_line(&s, "processor_isa", "processor has", rt_isa_text(~rt_isa_missing(~0u)));
    add_number(&s, "threads", "threads", cli->threads);
    add_number(&s, "threads_max", "  at most", p->max_threads);
    if (s.json) puts("}");
    return 0;
}
