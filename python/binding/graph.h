// The classes of Python that stand for a graph and what is in it.
#ifndef TENSORBRAID_PYTHON_BINDING_GRAPH_H_
#define TENSORBRAID_PYTHON_BINDING_GRAPH_H_

#include <vector>

#include "binding/binding.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/variables/variable_scope.h"

namespace tensorbraid::python {

// Handles do not keep their graph, but Python's objects do: each has a reference to the Python object of its graph.
struct PyTensor {
  Output output;
  nb::object graph;
};
struct PyOperation {
  Operation operation;
  nb::object graph;
};
struct PyVariable {
  Variable variable;
  nb::object graph;
};

// Lets Python's collector of garbage find cycles that pass through the references of T to its graph: the graph's
// collections hold tensors, which hold the graph.
template <typename T>
int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<T>(self)->graph.ptr());
  return 0;
}
template <typename T>
int Clear(PyObject* self) {
  nb::inst_ptr<T>(self)->graph.reset();
  return 0;
}
template <typename T>
PyType_Slot* Collected() {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&Traverse<T>)},
                                {Py_tp_clear, reinterpret_cast<void*>(&Clear<T>)},
                                {0, nullptr}};
  return slots;
}

// A device function that C++ has made, for Graph._device.
struct PyDeviceFunction {
  DeviceFunction function;
};

// The Python object of a graph that was made in Python.
nb::object GraphObject(Graph& graph);

// A list of sizes, of which None stands for an unknown one; None for an unknown rank.
Shape ShapeOf(nb::handle dims);
nb::object DimsOf(const Shape& shape);

PyTensor Wrap(const Output& output);
PyOperation Wrap(const Operation& operation);
PyVariable Wrap(const Variable& variable);
std::vector<Variable> VariablesOf(nb::handle variables);

// The initializer that calls a function of Python: initializer(shape, dtype, part), where `part` is None or the shape
// of the whole variable and the first row. None: null.
Initializer InitializerOf(nb::handle function);
// The regularizer that calls a function of Python, which returns a tensor or None. None: no penalty.
Regularizer RegularizerOf(nb::handle function);

// The operations that control dependencies and fetches name: those of operations, tensors and variables.
Operation OperationOf(nb::handle value);

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_GRAPH_H_
