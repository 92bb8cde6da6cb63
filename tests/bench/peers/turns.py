"""Turns, and the worker of llama.cpp: shared by workers and commands."""

import os
import statistics

import numpy as np

import ours


class Turns:
    """speeds: units per second in each turn; idle: CPU seconds between turns."""

    def __init__(self, peer, choice):
        self.peer, self.choice, self.speeds, self.idle = peer, choice, [], 0.0

    def speed(self):
        return statistics.median(self.speeds)


def llama_worker(root):
    """programs/peer_llama.c, compiled with the headers and libraries of the installed package."""
    target = os.path.join(root, "llama_worker")
    if not ours.is_fresh(target, "peer_llama"):
        packages = os.path.dirname(os.path.dirname(np.__file__))
        libraries = os.path.join(packages, "llama_cpp", "lib")
        ours.compile_program("peer_llama", target, os.path.join(packages, "include"), libraries)
    return target
