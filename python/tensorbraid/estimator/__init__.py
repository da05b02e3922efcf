"""tf.estimator: models that are trained, evaluated and exported in a uniform way, alone or on a cluster."""

from tensorbraid.estimator import experimental, export, inputs, tpu  # noqa: F401
from tensorbraid.estimator.canned import *  # noqa: F401,F403
from tensorbraid.estimator.estimator import *  # noqa: F401,F403
from tensorbraid.estimator.exporter import *  # noqa: F401,F403
from tensorbraid.estimator.extenders import *  # noqa: F401,F403
from tensorbraid.estimator.run_config import *  # noqa: F401,F403
from tensorbraid.estimator.spec import *  # noqa: F401,F403
from tensorbraid.estimator.training import *  # noqa: F401,F403
from tensorbraid.train.checkpoint_values import VocabInfo, WarmStartSettings  # noqa: F401
from tensorbraid.train import (  # noqa: F401
    CheckpointSaverHook, CheckpointSaverListener, FeedFnHook, FinalOpsHook, GlobalStepWaiterHook, LoggingTensorHook,
    NanLossDuringTrainingError, NanTensorHook, SecondOrStepTimer, SessionRunArgs, SessionRunContext, SessionRunHook,
    SessionRunValues, StepCounterHook, StopAtStepHook, SummarySaverHook)
