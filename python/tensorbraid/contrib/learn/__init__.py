"""tf.contrib.learn: what programs of the first versions of TensorFlow use around an Estimator."""

from tensorbraid.contrib.learn import (  # noqa: F401
    datasets as datasets, estimators as estimators, learn_runner as learn_runner, preprocessing as preprocessing,
    utils as utils)
from tensorbraid.contrib.learn.estimators.canned import *  # noqa: F401,F403
from tensorbraid.contrib.learn.estimators.estimator import *  # noqa: F401,F403
from tensorbraid.contrib.learn.estimators.inputs import *  # noqa: F401,F403
from tensorbraid.contrib.learn.estimators.metric_spec import *  # noqa: F401,F403
from tensorbraid.contrib.learn.experiment import *  # noqa: F401,F403
from tensorbraid.contrib.learn.run_config import *  # noqa: F401,F403
from tensorbraid.contrib.learn.utils import (  # noqa: F401
    ExportStrategy as ExportStrategy, make_export_strategy as make_export_strategy)
