#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "binding/graph.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/variable_ops.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/variables/embedding_variable.h"
#include "train/checkpoints/meta_graph.h"

namespace tensorbraid::python {
namespace {

// `initial_value` is a function that returns a value for OutputFor; it is called in the scope of the initializer. A
// variable whose `shape` is None has no fixed shape.
VariableObject MakeVariable(nb::handle self, nb::callable initial_value, nb::handle shape, int dtype,
                            const std::string& name, bool trainable, bool local) {
  Graph& graph = nb::cast<Graph&>(self);
  const ScopeGuard at = AtUserLine(graph);
  const Initializer initializer = [&](Graph& g, const Shape&, DType type) {
    return OutputFor(g, initial_value(), type, "initial_value");
  };
  const VariableOptions options = {.name = name,
                                   .dtype = static_cast<DType>(dtype),
                                   .trainable = trainable,
                                   .local = local,
                                   .fixed_shape = !shape.is_none()};
  const Variable variable(graph, ShapeOf(shape), initializer, options);
  CheckValues(graph);
  return Wrap(variable);
}

// The parts of a growing table. `partitioner` is a function for the number of parts, or None for a table in one part
// that is named like the whole. `initializer` is None if `matrix`, an array, has the initial rows. If it is
// regularized, tensorbraid.internal.embedding_variables has the function for its penalties.
nb::list MakeEmbeddingVariable(nb::handle self, int64_t dim, const std::string& name, nb::handle initializer,
                               nb::handle partitioner, bool trainable, int64_t filter_freq, float no_permission,
                               int64_t steps_to_live, double l2_threshold, int64_t max_rows, int64_t max_bytes,
                               bool skip_not_finite, int64_t filter_keys, double filter_error, int64_t matrix_rows,
                               nb::handle matrix, bool regularized, const std::string& restore_from,
                               const std::string& restored_name) {
  Graph& graph = nb::cast<Graph&>(self);
  const ScopeGuard at = AtUserLine(graph);
  const ScopeGuard top = graph.NameScope("");
  EmbeddingVariableOptions options = {.name = name,
                                      .matrix_rows = matrix_rows,
                                      .trainable = trainable,
                                      .filter_freq = filter_freq,
                                      .no_permission = no_permission,
                                      .filter_keys = filter_keys,
                                      .filter_error = filter_error,
                                      .evict = {.steps_to_live = steps_to_live,
                                                .l2_threshold = l2_threshold,
                                                .max_rows = max_rows,
                                                .max_bytes = max_bytes},
                                      .skip_not_finite = skip_not_finite,
                                      .restore_from = restore_from,
                                      .restored_name = restored_name};
  options.partitioner = PartitionerOf(partitioner);
  if (!initializer.is_none()) options.initializer = NativeInitializerOf(initializer);
  if (!matrix.is_none()) options.matrix = TensorOf(matrix, kFloat32);
  if (regularized) {
    options.regularizer = [name](const Output& rows) {
      const nb::module_ tables = nb::module_::import_("tensorbraid.internal.embedding_variables");
      const nb::object loss = tables.attr("penalty")(Wrap(rows), name);
      return loss.is_none() ? Output() : nb::cast<PyTensor&>(loss).output;
    };
  }
  const EmbeddingVariable table(graph, dim, options);
  CheckValues(graph);
  nb::list parts;
  for (const Variable& part : table.parts()) parts.append(Wrap(part));
  return parts;
}

TensorObject Read(const PyVariable& self) {
  Graph& graph = *self.variable.graph();
  const ScopeGuard at = AtUserLine(graph);
  const Output value = self.variable.Read();
  CheckBuilt(graph);
  return Wrap(value);
}

}  // namespace

void BindVariables(Module& m) {
  ElementClass<PyVariable>(m, "Variable")
      .def_static("_make", &MakeVariable, nb::arg("graph"), nb::arg("initial_value"), nb::arg("shape").none(),
                  nb::arg("dtype"), nb::arg("name"), nb::arg("trainable"), nb::arg("local"))
      .def_prop_ro("name", [](const PyVariable& self) { return self.variable.name() + ":0"; })
      .def_prop_ro("graph", [](const PyVariable& self) { return self.graph; })
      .def_prop_ro("_dtype", [](const PyVariable& self) { return static_cast<int>(self.variable.dtype()); })
      .def_prop_ro("_shape", [](const PyVariable& self) { return DimsOf(self.variable.shape()); })
      .def_prop_ro("trainable", [](const PyVariable& self) { return self.variable.trainable(); })
      .def_prop_ro("_local", [](const PyVariable& self) { return self.variable.local(); })
      .def_prop_ro("_is_reference", [](const PyVariable& self) { return self.variable.is_reference(); })
      // The op type for this variable that corresponds to `op`, an op type for resource variables.
      .def("_op_for", [](const PyVariable& self, const std::string& op) { return OpOnVariable(self.variable, op); })
      .def("_definition",
           [](const PyVariable& self) {
             const std::string bytes = VariableDefOf(self.variable);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def_prop_ro("op", [](const PyVariable& self) { return Wrap(self.variable.handle().op()); })
      .def_prop_ro("handle", [](const PyVariable& self) { return Wrap(self.variable.handle()); })
      .def_prop_ro("initializer", [](const PyVariable& self) { return Wrap(self.variable.initializer()); })
      .def_prop_ro("initial_value", [](const PyVariable& self) { return Wrap(self.variable.initial_value()); })
      // For a part of a larger variable: the larger one's name and shape, and the first row of the part.
      .def_prop_ro("_part_of",
                   [](const PyVariable& self) -> nb::object {
                     const VariablePart* const part = self.variable.part_of();
                     if (part == nullptr) return nb::none();
                     return nb::make_tuple(part->whole, DimsOf(part->shape), part->first_row);
                   })
      // For a growing table: the name of the whole, the number of the part and of all parts, and the name of the table
      // whose slot this is, or "". None for other variables.
      .def_prop_ro("_table",
                   [](const PyVariable& self) -> nb::object {
                     const TableDescription* const table = self.variable.table();
                     if (table == nullptr) return nb::none();
                     return nb::make_tuple(table->whole, table->part, table->parts, table->slot_of);
                   })
      .def("_num_rows",
           [](const PyVariable& self) {
             const ScopeGuard at = AtUserLine(*self.variable.graph());
             const Output rows = NumRowsOf(self.variable);
             CheckBuilt(*self.variable.graph());
             return Wrap(rows);
           })
      .def("value",
           [](const PyVariable& self) {
             return self.variable.table() != nullptr ? Read(self) : Wrap(self.variable.value());
           })
      // The tensor that value() gives outside of all scopes.
      .def_prop_ro("_shared_read", [](const PyVariable& self) { return Wrap(self.variable.shared_read()); })
      .def("read_value", &Read);
  m.def("variable_of", [](const PyTensor& tensor) -> nb::object {
    const std::string type = tensor.output.op().type();
    const Graph* const graph = tensorbraid::NodeOf(tensor.output)->graph();
    if (graph == nullptr || (type != "VarHandleOp" && type != "KvVarHandleOp" && type != "ReadVariableOp"))
      return nb::none();
    for (const Variable& variable : graph->variables()) {
      if (variable.handle() == tensor.output || variable.shared_read() == tensor.output) return Wrap(variable);
    }
    return nb::none();
  });
  m.def("make_embedding_variable", &MakeEmbeddingVariable, nb::arg("graph"), nb::arg("dim"), nb::arg("name"),
        nb::arg("initializer").none(), nb::arg("partitioner").none(), nb::arg("trainable"), nb::arg("filter_freq"),
        nb::arg("no_permission"), nb::arg("steps_to_live"), nb::arg("l2_threshold"), nb::arg("max_rows"),
        nb::arg("max_bytes"), nb::arg("skip_not_finite"), nb::arg("filter_keys"), nb::arg("filter_error"),
        nb::arg("matrix_rows"), nb::arg("matrix").none(), nb::arg("regularized"), nb::arg("restore_from"),
        nb::arg("restored_name"));
  m.def("variables", [](Graph& graph) {
    nb::list list;
    for (const Variable& variable : graph.variables()) list.append(Wrap(variable));
    return list;
  });
  m.def("variables_initializer", [](Graph& graph, nb::list variables, const std::string& name) {
    const ScopeGuard at = AtUserLine(graph);
    const Operation made = VariablesInitializer(graph, VariablesOf(variables), name);
    CheckBuilt(graph);
    return Wrap(made);
  });
  m.def("report_uninitialized_variables", [](Graph& graph, nb::list variables) {
    const ScopeGuard at = AtUserLine(graph);
    const Output names = ReportUninitializedVariables(graph, VariablesOf(variables));
    CheckBuilt(graph);
    return Wrap(names);
  });
}

}  // namespace tensorbraid::python
