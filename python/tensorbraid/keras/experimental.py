"""tf.keras.experimental: further learning rates, layers of sequences, and models as SavedModels."""

from tensorbraid.internal import refused_keras as _refused
from tensorbraid.keras import added_cells as _added_cells, dense_features as _dense_features, library as _library
from tensorbraid.keras.optimizers.schedules import (CosineDecay, CosineDecayRestarts, LinearCosineDecay,
                                                    NoisyLinearCosineDecay)
from tensorbraid.keras.saved_models import export_saved_model, load_from_saved_model

__all__ = ["CosineDecay", "CosineDecayRestarts", "LinearCosineDecay", "NoisyLinearCosineDecay", "PeepholeLSTMCell",
           "SequenceFeatures", "export_saved_model", "load_from_saved_model"]

SequenceFeatures = _dense_features.classes(_library.module("engine.base_layer").Layer)[1]
PeepholeLSTMCell = _added_cells.peephole_lstm_cell()


def __getattr__(name):
    _refused.check(f"experimental.{name}")
    raise AttributeError(f"module 'tensorbraid.keras.experimental' has no attribute '{name}'")
