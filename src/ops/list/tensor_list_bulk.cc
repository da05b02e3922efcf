// Ops that turn lists into one tensor or back (stack, concatenate, gather, split, scatter): schemas and shape rules.
#include "graph/node.h"
#include "ops/list/element_shape.h"
#include "ops/list/registration.h"

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
            .NotDifferentiable());
  r.Add(Op("TensorListFromTensor")
            .Input("tensor: element_dtype")
            .Input("element_shape: shape_type")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Attr(kShapeType)
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("TensorListConcat")
            .Input("input_handle: variant")
            .Output("tensor: element_dtype")
            .Output("lengths: int64")
            .Attr("element_dtype: type")
            .Attr("element_shape: shape = unknown")
            .NotDifferentiable());
  r.Add(Op("TensorListConcatV2")
            .Input("input_handle: variant")
            .Input("element_shape: shape_type")
            .Input("leading_dims: int64")
            .Output("tensor: element_dtype")
            .Output("lengths: int64")
            .Attr("element_dtype: type")
            .Attr(kShapeType)
            .NotDifferentiable());
  r.Add(Op("TensorListSplit")
            .Input("tensor: element_dtype")
            .Input("element_shape: shape_type")
            .Input("lengths: int64")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Attr(kShapeType)
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("TensorListGather")
            .Input("input_handle: variant")
            .Input("indices: int32")
            .Input("element_shape: int32")
            .Output("values: element_dtype")
            .Attr("element_dtype: type")
            .NotDifferentiable());
  r.Add(Op("TensorListScatter")
            .Input("tensor: element_dtype")
            .Input("indices: int32")
            .Input("element_shape: shape_type")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Attr(kShapeType)
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("TensorListScatterV2")
            .Input("tensor: element_dtype")
            .Input("indices: int32")
            .Input("element_shape: shape_type")
            .Input("num_elements: int32")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Attr(kShapeType)
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("TensorListScatterIntoExistingList")
            .Input("input_handle: variant")
            .Input("tensor: element_dtype")
            .Input("indices: int32")
            .Output("output_handle: variant")
            .Attr("element_dtype: type")
            .Shape(ScalarShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
