/* command_verify_task.h: what rounded weights cost: right answers and perplexity of a model, beside those of its f32. */
#ifndef COMMAND_VERIFY_TASK_H
#define COMMAND_VERIFY_TASK_H

#include "options.h"

/* Of one dtype; kv_dtype: of a cache that is not of f32, else NULL. */
typedef struct TaskResult { const char *dtype, *kv_dtype; int right, texts; double perplexity; int64_t tokens; } TaskResult;

/* Of files, NULL: not asked; as the model has them, then by f32 where that is another. */
typedef struct Task { const char *answers, *perplexity; TaskResult results[2]; int count; } Task;

/* Measure what is asked for, in an engine. The file of answers: a line for each text,
 * a tab, and its answer, to the letter; further columns are not read. Perplexity: exp of the mean of -log p of every token behind
 * the first of its window, of FILE in windows of max_target tokens; of a decoder alone. False after an error. */
bool task_measure(Session *s, EngineKind kind, Task *task);
/* "accuracy: int8 4999 of 5000, f32 5000 of 5000: -0.02 points" and the like. */
void task_print(Arena *a, const Task *task, FILE *to);
/* With "kv_dtype":… behind a dtype where it is f16:
 * ,"accuracy":[{"dtype":…,"right":…,"texts":…}…],"perplexity":[{"dtype":…,"perplexity":…,"tokens":…}…]
 * "" where nothing was asked. */
const char *task_json(Arena *a, const Task *task);

#endif
