"""The rows of the table: the work, the model, the peers, and the target ratio."""

from collections import namedtuple

# n: ids per sequence or sentence; batch: sequences, sentences or texts per call; goal, aim: ours /
# the best peer.
Row = namedtuple("Row", "name work model dtype threads n batch peers goal aim share")

LLAMA, CT2, TORCH, ONNX = "llama.cpp", "CTranslate2", "PyTorch", "ONNX Runtime"
READING = "reading"         # not a peer: this side only reads the same bytes
COPY = "cp"                 # not a peer either: a copy of the input file
NATIVE = "native"           # nor this one: our other engine
SENTENCES = 64              # from specs/dates/heldout.tsv, for the rows of dates
# Kinds of work whose unit is a command.
COMMANDS = {"start": "starts/s", "run-first": "answers/s", "run-again": "answers/s", "build": "builds/s"}


def row(name, work, model, dtype, threads, peers, goal=None, aim=None, n=128, batch=1, share=None):
    return Row(f"{name}-t{threads}", work, model, dtype, threads, n, batch, peers, goal, aim, share)


ROWS = [
    row("decode-f32-15m", "decode", "llama_15m", "f32", 1, [LLAMA], 1.05, 1.2),
    row("decode-f32-15m", "decode", "llama_15m", "f32", 2, [LLAMA], 1.5, 1.8),
    row("decode-int8-15m", "decode", "llama_15m", "int8", 1, [LLAMA], 3.3, 3.8),
    row("decode-int8-15m", "decode", "llama_15m", "int8", 2, [LLAMA], 3.3, 5),
    row("decode-int4-15m", "decode", "llama_15m", "int4", 1, [LLAMA], 4, 4.5),
    row("decode-int4-15m", "decode", "llama_15m", "int4", 2, [LLAMA], 4.2, 6),
    row("decode-int8-1b", "decode", "llama_1b", "int8", 2, [LLAMA], 1.1, 1.2, n=16, share=90),
    row("decode-int4-1b", "decode", "llama_1b", "int4", 2, [LLAMA], 1.2, 1.35, n=16, share=90),
    row("batch8-int8-15m", "batch", "llama_15m", "int8", 1, [LLAMA, CT2], 1.5, 3, n=32, batch=8),
    row("batch8-int8-15m", "batch", "llama_15m", "int8", 2, [LLAMA, CT2], 1.5, 3, n=32, batch=8),
    row("batch8-int8-1b", "batch", "llama_1b", "int8", 2, [LLAMA, CT2], 1.5, 3, n=8, batch=8),
    row("prefill-f32-15m", "prefill", "llama_15m", "f32", 1, [LLAMA], 1.6, 2, n=512),
    row("prefill-f32-15m", "prefill", "llama_15m", "f32", 2, [LLAMA], 1.6, 2, n=512),
    row("prefill-int8-15m", "prefill", "llama_15m", "int8", 1, [LLAMA], 3.1, 4, n=512),
    row("prefill-int8-15m", "prefill", "llama_15m", "int8", 2, [LLAMA], 3.1, 4, n=512),
    row("encoder-base-f32", "encode", "encoder_base", "f32", 1, [TORCH, ONNX, CT2], 1.3, 1.5),
    row("encoder-base-f32", "encode", "encoder_base", "f32", 2, [TORCH, ONNX, CT2], 1.3, 1.5),
    row("encoder-base-int8", "encode", "encoder_base", "int8", 1, [TORCH, ONNX, CT2], 1.3, 2),
    row("encoder-base-int8", "encode", "encoder_base", "int8", 2, [TORCH, ONNX, CT2], 1.3, 2),
    row("encoder-bert-f32", "encode", "encoder_bert", "f32", 2, [TORCH, ONNX, CT2]),
    row("encoder-bert-int8", "encode", "encoder_bert", "int8", 2, [TORCH, ONNX, CT2]),
    row("encoder-minilm-f32", "encode", "encoder_minilm", "f32", 2, [TORCH, ONNX, CT2]),
    row("encoder-minilm-int8", "encode", "encoder_minilm", "int8", 2, [TORCH, ONNX, CT2]),
    row("dates-b1", "texts", "dates", "f32", 1, [CT2, TORCH, ONNX], 5, 10),
    row("dates-b1", "texts", "dates", "f32", 2, [CT2, TORCH, ONNX], 5, 10),
    row("dates-b32", "texts", "dates", "f32", 1, [CT2, TORCH, ONNX], 2, 4, batch=32),
    row("dates-b32", "texts", "dates", "f32", 2, [CT2, TORCH, ONNX], 2, 4, batch=32),
    row("dates-int8-b1", "texts", "dates", "int8", 1, [CT2, TORCH, ONNX], 5, 10),
    row("dates-int8-b1", "texts", "dates", "int8", 2, [CT2, TORCH, ONNX], 5, 10),
    row("dates-int8-b32", "texts", "dates", "int8", 1, [CT2, TORCH, ONNX], 2, 4, batch=32),
    row("dates-int8-b32", "texts", "dates", "int8", 2, [CT2, TORCH, ONNX], 2, 4, batch=32),
    row("start-f32-15m", "start", "llama_15m", "f32", 1, [LLAMA], 10, None, n=1),
    row("start-int8-15m", "start", "llama_15m", "int8", 1, [LLAMA], 10, None, n=1),
    row("run-1b-first", "run-first", "llama_1b", "int4", 2, [LLAMA], 0.5, None, n=1),
    row("run-1b-again", "run-again", "llama_1b", "int4", 2, [LLAMA], 2.3, None, n=1),
    row("build-1b", "build", "llama_1b", "int4", 2, [COPY], n=1),
    row("decode-f32-260k", "decode", "llama_260k", "f32", 1, [LLAMA], 6.5, 9),
    row("product-f32-64", "product", "product_64", "f32", 1, ["OpenBLAS"], 1.2, 1.4, n=64, share=95),
    row("jit-260k", "jit", "llama_260k", "f32", 1, [NATIVE], 0.9, None),
    row("jit-15m", "jit", "llama_15m", "f32", 1, [NATIVE], 0.98, None),
]
# Measured only by name, as `make large` does: tests/large/large.py makes the model.
LARGE_ROWS = [
    row("decode-int4-8b", "decode", "llama_8b", "int4", 2, [LLAMA], 1, None, n=16, share=88),
]


def chosen(only):
    """The rows whose names equal or begin with one of `only`."""
    def named(r, words):
        return any(r.name == word or r.name.startswith(word + "-") for word in words)

    found = [r for r in ROWS + LARGE_ROWS if named(r, only)] if only else ROWS
    unknown = [word for word in only if not any(named(r, [word]) for r in ROWS + LARGE_ROWS)]
    return found, unknown


def units(r):
    """(tokens, sentences or the like per run, the unit of speed)"""
    if r.work == "texts":
        return SENTENCES, "sentences/s"
    if r.work == "encode":
        return r.batch, "sentences/s"
    if r.work in COMMANDS:
        return 1, COMMANDS[r.work]
    return (r.n * r.batch, "tokens/s") if r.work != "product" else (1, "products/s")
