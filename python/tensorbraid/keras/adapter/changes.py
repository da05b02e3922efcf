"""Which modules of the library are changed once they are loaded, and by what."""

from tensorbraid.keras.adapter import layer, network, op_layer

__all__ = []

_CHANGES = {
    "keras.engine.base_layer": layer.change,
    "keras.layers": op_layer.change_layers,
    "keras.engine.network": network.change,
    "keras.engine.sequential": network.change_sequential,
}


def apply(name, module):
    """Changes the library's module of this name, such as "keras.engine.base_layer"."""
    change = _CHANGES.get(name)
    if change is not None:
        change(module)
