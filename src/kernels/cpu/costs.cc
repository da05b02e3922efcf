#include "kernels/cpu/costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "graph/model/node.h"
#include "ops/nn/convolution.h"

namespace tensorbraid::cpu {
namespace {

bool EitherFlag(const CostContext& c, const char* transpose, const char* adjoint) {
  return c.flag(transpose) || c.flag(adjoint);
}

// Whether an input is a variable that the kernel updates.
bool IsState(const CostContext& c, int i) {
  return IsRef(c.node().declared_input_type(i)) || BaseType(c.node().input_type(i)) == DType::kResource;
}

}  // namespace

double LargestElements(const CostContext& c) {
  double largest = 0;
  for (int i = 0; i < c.num_inputs(); ++i) largest = std::max(largest, c.input_elements(i));
  for (int i = 0; i < c.num_outputs(); ++i) largest = std::max(largest, c.output_elements(i));
  return largest;
}

Cost ReductionCost(const CostContext& c) {
  return {.bytes = c.input_bytes(0), .flops = c.input_elements(0) * FlopsOfNs(0.1)};
}

Cost ProductCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  const bool transpose_a = EitherFlag(c, "transpose_a", "adj_x"), transpose_b = EitherFlag(c, "transpose_b", "adj_y");
  const double m = c.input_dim(0, transpose_a ? -1 : -2);
  const double n = c.input_dim(1, transpose_b ? -2 : -1);
  // A batch dimension of one operand may be broadcast, so the operand with more matrices decides.
  cost.flops = 2 * std::max(c.input_elements(0) * n, c.input_elements(1) * m);
  return cost;
}

Cost ProductSumCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  const int terms = c.num_inputs() / 2;
  for (int i = 0; i < terms; ++i) {
    cost.flops += 2 * c.input_elements(i) * c.input_dim(terms + i, c.flag("transpose_b") ? -2 : -1);
  }
  return cost;
}

Cost ConvolutionCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  const ConvolutionTraits traits = ConvolutionTraitsOf(c.node().type());
  const AttrValue* format = c.node().FindAttr("data_format");
  const auto* text = format == nullptr ? nullptr : format->get<std::string>();
  const bool channels_first = text != nullptr && (text->starts_with("NC") || *text == "CHANNELS_FIRST");
  const int channel_axis = channels_first ? 1 : -1;
  // At each position of the output, each element of the filter is used once.
  double positions = 0;
  if (traits.result != ConvolutionResult::kOutput) {
    positions = c.input_elements(2) / std::max(1.0, c.input_dim(2, channel_axis));
  } else if (c.knows_output(0)) {
    const double channels = c.input_dim(1, -1) * (traits.depthwise ? c.input_dim(1, -2) : 1);
    positions = c.output_elements(0) / std::max(1.0, channels);
  } else {
    positions = c.input_elements(0) / std::max(1.0, c.input_dim(0, channel_axis));
    for (const int64_t stride : c.node().attr<std::vector<int64_t>>("strides")) {
      positions /= static_cast<double>(std::max<int64_t>(1, stride));
    }
  }
  const bool to_filter = traits.result == ConvolutionResult::kFilter;
  cost.flops = 2 * positions * (to_filter ? c.output_elements(0) : c.input_elements(1));
  return cost;
}

Cost EinsumCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  const AttrValue* attr = c.node().FindAttr("equation");
  const auto* equation = attr == nullptr ? nullptr : attr->get<std::string>();
  if (equation == nullptr) return cost;
  // Every combination of the labels' values is one multiplication and one addition. The dimensions of "..." together
  // are treated as one label.
  std::array<double, 256> sizes{};
  double ellipsis = 1;
  size_t at = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const size_t end = std::min(equation->find_first_of(",-", at), equation->size());
    double named = 1;
    int axis = 0;
    bool after_ellipsis = false;
    const int labels = static_cast<int>(
        std::count_if(equation->begin() + at, equation->begin() + end, [](char l) { return l != '.' && l != ' '; }));
    for (size_t k = at; k < end; ++k) {
      const char label = (*equation)[k];
      if (label == ' ') continue;
      if (label == '.') {
        if (!after_ellipsis) axis += std::max(0, c.input_rank(i) - labels);
        after_ellipsis = true;
        continue;
      }
      const double size = c.input_dim(i, axis++);
      named *= size;
      sizes[static_cast<unsigned char>(label)] = std::max(sizes[static_cast<unsigned char>(label)], size);
    }
    if (after_ellipsis && named > 0) ellipsis = std::max(ellipsis, c.input_elements(i) / named);
    at = std::min(end + 1, equation->size());
  }
  cost.flops = 2 * ellipsis;
  for (const double size : sizes) {
    if (size > 0) cost.flops *= size;
  }
  return cost;
}

Cost SparseProductCost(const CostContext& c) {
  if (c.num_inputs() < 4) return DefaultCost(c);
  Cost cost = DefaultCost(c);
  cost.flops = 2 * kScalarFlops * c.input_elements(1) * c.input_dim(3, c.flag("adjoint_b") ? 0 : 1);
  return cost;
}

Cost LinalgCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  const double least = std::min(c.input_dim(0, -2), c.input_dim(0, -1));
  const double right_sides = c.num_inputs() > 1 ? c.input_dim(1, -1) : 0;
  cost.flops = 2 * kScalarFlops * c.input_elements(0) * (least + right_sides);
  return cost;
}

Cost FourierCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  const double n = LargestElements(c);
  cost.flops = 5 * kScalarFlops * n * std::log2(std::max(2.0, n));
  return cost;
}

Cost GatherCost(const CostContext& c) {
  const double rows = c.input_elements(1);
  double row_bytes = 0;
  if (!IsState(c, 0)) {
    const double all = c.input_dim(0, 0);
    row_bytes = all > 0 ? c.input_bytes(0) / all : 0;
  } else if (c.num_outputs() > 0 && rows > 0 && c.knows_output(0)) {
    row_bytes = c.output_bytes(0) / rows;
  }
  return {.bytes = c.input_bytes(1) + 2 * rows * row_bytes, .flops = 2 * kScalarFlops * rows};
}

Cost UpdateCost(const CostContext& c) {
  double states = 0, operand_bytes = 0, operand_elements = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (IsState(c, i)) {
      ++states;
    } else if (const double bytes = c.input_bytes(i); bytes >= operand_bytes) {
      operand_bytes = bytes;
      operand_elements = c.input_elements(i);
    }
  }
  return {.bytes = operand_bytes * (1 + 2 * states), .flops = 10 * states * operand_elements};
}

Cost RowUpdateCost(const CostContext& c) {
  Cost cost;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (IsState(c, i)) continue;
    cost.bytes += 3 * c.input_bytes(i);
    cost.flops += 2 * c.input_elements(i);
  }
  return cost;
}

// As much as for 16 MB of data, because a disk may be slow.
Cost FileCost(const CostContext&) { return {.bytes = 16 << 20, .flops = 0}; }

}  // namespace tensorbraid::cpu
