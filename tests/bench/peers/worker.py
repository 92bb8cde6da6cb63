"""Shared by the Python workers: KEY=VALUE arguments, and the requests of programs/peer_worker.h,
one per line."""

import os
import sys
import time

CHECKED_IDS = 16
sys.dont_write_bytecode = True


def arguments():
    return dict(word.split("=", 1) for word in sys.argv[1:])


def measure(run, seconds):
    """Repeat run() for that many seconds, but at least once. Returns the nanoseconds of each."""
    times, begin = [], time.perf_counter_ns()
    end = begin + int(1e9 * seconds)
    while not times or begin < end:
        run()
        now = time.perf_counter_ns()
        times.append(now - begin)
        begin = now
    return times


def serve(run, check):
    """run(): one unit of work; check(): its results as bytes."""
    say = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)               # output of libraries is not an answer
    print("ready", file=say)
    for line in sys.stdin:
        what, argument = line.split(None, 1)
        if what == "run":
            print("ns", *measure(run, float(argument)), file=say)
        elif what == "check":
            with open(argument.rstrip("\n"), "wb") as f:
                f.write(check())
            print("ok", file=say)
        else:
            sys.exit(f"not a request: {line!r}")


def read_lines(path):
    with open(path) as f:
        return f.read().splitlines()


def in_batches(items, size):
    return [items[i:i + size] for i in range(0, len(items), size)]
