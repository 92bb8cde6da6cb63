/* family_gguf.c: decoders in GGUF files: all architectures use the same tensor names; draft_gguf.c
 * reads the keys. */
#include "family.h"
#include "rt.h"

static const FamilySetting settings[] = {
    SET(norm, NORMS_RMS), SET(norm_at, NORM_PLACES_PRE), SET(position, POSITIONS_ROTARY), SET(embed_scale, 1), SET(gated, true),
    SET(output_bias, false), SET(log_softmax, false), SET(activation, RT_SILU),
};

static const FamilyTensor tensors[] = {
    WHOLE("decoder.embed", "token_embd"),
    WHOLE("decoder.{}.norm.0", "blk.{}.attn_norm"),
    WHOLE("decoder.{}.self_attn.q", "blk.{}.attn_q"),
    WHOLE("decoder.{}.self_attn.k", "blk.{}.attn_k"),
    WHOLE("decoder.{}.self_attn.v", "blk.{}.attn_v"),
    WHOLE("decoder.{}.self_attn.out", "blk.{}.attn_output"),
    WHOLE("decoder.{}.self_attn.q_norm", "blk.{}.attn_q_norm"),
    WHOLE("decoder.{}.self_attn.k_norm", "blk.{}.attn_k_norm"),
    WHOLE("decoder.{}.norm.1", "blk.{}.ffn_norm"),
    WHOLE("decoder.{}.ffn.gate", "blk.{}.ffn_gate"),
    WHOLE("decoder.{}.ffn.up", "blk.{}.ffn_up"),
    WHOLE("decoder.{}.ffn.down", "blk.{}.ffn_down"),
    WHOLE("decoder.norm", "output_norm"),
    WHOLE("output", "output"),
};

const Family family_gguf = { .kind = KIND_DECODER, SETTINGS_OF(settings), TENSORS_OF(tensors) };
