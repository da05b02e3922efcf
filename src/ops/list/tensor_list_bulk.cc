// Ops that make one tensor of a list, or a list of one tensor (stack, concatenate, gather, split, scatter): schemas,
// shape rules, gradients.
#include "graph/model/node.h"
#include "ops/list/element_shape.h"
#include "ops/list/lists.h"

namespace tensorbraid {
namespace {

// Shape rule of stacking a list: the number of elements, if known, followed by element_shape.
Status StackShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape element, DescribedShape(c, 1));
  if (!element.has_rank()) return OkStatus();
  const int64_t n = c.attr<int64_t>("num_elements");
  Shape s({n < 0 ? Shape::kUnknownDim : n});
  for (int64_t d : element.dims()) s.AddDim(d);
  c.set_output(0, std::move(s));
  return OkStatus();
}

Status StackGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = Node2("TensorListFromTensor", grads[0], RowShapeOf(grads[0]));
  return OkStatus();
}

Status FromTensorGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output tensor = NodeOf(op)->inputs()[0];
  const Shape& shape = tensor.shape();
  (*input_grads)[0] = NodeBuilder(*op.graph(), "TensorListStack")
                          .Input(grads[0])
                          .Input(RowShapeOf(tensor))
                          .Attr("element_dtype", tensor.dtype())
                          .Attr("num_elements", shape.has_rank() ? shape.dim(0) : Shape::kUnknownDim)
                          .Output();
  return OkStatus();
}

Status ConcatListGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (!grads[0].valid()) return OkStatus();
  (*input_grads)[0] = NodeBuilder(*op.graph(), "TensorListSplit")
                          .Input(grads[0])
                          .Input(ElementShapeOf(NodeOf(op)->inputs()[0]))
                          .Input(op.output(1))
                          .Output();
  return OkStatus();
}

Status SplitListGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  (*input_grads)[0] = NodeBuilder(*op.graph(), "TensorListConcatV2")
                          .Input(grads[0])
                          .Input(Concat({ConstantVector(*op.graph(), {-1}), RowShapeOf(in[0])}, 0))
                          .Input(in[2])
                          .Attr("element_dtype", in[0].dtype())
                          .Output();
  return OkStatus();
}

Output ScatteredInto(Output list, Output rows, Output indices) {
  return NodeBuilder(*list.graph(), "TensorListScatterIntoExistingList")
      .Input(list)
      .Input(rows)
      .Input(indices)
      .Output();
}

Status GatherListGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  (*input_grads)[0] = ScatteredInto(EmptyListLike(in[0], grads[0].dtype()), grads[0], in[1]);
  return OkStatus();
}

// The elements of the list `grad` that the rows of `tensor` were scattered to.
Output GatheredRowsOf(Output grad, Output tensor, Output indices) {
  return NodeBuilder(*grad.graph(), "TensorListGather")
      .Input(grad)
      .Input(indices)
      .Input(RowShapeOf(tensor))
      .Attr("element_dtype", tensor.dtype())
      .Output();
}

Status ScatterListGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  (*input_grads)[0] = GatheredRowsOf(grads[0], in[0], in[1]);
  return OkStatus();
}

Status ScatterIntoListGradient(const Operation& op, const std::vector<Output>& grads,
                               std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  (*input_grads)[0] = ScatteredInto(grads[0], Node1("ZerosLike", in[1]), in[2]);
  (*input_grads)[1] = GatheredRowsOf(grads[0], in[1], in[2]);
  return OkStatus();
}

}  // namespace

void RegisterListTensorListBulkOps(OpRegistry& r) {
  constexpr const char* kShapeType = "shape_type: {int32, int64}";
  r.Add(Op("TensorListStack")
            .Input("input_handle: variant")
            .Input("element_shape: int32")
            .Output("tensor: element_dtype")
            .Attr("element_dtype: type")
            .Attr("num_elements: int = -1")
            .Shape(StackShape)
            .Gradient(StackGradient));
  r.Add(Op("TensorListFromTensor")
            .Input("tensor: element_dtype")
            .Input("element_shape: shape_type")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Attr(kShapeType)
            .Shape(ScalarShape)
            .Gradient(FromTensorGradient));
  r.Add(Op("TensorListConcat")
            .Input("input_handle: variant")
            .Output("tensor: element_dtype")
            .Output("lengths: int64")
            .Attr("element_dtype: type")
            .Attr("element_shape: shape = unknown")
            .Gradient(ConcatListGradient));
  r.Add(Op("TensorListConcatV2")
            .Input("input_handle: variant")
            .Input("element_shape: shape_type")
            .Input("leading_dims: int64")
            .Output("tensor: element_dtype")
            .Output("lengths: int64")
            .Attr("element_dtype: type")
            .Attr(kShapeType)
            .Gradient(ConcatListGradient));
  r.Add(Op("TensorListSplit")
            .Input("tensor: element_dtype")
            .Input("element_shape: shape_type")
            .Input("lengths: int64")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Attr(kShapeType)
            .Shape(ScalarShape)
            .Gradient(SplitListGradient));
  r.Add(Op("TensorListGather")
            .Input("input_handle: variant")
            .Input("indices: int32")
            .Input("element_shape: int32")
            .Output("values: element_dtype")
            .Attr("element_dtype: type")
            .Gradient(GatherListGradient));
  r.Add(Op("TensorListScatter")
            .Input("tensor: element_dtype")
            .Input("indices: int32")
            .Input("element_shape: shape_type")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Attr(kShapeType)
            .Shape(ScalarShape)
            .Gradient(ScatterListGradient));
  r.Add(Op("TensorListScatterV2")
            .Input("tensor: element_dtype")
            .Input("indices: int32")
            .Input("element_shape: shape_type")
            .Input("num_elements: int32")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Attr(kShapeType)
            .Shape(ScalarShape)
            .Gradient(ScatterListGradient));
  r.Add(Op("TensorListScatterIntoExistingList")
            .Input("input_handle: variant")
            .Input("tensor: element_dtype")
            .Input("indices: int32")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Shape(ScalarShape)
            .Gradient(ScatterIntoListGradient));
}

}  // namespace tensorbraid
