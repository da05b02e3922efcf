"""tf.train: training, clusters and servers."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from tensorbraid.internal.meta_graphs import *  # noqa: F401,F403
from tensorbraid.train.async_replicas import *  # noqa: F401,F403
from tensorbraid.train.basic_hooks import *  # noqa: F401,F403
from tensorbraid.train.basic_loops import *  # noqa: F401,F403
from tensorbraid.train.checkpoint_values import *  # noqa: F401,F403
from tensorbraid.train.checkpoints import *  # noqa: F401,F403
from tensorbraid.train.cluster import *  # noqa: F401,F403
from tensorbraid.train.coordinator import *  # noqa: F401,F403
from tensorbraid.train.event_files import *  # noqa: F401,F403
from tensorbraid.train.global_step import *  # noqa: F401,F403
from tensorbraid.train.hooks import *  # noqa: F401,F403
from tensorbraid.train.imported_graphs import *  # noqa: F401,F403
from tensorbraid.train.inputs import *  # noqa: F401,F403
from tensorbraid.train.learning_rates import *  # noqa: F401,F403
from tensorbraid.train.listeners import *  # noqa: F401,F403
from tensorbraid.train.monitored_session import *  # noqa: F401,F403
from tensorbraid.train.moving_average import *  # noqa: F401,F403
from tensorbraid.train.optimizer import *  # noqa: F401,F403
from tensorbraid.train.queue_runner import *  # noqa: F401,F403
from tensorbraid.train.recommender_rules import *  # noqa: F401,F403
from tensorbraid.train.rules import *  # noqa: F401,F403
from tensorbraid.train.saver import *  # noqa: F401,F403
from tensorbraid.train.scaffold import *  # noqa: F401,F403
from tensorbraid.train.session_manager import *  # noqa: F401,F403
from tensorbraid.train.staged_input import mark_target_node as mark_target_node  # noqa: F401
from tensorbraid.train.supervisor import *  # noqa: F401,F403
from tensorbraid.train.sync_replicas import *  # noqa: F401,F403

if _TYPE_CHECKING:  # names that protobuf_messages.py finds
    from tensorbraid.proto import (  # noqa: F401
        BytesList as BytesList, ClusterDef as ClusterDef, Example as Example, Feature as Feature,
        FeatureList as FeatureList, FeatureLists as FeatureLists, Features as Features, FloatList as FloatList,
        Int64List as Int64List, JobDef as JobDef, SaverDef as SaverDef, SequenceExample as SequenceExample,
        ServerDef as ServerDef)
