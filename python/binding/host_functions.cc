// Functions of Python that steps call: tf.py_func and datasets from generators.
#include "binding/host_functions.h"

#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "binding/coordinator.h"
#include "binding/python_calls.h"
#include "tensorbraid/graph/host_function.h"

namespace tensorbraid::python {
namespace {

constexpr const char* kProgramEnds = "the program is ending, so its functions are not called any more";

// What `call` returns, with Python's lock; a status if it throws, or if the program is ending.
template <typename Call>
auto WithPython(Call call) -> decltype(call()) {
  const PythonCall python;
  if (!python.allowed()) return absl::CancelledError(kProgramEnds);
  try {
    return call();
  } catch (nb::python_error& error) {
    return StatusOf(error.value());
  } catch (const StatusError& error) {
    return error.status();
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

// Refers to a function of Python without keeping it: the Python object of the graph keeps the function, and the
// function usually refers to objects of that graph. C++ cannot take part in the collection of such a cycle.
class WeakFunction {
 public:
  explicit WeakFunction(nb::handle function)
      : reference_(Shared(nb::module_::import_("weakref").attr("ref")(function))) {}

  // Calls it with arrays for the tensors. Takes Python's lock. `use` turns the result into a value of C++.
  template <typename Use>
  auto Call(const std::vector<Tensor>& inputs, Use use) const -> decltype(use(nb::object())) {
    return WithPython([&]() -> decltype(use(nb::object())) {
      const nb::object function = (*reference_)();
      if (function.is_none())
        return absl::FailedPreconditionError("the graph of this function of Python has been deleted");
      nb::list arrays;
      for (const Tensor& input : inputs) arrays.append(ArrayOf(input));
      return use(function(*nb::tuple(arrays)));
    });
  }

 private:
  const std::shared_ptr<nb::object> reference_;
};

std::vector<DType> DTypesOf(nb::handle numbers) {
  std::vector<DType> types;
  for (const nb::handle number : numbers) types.push_back(static_cast<DType>(nb::cast<int>(number)));
  return types;
}

// The tensors for the arrays of a sequence. A value keeps the dtype that NumPy gives it.
std::vector<Tensor> TensorsOf(nb::handle values, const std::vector<DType>& types) {
  std::vector<Tensor> tensors;
  for (const nb::handle value : values) {
    const bool is_text = tensors.size() < types.size() && types[tensors.size()] == DType::kString;
    tensors.push_back(TensorOf(value, is_text ? DType::kString : DType::kInvalid));
  }
  return tensors;
}

// Calls function(*arrays), which returns a list of arrays. Returns the tensors and the operation.
nb::tuple Call(nb::handle graph, nb::handle function, nb::handle inputs, nb::handle types, bool stateful,
               const std::string& name) {
  Graph& g = nb::cast<Graph&>(graph);
  std::vector<Operand> operands;
  for (const Output& output : OutputsOf(inputs)) operands.emplace_back(output);
  const std::vector<DType> results = DTypesOf(types);
  const ScopeGuard at = AtUserLine(g);
  const Operation call = CallHostFunction(
      g,
      [results, called = WeakFunction(function)](const std::vector<Tensor>& values) {
        return called.Call(
            values, [&](nb::object returned) -> StatusOr<std::vector<Tensor>> { return TensorsOf(returned, results); });
      },
      operands, results, {.stateful = stateful, .name = name});
  CheckBuilt(g);
  std::vector<Output> outputs;
  for (size_t i = 0; i < results.size(); ++i) outputs.push_back(call.output(static_cast<int>(i)));
  return nb::make_tuple(ListOfTensors(outputs), Wrap(call));
}

}  // namespace

data::Dataset DatasetOfGenerator(Graph& graph, nb::handle begin, nb::handle args, const data::Specs& element) {
  std::vector<Operand> operands;
  for (const Output& output : OutputsOf(args)) operands.emplace_back(output);
  std::vector<DType> types;
  for (const TensorSpec& spec : element) types.push_back(spec.dtype);
  return data::Dataset::FromCallback(
      graph, element,
      [types, begin = WeakFunction(begin)](const std::vector<Tensor>& values) {
        return begin.Call(values, [&](nb::object next) -> StatusOr<data::ElementSource> {
          return data::ElementSource(
              [types, next = Shared(std::move(next))]() -> StatusOr<std::optional<std::vector<Tensor>>> {
                return WithPython([&]() -> StatusOr<std::optional<std::vector<Tensor>>> {
                  const nb::object arrays = (*next)();
                  if (arrays.is_none()) return std::nullopt;
                  return TensorsOf(arrays, types);
                });
              });
        });
      },
      operands);
}

void BindHostFunctions(Module& m) {
  m.def("call_host_function", &Call, nb::arg("graph"), nb::arg("function"), nb::arg("inputs"), nb::arg("dtypes"),
        nb::arg("stateful"), nb::arg("name"));
}

}  // namespace tensorbraid::python
