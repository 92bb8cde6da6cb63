/* dates_main.c: the program dates. Compiled for the baseline; it asks whether the processor can run dates.c. */
#include "dates.h"
#include "rt_host.h"

extern const unsigned char dates_weights[];

static rt_status bind(void *m, const void *weights, size_t bytes) { return dates_bind(m, weights, bytes); }
static rt_status threads(void *m, int n) { return dates_threads(m, n); }
static rt_team *team(const void *m) { return ((const dates *)m)->team; }
static void reset(void *s) { dates_reset(s); }

static rt_status ids(const void *m, const char *utf8, int *out, int room, int *n, RtTextFault *fault)
{
    return dates_ids(m, utf8, out, room, n, fault);
}

static rt_status text(const void *m, void *s, const char *utf8, char *out, size_t cap)
{
    return dates_text(m, s, utf8, out, cap);
}

int main(int argc, char **argv)
{
    const rt_program program = {
        .name = "dates", .about = "encoder-decoder of 2 + 2 layers, width 64", .version = "0.1.0",
        .isa = dates_isa, .model_bytes = sizeof(dates), .state_bytes = DATES_STATE_BYTES,
        .weights = dates_weights, .weights_bytes = DATES_WEIGHTS_BYTES, .weights_file = NULL,
        .max_source = DATES_MAX_SOURCE, .answer_bytes = 4 * DATES_MAX_TARGET + 1, .numbers = 0,
        .slots = DATES_SLOTS, .default_lanes = 1, .lanes_max = DATES_LANES,
        .bind = bind, .threads = threads, .team = team, .reset = reset, .ids = ids, .text = text,
    };
    return rt_host_main(&program, argc, argv);
}
