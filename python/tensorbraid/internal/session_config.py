"""The options of sessions and steps in ConfigProto and RunOptions messages of the package or of TensorFlow."""

from tensorbraid.internal import credentials, devices

__all__ = []

# Fields whose effects do not exist here, and whose values scripts set for speed.
_WITHOUT_EFFECT = {
    "intra_op_parallelism_threads", "use_per_session_threads", "session_inter_op_thread_pool", "placement_period",
    "graph_options", "rpc_options", "experimental", "executor_policy"}
_USED = {
    "device_count", "gpu_options", "inter_op_parallelism_threads", "allow_soft_placement", "log_device_placement",
    "operation_timeout_in_ms", "device_filters", "cluster_def", "isolate_session_state"}


def _check(message, known):
    """Raises NotImplementedError for a field that is set and that neither has an effect nor may be ignored."""
    for field, _ in message.ListFields():
        if field.name not in known:
            raise NotImplementedError(f"{message.DESCRIPTOR.name}.{field.name}")


def session_options(config, target):
    """The arguments of the C++ session for a ConfigProto, which may be None."""
    from tensorbraid import proto

    if config is None and (target or not devices.are_chosen()):
        return credentials.of_session(target)
    if config is None:
        config = proto.ConfigProto()

    config = proto.message("ConfigProto", config, "config")
    _check(config, _USED | _WITHOUT_EFFECT)
    options = {
        "device_count": dict(config.device_count),
        "inter_op_parallelism_threads": config.inter_op_parallelism_threads,
        "allow_soft_placement": config.allow_soft_placement,
        "log_device_placement": config.log_device_placement,
        "operation_timeout_ms": config.operation_timeout_in_ms,
    }
    if not target:
        gpus = config.gpu_options
        visible = devices.choose(options["device_count"], gpus.visible_device_list)
        options["gpu_options"] = (gpus.per_process_gpu_memory_fraction, gpus.allow_growth, visible)
    else:  # a session in this process has no other tasks
        options["device_filters"] = list(config.device_filters)
        options["isolate_session_state"] = config.isolate_session_state
        options["cluster"] = {job.name: dict(job.tasks) for job in config.cluster_def.job}
    return {**options, **credentials.of_session(target)}


def stage_lookups(config, graph):
    """Lets the lookups behind tf.staged run ahead of the steps, if a ConfigProto, which may be None, asks for it."""
    if graph.staged_inputs and config is not None and config.graph_options.optimizer_options.do_smart_stage:
        for staged in graph.staged_inputs:
            staged.look_up_ahead()


def text_of(config):
    """The text form of a ConfigProto; empty for None. For servers, which pass it on to sessions without one."""
    if config is None:
        return ""
    from google.protobuf import text_format

    from tensorbraid import proto

    config = proto.message("ConfigProto", config, "config")
    _check(config, _USED | _WITHOUT_EFFECT)
    return text_format.MessageToString(config)


def run_options(options):
    """The timeout in milliseconds, whether to trace, and whether to return graphs. `options` may be None."""
    if options is None:
        return 0, False, False
    from tensorbraid import proto

    options = proto.message("RunOptions", options, "options")
    _check(options, {"trace_level", "timeout_in_ms", "output_partition_graphs", "inter_op_thread_pool",
                     "report_tensor_allocations_upon_oom", "experimental"})
    return options.timeout_in_ms, options.trace_level != proto.RunOptions.NO_TRACE, options.output_partition_graphs


def check_callable_options(options):
    """Raises NotImplementedError for a field of a CallableOptions that would have no effect."""
    _check(options, {"feed", "fetch", "target", "run_options", "tensor_connection"})


def run_options_message(options):
    """The RunOptions for what `run_options` returns."""
    from tensorbraid import proto

    timeout, trace, graphs = options
    level = proto.RunOptions.FULL_TRACE if trace else proto.RunOptions.NO_TRACE
    return proto.RunOptions(timeout_in_ms=timeout, trace_level=level, output_partition_graphs=graphs)


def check_run_metadata(run_metadata):
    """Raises TypeError unless this is a RunMetadata of the package or of TensorFlow, or None."""
    if run_metadata is not None:
        from tensorbraid import proto

        proto.message("RunMetadata", run_metadata, "run_metadata")
