"""What is known of each node of a graph and of its runs: the contents of a ProfileProto."""

import math
import re

from tensorbraid import proto

__all__ = []

NUMBERS = ("exec_micros", "accelerator_exec_micros", "cpu_exec_micros", "requested_bytes", "peak_bytes", "residual_bytes",
           "output_bytes", "parameters", "float_ops", "run_count")
_MEMORY = ("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes")
_DEVICE = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu):\d+", re.ASCII)


def _dims(shape):
    """The sizes of a TensorShapeProto: [1] for a scalar, none if their number is unknown."""
    return [1] if not shape.dim and not shape.unknown_rank else [dim.size for dim in shape.dim]


def _micros(execs):
    return sum(time.int64_values[1] for device in execs.values() for time in device.times)


class Record:
    """A node: its ProfileNode, its inputs by name, and what the views need of both."""

    def __init__(self, name, op, number=-1):
        self.node = proto.ProfileNode(name=name, op=op, id=number)
        self.types = {op}
        self.inputs, self._outputs_used = {}, {}
        self._averages = {}

    @classmethod
    def of(cls, node_def, number):
        """The record of a node of a graph."""
        record = cls(node_def.name, node_def.op, number)
        for name, value in node_def.attr.items():
            record.node.attrs[name].CopyFrom(value)
        if "shape" in node_def.attr and node_def.attr["shape"].HasField("shape"):
            record.node.shape.extend(_dims(node_def.attr["shape"].shape))
        if "_output_shapes" in node_def.attr:
            for i, shape in enumerate(node_def.attr["_output_shapes"].list.shape):
                record.node.output_shapes[i].int64_values.extend(_dims(shape))
        for i, tensor in enumerate(node_def.input):
            name, _, output = tensor.removeprefix("^").partition(":")
            record.inputs[i] = name
            record._outputs_used[name] = int(output or 0)
        return record

    @property
    def name(self):
        """The name of the node."""
        return self.node.name

    @property
    def device(self):
        """The device on which the node ran, in lower case; "" if it did not."""
        return self.node.canonical_device

    def add_run(self, step, device, stats):
        """Adds a NodeExecStats, of this device, to a step. One of a second device is left out."""
        device = device.lower()
        if _DEVICE.fullmatch(device):
            if self.device not in ("", device):
                return
            self.node.canonical_device = device
            self.node.host_device = re.sub(r"gpu:\d+", "cpu:0", device)
            self.types.add(device)
        self._averages.clear()
        run = self.node.execs[step]
        _add_time(run, device, stats)
        if device == self.device and stats.all_start_micros > 0:
            _add_memory(run, device, stats)

    def numbers(self, step):
        """The numbers called NUMBERS: those of a step, or the averages of the steps in which the node ran if it is -1."""
        if step not in self._averages:
            runs = self.node.execs
            chosen = [runs[step]] if step >= 0 and step in runs else list(runs.values()) if step < 0 else []
            count = max(len(chosen), 1)
            found = {"run_count": sum(run.run_count for run in chosen) // count,
                     "accelerator_exec_micros": sum(_micros(run.accelerator_execs) for run in chosen) // count,
                     "cpu_exec_micros": sum(_micros(run.cpu_execs) for run in chosen) // count}
            found["exec_micros"] = sum(
                _micros(run.accelerator_execs) + _micros(run.cpu_execs) for run in chosen) // count
            for name in _MEMORY:
                found[name] = sum(getattr(memory, name) for run in chosen for memory in run.memory_execs) // count
            found["parameters"] = self._parameters()
            found["float_ops"] = self.node.float_ops * (found["run_count"] if runs else 1)
            self._averages[step] = found
        return self._averages[step]

    def _parameters(self):
        shape = self.node.shape
        return math.prod(shape) if shape and min(shape) >= 0 else 0

    def set_float_ops(self, number):
        """Sets the floating point operations of one run."""
        self.node.float_ops = number
        self._averages.clear()

    def input_shapes(self, records):
        """The sizes of each input, by its number; an empty list if they are unknown."""
        result = {}
        for i, name in self.inputs.items():
            shapes = records[name].node.output_shapes if name in records else {}
            output = self._outputs_used[name]
            result[i] = list(shapes[output].int64_values) if output in shapes else []
        return result

    def message(self, records):
        """The ProfileNode with the numbers of other nodes instead of their names."""
        result = proto.ProfileNode()
        result.CopyFrom(self.node)
        result.op_types.extend(sorted(self.types))
        for i, name in self.inputs.items():
            if name in records:
                number = records[name].node.id
                result.inputs[i] = number
                result.src_output_index[number] = self._outputs_used[name]
        return result


def _add_time(run, device, stats):
    run.devices[:] = sorted({*run.devices, device})
    start = stats.all_start_micros
    if start <= 0:
        return
    duration = stats.op_end_rel_micros or 1
    run.all_start_micros = min(run.all_start_micros, start) if run.all_start_micros > 0 else start
    run.latest_end_micros = max(run.latest_end_micros, start + duration)
    if "stream:all" in device:
        run.accelerator_execs[device].times.add(int64_values=[start, duration])
    elif _DEVICE.fullmatch(device):
        run.cpu_execs[device].times.add(int64_values=[start, duration])
        run.run_count += 1


def _add_memory(run, device, stats):
    memory = run.memory_execs.add(memory_micros=stats.all_start_micros + stats.op_end_rel_micros)
    for used in stats.memory:
        if "GPU" in used.allocator_name:
            memory.allocator_bytes_in_use = max(memory.allocator_bytes_in_use, used.allocator_bytes_in_use)
            run.allocations.extend(used.allocation_records)
    for output in stats.output:
        allocation = output.tensor_description.allocation_description
        if output.tensor_description.HasField("allocation_description"):
            size = max(allocation.allocated_bytes, allocation.requested_bytes)
            memory.output_bytes += size
            memory.output_memory[output.slot].bytes = size
            memory.output_memory[output.slot].ptr = allocation.ptr
    temporary, kept = stats.memory_stats.temp_memory_size, stats.memory_stats.persistent_memory_size
    if "cpu" in device:
        memory.host_temp_bytes, memory.host_persistent_bytes = temporary, kept
    else:
        memory.accelerator_temp_bytes, memory.accelerator_persistent_bytes = temporary, kept
    memory.residual_bytes = kept + sum(used.live_bytes for used in stats.memory)
    memory.requested_bytes = kept + temporary + sum(used.total_bytes for used in stats.memory)
    memory.peak_bytes = kept + temporary + sum(used.peak_bytes for used in stats.memory)


class Profile:
    """The records of the nodes of a graph, by name, and the steps that were added to them."""

    def __init__(self, graph_def):
        self.records, self.steps, self.strings = {}, set(), {}
        self.has_trace = self.lacks_streams = False
        self.add_graph(graph_def)

    def add_graph(self, graph_def):
        """Adds the nodes that are new."""
        for node in graph_def.node:
            if node.name not in self.records:
                self.records[node.name] = Record.of(node, len(self.records))

    def add_run(self, step, run_meta):
        """Adds the times and sizes that a RunMetadata has to a step."""
        self.steps.add(step)
        devices = [device.device.lower() for device in run_meta.step_stats.dev_stats if "gpu" in device.device.lower()]
        self.lacks_streams |= bool(devices) and not any("stream:all" in device for device in devices)
        for device in run_meta.step_stats.dev_stats:
            for stats in device.node_stats:
                name = stats.node_name.partition(":")[0]
                if name not in self.records:
                    if name in ("RecvTensor", "_SOURCE") or "MEMCPY" in name:
                        continue
                    self.records[name] = Record(name, name, len(self.records))
                self.records[name].add_run(step, device.device, stats)

    def add_log(self, op_log):
        """Adds the groups, the floating point operations and the lines of code of an OpLogProto."""
        for number, text in op_log.id_to_string.items():
            self.strings.setdefault(number, text)
        for entry in op_log.log_entries:
            record = self.records.get(entry.name)
            if record is None:
                continue
            record.types.update(entry.types)
            if entry.float_ops:
                record.set_float_ops(entry.float_ops)
            if entry.HasField("code_def"):
                self.has_trace = True
                if not record.node.HasField("trace"):
                    record.node.trace.CopyFrom(entry.code_def)

    def message(self):
        """The ProfileProto."""
        result = proto.ProfileProto(has_trace=self.has_trace, miss_accelerator_stream=self.lacks_streams,
                                    steps=sorted(self.steps), id_to_string=self.strings)
        for record in self.records.values():
            result.nodes[record.node.id].CopyFrom(record.message(self.records))
        return result
