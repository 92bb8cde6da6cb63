/* tolerance.c: see tolerance.h. */
#include "tolerance.h"

#include <string.h>

double model_tolerance(const Model *m, const char *name)
{
    const int64_t layers = m->encoder.layers > m->decoder.layers ? m->encoder.layers : m->decoder.layers;
    const bool of_vocabulary = strcmp(name, "logits") == 0 || strcmp(name, "log_probs") == 0;
    return of_vocabulary && !m->graph && layers > 12 ? 1e-4 : 1e-5;
}

double model_tolerance_apart(const Model *m, const char *name)
{
    const double each = 0x1p-9;                 /* tolerance.h says why */
    const double attentions = m->graph ? 1 : (double)m->decoder.layers * (m->has_encoder ? 2 : 1);
    if (model_rounds_activations(m) || m->kv_dtype == KV_DTYPES_INT8) return 5e-2;
    return model_tolerance(m, name) + (m->kv_dtype == KV_DTYPES_F16 ? attentions * each : 0);
}

double model_tolerance_exact(const Model *m, const char *name) { return model_is_narrow(m) ? 5e-2 : model_tolerance_apart(m, name); }
