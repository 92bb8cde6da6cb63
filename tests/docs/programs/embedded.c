/* embedded.c: the parts of docs/embedding.md outside its program: weights from a file, options,
 * scores. */
#include <math.h>
#include <stdio.h>
#include "dates.h"
#include "rt_weights.h"

static dates model;
static dates_state state;

static bool print(void *user, const char *text, size_t n)
{
    return fwrite(text, 1, n, (FILE *)user) == n;
}

#include "score.h"

int main(void)
{
#include "weights.h"
#include "options.h"
    if (!status) status = dates_generate(&model, &state, "3rd of May 2019", &options, print, stdout);
    const double good = score("3rd of May 2019", "2019-05-03"), bad = score("3rd of May 2019", "2019-03-05");
    printf(" %s %s\n", good > -0.01 ? "good" : "?", bad < -1 ? "bad" : "?");
    if (score("3rd of May 2019", "2019-05-0") > good - 5 || score("3rd of May 2019", "") > good - 5) return 1;
    if (score("€", "1") > -HUGE_VAL) return 1;
    rt_weights_close(&file);
    return status != RT_OK;
}
