// Lists of tensors and their elements: schemas and shape rules.
#include "graph/node.h"
#include "ops/list/element_shape.h"
#include "ops/list/registration.h"

namespace tensorbraid {
namespace {

// The list is a scalar.
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
            .NotDifferentiable());
  r.Add(Op("TensorListPopBack")
            .Input("input_handle: variant")
            .Input("element_shape: int32")
            .Output("output_handle: variant")
            .Output("tensor: element_dtype")
            .Attr("element_dtype: type")
            .Shape(PopBackShape)
            .NotDifferentiable());
  r.Add(Op("TensorListSetItem")
            .Input("input_handle: variant")
            .Input("index: int32")
            .Input("item: element_dtype")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Attr("resize_if_index_out_of_bounds: bool = false")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("TensorListGetItem")
            .Input("input_handle: variant")
            .Input("index: int32")
            .Input("element_shape: Tshape")
            .Output("item: element_dtype")
            .Attr("element_dtype: type")
            .Attr("Tshape: {int32, int64} = int32")
            .Shape(GetItemShape)
            .NotDifferentiable());
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
            .NotDifferentiable());
}

}  // namespace tensorbraid
