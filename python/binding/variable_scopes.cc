// Variable scopes, variables by name, and initial values.
#include "variables/variable_scopes.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "binding/graph.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/variables/initializers.h"
#include "tensorbraid/variables/partitioned_variable.h"
#include "tensorbraid/variables/variable_scope.h"

namespace tensorbraid::python {
namespace {

VariableScopes& ScopesOf(Graph& graph) { return ImplOf(graph).thread_extension<VariableScopes>(); }

// A context manager for an open variable scope, like Scope for the scopes of graph.cc.
class OpenVariableScope {
 public:
  explicit OpenVariableScope(ScopeGuard guard) : guard_(std::move(guard)) {}
  void Exit() { guard_.reset(); }

 private:
  std::optional<ScopeGuard> guard_;
};

// How a scope is opened: inside of the open one, the same with a unique name, or again by its full name.
enum class Opened { kInside, kUnique, kAgain };

OpenVariableScope Open(Graph& graph, const std::string& name, Opened opened) {
  const ScopeGuard at = AtUserLine(graph);
  ScopeGuard guard = graph.VariableScope(opened == Opened::kAgain && !name.empty() ? name + "/" : name,
                                         {.unique = opened == Opened::kUnique, .name_scope = false});
  // The scopes of Python know what they inherit. The scope at the top level, too, can be opened again.
  VariableScopes::Scope& scope = ScopesOf(graph).open.back();
  if (opened == Opened::kAgain) scope.name = name;
  scope.reuse = Reuse::kInherit;
  CheckBuilt(graph);
  return OpenVariableScope(std::move(guard));
}

}  // namespace

namespace {

// An initializer of C++ as an object of Python.
struct PyInitializer {
  Initializer initializer;
};

}  // namespace

Initializer InitializerOf(nb::handle function) {
  if (function.is_none()) return nullptr;
  return [function = nb::borrow(function)](Graph& graph, const Shape& shape, DType dtype) {
    nb::object part = nb::none();
    if (const auto& whole = ImplOf(graph).initialized_part()) {
      part = nb::make_tuple(DimsOf(whole->shape), whole->first_row);
    }
    try {
      return OutputFor(graph, function(DimsOf(shape), static_cast<int>(dtype), part), dtype, "initial_value");
    } catch (...) {
      ImplOf(graph).set_initialized_part(std::nullopt);
      throw;
    }
  };
}

Regularizer RegularizerOf(nb::handle function) {
  if (function.is_none()) return NoRegularizer();
  return [function = nb::borrow(function)](const Output& value) {
    const nb::object loss = function(Wrap(value));
    return loss.is_none() ? Output() : nb::cast<PyTensor&>(loss).output;
  };
}

namespace {

Initializer NativeInitializerOf(nb::handle initializer) { return nb::cast<PyInitializer&>(initializer).initializer; }

Partitioner PartitionerOf(nb::handle function) {
  if (function.is_none()) return nullptr;
  return [function](const Shape& shape, DType dtype) {
    return nb::cast<int64_t>(function(DimsOf(shape), static_cast<int>(dtype)));
  };
}

// Makes or shares the variable with this full name. Returns its parts: one, or several with a partitioner. Errors are
// ValueErrors, as those of tf.get_variable.
nb::list GetVariables(Graph& graph, const std::string& full_name, nb::handle shape, int dtype, Reuse::Mode reuse,
                      nb::handle initializer, nb::handle regularizer, nb::handle partitioner, bool trainable,
                      bool local) {
  const ScopeGuard at = AtUserLine(graph);
  std::vector<VariableScopes::Scope>& open = ScopesOf(graph).open;
  // Python's scopes determine name and defaults, also at the top level.
  VariableScopes::Scope scope;
  scope.reuse = reuse;
  scope.reuse_line = ImplOf(graph).UserLine(std::source_location::current());
  open.push_back(std::move(scope));
  struct Close {
    std::vector<VariableScopes::Scope>& open;
    ~Close() { open.pop_back(); }
  } const close{open};
  const GetVariableOptions options = {.initializer = InitializerOf(initializer),
                                      .regularizer = RegularizerOf(regularizer),
                                      .dtype = static_cast<DType>(dtype),
                                      .trainable = trainable,
                                      .local = local};
  std::vector<Variable> parts;
  if (partitioner.is_none()) {
    parts.push_back(GetVariable(graph, full_name, ShapeOf(shape), options));
  } else {
    parts = GetPartitionedVariable(graph, full_name, ShapeOf(shape), PartitionerOf(partitioner), options).parts();
  }
  CheckValues(graph);
  nb::list list;
  for (const Variable& part : parts) list.append(Wrap(part));
  return list;
}

TensorObject InitialValue(const Initializer& initializer, Graph& graph, nb::handle shape, int dtype) {
  const ScopeGuard at = AtUserLine(graph);
  const Output value = initializer(graph, ShapeOf(shape), static_cast<DType>(dtype));
  CheckValues(graph);
  return Wrap(value);
}

int64_t SeedOf(nb::handle seed) {
  if (seed.is_none()) return 0;
  const auto number = nb::cast<int64_t>(seed);
  return number == 0 ? kSeedZero : number;
}

int64_t NumParts(const Partitioner& partitioner, nb::handle shape, int dtype) {
  return partitioner(ShapeOf(shape), static_cast<DType>(dtype));
}

struct PyPartitioner {
  Partitioner partitioner;
};

}  // namespace

void BindVariableScopes(Module& m) {
  Enum<Opened>(m, "OpenedScope")
      .value("INSIDE", Opened::kInside)
      .value("UNIQUE", Opened::kUnique)
      .value("AGAIN", Opened::kAgain);
  Enum<Reuse::Mode>(m, "Reuse")
      .value("INHERIT", Reuse::kInherit)
      .value("MUST_EXIST", Reuse::kMustExist)
      .value("AUTO", Reuse::kAuto);
  Enum<FanMode>(m, "FanMode")
      .value("FAN_IN", FanMode::kFanIn)
      .value("FAN_OUT", FanMode::kFanOut)
      .value("FAN_AVG", FanMode::kFanAverage);
  Enum<ScalingDistribution>(m, "ScalingDistribution")
      .value("TRUNCATED_NORMAL", ScalingDistribution::kTruncatedNormal)
      .value("UNTRUNCATED_NORMAL", ScalingDistribution::kUntruncatedNormal)
      .value("UNIFORM", ScalingDistribution::kUniform);
  Class<OpenVariableScope>(m, "OpenVariableScope")
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](OpenVariableScope& self, nb::args) { self.Exit(); });
  m.def("open_variable_scope", &Open);
  m.def("variable_scope_name", [](const Graph& graph) { return VariableScopeName(graph); });
  m.def("get_variables", &GetVariables, nb::arg("graph"), nb::arg("full_name"), nb::arg("shape").none(),
        nb::arg("dtype"), nb::arg("reuse"), nb::arg("initializer").none(), nb::arg("regularizer").none(),
        nb::arg("partitioner").none(), nb::arg("trainable"), nb::arg("local"));
  m.def("has_variable",
        [](Graph& graph, const std::string& full_name) { return VariableByName(graph, full_name).valid(); });

  Class<PyInitializer>(m, "Initializer")
      .def("__call__", [](const PyInitializer& self, Graph& graph, nb::handle shape, int dtype) {
        return InitialValue(self.initializer, graph, shape, dtype);
      });
  m.def("constant_initializer", [](double value) { return PyInitializer{Constant(value)}; });
  m.def("zeros_initializer", [] { return PyInitializer{Zeros()}; });
  m.def("ones_initializer", [] { return PyInitializer{Ones()}; });
  m.def(
      "random_uniform_initializer",
      [](double low, double high, nb::handle seed) { return PyInitializer{RandomUniform(low, high, SeedOf(seed))}; },
      nb::arg("low"), nb::arg("high"), nb::arg("seed").none());
  m.def(
      "random_normal_initializer",
      [](double mean, double stddev, nb::handle seed) {
        return PyInitializer{RandomNormal(mean, stddev, SeedOf(seed))};
      },
      nb::arg("mean"), nb::arg("stddev"), nb::arg("seed").none());
  m.def(
      "truncated_normal_initializer",
      [](double mean, double stddev, nb::handle seed) {
        return PyInitializer{TruncatedNormal(mean, stddev, SeedOf(seed))};
      },
      nb::arg("mean"), nb::arg("stddev"), nb::arg("seed").none());
  m.def(
      "variance_scaling_initializer",
      [](double scale, FanMode mode, ScalingDistribution distribution, nb::handle seed) {
        return PyInitializer{
            VarianceScaling({.scale = scale, .mode = mode, .distribution = distribution, .seed = SeedOf(seed)})};
      },
      nb::arg("scale"), nb::arg("mode"), nb::arg("distribution"), nb::arg("seed").none());
  m.def(
      "orthogonal_initializer",
      [](double gain, nb::handle seed) { return PyInitializer{Orthogonal(gain, SeedOf(seed))}; }, nb::arg("gain"),
      nb::arg("seed").none());
  m.def("identity_initializer", [](double gain) { return PyInitializer{IdentityMatrix(gain)}; });

  Class<PyPartitioner>(m, "Partitioner").def("__call__", [](const PyPartitioner& self, nb::handle shape, int dtype) {
    return NumParts(self.partitioner, shape, dtype);
  });
  m.def("fixed_size_partitioner", [](int64_t parts) { return PyPartitioner{FixedSizePartitioner(parts)}; });
  m.def("variable_axis_size_partitioner", [](int64_t bytes, int64_t string_bytes, int64_t max_parts) {
    return PyPartitioner{
        VariableAxisSizePartitioner(bytes, {.bytes_per_string_element = string_bytes, .max_parts = max_parts})};
  });
  m.def("min_max_variable_partitioner", [](int64_t max_parts, int64_t min_bytes, int64_t string_bytes) {
    return PyPartitioner{MinMaxVariablePartitioner(
        {.max_parts = max_parts, .min_part_bytes = min_bytes, .bytes_per_string_element = string_bytes})};
  });
}

}  // namespace tensorbraid::python
