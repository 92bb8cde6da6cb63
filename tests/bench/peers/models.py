"""Write the models under build/: Hugging Face folders, GGUF files, CTranslate2 models, ONNX graphs.

Each is made once, under a temporary name, and renamed when it is complete.
"""

import json
import os
import shutil
import sys

import numpy as np

from dates_texts import DATES, forms
from shapes import BERTS, EPS, FILES, LLAMAS, llama_parts

SHARD = 1 << 30             # approximate bytes of a weights file


def made(path, make):
    """The path; if it does not exist, make(temporary path) creates it first."""
    if not os.path.exists(path):
        print(f"  making {path}", file=sys.stderr, flush=True)
        unfinished = path + ".unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        make(unfinished)
        os.rename(unfinished, path)
    return path


# ---- Hugging Face folders ----

def llama_config(s):
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": s.d_model, "num_hidden_layers": s.layers,
            "num_attention_heads": s.heads, "num_key_value_heads": s.kv_heads, "intermediate_size": s.d_ff, "vocab_size": s.vocab,
            "tie_word_embeddings": s.tied, "max_position_embeddings": s.max_len, "rms_norm_eps": EPS, "rope_theta": 10000.0,
            "hidden_act": "silu", "bos_token_id": 1, "eos_token_id": 2, "torch_dtype": "float32"}


def write_llama(s, folder):
    """Shards of about a gigabyte and their index, or one file if the model is smaller."""
    from safetensors.numpy import save_file
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(llama_config(s), f, indent=1)
    shard, bytes_of_shard, index = {}, 0, {}

    def write():
        name = f"model-{len(set(index.values())):05}.safetensors"
        save_file(shard, os.path.join(folder, name), {"format": "pt"})
        index.update({tensor: name for tensor in shard})

    for name, make in llama_parts(s):
        shard[name] = make()
        bytes_of_shard += shard[name].nbytes
        if bytes_of_shard > SHARD:
            write()
            shard, bytes_of_shard = {}, 0
    if not index:
        save_file(shard, os.path.join(folder, "model.safetensors"), {"format": "pt"})
        return
    write()
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
        json.dump({"metadata": {}, "weight_map": index}, f)


def write_bert(s, folder):
    """A BertModel of transformers with random weights, as save_pretrained writes it."""
    import torch
    from transformers import BertConfig, BertModel
    torch.manual_seed(1)
    config = BertConfig(vocab_size=s.vocab, hidden_size=s.d_model, num_hidden_layers=s.layers, num_attention_heads=s.heads,
                        intermediate_size=s.d_ff, hidden_act=s.activation, max_position_embeddings=s.max_len)
    model = BertModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for parameter in model.parameters():        # far enough from their initial values to matter
            parameter += torch.randn_like(parameter) * (0.1 if parameter.dim() == 1 else 0.5 * parameter.shape[-1] ** -0.5)
    model.save_pretrained(folder)


def folder(root, name):
    path = os.path.join(root, "folders", name)
    write = (lambda to: write_llama(LLAMAS[name], to)) if name in LLAMAS else (lambda to: write_bert(BERTS[name], to))
    return made(path, write)


# ---- GGUF ----

GGUF_FORMS = {"f32": "F32", "int8": "Q8_0", "int4": "Q4_0"}
GGUF_NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
              "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
              "post_attention_layernorm": "ffn_norm", "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def gguf_name(name):
    words = name.removesuffix(".weight")
    if words.startswith("model.layers."):
        n, part = words.removeprefix("model.layers.").split(".", 1)
        return f"blk.{n}.{GGUF_NAMES[part]}.weight"
    return f"{GGUF_NAMES[words]}.weight"


def in_pairs(matrix, heads):
    """Reorder rows of heads from rotary pairs (i, i + d/2) to (2i, 2i + 1), as in llama.cpp."""
    rows, columns = matrix.shape
    return matrix.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def words_of(vocab):
    """Pieces for ids, as in a SentencePiece vocabulary: special tokens, bytes, then words, shortest
    first."""
    found, letters, before = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)], "etaoinshrdlucmfwypvbgkqjxz", [""]
    while len(found) < vocab:
        before = [word + letter for word in before for letter in letters]
        found += [piece for word in before for piece in (word, "\u2581" + word)]
    return found[:vocab]


def add_words(w, vocab):
    words = words_of(vocab)
    w.add_tokenizer_model("llama")
    w.add_token_list(words)
    w.add_token_scores([float(-i) for i in range(vocab)])
    w.add_token_types([2, 3, 3] + [6] * 256 + [1] * (vocab - 259))        # unknown, control, byte, normal
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_unk_token_id(0)


def write_gguf(s, form, path, words):
    """form: F32, Q8_0 or Q4_0 for every matrix, including the embedding. words: with a text
    vocabulary."""
    import gguf
    kind = gguf.GGMLQuantizationType[form]
    w = gguf.GGUFWriter(path, "llama")
    w.add_context_length(s.max_len)
    w.add_embedding_length(s.d_model)
    w.add_block_count(s.layers)
    w.add_feed_forward_length(s.d_ff)
    w.add_head_count(s.heads)
    w.add_head_count_kv(s.kv_heads)
    w.add_layer_norm_rms_eps(EPS)
    w.add_rope_dimension_count(s.d_model // s.heads)
    w.add_rope_freq_base(10000.0)
    w.add_vocab_size(s.vocab)
    if words:
        add_words(w, s.vocab)
    else:
        w.add_tokenizer_model("none")
    w.add_file_type({"F32": 0, "Q4_0": 2, "Q8_0": 7}[form])
    for name, make in llama_parts(s):
        tensor = make()
        if ".q_proj." in name or ".k_proj." in name:
            tensor = in_pairs(tensor, s.heads if ".q_proj." in name else s.kv_heads)
        if tensor.ndim == 2 and form != "F32":
            w.add_tensor(gguf_name(name), gguf.quants.quantize(tensor, kind), raw_dtype=kind)
        else:
            w.add_tensor(gguf_name(name), np.ascontiguousarray(tensor))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def gguf_file(root, name, form, words=False):
    if name in FILES:
        path = os.path.join(root, f"{name}.gguf")
        if not os.path.exists(path):
            sys.exit(f"{path} does not exist; 'make large' makes it")
        return path
    return made(os.path.join(root, "gguf", f"{name}-{form}{'-words' * words}.gguf"), lambda to: write_gguf(LLAMAS[name], form, to, words))


# ---- CTranslate2 ----

def tokens_of(vocab):
    """The texts that CTranslate2 requires for ids: the ids themselves."""
    return ["<unk>", "<s>", "</s>"] + [str(i) for i in range(3, vocab)]


def write_llama_ct2(s, form, to):
    import ctranslate2.converters.utils as utils
    from ctranslate2.specs import common_spec, transformer_spec
    spec = transformer_spec.TransformerDecoderModelSpec.from_config(
        s.layers, s.heads, activation=common_spec.Activation.SWISH, pre_norm=True, ffn_glu=True, rms_norm=True, rotary_dim=0,
        rotary_interleave=False, rotary_base=10000, num_heads_kv=None if s.kv_heads == s.heads else s.kv_heads)
    parts = dict(llama_parts(s))
    decoder = spec.decoder
    decoder.scale_embeddings = False
    decoder.embeddings.weight = parts["model.embed_tokens.weight"]()
    decoder.layer_norm.gamma = parts["model.norm.weight"]()
    decoder.projection.weight = decoder.embeddings.weight if s.tied else parts["lm_head.weight"]()
    for n, layer in enumerate(decoder.layer):
        def part(name):
            return parts[f"model.layers.{n}.{name}.weight"]()
        layer.self_attention.layer_norm.gamma = part("input_layernorm")
        layer.ffn.layer_norm.gamma = part("post_attention_layernorm")
        split = [common_spec.LinearSpec() for _ in range(3)]
        for one, name in zip(split, ("q_proj", "k_proj", "v_proj")):
            one.weight = part(f"self_attn.{name}")
        utils.fuse_linear(layer.self_attention.linear[0], split)
        layer.self_attention.linear[1].weight = part("self_attn.o_proj")
        layer.ffn.linear_0.weight = part("mlp.gate_proj")
        layer.ffn.linear_0_noact.weight = part("mlp.up_proj")
        layer.ffn.linear_1.weight = part("mlp.down_proj")
    spec.register_vocabulary(tokens_of(s.vocab))
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "<s>", "</s>", "<unk>"
    spec.config.layer_norm_epsilon = EPS
    spec.validate()
    spec.optimize(quantization=form)
    os.makedirs(to)
    spec.save(to)


def set_linear(spec, module):
    spec.weight, spec.bias = module.weight.detach().numpy(), module.bias.detach().numpy()


def set_norm(spec, module):
    spec.gamma, spec.beta = module.weight.detach().numpy(), module.bias.detach().numpy()


def fused(spec, modules):
    import ctranslate2.converters.utils as utils
    from ctranslate2.specs import common_spec
    split = [common_spec.LinearSpec() for _ in modules]
    for one, module in zip(split, modules):
        set_linear(one, module)
    utils.fuse_linear(spec, split)


def write_bert_ct2(root, s, form, to):
    from ctranslate2.specs import common_spec, transformer_spec
    from transformers import BertModel
    model = BertModel.from_pretrained(folder(root, s.name), add_pooling_layer=False).eval()
    activation = {"relu": common_spec.Activation.RELU, "gelu": common_spec.Activation.GELU}[s.activation]
    encoder = transformer_spec.TransformerEncoderSpec(s.layers, s.heads, pre_norm=False, activation=activation, layernorm_embedding=True,
                                                      num_source_embeddings=2, embeddings_merge=common_spec.EmbeddingsMerge.ADD)
    spec = transformer_spec.TransformerEncoderModelSpec(encoder)
    encoder.scale_embeddings = False
    encoder.embeddings[0].weight = model.embeddings.word_embeddings.weight.detach().numpy()
    encoder.embeddings[1].weight = model.embeddings.token_type_embeddings.weight.detach().numpy()
    encoder.position_encodings.encodings = model.embeddings.position_embeddings.weight.detach().numpy()
    set_norm(encoder.layernorm_embedding, model.embeddings.LayerNorm)
    for ours, theirs in zip(encoder.layer, model.encoder.layer):
        attention = theirs.attention.self
        fused(ours.self_attention.linear[0], [attention.query, attention.key, attention.value])
        set_linear(ours.self_attention.linear[1], theirs.attention.output.dense)
        set_norm(ours.self_attention.layer_norm, theirs.attention.output.LayerNorm)
        set_linear(ours.ffn.linear_0, theirs.intermediate.dense)
        set_linear(ours.ffn.linear_1, theirs.output.dense)
        set_norm(ours.ffn.layer_norm, theirs.output.LayerNorm)
    spec.register_vocabulary(tokens_of(s.vocab))
    spec.config.unk_token = "<unk>"
    spec.config.layer_norm_epsilon = model.config.layer_norm_eps
    spec.validate()
    spec.optimize(quantization=form)
    os.makedirs(to)
    spec.save(to)


def dates_model():
    """The model of specs/dates in PyTorch, with its weights."""
    from model import Config, Transformer
    from safetensors.torch import load_file
    model = Transformer(Config(len(forms.source_symbols()), len(forms.target_symbols())))
    model.load_state_dict(load_file(os.path.join(DATES, "dates.safetensors")))
    return model.eval()


def annotated_norm(spec, module):
    """As a standard layer norm: std with n - 1 is sqrt(n / (n - 1)) times std with n, so the gain
    absorbs that factor. Its eps of 1e-6 is outside the root; 1e-12 inside it is equivalent while
    std is far above both."""
    width = len(module.a_2)
    spec.gamma = module.a_2.detach().numpy() * np.float32(((width - 1) / width) ** 0.5)
    spec.beta = module.b_2.detach().numpy()


def write_dates_ct2(form, to):
    from ctranslate2.specs import common_spec, transformer_spec
    from model import positions
    model = dates_model()
    c = model.config
    spec = transformer_spec.TransformerSpec.from_config((c.layers, c.layers), c.heads, pre_norm=True, activation=common_spec.Activation.RELU)
    for stack, embedding in ((spec.encoder, model.src_embed[0]), (spec.decoder, model.tgt_embed[0])):
        table = stack.embeddings[0] if isinstance(stack.embeddings, list) else stack.embeddings
        table.weight = embedding.lut.weight.detach().numpy()
        table.multiply_by_sqrt_depth = True
        stack.position_encodings.encodings = positions(c, 128).numpy()
    annotated_norm(spec.encoder.layer_norm, model.encoder.norm)
    annotated_norm(spec.decoder.layer_norm, model.decoder.norm)
    for ours, theirs in zip(spec.encoder.layer, model.encoder.layers):
        write_dates_layer(ours, theirs, [theirs.self_attn])
    for ours, theirs in zip(spec.decoder.layer, model.decoder.layers):
        write_dates_layer(ours, theirs, [theirs.self_attn, theirs.src_attn])
    set_linear(spec.decoder.projection, model.generator.proj)
    spec.register_source_vocabulary(forms.source_symbols())
    spec.register_target_vocabulary(forms.target_symbols())
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "<s>", "</s>", "<unk>"
    spec.config.decoder_start_token = "<s>"
    spec.config.add_source_eos = False
    spec.config.layer_norm_epsilon = 1e-12
    spec.validate()
    spec.optimize(quantization=form)
    os.makedirs(to)
    spec.save(to)


def write_dates_layer(ours, theirs, attentions):
    """Sublayer n is norm n, then attention n; the last one is the feed-forward."""
    for n, (spec, module) in enumerate(zip((ours.self_attention, getattr(ours, "attention", None)), attentions)):
        linears = module.linears
        annotated_norm(spec.layer_norm, theirs.sublayer[n].norm)
        if n == 0:
            fused(spec.linear[0], linears[:3])
            set_linear(spec.linear[1], linears[3])
        else:
            set_linear(spec.linear[0], linears[0])
            fused(spec.linear[1], linears[1:3])
            set_linear(spec.linear[2], linears[3])
    annotated_norm(ours.ffn.layer_norm, theirs.sublayer[-1].norm)
    set_linear(ours.ffn.linear_0, theirs.feed_forward.w_1)
    set_linear(ours.ffn.linear_1, theirs.feed_forward.w_2)


def ct2_folder(root, name, form):
    """form: float32 or int8, as stored"""
    def write(to):
        if name in LLAMAS:
            write_llama_ct2(LLAMAS[name], form, to)
        elif name in BERTS:
            write_bert_ct2(root, BERTS[name], form, to)
        else:
            write_dates_ct2(form, to)
    return made(os.path.join(root, "ctranslate2", f"{name}-{form}"), write)


# ---- ONNX ----

def export(model, inputs, names, to, dynamic=None):
    import torch
    with torch.inference_mode():
        torch.onnx.export(model, inputs, to, input_names=names, output_names=["out"], dynamic_axes=dynamic, opset_version=17, dynamo=False)


def write_bert_onnx(root, s, to):
    import torch
    from transformers import BertModel
    from bert_forms import Plain
    bert = BertModel.from_pretrained(folder(root, s.name), add_pooling_layer=False, attn_implementation="eager").eval()
    export(Plain(bert), (torch.zeros(1, s.max_len, dtype=torch.long),), ["input_ids"], to, {"input_ids": {0: "batch", 1: "length"}})


def write_dates_onnx(to):
    import torch
    from dates_greedy import greedy_dates
    mask = torch.ones(2, 9, dtype=torch.bool)
    mask[1, 5:] = False
    export(greedy_dates(), (torch.full((2, 9), 4), mask), ["source", "mask"], to,
           {"source": {0: "batch", 1: "length"}, "mask": {0: "batch", 1: "length"}, "out": {0: "batch"}})


def fuse(s, plain, to):
    """Fuse attention, norms and gelu into ONNX Runtime's own operations, with its BERT
    optimiser."""
    from onnxruntime.transformers import optimizer
    options = optimizer.FusionOptions("bert")
    model = optimizer.optimize_model(plain, "bert", num_heads=s.heads, hidden_size=s.d_model, optimization_options=options, opt_level=0)
    model.save_model_to_file(to)


def quantise(plain, to):
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic
    quantize_dynamic(plain, to, weight_type=QuantType.QInt8, per_channel=True, reduce_range=False,
                     extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})


def onnx_file(root, name, form):
    """form: plain, fused, or either with -int8"""
    path = os.path.join(root, "onnx", f"{name}-{form}.onnx")
    if form.endswith("-int8"):
        return made(path, lambda to: quantise(onnx_file(root, name, form.removesuffix("-int8")), to))
    if form == "fused":
        return made(path, lambda to: fuse(BERTS[name], onnx_file(root, name, "plain"), to))
    return made(path, lambda to: write_bert_onnx(root, BERTS[name], to) if name in BERTS else write_dates_onnx(to))
