// Reductions of segments of rows: schemas, shape rules, gradients.
#include "ops/reduction/segment.h"

#include "core/text/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/reduction/axes.h"
#include "ops/reduction/registration.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status SegmentShape(ShapeContext& c) {
  const Shape& data = c.input(0);
  const Shape& ids = c.input(1);
  TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  if (!data.has_rank() || !ids.has_rank()) return OkStatus();
  if (data.rank() < ids.rank() || !Shape(data.dims().first(ids.rank())).IsCompatibleWith(ids)) {
    return InvalidArgument("the shape of data ", data, " must begin with the shape of segment_ids ", ids);
  }
  const Tensor segments = c.input_value(2);
  Shape out({segments.is_valid() ? AxisValues(segments)[0] : Shape::kUnknownDim});
  for (int i = ids.rank(); i < data.rank(); ++i) out.AddDim(data.dim(i));
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status SegmentGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output data = NodeOf(op)->inputs()[0];
  const Output ids = NodeOf(op)->inputs()[1];
  if (!data.shape().has_rank() || !ids.shape().has_rank()) {
    return InvalidArgument("the gradient of ", NodeOf(op)->Describe(), " requires inputs of known rank");
  }
  const Output zero = Operand(Tensor::Scalar(int32_t{0})).ToOutput(*op.graph());
  const Output rows = NodeBuilder(*op.graph(), "GatherV2").Input(grads[0]).Input(Maximum(ids, 0)).Input(zero).Output();
  Output used = GreaterEqual(ids, 0);
  for (int i = ids.shape().rank(); i < data.shape().rank(); ++i) used = InsertDimension(used, -1);
  (*input_grads)[0] = Select(used, rows, 0.0);
  return OkStatus();
}

Status SegmentIdsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  if (c.num_inputs() > 2) TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  return RowsLikeInput(c, c.num_inputs() > 2 ? KnownInteger(c, 2) : Shape::kUnknownDim);
}

Status SegmentSumGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "GatherV2")
                          .Input(grads[0])
                          .Input(NodeOf(op)->inputs()[1])
                          .Input(ScalarZero(*op.graph()))
                          .Output();
  return OkStatus();
}

constexpr const char* kNumbers = "T: numbertype";

}  // namespace

void RegisterReductionSegmentOps(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  r.Add(Op("UnsortedSegmentSum")
            .Input("data: T")
            .Input("segment_ids: Tindices")
            .Input("num_segments: Tnumsegments")
            .Output("output: T")
            .Attr("T: numbertype")
            .Attr("Tindices: {int16, int32, int64}")
            .Attr("Tnumsegments: {int32, int64} = DT_INT32")
            .Shape(SegmentShape)
            .Gradient(SegmentGradient));
  struct Unsorted {
    const char* name;
    const char* types;
  };
  for (const Unsorted& row : std::initializer_list<Unsorted>{{"UnsortedSegmentProd", "T: numbertype"},
                                                             {"UnsortedSegmentMax", "T: realnumbertype"},
                                                             {"UnsortedSegmentMin", "T: realnumbertype"}}) {
    r.Add(Op(row.name)
              .Input("data: T")
              .Input("segment_ids: Tindices")
              .Input("num_segments: Tnumsegments")
              .Output("output: T")
              .Attr(row.types)
              .Attr("Tindices: {int32, int64}")
              .Attr("Tnumsegments: {int32, int64} = DT_INT32")
              .Shape(SegmentShape));
  }
  for (const Row& row : std::initializer_list<Row>{{"SegmentSum", kNumbers, SegmentSumGradient},
                                                   {"SegmentMean", kNumbers, nullptr},
                                                   {"SegmentProd", kNumbers, nullptr},
                                                   {"SegmentMin", kSegmentReals, nullptr},
                                                   {"SegmentMax", kSegmentReals, nullptr}}) {
    r.Add(Op(row.name)
              .Input("data: T")
              .Input("segment_ids: Tindices")
              .Output("output: T")
              .Attr(row.types)
              .Attr("Tindices: {int32, int64}")
              .Shape(SegmentIdsShape)
              .Gradient(row.gradient));
  }
  for (const Row& row : std::initializer_list<Row>{{"SegmentSumV2", kNumbers, SegmentSumGradient},
                                                   {"SegmentProdV2", kNumbers, nullptr},
                                                   {"SegmentMinV2", kSegmentReals, nullptr},
                                                   {"SegmentMaxV2", kSegmentReals, nullptr}}) {
    r.Add(Op(row.name)
              .Input("data: T")
              .Input("segment_ids: Tindices")
              .Input("num_segments: Tnumsegments")
              .Output("output: T")
              .Attr(row.types)
              .Attr("Tindices: {int32, int64}")
              .Attr(kNumSegmentsType)
              .Shape(SegmentIdsShape)
              .Gradient(row.gradient));
  }
}

}  // namespace tensorbraid
