"""Estimators whose models are ready: over feature columns, with heads for the kinds of labels."""

from tensorbraid.estimator.canned.baseline import *  # noqa: F401,F403
from tensorbraid.estimator.canned.combined import *  # noqa: F401,F403
from tensorbraid.estimator.canned.dnn import *  # noqa: F401,F403
from tensorbraid.estimator.canned.heads import *  # noqa: F401,F403
from tensorbraid.estimator.canned.linear import *  # noqa: F401,F403
from tensorbraid.estimator.canned.parsing import *  # noqa: F401,F403
