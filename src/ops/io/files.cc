// ReadFile, WriteFile and MatchingFiles: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status ScalarInputs(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0));
  return ScalarShape(c);
}

Status MatchingPathsShape(ShapeContext& c) {
  c.set_output(0, Shape({-1}));
  return OkStatus();
}

}  // namespace

void RegisterIoFilesOps(OpRegistry& r) {
  r.Add(Op("ReadFile")
            .Input("filename: string")
            .Output("contents: string")
            .Impure()
            .Shape(ScalarInputs)
            .NotDifferentiable());
  r.Add(Op("WriteFile")
            .Input("filename: string")
            .Input("contents: string")
            .Stateful()
            .Shape(ScalarInputs)
            .NotDifferentiable());
  r.Add(Op("MatchingFiles")
            .Input("pattern: string")
            .Output("filenames: string")
            .Impure()
            .Shape(MatchingPathsShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
