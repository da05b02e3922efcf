#include "kernels/pjrt/array/moving_slice.h"

#include <algorithm>

#include "graph/model/handles.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// The node that makes the tensor, if others only pass it on.
const Node& MakerOf(const Output& tensor) {
  const Node* node = NodeOf(tensor);
  while (node->type() == "Identity" || node->type() == "Enter") node = NodeOf(node->inputs()[0]);
  return *node;
}

// The integers of a constant; nothing for other nodes.
std::optional<IntVector> IntegersOfConstant(const Node& node) {
  if (node.type() != "Const") return std::nullopt;
  const auto integers = IntegersOf(node.attr<Tensor>("value"), "the constant");
  return integers.ok() ? std::optional(*integers) : std::nullopt;
}

bool AreKnown(const std::optional<KnownEntries>& entries) {
  return entries.has_value() && std::ranges::all_of(*entries, [](const auto& e) { return e.has_value(); });
}

}  // namespace

std::optional<KnownEntries> EntriesInGraph(const Node& node, int i) {
  const Node& maker = MakerOf(node.inputs()[i]);
  if (const auto integers = IntegersOfConstant(maker)) return KnownEntries(integers->begin(), integers->end());
  if (maker.type() != "Pack") return std::nullopt;
  KnownEntries entries;
  for (const Output& in : maker.inputs()) {
    const auto integers = IntegersOfConstant(MakerOf(in));
    const bool is_scalar = integers.has_value() && integers->size() == 1;
    entries.push_back(is_scalar ? std::optional((*integers)[0]) : std::nullopt);
  }
  return entries;
}

StatusOr<KnownEntries> EntriesOf(const EmitContext& ctx, int i) {
  if (ctx.is_static(i)) {
    TF_ASSIGN_OR_RETURN(const std::vector<int64_t> integers, ctx.static_integers(i));
    return KnownEntries(integers.begin(), integers.end());
  }
  TF_ASSIGN_OR_RETURN(const Shape shape, ctx.input_shape(i));
  const auto entries = EntriesInGraph(ctx.node(), i);
  if (!entries.has_value() || shape.rank() != 1) return KnownEntries(static_cast<size_t>(shape.num_elements()));
  if (static_cast<int64_t>(entries->size()) == shape.dim(0)) return *entries;
  return Internal("input ", i, " has ", shape.dim(0), " elements, not ", entries->size());
}

std::vector<int> MovingInputsOfStridedSlice(const Node& node) {
  const auto strides = EntriesInGraph(node, 3);
  if (!AreKnown(strides) || node.attr<int64_t>("new_axis_mask") != 0) return {};
  const auto begin = EntriesInGraph(node, 1), end = EntriesInGraph(node, 2);
  for (size_t j = 0; j < strides->size(); ++j) {
    const auto is_set = [&](const char* mask) { return (node.attr<int64_t>(mask) >> j & 1) != 0; };
    const auto is_known = [&](const std::optional<KnownEntries>& entries) {
      return entries.has_value() && j < entries->size() && (*entries)[j].has_value();
    };
    if (is_set("ellipsis_mask") || is_set("shrink_axis_mask")) continue;
    if ((!is_set("begin_mask") && !is_known(begin)) || (!is_set("end_mask") && !is_known(end))) return {};
  }
  return {1, 2};
}

std::vector<int> MovingInputsOfSlice(const Node& node) {
  const auto sizes = EntriesInGraph(node, 2);
  if (!AreKnown(sizes)) return {};
  const auto begin = EntriesInGraph(node, 1);
  for (size_t j = 0; j < sizes->size(); ++j) {
    const bool is_known = begin.has_value() && j < begin->size() && (*begin)[j].has_value();
    if ((*sizes)[j] == -1 && !is_known) return {};
  }
  return {1};
}

StatusOr<std::vector<stablehlo::Value>> MovingStarts(EmitContext& ctx, const Shape& shape,
                                                     const std::vector<MovingDim>& moving,
                                                     const std::vector<int64_t>& fixed) {
  stablehlo::Builder& b = ctx.builder();
  TF_ASSIGN_OR_RETURN(const stablehlo::Value begin, ctx.input(1));
  std::vector<stablehlo::Value> starts;
  for (const int64_t start : fixed) starts.push_back(b.Splat(begin.dtype, static_cast<double>(start)));
  for (const auto& [dim, entry] : moving) {
    const Expr at(b, b.Reshape(b.Slice(begin, {entry}, {entry + 1}, {1}), {}));
    const Expr from_end = at + static_cast<double>(shape.dim(dim));
    starts[static_cast<size_t>(dim)] = b.Select((at < 0).value(), from_end.value(), at.value());
  }
  return starts;
}

stablehlo::Value DynamicSlice(stablehlo::Builder& b, const stablehlo::Value& in,
                              const std::vector<stablehlo::Value>& starts, const std::vector<int64_t>& sizes) {
  std::vector<stablehlo::Value> operands = {in};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return b.Op("dynamic_slice", operands, in.dtype, Shape(sizes), "slice_sizes = " + stablehlo::ArrayText(sizes));
}

}  // namespace tensorbraid::pjrt
