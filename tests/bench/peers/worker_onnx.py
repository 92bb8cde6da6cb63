"""A worker for ONNX Runtime.

    work=encode model=FILE.onnx n=N batch=B vocab=V threads=N
    work=texts model=FILE.onnx texts=FILE batch=B threads=N
    spin=0|1: whether idle threads of a session spin
"""

import worker

arguments = worker.arguments()

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402

from shapes import an_id  # noqa: E402


def session():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(arguments.get("threads", "1"))
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", arguments.get("spin", "1"))
    options.add_session_config_entry("session.force_spinning_stop", "1")       # no spinning between calls
    return onnxruntime.InferenceSession(arguments["model"], options, providers=["CPUExecutionProvider"])


def encoder():
    model = session()
    vocab, n = int(arguments["vocab"]), int(arguments["n"])
    ids = np.array([[an_id(i, vocab) for i in range(n)]] * int(arguments.get("batch", "1")), dtype=np.int64)
    feed = {model.get_inputs()[0].name: ids}

    def run():
        return model.run(None, feed)[0]
    return run, lambda: run()[0].tobytes()


def texts():
    from dates_texts import Texts
    model, words = session(), Texts()
    batches = worker.in_batches(worker.read_lines(arguments["texts"]), int(arguments["batch"]))

    def answer():
        found = []
        for batch in batches:
            ids, mask = words.source(batch)
            found += words.answers(model.run(None, {"source": ids, "mask": mask})[0].tolist())
        return found
    return answer, lambda: "".join(text + "\n" for text in answer()).encode()


worker.serve(*{"encode": encoder, "texts": texts}[arguments["work"]]())
