"""The results as a Markdown table: ratios, lowest first, and shares of the machine's limits."""

from rows import COPY, NATIVE


def number(x):
    return f"{x:,.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def speed_of(side):
    return f"{side['peer']} {number(side['speed'])}"


def verdict(r):
    """The note about the goal."""
    if r.get("missing") or not r.get("ratio"):
        return "missing"
    if r["goal"] is None:
        return "-"
    share = r.get("share_goal")
    fine = r["ratio"]["median"] >= r["goal"] and (share is None or (r["limit_pct"] or 0) >= share)
    better = fine and r["aim"] and r["ratio"]["median"] >= r["aim"]
    return "aim reached" if better else "reached" if fine else "**not reached**"


def goal(r):
    words = [] if r["goal"] is None else [f"{r['goal']}" + (f" ({r['aim']})" if r["aim"] else "")]
    if r.get("share_goal"):
        words.append(f"{r['share_goal']} %")
    return ", ".join(words) or "-"


def cells(r):
    best = max(r["peers"], key=lambda side: side["speed"], default=None)
    others = ", ".join(speed_of(side) for side in sorted(r["peers"], key=lambda side: -side["speed"]))
    ratio = r.get("ratio")
    unit = r["unit"] + (" of processor time" if r.get("clock") == "processor" else "")
    return [r["name"], unit, number(r["ours"]["speed"]) if r.get("ours") else r.get("missing", ""), others if best else "-",
            f"{ratio['median']:.2f} ({ratio['low']:.2f} - {ratio['high']:.2f})" if ratio else "-", goal(r), verdict(r),
            f"{r['limit_pct']:.0f} % of {r['limit']}" if r.get("limit_pct") else "-", f"{100 * r['others_load']:.0f} %"]


HEAD = ["row", "unit", "xformc", "peers", "ratio to the best (quartiles)", "to reach (aim)", "", "share of the limit", "load of others"]


def place(r):
    """Rows against other libraries come first, the lowest ratio at the top; missing rows come last."""
    alone = all(side["peer"] in (COPY, NATIVE) for side in r["peers"])
    return (not r.get("ratio"), alone, r["ratio"]["median"] if r.get("ratio") else 0)


def table(results):
    rows = sorted(results["rows"], key=place)
    lines = [HEAD] + [["---"] * len(HEAD)] + [cells(r) for r in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def machine(results):
    m = results["machine"]
    caches = ", ".join(f"{name} {size}" for name, size in m["caches"].items())
    packages = ", ".join(f"{name} {version}" for name, version in m["packages"].items())
    limits = "; ".join(f"{n} thread{'s' if n != '1' else ''}: FMA {x['gflops']:.0f} GFLOP/s, "
                       f"L2 {x['l2_gbps']:.0f}, L3 {x['l3_gbps']:.0f}, DRAM {x['dram_gbps']:.1f} GB/s"
                       for n, x in sorted(results.get("limits", {}).items()))
    return f"{m['cpu']}, {m['cores']} cores, {caches}, {m['memory_gb']} GB; {m['compiler']}; {m['xformc']}; {packages}.\nLimits probed: {limits}."


def markdown(results):
    return table(results) + "\n\n" + machine(results)
