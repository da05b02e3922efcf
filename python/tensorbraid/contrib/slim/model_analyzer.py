"""tf.contrib.slim.model_analyzer: how large the tensors and the variables of a model are."""

__all__ = ["analyze_ops", "analyze_vars", "tensor_description"]


def tensor_description(var):
    """The type and the shape of a tensor or variable as text."""
    shape = var.shape.as_list() if var.shape.ndims is not None else None
    return f"({var.dtype.base_dtype.name} {'x'.join(map(str, shape)) if shape is not None else 'unknown'})"


def analyze_ops(graph, print_info=False):
    """The number of elements of all outputs of the graph's operations."""
    lines, total = [], 0
    for operation in graph.get_operations():
        size = sum(output.shape.num_elements() or 0 for output in operation.outputs)
        total += size
        if operation.outputs:
            outputs = ", ".join(f"{output.name} {tensor_description(output)}" for output in operation.outputs)
            lines.append(f"{operation.name} -> {outputs}: {size}")
    if print_info:
        print("---------", "Operations: name -> (type shapes) [size]", "---------", *lines,
              f"Total size: {total}", sep="\n")
    return total


def analyze_vars(variables, print_info=False):
    """The number of elements of the variables, and of their bytes."""
    lines, total, total_bytes = [], 0, 0
    for variable in variables:
        size = variable.shape.num_elements() or 0
        total += size
        total_bytes += size * variable.dtype.size
        lines.append(f"{variable.name} {tensor_description(variable)} [{size}, bytes: {size * variable.dtype.size}]")
    if print_info:
        print("---------", "Variables: name (type shape) [size]", "---------", *lines,
              f"Total size of variables: {total}", f"Total bytes of variables: {total_bytes}", sep="\n")
    return total, total_bytes
