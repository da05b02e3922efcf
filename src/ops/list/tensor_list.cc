// Lists of tensors and their elements: schemas, shape rules, gradients. The gradient of a list is the list of the
// gradients of its elements.
#include "graph/model/node.h"
#include "ops/list/element_shape.h"
#include "ops/list/lists.h"

namespace tensorbraid {
namespace {

// Output 0, the list, is a scalar; output 1 is the element.
Status PopBackShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(ScalarShape(c));
  TF_ASSIGN_OR_RETURN(Shape s, DescribedShape(c, 1));
  c.set_output(1, std::move(s));
  return OkStatus();
}

Status GetItemShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape s, DescribedShape(c, 2));
  c.set_output(0, std::move(s));
  return OkStatus();
}

Status PushBackGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output element = NodeOf(op)->inputs()[1];
  const Operation pop = NodeBuilder(*op.graph(), "TensorListPopBack")
                            .Input(grads[0])
                            .Input(ShapeOf(element))
                            .Attr("element_dtype", element.dtype())
                            .Finish();
  if (pop.valid()) *input_grads = {pop.output(0), pop.output(1)};
  return OkStatus();
}

Status PopBackGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const std::vector<Output> filled = FilledGradients(op, grads);
  (*input_grads)[0] = NodeBuilder(*op.graph(), "TensorListPushBack").Input(filled[0]).Input(filled[1]).Output();
  return OkStatus();
}

Output WithItem(Output list, Output index, Output item) {
  return NodeBuilder(*list.graph(), "TensorListSetItem").Input(list).Input(index).Input(item).Output();
}

Status GetItemGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  (*input_grads)[0] = WithItem(EmptyListLike(in[0], grads[0].dtype()), in[1], grads[0]);
  return OkStatus();
}

// `list` with the length of the list `like`.
Output Resized(Output list, Output like) { return Node2("TensorListResize", list, Node1("TensorListLength", like)); }

// The element that was replaced gets a gradient of 0. If the op may have lengthened the list, the gradient of the list
// is cut to the old length.
Status SetItemGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const Output others = WithItem(grads[0], in[1], Node1("ZerosLike", in[2]));
  const bool resizes = NodeOf(op)->attr<bool>("resize_if_index_out_of_bounds");
  (*input_grads)[0] = resizes ? Resized(others, in[0]) : others;
  (*input_grads)[2] = NodeBuilder(*op.graph(), "TensorListGetItem")
                          .Input(grads[0])
                          .Input(in[1])
                          .Input(ShapeOf(in[2]))
                          .Attr("element_dtype", in[2].dtype())
                          .Output();
  return OkStatus();
}

Status ResizeGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = Resized(grads[0], NodeOf(op)->inputs()[0]);
  return OkStatus();
}

}  // namespace

void RegisterListTensorListOps(OpRegistry& r) {
  constexpr const char* kShapeType = "shape_type: {int32, int64}";
  for (const auto& [name, second] : {std::pair{"EmptyTensorList", "max_num_elements: int32"},
                                     std::pair{"TensorListReserve", "num_elements: int32"}}) {
    r.Add(Op(name)
              .Input("element_shape: shape_type")
              .Input(second)
              .Output("handle: variant")
              .Attr("element_dtype: type")
              .Attr(kShapeType)
              .Shape(ScalarShape)
              .NotDifferentiable());
  }
  r.Add(Op("TensorListPushBack")
            .Input("input_handle: variant")
            .Input("tensor: element_dtype")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Shape(ScalarShape)
            .Gradient(PushBackGradient));
  r.Add(Op("TensorListPopBack")
            .Input("input_handle: variant")
            .Input("element_shape: int32")
            .Output("output_handle: variant")
            .Output("tensor: element_dtype")
            .Attr("element_dtype: type")
            .Shape(PopBackShape)
            .Gradient(PopBackGradient));
  r.Add(Op("TensorListSetItem")
            .Input("input_handle: variant")
            .Input("index: int32")
            .Input("item: element_dtype")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Attr("resize_if_index_out_of_bounds: bool = false")
            .Shape(ScalarShape)
            .Gradient(SetItemGradient));
  r.Add(Op("TensorListGetItem")
            .Input("input_handle: variant")
            .Input("index: int32")
            .Input("element_shape: Tshape")
            .Output("item: element_dtype")
            .Attr("element_dtype: type")
            .Attr("Tshape: {int32, int64} = int32")
            .Shape(GetItemShape)
            .Gradient(GetItemGradient));
  r.Add(Op("TensorListLength")
            .Input("input_handle: variant")
            .Output("length: int32")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("TensorListElementShape")
            .Input("input_handle: variant")
            .Output("element_shape: shape_type")
            .Attr(kShapeType)
            .NotDifferentiable());
  r.Add(Op("TensorListConcatLists")
            .Input("input_a: variant")
            .Input("input_b: variant")
            .Output("output: variant")
            .Attr("element_dtype: type")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("TensorListPushBackBatch")
            .Input("input_handles: variant")
            .Input("tensor: element_dtype")
            .Output("output_handles: variant")
            .Attr("element_dtype: type")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("TensorListResize")
            .Input("input_handle: variant")
            .Input("size: int32")
            .Output("output_handle: variant")
            .Shape(ScalarShape)
            .Gradient(ResizeGradient));
}

}  // namespace tensorbraid
