"""A worker for CTranslate2.

    model=DIR type=float32|int8|int8_float32 threads=N
    work=batch n=N batch=B          n greedy steps of B sequences per call; tokens are ids as text
    work=encode n=N batch=B         a batch of sentences
    work=texts texts=FILE batch=B
"""

import worker

arguments = worker.arguments()

import ctranslate2  # noqa: E402
import numpy as np  # noqa: E402

from shapes import an_id  # noqa: E402

SETTINGS = {"device": "cpu", "compute_type": arguments["type"], "inter_threads": 1, "intra_threads": int(arguments.get("threads", "1"))}
LENGTH, BATCH = int(arguments.get("n", "0")), int(arguments.get("batch", "1"))
VOCAB = int(arguments.get("vocab", "0"))


def token(i):
    return ("<unk>", "<s>", "</s>")[i] if i < 3 else str(i)


def as_bytes(view):
    return np.array(view, dtype=np.float32).tobytes()


def decoder():
    """Greedy steps that no end token stops."""
    generator = ctranslate2.Generator(arguments["model"], **SETTINGS)
    starts = [[token(an_id(k + 1, VOCAB))] for k in range(BATCH)]

    def run():
        return generator.generate_batch(starts, beam_size=1, max_length=LENGTH, min_length=LENGTH, end_token=[], include_prompt_in_result=False)

    def check():
        logits = generator.forward_batch([[an_id(i, VOCAB) for i in range(worker.CHECKED_IDS)]])
        ids = np.array([result.sequences_ids[0] for result in run()], dtype=np.int32)
        assert ids.shape == (BATCH, LENGTH), ids.shape
        return as_bytes(logits) + ids.tobytes()
    return run, check


def encoder():
    model = ctranslate2.Encoder(arguments["model"], **SETTINGS)
    ids = [[an_id(i, VOCAB) for i in range(LENGTH)]] * BATCH
    types = [[0] * LENGTH] * BATCH

    def run():
        return model.forward_batch(ids, token_type_ids=types)
    return run, lambda: as_bytes(run().last_hidden_state)[:4 * LENGTH * int(arguments["width"])]


def texts():
    model = ctranslate2.Translator(arguments["model"], **SETTINGS)
    batches = worker.in_batches(worker.read_lines(arguments["texts"]), BATCH)

    def answer():
        found = []
        for batch in batches:
            results = model.translate_batch([list(text) for text in batch], beam_size=1, max_decoding_length=11)
            found += ["".join(result.hypotheses[0]) for result in results]
        return found
    return answer, lambda: "".join(text + "\n" for text in answer()).encode()


worker.serve(*{"batch": decoder, "encode": encoder, "texts": texts}[arguments["work"]]())
