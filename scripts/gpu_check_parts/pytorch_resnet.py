"""Measures training steps of ResNet-50 in PyTorch, eagerly, for the table of gpu_check. Prints one line of JSON.

The model, the loss and the optimizer are those of examples/resnet_images.cc: blocks with the stride in their convolution
of 3 x 3, batch normalization in float32, ten classes, Momentum with a cosine decay of its rate, a penalty of the weights
of convolutions. Each layout (NCHW and channels_last) gets a model of its own, and the faster one counts. float32 may use
TensorFloat-32. With bfloat16, autocast computes convolutions in bfloat16, from weights of float32.
"""

import argparse
import json
import math
import time

CLASSES = 10


def resnet(nn, blocks):
    class Bottleneck(nn.Module):
        def __init__(self, inputs, filters, stride):
            super().__init__()
            self.body = nn.Sequential(*convolution(inputs, filters, 1), nn.ReLU(inplace=True),
                                      *convolution(filters, filters, 3, stride), nn.ReLU(inplace=True),
                                      *convolution(filters, 4 * filters, 1))
            self.shortcut = nn.Identity()
            if stride != 1 or inputs != 4 * filters:
                self.shortcut = nn.Sequential(*convolution(inputs, 4 * filters, 1, stride))
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x):
            return self.relu(self.body(x) + self.shortcut(x))

    def convolution(inputs, filters, kernel, stride=1):
        return (nn.Conv2d(inputs, filters, kernel, stride, padding=kernel // 2, bias=False),
                nn.BatchNorm2d(filters, eps=1e-3))

    layers = [*convolution(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1)]
    inputs = 64
    for stage, count in enumerate(blocks):
        for block in range(count):
            layers.append(Bottleneck(inputs, 64 << stage, 2 if stage > 0 and block == 0 else 1))
            inputs = 4 * (64 << stage)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


class Training:
    """A new model in a memory format, and its optimizer."""

    def __init__(self, torch, options, memory_format):
        self.torch, self.options, self.memory_format = torch, options, memory_format
        self.device = torch.device(options.device)
        torch.manual_seed(1)
        self.model = resnet(torch.nn, options.blocks).to(self.device, memory_format=memory_format)
        kernels = [p for p in self.model.parameters() if p.dim() == 4]
        others = [p for p in self.model.parameters() if p.dim() != 4]
        self.optimizer = torch.optim.SGD([{"params": kernels, "weight_decay": 1e-4}, {"params": others}], lr=0.05,
                                         momentum=0.9)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=100_000)

    def batch(self, pinned):
        """Random images and labels, in pinned memory of the host or on the device."""
        shape = (self.options.batch, 3, self.options.size, self.options.size)
        images = self.torch.rand(shape).contiguous(memory_format=self.memory_format)
        labels = self.torch.randint(CLASSES, (self.options.batch,))
        if not pinned:
            return self.on_device(images, labels)
        return (images.pin_memory(), labels.pin_memory()) if self.device.type == "cuda" else (images, labels)

    def on_device(self, images, labels):
        return images.to(self.device, non_blocking=True), labels.to(self.device, non_blocking=True)

    def step(self, images, labels):
        torch = self.torch
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.options.dtype == "bfloat16"):
            scores = self.model(images)
        loss = torch.nn.functional.cross_entropy(scores.float(), labels)
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        return loss.detach()

    def wait(self):
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()

    def steps_per_s(self, batch, fetch=False):
        """The rate of steps in the fastest of three windows, and the last loss. `batch` makes the arguments of step i.
        Unless `fetch`, the host does not wait for the loss of each step."""
        best = 0
        for window in range(-1, 3):  # the first window warms up, and lets cuDNN choose
            self.wait()
            began = time.perf_counter()
            for i in range(self.options.steps):
                loss = self.step(*batch(i))
                if fetch:
                    loss.item()
            self.wait()
            if window >= 0:
                best = max(best, self.options.steps / (time.perf_counter() - began))
        return round(best, 3), round(loss.item(), 4) if math.isfinite(loss.item()) else None


def measure(torch, options):
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    layouts = {}
    for name, memory_format in [("NCHW", torch.contiguous_format), ("channels_last", torch.channels_last)]:
        training = Training(torch, options, memory_format)
        here = training.batch(pinned=False)
        device, loss = training.steps_per_s(lambda _, b=here: b)
        fetched, _ = training.steps_per_s(lambda _, b=here: b, fetch=True)
        batches = [training.batch(pinned=True) for _ in range(2)]
        host, _ = training.steps_per_s(lambda i, t=training, b=batches: t.on_device(*b[i % len(b)]))
        layouts[name] = {"device": device, "device_loss_fetched": fetched, "host": host, "loss": loss}
        parameters = sum(p.numel() for p in training.model.parameters())
        del training, here, batches
        if options.device == "cuda":
            torch.cuda.empty_cache()
    best = {key: max(layout[key] for layout in layouts.values()) for key in ["device", "device_loss_fetched", "host"]}
    return {"version": torch.__version__, "steps_per_s": best, "layouts": layouts, "parameters": parameters,
            "device": torch.cuda.get_device_name() if options.device == "cuda" else "CPU"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--size", type=int, default=224, help="height and width of the images")
    parser.add_argument("--steps", type=int, default=20, help="steps of a window; three are measured")
    parser.add_argument("--blocks", type=lambda text: [int(n) for n in text.split(",")], default=[3, 4, 6, 3],
                        help="blocks of each stage (default: those of ResNet-50)")
    options = parser.parse_args()
    try:
        import torch  # noqa: PLC0415
    except (ImportError, OSError) as error:  # OSError: a library of CUDA is missing
        missing = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        print(json.dumps({"absent": "PyTorch is not installed" if missing else f"PyTorch cannot be imported: {error}"}))
        return
    if options.device == "cuda" and not torch.cuda.is_available():
        print(json.dumps({"absent": f"PyTorch {torch.__version__} finds no card"}))
        return
    print(json.dumps(measure(torch, options)))


if __name__ == "__main__":
    main()
