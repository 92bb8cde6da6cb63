"""Write ../front/rotary_rates.h for test_rotary_rates.c: rates and factors computed by
transformers.

    python rope_rates.py [folder]      # needs torch and transformers

Each row has the fields of a layer, as C, and the results of modeling_rope_utils.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "specs", "dates"))
sys.dont_write_bytecode = True

from types import SimpleNamespace  # noqa: E402

from choices_model import rotary_rates  # noqa: E402

LISTS = ("rope_short_factor", "rope_long_factor")
SHORT = [1 + i * i / 64 for i in range(48)]
LLAMA3 = dict(rope_scaling="llama3", rope_low_freq_factor=1, rope_high_freq_factor=4, rope_original_len=8192)
YARN = dict(rope_scaling="yarn", rope_beta_fast=32, rope_beta_slow=1, rope_truncate=True)
LAYERS = {
    "as they are": dict(rope_dims=64, rope_theta=10000.),
    "one pair": dict(rope_dims=2, rope_theta=10000.),
    "part of a head": dict(rope_dims=20, head_dim=80, rope_theta=10000.),
    "a head that is not a power of 2": dict(rope_dims=96, rope_theta=500000.),
    "Qwen": dict(rope_dims=128, rope_theta=1000000.),
    "linear": dict(rope_dims=256, rope_theta=1000000., rope_scaling="linear", rope_factor=8.),
    "linear, a third": dict(rope_dims=80, rope_theta=10000., rope_scaling="linear", rope_factor=3.),
    "dynamic": dict(rope_dims=128, rope_theta=10000., rope_scaling="dynamic", rope_factor=2., rope_original_len=4096),
    "Llama 3.1": dict(rope_dims=128, rope_theta=500000., rope_factor=8., **LLAMA3),
    "Llama 3.2": dict(rope_dims=64, rope_theta=500000., rope_factor=32., **LLAMA3),
    "yarn": dict(rope_dims=128, rope_theta=1000000., rope_factor=4., rope_original_len=32768, **YARN),
    "yarn, not truncated": dict(rope_dims=64, rope_theta=150000., rope_factor=32., rope_original_len=4096,
                                **YARN | dict(rope_truncate=False)),
    "yarn, mscale": dict(rope_dims=64, rope_theta=10000., rope_factor=40., rope_original_len=4096, rope_mscale=0.707,
                         rope_mscale_all_dim=0.5, **YARN),
    "yarn, a given factor": dict(rope_dims=32, rope_theta=10000., rope_factor=16., rope_original_len=2048,
                                 rope_attention_factor=1.25, **YARN),
    "yarn, short": dict(rope_dims=16, rope_theta=100., rope_factor=2., rope_original_len=8, **YARN),
    "longrope": dict(rope_dims=96, rope_theta=10000., rope_scaling="longrope", rope_factor=32., rope_original_len=4096,
                     rope_short_factor=SHORT, rope_long_factor=[4 * x for x in SHORT]),
}


def c(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else repr(value)


def lines(words, each):
    return "\n" + "".join("        " + ", ".join(words[i:i + each]) + ",\n" for i in range(0, len(words), each))


def row(name, fields):
    lists = {key: fields.get(key, []) for key in LISTS}
    words = [f".rope_scaling = SCALINGS_{fields.get('rope_scaling', 'none').upper()}"]
    words += [f".{key} = {c(value)}" for key, value in fields.items() if key not in LISTS + ("rope_scaling",)]
    layer = SimpleNamespace(**dict(head_dim=fields["rope_dims"], rope_scaling="none") | fields)
    rates, factor = rotary_rates(layer)
    text = f'    {{ "{name}", {{{lines(words, 4)}      }}, {len(lists[LISTS[0]])}, {{'
    text += lines(list(map(c, lists[LISTS[0]] or [0])), 8)
    return text + f"      }}, {float(factor)!r}, {{{lines([float(x).hex() + 'f' for x in rates], 5)}      }} }},\n"


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "front")
    with open(os.path.join(out, "rotary_rates.h"), "w", newline="\n") as f:
        f.write("/* rotary_rates.h: layers, and the rates and factors that transformers gives them. Written by goldens/rope_rates.py. */\n")
        f.write("static const struct { const char *name; LayerFields layer; int count; double list[48], factor; float rates[128]; }"
                " expected[] = {\n")
        f.writelines(row(name, fields) for name, fields in LAYERS.items())
        f.write("};\n")


if __name__ == "__main__":
    main()
