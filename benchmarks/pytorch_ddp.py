#!/usr/bin/env python3
"""Measures the workload of `tensorbraid bench softmax --mode=sync --workers=2` in PyTorch; prints a line of JSON.

    apt-get install python3-torch        # or pip install torch
    /usr/bin/python3 benchmarks/pytorch_ddp.py

Two processes on this machine, with one thread each, train the same model on batches of the same size with
DistributedDataParallel over Gloo. The result is the median step of the slower worker, in the fastest of three rounds.
"""

import json
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

WORKERS, BATCH, PIXELS, CLASSES, BATCHES, WARM_UP, STEPS, ROUNDS = 2, 100, 784, 10, 32, 100, 2000, 3


def work(rank, store, results):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=WORKERS)
    torch.manual_seed(rank)
    images = (torch.rand(BATCHES, BATCH, PIXELS) < 0.2) * torch.rand(BATCHES, BATCH, PIXELS)
    labels = torch.nn.functional.one_hot(torch.randint(CLASSES, (BATCHES, BATCH)), CLASSES).float()
    model = torch.nn.Linear(PIXELS, CLASSES)
    with torch.no_grad():
        model.weight.zero_()
        model.bias.zero_()
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)

    def step(i):
        optimizer.zero_grad(set_to_none=True)
        loss = -(labels[i % BATCHES] * torch.log(torch.softmax(model(images[i % BATCHES]), dim=1))).sum()
        loss.backward()
        optimizer.step()
        return loss

    first = step(0).item()
    for i in range(WARM_UP):
        step(i)
    times = []
    for i in range(STEPS):
        start = time.perf_counter()
        step(i)
        times.append(time.perf_counter() - start)
    if not step(0).item() < first:
        raise RuntimeError("the loss did not fall")
    results.put(statistics.median(times) * 1e3)
    dist.barrier()


def main():
    context = mp.get_context("spawn")
    rounds = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            results = context.SimpleQueue()
            mp.spawn(work, (os.path.join(folder, "store"), results), nprocs=WORKERS)
            rounds.append(max(results.get() for _ in range(WORKERS)))
    print(json.dumps({"bench": "softmax", "mode": "ddp", "workers": WORKERS, "torch": torch.__version__,
                      "median_ms": min(rounds)}))


if __name__ == "__main__":
    sys.exit(main())
