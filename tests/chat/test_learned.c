/* test_learned.c: Learned templates (learned/) write conversations as transformers does
 * (learned.rows, by make_learned.py); their limits are listed here. Short templates write what
 * Jinja writes (expressions.rows). Templates that run too long or write too much fail. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "chat_learn.h"

enum { NOW = 1930480200, MOST = 8192 };                 /* 5 March 2031, 12:30 UTC */

static const JinjaName names[] = { { "bos_token", "<s>" }, { "eos_token", "</s>" } };

/* What limits a template: it is rejected, and the message contains `fault`; or it is learned, but
 * not with earlier turns or not with a system text, or not for the conversations in `unlike`. */
typedef struct Limit { const char *name, *fault; bool no_turns, no_system; const char *unlike; } Limit;
static const Limit limits[] = {
    { "strips_right", "changes or moves messages", false, false, NULL },
    { "date_turns", "writes dates in places", false, false, NULL },
    { "date_changed", "writes a date in a form that is not supported", false, false, NULL },
    { "date_compared", "writes a date in a form that is not supported", false, false, NULL },
    { "twice", "does not write a user message exactly once", false, false, NULL },
    { "upper", "does not write a user message exactly once", false, false, NULL },
    { "needs_system", "rejects a conversation: a system text comes first", false, false, NULL },
    { "unknown_filter", "cannot be run: line 1: the wordwrap filter is not supported", false, false, NULL },
    { "imported", "line 1: the statement 'import' is not supported", false, false, NULL },
    { "broken", "line 1: unterminated tag", false, false, NULL },
    { "last_only", NULL, true, true, NULL },
    { "no_system", NULL, false, true, NULL },
    { "commands", NULL, false, false, "for a message with \"/quiet\"" },
    { "first_letter", NULL, false, false, "for a message with \"!\"" },
    { "in_list", NULL, false, false, "for a message with \"yes\"" },
    { "long_text", NULL, false, false, "for a message of 61 characters" },
    { "long_cut", NULL, false, false, "for a message of 201 characters" },
    { "many_texts", NULL, false, false, "for a conversation of 9 messages" },
    { "from_tenth", NULL, false, false, "for a conversation of 9 messages with a system prompt" },
    { "above_tilde", NULL, false, false, "for a message with \"~\"" },
    { "three_blanks", NULL, false, false, "for a message with \"   \"" },
    { "said_again", NULL, false, false, "for a message that repeats another" },
    { "metadata", NULL, false, false, "for a message with \"/quick\"" },
    { "asks", NULL, false, false, "for a message with \"??\"" },
};

static const Limit *limit_of(const char *name)
{
    static const Limit none = { 0 };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (strcmp(limits[i].name, name) == 0) return &limits[i];
    return &none;
}

static char *read_all(const char *path, size_t *bytes)
{
    static char data[1 << 20];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    *bytes = fread(data, 1, sizeof data - 1, f);
    data[*bytes] = '\0';
    fclose(f);
    return data;
}

static json_t *rows_of(const char *path)
{
    size_t bytes;
    json_t *rows = json_array();
    for (char *line = read_all(path, &bytes), *end; *line && (end = strchr(line, '\n'));
         line = end + 1) {
        *end = '\0';
        json_t *row = json_loads(line, 0, NULL);
        assert_non_null(row);
        json_array_append_new(rows, row);
    }
    return rows;
}

static const Chat *learn(Arena *a, const char *name, const char **fault)
{
    size_t bytes;
    const char *text = read_all(arena_format(a, "tests/chat/learned/%s.jinja", name), &bytes);
    return chat_learn(a, text, bytes, names, 2, fault);
}

/* Check the text of a row. False if the row has none, or needs something that was not learned from
 * its template. */
static bool check(const Chat *chat, const json_t *row, const char *name)
{
    RtChatTurn turns[8];
    RtChatWords words = { json_string_value(json_object_get(row, "system")),
                          json_string_value(json_object_get(row, "date")) };
    const json_t *said = json_object_get(row, "turns");
    const char *wanted = json_string_value(json_object_get(row, "text"));
    const RtChat c = chat_as_runtime(chat);
    char text[MOST], date[64];
    int count = 0;
    for (size_t i = 0; i < json_array_size(said); i += 2) {
        const json_t *user = json_array_get(said, i), *answer = json_array_get(said, i + 1);
        turns[count++] = (RtChatTurn){ json_string_value(user), json_string_length(user),
                                       json_string_value(answer), json_string_length(answer) };
    }
    if (!wanted || (count > 1 && !c.past[0]) || (words.system && !c.system[0])) return false;
    if (c.today && !words.date) rt_chat_today(&c, NOW, date, sizeof date), words.date = date;
    const size_t n = rt_chat_text(&c, &words, turns, count, text, sizeof text - 1, NULL);
    assert_true(n < sizeof text);
    text[n] = '\0';
    if (strcmp(text, wanted) != 0) fail_msg("%s: \"%s\", expected \"%s\"", name, text, wanted);
    return true;
}

static void conversations(void **state)
{
    json_t *rows = rows_of("tests/chat/learned.rows"), *row;
    const char *last = "", *fault = NULL;
    const Chat *chat = NULL;
    Arena *a = arena_new();
    size_t i;
    int good = 0, templates = 0;
    (void)state;
    json_array_foreach(rows, i, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        const Limit *limit = limit_of(name);
        if (strcmp(name, last) != 0) {
            chat = learn(a, last = name, &fault);
            templates++;
            if (!limit->fault && !chat) fail_msg("%s: %s", name, fault);
            if (limit->fault && chat) fail_msg("%s is learned", name);
            if (limit->fault && !strstr(fault, limit->fault)) fail_msg("%s: %s", name, fault);
            if (chat && !chat->past[0] != limit->no_turns) fail_msg("%s: earlier turns are %s", name, limit->no_turns ? "learned" : "not learned");
            if (chat && !chat->system[0] != limit->no_system)
                fail_msg("%s: the system text is %s", name, limit->no_system ? "learned" : "not learned");
            const char *unlike = chat && chat->unlike ? chat->unlike : "";
            if (chat && strcmp(unlike, limit->unlike ? limit->unlike : "") != 0)
                fail_msg("%s: \"%s\" is reported", name, unlike);
        }
        good += chat && check(chat, row, name);
    }
    print_message("# %d templates, %d conversations\n", templates, good);
    assert_true(templates == 43 && good > 1400);
    json_decref(rows);
    arena_free(a);
}

static void expressions(void **state)
{
    static const JinjaMessage said[] = { { "user", "Hello" }, { "assistant", "Yes" } };
    const JinjaChat chat = { said, 2, names, 2, "2031", true };
    json_t *rows = rows_of("tests/chat/expressions.rows"), *row;
    size_t i;
    (void)state;
    assert_true(json_array_size(rows) > 180);
    json_array_foreach(rows, i, row) {
        Arena *a = arena_new();
        const char *text = json_string_value(json_object_get(row, "template")), *fault;
        const char *wanted = json_string_value(json_object_get(row, "text"));
        const JinjaTemplate *t = jinja_parse(a, text, strlen(text), &fault);
        const JinjaResult r = t ? jinja_render(a, t, &chat) : (JinjaResult){ .fault = fault };
        if (!wanted && r.text) fail_msg("%s: \"%s\", expected an error", text, r.text);
        if (wanted && !r.text) fail_msg("%s: %s", text, r.fault);
        if (wanted && strcmp(wanted, r.text) != 0)
            fail_msg("%s: \"%s\", expected \"%s\"", text, r.text, wanted);
        arena_free(a);
    }
    json_decref(rows);
}

/* Templates that run too long, write too much, nest too deeply or contain an invalid expression
 * fail. */
static void bounds(void **state)
{
    static const JinjaMessage said[] = { { "user", "Hello" } };
    const JinjaChat chat = { said, 1, NULL, 0, "", true };
    static const char *const texts[] = {
        "{% for i in range(1000000000) %}x{% endfor %}",
        "{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{% endfor %}",
        "{{ 'x' * 100000000 }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ ('x' * 900000) ~ ('x' * 900000) }}",
        "{{ 9223372036854775807 + 1 }}",
        "{{ 99999999999999999999 * 99999999999999999999 }}",
        "{{ 'a'.split('') }}",
        "{{ '\\x00' }}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Arena *a = arena_new();
        const char *fault;
        const JinjaTemplate *t = jinja_parse(a, texts[i], strlen(texts[i]), &fault);
        if (t && jinja_render(a, t, &chat).text) fail_msg("%s is rendered", texts[i]);
        arena_free(a);
    }
    char deep[4000];
    memset(deep, '(', 2000);
    memset(deep + 2000, ')', 2000);
    memcpy(deep, "{{", 2);
    memcpy(deep + 1999, "1))", 3);
    memcpy(deep + 3998, "}}", 2);
    Arena *a = arena_new();
    const char *fault;
    assert_null(jinja_parse(a, deep, sizeof deep, &fault));
    assert_non_null(strstr(fault, "nested too deeply"));
    arena_free(a);
}

int main(void)
{
    setenv("TZ", "UTC0", 1);
    const struct CMUnitTest tests[] = { cmocka_unit_test(conversations),
                                        cmocka_unit_test(expressions), cmocka_unit_test(bounds) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
