/* chat.c: a model's chat template as an RtChat, and as C text. */
#include "chat.h"

#include <string.h>

#include "chat_learn.h"

bool model_chats(const Model *m) { return m->chat && m->has_decoder && !m->has_encoder; }

void chat_remark(Diag *d, const Model *m)
{
    if (m->chat && m->chat->unlike)
        diag_remark(d, (Loc){ m->chat_path, 0, 0 },
                    "xformc does not reproduce the chat template exactly: the result differs %s",
                    m->chat->unlike);
}

RtChat chat_of(const Model *m) { return chat_as_runtime(m->chat); }

static void emit_text(Text *out, const char *s)
{
    if (!s) {
        text_add(out, "NULL");
        return;
    }
    text_add(out, "\"");
    text_add_quoted(out, s);
    text_add(out, "\"");
}

static void emit_member(Text *out, const char *member, const char *s)
{
    text_printf(out, "    .%s = ", member);
    emit_text(out, s);
    text_add(out, ",\n");
}

static void emit_pair(Text *out, const char *member, const char *const *s)
{
    text_printf(out, "    .%s = { ", member);
    emit_text(out, s[0]);
    text_add(out, ", ");
    emit_text(out, s[1]);
    text_add(out, " },\n");
}

void chat_emit(Text *out, const char *model, const RtChat *c)
{
    static const char *const trims[] = { "RT_CHAT_TRIM_NONE", "RT_CHAT_TRIM_USER", "RT_CHAT_TRIM_SYSTEM", "RT_CHAT_TRIM_EACH",
                                         "RT_CHAT_TRIM_TURN", "RT_CHAT_TRIM_SYSTEM_END" };
    text_printf(out, "const RtChat %s_chat = {\n", model);
    emit_member(out, "name", c->name);
    emit_member(out, "begin", c->begin);
    emit_pair(out, "system", c->system);
    if (c->dated) text_add(out, "    .dated = 1,\n");
    if (c->date) emit_member(out, "date", c->date);
    if (c->today) emit_member(out, "today", c->today);
    emit_pair(out, "user", c->user);
    emit_member(out, "answer", c->answer);
    emit_member(out, "again", c->again);
    emit_pair(out, "past", c->past);
    if (c->preset) emit_member(out, "preset", c->preset);
    static const char *const empties[] = { "RT_CHAT_EMPTY_KEPT", "RT_CHAT_EMPTY_NONE", "RT_CHAT_EMPTY_PRESET" };
    text_printf(out, "    .trim = %s, .empty = %s,\n", trims[c->trim], empties[c->empty]);
    text_printf(
        out, "    .inside = %d, .at_last = %d, .trims_past = %d, .thinks = %d, .blank = %d,\n};\n",
        c->inside, c->at_last, c->trims_past, c->thinks, c->blank);
}
