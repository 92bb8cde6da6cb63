"""Convert texts of the date model to padded ids, and ids to texts."""

import os
import sys

import numpy as np

DATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "specs", "dates")
sys.path.insert(0, DATES)

import forms  # noqa: E402


class Texts:
    def __init__(self):
        self.ids = {s: i for i, s in enumerate(forms.source_symbols())}
        self.symbols = forms.target_symbols()

    def source(self, texts):
        """(ids [B, S] int64, mask [B, S] True where real)"""
        longest = max(map(len, texts))
        ids = np.zeros((len(texts), longest), dtype=np.int64)
        mask = np.zeros((len(texts), longest), dtype=bool)
        for row, text in enumerate(texts):
            ids[row, :len(text)] = [self.ids.get(c, forms.UNKNOWN) for c in text]
            mask[row, :len(text)] = True
        return ids, mask

    def answers(self, rows):
        return ["".join(self.symbols[i] for i in (row[:row.index(forms.END)] if forms.END in row else row)) for row in rows]
