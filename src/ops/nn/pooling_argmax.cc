// MaxPoolWithArgmax and its gradients: schemas, shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/nn/pool_gradients.h"
#include "ops/nn/pool_window.h"

namespace tensorbraid {
namespace {

constexpr char kGradWithArgmax[] = "MaxPoolGradWithArgmax";
constexpr char kGradGradWithArgmax[] = "MaxPoolGradGradWithArgmax";

StatusOr<Shape> OutputOfArgmax(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const PoolAttrs attrs, ReadPoolAttrs(c.node(), 2));
  TF_ASSIGN_OR_RETURN(PoolWindows windows, PlacePool(attrs, c.input(0)));
  return std::move(windows.output);
}

Status ArgmaxShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape output, OutputOfArgmax(c));
  c.set_output(0, output);
  c.set_output(1, std::move(output));
  return OkStatus();
}

// The inputs are x, dy and argmax, and the output is dx.
Status GradWithArgmaxShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape y, OutputOfArgmax(c));
  TF_ASSIGN_OR_RETURN(y, y.MergeWith(c.input(1)));
  TF_RETURN_IF_ERROR(y.MergeWith(c.input(2)).status());
  TF_ASSIGN_OR_RETURN(Shape x, c.WithRank(0, 4));
  c.set_output(0, std::move(x));
  return OkStatus();
}

// The inputs are x, ddx and argmax, and the output is ddy.
Status GradGradWithArgmaxShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape y, OutputOfArgmax(c));
  TF_RETURN_IF_ERROR(c.input(0).MergeWith(c.input(1)).status());
  TF_ASSIGN_OR_RETURN(y, y.MergeWith(c.input(2)));
  c.set_output(0, std::move(y));
  return OkStatus();
}

Status ArgmaxGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (!grads[0].valid()) return OkStatus();
  (*input_grads)[0] = PoolNode(kGradWithArgmax, op, {NodeOf(op)->inputs()[0], grads[0], op.output(1)});
  return OkStatus();
}

// One gradient op moves elements to the places in argmax, the other one from these places. So each is the gradient of
// the other.
template <const char* name>
Status ArgmaxGradGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const std::vector<Output>& in = NodeOf(op)->inputs();
  *input_grads = {Node1("ZerosLike", in[0]), PoolNode(name, op, {in[0], grads[0], in[2]}), Output()};
  return OkStatus();
}

}  // namespace

void RegisterNnPoolingArgmaxOps(OpRegistry& r) {
  r.Add(Op("MaxPoolWithArgmax")
            .Input("input: T")
            .Output("output: T")
            .Output("argmax: Targmax")
            .Attr("ksize: list(int) >= 4")
            .Attr("strides: list(int) >= 4")
            .Attr("Targmax: {int32, int64} = DT_INT64")
            .Attr("padding: {'SAME', 'VALID'}")
            .Attr("include_batch_in_index: bool = false")
            .Attr("T: realnumbertype")
            .Shape(ArgmaxShape)
            .Gradient(ArgmaxGradient));
  r.Add(Op(kGradWithArgmax)
            .Input("input: T")
            .Input("grad: T")
            .Input("argmax: Targmax")
            .Output("output: T")
            .Attr("ksize: list(int) >= 4")
            .Attr("strides: list(int) >= 4")
            .Attr("padding: {'SAME', 'VALID'}")
            .Attr("include_batch_in_index: bool = false")
            .Attr("Targmax: {int32, int64}")
            .Attr("T: realnumbertype")
            .Shape(GradWithArgmaxShape)
            .Gradient(ArgmaxGradGradient<kGradGradWithArgmax>));
  r.Add(Op(kGradGradWithArgmax)
            .Input("input: T")
            .Input("grad: T")
            .Input("argmax: Targmax")
            .Output("output: T")
            .Attr("ksize: list(int) >= 4")
            .Attr("strides: list(int) >= 4")
            .Attr("padding: {'SAME', 'VALID'}")
            .Attr("include_batch_in_index: bool = false")
            .Attr("Targmax: {int32, int64}")
            .Attr("T: realnumbertype")
            .Shape(GradGradWithArgmaxShape)
            .Gradient(ArgmaxGradGradient<kGradWithArgmax>));
}

}  // namespace tensorbraid
