/* family_llama2c.c: what llama2.c trains: Llama under Meta's names, whose heads turn pairs of rows 2i and 2i + 1. */
#include "family.h"
#include "rt.h"

static const FamilySetting settings[] = {
    SET(norm_eps, 1e-5), SET(rope_theta, 10000), SET(qkv_bias, false), SET(out_bias, false), SET(ffn_bias, false), SET(norm, NORMS_RMS),
    SET(norm_at, NORM_PLACES_PRE), SET(position, POSITIONS_ROTARY), SET(embed_scale, 1), SET(gated, true), SET(output_bias, false),
    SET(log_softmax, false), SET(activation, RT_SILU),
};

static const FamilyTensor tensors[] = {
    { "decoder.embed", "tok_embeddings", CUT_WHOLE },
    { "decoder.{}.norm.0", "layers.{}.attention_norm", CUT_WHOLE },
    { "decoder.{}.self_attn.q", "layers.{}.attention.wq", CUT_PAIRS },
    { "decoder.{}.self_attn.k", "layers.{}.attention.wk", CUT_PAIRS },
    { "decoder.{}.self_attn.v", "layers.{}.attention.wv", CUT_WHOLE },
    { "decoder.{}.self_attn.out", "layers.{}.attention.wo", CUT_WHOLE },
    { "decoder.{}.norm.1", "layers.{}.ffn_norm", CUT_WHOLE },
    { "decoder.{}.ffn.gate", "layers.{}.feed_forward.w1", CUT_WHOLE },
    { "decoder.{}.ffn.up", "layers.{}.feed_forward.w3", CUT_WHOLE },
    { "decoder.{}.ffn.down", "layers.{}.feed_forward.w2", CUT_WHOLE },
    { "decoder.norm", "norm", CUT_WHOLE },
    { "output", "output", CUT_WHOLE },
};

const Family family_llama2c = { .kind = KIND_DECODER, SETTINGS_OF(settings), TENSORS_OF(tensors) };
