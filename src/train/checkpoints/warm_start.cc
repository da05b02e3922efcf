// Compares the variables of a graph with a checkpoint.
#include <set>

#include "checkpoint/bundle_reader.h"
#include "checkpoint/tensor_slice.h"
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "tensorbraid/train/saver.h"

namespace tensorbraid {

StatusOr<CheckpointCoverage> CoverageOf(const std::string& checkpoint, const Graph& graph,
                                        const std::vector<SavedVariable>& variables) {
  TF_ASSIGN_OR_RETURN(const auto bundle, BundleReader::Open(checkpoint));
  std::vector<SavedVariable> all = variables;
  for (const Variable& v : graph.variables()) {
    if (variables.empty() && !v.local()) all.emplace_back(v);
  }
  CheckpointCoverage coverage;
  std::set<std::string> missing;  // a variable in parts is listed once
  for (const SavedVariable& v : all) {
    const auto saved = bundle->Find(v.name);
    if (!saved.ok()) {
      if (missing.insert(v.name).second) coverage.missing.push_back(v.name);
      continue;
    }
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
