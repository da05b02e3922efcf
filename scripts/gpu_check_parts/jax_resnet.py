"""Measures training steps of ResNet-50 in JAX, jitted, for the table of gpu_check. Prints one line of JSON.

The model, the loss and the optimizer are those of examples/resnet_images.cc: blocks with the stride in their convolution
of 3 x 3, batch normalization in float32, ten classes, Momentum with a cosine decay of its rate, a penalty of the weights
of convolutions, images in NHWC. float32 may use TensorFloat-32, as is JAX's default. With bfloat16, activations are
bfloat16 and weights float32. A step is one program, which updates its state in place (donation).
"""

import argparse
import json
import math
import time

CLASSES = 10


def architecture(blocks):
    """The convolutions of the stem, and of each block, as (kernel, inputs, filters, stride). If a block has
    a fourth one, it belongs to the shortcut."""
    stages, inputs = [], 64
    for stage, count in enumerate(blocks):
        filters = 64 << stage
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            layers = [(1, inputs, filters, 1), (3, filters, filters, stride), (1, filters, 4 * filters, 1)]
            if stride != 1 or inputs != 4 * filters:
                layers.append((1, inputs, 4 * filters, stride))
            stages.append(layers)
            inputs = 4 * filters
    return [[(7, 3, 64, 2)], *stages]


class Model:
    def __init__(self, jax, options):
        self.jax, self.np, self.layers = jax, jax.numpy, architecture(options.blocks)
        self.dtype = self.np.bfloat16 if options.dtype == "bfloat16" else self.np.float32

    def new_state(self):
        weights, averages, key = [], [], self.jax.random.key(1)
        for block in self.layers:
            weights.append([])
            averages.append([])
            for kernel, inputs, filters, _ in block:
                key, used = self.jax.random.split(key)
                deviation = (2 / (kernel * kernel * inputs)) ** 0.5
                weights[-1].append({
                    "kernel": deviation * self.jax.random.normal(used, (kernel, kernel, inputs, filters)),
                    "scale": self.np.ones(filters), "offset": self.np.zeros(filters)})
                averages[-1].append({"mean": self.np.zeros(filters), "variance": self.np.ones(filters)})
        features = self.layers[-1][2][2]
        dense = {"matrix": self.jax.random.normal(key, (features, CLASSES)) / features ** 0.5,
                 "bias": self.np.zeros(CLASSES)}
        trained = {"blocks": weights, "dense": dense}
        return {"weights": trained, "momentum": self.jax.tree.map(self.np.zeros_like, trained), "averages": averages,
                "step": self.np.zeros((), self.np.int32)}

    def convolution(self, x, layer, weights, averages):
        """A convolution and the normalization of its batch. Also returns the new averages."""
        x = self.jax.lax.conv_general_dilated(x, weights["kernel"].astype(x.dtype), (layer[3], layer[3]), "SAME",
                                              dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = x.astype(self.np.float32)
        mean = x.mean((0, 1, 2))
        # As Flax computes it: faster than x.var, which reads x twice. Rounding must not make it negative.
        variance = self.np.maximum((x * x).mean((0, 1, 2)) - mean * mean, 0)
        x = (x - mean) * (self.jax.lax.rsqrt(variance + 1e-3) * weights["scale"]) + weights["offset"]
        moved = {"mean": 0.9 * averages["mean"] + 0.1 * mean, "variance": 0.9 * averages["variance"] + 0.1 * variance}
        return x.astype(self.dtype), moved

    def scores(self, weights, averages, images):
        relu, moved = self.jax.nn.relu, []
        x = images.astype(self.dtype)
        for b, block in enumerate(self.layers):
            y, new = x, []
            for i, layer in enumerate(block[:3]):
                y, average = self.convolution(y, layer, weights["blocks"][b][i], averages[b][i])
                new.append(average)
                if i < 2:
                    y = relu(y)
            if b == 0:
                x = self.jax.lax.reduce_window(y, -self.np.inf, self.jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
            else:
                if len(block) == 4:
                    x, average = self.convolution(x, block[3], weights["blocks"][b][3], averages[b][3])
                    new.append(average)
                x = relu(x + y)
            moved.append(new)
        features = x.astype(self.np.float32).mean((1, 2))
        return features @ weights["dense"]["matrix"] + weights["dense"]["bias"], moved

    def loss(self, weights, averages, images, labels):
        scores, moved = self.scores(weights, averages, images)
        chosen = self.np.take_along_axis(self.jax.nn.log_softmax(scores), labels[:, None], axis=1)
        loss = -chosen.mean()
        penalty = sum((layer["kernel"] ** 2).sum() for block in weights["blocks"] for layer in block)
        return loss + 0.5e-4 * penalty, (loss, moved)

    def step(self, state, images, labels):
        gradients, (loss, averages) = self.jax.grad(self.loss, has_aux=True)(state["weights"], state["averages"], images,
                                                                           labels)
        rate = 0.05 * 0.5 * (1 + self.np.cos(self.np.pi * state["step"] / 100_000))
        momentum = self.jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], gradients)
        weights = self.jax.tree.map(lambda w, m: w - rate * m, state["weights"], momentum)
        return {"weights": weights, "momentum": momentum, "averages": averages, "step": state["step"] + 1}, loss


def measure(jax, device, options):
    model = Model(jax, options)
    state = jax.jit(model.new_state)()
    parameters = sum(weights.size for weights in jax.tree.leaves(state["weights"]))
    keys = jax.random.split(jax.random.key(2), 2)
    shape = (options.batch, options.size, options.size, 3)
    batches = [jax.device_get((jax.random.uniform(key, shape), jax.random.randint(key, shape[:1], 0, CLASSES)))
               for key in keys]
    on_device = jax.device_put(batches[0], device)
    began = time.perf_counter()
    step = jax.jit(model.step, donate_argnums=0).lower(state, *on_device).compile()
    compile_s = round(time.perf_counter() - began, 1)

    def steps_per_s(state, batch, fetch=False):
        """The new state, the rate of steps in the fastest of three windows, and the last loss. `batch` makes the arguments
        of step i. Unless `fetch`, the host does not wait for the loss of each step."""
        best = 0
        for window in range(-1, 3):  # the first window warms up
            began = time.perf_counter()
            for i in range(options.steps):
                state, loss = step(state, *batch(i))
                if fetch:
                    float(loss)
            jax.block_until_ready((state, loss))
            if window >= 0:
                best = max(best, options.steps / (time.perf_counter() - began))
        return state, round(best, 3), round(float(loss), 4) if math.isfinite(loss) else None

    state, device_rate, loss = steps_per_s(state, lambda i: on_device)
    state, fetched_rate, _ = steps_per_s(state, lambda i: on_device, fetch=True)
    _, host_rate, _ = steps_per_s(state, lambda i: jax.device_put(batches[i % len(batches)], device))
    return {"version": jax.__version__, "device": device.device_kind, "compile_s": compile_s, "loss": loss,
            "parameters": parameters,
            "steps_per_s": {"device": device_rate, "device_loss_fetched": fetched_rate, "host": host_rate}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="gpu", choices=["gpu", "cpu"])
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--size", type=int, default=224, help="height and width of the images")
    parser.add_argument("--steps", type=int, default=20, help="steps of a window; three are measured")
    parser.add_argument("--blocks", type=lambda text: [int(n) for n in text.split(",")], default=[3, 4, 6, 3],
                        help="blocks of each stage (default: those of ResNet-50)")
    options = parser.parse_args()
    try:
        import jax  # noqa: PLC0415
    except (ImportError, RuntimeError) as error:  # RuntimeError: versions of jax and jaxlib that do not fit
        missing = isinstance(error, ModuleNotFoundError) and error.name == "jax"
        print(json.dumps({"absent": "JAX is not installed" if missing else f"JAX cannot be imported: {error}"}))
        return
    try:
        device = jax.devices()[0]
    except RuntimeError as error:
        print(json.dumps({"absent": f"JAX {jax.__version__} starts no device: {error}"}))
        return
    if (device.platform == "cpu") != (options.device == "cpu"):
        print(json.dumps({"absent": f"JAX {jax.__version__} has a device '{device.platform}', not '{options.device}': "
                                    "is its package for this card installed?"}))
        return
    print(json.dumps(measure(jax, device, options)))


if __name__ == "__main__":
    main()
