// A function for each op of src/ops/list; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_LIST_H_
#define TENSORBRAID_RAW_OPS_LIST_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

// Adds a node of the op EmptyTensorList.
// Inputs: element_shape (shape_type), max_num_elements (int32).
// Attributes: element_dtype (dtype: any).
// Output: handle (variant).
// shape_type: int32 int64.
inline Output EmptyTensorList(const Operand& element_shape, const Operand& max_num_elements, DType element_dtype,
    const std::string& name = "") {
  return internal::Call("EmptyTensorList", name, {element_shape, max_num_elements}).Attr("element_dtype", element_dtype)
      .One();
}

// Adds a node of the op OptionalFromValue. It has a gradient.
// Inputs: components (a list of tensors of the types Toutput_types).
// Output: optional (variant).
// Toutput_types: any.
inline Output OptionalFromValue(const std::vector<Output>& components, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("OptionalFromValue", name, {components}, loc).One();
}

struct OptionalGetValueOutputs {
  std::vector<Output> components;
  Operation operation;
};
// Adds a node of the op OptionalGetValue. It has a gradient.
// Inputs: optional (variant).
// Attributes: output_types (list of dtypes: any, at least 1), output_shapes (list of shapes, at least 1).
// Output: components (a list of tensors of the types output_types).
inline OptionalGetValueOutputs OptionalGetValue(const Output& optional, const std::vector<DType>& output_types,
    const std::vector<tensorbraid::Shape>& output_shapes, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("OptionalGetValue", name, {optional}, loc).Attr("output_types", output_types)
      .Attr("output_shapes", output_shapes).All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op OptionalHasValue.
// Inputs: optional (variant).
// Output: has_value (bool).
inline Output OptionalHasValue(const Output& optional, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("OptionalHasValue", name, {optional}, loc).One();
}

// Adds a node of the op OptionalNone.
// Output: optional (variant).
inline Output OptionalNone(Graph& graph, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "OptionalNone", name, {}, loc).One();
}

struct TensorListConcatOptions {
  tensorbraid::Shape element_shape = tensorbraid::Shape::Unknown();
  std::string name = {};
};
struct TensorListConcatOutputs {
  Output tensor;
  Output lengths;
  Operation operation;
};
// Adds a node of the op TensorListConcat. It has a gradient.
// Inputs: input_handle (variant).
// Attributes: element_dtype (dtype: any), element_shape (shape; default <unknown>).
// Outputs: tensor (element_dtype), lengths (int64).
inline TensorListConcatOutputs TensorListConcat(const Output& input_handle, DType element_dtype,
    const TensorListConcatOptions& options = {}, std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("TensorListConcat", options.name, {input_handle}, loc)
      .Attr("element_dtype", element_dtype).Attr("element_shape", options.element_shape).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op TensorListConcatLists.
// Inputs: input_a (variant), input_b (variant).
// Attributes: element_dtype (dtype: any).
// Output: output (variant).
inline Output TensorListConcatLists(const Output& input_a, const Output& input_b, DType element_dtype,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  return internal::Call("TensorListConcatLists", name, {input_a, input_b}, loc).Attr("element_dtype", element_dtype)
      .One();
}

struct TensorListConcatV2Outputs {
  Output tensor;
  Output lengths;
  Operation operation;
};
// Adds a node of the op TensorListConcatV2. It has a gradient.
// Inputs: input_handle (variant), element_shape (shape_type), leading_dims (int64).
// Attributes: element_dtype (dtype: any).
// Outputs: tensor (element_dtype), lengths (int64).
// shape_type: int32 int64.
inline TensorListConcatV2Outputs TensorListConcatV2(const Output& input_handle, const Operand& element_shape,
    const Operand& leading_dims, DType element_dtype, const std::string& name = "") {
  auto results = internal::Call("TensorListConcatV2", name, {input_handle, element_shape, leading_dims})
      .Attr("element_dtype", element_dtype).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op TensorListElementShape.
// Inputs: input_handle (variant).
// Attributes: shape_type (dtype: int32 int64).
// Output: element_shape (shape_type).
inline Output TensorListElementShape(const Output& input_handle, DType shape_type, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("TensorListElementShape", name, {input_handle}, loc).Attr("shape_type", shape_type).One();
}

// Adds a node of the op TensorListFromTensor. It has a gradient.
// Inputs: tensor (element_dtype), element_shape (shape_type).
// Output: output_handle (variant).
// element_dtype: any; shape_type: int32 int64.
inline Output TensorListFromTensor(const Operand& tensor, const Operand& element_shape, const std::string& name = "") {
  return internal::Call("TensorListFromTensor", name, {tensor, element_shape}).One();
}

// Adds a node of the op TensorListGather. It has a gradient.
// Inputs: input_handle (variant), indices (int32), element_shape (int32).
// Attributes: element_dtype (dtype: any).
// Output: values (element_dtype).
inline Output TensorListGather(const Output& input_handle, const Operand& indices, const Operand& element_shape,
    DType element_dtype, const std::string& name = "") {
  return internal::Call("TensorListGather", name, {input_handle, indices, element_shape})
      .Attr("element_dtype", element_dtype).One();
}

// Adds a node of the op TensorListGetItem. It has a gradient.
// Inputs: input_handle (variant), index (int32), element_shape (Tshape).
// Attributes: element_dtype (dtype: any).
// Output: item (element_dtype).
// Tshape: int32 int64.
inline Output TensorListGetItem(const Output& input_handle, const Operand& index, const Operand& element_shape,
    DType element_dtype, const std::string& name = "") {
  return internal::Call("TensorListGetItem", name, {input_handle, index, element_shape})
      .Attr("element_dtype", element_dtype).One();
}

// Adds a node of the op TensorListLength.
// Inputs: input_handle (variant).
// Output: length (int32).
inline Output TensorListLength(const Output& input_handle, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("TensorListLength", name, {input_handle}, loc).One();
}

struct TensorListPopBackOutputs {
  Output output_handle;
  Output tensor;
  Operation operation;
};
// Adds a node of the op TensorListPopBack. It has a gradient.
// Inputs: input_handle (variant), element_shape (int32).
// Attributes: element_dtype (dtype: any).
// Outputs: output_handle (variant), tensor (element_dtype).
inline TensorListPopBackOutputs TensorListPopBack(const Output& input_handle, const Operand& element_shape,
    DType element_dtype, const std::string& name = "") {
  auto results = internal::Call("TensorListPopBack", name, {input_handle, element_shape})
      .Attr("element_dtype", element_dtype).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op TensorListPushBack. It has a gradient.
// Inputs: input_handle (variant), tensor (element_dtype).
// Output: output_handle (variant).
// element_dtype: any.
inline Output TensorListPushBack(const Output& input_handle, const Operand& tensor, const std::string& name = "") {
  return internal::Call("TensorListPushBack", name, {input_handle, tensor}).One();
}

// Adds a node of the op TensorListPushBackBatch.
// Inputs: input_handles (variant), tensor (element_dtype).
// Output: output_handles (variant).
// element_dtype: any.
inline Output TensorListPushBackBatch(const Output& input_handles, const Operand& tensor,
    const std::string& name = "") {
  return internal::Call("TensorListPushBackBatch", name, {input_handles, tensor}).One();
}

// Adds a node of the op TensorListReserve.
// Inputs: element_shape (shape_type), num_elements (int32).
// Attributes: element_dtype (dtype: any).
// Output: handle (variant).
// shape_type: int32 int64.
inline Output TensorListReserve(const Operand& element_shape, const Operand& num_elements, DType element_dtype,
    const std::string& name = "") {
  return internal::Call("TensorListReserve", name, {element_shape, num_elements}).Attr("element_dtype", element_dtype)
      .One();
}

// Adds a node of the op TensorListResize. It has a gradient.
// Inputs: input_handle (variant), size (int32).
// Output: output_handle (variant).
inline Output TensorListResize(const Output& input_handle, const Operand& size, const std::string& name = "") {
  return internal::Call("TensorListResize", name, {input_handle, size}).One();
}

// Adds a node of the op TensorListScatter. It has a gradient.
// Inputs: tensor (element_dtype), indices (int32), element_shape (shape_type).
// Output: output_handle (variant).
// element_dtype: any; shape_type: int32 int64.
inline Output TensorListScatter(const Operand& tensor, const Operand& indices, const Operand& element_shape,
    const std::string& name = "") {
  return internal::Call("TensorListScatter", name, {tensor, indices, element_shape}).One();
}

// Adds a node of the op TensorListScatterIntoExistingList. It has a gradient.
// Inputs: input_handle (variant), tensor (element_dtype), indices (int32).
// Output: output_handle (variant).
// element_dtype: any.
inline Output TensorListScatterIntoExistingList(const Output& input_handle, const Operand& tensor,
    const Operand& indices, const std::string& name = "") {
  return internal::Call("TensorListScatterIntoExistingList", name, {input_handle, tensor, indices}).One();
}

// Adds a node of the op TensorListScatterV2. It has a gradient.
// Inputs: tensor (element_dtype), indices (int32), element_shape (shape_type), num_elements (int32).
// Output: output_handle (variant).
// element_dtype: any; shape_type: int32 int64.
inline Output TensorListScatterV2(const Operand& tensor, const Operand& indices, const Operand& element_shape,
    const Operand& num_elements, const std::string& name = "") {
  return internal::Call("TensorListScatterV2", name, {tensor, indices, element_shape, num_elements}).One();
}

struct TensorListSetItemOptions {
  bool resize_if_index_out_of_bounds = false;
  std::string name = {};
};
// Adds a node of the op TensorListSetItem. It has a gradient.
// Inputs: input_handle (variant), index (int32), item (element_dtype).
// Attributes: resize_if_index_out_of_bounds (bool; default false).
// Output: output_handle (variant).
// element_dtype: any.
inline Output TensorListSetItem(const Output& input_handle, const Operand& index, const Operand& item,
    const TensorListSetItemOptions& options = {}) {
  return internal::Call("TensorListSetItem", options.name, {input_handle, index, item})
      .Attr("resize_if_index_out_of_bounds", options.resize_if_index_out_of_bounds).One();
}

// Adds a node of the op TensorListSplit. It has a gradient.
// Inputs: tensor (element_dtype), element_shape (shape_type), lengths (int64).
// Output: output_handle (variant).
// element_dtype: any; shape_type: int32 int64.
inline Output TensorListSplit(const Operand& tensor, const Operand& element_shape, const Operand& lengths,
    const std::string& name = "") {
  return internal::Call("TensorListSplit", name, {tensor, element_shape, lengths}).One();
}

struct TensorListStackOptions {
  int64_t num_elements = -1;
  std::string name = {};
};
// Adds a node of the op TensorListStack. It has a gradient.
// Inputs: input_handle (variant), element_shape (int32).
// Attributes: element_dtype (dtype: any), num_elements (int; default -1).
// Output: tensor (element_dtype).
inline Output TensorListStack(const Output& input_handle, const Operand& element_shape, DType element_dtype,
    const TensorListStackOptions& options = {}) {
  return internal::Call("TensorListStack", options.name, {input_handle, element_shape})
      .Attr("element_dtype", element_dtype).Attr("num_elements", options.num_elements).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_LIST_H_
