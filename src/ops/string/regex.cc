// Ops that apply regular expressions to strings: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// The output has the shape of input 0. All other inputs are scalars.
Status ScalarArguments(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0));
  return UnchangedShape(c);
}

}  // namespace

void RegisterStringRegexOps(OpRegistry& r) {
  r.Add(Op("RegexReplace")
            .Input("input: string")
            .Input("pattern: string")
            .Input("rewrite: string")
            .Output("output: string")
            .Attr("replace_global: bool = true")
            .Shape(ScalarArguments)
            .NotDifferentiable());
  r.Add(Op("StaticRegexReplace")
            .Input("input: string")
            .Output("output: string")
            .Attr("pattern: string")
            .Attr("rewrite: string")
            .Attr("replace_global: bool = true")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("RegexFullMatch")
            .Input("input: string")
            .Input("pattern: string")
            .Output("output: bool")
            .Shape(ScalarArguments)
            .NotDifferentiable());
  r.Add(Op("StaticRegexFullMatch")
            .Input("input: string")
            .Output("output: bool")
            .Attr("pattern: string")
            .Shape(UnchangedShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
