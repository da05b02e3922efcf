"""Saving and restoring the variables of a graph."""

import copy
import os

from tensorbraid import _core, tf_logging as logging
from tensorbraid.internal import arguments, graphs, meta_graph_names, meta_graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.train import saveables

__all__ = ["Saver"]


class Saver:
    """Saves variables to checkpoints, and restores them. Source: tf.train.Saver."""

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5,
                 keep_checkpoint_every_n_hours=10000.0, name=None, restore_sequentially=False, saver_def=None,
                 builder=None, defer_build=False, allow_empty=False, write_version=2, pad_step_number=False,
                 save_relative_paths=False, filename=None, incremental_save_restore=False,
                 incremental_include_normal_var=False):
        for argument, value in (("saver_def", saver_def), ("builder", builder),
                                ("filename", filename)):
            if value:
                raise NotImplementedError(f"the argument {argument} of Saver")
        if write_version != 2:
            raise NotImplementedError("checkpoints of a format other than V2")
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                             "var_list=None.")
        self._var_list, self._saves_all = var_list, var_list is None
        self._allow_empty = allow_empty
        self._options = (max_to_keep or 0, keep_checkpoint_every_n_hours, True if sharded else None, pad_step_number,
                         name or "save", bool(reshape))
        self._follows_increments = False  # whether it restores increments, even if it saves none
        self._incremental = bool(incremental_save_restore)  # increments have all variables, whatever the second says
        self._native = None
        self._is_empty = False
        self._graph = graphs.get_default_graph()
        self._imported_def = None  # the SaverDef of an imported graph, whose own nodes restore
        if not defer_build:
            self.build()

    @classmethod
    def _imported(cls, saver_def, variables, max_to_keep):
        """The saver of an imported graph. It adds nodes to the graph only when it saves."""
        saver = cls(max_to_keep=max_to_keep, allow_empty=True, defer_build=True)
        saver._var_list = variables  # these only, even if the program adds more
        saver._imported_def = saver_def
        return saver

    def build(self):
        """Adds the operations that save and restore to the graph, if they have not been added."""
        if self._native is not None or self._is_empty:
            return
        named = _named(self._var_list, self._graph)
        if not named:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._is_empty = True
            return
        variables = [pair for pair in named if isinstance(pair[1], _core.Variable)]
        others = [saveable for _, saveable in named if isinstance(saveable, saveables.SaveableObject)]
        graph = variables[0][1].graph if variables else self._graph
        with graph.as_default():
            self._native = _core.Saver._make(graph, variables, *self._options, saveables.states(others),
                                             self._incremental, self._follows_increments)

    def _allow_increments(self):
        """Makes the saver one that saves increments. Before its graph is finalized."""
        if self._incremental:
            return
        if self._imported_def is not None:
            raise ValueError("the saver of an imported graph cannot save increments; make a tf.train.Saver with "
                             "incremental_save_restore=True")
        self._incremental = True
        self._build_again()

    def _follow_increments(self):
        """Makes the saver one that restores increments with the checkpoint that they follow. Before its graph is finalized.

        The saver of an imported graph stays as it is.
        """
        if self._follows_increments or self._incremental or self._imported_def is not None:
            return
        self._follows_increments = True
        self._build_again()

    def _sibling(self, follows_increments):
        """A saver of the same variables with operations of its own, which saves no increments."""
        made = copy.copy(self)
        made._native, made._incremental, made._follows_increments = None, False, follows_increments
        made.build()
        return made

    def _build_again(self):
        """Adds its operations anew, if there are any: they are not for increments."""
        if self._native is not None:
            kept, self._native = self._native.last_checkpoints, None
            self.build()
            self._native.recover_last_checkpoints(kept)

    @property
    def _core(self):
        self.build()
        if self._native is None:
            raise ValueError("the saver has nothing to save")
        return self._native

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta",
             write_meta_graph=True, write_state=True, strip_default_attrs=False, save_debug_info=False):
        """Writes a checkpoint. Returns its path, which `restore` takes; None if there is nothing to save.

        The path is `save_path`, followed by "-" and the number of the step if `global_step` is given: an int, or a
        tensor or variable.
        """
        if self._native is None and not self._is_empty and self._var_list is None:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        if meta_graph_suffix != "meta" or (write_meta_graph and not write_state):
            raise NotImplementedError("meta_graph_suffix other than 'meta', and a meta graph with write_state=False")
        if latest_filename is not None and os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        arguments.check(hasattr(sess, "_session"), "sess", "a Session", sess)
        arguments.path("save_path", save_path)
        if self._is_empty:
            return None
        if isinstance(global_step, (graphs.Tensor, _core.Variable)):
            global_step = sess.run(global_step)
        if not write_state:
            return self._save_once(sess, str(save_path), global_step)
        step = None if global_step is None else arguments.integer("global_step", global_step)
        if write_meta_graph:
            self._core.set_collections(meta_graphs.collection_defs(self._graph))
        written = self._core.save(sess._session(), str(save_path), step, latest_filename or "checkpoint",
                                  write_meta_graph)
        return os.path.join(os.path.dirname(str(save_path)), os.path.basename(written))

    def incremental_save(self, sess, save_path, global_step=None):
        """Saves what has changed since the last save of this saver, which has incremental_save_restore=True.

        Returns the path of the increment, or of the full checkpoint if one was due.
        """
        arguments.check(hasattr(sess, "_session"), "sess", "a Session", sess)
        arguments.path("save_path", save_path)
        if isinstance(global_step, (graphs.Tensor, _core.Variable)):
            global_step = sess.run(global_step)
        step = None if global_step is None else arguments.integer("global_step", global_step)
        self._core.set_collections(meta_graphs.collection_defs(self._graph))
        return self._core.save_increment(sess._session(), str(save_path), step)

    def _save_once(self, sess, path, step):
        """Writes a checkpoint that no file names and no later save removes."""
        if step is not None:
            path += f"-{int(step):08d}" if self._options[3] else f"-{int(step)}"
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        saver_def = self.as_saver_def()
        sess.run(saver_def.save_tensor_name, {saver_def.filename_tensor_name: os.path.abspath(path)})
        return path

    def restore(self, sess, save_path):
        """Sets the variables to the values in the checkpoint, so that they need no initializer.

        `save_path` is what `save` has returned, or tf.train.latest_checkpoint. Raises ValueError if there is no
        checkpoint at this path, NotFoundError if it lacks a variable, and InvalidArgumentError if a shape or dtype
        differs.
        """
        if self._is_empty and self._imported_def is None:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        arguments.path("save_path", save_path)
        arguments.check(hasattr(sess, "run"), "sess", "a tf.Session", sess)
        if not _core.checkpoint_exists(str(save_path)):
            raise ValueError("The passed save_path is not a valid checkpoint: " + str(save_path))
        if self._imported_def is not None:
            nodes = self._imported_def
            logging.info("Restoring parameters from %s", save_path)
            sess.run(nodes.restore_op_name, {nodes.filename_tensor_name: os.path.abspath(str(save_path))})
        else:
            self._core.restore(sess._session(), str(save_path))

    @property
    def last_checkpoints(self):
        """The checkpoints that this saver manages, oldest first."""
        return [] if self._native is None else self._native.last_checkpoints

    def recover_last_checkpoints(self, checkpoint_paths):
        """Takes over the management of checkpoints that an earlier process has written, oldest first."""
        self._core.recover_last_checkpoints([os.path.abspath(path) for path in checkpoint_paths])

    set_last_checkpoints = recover_last_checkpoints

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """Sets the checkpoints that exist, each with the time at which it was written."""
        self.recover_last_checkpoints([path for path, _ in last_checkpoints_with_time])

    def as_saver_def(self):
        """The SaverDef: the names of the nodes that save and restore. It is empty if there is nothing to save."""
        from tensorbraid import proto

        if self._imported_def is not None:
            return self._imported_def
        return proto.SaverDef() if self._is_empty else proto.MetaGraphDef.FromString(self._core.meta_graph()).saver_def

    def export_meta_graph(self, filename=None, collection_list=None, as_text=False, export_scope=None,
                          clear_devices=False, clear_extraneous_savers=False, strip_default_attrs=False,
                          save_debug_info=False):
        """The graph with this saver as a MetaGraphDef, which is also written to a file if one is named."""
        meta_graph = meta_graphs.meta_graph_of(self._graph, self.as_saver_def(), collection_list, clear_devices, None,
                                               export_scope, clear_extraneous_savers)
        meta_graphs.write(meta_graph, filename, as_text)
        return meta_graph

    def to_proto(self, export_scope=None):
        """The SaverDef.

        `export_scope` is removed from its names; None if the saver's nodes are outside of that scope.
        """
        saver_def = self.as_saver_def()
        return meta_graph_names.scoped(saver_def, export_scope) if export_scope else saver_def


def _named(var_list, graph):
    """Pairs (name, variable or SaveableObject). The name in the checkpoint is None if it is the variable's own name."""
    if var_list is None:
        saveable = graph.get_collection(GraphKeys.GLOBAL_VARIABLES) + graph.get_collection("saveable_objects")
        return [(None, _checked(v)) for v in dict.fromkeys(saveable)]
    if isinstance(var_list, dict):
        return [(name, _checked(v)) for name, v in var_list.items()]
    if isinstance(var_list, (_core.Variable, saveables.SaveableObject)):
        var_list = [var_list]
    named = [(None, _checked(v)) for v in arguments.items("var_list", var_list, "a list or a dictionary of variables")]
    names = [v.name for _, v in named]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"At least two variables have the same name: {name}")
    return named


def _checked(variable):
    if not isinstance(variable, (_core.Variable, saveables.SaveableObject)):
        raise TypeError(arguments.about(variable, f"Variable to save is not a Variable: {variable}"))
    return variable
