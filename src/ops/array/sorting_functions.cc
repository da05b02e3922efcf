// The public functions TopK, Sort and ArgSort. All of them use the op TopKV2.
#include <limits>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// Maps the numbers of the dtype to each other so that their order is reversed. Applied twice, it gives x.
Output Reversed(const Output& x) {
  if (IsFloating(x.dtype())) return -x;
  // There is no -x for an unsigned x, nor for the lowest signed number.
  switch (x.dtype()) {
    case DType::kUint8:
      return std::numeric_limits<uint8_t>::max() - x;
    case DType::kUint16:
      return std::numeric_limits<uint16_t>::max() - x;
    case DType::kUint32:
      return std::numeric_limits<uint32_t>::max() - x;
    case DType::kUint64:
      return std::numeric_limits<uint64_t>::max() - x;
    default:
      return -1 - x;
  }
}

// The sorted values and their positions. Invalid outputs after an error.
TopKResult Sorted(const char* function, const Operand& operand, int axis, SortOrder order, const std::string& name) {
  Graph* graph = GraphOf(function, {&operand});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, operand.location());
  Output x = operand.ToOutput(*graph);
  if (!x.valid()) return {};
  const int rank = x.shape().has_rank() ? x.shape().rank() : 0;
  const int dim = axis < 0 ? axis + rank : axis;
  if (dim < 0 || dim >= rank) {
    graph->AddError(InvalidArgument(function, " (", LocationText(ImplOf(*graph).UserLine(operand.location())),
                                    "): axis ", axis, " does not exist in a tensor of shape ", x.shape(),
                                    x.shape().has_rank() ? "" : ", whose rank must be known"));
    return {};
  }
  auto scope = graph->NameScope(name.empty() ? function : name);
  std::vector<int64_t> swapped(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) swapped[i] = i;
  std::swap(swapped[dim], swapped[rank - 1]);
  const bool is_last = dim == rank - 1;
  if (!is_last) x = Transpose(x, swapped);
  const bool ascends = order == SortOrder::kAscending;
  const int64_t size = x.shape().dim(rank - 1);
  // TopKV2 works along the last dimension. k is its size, as a scalar.
  const Output k = size >= 0 ? Operand(size).ToOutput(*graph, kInt32)
                             : Reshape(Slice(ShapeOf(x), {rank - 1}, {1}), Integers(std::vector<int64_t>()));
  TopKResult sorted = TopK(ascends ? Reversed(x) : x, k);
  if (ascends) sorted.values = Reversed(sorted.values);
  if (!is_last) sorted = {Transpose(sorted.values, swapped), Transpose(sorted.indices, swapped)};
  return sorted;
}

}  // namespace

TopKResult TopK(const Operand& x, const Operand& k, const std::string& name) {
  Graph* graph = GraphOf("TopKV2", {&x, &k});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const Output in = x.ToOutput(*graph);
  const Operation op = NodeBuilder(*graph, "TopKV2")
                           .Name(name)
                           .Input(in)
                           .Input(k.ToOutput(*graph, kInt32))
                           .Attr("sorted", true)
                           .Finish();
  return op.valid() ? TopKResult{op.output(0), op.output(1)} : TopKResult{};
}

Output Sort(const Operand& x, int axis, SortOrder order, const std::string& name) {
  return Sorted("Sort", x, axis, order, name).values;
}

Output ArgSort(const Operand& x, int axis, SortOrder order, const std::string& name) {
  return Sorted("ArgSort", x, axis, order, name).indices;
}

}  // namespace tensorbraid
