#include "train/checkpoints/saved_part.h"

#include <utility>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
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

}  // namespace

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

Operation SavedPart::SaveRows(Graph& g, const Output& prefix, const SaveKind& kind) const {
  return AddSaveOfTables(g, tables_, prefix, AfterFirst(kind), kind.recorded);
}

Operation SavedPart::Save(Graph& g, const Output& prefix, const SaveKind& kind, const Output& link,
                          bool with_rows) const {
  const FirstReads& first = kind.first;
  std::vector<Output> values;
  for (const SavedVariable* v : variables_) {
    const auto read = first.find(v);
    values.push_back(read != first.end() ? read->second : v->variable.Read());
  }
  for (const SavedState& state : states_.given) {
    for (const SavedState::Value& v : state.values) values.push_back(v.value);
  }
  std::vector<std::string> names = names_, slices = slices_;
  std::vector<DType> dtypes = dtypes_;
  if (states_.random != nullptr) states_.random->AddReads(g, &names, &values, &dtypes);
  if (link.valid()) {
    names.push_back(kLinkTensor);
    values.push_back(link);
    dtypes.push_back(kString);
  }
  const size_t rows = values.size();
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
                        std::vector<RestoredNames>* names) const {
  for (const SavedTable& table : tables_) assigned->push_back(table.AddRestore(g, full, kind.restored));
  const Output& prefix = kind.newest.valid() ? kind.newest : full;
  if (names_.empty()) return;
  names->push_back({StringConst(g, Tensor::Vector(names_), "RestoreV2/tensor_names"), names_});
  const Operation restored = NodeBuilder(g, "RestoreV2")
                                 .Input(prefix)
                                 .Input(names->back().tensor)
                                 .Input(StringConst(g, Tensor::Vector(restored_slices_), "RestoreV2/shape_and_slices"))
                                 .Attr("dtypes", dtypes_)
                                 .Finish();
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
  }
  auto next = static_cast<int>(variables_.size());
  for (const SavedState& state : states_.given) {
    std::vector<Output> values;
    for (size_t i = 0; i < state.values.size(); ++i) values.push_back(restored.output(next++));
    assigned->push_back(state.restore(values));
  }
}

}  // namespace tensorbraid
