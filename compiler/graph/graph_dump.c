/* graph_dump.c: a Graph as text, for -d g, golden files and the identity of packed weights. The
 * text must change whenever the meaning of the weights changes. */
#include "graph.h"

static void dump_dim(const Dim *d, FILE *to)
{
    if (d->count == COUNT_CONSTANT) fprintf(to, "%lld", (long long)d->bound);
    else fprintf(to, "%s<=%lld", count_name(d->count), (long long)d->bound);
}

static void dump_tensor(const Tensor *t, FILE *to)
{
    fprintf(to, "%s", t->name);
    for (int r = 0; r < t->rank; r++) {
        fputs(r ? ", " : "[", to);
        dump_dim(&t->dim[r], to);
    }
    fputs("]", to);
    if (t->integer) fputs(" int", to);
    if (t->output) fputs(" output", to);
}

static void dump_attributes(const Node *n, FILE *to)
{
    int words;
    switch (n->op) {
    case OP_EMBED:      fprintf(to, "  scale %.9g", n->scale); break;
    case OP_POOL:
        for (int i = 0; i < n->parts->count; i++)
            fprintf(to, "%s%s", i ? ", " : "  ", field_words("poolings", &words)[n->parts->value[i]]);
        break;
    case OP_SCALE:
        fprintf(to, "  scale %.9g", n->scale);
        if (n->softcap > 0) fprintf(to, ", softcap %.9g", n->softcap);
        break;
    case OP_NORM:
        fprintf(to, "  kind %s, eps %.9g", field_words("norms", &words)[n->kind], n->eps);
        if (n->heads > 1) fprintf(to, ", heads %d", n->heads);
        break;
    case OP_GATE:
    case OP_ACTIVATION: fprintf(to, "  kind %s", field_words("activations", &words)[n->kind]); break;
    case OP_APPEND:     fprintf(to, "  heads %d%s", n->kv_heads, n->values ? ", values" : ", keys"); break;
    case OP_ATTENTION:
        fprintf(to, "  heads %d, kv_heads %d, scale %.9g", n->heads, n->kv_heads, n->scale);
        if (n->softcap > 0) fprintf(to, ", softcap %.9g", n->softcap);
        if (n->window) fprintf(to, ", window %lld", (long long)n->window);
        if (n->window && n->in[5]) fputs(" on both sides", to);
        break;
    case OP_ROTARY:     fprintf(to, "  heads %d, dims %d, %s", n->heads, n->dims, field_words("rotations", &words)[n->interleaved]); break;
    case OP_CUSTOM:
        for (int i = 0; i < n->custom->attribute_count; i++)
            fprintf(to, "%s%s %.9g", i ? ", " : "  ", n->custom->attributes[i].name, n->attributes[i]);
        break;
    default: break;
    }
}

static void dump_node(const Node *n, FILE *to)
{
    const OpRow *row = &op_rows[n->op];
    fputs("    ", to);
    for (int r = 0; r < row->results; r++) {
        if (r) fputs(", ", to);
        dump_tensor(n->out[r], to);
    }
    fprintf(to, " = %s(", n->custom ? n->custom->name : row->name);
    for (int i = 0, first = 1; i < row->inputs; i++) {
        if (!n->in[i]) continue;
        fprintf(to, "%s%s", first ? "" : ", ", n->in[i]->name);
        first = 0;
    }
    fputs(")", to);
    dump_attributes(n, to);
    fputs("\n", to);
}

static void dump_block(const Block *b, FILE *to)
{
    fprintf(to, "block %s", b->name);
    if (b->layers) fprintf(to, " for %d layers from %d", b->layers, b->layer[0]);
    fputs("\n", to);
    if (b->carry_in) {
        fputs("    takes ", to);
        dump_tensor(b->carry_in, to);
        fputs("\n", to);
    }
    for (int i = 0; i < b->count; i++) dump_node(b->nodes[i], to);
    if (b->carry_out) fprintf(to, "    leaves %s\n", b->carry_out->name);
}

void graph_dump(const Graph *g, FILE *to)
{
    static const char *const kinds[] = { [TENSOR_INPUT] = "input", [TENSOR_PARAM] = "param", [TENSOR_STATE] = "state" };
    for (int i = 0; i < g->tensor_count; i++) {
        const Tensor *t = g->tensors[i];
        if (t->kind == TENSOR_TEMP) continue;
        fprintf(to, "%s ", kinds[t->kind]);
        dump_tensor(t, to);
        if (t->layers) fprintf(to, " x %d layers", t->layers);
        fputs("\n", to);
    }
    for (int i = 0; i < g->block_count; i++) dump_block(g->blocks[i], to);
    for (int i = 0; i < g->program_count; i++) {
        const Program *p = &g->programs[i];
        fprintf(to, "program %s\n", program_name(p->kind));
        for (int r = 0; r < p->count; r++) {
            fprintf(to, "    %s", p->runs[r].block->name);
            if (p->runs[r].block->layers) fprintf(to, " x %d", p->runs[r].count);
            fputs("\n", to);
        }
    }
}
