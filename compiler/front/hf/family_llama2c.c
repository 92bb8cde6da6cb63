/* family_llama2c.c: models trained with llama2.c: Llama under Meta's names; RoPE rotates rows 2i
 * and 2i + 1 of a head. */
#include "family.h"
#include "rt.h"

static const FamilySetting settings[] = {
    SET(norm_eps, 1e-5), SET(rope_theta, 10000), SET(qkv_bias, false), SET(out_bias, false), SET(ffn_bias, false), SET(norm, NORMS_RMS),
    SET(norm_at, NORM_PLACES_PRE), SET(position, POSITIONS_ROTARY), SET(embed_scale, 1), SET(gated, true), SET(output_bias, false),
    SET(log_softmax, false), SET(activation, RT_SILU),
};

static const FamilyTensor tensors[] = {
    WHOLE("decoder.embed", "tok_embeddings"),
    WHOLE("decoder.{}.norm.0", "layers.{}.attention_norm"),
    CUT("decoder.{}.self_attn.q", "layers.{}.attention.wq", PAIRS),
    CUT("decoder.{}.self_attn.k", "layers.{}.attention.wk", PAIRS),
    WHOLE("decoder.{}.self_attn.v", "layers.{}.attention.wv"),
    WHOLE("decoder.{}.self_attn.out", "layers.{}.attention.wo"),
    WHOLE("decoder.{}.norm.1", "layers.{}.ffn_norm"),
    WHOLE("decoder.{}.ffn.gate", "layers.{}.feed_forward.w1"),
    WHOLE("decoder.{}.ffn.up", "layers.{}.feed_forward.w3"),
    WHOLE("decoder.{}.ffn.down", "layers.{}.feed_forward.w2"),
    WHOLE("decoder.norm", "norm"),
    WHOLE("output", "output"),
};

const Family family_llama2c = { .kind = KIND_DECODER, SETTINGS_OF(settings), TENSORS_OF(tensors) };
