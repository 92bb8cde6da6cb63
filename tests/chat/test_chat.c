/* test_chat.c: The chat template of every folder NAME with a NAME.gold here gives the texts and ids
 * of transformers' apply_chat_template (in NAME.gold, by make.py): one turn and several, dates,
 * default system texts. Every row of chats.def has a folder. */
#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "chat.h"
#include "chat_read.h"
#include "fields.h"
#include "rt_tokenizer.h"
#include "tokenizer.h"

enum { MOST = 4096, MOST_TURNS = 8, NOW = 1930480200 };      /* NOW: 5 March 2031, 12:30 UTC */

static const char folder[] = "tests/chat";

typedef struct Case { Arena *arena; Model model; RtChat chat; TokenizerBlob blob; RtTokenizer t; void *scratch; size_t scratch_bytes; } Case;

static void open_case(Case *c, const char *path)
{
    Diag *d;
    *c = (Case){ .arena = arena_new(), .scratch_bytes = 1 << 20, .model = { .tokenizer_file = path, .has_decoder = true } };
    d = diag_new(c->arena);
    assert_true(tokenizer_import(c->arena, d, (Loc){ 0 }, path, &c->blob));
    assert_int_equal(rt_tokenizer_open(&c->t, c->blob.data, c->blob.size), RT_OK);
    c->model.tokenizer_data = c->blob.data;
    c->model.tokenizer_chat = c->blob.chat;
    assert_true(model_learn_chat(c->arena, d, &c->model));
    if (c->model.chat_fault) fail_msg("%s: %s", path, c->model.chat_fault);
    assert_true(model_chats(&c->model));
    c->chat = chat_of(&c->model);
    c->scratch = malloc(c->scratch_bytes);
}

static void close_case(Case *c)
{
    free(c->scratch);
    arena_free(c->arena);
}

static void check_ids(const Case *c, const char *text, size_t bytes, const json_t *wanted, const char *where)
{
    int ids[MOST], n = 0;
    const RtTokenText x = { text, bytes, NULL, 0, 1 };
    const RtTokens out = { ids, NULL, NULL, MOST, NULL };
    assert_int_equal(rt_tokenizer_encode(&c->t, &x, &out, &n, c->scratch, c->scratch_bytes), RT_OK);
    if ((size_t)n != json_array_size(wanted)) fail_msg("%s: %d ids, expected %zu", where, n, json_array_size(wanted));
    for (int i = 0; i < n; i++)
        if (ids[i] != json_integer_value(json_array_get(wanted, (size_t)i))) fail_msg("%s: id %d is %d", where, i, ids[i]);
}

/* Read the turns of a row; the last one has no answer. */
static int turns_of(const json_t *row, RtChatTurn *turns)
{
    const json_t *all = json_object_get(row, "turns"), *user = json_object_get(row, "user");
    const int n = all ? (int)(json_array_size(all) + 1) / 2 : 1;
    assert_in_range(n, 1, MOST_TURNS);
    turns[0] = (RtChatTurn){ json_string_value(user), json_string_length(user), NULL, 0 };
    for (int i = 0; all && i < n; i++) {
        const json_t *says = json_array_get(all, (size_t)i * 2), *answer = json_array_get(all, (size_t)i * 2 + 1);
        turns[i] = (RtChatTurn){ json_string_value(says), json_string_length(says), json_string_value(answer), json_string_length(answer) };
    }
    return n;
}

static void check_row(const Case *c, const json_t *row, const char *where)
{
    RtChatTurn turns[MOST_TURNS];
    RtChatWords words = { json_string_value(json_object_get(row, "system")), json_string_value(json_object_get(row, "date")) };
    const char *wanted = json_string_value(json_object_get(row, "text"));
    const int count = turns_of(row, turns);
    char text[MOST], date[64];
    if (c->chat.today && !words.date) rt_chat_today(&c->chat, NOW, date, sizeof date), words.date = date;
    assert_true(count == 1 || c->chat.past[0]);
    const size_t n = rt_chat_text(&c->chat, &words, turns, count, text, sizeof text - 1, NULL);
    assert_true(n < sizeof text);
    text[n] = '\0';
    if (strcmp(text, wanted) != 0) fail_msg("%s: \"%s\", expected \"%s\"", where, text, wanted);
    check_ids(c, text, n, json_object_get(row, "ids"), where);
    /* Too little room: the size needed is returned, and nothing past the end is written. */
    char *small = malloc(n);
    assert_int_equal(rt_chat_text(&c->chat, &words, turns, count, small, n - 1, NULL), n);
    free(small);
}

static int check_gold(const char *name)
{
    Case c;
    Arena *a = arena_new();
    size_t size;
    int rows = 0;
    char *data = file_read(a, diag_new(a), (Loc){ 0 }, file_join(a, folder, name), 1 << 24, &size);
    assert_non_null(data);
    open_case(&c, arena_format(a, "%s/%.*s", folder, (int)(strlen(name) - 5), name));
    for (char *line = data, *end; *line && (end = strchr(line, '\n')); line = end + 1, rows++) {
        *end = '\0';
        json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);
        assert_non_null(row);
        check_row(&c, row, arena_format(a, "%s:%d", name, rows + 1));
        json_decref(row);
    }
    close_case(&c);
    arena_free(a);
    return rows;
}

static void goldens(void **state)
{
    DIR *d = opendir(folder);
    int files = 0, rows = 0;
    (void)state;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || strcmp(dot, ".gold") != 0) continue;
        rows += check_gold(e->d_name);
        files++;
    }
    closedir(d);
    print_message("# %d templates, %d texts\n", files, rows);
    assert_true(files >= 24 && rows >= 580);
}

/* Each row of chats.def matches the template of some folder here. */
static void rows_have_folders(void **state)
{
    static const struct { const char *row, *folder; } pairs[] = {
        { "llama3.1", "llama3_dated" }, { "llama3", "llama3" }, { "chatml", "chatml" }, { "phi4", "phi4" },
        { "llama2", "llama2" }, { "mistral", "mistral" }, { "gemma", "gemma" }, { "phi3", "phi3" },
        { "phi4-mini", "phi4_mini" }, { "zephyr", "zephyr" },
    };
    static const char *const names[] = {
#define CHAT(name, system, before, behind) name,
#include "chats.def"
#undef CHAT
    };
    (void)state;
    assert_int_equal(sizeof names / sizeof *names, sizeof pairs / sizeof *pairs);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        Case c;
        Arena *a = arena_new();
        open_case(&c, arena_format(a, "%s/%s", folder, pairs[i].folder));
        assert_string_equal(names[i], pairs[i].row);
        assert_string_equal(c.chat.name, pairs[i].row);
        close_case(&c);
        arena_free(a);
    }
}

int main(void)
{
    setenv("TZ", "UTC0", 1);
    const struct CMUnitTest tests[] = { cmocka_unit_test(goldens), cmocka_unit_test(rows_have_folders) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
