/* json_keys.c: a tool of the shell suites: check that standard input is one JSON object as
 * documented for `verify --json`, or `run --json` of an xf.graph; or that each line is an object:
 * an answer (`answers`), an answer with --beam (`beams`), or any object (`objects`).
 * usage: json_keys verify|run|answers|beams|objects */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static int wrong(const char *why)
{
    fprintf(stderr, "json_keys: not as documented: %s\n", why);
    return 1;
}

static int texts(const json_t *object, const char *const *keys, int n)
{
    for (int i = 0; i < n; i++)
        if (!json_is_string(json_object_get(object, keys[i]))) return wrong(keys[i]);
    return 0;
}

static int check_verify(const json_t *root)
{
    static const char *const keys[] = { "name", "engine", "against" };
    const json_t *engines = json_object_get(root, "engines"), *rows = json_object_get(root, "rows"), *row;
    size_t i;
    if (json_array_size(engines) < 1 || json_array_size(rows) < 1 || json_object_size(root) != 2) return wrong("engines, rows");
    json_array_foreach(rows, i, row) {
        const json_t *distance = json_object_get(row, "distance"), *whole = json_object_get(row, "end_to_end");
        if (texts(row, keys, 3) || json_object_size(row) != 5) return wrong("the keys of a row");
        if (!json_is_number(distance) && !json_is_null(distance)) return wrong("distance");
        if (!json_is_number(whole) && !json_is_null(whole)) return wrong("end_to_end");
        if (json_number_value(whole) < json_number_value(distance)) return wrong("end_to_end, less than the distance");
    }
    return 0;
}

static int check_run(const json_t *root)
{
    static const char *const keys[] = { "name" };
    const json_t *tensors = json_object_get(root, "tensors"), *t, *size;
    size_t i, k;
    if (json_array_size(tensors) < 1 || json_object_size(root) != 1) return wrong("tensors");
    json_array_foreach(tensors, i, t) {
        size_t elements = 1;
        if (texts(t, keys, 1) || json_object_size(t) != 3) return wrong("the keys of a tensor");
        json_array_foreach(json_object_get(t, "shape"), k, size) elements *= (size_t)json_integer_value(size);
        if (json_array_size(json_object_get(t, "values")) != elements) return wrong("values do not fill the shape");
    }
    return 0;
}

/* Check the sequences that a beam search adds to an answer. */
static int check_beams(const json_t *row)
{
    static const char *const keys[] = { "answer" };
    const json_t *beams = json_object_get(row, "beams"), *beam, *id;
    size_t i, k;
    if (json_array_size(beams) < 1) return wrong("beams");
    json_array_foreach(beams, i, beam) {
        if (texts(beam, keys, 1) || json_object_size(beam) != 4) return wrong("the keys of a beam");
        if (!json_is_number(json_object_get(beam, "score")) || !json_is_number(json_object_get(beam, "sum"))) return wrong("score, sum");
        if (json_array_size(json_object_get(beam, "ids")) < 1) return wrong("ids");
        json_array_foreach(json_object_get(beam, "ids"), k, id)
            if (!json_is_integer(id)) return wrong("an id");
    }
    return 0;
}

/* Check the object of a text. That of a rejected text has only the input and the error. */
static int check_answer(const json_t *row, int searched)
{
    static const char *const keys[] = { "input", "answer" }, *const refused[] = { "input", "error" }, *const lists[] = { "input_ids", "ids" };
    if (json_object_get(row, "error")) return json_object_size(row) == 2 ? texts(row, refused, 2) : wrong("the keys of a refused text");
    if (texts(row, keys, 2) || json_object_size(row) != (searched ? 7 : 6)) return wrong("the keys of an answer");
    for (int k = 0; k < 2; k++)
        if (!json_array_size(json_object_get(row, lists[k]))) return wrong(lists[k]);
    if (!json_is_number(json_object_get(row, "score")) || !json_is_boolean(json_object_get(row, "finished"))) return wrong("score, finished");
    return searched ? check_beams(row) : 0;
}

/* Each line is an object, or an answer if `what` says so; there is at least one. */
static int check_lines(const char *what)
{
    const int any = strcmp(what, "objects") == 0, searched = strcmp(what, "beams") == 0;
    char *line = NULL;
    size_t room = 0, count = 0;
    int code = 0;
    for (ssize_t n; !code && (n = getline(&line, &room, stdin)) > 0; count++) {
        json_error_t error;
        json_t *root = json_loadb(line, (size_t)n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
        if (!json_is_object(root)) code = wrong(root ? "not an object" : error.text);
        else if (!any) code = check_answer(root, searched);
        if (code) fprintf(stderr, "line %zu: %s", count + 1, line);
        json_decref(root);
    }
    free(line);
    return code || count ? code : wrong("no lines");
}

int main(int argc, char **argv)
{
    json_error_t error;
    const char *what = argc == 2 ? argv[1] : "verify";
    if (!strcmp(what, "objects") || !strcmp(what, "answers") || !strcmp(what, "beams")) return check_lines(what);
    json_t *root = json_loadf(stdin, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!root) return wrong(error.text);
    const int code = strcmp(what, "run") == 0 ? check_run(root) : check_verify(root);
    json_decref(root);
    return code;
}
