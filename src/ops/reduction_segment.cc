// Reductions of segments of rows: schemas, shape rules, gradients.
#include "core/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "tensorbraid/math_ops.h"

namespace tensorbraid {
namespace {

int64_t KnownInteger(ShapeContext& c, int input) {
  const Tensor t = c.input_value(input);
  if (!t.is_valid() || t.num_elements() != 1) return Shape::kUnknownDim;
  return t.dtype() == kInt64 ? t.scalar<int64_t>() : t.scalar<int32_t>();
}

// So many rows of the shape of input 0's. InvalidArgument when that has none, or `rows` is negative but not unknown.
Status RowsLikeInput(ShapeContext& c, int64_t rows) {
  TF_ASSIGN_OR_RETURN(const Shape data, c.WithRankAtLeast(0, 1));
  if (rows < Shape::kUnknownDim) return InvalidArgument("the number of segments must not be negative, got ", rows);
  if (!data.has_rank()) return OkStatus();
  Shape out({rows});
  for (int i = 1; i < data.rank(); ++i) out.AddDim(data.dim(i));
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status SegmentShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  if (c.num_inputs() > 2) TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  return RowsLikeInput(c, c.num_inputs() > 2 ? KnownInteger(c, 2) : Shape::kUnknownDim);
}

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

Output Zero(Graph& graph) { return Operand(Tensor::Scalar(int32_t{0})).ToOutput(graph); }

Status SegmentSumGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "GatherV2")
                          .Input(grads[0])
                          .Input(op.node()->inputs()[1])
                          .Input(Zero(*op.graph()))
                          .Output();
  return OkStatus();
}

template <const char* const& grad_op>
Status SparseSegmentGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = op.node()->inputs();
  Graph& graph = *op.graph();
  const Output rows =
      NodeBuilder(graph, "GatherV2").Input(Node1("Shape", in[0])).Input(Zero(graph)).Input(Zero(graph)).Output();
  (*input_grads)[0] = NodeBuilder(graph, grad_op).Input(grads[0]).Input(in[1]).Input(in[2]).Input(rows).Output();
  return OkStatus();
}
constexpr const char* kSumGrad = "SparseSegmentSumGrad";
constexpr const char* kMeanGrad = "SparseSegmentMeanGrad";
constexpr const char* kSqrtNGrad = "SparseSegmentSqrtNGrad";

constexpr const char* kNumbers = "T: numbertype";
constexpr const char* kReals = "T: realnumbertype";
constexpr const char* kFloats = "T: {bfloat16, half, float, double}";
constexpr const char* kNumSegments = "Tnumsegments: {int32, int64} = DT_INT32";

void RegisterSegments(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row : std::initializer_list<Row>{{"SegmentSum", kNumbers, SegmentSumGradient},
                                                   {"SegmentMean", kNumbers, nullptr},
                                                   {"SegmentProd", kNumbers, nullptr},
                                                   {"SegmentMin", kReals, nullptr},
                                                   {"SegmentMax", kReals, nullptr}}) {
    r.Add(Op(row.name)
              .Input("data: T")
              .Input("segment_ids: Tindices")
              .Output("output: T")
              .Attr(row.types)
              .Attr("Tindices: {int32, int64}")
              .Shape(SegmentShape)
              .Gradient(row.gradient));
  }
  for (const Row& row : std::initializer_list<Row>{{"SegmentSumV2", kNumbers, SegmentSumGradient},
                                                   {"SegmentProdV2", kNumbers, nullptr},
                                                   {"SegmentMinV2", kReals, nullptr},
                                                   {"SegmentMaxV2", kReals, nullptr}}) {
    r.Add(Op(row.name)
              .Input("data: T")
              .Input("segment_ids: Tindices")
              .Input("num_segments: Tnumsegments")
              .Output("output: T")
              .Attr(row.types)
              .Attr("Tindices: {int32, int64}")
              .Attr(kNumSegments)
              .Shape(SegmentShape)
              .Gradient(row.gradient));
  }
}

void RegisterSparseSegments(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row :
       std::initializer_list<Row>{{"SparseSegmentSum", kReals, SparseSegmentGradient<kSumGrad>},
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
              .Attr(kNumSegments)
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

}  // namespace

void RegisterSegmentOps(OpRegistry& r) {
  RegisterSegments(r);
  RegisterSparseSegments(r);
}

}  // namespace tensorbraid
