// The public functions of the reduction op family.
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Output Reduce(const char* op, const Operand& x, const Axes& axes, const ReduceOptions& options) {
  Graph* graph = GraphOf(op, {&x});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const Output in = x.ToOutput(*graph);
  if (!in.valid()) return {};
  return NodeBuilder(*graph, op, x.location())
      .Name(options.name)
      .Input(in)
      .Input(axes.ToOutput(*graph, in))
      .Attr("keep_dims", options.keep_dims)
      .Output();
}

Output Arg(const char* op, const Operand& x, int axis, DType dtype, const std::string& name) {
  Graph* graph = GraphOf(op, {&x});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const Output in = x.ToOutput(*graph);
  const Output dimension = Operand(Tensor::Scalar(static_cast<int32_t>(axis))).ToOutput(*graph);
  return NodeBuilder(*graph, op, x.location())
      .Name(name)
      .Input(in)
      .Input(dimension)
      .Attr("output_type", dtype)
      .Output();
}

}  // namespace

Output Axes::ToOutput(Graph& graph, Output x) const {
  if (is_tensor_) return tensor_;
  if (!is_all_) return ConstantVector(graph, numbers_);
  if (!x.valid()) return {};
  if (x.shape().has_rank()) {
    std::vector<int64_t> all(x.shape().rank());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    return ConstantVector(graph, all);
  }
  return Range(graph, 0, Node1("Rank", x), 1);
}

Output ReduceSum(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Sum", x, axes, o); }
Output ReduceMean(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Mean", x, axes, o); }
Output ReduceProd(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Prod", x, axes, o); }
Output ReduceMax(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Max", x, axes, o); }
Output ReduceMin(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Min", x, axes, o); }
Output ReduceAll(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("All", x, axes, o); }
Output ReduceAny(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Any", x, axes, o); }

Output ArgMax(const Operand& x, int axis, DType dtype, const std::string& name) {
  return Arg("ArgMax", x, axis, dtype, name);
}

Output ArgMin(const Operand& x, int axis, DType dtype, const std::string& name) {
  return Arg("ArgMin", x, axis, dtype, name);
}

Output Cumsum(const Operand& x, int axis, const CumsumOptions& options) {
  Graph* graph = GraphOf("Cumsum", {&x});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const Output in = x.ToOutput(*graph);
  return NodeBuilder(*graph, "Cumsum")
      .Name(options.name)
      .Input(in)
      .Input(Operand(axis).ToOutput(*graph, kInt32))
      .Attr("exclusive", options.exclusive)
      .Attr("reverse", options.reverse)
      .Output();
}

namespace {

Output UnsortedSegments(const char* op, const Operand& data, const Operand& segment_ids, const Operand& num_segments,
                        const std::string& name) {
  Graph* graph = GraphOf(op, {&data, &segment_ids, &num_segments});
  if (graph == nullptr) return {};
  return NodeBuilder(*graph, op, data.location())
      .Name(name)
      .Input(data.ToOutput(*graph))
      .Input(segment_ids.ToOutput(*graph))
      .Input(num_segments.ToOutput(*graph, kInt32))
      .Output();
}

Output SortedSegments(const char* op, const Operand& data, const Operand& segment_ids, const std::string& name) {
  Graph* graph = GraphOf(op, {&data, &segment_ids});
  if (graph == nullptr) return {};
  const Output rows = data.ToOutput(*graph);
  return NodeBuilder(*graph, op, data.location()).Name(name).Input(rows).Input(segment_ids.ToOutput(*graph)).Output();
}

}  // namespace

#define TB_SEGMENTS(function)                                                                   \
  Output function(const Operand& data, const Operand& segment_ids, const Operand& num_segments, \
                  const std::string& name) {                                                    \
    return UnsortedSegments(#function, data, segment_ids, num_segments, name);                  \
  }
TB_SEGMENTS(UnsortedSegmentSum)
TB_SEGMENTS(UnsortedSegmentProd)
TB_SEGMENTS(UnsortedSegmentMax)
TB_SEGMENTS(UnsortedSegmentMin)
#undef TB_SEGMENTS

#define TB_SEGMENTS(function)                                                                 \
  Output function(const Operand& data, const Operand& segment_ids, const std::string& name) { \
    return SortedSegments(#function, data, segment_ids, name);                                \
  }
TB_SEGMENTS(SegmentSum)
TB_SEGMENTS(SegmentMean)
TB_SEGMENTS(SegmentProd)
TB_SEGMENTS(SegmentMax)
TB_SEGMENTS(SegmentMin)
#undef TB_SEGMENTS

}  // namespace tensorbraid
