"""Build xformc's side: a model compiled into a library, with programs/peer_ours.c around it, or a
standalone program. Also the side that only reads."""

import os
import shutil
import subprocess
import sys

from dates_texts import DATES
from models import folder, gguf_file
from shapes import BERTS, FILES, LLAMAS

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
COMPILE = os.path.join(BENCH, "compile.sh")
CC = os.environ.get("CC", "cc")
SLOTS = {"dates": 32, **{name: 8 for name in LLAMAS if name not in FILES}}


class Missing(Exception):
    """What xformc does not offer yet."""


def spec(root, name):
    if name in FILES:
        return gguf_file(root, name, "Q4_0")
    return os.path.join(os.path.dirname(DATES), "dates.lua") if name == "dates" else folder(root, name)


def offers(xformc, option):
    return option in subprocess.run([xformc, "help", "build", "-v"], capture_output=True, text=True).stdout


def dtype_options(xformc, name, dtype):
    if name in FILES:
        return ["--dtype", "file", "-c", str(LLAMAS[name].max_len)]
    if dtype == "f32":
        return []
    if not offers(xformc, "--dtype"):
        raise Missing(f"this xformc has no --dtype, so no {dtype}")
    return ["--dtype", dtype]


def command(words, where=None):
    done = subprocess.run(words, cwd=where, capture_output=True, text=True)
    if done.returncode:
        if "--dtype" in words and done.returncode in (2, 69):
            raise Missing(done.stderr.strip().splitlines()[0])
        sys.exit(f"{' '.join(words)}: ended with {done.returncode}\n{done.stderr}")
    return done.stdout


def is_fresh(target, program, *others):
    """True if a program is newer than its source and its other inputs."""
    programs = os.path.join(BENCH, "programs")
    sources = [os.path.join(programs, f"{program}.c"), os.path.join(programs, "peer_worker.h")]
    youngest = max(map(os.path.getmtime, [*sources, COMPILE, *others]))
    return os.path.exists(target) and os.path.getmtime(target) > youngest


def compile_program(program, target, *words):
    """Compile programs/PROGRAM.c; compile.sh explains the arguments."""
    command(["sh", COMPILE, program, target, *words])


def reader(xformc, root):
    """programs/peer_limit.c, with the thread team of a program."""
    target = os.path.join(root, "limit_worker")
    if not is_fresh(target, "peer_limit", xformc):
        compile_program("peer_limit", target)
    return target


def standalone(xformc, root, gguf):
    """The program that `xformc build` makes from a GGUF file, with embedded weights."""
    name = os.path.basename(gguf).removesuffix(".gguf")
    target = os.path.join(root, "ours", name)
    made = os.path.join(target, name.replace("-", "_"))
    if not (os.path.exists(made) and os.path.getmtime(made) > os.path.getmtime(xformc)):
        print(f"  building {os.path.basename(gguf)}", file=sys.stderr, flush=True)
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target)
        command([xformc, "build", gguf, "--dtype", "file", "-o", target, "-q"])
    return made


def program(xformc, root, name, dtype):
    """[the worker, its weights=FILE] of a model; compiled again if xformc is newer."""
    target = os.path.join(root, "ours", f"{name}-{dtype}")
    worker = os.path.join(target, "worker")
    options = dtype_options(xformc, name, dtype)
    weights = os.path.join(target, f"{name}.safetensors")
    if not is_fresh(worker, "peer_ours", xformc):
        print(f"  compiling {name} {dtype}", file=sys.stderr, flush=True)
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target)
        slots = ["--slots", str(SLOTS[name])] if name in SLOTS else []
        command([xformc, "compile", spec(root, name), "-o", target, "--weights", "file", "-q", *slots, *options])
        command(["make", f"CC={CC}", f"lib{name}.a"], target)
        kind = "DECODER" if name in LLAMAS else "ENCODER" if name in BERTS else "TEXTS"
        compile_program("peer_ours", worker, target, name, kind)
    return [worker, f"weights={weights}"]
