"""tf.contrib.learn: what programs of the first versions of TensorFlow use around an Estimator."""

from tensorbraid.contrib.learn import datasets, estimators, learn_runner, preprocessing, utils  # noqa: F401
from tensorbraid.contrib.learn.estimators.canned import *  # noqa: F401,F403
from tensorbraid.contrib.learn.estimators.estimator import *  # noqa: F401,F403
from tensorbraid.contrib.learn.estimators.inputs import *  # noqa: F401,F403
from tensorbraid.contrib.learn.estimators.metric_spec import *  # noqa: F401,F403
from tensorbraid.contrib.learn.experiment import *  # noqa: F401,F403
from tensorbraid.contrib.learn.run_config import *  # noqa: F401,F403
from tensorbraid.contrib.learn.utils import ExportStrategy, make_export_strategy  # noqa: F401
