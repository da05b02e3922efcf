// The Python classes of graphs, operations and tensors.
#ifndef TENSORBRAID_PYTHON_BINDING_GRAPH_H_
#define TENSORBRAID_PYTHON_BINDING_GRAPH_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "binding/binding.h"
#include "binding/collected.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/variables/variable_scope.h"

namespace tensorbraid::python {

// Handles do not keep their graph, but Python's objects do: each has a reference to the Python object of its graph.
// That object refers to the objects of its elements in turn (GraphObjects), so that each element has one object as long
// as the graph exists. Python's garbage collector finds these cycles.
struct PyOperation {
  Operation operation;
  nb::object graph;
  // The objects of its tensors: none, or one for each output, which is null until Python asks for it.
  std::vector<nb::object> outputs;

  int Traverse(visitproc visit, void* arg) const;
  void Clear();
};
struct PyTensor {
  Output output;
  nb::object op;

  nb::object graph() const { return op.is_valid() ? nb::inst_ptr<PyOperation>(op)->graph : nb::object(); }
  int Traverse(visitproc visit, void* arg) const;
  void Clear();
};
struct PyVariable {
  Variable variable;
  nb::object graph;
};

// Returns the one Python object of an element.
using OperationObject = nb::typed<nb::object, PyOperation>;
using TensorObject = nb::typed<nb::object, PyTensor>;
using VariableObject = nb::typed<nb::object, PyVariable>;

// The objects of those elements of a graph that Python has asked for. REQUIRES: Python's lock.
class GraphObjects {
 public:
  // The object of an element of the graph whose Python object is `graph`.
  OperationObject Of(const Operation& operation, nb::handle graph);
  VariableObject Of(const Variable& variable, nb::handle graph);

  int Traverse(visitproc visit, void* arg) const;
  void Clear();

 private:
  absl::flat_hash_map<const Node*, nb::object> operations_;
  absl::flat_hash_map<const Node*, nb::object> variables_;  // by the node of the handle
};

// A graph that was made in Python.
struct PyGraph : public Graph {
  GraphObjects objects;

  int Traverse(visitproc visit, void* arg) const { return objects.Traverse(visit, arg); }
  void Clear() { objects.Clear(); }
};

// A device function that C++ has made, for Graph._device.
struct PyDeviceFunction {
  DeviceFunction function;
};

// The Python object of a graph that was made in Python.
nb::object GraphObject(Graph& graph);

// A list of sizes, where None is an unknown size; None for an unknown rank.
Shape ShapeOf(nb::handle dims);
nb::object DimsOf(const Shape& shape);

size_t HashOf(const PyOperation& operation);
size_t HashOf(const PyTensor& tensor);
size_t HashOf(const PyVariable& variable);

// The objects of elements; None for a handle that is not valid.
TensorObject Wrap(const Output& output);
OperationObject Wrap(const Operation& operation);
VariableObject Wrap(const Variable& variable);
// The object of a node that is being placed. `copy` is the copy of the node that C++ gives to a device function, with
// the device that the inner scopes have chosen.
OperationObject WrapPlaced(const Operation& copy);
// The object of output `index` of an operation.
TensorObject TensorAt(nb::handle operation, int index);
// A list of tensors of Python, from and to one of C++.
std::vector<Output> OutputsOf(nb::handle tensors);
nb::list ListOfTensors(const std::vector<Output>& outputs);
std::vector<Variable> VariablesOf(nb::handle variables);

// The initializer that calls a function of Python: initializer(shape, dtype, part), where `part` is None or the shape
// of the whole variable and the first row. None: null.
Initializer InitializerOf(nb::handle function);
// The initializer of C++ in an object of the class _core.Initializer.
Initializer NativeInitializerOf(nb::handle initializer);
// The partitioner that calls a function of Python with a shape and a dtype; null for None.
Partitioner PartitionerOf(nb::handle function);
// The regularizer that calls a function of Python, which returns a tensor or None. None: no penalty.
Regularizer RegularizerOf(nb::handle function);

// The operations that control dependencies and fetches name: those of operations, tensors and variables.
Operation OperationOf(nb::handle value);

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_GRAPH_H_
