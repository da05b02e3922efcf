"""The class Graph."""

import contextlib
import re
import threading
import weakref

from tensorbraid import _core, dtypes, errors
from tensorbraid.internal import arguments
from tensorbraid.internal.default_stack import DefaultStack
from tensorbraid.internal.device_spec import DeviceSpec
from tensorbraid.internal.graph_elements import Operation, Tensor

default_graphs = DefaultStack()


class _ThreadState:
    """The scopes that a thread has opened in a graph. Other kinds of scopes are kept in C++."""

    def __init__(self):
        self.device_scopes = []  # the arguments of the open device() scopes, innermost last
        self.variable_scopes = []  # the open variable scopes, innermost last


def _device_name(device):
    return device.to_string() if isinstance(device, DeviceSpec) else device or ""


_ROOT_SCOPE = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_NESTED_SCOPE = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


class Graph(_core.Graph):
    """A dataflow graph. Source: tf.Graph."""

    def __init__(self):
        super().__init__()
        self._collections = {}
        # {thread: _ThreadState}. A threading.local would keep graphs alive, because its cycles are not collected.
        self._thread_states = weakref.WeakKeyDictionary()
        self._unfeedable, self._unfetchable = set(), set()
        self.host_functions = []  # of tf.py_func and datasets, which C++ calls
        self._finalized_because = "it runs in a training session"
        self.restrictions = 0  # how often prevent_feeding and prevent_fetching were called
        self._own_gradients, self._gradient_overrides, self._unmarked_from = {}, {}, 0  # see own_gradients.py
        self.growing_tables = {}  # by their full names
        self.table_regularizers = {}  # the functions for the penalties of their rows, by the same names
        self.staged_inputs, self.staging_targets = [], set()  # see train/staged_input.py
        self._imported_handles = set()  # names of variable handles that were imported from another program's graph

    @property
    def _here(self):
        """The state of the calling thread in this graph."""
        thread = threading.current_thread()
        state = self._thread_states.get(thread)
        if state is None:
            state = self._thread_states[thread] = _ThreadState()
        return state

    def as_default(self):
        """Makes this graph the default of this thread inside of the `with`."""
        return default_graphs.as_default(self)

    @contextlib.contextmanager
    def device(self, device_name_or_function):
        """Places the nodes that are made inside of the `with`."""
        if device_name_or_function is None:
            scope = self._no_device()
        elif isinstance(device_name_or_function, DeviceSpec):
            scope = self._device(device_name_or_function.to_string())
        elif callable(device_name_or_function) and not isinstance(device_name_or_function, _core.DeviceFunction):
            scope = self._device(lambda op: device_name_or_function(op) or "")
        else:
            arguments.check(isinstance(device_name_or_function, (str, _core.DeviceFunction)), "device_name_or_function",
                            "the name of a device, a function or None", device_name_or_function)
            scope = self._device(device_name_or_function)
        scopes = self._here.device_scopes
        scopes.append(device_name_or_function)
        try:
            with scope:
                yield
        finally:
            scopes.pop()

    def _apply_device_functions(self, op):
        """Applies the open device scopes to an imported operation.

        It may be an object of the program with `device` and one of the methods `_set_device_from_string`, which gets a
        name, and `_set_device`, which gets a DeviceSpec. Programs find out by it which device is chosen.
        """
        for scope in reversed(self._here.device_scopes):
            if scope is None:
                break
            device = scope(op) if callable(scope) else scope
            name = _core.merged_device(_device_name(op.device), _device_name(device))
            if isinstance(op, Operation):
                op._set_device(name)
            elif hasattr(op, "_set_device_from_string"):
                op._set_device_from_string(name)
            else:
                op._set_device(DeviceSpec.from_string(name))

    @contextlib.contextmanager
    def name_scope(self, name):
        """Prefixes the names of nodes; yields the prefix, which ends with "/"."""
        arguments.check(name is None or isinstance(name, str), "name", "a string", name)
        if name and not (_NESTED_SCOPE if self._scope_name else _ROOT_SCOPE).match(name):
            raise ValueError(f"'{name}' is not a valid {'' if self._scope_name else 'root '}scope name")
        with self._name_scope(name or ""):
            scope = self._scope_name
            yield scope + "/" if scope else ""

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs):
        """Nodes made inside of the `with` run after `control_inputs`; None ignores the enclosing scopes."""
        operations = [] if control_inputs is None else arguments.items(
            "control_inputs", control_inputs, "a list of operations and tensors")
        with arguments.named("control_inputs", "a list of operations and tensors", control_inputs):
            ignores_scopes = control_inputs is None  # an empty list adds none to those of the enclosing scopes
            scope = self._control_dependencies(operations) if operations or ignores_scopes else contextlib.nullcontext()
        with scope:
            yield

    @contextlib.contextmanager
    def container(self, container_name):
        """A scope whose variables, queues and other state are in this container of their device."""
        with self._container(container_name):
            yield container_name

    @contextlib.contextmanager
    def colocate_with(self, op):
        """A scope in which new operations are put on the device of this one."""
        with arguments.named("op", "an operation, a tensor or a variable", op):
            scope = self._colocate_with(op)
        with scope:
            yield

    def get_operation_by_name(self, name):
        """The operation of this name; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name):
        """The tensor of this name, "loss:0"; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_operation=False)

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """The tensor or operation that `obj` is, names or stands for."""
        if not (allow_tensor or allow_operation):
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        kinds = " or ".join(["a Tensor"] * allow_tensor + ["an Operation"] * allow_operation)
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._value_of(self._element_by_name(obj, allow_tensor, allow_operation))
        if isinstance(obj, _core.Variable):
            obj = obj._shared_read
        elif hasattr(obj, "_as_graph_element"):
            obj = obj._as_graph_element()
        elif hasattr(obj, "_as_graph_tensor"):
            obj = obj._as_graph_tensor()
        if not isinstance(obj, (Tensor,) * allow_tensor + (Operation,) * allow_operation):
            raise TypeError(f"Can not convert a {type(obj).__name__} into {kinds}.")
        if obj.graph is not self:
            raise ValueError(f"{obj} is not an element of this graph.")
        return obj

    def _value_of(self, element):
        """The variable's value if `element` is the handle of a variable, otherwise `element`.

        The names of both are exchanged in TensorFlow 1, where "w:0" is the value of the variable w.
        """
        if getattr(element, "dtype", None) != dtypes.resource or element.name in self._imported_handles:
            return element
        variable = _core.variable_of(element)
        return element if variable is None else variable._shared_read

    def _element_by_name(self, name, allow_tensor, allow_operation):
        if ":" not in name:
            if not allow_operation:
                raise ValueError(f"The name '{name}' refers to an Operation, not a Tensor. Tensor names must be of the "
                                 'form "<op_name>:<output_index>".')
            return self._found(lambda: self._operation(name), f"the operation '{name}' is not in the graph")
        op_name, _, index = name.rpartition(":")
        if not allow_tensor:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
        if ":" in op_name or not index.isdigit():
            raise ValueError(f"'{name}' is no name of a tensor: Tensor names must be of the form "
                             '"<op_name>:<output_index>".')
        return self._found(lambda: self._tensor(name), f"the tensor '{name}' is not in the graph")

    @staticmethod
    def _found(find, message):
        """The result of `find`; KeyError if the graph does not have it. C++ suggests the nearest name."""
        try:
            return find()
        except (errors.NotFoundError, errors.InvalidArgumentError) as error:
            raise KeyError(f"{message}: {error.message}") from None

    @property
    def version(self):
        """A number that grows with each node: the number of nodes."""
        return len(self.get_operations())

    building_function = False
    lifted_variables = None  # see lifted_variables.py

    def unique_name(self, name, mark_as_used=True):
        """A name that no node or scope has, in the open name scope."""
        if not mark_as_used:
            raise NotImplementedError("mark_as_used=False")
        return _core.unique_name(self, name)

    def get_name_scope(self):
        """The open name scope, "tower/conv"; "" outside of all."""
        return self._scope_name

    def prevent_feeding(self, tensor):
        """Makes it an error to feed this tensor."""
        self._unfeedable.add(tensor)
        self.restrictions += 1

    def prevent_fetching(self, op):
        """Makes it an error to fetch this operation."""
        self._unfetchable.add(op)
        self.restrictions += 1

    def is_feedable(self, tensor):
        """Whether the tensor may be fed."""
        return tensor not in self._unfeedable

    def is_fetchable(self, tensor_or_op):
        """Whether the tensor or operation may be fetched."""
        return getattr(tensor_or_op, "op", tensor_or_op) not in self._unfetchable

    # Collections.

    @property
    def collections(self):
        """The names of all collections."""
        return list(self._collections)

    def _check_not_finalized(self):
        if self.finalized:
            raise RuntimeError(f"Graph is finalized and cannot be modified: {self._finalized_because}.")

    def _check_addition(self, name):
        """Raises an error if a node of this name may not be added."""
        self._check_not_finalized()
        arguments.check(isinstance(name, str), "name", "a string", name)
        if name.startswith("_") and not self._scope_name:
            raise ValueError(f"'{name}' is not a valid node name")

    def _op(self, *args):
        try:
            return self._add(super()._op, args)
        except TypeError as error:
            op_type, inputs = args[:2]
            if any(value is None for value in inputs):
                raise ValueError(arguments.about(None, "None values not supported.")) from None
            raise TypeError(self._about_input(op_type, inputs, str(error))) from None

    def _about_input(self, op_type, inputs, text):
        """The message `text` about a value that no tensor can hold, with the argument or the input that has it."""
        if text.endswith("object is not iterable"):
            for value, argument in zip(inputs, self.op_def_for_type(op_type).input_arg):
                if (argument.number_attr or argument.type_list_attr) and not hasattr(value, "__iter__"):
                    return arguments.about(
                        value, f"input '{argument.name}' of {op_type} must be a list, but got {value!r}")
        if re.fullmatch(r"input '\w+' of \w+ cannot be \w+", text):
            return f"{text}; it can be {', '.join(self._allowed_dtypes(op_type, text.split(chr(39))[1]))}"
        if not text.startswith("expected "):
            return text
        parts = [(i, part) for i, value in enumerate(inputs)
                 for part in (value if isinstance(value, (list, tuple)) else [value])]
        found = [(i, part) for i, part in parts + list(enumerate(inputs)) if f"got {part!r}" in text]
        if not found:
            return text
        i, value = found[0]
        message = arguments.about(value, text)
        if message != text:
            return message
        return f"input '{self.op_def_for_type(op_type).input_arg[i].name}' of {op_type}: {text}"

    def _allowed_dtypes(self, op_type, name):
        """The names of the dtypes that an input of an op can have."""
        definition = self.op_def_for_type(op_type)
        wanted = next(argument.type_attr for argument in definition.input_arg if argument.name == name)
        allowed = next(attr.allowed_values.list.type for attr in definition.attr if attr.name == wanted)
        return [dtypes.as_dtype(number).name for number in allowed]

    def _const(self, *args):
        if args[0] is None:
            raise ValueError(arguments.about(None, "None values not supported.", "value"))
        return self._add(self._converted, args)

    def _converted(self, value, *args):
        try:
            return super()._const(value, *args)
        except UnicodeError:
            raise
        except (TypeError, ValueError) as error:
            text = str(error)
            if not args[0]:  # no dtype was given
                text = text.replace("expected a string or bytes", "expected numbers or strings")
            raise type(error)(arguments.about(value, text, "value")) from None

    def _add(self, function, args):
        """Adds nodes. A wrong shape or name is a ValueError, as in TensorFlow; in a step it is InvalidArgumentError."""
        self._check_addition(args[-1])
        try:
            return function(*args)
        except errors.InvalidArgumentError as error:
            raise ValueError(error.message) from None

    def add_to_collection(self, name, value):
        """Adds a value to the collection of this name."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        """Adds a value to one collection, or to each of several."""
        for name in dict.fromkeys((names,) if isinstance(names, str) else arguments.items("names", names)):
            self.add_to_collection(name, value)

    def get_collection(self, name, scope=None):
        """The items of a collection; with a `scope`, those whose names begin with this regular expression."""
        with arguments.named("name", "a name", name):
            items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        arguments.text("scope", scope)
        return [item for item in items if re.match(scope, getattr(item, "name", None) or "") and hasattr(item, "name")]

    def get_collection_ref(self, name):
        """The collection itself: a change of the list changes it."""
        return self._collections.setdefault(name, [])

    def get_all_collection_keys(self):
        """The names of the collections that are not empty."""
        return [key for key in self._collections if isinstance(key, str)]

    def clear_collection(self, name):
        """Removes all that is in a collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)

    def finalize(self, because="Graph.finalize was called"):
        """Forbids to change the graph from now on. Mistakes say why."""
        self._finalized_because = because
        self._finalize(because)
