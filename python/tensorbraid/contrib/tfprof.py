"""tf.contrib.tfprof: tf.profiler under its older names."""

import types

from tensorbraid import profiler
from tensorbraid.profiler import ProfileOptionBuilder

__all__ = ["model_analyzer", "tfprof_logger"]

TRAINABLE_VARS_PARAMS_STAT_OPTIONS = ProfileOptionBuilder.trainable_variables_parameter()
FLOAT_OPS_OPTIONS = ProfileOptionBuilder.float_operation()


def print_model_analysis(graph, run_meta=None, op_log=None, tfprof_cmd="scope", tfprof_options=None):
    """tf.profiler.profile. Returns the root of the nodes, with `total_parameters` and `total_float_ops`."""
    options = TRAINABLE_VARS_PARAMS_STAT_OPTIONS if tfprof_options is None else dict(tfprof_options)
    if "dump_to_file" in options:
        path = options.pop("dump_to_file")
        options["output"] = f"file:outfile={path}" if path else "stdout"
    options.pop("output_file", None)
    return profiler.profile(graph, run_meta, op_log, tfprof_cmd, options)


model_analyzer = types.ModuleType("tensorbraid.contrib.tfprof.model_analyzer", "Counts over a graph.")
model_analyzer.print_model_analysis = print_model_analysis
model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS = TRAINABLE_VARS_PARAMS_STAT_OPTIONS
model_analyzer.FLOAT_OPS_OPTIONS = FLOAT_OPS_OPTIONS
tfprof_logger = types.ModuleType("tensorbraid.contrib.tfprof.tfprof_logger", "Files for the program tfprof.")
tfprof_logger.write_op_log = profiler.write_op_log
