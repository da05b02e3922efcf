// Library functions of Python programs, and the descriptions of tensors that they need.
#ifndef TENSORBRAID_PYTHON_BINDING_FUNCTIONS_H_
#define TENSORBRAID_PYTHON_BINDING_FUNCTIONS_H_

#include <vector>

#include "binding/graph.h"
#include "tensorbraid/graph/library_function.h"

namespace tensorbraid::python {

// A list of pairs of the number of a dtype and the sizes of a shape.
std::vector<TensorSpec> SpecsOf(nb::handle pairs);
nb::list PairsOf(const std::vector<TensorSpec>& specs);

struct PyFunction {
  LibraryFunction function;
  nb::object graph;
};

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_FUNCTIONS_H_
