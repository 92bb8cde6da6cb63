"""Write tensors of run.sh with NumPy: t:save("x.npy") must give the same bytes.

    python make_npy.py              # needs numpy"""
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
values = np.array([1.5, -2, 3e-5, 4, 5, 1e30, -0.0, 8, 9, 10, 11, 12], dtype="<f4")
for name, shape in (("list", (12,)), ("matrix", (3, 4)), ("cube", (2, 3, 2))):
    np.save(HERE / f"{name}.npy", values.reshape(shape))
