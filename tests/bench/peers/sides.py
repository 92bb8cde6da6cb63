"""Sides of a row: worker processes, started once, that measure on request and sleep in between."""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import commands
import models
import ours
import settings
from rows import COMMANDS, CT2, LLAMA, ONNX, READING, SENTENCES, TORCH
from shapes import BERTS, LLAMAS
from turns import Turns, llama_worker

HERE = os.path.dirname(os.path.abspath(__file__))


def texts_file(root):
    path = os.path.join(root, "texts")
    with open(os.path.join(models.DATES, "heldout.tsv")) as f:
        lines = [next(f).split("\t")[0] for _ in range(SENTENCES)]
    with open(path, "w") as f:
        f.writelines(line + "\n" for line in lines)
    return path


def python(script, *words):
    return [sys.executable, os.path.join(HERE, script), *words]


def command_of(root, xformc, peer, r, choice):
    """The command that starts this peer's worker for this row with these settings."""
    if peer == READING:
        return [ours.reader(xformc, root), f"bytes={choice['bytes']}", f"threads={r.threads}"]
    words = [f"work={r.work}", f"n={r.n}", f"batch={r.batch}", f"threads={r.threads}", f"dtype={r.dtype}"]
    words += [f"{key}={value}" for key, value in choice.items() if not key.isupper()]
    if r.work == "texts":
        words.append(f"texts={texts_file(root)}")
    if r.model in LLAMAS or r.model in BERTS:
        shape = LLAMAS.get(r.model) or BERTS[r.model]
        words += [f"vocab={shape.vocab}", f"width={shape.d_model}"]
    if peer == settings.OURS:
        return ours.program(xformc, root, r.model, r.dtype) + words
    if peer == LLAMA:
        return [llama_worker(root), f"model={models.gguf_file(root, r.model, models.GGUF_FORMS[r.dtype])}", *words]
    if peer == CT2:
        stored = "float32" if choice["type"] == "float32" else "int8"
        return python("worker_ctranslate2.py", f"model={models.ct2_folder(root, r.model, stored)}", *words)
    if peer == TORCH:
        where = [] if r.work == "texts" else [f"folder={models.folder(root, r.model)}"]
        return python("worker_torch.py", *where, *words)
    if peer == ONNX:
        form = choice.get("form", "plain") + ("-int8" if r.dtype == "int8" and r.work != "texts" else "")
        return python("worker_onnx.py", f"model={models.onnx_file(root, r.model, form)}", *words)
    sys.exit(f"{peer} is not a peer")


class Side(Turns):
    """A worker."""

    def __init__(self, root, xformc, peer, r, choice):
        super().__init__(peer, choice)
        environment = {**os.environ, "OMP_NUM_THREADS": str(r.threads), "MKL_NUM_THREADS": str(r.threads), "HF_HUB_OFFLINE": "1",
                       "HF_HUB_DISABLE_PROGRESS_BARS": "1", "PYTHONWARNINGS": "ignore", "TOKENIZERS_PARALLELISM": "false"}
        environment.update({key: value for key, value in choice.items() if key.isupper() and value})
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(command_of(root, xformc, peer, r, choice), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, env=environment)
        self.answer("ready")
        self.used = self.processor_time()

    def answer(self, first):
        """The words after `first` in the next line of the worker. Without such a line the run
        ends."""
        words = self.process.stdout.readline().split()
        if not words or words[0] != first:
            self.errors.seek(0)
            sys.exit(f"{self.peer} {self.choice}: the worker failed\n{self.errors.read()[-3000:]}")
        return words[1:]

    def ask(self, request):
        print(request, file=self.process.stdin, flush=True)

    def processor_time(self):
        """CPU seconds of its threads, not counting threads that have ended."""
        tasks, seconds = f"/proc/{self.process.pid}/task", 0.0
        for task in os.listdir(tasks):
            with open(os.path.join(tasks, task, "schedstat")) as f:
                seconds += int(f.read().split()[0]) / 1e9
        return seconds

    def check(self):
        """The bytes of its results."""
        with tempfile.NamedTemporaryFile() as f:
            self.ask(f"check {f.name}")
            self.answer("ok")
            return f.read()

    def turn(self, seconds, units, clock="wall", counted=True):
        """clock: the median of its runs, or CPU time divided by their number."""
        before = self.processor_time()
        if self.speeds:
            self.idle += before - self.used
        self.ask(f"run {seconds}")
        times = [int(word) for word in self.answer("ns")]
        self.used = self.processor_time()
        if counted:
            once = statistics.median(times) / 1e9 if clock == "wall" else (self.used - before) / len(times)
            self.speeds.append(units / once)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.errors.close()


def opened(root, xformc, r, choices):
    """Sides for (peer, choice). If one cannot be started, all are closed."""
    sides = []
    try:
        for peer, choice in choices:
            sides.append((commands.side if r.work in COMMANDS else Side)(root, xformc, peer, r, choice))
    except BaseException:
        for side in sides:
            side.close()
        raise
    return sides


def take_turns(sides, units, rounds, seconds, clock):
    """A B C A B C …, after an uncounted round. For the side that only reads, a run is one unit."""
    for k in range(rounds + 1):
        for side in sides:
            side.turn(seconds if k else seconds / 2, 1 if side.peer == READING else units, clock, counted=k > 0)
