"""tf.estimator: models that are trained, evaluated and exported in a uniform way, alone or on a cluster."""

from tensorbraid.estimator import (  # noqa: F401
    experimental as experimental, export as export, inputs as inputs, tpu as tpu)
from tensorbraid.estimator.canned import *  # noqa: F401,F403
from tensorbraid.estimator.estimator import *  # noqa: F401,F403
from tensorbraid.estimator.exporter import *  # noqa: F401,F403
from tensorbraid.estimator.extenders import *  # noqa: F401,F403
from tensorbraid.estimator.run_config import *  # noqa: F401,F403
from tensorbraid.estimator.spec import *  # noqa: F401,F403
from tensorbraid.estimator.training import *  # noqa: F401,F403
from tensorbraid.train.checkpoint_values import (  # noqa: F401
    VocabInfo as VocabInfo, WarmStartSettings as WarmStartSettings)
from tensorbraid.train import (  # noqa: F401
    CheckpointSaverHook as CheckpointSaverHook, CheckpointSaverListener as CheckpointSaverListener,
    FeedFnHook as FeedFnHook, FinalOpsHook as FinalOpsHook, GlobalStepWaiterHook as GlobalStepWaiterHook,
    LoggingTensorHook as LoggingTensorHook, NanLossDuringTrainingError as NanLossDuringTrainingError,
    NanTensorHook as NanTensorHook, ProfilerHook as ProfilerHook, SecondOrStepTimer as SecondOrStepTimer,
    SessionRunArgs as SessionRunArgs,
    SessionRunContext as SessionRunContext, SessionRunHook as SessionRunHook, SessionRunValues as SessionRunValues,
    StepCounterHook as StepCounterHook, StopAtStepHook as StopAtStepHook, SummarySaverHook as SummarySaverHook)
