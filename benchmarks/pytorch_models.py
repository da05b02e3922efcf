#!/usr/bin/env python3
"""Measures the models of `tensorbraid bench lenet`, `bench lstm` and `bench crnn` in PyTorch; prints a line of JSON.

    PYTHON benchmarks/pytorch_models.py lenet [--compile] [--threads=1] [--smoke]     # PYTHON has torch and numpy

The same models, optimizers and batch sizes, in the forms of PyTorch that are fastest on a CPU: images with the channels
last, optimizers that update all parameters at once, and with --compile the model and the loss compiled by
torch.compile.

memory_mb is the peak of the resident memory over the steps, beyond what the process had before it made the model;
memory_of_steps_mb, beyond what it had before the first step, in which PyTorch makes the slots of its optimizers.
"""

import argparse
import json
import math
import re
import statistics
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(f"{sys.executable} does not have PyTorch. Install it, for example: {sys.executable} -m pip install torch")

import model_batches as batches

nn = torch.nn
WARM_UP = 3


def tensors(*arrays):
    return [torch.from_numpy(a) for a in arrays]


def channels_last(pixels):
    """[n, height, width, 1] as PyTorch's [n, 1, height, width] in the same order of memory."""
    return pixels.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv0, self.conv1 = nn.Conv2d(1, 32, 5, padding=2), nn.Conv2d(32, 64, 5, padding=2)
        self.dense0, self.dense1 = nn.Linear(7 * 7 * 64, 1024), nn.Linear(1024, batches.CLASSES)

    def forward(self, x, labels):
        for conv in (self.conv0, self.conv1):
            x = nn.functional.max_pool2d(torch.relu(conv(x)), 2)
        logits = self.dense1(torch.relu(self.dense0(x.flatten(1))))
        return nn.functional.cross_entropy(logits, labels)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.dense = nn.LSTM(200, 200), nn.Linear(200, batches.CLASSES)

    def forward(self, x, labels):
        return nn.functional.cross_entropy(self.dense(self.lstm(x)[0][-1]), labels)


class Crnn(nn.Module):
    """Its images are [n, 1, 32, 144]."""

    def __init__(self):
        super().__init__()
        filters = (1, 16, 32, 64)
        self.convs = nn.ModuleList(nn.Conv2d(i, o, 3, padding=1, bias=False) for i, o in zip(filters, filters[1:]))
        self.norms = nn.ModuleList(nn.BatchNorm2d(o, eps=1e-3, momentum=0.01) for o in filters[1:])
        self.column = nn.Conv2d(64, 96, (4, 1))
        self.lstm, self.dense = nn.LSTM(96, 64, bidirectional=True), nn.Linear(128, 11)

    def forward(self, x, steps, order, lengths, digits):
        """`steps` has the lengths of the lines in falling order, and `order` the lines in that order."""
        for conv, norm, pool in zip(self.convs, self.norms, ((2, 2), (2, 2), (2, 1))):
            x = nn.functional.max_pool2d(torch.relu(norm(conv(x))), pool)
        x = torch.relu(self.column(x)).squeeze(2).permute(2, 0, 1)  # time first
        # Each direction ends or begins with the last step of the line.
        packed = nn.utils.rnn.pack_padded_sequence(x[:, order], steps)
        x = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], total_length=36)[0]
        logits = self.dense(x).log_softmax(2)
        losses = nn.functional.ctc_loss(logits, digits, steps, lengths, blank=10, reduction="none")
        return losses.mean()


def lenet():
    """Returns (model, its arguments, optimizer)."""
    pixels, labels = tensors(*batches.images(128, 28))
    model = LeNet().to(memory_format=torch.channels_last)
    return model, [channels_last(pixels), labels], torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)


def lstm():
    values, labels = tensors(*batches.sequences(32, 20, 200))
    model = Lstm()
    return model, [values.transpose(0, 1).contiguous(), labels], torch.optim.SGD(model.parameters(), lr=0.1, fused=True)


def crnn():
    pixels, steps, _, digits = tensors(*batches.lines(32, 32, 144, 5))
    model = Crnn().to(memory_format=torch.channels_last)
    steps, order = steps.long().sort(descending=True, stable=True)
    arguments = [channels_last(pixels), steps, order, torch.full([32], 5), digits.long().reshape(32, 5)[order]]
    return model, arguments, torch.optim.Adadelta(model.parameters(), lr=1.0, rho=0.95, eps=1e-6, foreach=True)


def memory_mb(key):
    with open("/proc/self/status") as status:
        return int(re.search(rf"{key}:\s+(\d+) kB", status.read())[1]) * 1024 / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=["lenet", "lstm", "crnn"])
    parser.add_argument("--compile", action="store_true", help="with torch.compile")
    parser.add_argument("--threads", type=int, default=0, help="default: one per core")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--smoke", action="store_true", help="a short run that only checks that it works")
    flags = parser.parse_args()
    if flags.threads:
        torch.set_num_threads(flags.threads)
    torch.manual_seed(1)
    before = memory_mb("VmRSS")
    model, arguments, optimizer = {"lenet": lenet, "lstm": lstm, "crnn": crnn}[flags.model]()
    parameters = list(model.parameters())
    loss_of = torch.compile(model) if flags.compile else model
    before_steps = memory_mb("VmRSS")
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # the peak starts from what the process has now

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(*arguments)
        loss.backward()
        if flags.model == "crnn":
            nn.utils.clip_grad_norm_(parameters, 10.0, foreach=True)
        optimizer.step()
        return loss.item()

    losses, times = [step() for _ in range(WARM_UP)], []
    cpu_start = time.process_time()
    for _ in range(3 if flags.smoke else flags.steps):
        start = time.perf_counter()
        losses.append(step())
        times.append((time.perf_counter() - start) * 1e3)
    cpu_ms = (time.process_time() - cpu_start) * 1e3 / len(times)
    if not math.isfinite(losses[-1]) or losses[-1] >= losses[0]:
        sys.exit(f"the loss did not fall: {losses[0]} at the start, {losses[-1]} at the end")
    peak = memory_mb("VmHWM")
    print(json.dumps({"bench": flags.model, "torch": torch.__version__, "compiled": flags.compile,
                      "threads": torch.get_num_threads(), "median_ms": statistics.median(times), "min_ms": min(times),
                      "cpu_ms": cpu_ms, "memory_mb": peak - before, "memory_of_steps_mb": peak - before_steps}))


if __name__ == "__main__":
    main()
