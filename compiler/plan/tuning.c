/* tuning.c: the table of cuts, and the text of a Tuning. */
#include "tuning.h"

#include <string.h>

const CutRow cut_rows[CUTS] = {
#define LINEAR_CUT(id, name, one_stream, panels, rows, field, any_format, words) \
    [LINEAR_CUT_##id] = { name, one_stream, panels, rows, field, any_format, words },
#include "cuts.def"
#undef LINEAR_CUT
};

const char *const tuned_layers_names[TUNED_LAYERS] = { [TUNED_LAYERS_CALLS] = "calls", [TUNED_LAYERS_LOOP] = "loop" };

const TunedCall *tuning_call(const Tuning *tuning, const char *name)
{
    for (int i = 0; tuning && i < tuning->call_count; i++)
        if (strcmp(tuning->calls[i].name, name) == 0) return &tuning->calls[i];
    return NULL;
}

const char *tuning_us(Arena *a, double us) { return arena_format(a, us < 1000 ? "%.4g" : "%.0f", us); }

const char *tuning_times(Arena *a, const TunedCall *call)
{
    Text t = text_new(a);
    const char *between = "; ";
    if (call->us[call->take] > 0) text_printf(&t, "%s %s us", cut_rows[call->take].words, tuning_us(a, call->us[call->take]));
    else text_add(&t, cut_rows[call->take].words);
    for (int i = 0; i < CUTS; i++) {
        if (i == (int)call->take || !(call->us[i] > 0)) continue;
        text_printf(&t, "%s%s %s", between, cut_rows[i].words, tuning_us(a, call->us[i]));
        between = ", ";
    }
    return t.data;
}

/* ---- the file --------------------------------------------------------------------------------------------- */

static void add_text(Text *t, const char *name, const char *value)
{
    if (!value) return;
    text_printf(t, "  %s = \"", name);
    for (; *value; value++)
        if (*value == '"' || *value == '\\') text_printf(t, "\\%c", *value);
        else if ((unsigned char)*value < 0x20 || *value == 0x7F) text_printf(t, "\\%03d", *value);
        else text_add_bytes(t, value, 1);
    text_add(t, "\",\n");
}

/* value: NULL if the default won; then only a comment in the file says so. */
static void add_choice(Text *t, const char *name, const char *value, const char *note)
{
    if (!value && !note) return;
    if (value) text_printf(t, "  %s = %s,", name, value);
    else text_printf(t, "  -- %s: default", name);
    if (note) text_printf(t, "%s%s", value ? "   -- us: " : "; us: ", note);
    text_add(t, "\n");
}

static void add_call(Text *t, const TunedCall *c)
{
    text_printf(t, "    %s = { take = \"%s\", us = {", c->name, cut_rows[c->take].name);
    for (int i = 0, n = 0; i < CUTS; i++)
        if (c->us[i] > 0) text_printf(t, "%s %s = %s", n++ ? "," : "", cut_rows[i].name, tuning_us(t->arena, c->us[i]));
    text_add(t, " } },\n");
}

Text tuning_text(Arena *a, const Tuning *x)
{
    Text t = text_new(a);
    text_add(&t, "-- Measured by `xformc tune`; read by --tune FILE. These choices change only "
             "speed, not results.\n"
                 "return xf.tune {\n");
    add_text(&t, "model", x->model);
    add_text(&t, "dtype", x->dtype);
    add_text(&t, "identity", x->identity);
    add_text(&t, "machine", x->machine);
    text_add(&t, "\n");
    add_choice(&t, "threads", x->threads ? arena_format(a, "%d", x->threads) : NULL, x->threads_note);
    add_choice(&t, "layers", x->layers ? arena_format(a, "\"%s\"", tuned_layers_names[x->layers]) : NULL, x->layers_note);
    add_choice(&t, "isa", x->isa ? arena_format(a, "\"%s\"", x->isa) : NULL, x->isa_note);
    text_add(&t, "  -- us: microseconds per call for each way tried; take: the fastest, or usual if the gain is within the measurement noise\n"
                 "  calls = {\n");
    for (int i = 0; i < x->call_count; i++) add_call(&t, &x->calls[i]);
    text_add(&t, "  },\n}\n");
    return t;
}
