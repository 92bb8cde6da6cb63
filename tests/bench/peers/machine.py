"""Describe the machine that the results come from, without host names, paths or dates, and the load
that other processes put on it."""

import hashlib
import importlib.metadata
import os
import subprocess

TICKS = os.sysconf("SC_CLK_TCK")
PACKAGES = ["llama-cpp-python", "ctranslate2", "onnxruntime", "torch", "onnx", "gguf", "transformers", "numpy"]


def first_line(*words):
    return subprocess.run(words, capture_output=True, text=True).stdout.split("\n")[0]


def cpu_model():
    with open("/proc/cpuinfo") as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "")


def caches():
    """{"L1d": "32K", …} of processor 0"""
    found, top = {}, "/sys/devices/system/cpu/cpu0/cache"
    for name in sorted(os.listdir(top)) if os.path.isdir(top) else []:
        if name.startswith("index"):
            level, kind, size = (open(os.path.join(top, name, part)).read().strip() for part in ("level", "type", "size"))
            found[f"L{level}" + {"Data": "d", "Instruction": "i"}.get(kind, "")] = size
    return found


def describe(xformc):
    return {"cpu": cpu_model(), "cores": len(os.sched_getaffinity(0)), "caches": caches(),
            "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9),
            "compiler": first_line(os.environ.get("CC", "cc"), "--version"), "xformc": first_line(xformc, "--version"),
            "packages": {name: importlib.metadata.version(name) for name in PACKAGES}}


def identity(path):
    """The beginning of a program's SHA-256."""
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()[:12]


class Load:
    """The load from other processes since this object was made: their CPU time / all CPU time."""

    def __init__(self):
        self.began = self.ticks()

    @staticmethod
    def ticks():
        """(all, busy) time of all processors, and our own time, including that of finished
        children"""
        with open("/proc/stat") as f:
            fields = [int(x) for x in f.readline().split()[1:9]]
        idle = fields[3] + fields[4]
        t = os.times()
        return sum(fields), sum(fields) - idle, TICKS * (t.user + t.system + t.children_user + t.children_system)

    def of_others(self):
        """Call this when all children have finished."""
        all_now, busy, mine = (b - a for a, b in zip(self.began, self.ticks()))
        return max(0.0, (busy - mine) / max(all_now, 1))
