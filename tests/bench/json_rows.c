/* json_rows.c: check the JSON rows that `xformc bench` printed, and print each as `ENGINE THREADS
 * TEST`, in order; if the kernels are unrolled, ENGINE ends in _unrolled.
 * usage: json_rows json|jsonl KEY:TYPE...
 * TYPE: s text, n number, l list of REPETITIONS numbers, e small error (null for generic), r ratio,
 * 0 null. Exits with 1 if there are no rows, or, with a message, if a row has no valid value for a
 * key. environment: REPETITIONS */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static int is_list(const json_t *x)
{
    const char *n = getenv("REPETITIONS");
    if (!json_is_array(x) || json_array_size(x) != (size_t)atoi(n ? n : "1")) return 0;
    for (size_t i = 0; i < json_array_size(x); i++)
        if (!(json_number_value(json_array_get(x, i)) > 0)) return 0;
    return 1;
}

static int fits(const json_t *row, const json_t *x, char type)
{
    const char *engine = json_string_value(json_object_get(row, "engine"));
    switch (type) {
    case 's': return json_is_string(x);
    case 'n': return json_is_number(x) && json_number_value(x) >= 0;
    case 'l': return is_list(x);
    case 'e': return engine && strcmp(engine, "generic") == 0 ? json_is_null(x) : json_is_number(x) && json_number_value(x) < 1e-3;
    case 'r': return json_is_number(x) && json_number_value(x) > 0;
    case '0': return json_is_null(x);
    default:  return 0;
    }
}

static int check(const json_t *row, char **keys, int n)
{
    int bad = 0;
    for (int i = 0; i < n; i++) {
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(keys[i], ":"), keys[i]);
        if (fits(row, json_object_get(row, key), strchr(keys[i], ':')[1])) continue;
        fprintf(stderr, "a row has no valid %s\n", key);
        bad = 1;
    }
    const char *kernels = json_string_value(json_object_get(row, "kernels"));
    const int other = kernels && strcmp(kernels, "unrolled") == 0;
    printf("%s%s%s %d %s\n", json_string_value(json_object_get(row, "engine")), other ? "_" : "", other ? kernels : "",
           (int)json_number_value(json_object_get(row, "n_threads")), json_string_value(json_object_get(row, "test")));
    return bad;
}

static json_t *read_rows(int lines)
{
    json_error_t e;
    json_t *rows = json_array();
    if (!lines) {
        json_t *all = json_loadf(stdin, 0, &e), *found = json_object_get(all, "rows");
        if (json_is_array(found)) json_array_extend(rows, found);
        else fprintf(stderr, "no object with rows: %s\n", e.text);
        json_decref(all);
        return rows;
    }
    for (char line[65536]; fgets(line, sizeof line, stdin);) {
        json_t *row = json_loads(line, 0, &e);
        if (row) json_array_append_new(rows, row);
        else fprintf(stderr, "no object: %s\n", e.text);
    }
    return rows;
}

int main(int argc, char **argv)
{
    json_t *rows = argc > 1 ? read_rows(strcmp(argv[1], "jsonl") == 0) : json_array();
    int bad = json_array_size(rows) == 0;
    for (size_t i = 0; i < json_array_size(rows); i++) bad |= check(json_array_get(rows, i), argv + 2, argc - 2);
    json_decref(rows);
    return bad;
}
