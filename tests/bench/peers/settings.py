"""Settings of each peer, and the best ones found.

factors() lists the settings that `--tune` tries, one after the other, with the rest at the best
values so far. The first value of each is the default. Results are in settings.json: for each row
and peer, the choice and the speed of every setting tried. """

import json
import os

from rows import CT2, LLAMA, ONNX, TORCH

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "settings.json")
OURS = "xformc"


def factors(peer, r):
    """[(key, values)]; keys in capitals are environment variables."""
    found = []
    if peer == LLAMA:
        found = [("flash", ["1", "0"]), ("kv", ["f16", "f32"]), ("load", ["mmap", "read"])]
        if r.dtype != "f32":
            found.append(("repack", ["1", "0"]))
        if r.work == "prefill":
            found.append(("ubatch", ["512", "256", "128"]))
    if peer == CT2:
        types = ["float32", "int8"] if r.work == "texts" else ["float32"] if r.dtype == "f32" else ["int8", "int8_float32"]
        found = [("type", types), ("CT2_USE_MKL", ["", "1"]), ("CT2_USE_EXPERIMENTAL_PACKED_GEMM", ["", "1"])]
    if peer == TORCH:
        if r.work == "texts":
            found = [("form", ["eager", "script", "freeze"])]
        else:
            found = [("form", ["eager", "fast", "freeze", "compile"] if r.dtype == "f32" else ["eager", "freeze"])]
    if peer == ONNX:
        found = [("form", ["plain", "plain-int8"] if r.work == "texts" else ["plain", "fused"])]
        if r.threads > 1:
            found.append(("spin", ["1", "0"]))
    if r.threads > 1 and peer in (LLAMA, CT2, TORCH):
        found.append(("OMP_WAIT_POLICY", ["", "passive"]))
    return found


def defaults(peer, r):
    return {key: values[0] for key, values in factors(peer, r)}


def read():
    if not os.path.exists(FILE):
        return {}
    with open(FILE) as f:
        return json.load(f)


def best(found, peer, r):
    """The settings found for this row, else for the same row on one thread, else the defaults. For
    texts a peer's number format is one of its settings, whatever ours is."""
    name = r.name.replace("-int8", "") if r.work == "texts" else r.name
    one = name.rsplit("-", 1)[0] + "-t1"
    known = found.get(name, found.get(one, {})).get(peer, {}).get("chosen", {})
    return {**defaults(peer, r), **known}


def write(found):
    with open(FILE + ".unfinished", "w") as f:
        json.dump(found, f, indent=1, sort_keys=True)
        f.write("\n")
    os.rename(FILE + ".unfinished", FILE)
