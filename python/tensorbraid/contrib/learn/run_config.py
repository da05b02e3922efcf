"""The options of tf.contrib.learn, which an Estimator gets."""

from tensorbraid.estimator import run_config

__all__ = ["ModeKeys", "RunConfig"]


class ModeKeys:
    """The mode for which a model is built."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


class RunConfig(run_config.RunConfig):
    """A tf.estimator.RunConfig with options of the session. Source: tf.contrib.learn.RunConfig."""

    def __init__(self, master=None, num_cores=0, log_device_placement=False, gpu_memory_fraction=1, tf_random_seed=None,
                 save_summary_steps=100, save_checkpoints_secs=600, save_checkpoints_steps=None, keep_checkpoint_max=5,
                 keep_checkpoint_every_n_hours=10000, log_step_count_steps=100, protocol=None, evaluation_master="",
                 model_dir=None, session_config=None):
        if evaluation_master:
            raise NotImplementedError("evaluation_master of RunConfig")
        if session_config is not None and (num_cores or log_device_placement or gpu_memory_fraction != 1):
            raise ValueError("num_cores, log_device_placement and gpu_memory_fraction of RunConfig have no effect with "
                             "a session_config: set them there")
        if save_checkpoints_steps is not None and save_checkpoints_secs == 600:
            save_checkpoints_secs = None  # the default
        if session_config is None:
            session_config = run_config.default_session_config()
            session_config.log_device_placement = log_device_placement
            session_config.inter_op_parallelism_threads = num_cores
            session_config.intra_op_parallelism_threads = num_cores
            session_config.gpu_options.per_process_gpu_memory_fraction = gpu_memory_fraction
        super().__init__(
            model_dir=model_dir, tf_random_seed=tf_random_seed, save_summary_steps=save_summary_steps,
            save_checkpoints_secs=save_checkpoints_secs, save_checkpoints_steps=save_checkpoints_steps,
            session_config=session_config, keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours, log_step_count_steps=log_step_count_steps,
            protocol=protocol)
        if master is not None:
            self._task.master = master
