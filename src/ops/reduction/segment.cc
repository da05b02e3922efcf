// Reductions of segments of rows: schemas, shape rules, gradients.
#include "ops/reduction/segment.h"

#include <functional>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/reduction/axes.h"
#include "tensorbraid/ops/array.h"
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

// The rows of `params` with the numbers `ids`.
Output RowsAt(Output params, Output ids) {
  return NodeBuilder(*params.graph(), "GatherV2").Input(params).Input(ids).Input(ScalarZero(*params.graph())).Output();
}

// Adds dimensions of size 1 at the end of `rows`, which has one number for each id or for each segment, until it has
// the rank of `rank_of`. Then it broadcasts over the elements of each row of `rank_of`.
Output WithTrailingDimensions(Output rows, Output rank_of) {
  if (rows.shape().has_rank() && rank_of.shape().has_rank()) {
    for (int i = rows.shape().rank(); i < rank_of.shape().rank(); ++i) rows = InsertDimension(rows, -1);
    return rows;
  }
  const Output count = Reshape(Rank(rank_of) - Rank(rows), {1});
  return Reshape(rows, Concat({ShapeOf(rows), Fill(*rows.graph(), count, 1)}, 0));
}

// For an op on unsorted segments: for each row of `data`, the row of `params` that belongs to its segment. `params` has
// one row per segment. Rows of `data` with negative ids belong to no segment and get 0.
Output SegmentsAt(Output params, Output ids, Output data) {
  const Output used = WithTrailingDimensions(GreaterEqual(ids, 0), data);
  return Select(used, RowsAt(params, Maximum(ids, 0)), 0.0);
}

Status UnsortedSumGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = SegmentsAt(grads[0], NodeOf(op)->inputs()[1], NodeOf(op)->inputs()[0]);
  return OkStatus();
}

Output UnsortedSum(const Operation& op, Output data) {
  const auto& in = NodeOf(op)->inputs();
  return NodeBuilder(*op.graph(), "UnsortedSegmentSum").Input(data).Input(in[1]).Input(in[2]).Output();
}

// Divides the gradient of a segment equally among the elements that equal its extreme.
Status UnsortedExtremeGradient(const Operation& op, const std::vector<Output>& grads,
                               std::vector<Output>* input_grads) {
  const Output data = NodeOf(op)->inputs()[0], ids = NodeOf(op)->inputs()[1];
  const Output used = WithTrailingDimensions(GreaterEqual(ids, 0), data);
  const Output chosen = LogicalAnd(Equal(data, SegmentsAt(op.output(0), ids, data)), used);
  const Output share = grads[0] / UnsortedSum(op, Cast(chosen, data.dtype()));
  (*input_grads)[0] = Select(chosen, SegmentsAt(share, ids, data), 0.0);
  return OkStatus();
}

// The derivative for an element is the product of the others in its segment. If no element is 0, this is the product of
// all, divided by the element. For the only zero of a segment, it is the product of the elements that are not 0. If
// there are more zeros, it is 0. As in TensorFlow, it is not conjugated.
//
// `product`, the number of `zeros`, `nonzero_product` and `grad` have one row per segment. `at_elements` takes such
// rows and returns, for each row of `data`, the row of its segment.
Output ProductGradient(Output data, Output product, Output zeros, Output nonzero_product, Output grad,
                       const std::function<Output(Output)>& at_elements) {
  const Output is_zero = Equal(data, 0.0);
  const Output some = Select(Greater(zeros, 1), 0.0, grad);
  const Output others =
      Select(is_zero, at_elements(nonzero_product), at_elements(product) / Select(is_zero, 1.0, data));
  return at_elements(some) * others;
}

Status UnsortedProdGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output data = NodeOf(op)->inputs()[0], ids = NodeOf(op)->inputs()[1], count = NodeOf(op)->inputs()[2];
  const Output is_zero = Equal(data, 0.0);
  const Output nonzero_product = NodeBuilder(*op.graph(), "UnsortedSegmentProd")
                                     .Input(Select(is_zero, 1.0, data))
                                     .Input(ids)
                                     .Input(count)
                                     .Output();
  (*input_grads)[0] = ProductGradient(data, op.output(0), UnsortedSum(op, Cast(is_zero, kInt32)), nonzero_product,
                                      grads[0], [&](Output rows) { return SegmentsAt(rows, ids, data); });
  return OkStatus();
}

Status SegmentIdsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  if (c.num_inputs() > 2) TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  return RowsLikeInput(c, c.num_inputs() > 2 ? KnownInteger(c, 2) : Shape::kUnknownDim);
}

Status SegmentSumGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = RowsAt(grads[0], NodeOf(op)->inputs()[1]);
  return OkStatus();
}

Status SegmentMeanGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output data = NodeOf(op)->inputs()[0], ids = NodeOf(op)->inputs()[1];
  const Output sizes = Node2("SegmentSum", Cast(Node1("OnesLike", ids), data.dtype()), ids);
  (*input_grads)[0] = RowsAt(grads[0] / WithTrailingDimensions(sizes, data), ids);
  return OkStatus();
}

// Divides the gradient of a segment equally among the elements that equal its extreme.
Status SegmentExtremeGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output data = NodeOf(op)->inputs()[0], ids = NodeOf(op)->inputs()[1];
  const Output chosen = Equal(data, RowsAt(op.output(0), ids));
  const Output share = grads[0] / Node2("SegmentSum", Cast(chosen, data.dtype()), ids);
  (*input_grads)[0] = Select(chosen, RowsAt(share, ids), 0.0);
  return OkStatus();
}

Status SegmentProdGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output data = NodeOf(op)->inputs()[0], ids = NodeOf(op)->inputs()[1];
  const Output is_zero = Equal(data, 0.0);
  const Output nonzero_product = Node2("SegmentProd", Select(is_zero, 1.0, data), ids);
  (*input_grads)[0] = ProductGradient(data, op.output(0), Node2("SegmentSum", Cast(is_zero, kInt32), ids),
                                      nonzero_product, grads[0], [&](Output rows) { return RowsAt(rows, ids); });
  return OkStatus();
}

constexpr const char* kSegmentNumbers = "T: numbertype";

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
            .Gradient(UnsortedSumGradient));
  for (const Row& row : std::initializer_list<Row>{{"UnsortedSegmentProd", kSegmentNumbers, UnsortedProdGradient},
                                                   {"UnsortedSegmentMax", kSegmentReals, UnsortedExtremeGradient},
                                                   {"UnsortedSegmentMin", kSegmentReals, UnsortedExtremeGradient}}) {
    r.Add(Op(row.name)
              .Input("data: T")
              .Input("segment_ids: Tindices")
              .Input("num_segments: Tnumsegments")
              .Output("output: T")
              .Attr(row.types)
              .Attr("Tindices: {int32, int64}")
              .Attr("Tnumsegments: {int32, int64} = DT_INT32")
              .Shape(SegmentShape)
              .Gradient(row.gradient));
  }
  for (const Row& row : std::initializer_list<Row>{{"SegmentSum", kSegmentNumbers, SegmentSumGradient},
                                                   {"SegmentMean", kSegmentNumbers, SegmentMeanGradient},
                                                   {"SegmentProd", kSegmentNumbers, SegmentProdGradient},
                                                   {"SegmentMin", kSegmentReals, SegmentExtremeGradient},
                                                   {"SegmentMax", kSegmentReals, SegmentExtremeGradient}}) {
    r.Add(Op(row.name)
              .Input("data: T")
              .Input("segment_ids: Tindices")
              .Output("output: T")
              .Attr(row.types)
              .Attr("Tindices: {int32, int64}")
              .Shape(SegmentIdsShape)
              .Gradient(row.gradient));
  }
  for (const Row& row : std::initializer_list<Row>{{"SegmentSumV2", kSegmentNumbers, SegmentSumGradient},
                                                   {"SegmentProdV2", kSegmentNumbers, nullptr},
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
