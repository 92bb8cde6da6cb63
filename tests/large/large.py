"""Build models as large as the machine can hold, query them, and run them from the cache. Prints
the time of each command and its own memory (without the C compiler's), next to the time for just
reading and writing the same bytes.

usage: large.py XFORMC FOLDER [NAME...]
NAME: 1b, 8b, 8b-int8, 8b-gguf, 8b-six, t5, encoder, 8b-decode; default: all of them.
Models are made in FOLDER and kept there (35 GB for all, without the f32 model of 1b); what is built
from them is removed.
8b-decode takes turns with llama.cpp on the same file and with plain reading of as many bytes, by
tests/bench/peers.sh, which compiles llama.cpp once.
8b-six, t5 and encoder are compared with transformers: they need PyTorch, transformers and
safetensors.
"""

import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


# ---- commands and their cost ----

def own_memory(group):
    """Bytes of memory owned by the processes of a group, including shared memory."""
    total = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.getpgid(int(name)) != group:
                continue
            with open(f"/proc/{name}/status") as f:
                own = [line for line in f if line.startswith(("RssAnon:", "RssShmem:"))]
            total += sum(int(line.split()[1]) << 10 for line in own)
        except (OSError, ValueError):
            continue
    return total


def measured(*words):
    """Seconds, peak own memory, output. A failing command ends the run."""
    begin, most = time.monotonic(), 0
    p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                         start_new_session=True)
    while True:
        try:
            out, _ = p.communicate(timeout=0.05)
            break
        except subprocess.TimeoutExpired:
            most = max(most, own_memory(p.pid))
    if p.returncode:
        sys.exit(f"large.py: {' '.join(words)}: exit code {p.returncode}\n{out}")
    return time.monotonic() - begin, most, out


def tell(name, what, seconds, memory, more=""):
    print(f"| {name} | {what} | {seconds:.2f} s | {memory / 1e6:.0f} MB | {more} |", flush=True)


def files_of(path):
    """A file, or the weights files of a folder."""
    if os.path.isfile(path):
        return [path]
    return [os.path.join(path, f) for f in sorted(os.listdir(path)) if f.endswith(".safetensors")]


def seconds_to_copy(path, written):
    """Seconds that dd takes to read all weights of a file or folder and to write a number of bytes."""
    begin = time.monotonic()
    options = ["bs=4M", "status=none"]
    for f in files_of(path):
        subprocess.run(["dd", f"if={f}", "of=/dev/null", *options], check=True)
    copy = path.rstrip("/") + ".copy"
    count = f"count={written >> 22}"
    subprocess.run(["dd", "if=/dev/zero", f"of={copy}", count, *options], check=True)
    seconds = time.monotonic() - begin
    os.remove(copy)
    return seconds


# ---- steps ----

class Large:
    def __init__(self, xformc, folder):
        self.xformc, self.folder = os.path.abspath(xformc), os.path.abspath(folder)
        os.makedirs(folder, exist_ok=True)
        self.make_model = os.path.join(self.folder, "make_model")
        source = os.path.join(HERE, "programs", "make_model.c")
        subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-o", self.make_model, source],
                       check=True)
        os.environ["XDG_CACHE_HOME"] = os.path.join(self.folder, "cache")
        os.environ.pop("XFORMC_CACHE", None)
        os.environ["XFORMC_CACHE_SIZE"] = "64G"

    def made(self, shape, name, *more):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            unfinished = path + ".unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            kind = ["--gguf"] * name.endswith(".gguf") + ["--f32"] * name.endswith("_f32")
            subprocess.run([self.make_model, *kind, shape, unfinished, *more], check=True)
            os.rename(unfinished, path)
        return path

    def agrees(self, name, path):
        """Verify a folder in bf16, the format of its weights, against transformers in f32."""
        reference = os.path.join(self.folder, "reference.safetensors")
        subprocess.run([sys.executable, os.path.join(HERE, "reference.py"), path, reference],
                       check=True, stdout=subprocess.DEVNULL)
        options = ["--dtype", "bf16", "-c", "64", "--engine", "jit", "--against", reference]
        seconds, memory, out = measured(self.xformc, "verify", path, *options)
        tell(name, "verify against transformers", seconds, memory, out.strip().split("\n")[-1])
        measured(self.xformc, "cache", "--clear")

    def built(self, name, path, dtype=None, context="2048", prompt="1 5 9"):
        """Build a program, query it, and remove it. `run` must give the same answer."""
        options = ["-c", context] + (["--dtype", dtype] if dtype else [])
        to = os.path.join(self.folder, "built")
        shutil.rmtree(to, ignore_errors=True)
        seconds, memory, _ = measured(self.xformc, "build", path, *options, "-q", "-o", to)
        program = max((os.path.join(to, f) for f in os.listdir(to)), key=os.path.getsize)
        size = os.path.getsize(program)
        tell(name, f"build {dtype or ''}", seconds, memory,
             f"reading it and writing {size / 1e9:.1f} GB: {seconds_to_copy(path, size):.2f} s")
        ask = ["--ids", "-n", "16", "--temp", "0", prompt]
        seconds, memory, answer = measured(program, *ask)
        tell(name, "its answer, 16 tokens", seconds, memory)
        measured(program, "--check")
        measured(program, "--selftest")
        shutil.rmtree(to)
        for turn in ("first", "again"):
            seconds, memory, found = measured(self.xformc, "run", path, *options, *ask)
            tell(name, f"run, {turn}", seconds, memory)
            if found != answer:
                sys.exit(f"large.py: {name}: run answers {found!r}, the program {answer!r}")
        measured(self.xformc, "cache", "--clear")


def t5(large):
    path = large.made("t5_3b", "t5_3b")
    large.built("t5 3b", path, "int8", "512")
    large.agrees("t5 3b", path)


def llama_1b(large):
    large.built("1b", large.made("llama_1b", "llama_1b"), "int4")
    f32 = large.made("llama_1b", "llama_1b_f32")
    large.built("1b f32", f32, "int4")
    shutil.rmtree(f32)
    large.built("1b gguf", large.made("llama_1b", "llama_1b.gguf"))


def decode_8b(large):
    """Steps of the Q4_0 file; the result is the table of peers.py, in FOLDER/last.md."""
    large.made("llama_8b", "llama_8b.gguf")
    peers = os.path.join(HERE, "..", "bench", "peers.sh")
    words = ["sh", peers, large.xformc, "--work", large.folder, "--fresh", "--only", "decode-int4-8b"]
    if subprocess.run(words, env={**os.environ, "XFORMC_CACHE": "off"}).returncode:
        sys.exit("large.py: 8b-decode failed")
    shutil.rmtree(os.path.join(large.folder, "ours"))


STEPS = {
    "1b": llama_1b,
    "8b": lambda l: l.built("8b", l.made("llama_8b", "llama_8b"), "int4"),
    "8b-int8": lambda l: l.built("8b", l.made("llama_8b", "llama_8b"), "int8"),
    "8b-gguf": lambda l: l.built("8b gguf", l.made("llama_8b", "llama_8b.gguf")),
    "8b-six": lambda l: l.agrees("8b, six layers", l.made("llama_8b", "llama_8b_six", "6")),
    "t5": t5,
    "encoder": lambda l: l.agrees("encoder 0.5b", l.made("encoder_500m", "encoder_500m")),
    "8b-decode": decode_8b,
}


def main():
    if len(sys.argv) < 3 or any(name not in STEPS for name in sys.argv[3:]):
        sys.exit(__doc__)
    large = Large(*sys.argv[1:3])
    print("| model | work | time | own memory | |\n|---|---|---|---|---|")
    for name in sys.argv[3:] or STEPS:
        STEPS[name](large)


main()
