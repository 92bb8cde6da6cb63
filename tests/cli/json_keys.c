/* json_keys.c: a tool of the shell suites: is standard input one JSON object of the shape that `verify --json` or
 * `run --json` (of an xf.graph: tensors, of texts: answers, with --beam: beams) promises? Or, with `objects`, is each of its
 * lines some object?   usage: json_keys verify|run|answers|beams|objects */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static int wrong(const char *why)
{
    fprintf(stderr, "json_keys: %s\n", why);
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

/* What a search adds to an answer: its sequences, none for a text that is refused. */
static int check_beams(const json_t *row)
{
    static const char *const keys[] = { "answer" };
    const json_t *beams = json_object_get(row, "beams"), *beam, *id;
    size_t i, k;
    if (!json_is_array(beams) || (json_array_size(beams) > 0) != json_is_string(json_object_get(row, "answer"))) return wrong("beams");
    json_array_foreach(beams, i, beam) {
        if (texts(beam, keys, 1) || json_object_size(beam) != 4) return wrong("the keys of a beam");
        if (!json_is_number(json_object_get(beam, "score")) || !json_is_number(json_object_get(beam, "sum"))) return wrong("score, sum");
        if (json_array_size(json_object_get(beam, "ids")) < 1) return wrong("ids");
        json_array_foreach(json_object_get(beam, "ids"), k, id)
            if (!json_is_integer(id)) return wrong("an id");
    }
    return 0;
}

static int check_answers(const json_t *root, int searched)
{
    static const char *const keys[] = { "input" };
    const json_t *answers = json_object_get(root, "answers"), *row;
    size_t i;
    if (json_array_size(answers) < 1 || json_object_size(root) != 1) return wrong("answers");
    json_array_foreach(answers, i, row) {
        static const char *const lists[] = { "input_ids", "ids" };
        const json_t *answer = json_object_get(row, "answer");
        const size_t answered = json_is_string(answer) ? 4 : 0;
        if (texts(row, keys, 1) || json_object_size(row) != (searched ? 3 : 2) + answered) return wrong("the keys of an answer");
        for (int k = 0; k < 2 && answered; k++)
            if (!json_array_size(json_object_get(row, lists[k]))) return wrong(lists[k]);
        if (answered && (!json_is_number(json_object_get(row, "score")) || !json_is_boolean(json_object_get(row, "finished"))))
            return wrong("score, finished");
        if (searched && check_beams(row)) return 1;
        if (!json_is_string(answer) && !json_is_null(answer)) return wrong("answer");
    }
    return 0;
}

/* Every line of standard input is an object, and there is one. */
static int check_objects(void)
{
    char *line = NULL;
    size_t room = 0, count = 0;
    int code = 0;
    for (ssize_t n; !code && (n = getline(&line, &room, stdin)) > 0; count++) {
        json_error_t error;
        json_t *root = json_loadb(line, (size_t)n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
        if (!root) fprintf(stderr, "line %zu: %s", count + 1, line);
        if (!json_is_object(root)) code = wrong(root ? "no object" : error.text);
        json_decref(root);
    }
    free(line);
    return code || count ? code : wrong("no lines");
}

int main(int argc, char **argv)
{
    json_error_t error;
    if (argc == 2 && strcmp(argv[1], "objects") == 0) return check_objects();
    json_t *root = json_loadf(stdin, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!root) return wrong(error.text);
    const char *what = argc == 2 ? argv[1] : "verify";
    const int searched = strcmp(what, "beams") == 0;
    int code = strcmp(what, "run") == 0                   ? check_run(root)
             : searched || strcmp(what, "answers") == 0 ? check_answers(root, searched)
                                                        : check_verify(root);
    json_decref(root);
    return code;
}
