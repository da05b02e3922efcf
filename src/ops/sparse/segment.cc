// Reductions of segments of rows that are chosen by indices: schemas, shape rules, gradients.
#include "ops/reduction/segment.h"

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status CheckIndices(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRank(1, 1));
  TF_ASSIGN_OR_RETURN(const Shape ids, c.WithRank(2, 1));
  if (!indices.IsCompatibleWith(ids)) {
    return InvalidArgument("indices and segment_ids must have the same size, got ", indices, " and ", ids);
  }
  return OkStatus();
}

Status SparseSegmentShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckIndices(c));
  if (c.num_inputs() > 3) TF_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  return RowsLikeInput(c, c.num_inputs() > 3 ? KnownInteger(c, 3) : Shape::kUnknownDim);
}

Status SparseSegmentGradShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckIndices(c));
  TF_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  return RowsLikeInput(c, KnownInteger(c, 3));
}

Status SparseSegmentGradV2Shape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckIndices(c));
  TF_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  c.set_output(1, Shape::UnknownOfRank(1));
  return RowsLikeInput(c, Shape::kUnknownDim);
}

// The gradient is the op `grad_op`, whose last input is the number of rows of the data.
template <const char* const& grad_op>
Status SparseSegmentGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  Graph& graph = *op.graph();
  const Output rows = NodeBuilder(graph, "GatherV2")
                          .Input(Node1("Shape", in[0]))
                          .Input(ScalarZero(graph))
                          .Input(ScalarZero(graph))
                          .Output();
  (*input_grads)[0] = NodeBuilder(graph, grad_op).Input(grads[0]).Input(in[1]).Input(in[2]).Input(rows).Output();
  return OkStatus();
}

constexpr const char* kSumGrad = "SparseSegmentSumGrad";
constexpr const char* kMeanGrad = "SparseSegmentMeanGrad";
constexpr const char* kSqrtNGrad = "SparseSegmentSqrtNGrad";
constexpr const char* kFloats = "T: {bfloat16, half, float, double}";

}  // namespace

void RegisterSparseSegmentOps(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row :
       std::initializer_list<Row>{{"SparseSegmentSum", kSegmentReals, SparseSegmentGradient<kSumGrad>},
                                  {"SparseSegmentMean", kFloats, SparseSegmentGradient<kMeanGrad>},
                                  {"SparseSegmentSqrtN", kFloats, SparseSegmentGradient<kSqrtNGrad>}}) {
    const std::string name = row.name;
    r.Add(Op(name)
              .Input("data: T")
              .Input("indices: Tidx")
              .Input("segment_ids: Tsegmentids")
              .Output("output: T")
              .Attr(row.types)
              .Attr("Tidx: {int32, int64} = DT_INT32")
              .Attr("Tsegmentids: {int32, int64} = DT_INT32")
              .Attr("sparse_gradient: bool = false")
              .Shape(SparseSegmentShape)
              .Gradient(row.gradient));
    r.Add(Op(name + "WithNumSegments")
              .Input("data: T")
              .Input("indices: Tidx")
              .Input("segment_ids: Tsegmentids")
              .Input("num_segments: Tnumsegments")
              .Output("output: T")
              .Attr(row.types)
              .Attr("Tidx: {int32, int64} = DT_INT32")
              .Attr(kNumSegmentsType)
              .Attr("Tsegmentids: {int32, int64} = DT_INT32")
              .Attr("sparse_gradient: bool = false")
              .Shape(SparseSegmentShape)
              .Gradient(row.gradient));
    r.Add(Op(name + "Grad")
              .Input("grad: T")
              .Input("indices: Tidx")
              .Input("segment_ids: Tsegmentids")
              .Input("output_dim0: int32")
              .Output("output: T")
              .Attr(kFloats)
              .Attr("Tidx: {int32, int64} = DT_INT32")
              .Attr("Tsegmentids: {int32, int64} = DT_INT32")
              .Shape(SparseSegmentGradShape));
    r.Add(Op(name + "GradV2")
              .Input("grad: T")
              .Input("indices: Tidx")
              .Input("segment_ids: Tsegmentids")
              .Input("dense_output_dim0: int32")
              .Output("output: T")
              .Output("sorted_unique_indices: Tidx")
              .Attr(kFloats)
              .Attr("Tidx: {int32, int64} = DT_INT32")
              .Attr("Tsegmentids: {int32, int64} = DT_INT32")
              .Shape(SparseSegmentGradV2Shape));
  }
}

}  // namespace tensorbraid
