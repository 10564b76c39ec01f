"""Tests work on small arrays: one thread is faster than two that wait for each other."""

import os

os.environ["OMP_NUM_THREADS"] = "1"

import torch

torch.set_num_threads(1)
