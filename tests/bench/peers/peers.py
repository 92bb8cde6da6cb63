"""Compare xformc with its peers, which take turns within one run. Print a table; keep JSON in a
file that later runs continue.

    peers.py --xformc build/xformc          measure every row that the file lacks for this xformc
        --only decode-f32-15m               measure rows with that name or prefix again
        --tune                              first try settings of each peer; keep the best in
                                            settings.json
    peers.py --print                        print the table of the file
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import agreement  # noqa: E402
import machine  # noqa: E402
import models  # noqa: E402
import ours  # noqa: E402
import report  # noqa: E402
import rows as table  # noqa: E402
import settings  # noqa: E402
import sides  # noqa: E402
from settings import OURS  # noqa: E402
from shapes import FILES, TOO_LARGE  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "..", "results")


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--xformc", default="build/xformc", help="the compiler to measure")
    p.add_argument("--only", action="append", default=[], metavar="ROW", help="only this row, or rows with this prefix; repeatable")
    p.add_argument("--rounds", type=int, default=7, help="turns of each side, without the warm-up; 2 fewer, but at least 3, for the largest models")
    p.add_argument("--seconds", type=float, default=0.3, help="length of a turn; at least one unit of work")
    p.add_argument("--clock", choices=["wall", "processor"], default="wall", help="processor: measure one-thread rows in CPU time, for a "
                   "machine that others use too; rows with more threads are left out")
    p.add_argument("--set", action="append", default=[], metavar="PEER:KEY=VALUE", help="a setting to use instead of the best one found, "
                   "for a machine where that one fails; repeatable")
    p.add_argument("--tune", action="store_true", help="try the settings of every peer first")
    p.add_argument("--work", default="build/peers", metavar="DIR", help="where models and programs are made")
    p.add_argument("--name", default="last", help="results go to tests/bench/results/NAME.json and .md; last: to DIR/last.json and .md")
    p.add_argument("--fresh", action="store_true", help="discard the results in that file first")
    p.add_argument("--list", action="store_true", help="list the rows")
    p.add_argument("--print", action="store_true", help="print the table of the file")
    o = p.parse_args()
    given, o.set = o.set, {}
    for words in given:
        peer, _, rest = words.partition(":")
        key, equals, value = rest.partition("=")
        if not equals:
            p.error(f"--set {words}: expected PEER:KEY=VALUE")
        o.set.setdefault(peer, {})[key] = value
    o.rows, unknown = table.chosen(o.only)
    if o.clock == "processor":
        o.rows = [r for r in o.rows if r.threads == 1]
    if unknown:
        p.error(f"no row is called {' or '.join(unknown)}; --list lists the rows")
    if o.rounds < 1 or not 0 < o.seconds < 3600:
        p.error("--rounds and --seconds must be above 0, and --seconds below 3600")
    if not o.name or not o.name.replace("-", "").replace("_", "").isalnum():
        p.error("--name must be a word of letters, digits, - and _")
    o.file = os.path.join(o.work, "last.json") if o.name == "last" else os.path.join(RESULTS, f"{o.name}.json")
    return o


def progress(text):
    print(text, file=sys.stderr, flush=True)


# ---- the file of results ----

def read(o, described):
    """Results of an earlier run on the same machine with the same versions."""
    empty = {"machine": described, "rows": [], "limits": {}}
    if o.fresh or not os.path.exists(o.file):
        return empty
    with open(o.file) as f:
        found = json.load(f)
    if described and found["machine"] != described:
        sys.exit(f"{o.file} is from another machine or other versions; use --fresh to start it again")
    return found


def text_of(results):
    """JSON with one row per line, so that a diff shows the rows that changed."""
    head = "".join(f'"{k}": {json.dumps(v)},\n' for k, v in results.items() if k != "rows")
    rows = ",\n".join(json.dumps(r) for r in results["rows"])
    return f'{{\n{head}"rows": [\n{rows}\n]\n}}\n'


def write(o, results):
    order = [r.name for r in table.ROWS + table.LARGE_ROWS]
    results["rows"].sort(key=lambda r: order.index(r["name"]))
    with open(o.file + ".unfinished", "w") as f:
        f.write(text_of(results))
    os.rename(o.file + ".unfinished", o.file)
    with open(o.file.removesuffix("json") + "md", "w") as f:
        f.write(report.markdown(results) + "\n")


# ---- output of xformc bench: limits, shares, and rows of its own engines ----

def bench(o, results, spec, threads, *more):
    """The JSON rows that `xformc bench` prints. The best limits probed so far are kept."""
    words = [o.xformc, "bench", spec, "-t", str(threads), "--json", "-q", *more]
    found = json.loads(ours.command(words))
    for x in found["limits"]:
        kept = results["limits"].setdefault(str(x["n_threads"]), {"isa": x["isa"]})
        for key, value in x.items():
            if key.endswith(("gflops", "gbps")):
                kept[key] = max(value or 0, kept.get(key, 0))
    return found["rows"]


BENCH_TESTS = {"decode": "tg", "batch": "tg", "prefill": "pp", "encode": "b1x128"}


def costs(o, results, r):
    """(FLOPs, bytes read, memory level) of one unit, as xformc bench counts them; None if it does
    not. For the models in FILES, xformc info counts the weights alone, without running the model."""
    if r.work not in BENCH_TESTS or r.dtype != "f32" and r.work != "decode":
        return None
    spec, options = ours.spec(o.work, r.model), ours.dtype_options(o.xformc, r.model, r.dtype)
    if r.model in FILES:
        described = json.loads(ours.command([o.xformc, "info", spec, "--json", "-q", *options]))
        step = next(p for p in described["programs"] if p["name"] == "step")
        return step["flops_per_token"], step["weight_bytes_per_token"], "DRAM"
    found = bench(o, results, spec, r.threads, "--engine", "jit", "-r", "1", "--seconds", "0.01", *options)
    x = next(x for x in found if x["test"].startswith(BENCH_TESTS[r.work]))
    done = x["n_prompt"] + x["n_gen"] if r.work != "encode" else 1
    return x["flops"] / done, x["bytes"] / done, x["level"]


def share_of_limit(results, r, cost, mine, reading=None):
    """(percent of a limit, its name). For a decoder's steps the limit is the time to read their
    bytes, turn by turn; otherwise the probed limits. The probed peak is that of f32, so other
    formats are limited only by reading."""
    if not cost:
        return None, None
    flops, read, level = cost
    if reading:
        gbps = reading.speed() * read / 1e9
        return 100 * ratio_of(mine.speeds, reading.speeds)["median"], f"reading in turns, {gbps:.0f} GB/s"
    limits = results["limits"][str(r.threads)]
    if r.work == "batch":                   # one step of all sequences reads the weights once
        read /= r.batch
    computing = flops / limits["gflops"] if r.dtype == "f32" else 0
    gbps = limits[level.lower() + "_gbps"]
    what = f"{limits['gflops']:.0f} GFLOP/s" if computing > read / gbps else f"{gbps:.0f} GB/s of {level}"
    return 100 * mine.speed() * max(computing, read / gbps) / 1e9, what


def ratio_of(mine, other):
    """Ratios turn by turn: median, quartiles, all."""
    turns = [a / b for a, b in zip(mine, other)]
    quarters = statistics.quantiles(turns, n=4, method="inclusive") if len(turns) > 1 else turns * 3
    return {"median": statistics.median(turns), "low": quarters[0], "high": quarters[2], "turns": turns}


def of_engines(o, results, r):
    """Rows that compare engines of xformc: jit with native code, the matrix product with
    OpenBLAS."""
    product = r.work == "product"
    spec = os.path.join(HERE, "product_64.lua") if product else ours.spec(o.work, r.model)
    mine, its = ("native", "generic") if product else ("jit", "native")
    found = [x for x in bench(o, results, spec, r.threads, "-r", str(o.rounds), "--seconds", str(o.rounds * o.seconds))
             if x["kernels"] in ("library", "openblas") and x["test"].startswith("run" if product else "tg")]
    a, b = (next(x for x in found if x["engine"] == name) for name in (mine, its))
    return {"unit": table.units(r)[1], "ours": side_result(mine, {}, a["samples_ts"]), "peers": [side_result(r.peers[0], {}, b["samples_ts"])],
            "ratio": ratio_of(a["samples_ts"], b["samples_ts"]), "limit_pct": a["limit_pct"],
            "limit": f"{a['limit_gflops']:.0f} GFLOP/s" if a["limit"] == "flops" else f"{a['limit_gbps']:.0f} GB/s of {a['level']}"}


# ---- rows of workers ----

def side_result(peer, choice, speeds, **more):
    return {"peer": peer, "settings": {k: v for k, v in choice.items() if v != ""}, "speed": statistics.median(speeds), "speeds": speeds, **more}


def reference_of(o, r, opened):
    """The reference bytes for the peers: xformc's in f32; for the largest models those of the first
    side."""
    if r.model in TOO_LARGE:
        return opened[0].check()
    f32 = r._replace(dtype="f32")
    side = sides.Side(o.work, o.xformc, OURS, f32, settings.defaults(OURS, f32))
    try:
        return side.check()
    finally:
        side.close()


def agree(o, r, opened):
    """The result of each side's check, by peer."""
    if r.work in table.COMMANDS:
        return dict.fromkeys((side.peer for side in opened), "")
    reference, kept = reference_of(o, r, opened), {}
    for side in opened:
        try:
            kept[side.peer] = agreement.compare(r, side.peer, reference, side.check())
        except agreement.Disagreement as e:
            sys.exit(f"{r.name}: {side.peer} {side.choice} computes something else: {e}")
    return kept


def rounds_of(o, r):
    return max(3, o.rounds - 2) if r.model in TOO_LARGE else o.rounds


def of_workers(o, results, r, found):
    units, unit = table.units(r)
    result = {"unit": unit, "ours": None, "peers": [], "ratio": None, "limit_pct": None, "limit": None}
    choices = [(peer, {**settings.best(found, peer, r), **o.set.get(peer, {})}) for peer in [OURS, *r.peers]]
    try:
        if r.work not in table.COMMANDS:
            ours.program(o.xformc, o.work, r.model, r.dtype)
    except ours.Missing as e:
        result["missing"] = str(e)
        choices = choices[1:]
    cost = None if "missing" in result else costs(o, results, r)
    opened = sides.opened(o.work, o.xformc, r, choices)
    reading = []
    try:
        kept = agree(o, r, opened)
        if cost and r.work == "decode":
            reading = sides.opened(o.work, o.xformc, r, [(table.READING, {"bytes": int(cost[1])})])
        sides.take_turns(opened + reading, units, rounds_of(o, r), o.seconds, o.clock)
    finally:
        for side in opened + reading:
            side.close()
    for side in opened:
        if side.idle > 0.02 * o.rounds * o.seconds * (len(opened) - 1):
            progress(f"  {side.peer} computed for {side.idle:.2f} s while others took their turns")
        one = side_result(side.peer, side.choice, side.speeds, agrees=kept[side.peer], idle_seconds=round(side.idle, 2))
        if side.peer == OURS:
            result["ours"] = one
        else:
            result["peers"].append(one)
    if result["ours"]:
        best = max(result["peers"], key=lambda side: side["speed"])
        result["ratio"] = ratio_of(result["ours"]["speeds"], best["speeds"])
        result["limit_pct"], result["limit"] = share_of_limit(results, r, cost, opened[0], *reading)
    return result


# ---- trying settings ----

WORTH_IT = 1.05             # a value other than the default must be this much faster

def best_value(o, r, peer, choice, key, values):
    """The fastest value of `key`, with the other keys as in `choice`, or the default if no value is
    worth it; and the speed of each value in its best turn: other load can only slow it down."""
    opened = sides.opened(o.work, o.xformc, r, [(peer, {**choice, key: value}) for value in values])
    try:
        sides.take_turns(opened, table.units(r)[0], 5, o.seconds / 2, o.clock)
        speeds = {side.choice[key]: round(max(side.speeds), 2) for side in opened}
    finally:
        for side in opened:
            side.close()
    best = max(speeds, key=speeds.get)
    return (best if speeds[best] > WORTH_IT * speeds[values[0]] else values[0]), speeds


def tune(o, r, found):
    for peer in r.peers:
        choice, tried = settings.defaults(peer, r), {}
        try:
            for key, values in settings.factors(peer, r):
                if len(values) > 1:
                    choice[key], tried[key] = best_value(o, r, peer, choice, key, values)
        except ours.Missing:
            continue
        found.setdefault(r.name, {})[peer] = {"chosen": {k: v for k, v in choice.items() if v != ""}, "tried": tried}
        progress(f"  {peer}: {found[r.name][peer]['chosen']}  of {tried}")
    settings.write(found)


# ---- all ----

def measure(o, results, r, found, build):
    """Measure one row and add it to the results. build: identifies xformc's build; a later run
    measures rows of another build again."""
    load, began = machine.Load(), time.monotonic()
    by_engines = r.work in ("product", "jit")
    if o.tune and not by_engines:
        tune(o, r, found)
        load = machine.Load()
    result = of_engines(o, results, r) if by_engines else of_workers(o, results, r, found)
    result = {"name": r.name, "work": r.work, "model": r.model, "dtype": r.dtype, "threads": r.threads, "n": r.n, "batch": r.batch,
              "clock": "wall" if by_engines else o.clock, "goal": r.goal, "aim": r.aim, "share_goal": r.share, "build": build,
              **result, "others_load": round(load.of_others(), 3)}
    results["rows"] = [x for x in results["rows"] if x["name"] != r.name] + [result]
    ratio = f"ratio {result['ratio']['median']:.2f}" if result["ratio"] else result.get("missing", "")
    progress(f"{r.name}: {ratio}, others used {100 * result['others_load']:.0f} % of the machine, {time.monotonic() - began:.0f} s")


def main():
    o = options()
    if o.list:
        for r in o.rows:
            print(f"{r.name:24} {r.model} {r.dtype}, {r.threads} thread{'s' if r.threads > 1 else ''}: against {', '.join(r.peers)}")
        return
    if o.print:
        if not os.path.exists(o.file):
            sys.exit(f"there are no results in {o.file}")
        print(report.markdown(read(o, None)))
        return
    os.makedirs(o.work, exist_ok=True)
    os.makedirs(os.path.dirname(o.file), exist_ok=True)
    o.xformc = os.path.abspath(o.xformc)
    results, found = read(o, machine.describe(o.xformc)), settings.read()
    build = machine.identity(o.xformc)
    there = set() if o.only else {x["name"] for x in results["rows"] if x.get("build") == build}
    for k, r in enumerate(o.rows, 1):
        if r.name in there:
            progress(f"{r.name}: already measured")
            continue
        progress(f"{r.name} ({k} of {len(o.rows)})")
        measure(o, results, r, found, build)
        write(o, results)
    print(report.markdown(results))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
