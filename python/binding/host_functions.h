// Datasets whose elements come from functions of Python.
#ifndef TENSORBRAID_PYTHON_BINDING_HOST_FUNCTIONS_H_
#define TENSORBRAID_PYTHON_BINDING_HOST_FUNCTIONS_H_

#include "binding/graph.h"
#include "tensorbraid/data/dataset.h"

namespace tensorbraid::python {

// begin(*arrays) gets the values of `args`, and returns a function that returns a list of arrays, the next element, or
// None at the end. The Python object of the graph must keep `begin`.
data::Dataset DatasetOfGenerator(Graph& graph, nb::handle begin, nb::handle args, const data::Specs& element);

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_HOST_FUNCTIONS_H_
