// The public functions of the array op family, except those that sort (sorting_functions.cc).
#include <limits>
#include <map>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

// Adds a node with one operand, from which all attributes of the node can be inferred.
Output Unary(const char* op, const Operand& input, const std::string& name) {
  Graph* g = GraphOf(op, {&input});
  if (g == nullptr) return {};
  return NodeBuilder(*g, op, input.location()).Name(name).Input(input.ToOutput(*g)).Output();
}

Output Scalar(Graph& g, const std::string& name, int64_t value) {
  return Const(g, Tensor::Scalar(static_cast<int32_t>(value)), name);
}

std::vector<Output> AllOutputs(const Operation& op) {
  std::vector<Output> outputs;
  for (int i = 0; i < op.num_outputs(); ++i) outputs.push_back(op.output(i));
  return outputs;
}

// Adds a node with two inputs: a tensor and a list of integers. `argument` is the name of the input for the list.
Output WithIntegers(const char* op, const Operand& input, const char* argument, const Integers& integers,
                    const std::string& name) {
  Graph* g = integers.graph() != nullptr ? integers.graph() : GraphOf(op, {&input});
  if (g == nullptr) return {};
  const ScopedLocation at(*g, input.location());
  const Output tensor = input.ToOutput(*g);
  return NodeBuilder(*g, op, input.location())
      .Name(name)
      .Input(tensor)
      .Input(integers.ToOutput(*g, StrCat(name.empty() ? op : name, "/", argument)))
      .Output();
}

}  // namespace

Integers::Integers(Tensor tensor, std::source_location) {
  if (tensor.dtype() == kInt32) {
    values_.assign(tensor.data<int32_t>().begin(), tensor.data<int32_t>().end());
  } else if (tensor.dtype() == kInt64) {
    values_.assign(tensor.data<int64_t>().begin(), tensor.data<int64_t>().end());
  } else {
    is_tensor_ = true;  // tensor_ stays invalid, so an op that has this as an input is not added to the graph
  }
}

Output Integers::ToOutput(Graph& graph, const std::string& name, DType type) const {
  if (is_tensor_) return tensor_;
  if (type == DType::kInvalid) {
    type = kInt32;
    for (int64_t v : values_) {
      if (v > std::numeric_limits<int32_t>::max() || v < std::numeric_limits<int32_t>::min()) type = kInt64;
    }
  }
  Tensor value =
      type == kInt64 ? Tensor::Vector(values_) : Tensor::Vector(std::vector<int32_t>(values_.begin(), values_.end()));
  return NodeBuilder(graph, "Const").Name(name).Attr("value", std::move(value)).Attr("dtype", type).Output();
}

namespace {

// Converts the operands to tensors. Plain numbers take the dtype of the first operand that has one.
std::vector<Output> ToOutputs(Graph& graph, const std::vector<Operand>& operands) {
  DType dtype = DType::kInvalid;
  for (const Operand& operand : operands) {
    if (dtype == DType::kInvalid) dtype = operand.dtype();
  }
  std::vector<Output> outputs;
  for (const Operand& operand : operands) outputs.push_back(operand.ToOutput(graph, dtype));
  return outputs;
}

}  // namespace

Output Placeholder(Graph& graph, DType dtype, const Shape& shape, const std::string& name, std::source_location loc) {
  return NodeBuilder(graph, "Placeholder", loc).Name(name).Attr("dtype", dtype).Attr("shape", shape).Output();
}

Output PlaceholderWithDefault(const Operand& input, const Shape& shape, const std::string& name) {
  Graph* g = GraphOf("PlaceholderWithDefault", {&input});
  if (g == nullptr) return {};
  return NodeBuilder(*g, "PlaceholderWithDefault", input.location())
      .Name(name)
      .Input(input.ToOutput(*g))
      .Attr("shape", shape)
      .Output();
}

Output Const(Graph& graph, Tensor value, const std::string& name, std::source_location loc) {
  const DType dtype = value.dtype();
  return NodeBuilder(graph, "Const", loc).Name(name).Attr("value", std::move(value)).Attr("dtype", dtype).Output();
}

Output Fill(Graph& graph, const Integers& dims, const Operand& value, const std::string& name) {
  const ScopedLocation at(graph, value.location());
  const Output sizes = dims.ToOutput(graph, (name.empty() ? "Fill" : name) + "/dims");
  return NodeBuilder(graph, "Fill", value.location()).Name(name).Input(sizes).Input(value.ToOutput(graph)).Output();
}

Output Zeros(Graph& graph, const Shape& shape, DType dtype, const std::string& name, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  if (dtype == kString) return Const(graph, Tensor(kString, shape), name);
  return Fill(graph, shape, Operand(0).ToOutput(graph, dtype), name);
}

Output Ones(Graph& graph, const Shape& shape, DType dtype, const std::string& name, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  return Fill(graph, shape, Operand(1).ToOutput(graph, dtype), name);
}

Output ZerosLike(const Operand& x, const std::string& name) { return Unary("ZerosLike", x, name); }
Output OnesLike(const Operand& x, const std::string& name) { return Unary("OnesLike", x, name); }

Output OneHot(const Operand& indices, int32_t depth, const OneHotOptions& options, const std::string& name) {
  Graph* g = GraphOf("OneHot", {&indices});
  if (g == nullptr) return {};
  const ScopedLocation at(*g, indices.location());
  const Operand on = options.on_value.value_or(Operand(1));
  const Operand off = options.off_value.value_or(Operand(0));
  DType dtype = on.dtype() != DType::kInvalid ? on.dtype() : off.dtype();
  if (dtype == DType::kInvalid) dtype = options.dtype;
  return NodeBuilder(*g, "OneHot", indices.location())
      .Name(name)
      .Input(indices.ToOutput(*g))
      .Input(Scalar(*g, (name.empty() ? "OneHot" : name) + "/depth", depth))
      .Input(on.ToOutput(*g, dtype))
      .Input(off.ToOutput(*g, dtype))
      .Attr("axis", options.axis)
      .Output();
}

Output Identity(const Operand& input, const std::string& name) { return Unary("Identity", input, name); }

std::vector<Output> IdentityN(const std::vector<Operand>& input, const std::string& name, std::source_location loc) {
  Graph* g = GraphOf("IdentityN", input, loc);
  if (g == nullptr) return std::vector<Output>(input.size());
  std::vector<Output> tensors;
  for (const Operand& operand : input) tensors.push_back(operand.ToOutput(*g));
  const Operation op = NodeBuilder(*g, "IdentityN", input[0].location()).Name(name).InputList(tensors).Finish();
  return op.valid() ? AllOutputs(op) : std::vector<Output>(input.size());
}

Output StopGradient(const Operand& input, const std::string& name) { return Unary("StopGradient", input, name); }

Output PreventGradient(const Operand& input, const std::string& message, const std::string& name) {
  Graph* g = GraphOf("PreventGradient", {&input});
  if (g == nullptr) return {};
  return NodeBuilder(*g, "PreventGradient", input.location())
      .Name(name)
      .Input(input.ToOutput(*g))
      .Attr("message", message)
      .Output();
}

Operation NoOp(Graph& graph, const std::string& name, std::source_location loc) {
  return NodeBuilder(graph, "NoOp", loc).Name(name).Finish();
}

Operation Group(Graph& graph, const std::vector<Operation>& operations, const std::string& name,
                std::source_location loc) {
  const ScopedLocation at(graph, loc);
  std::map<std::string, std::vector<Operation>> by_device;
  for (const Operation& op : operations) {
    if (!op.valid()) {
      // Has no effect if the graph already has the error that made the operation invalid, because a graph keeps only
      // its first error.
      graph.AddError(InvalidArgument("Group '", name, "': one of the operations is not valid"));
      return {};
    }
    by_device[op.device()].push_back(op);
  }
  NodeBuilder group(graph, "NoOp");
  group.Name(name);
  if (by_device.size() == 1) {
    // All operations are on one device. The node goes there, too, so that no other device takes part in the step. The
    // open device and colocation scopes are ignored.
    for (const Operation& op : operations) group.Control(op);
    auto here = graph.NoDevice();
    auto alone = graph.ColocateWith({});
    return group.Device(operations[0].device()).Finish();
  }
  for (const auto& [device, ops] : by_device) {
    if (ops.size() == 1) {
      group.Control(ops[0]);
      continue;
    }
    auto there = graph.NoDevice();
    auto alone = graph.ColocateWith({});
    NodeBuilder gathered(graph, "NoOp");
    gathered.Name(name + "_deps").Device(device);
    for (const Operation& op : ops) gathered.Control(op);
    group.Control(gathered.Finish());
  }
  return group.Finish();
}

Output WithDependencies(const std::vector<Operation>& operations, Output output, const std::string& name,
                        std::source_location loc) {
  if (!output.valid()) return {};
  NodeBuilder identity(*output.graph(loc), "Identity", loc);
  identity.Name(name.empty() ? "control_dependency" : name).Input(output).ColocateWith(output.op());
  for (const Operation& op : operations) identity.Control(op);
  return identity.Output();
}

Output ShapeOf(const Operand& input, DType out_type, const std::string& name) {
  Graph* g = GraphOf("Shape", {&input});
  if (g == nullptr) return {};
  return NodeBuilder(*g, "Shape", input.location())
      .Name(name)
      .Input(input.ToOutput(*g))
      .Attr("out_type", out_type)
      .Output();
}

std::vector<Output> ShapeN(const std::vector<Operand>& input, DType out_type, const std::string& name,
                           std::source_location loc) {
  Graph* g = GraphOf("ShapeN", input, loc);
  if (g == nullptr) return std::vector<Output>(input.size());
  const Operation op = NodeBuilder(*g, "ShapeN", input[0].location())
                           .Name(name)
                           .InputList(ToOutputs(*g, input))
                           .Attr("out_type", out_type)
                           .Finish();
  return op.valid() ? AllOutputs(op) : std::vector<Output>(input.size());
}

Output Size(const Operand& input, DType out_type, const std::string& name) {
  Graph* g = GraphOf("Size", {&input});
  if (g == nullptr) return {};
  return NodeBuilder(*g, "Size", input.location())
      .Name(name)
      .Input(input.ToOutput(*g))
      .Attr("out_type", out_type)
      .Output();
}

Output Rank(const Operand& input, const std::string& name) { return Unary("Rank", input, name); }

Output Reshape(const Operand& tensor, const Integers& shape, const std::string& name) {
  return WithIntegers("Reshape", tensor, "shape", shape, name);
}

Output ExpandDims(const Operand& input, const Operand& axis, const std::string& name) {
  Graph* g = GraphOf("ExpandDims", {&input, &axis});
  if (g == nullptr) return {};
  return NodeBuilder(*g, "ExpandDims", input.location())
      .Name(name)
      .Input(input.ToOutput(*g))
      .Input(axis.ToOutput(*g, axis.is_number() ? kInt32 : DType::kInvalid))
      .Output();
}

Output Squeeze(const Operand& input, const std::vector<int64_t>& axes, const std::string& name) {
  Graph* g = GraphOf("Squeeze", {&input});
  if (g == nullptr) return {};
  return NodeBuilder(*g, "Squeeze", input.location())
      .Name(name)
      .Input(input.ToOutput(*g))
      .Attr("squeeze_dims", axes)
      .Output();
}

Output BroadcastTo(const Operand& input, const Integers& shape, const std::string& name) {
  return WithIntegers("BroadcastTo", input, "shape", shape, name);
}

Output Concat(const std::vector<Operand>& values, int64_t axis, const std::string& name, std::source_location loc) {
  Graph* g = GraphOf("ConcatV2", values, loc);
  if (g == nullptr) return {};
  if (values.size() == 1) return Identity(values[0], name);
  const ScopedLocation at(*g, values[0].location());
  const std::vector<Output> tensors = ToOutputs(*g, values);
  return NodeBuilder(*g, "ConcatV2", values[0].location())
      .Name(name)
      .InputList(tensors)
      .Input(Scalar(*g, name + "/axis", axis))
      .Output();
}

std::vector<Output> Split(const Operand& value, int num, int64_t axis, const std::string& name) {
  std::vector<Output> parts(std::max(num, 0));
  Graph* g = GraphOf("Split", {&value});
  if (g == nullptr) return parts;
  const ScopedLocation at(*g, value.location());
  const Operation op = NodeBuilder(*g, "Split", value.location())
                           .Name(name)
                           .Input(Scalar(*g, name + "/split_dim", axis))
                           .Input(value.ToOutput(*g))
                           .Attr("num_split", num)
                           .Finish();
  return op.valid() ? AllOutputs(op) : parts;
}

std::vector<Output> SplitV(const Operand& value, const std::vector<int64_t>& sizes, int64_t axis,
                           const std::string& name) {
  std::vector<Output> parts(sizes.size());
  Graph* g = GraphOf("SplitV", {&value});
  if (g == nullptr) return parts;
  const ScopedLocation at(*g, value.location());
  const Operation op = NodeBuilder(*g, "SplitV", value.location())
                           .Name(name)
                           .Input(value.ToOutput(*g))
                           .Input(Integers(sizes).ToOutput(*g, name + "/size_splits"))
                           .Input(Scalar(*g, name + "/split_dim", axis))
                           .Attr("num_split", static_cast<int64_t>(sizes.size()))
                           .Finish();
  return op.valid() ? AllOutputs(op) : parts;
}

Output Stack(const std::vector<Operand>& values, int64_t axis, const std::string& name, std::source_location loc) {
  Graph* g = GraphOf("Pack", values, loc);
  if (g == nullptr) return {};
  return NodeBuilder(*g, "Pack", values[0].location())
      .Name(name)
      .InputList(ToOutputs(*g, values))
      .Attr("axis", axis)
      .Output();
}

std::vector<Output> Unstack(const Operand& value, int64_t axis, int num, const std::string& name) {
  Graph* g = GraphOf("Unpack", {&value});
  if (g == nullptr) return std::vector<Output>(std::max(num, 0));
  const Output tensor = value.ToOutput(*g);
  const Shape& shape = tensor.shape();
  if (num < 0) {
    const int64_t dim = axis < 0 && shape.has_rank() ? axis + shape.rank() : axis;
    if (!tensor.valid()) return {};
    if (!shape.has_rank() || dim < 0 || dim >= shape.rank() || shape.dim(static_cast<int>(dim)) < 0) {
      g->AddError(InvalidArgument("Unstack '", name, "' (", LocationText(ImplOf(*g).UserLine(value.location())),
                                  "): shape ", shape, " has no dimension ", axis, " of known size; pass num"));
      return {};
    }
    num = static_cast<int>(shape.dim(static_cast<int>(dim)));
  }
  const Operation op =
      NodeBuilder(*g, "Unpack", value.location()).Name(name).Input(tensor).Attr("num", num).Attr("axis", axis).Finish();
  return op.valid() ? AllOutputs(op) : std::vector<Output>(num);
}

namespace {

// Converts several lists of integers to one dtype: the dtype of the first list that is a tensor, or int32 if none is.
std::vector<Output> SameType(Graph& g, const std::string& prefix,
                             std::initializer_list<std::pair<const char*, const Integers*>> lists) {
  DType type = DType::kInvalid;
  for (const auto& [argument, list] : lists) {
    if (type == DType::kInvalid) type = list->dtype();
  }
  if (type == DType::kInvalid) type = kInt32;
  std::vector<Output> outputs;
  for (const auto& [argument, list] : lists) outputs.push_back(list->ToOutput(g, StrCat(prefix, "/", argument), type));
  return outputs;
}

}  // namespace

Output Slice(const Operand& input, const Integers& begin, const Integers& size, const std::string& name) {
  Graph* g = GraphOf("Slice", {&input});
  if (g == nullptr) return {};
  const ScopedLocation at(*g, input.location());
  const auto where = SameType(*g, name.empty() ? "Slice" : name, {{"begin", &begin}, {"size", &size}});
  return NodeBuilder(*g, "Slice", input.location())
      .Name(name)
      .Input(input.ToOutput(*g))
      .Input(where[0])
      .Input(where[1])
      .Output();
}

Output StridedSlice(const Operand& input, const Integers& begin, const Integers& end, const Integers& strides,
                    const StridedSliceOptions& options, const std::string& name) {
  Graph* g = GraphOf("StridedSlice", {&input});
  if (g == nullptr) return {};
  const ScopedLocation at(*g, input.location());
  const std::string prefix = name.empty() ? "strided_slice" : name;
  const auto where = SameType(*g, prefix, {{"begin", &begin}, {"end", &end}, {"strides", &strides}});
  return NodeBuilder(*g, "StridedSlice", input.location())
      .Name(prefix)
      .Input(input.ToOutput(*g))
      .Input(where[0])
      .Input(where[1])
      .Input(where[2])
      .Attr("begin_mask", options.begin_mask)
      .Attr("end_mask", options.end_mask)
      .Attr("ellipsis_mask", options.ellipsis_mask)
      .Attr("new_axis_mask", options.new_axis_mask)
      .Attr("shrink_axis_mask", options.shrink_axis_mask)
      .Output();
}

Output Tile(const Operand& input, const Integers& multiples, const std::string& name) {
  return WithIntegers("Tile", input, "multiples", multiples, name);
}

Output Transpose(const Operand& x, const Integers& perm, const std::string& name) {
  return WithIntegers("Transpose", x, "perm", perm, name);
}

Output Transpose(const Operand& x) {
  Graph* g = GraphOf("Transpose", {&x});
  if (g == nullptr) return {};
  const Output tensor = x.ToOutput(*g);
  if (!tensor.valid()) return {};
  if (!tensor.shape().has_rank()) {
    g->AddError(InvalidArgument("Transpose (", LocationText(ImplOf(*g).UserLine(x.location())), "): the rank of '",
                                tensor.name(), "' is unknown; pass the permutation"));
    return {};
  }
  std::vector<int64_t> perm;
  for (int i = tensor.shape().rank() - 1; i >= 0; --i) perm.push_back(i);
  return Transpose(x, perm);
}

Output InvertPermutation(const Operand& x, const std::string& name) { return Unary("InvertPermutation", x, name); }

Output Reverse(const Operand& tensor, const Integers& axes, const std::string& name) {
  return WithIntegers("ReverseV2", tensor, "axis", axes, name);
}

Output Pad(const Operand& tensor, const Operand& paddings, const std::string& name) {
  Graph* g = GraphOf("Pad", {&tensor, &paddings});
  if (g == nullptr) return {};
  return NodeBuilder(*g, "Pad", tensor.location())
      .Name(name)
      .Input(tensor.ToOutput(*g))
      .Input(paddings.ToOutput(*g))
      .Output();
}

Output PadV2(const Operand& tensor, const Operand& paddings, const Operand& constant, const std::string& name) {
  Graph* g = GraphOf("PadV2", {&tensor, &paddings, &constant});
  if (g == nullptr) return {};
  return NodeBuilder(*g, "PadV2", tensor.location())
      .Name(name)
      .Input(tensor.ToOutput(*g))
      .Input(paddings.ToOutput(*g))
      .Input(constant.ToOutput(*g, tensor.dtype()))
      .Output();
}

Output Gather(const Operand& params, const Operand& indices, int64_t axis, const std::string& name) {
  Graph* g = GraphOf("GatherV2", {&params, &indices});
  if (g == nullptr) return {};
  const ScopedLocation at(*g, params.location());
  return NodeBuilder(*g, "GatherV2", params.location())
      .Name(name)
      .Input(params.ToOutput(*g))
      .Input(indices.ToOutput(*g))
      .Input(Scalar(*g, (name.empty() ? "GatherV2" : name) + "/axis", axis))
      .Output();
}

Output Gather(const Variable& params, const Operand& indices, int64_t axis, const std::string& name) {
  if (axis == 0 && params.valid()) return params.SparseRead(indices, name);
  return Gather(Operand(params, indices.location()), indices, axis, name);
}

Output GatherNd(const Operand& params, const Operand& indices, const std::string& name) {
  Graph* g = GraphOf("GatherNd", {&params, &indices});
  if (g == nullptr) return {};
  return NodeBuilder(*g, "GatherNd", params.location())
      .Name(name)
      .Input(params.ToOutput(*g))
      .Input(indices.ToOutput(*g))
      .Output();
}

Output ScatterNd(const Operand& indices, const Operand& updates, const Integers& shape, const std::string& name) {
  Graph* g = GraphOf("ScatterNd", {&indices, &updates});
  if (g == nullptr) return {};
  const ScopedLocation at(*g, indices.location());
  const Output positions = indices.ToOutput(*g);
  const Output values = updates.ToOutput(*g);
  return NodeBuilder(*g, "ScatterNd")
      .Name(name)
      .Input(positions)
      .Input(values)
      .Input(shape.ToOutput(*g, (name.empty() ? "ScatterNd" : name) + "/shape", positions.dtype()))
      .Output();
}

Output Where(const Operand& condition, const std::string& name) { return Unary("Where", condition, name); }

}  // namespace tensorbraid
