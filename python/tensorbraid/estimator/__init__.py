"""tf.estimator: models that are trained, evaluated and exported in a uniform way, alone or on a cluster."""

from tensorbraid.estimator import inputs  # noqa: F401
from tensorbraid.estimator.estimator import *  # noqa: F401,F403
from tensorbraid.estimator.run_config import *  # noqa: F401,F403
from tensorbraid.estimator.spec import *  # noqa: F401,F403
from tensorbraid.train.checkpoint_values import VocabInfo, WarmStartSettings  # noqa: F401
