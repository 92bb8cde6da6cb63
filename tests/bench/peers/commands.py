"""Sides of rows whose unit is a command: starting a program, or xformc answering from a file or
building a program. Each run starts a new process."""

import os
import resource
import shutil
import subprocess
import sys
import time

import models
import ours
import settings
from rows import COPY
from turns import Turns, llama_worker

ONE_TOKEN = ["-n", "1", "--temp", "0", "the"]


def processor_seconds():
    """Processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Command(Turns):
    """request: written to the command's input. lines: the number of output lines that make an
    answer; None: the command answers by exiting. before(): called before each run, not timed."""

    def __init__(self, peer, choice, command, request="", lines=None, before=lambda: None):
        super().__init__(peer, choice)
        self.command, self.request, self.lines, self.before = command, request, lines, before

    def once(self, clock="wall"):
        """Seconds until the command answers; with the clock "processor" its processor time until it
        exits."""
        self.before()
        begin, used = time.perf_counter(), processor_seconds()
        process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        process.stdin.write(self.request)
        process.stdin.flush()
        said = process.stdout.read() if self.lines is None else \
            [process.stdout.readline() for _ in range(self.lines)][-1]
        seconds = time.perf_counter() - begin
        process.stdin.close()
        if process.wait() or (self.lines is not None and not said.strip()):
            sys.exit(f"{self.peer}: {' '.join(self.command)} failed")
        return processor_seconds() - used if clock == "processor" else seconds

    def turn(self, seconds, units, clock="wall", counted=True):
        times, end = [], time.perf_counter() + seconds
        while not times or time.perf_counter() < end:
            times.append(self.once(clock))
        if counted:
            self.speeds.append(units / sorted(times)[len(times) // 2])

    def close(self):
        pass


def started(root, xformc, r, gguf):
    """The program that `xformc build` makes from the file."""
    return {"command": [ours.standalone(xformc, root, gguf), *ONE_TOKEN]}


def run(root, xformc, r, gguf):
    """`xformc run`, which caches packed weights under `root`. For run-first the cache is emptied
    before each run."""
    at = ["env", "-u", "XFORMC_CACHE", f"XDG_CACHE_HOME={os.path.join(os.path.abspath(root), 'cache')}", xformc]

    def emptied():
        subprocess.run([*at, "cache", "--clear"], check=True, stdout=subprocess.DEVNULL)

    command = [*at, "run", gguf, "-t", str(r.threads), *ONE_TOKEN]
    return {"command": command, **({"before": emptied} if r.work == "run-first" else {})}


def build(root, xformc, r, gguf):
    """`xformc build`, into a folder that does not exist."""
    to = os.path.join(root, "built")
    return {"command": [xformc, "build", gguf, "-q", "-o", to],
            "before": lambda: shutil.rmtree(to, ignore_errors=True)}


OURS = {"start": started, "run-first": run, "run-again": run, "build": build}


def side(root, xformc, peer, r, choice):
    gguf = models.gguf_file(root, r.model, models.GGUF_FORMS[r.dtype], words=True)
    if peer == settings.OURS:
        return Command(peer, choice, **OURS[r.work](root, xformc, r, gguf))
    if peer == COPY:                            # reading the file and writing the same amount
        return Command(peer, choice, ["cp", gguf, os.path.join(root, "copy")])
    words = [f"model={gguf}", "work=decode", "n=1", "batch=1", f"threads={r.threads}"]
    words += [f"{key}={value}" for key, value in choice.items() if not key.isupper()]
    return Command(peer, choice, [llama_worker(root), *words], "run 0\n", 2)
