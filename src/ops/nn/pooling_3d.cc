// Maximum and mean over windows of volumes, and their gradients: schemas, shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/nn/pool_gradients.h"
#include "ops/nn/pool_window.h"

namespace tensorbraid {
namespace {

Status Pool3DShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const PoolAttrs attrs, ReadPoolAttrs(c.node(), 3));
  TF_ASSIGN_OR_RETURN(PoolWindows windows, PlacePool(attrs, c.input(0)));
  c.set_output(0, std::move(windows.output));
  return OkStatus();
}

// The inputs are x, y and dy, and the output is dx.
Status MaxPool3DGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const PoolAttrs attrs, ReadPoolAttrs(c.node(), 3));
  TF_ASSIGN_OR_RETURN(Shape x, c.WithRank(0, 5));
  TF_ASSIGN_OR_RETURN(const PoolWindows windows, PlacePool(attrs, x));
  TF_ASSIGN_OR_RETURN(const Shape y, windows.output.MergeWith(c.input(1)));
  TF_RETURN_IF_ERROR(y.MergeWith(c.input(2)).status());
  c.set_output(0, std::move(x));
  return OkStatus();
}

// The inputs are x, y and ddx, and the output is ddy.
Status MaxPool3DGradGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const PoolAttrs attrs, ReadPoolAttrs(c.node(), 3));
  TF_ASSIGN_OR_RETURN(Shape x, c.WithRank(0, 5));
  TF_ASSIGN_OR_RETURN(x, x.MergeWith(c.input(2)));
  TF_ASSIGN_OR_RETURN(const PoolWindows windows, PlacePool(attrs, x));
  TF_ASSIGN_OR_RETURN(Shape y, windows.output.MergeWith(c.input(1)));
  c.set_output(0, std::move(y));
  return OkStatus();
}

Status AvgPool3DGradShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  TF_RETURN_IF_ERROR(c.WithRank(1, 5).status());
  TF_RETURN_IF_ERROR(ReadPoolAttrs(c.node(), 3).status());
  TF_ASSIGN_OR_RETURN(const Shape x, c.input_as_shape(0));
  TF_ASSIGN_OR_RETURN(Shape known, x.MergeWith(Shape::UnknownOfRank(5)));
  c.set_output(0, std::move(known));
  return OkStatus();
}

// Adds the attributes that all of these ops have.
Op& WithWindow(Op& op) {
  return op.Attr("ksize: list(int) >= 5")
      .Attr("strides: list(int) >= 5")
      .Attr("padding: {'SAME', 'VALID'}")
      .Attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'");
}

}  // namespace

void RegisterNnPooling3DOps(OpRegistry& r) {
  Op max_pool("MaxPool3D");
  r.Add(WithWindow(max_pool.Input("input: T").Output("output: T"))
            .Attr("T: {half, bfloat16, float}")
            .Shape(Pool3DShape)
            .Gradient(PoolGradient<kMaxPool3DGrad>));
  Op max_pool_grad("MaxPool3DGrad");
  r.Add(WithWindow(
            max_pool_grad.Input("orig_input: TInput").Input("orig_output: TInput").Input("grad: T").Output("output: T"))
            .Attr("T: {half, bfloat16, float} = DT_FLOAT")
            .Attr("TInput: {half, bfloat16, float} = DT_FLOAT")
            .Shape(MaxPool3DGradShape)
            .Gradient(PoolGradGradient<kMaxPool3DGradGrad>));
  Op max_pool_grad_grad("MaxPool3DGradGrad");
  r.Add(
      WithWindow(max_pool_grad_grad.Input("orig_input: T").Input("orig_output: T").Input("grad: T").Output("output: T"))
          .Attr("T: realnumbertype")
          .Shape(MaxPool3DGradGradShape)
          .Gradient(PoolGradGradient<kMaxPool3DGrad>));
  Op avg_pool("AvgPool3D");
  r.Add(WithWindow(avg_pool.Input("input: T").Output("output: T"))
            .Attr("T: {half, bfloat16, float, double}")
            .Shape(Pool3DShape)
            .Gradient(AvgPoolGradient<kAvgPool3DGrad>));
  Op avg_pool_grad("AvgPool3DGrad");
  r.Add(WithWindow(avg_pool_grad.Input("orig_input_shape: int32").Input("grad: T").Output("output: T"))
            .Attr("T: {half, bfloat16, float, double}")
            .Shape(AvgPool3DGradShape)
            .Gradient(AvgPoolGradGradient<kAvgPool3D>));
}

}  // namespace tensorbraid
