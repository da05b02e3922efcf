// Ops on variant tensors that hold lists of tensors or optional values: what loops and branches of TensorFlow 2 keep
// for their gradients in.
#include "core/strings.h"
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

Status LengthShape(ShapeContext& c) {
  c.set_output(0, Shape());
  return OkStatus();
}

// The shape that an input describes by a vector of sizes; a scalar -1 stands for one that is not known.
StatusOr<Shape> DescribedShape(ShapeContext& c, int i) {
  const Shape& of_input = c.input(i);
  if (!of_input.has_rank() || of_input.rank() == 0) return Shape::Unknown();
  return c.input_as_shape(i);
}

Status PopBackShape(ShapeContext& c) {
  c.set_output(0, Shape());
  TF_ASSIGN_OR_RETURN(Shape s, DescribedShape(c, 1));
  c.set_output(1, std::move(s));
  return OkStatus();
}

Status GetItemShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape s, DescribedShape(c, 2));
  c.set_output(0, std::move(s));
  return OkStatus();
}

// A list of unknown length stacked: element_shape comes behind the first dimension.
Status StackShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape element, DescribedShape(c, 1));
  if (!element.has_rank()) return OkStatus();
  const int64_t n = c.attr<int64_t>("num_elements");
  Shape s({n < 0 ? Shape::kUnknownDim : n});
  for (int64_t d : element.dims()) s.AddDim(d);
  c.set_output(0, std::move(s));
  return OkStatus();
}

Status GetValueShape(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<Shape>>("output_shapes");
  if (static_cast<int>(shapes.size()) != c.num_outputs()) {
    return InvalidArgument("there are ", c.num_outputs(), " output types, but ", shapes.size(), " shapes");
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shapes[i]);
  return OkStatus();
}

void RegisterTensorListOps(OpRegistry& r) {
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
  r.Add(Op("TensorListLength")
            .Input("input_handle: variant")
            .Output("length: int32")
            .Shape(LengthShape)
            .NotDifferentiable());
  r.Add(Op("TensorListElementShape")
            .Input("input_handle: variant")
            .Output("element_shape: shape_type")
            .Attr(kShapeType)
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

void RegisterOptionalOps(OpRegistry& r) {
  r.Add(Op("OptionalFromValue")
            .Input("components: Toutput_types")
            .Output("optional: variant")
            .Attr("Toutput_types: list(type) >= 1")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("OptionalNone").Output("optional: variant").Shape(ScalarShape).NotDifferentiable());
  r.Add(Op("OptionalHasValue")
            .Input("optional: variant")
            .Output("has_value: bool")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("OptionalGetValue")
            .Input("optional: variant")
            .Output("components: output_types")
            .Attr("output_types: list(type) >= 1")
            .Attr("output_shapes: list(shape) >= 1")
            .Shape(GetValueShape)
            .NotDifferentiable());
}

}  // namespace

void RegisterVariantOps(OpRegistry& r) {
  RegisterTensorListOps(r);
  RegisterOptionalOps(r);
}

}  // namespace tensorbraid
