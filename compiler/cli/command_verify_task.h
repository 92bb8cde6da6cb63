/* command_verify_task.h: the cost of quantization: correct answers and perplexity of a model, next
 * to those of the same model in f32. */
#ifndef COMMAND_VERIFY_TASK_H
#define COMMAND_VERIFY_TASK_H

#include "options.h"

/* Results with one dtype. kv_dtype: NULL if the KV cache is f32. */
typedef struct TaskResult { const char *dtype, *kv_dtype; int right, texts; double perplexity; int64_t tokens; } TaskResult;

/* answers, perplexity: paths of files; NULL: not asked for. results[0] has the model's dtypes;
 * results[1] is in f32 throughout, and measured only if one of the model's dtypes is not f32. */
typedef struct Task { const char *answers, *perplexity; TaskResult results[2]; int count; } Task;

/* Measure what is asked for with an engine of this kind. A line of the answers file is a text, a
 * tab and the expected answer, compared exactly; further columns are ignored. Perplexity is for
 * decoder-only models with a subword tokenizer. The tokens of its file are cut into windows of
 * max_target; the result is exp of the mean of -log p over all tokens but the first of each window.
 * False after an error. */
bool task_measure(Session *s, EngineKind kind, Task *task);
/* "accuracy: int8 4999 of 5000, f32 5000 of 5000: -0.02 points" and the like. */
void task_print(Arena *a, const Task *task, FILE *to);
/* Members of a JSON object; "" if nothing was asked for. "kv_dtype":… follows "dtype" if the KV
 * cache is not f32.
 * ,"accuracy":[{"dtype":…,"right":…,"texts":…}…],
 * "perplexity":[{"dtype":…,"perplexity":…,"tokens":…}…] */
const char *task_json(Arena *a, const Task *task);

#endif
