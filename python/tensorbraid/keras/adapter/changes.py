"""Which modules of the library are changed once they are loaded, and by what."""

from tensorbraid.keras import (added_arguments, added_cells, added_constraints, added_layers, added_metrics,
                               cloned_models, configurations, positional_arguments, saved_models)
from tensorbraid.keras.adapter import (backend, defaults, layer, metric, network, normalization, optimizer,
                                       training)

__all__ = []

_CHANGES = {
    "keras.backend.tensorflow_backend": backend.change,
    "keras.callbacks": added_arguments.change_callbacks,
    "keras.constraints": added_constraints.change,
    "keras.engine.base_layer": layer.change,
    "keras.initializers": defaults.change_initializers,
    "keras.layers": added_layers.change,
    "keras.engine.input_layer": added_arguments.change_input_layer,
    "keras.engine.network": network.change,
    "keras.engine.saving": saved_models.change,
    "keras.engine.sequential": network.change_sequential,
    "keras.engine.training": training.change,
    "keras.engine.training_utils": training.change_utils,
    "keras.layers.core": defaults.change_core,
    "keras.layers.normalization": normalization.change,
    "keras.layers.recurrent": defaults.change_recurrent,
    "keras.layers.wrappers": added_cells.change_wrappers,
    "keras.legacy.interfaces": positional_arguments.change,
    "keras.losses": added_metrics.change_losses,
    "keras.metrics": metric.change,
    "keras.regularizers": configurations.change,
    "keras.utils.losses_utils": added_arguments.change_losses_utils,
    "keras.utils.metrics_utils": metric.change_utils,
    "keras.models": cloned_models.change,
    "keras.optimizers": optimizer.change,
}


def apply(name, module):
    """Changes the library's module of this name, such as "keras.engine.base_layer"."""
    change = _CHANGES.get(name)
    if change is not None:
        change(module)
