"""Which modules of the library are checked, after the adapter has changed them."""

from tensorbraid.keras.checks import calls, files, names, training, weights

__all__ = []

_CHANGES = {
    "keras.utils.generic_utils": names.change,
    "keras.engine.base_layer": lambda module: (names.change_layer(module), calls.change(module),
                                               weights.change(module)),
    "keras.engine.network": lambda module: (calls.change_network(module), weights.change_network(module),
                                            files.change_network(module)),
    "keras.engine.saving": files.change,
    "keras.engine.sequential": calls.change_sequential,
    "keras.engine.training": training.change,
    "keras.losses": names.change_losses,
    "keras.metrics": names.change_metrics,
    "keras.optimizers": names.change_optimizers,
}


def apply(name, module):
    """Checks the calls of the library's module of this name, such as "keras.engine.base_layer"."""
    change = _CHANGES.get(name)
    if change is not None:
        change(module)
