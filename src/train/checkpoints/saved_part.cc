#include "train/checkpoints/saved_part.h"

#include <utility>

#include "checkpoint/changed_rows.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "train/checkpoints/increment_series.h"

namespace tensorbraid {
namespace {

Operation AfterFirst(const SaveKind& kind) {
  return kind.first.empty() ? Operation() : kind.first.begin()->second.op();
}

// "4 2 -:-": the whole of a tensor that must have shape [4,2]. With this slice, RestoreV2 refuses a tensor of another
// shape; with "", it would accept any shape. Scalars and empty tensors have no such form; see CheckContents.
std::string WholeOf(const Shape& shape) {
  std::string sizes, slice;
  for (const int64_t dim : shape.dims()) {
    if (dim == 0) return "";
    sizes += StrCat(dim, " ");
    slice += slice.empty() ? "-" : ":-";
  }
  return sizes + slice;
}

// Whether the op updates rows of its inputs that are variables. Other updates of these change the whole value.
bool UpdatesRows(const std::string& op) {
  return op.starts_with("ResourceSparseApply") || op.starts_with("_ResourceSparseApply") ||
         (op.starts_with("ResourceScatter") && !op.starts_with("ResourceScatterNd"));
}

int64_t FirstRowOf(const SavedVariable& v) {
  const VariablePart* const part = v.variable.part_of();
  return part == nullptr || v.shape_and_slice.empty() ? 0 : part->first_row;
}

// Adds the tensors of the rows of a variable that have changed.
void AddChangedRows(Graph& g, const SavedVariable& v, const RecordedSave& recorded, std::vector<std::string>* names,
                    std::vector<Output>* values) {
  auto place = g.ColocateWith(v.variable.handle().op());
  const Operation changed = NodeBuilder(g, "_ChangedRows")
                                .Input(recorded.number)
                                .Input(recorded.predecessor)
                                .Input(v.variable.handle())
                                .Attr("dtype", v.variable.dtype())
                                .Attr("first_row", FirstRowOf(v))
                                .Finish();
  if (!changed.valid()) return;
  names->push_back(ChangedRowsName(v.name, FirstRowOf(v)));
  names->push_back(ChangedValuesName(v.name, FirstRowOf(v)));
  for (int i = 0; i < 2; ++i) values->push_back(changed.output(i));
}

}  // namespace

std::set<const SavedVariable*> UpdatedByRows(const Graph& graph, const std::vector<const SavedVariable*>& variables) {
  std::set<const Node*> handles;
  {
    const GraphLock lock(graph);
    for (const auto& node : ImplOf(graph).nodes()) {
      if (!UpdatesRows(node->type())) continue;
      for (const Output& input : node->inputs()) handles.insert(NodeOf(input));
    }
  }
  std::set<const SavedVariable*> by_rows;
  for (const SavedVariable* v : variables) {
    if (v->variable.table() != nullptr || !handles.contains(NodeOf(v->variable.handle()))) continue;
    // Scalars have no rows. A rule for rows may have some, such as the powers of Adam's betas.
    if (v->variable.shape().has_rank() && v->variable.shape().rank() == 0) continue;
    // The slices of other savers need not be those of rows.
    if (v->shape_and_slice.empty() || v->variable.part_of() != nullptr) by_rows.insert(v);
  }
  return by_rows;
}

Output StringConst(Graph& g, const Tensor& value, const std::string& name) {
  return NodeBuilder(g, "Const").Name(name).Attr("value", value).Attr("dtype", kString).Output();
}

SavedPart::SavedPart(const SavedSet& saved, bool reshape, States states)
    : tables_(saved.tables), reshape_(reshape), states_(std::move(states)) {
  for (const SavedVariable* v : saved.variables) {
    if (v->variable.table() == nullptr) variables_.push_back(v);
  }
  for (const SavedVariable* v : variables_) {
    names_.push_back(v->name);
    slices_.push_back(v->shape_and_slice);
    const bool is_whole = v->shape_and_slice.empty();
    restored_slices_.push_back(!is_whole ? v->shape_and_slice : reshape ? "" : WholeOf(v->variable.shape()));
    dtypes_.push_back(v->variable.dtype());
  }
  for (const SavedState& state : states_.given) {
    for (const SavedState::Value& v : state.values) {
      names_.push_back(v.name);
      slices_.push_back(v.shape_and_slice);
      restored_slices_.push_back(v.shape_and_slice);
      dtypes_.push_back(v.value.dtype());
    }
  }
}

Operation SavedPart::RecordRows(Graph& g, const SavedVariable& v, const Output& save, const Output& predecessor,
                                const Operation& after) const {
  auto place = g.ColocateWith(v.variable.handle().op());
  Output none = predecessor;
  if (!none.valid()) {
    none = NodeBuilder(g, "Const").Attr("value", Tensor::Scalar<int64_t>(0)).Attr("dtype", kInt64).Output();
  }
  NodeBuilder record(g, "_RecordRows");
  record.Input(save).Input(none).Input(v.variable.handle());
  if (after.valid()) record.Control(after);
  return record.Finish();
}

Operation SavedPart::SaveRows(Graph& g, const Output& prefix, const SaveKind& kind) const {
  return AddSaveOfTables(g, tables_, prefix, AfterFirst(kind), kind.recorded);
}

Operation SavedPart::Save(Graph& g, const Output& prefix, const SaveKind& kind, const Output& link,
                          bool with_rows) const {
  const FirstReads& first = kind.first;
  std::vector<Output> values;
  std::vector<std::string> names, slices;
  std::vector<DType> dtypes;
  const auto add_name = [&](size_t i) {
    names.push_back(names_[i]);
    slices.push_back(slices_[i]);
    dtypes.push_back(dtypes_[i]);
  };
  std::vector<Output> changed;
  std::vector<std::string> names_of_changed;
  for (size_t i = 0; i < variables_.size(); ++i) {
    const SavedVariable* const v = variables_[i];
    const bool by_rows = kind.recorded != nullptr && kind.by_rows.contains(v);
    if (by_rows && kind.recorded->only_changes) {
      AddChangedRows(g, *v, *kind.recorded, &names_of_changed, &changed);
      continue;
    }
    add_name(i);
    const auto read = first.find(v);
    if (read != first.end()) {
      values.push_back(read->second);
      continue;
    }
    std::vector<Operation> before;
    if (by_rows) before.push_back(RecordRows(g, *v, kind.recorded->number, kind.recorded->predecessor, Operation()));
    auto after = g.ControlDependencies(before);
    values.push_back(v->variable.Read());
  }
  for (size_t i = variables_.size(); i < names_.size(); ++i) add_name(i);
  for (const SavedState& state : states_.given) {
    for (const SavedState::Value& v : state.values) values.push_back(v.value);
  }
  if (states_.random != nullptr) states_.random->AddReads(g, &names, &values, &dtypes);
  if (link.valid()) {
    names.push_back(kLinkTensor);
    values.push_back(link);
    dtypes.push_back(kString);
  }
  const size_t rows = values.size();
  names.insert(names.end(), names_of_changed.begin(), names_of_changed.end());
  values.insert(values.end(), changed.begin(), changed.end());
  for (const SavedTable& table : tables_) {
    if (with_rows) table.AddReads(g, AfterFirst(kind), kind.recorded, &names, &values);
  }
  for (size_t i = rows; i < values.size(); ++i) dtypes.push_back(values[i].dtype());
  slices.resize(names.size());
  return NodeBuilder(g, "SaveV2")
      .Input(prefix)
      .Input(StringConst(g, Tensor::Vector(names), "SaveV2/tensor_names"))
      .Input(StringConst(g, Tensor::Vector(slices), "SaveV2/shape_and_slices"))
      .InputList(values)
      .Attr("dtypes", dtypes)
      .Finish();
}

void SavedPart::Restore(Graph& g, const Output& full, const SaveKind& kind, std::vector<Operation>* assigned,
                        RestoreInputs* inputs) const {
  for (const SavedTable& table : tables_) {
    assigned->push_back(table.AddRestore(g, full, kind.restored, &inputs->chosen));
  }
  if (names_.empty()) return;
  inputs->names.push_back({StringConst(g, Tensor::Vector(names_), "RestoreV2/tensor_names"), names_});
  NodeBuilder restore(g, kind.restored != nullptr ? "_RestoreIncrements" : "RestoreV2");
  restore.Input(full)
      .Input(inputs->names.back().tensor)
      .Input(StringConst(g, Tensor::Vector(restored_slices_), "RestoreV2/shape_and_slices"));
  if (kind.restored != nullptr) restore.Input(kind.restored->increments);
  const Operation restored = restore.Attr("dtypes", dtypes_).Finish();
  if (!restored.valid()) return;
  for (size_t i = 0; i < variables_.size(); ++i) {
    Output value = restored.output(static_cast<int>(i));
    const Shape& shape = variables_[i]->variable.shape();
    if (reshape_ && variables_[i]->shape_and_slice.empty() && shape.is_fully_defined()) {
      const Tensor sizes = Tensor::Vector(std::vector<int64_t>(shape.dims().begin(), shape.dims().end()));
      const Output to = NodeBuilder(g, "Const").Attr("value", sizes).Attr("dtype", kInt64).Output();
      value = NodeBuilder(g, "Reshape").Input(value).Input(to).Output();
    }
    assigned->push_back(variables_[i]->variable.Assign(value));
    if (kind.restored != nullptr && kind.by_rows.contains(variables_[i])) {
      assigned->push_back(RecordRows(g, *variables_[i], kind.restored->number, Output(), assigned->back()));
    }
  }
  auto next = static_cast<int>(variables_.size());
  for (const SavedState& state : states_.given) {
    std::vector<Output> values;
    for (size_t i = 0; i < state.values.size(); ++i) values.push_back(restored.output(next++));
    assigned->push_back(state.restore(values));
  }
}

}  // namespace tensorbraid
