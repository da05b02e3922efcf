// Array ops that pass a tensor through unchanged or reinterpret it, Empty, and ops that convert data formats: schemas,
// shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

Status BitcastShape(ShapeContext& c) {
  Shape s = c.input(0);
  if (!s.has_rank()) return OkStatus();
  const size_t from = DTypeSize(c.input_dtype(0)), to = DTypeSize(c.attr<DType>("type"));
  if (from > to) {
    s.AddDim(static_cast<int64_t>(from / to));
  } else if (from < to) {
    const int last = s.rank() - 1;
    const auto ratio = static_cast<int64_t>(to / from);
    if (last < 0 || (s.dim(last) >= 0 && s.dim(last) != ratio)) {
      return InvalidArgument("the last dimension of ", c.input(0), " must have size ", ratio, " to bitcast to ",
                             c.attr<DType>("type"));
    }
    s = Shape(s.dims().first(last));
  }
  c.set_output(0, s);
  return OkStatus();
}

Status EnsureShapeShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape both, c.input(0).MergeWith(c.attr<Shape>("shape")));
  c.set_output(0, std::move(both));
  return OkStatus();
}

Status EmptyShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  TF_ASSIGN_OR_RETURN(Shape s, c.input_as_shape(0));
  c.set_output(0, std::move(s));
  return OkStatus();
}

}  // namespace

void RegisterArrayPassOps(OpRegistry& r) {
  r.Add(Op("Bitcast")
            .Input("input: T")
            .Output("output: type")
            .Attr("T: numbertype")
            .Attr("type: numbertype")
            .Shape(BitcastShape)
            .NotDifferentiable());
  r.Add(Op("EnsureShape")
            .Input("input: T")
            .Output("output: T")
            .Attr("shape: shape")
            .Attr("T: type")
            .Shape(EnsureShapeShape)
            .Gradient(PassGradient));
  r.Add(Op("Snapshot")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: type")
            .Shape(UnchangedShape)
            .Gradient(PassGradient));
  r.Add(Op("GuaranteeConst")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: type")
            .Stateful()
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(
      Op("DeepCopy").Input("x: T").Output("y: T").Attr("T: type").Stateful().Shape(UnchangedShape).NotDifferentiable());
  for (const char* op : {"Copy", "CopyHost"}) {
    r.Add(Op(op)
              .Input("input: T")
              .Output("output: T")
              .Attr("T: type")
              .Attr("tensor_name: string = ''")
              .Attr("debug_ops_spec: list(string) = []")
              .Shape(UnchangedShape)
              .NotDifferentiable());
  }
  r.Add(Op("DebugGradientIdentity").Input("input: T").Output("output: T").Attr("T: type").Shape(UnchangedShape));
  r.Add(Op("Empty")
            .Input("shape: int32")
            .Output("output: dtype")
            .Attr("dtype: type")
            .Attr("init: bool = false")
            .Stateful()
            .Shape(EmptyShape)
            .NotDifferentiable());
  for (const char* op : {"DataFormatDimMap", "DataFormatVecPermute"}) {
    r.Add(Op(op)
              .Input("x: T")
              .Output("y: T")
              .Attr("T: {int32, int64} = DT_INT32")
              .Attr("src_format: string = 'NHWC'")
              .Attr("dst_format: string = 'NCHW'")
              .Shape(UnchangedShape)
              .NotDifferentiable());
  }
}

}  // namespace tensorbraid
