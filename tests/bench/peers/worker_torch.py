"""A worker for PyTorch.

    work=encode folder=DIR n=N batch=B dtype=f32|int8 form=eager|fast|freeze|compile threads=N
    work=texts texts=FILE batch=B form=script|eager|freeze threads=N

eager: transformers' BertModel with scaled_dot_product_attention. fast: its weights in
nn.TransformerEncoder, one call per layer. freeze: traced, frozen, optimised for inference (oneDNN's
own layouts). compile: torch.compile with frozen weights. int8: quantize_dynamic of the linears.
For texts, eager: dates_greedy.py, not frozen; script: greedy() of specs/dates/model.py. """

import os

import worker

arguments = worker.arguments()

import torch  # noqa: E402

from bert_forms import Fast, Plain  # noqa: E402
from shapes import BERTS, an_id  # noqa: E402


def frozen(model, *inputs):
    traced = torch.jit.trace(model, inputs, check_trace=False)
    return torch.jit.optimize_for_inference(torch.jit.freeze(traced.eval()))


def in_form(model, form, *inputs):
    if form == "freeze":
        return frozen(model, *inputs)
    if form == "compile":
        import torch._inductor.config as config
        config.freezing = True
        return torch.compile(model, mode="max-autotune-no-cudagraphs" if form == "autotune" else "default")
    return model


def encoder():
    from transformers import BertModel
    bert = BertModel.from_pretrained(arguments["folder"], add_pooling_layer=False, attn_implementation="sdpa").eval()
    form = arguments.get("form", "eager")
    model = (Fast if form == "fast" else Plain)(bert).eval()
    if arguments.get("dtype") == "int8":
        model = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, torch.qint8)
    vocab, n = BERTS[os.path.basename(arguments["folder"])].vocab, int(arguments["n"])
    ids = torch.tensor([[an_id(i, vocab) for i in range(n)]] * int(arguments.get("batch", "1")))
    model = in_form(model, form, ids)
    for _ in range(3):
        model(ids)
    return lambda: model(ids), lambda: model(ids)[0].numpy().tobytes()


def script_answers(model, source, mask):
    from model import greedy
    return greedy(model, source, 1, 2, 12, None if mask.all() else mask)[0]


def texts():
    from dates_greedy import greedy_dates
    from dates_texts import Texts
    whole, words = greedy_dates(), Texts()

    def source(batch):
        return map(torch.from_numpy, words.source(batch))
    batches = worker.in_batches(worker.read_lines(arguments["texts"]), int(arguments["batch"]))
    form = arguments.get("form", "eager")
    if form == "script":
        def rows(ids, mask):
            return script_answers(whole.model, ids, mask)
    else:
        call = in_form(whole, form, *source(batches[0]))

        def rows(ids, mask):
            return call(ids, mask).tolist()

    def answer():
        return [text for batch in batches for text in words.answers(rows(*source(batch)))]
    for _ in range(3):
        answer()
    return answer, lambda: "".join(text + "\n" for text in answer()).encode()


torch.set_num_threads(int(arguments.get("threads", "1")))
with torch.inference_mode():
    worker.serve(*{"encode": encoder, "texts": texts}[arguments["work"]]())
