// What the files of the Python module share. Each Bind function adds the classes of one subject to the module.
#ifndef TENSORBRAID_PYTHON_BINDING_BINDING_H_
#define TENSORBRAID_PYTHON_BINDING_BINDING_H_

#include <nanobind/nanobind.h>

#include <exception>
#include <string>
#include <utility>

#include "binding/docs.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid::python {

namespace nb = nanobind;

void BindErrors(Module& m);
void BindArrays(Module& m);
void BindPythonCalls(Module& m);
void BindLog(Module& m);
void BindGraph(Module& m);
void BindGraphElements(Module& m);
void BindVariables(Module& m);
void BindControlFlow(Module& m);
void BindFunctions(Module& m);
void BindHostFunctions(Module& m);
void BindDatasets(Module& m);
void BindVariableScopes(Module& m);
void BindEmbeddings(Module& m);
void BindRnn(Module& m);
void BindLosses(Module& m);
void BindOptimizers(Module& m);
void BindSession(Module& m);
void BindCluster(Module& m);
void BindOpLibraries(Module& m);
void BindSaver(Module& m);
void BindFileWriter(Module& m);
void BindCoordinator(Module& m);
void BindHooks(Module& m);
void BindMonitoredSession(Module& m);
void BindSessionManager(Module& m);
void BindSupervisor(Module& m);
void BindRecords(Module& m);
void BindOwnGradients(Module& m);

// An error of the library on its way to Python, where it becomes the class of tensorbraid.errors for its code.
class StatusError final : public std::exception {
 public:
  explicit StatusError(Status status) : status_(std::move(status)), text_(status_.message()) {}
  const Status& status() const { return status_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  const Status status_;
  const std::string text_;
};

// Throws StatusError unless the status is OK.
inline void Check(const Status& status) {
  if (!status.ok()) throw StatusError(status);
}
template <typename T>
T Check(StatusOr<T> value) {
  Check(value.status());
  return *std::move(value);
}

// The message "WHAT, but got VALUE" for a value of Python that cannot be converted. `what` says what it must be.
std::string NotConverted(const std::string& what, nb::handle value);
// Returns convert(), which converts `value` by nb::cast. Raises TypeError with NotConverted's message if it cannot.
template <typename F>
auto Converted(const std::string& what, nb::handle value, const F& convert) {
  try {
    return convert();
  } catch (const nb::cast_error&) {
    throw nb::type_error(NotConverted(what, value).c_str());
  }
}

// A NumPy array with the tensor's value. The array owns its memory: it is the tensor's buffer if nothing else uses it,
// otherwise a copy. Strings become an array of bytes objects. The result for a scalar is a NumPy scalar, or bytes.
nb::object ArrayOf(Tensor tensor);
// Whether the value is a numpy.ndarray, not an object of a subclass.
bool IsNumPyArray(nb::handle value);
// A tuple of the sizes. REQUIRES: shape.is_fully_defined().
nb::object DimsTuple(const Shape& shape);
// The tensor for a Python value: a NumPy array, a number, a string, or nested sequences of them. With a `dtype`, as
// tf.constant converts to it; kInvalid: float64 and int64 values of Python become float32 and int32. Objects with
// __dlpack__ are tensors, too. Raises TypeError
// or ValueError as tf.constant does.
Tensor TensorOf(nb::handle value, DType dtype);

// A scope in which new nodes name the line of the user's Python program that called the package.
ScopeGuard AtUserLine(Graph& graph);
// The tensor for a value as NumPy converts it to the dtype, as TensorFlow does with what is fed: numbers in arrays of
// objects, floating point numbers in lists for integers, numbers as text. An invalid tensor if NumPy cannot.
Tensor TensorByNumPy(nb::handle value, DType dtype);

// Raises the first error that building has recorded since the last call, and forgets it. TensorFlow's graphs, too, can
// be used after an error.
void CheckBuilt(Graph& graph);
// The same for what raises a ValueError in TensorFlow.
void CheckValues(Graph& graph);

// The tensor of `graph` for a Python value: a Tensor, a Variable (its value), an object with a method
// `_as_graph_tensor(dtype)`, or a value for TensorOf, which becomes a Const node called `name`.
Output OutputFor(Graph& graph, nb::handle value, DType dtype, const std::string& name);
bool IsTensorLike(nb::handle value);

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_BINDING_H_
