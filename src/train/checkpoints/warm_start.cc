// Compares the variables of a graph with a checkpoint.
#include <map>
#include <set>

#include "checkpoint/tensor_slice.h"
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "tensorbraid/checkpoint/checkpoint.h"
#include "tensorbraid/train/saver.h"
#include "train/checkpoints/saved_tables.h"

namespace tensorbraid {

namespace {

using Tensors = std::map<std::string_view, const CheckpointReader::TensorInfo*>;

// Compares the rows of a growing table, or of a slot of one, with the checkpoint.
void CompareRows(const SavedVariable& v, const Tensors& tensors, CheckpointCoverage* coverage,
                 std::set<std::string>* missing) {
  const CheckpointReader::TensorInfo* saved = nullptr;
  for (const std::string& name : NamesOfRows(v)) {
    const auto found = tensors.find(name);
    if (found != tensors.end()) saved = found->second;
  }
  if (saved == nullptr) {
    const std::string whole = WholeNameOf(v);
    if (missing->insert(whole).second) coverage->missing.push_back(whole);
    return;
  }
  const int64_t dim = v.variable.shape().dim(1);
  if (saved->dtype == kFloat32 && saved->shape.rank() == 2 && saved->shape.dim(1) == dim) {
    coverage->restorable.push_back(v);
    return;
  }
  coverage->differing.push_back(StrCat("growing table '", v.variable.name(), "', ",
                                       NodeOf(v.variable.handle())->location(), ": its rows have ", dim,
                                       " float32 numbers, but the checkpoint holds ", saved->dtype, saved->shape));
}

}  // namespace

StatusOr<CheckpointCoverage> CoverageOf(const std::string& checkpoint, const Graph& graph,
                                        const std::vector<SavedVariable>& variables) {
  TF_ASSIGN_OR_RETURN(const auto reader, CheckpointReader::Open(checkpoint));
  Tensors tensors;
  for (const auto& tensor : reader->tensors()) tensors[tensor.name] = &tensor;
  std::vector<SavedVariable> all = variables;
  for (const Variable& v : graph.variables()) {
    if (variables.empty() && !v.local()) all.emplace_back(v);
  }
  std::vector<const SavedVariable*> pointers;
  for (const SavedVariable& v : all) pointers.push_back(&v);
  const auto in_other_parts =
      NamesInOtherParts(pointers, [&](const std::string& name) { return tensors.contains(name); });
  CheckpointCoverage coverage;
  std::set<std::string> missing;  // a variable in parts is listed once
  for (const SavedVariable& v : all) {
    if (v.variable.table() != nullptr) {
      CompareRows(v, tensors, &coverage, &missing);
      continue;
    }
    const auto other = in_other_parts.find(v.name);
    const auto found = tensors.find(other == in_other_parts.end() ? v.name : other->second);
    if (found == tensors.end()) {
      if (missing.insert(v.name).second) coverage.missing.push_back(v.name);
      continue;
    }
    const CheckpointReader::TensorInfo* const saved = found->second;
    Shape shape = v.variable.shape();
    if (!v.shape_and_slice.empty()) {
      TF_ASSIGN_OR_RETURN(const ShapeAndSlice part, ParseShapeAndSlice(v.shape_and_slice));
      shape = part.shape;
    }
    if (saved->dtype == v.variable.dtype() && saved->shape == shape) {
      coverage.restorable.push_back(v);
      continue;
    }
    const std::string as = v.name == v.variable.name() ? "" : StrCat(" (saved as '", v.name, "')");
    coverage.differing.push_back(StrCat("variable '", v.variable.name(), "'", as, ", ",
                                        NodeOf(v.variable.handle())->location(), ": it is ", v.variable.dtype(), shape,
                                        ", but the checkpoint holds ", saved->dtype, saved->shape));
  }
  return coverage;
}

}  // namespace tensorbraid
