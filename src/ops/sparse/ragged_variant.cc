// Ops that convert between ragged tensors and variants: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

Status ToVariantShape(ShapeContext& c) {
  const int levels = c.num_inputs() - 1;
  for (int l = 0; l < levels; ++l) TF_RETURN_IF_ERROR(c.WithRank(l, 1).status());
  const bool batched = c.node().attr<bool>("batched_input");
  if (!batched && levels == 0) return ScalarShape(c);
  TF_ASSIGN_OR_RETURN(const Shape values, c.WithRankAtLeast(levels, 1));
  if (!batched) return ScalarShape(c);
  const Shape first = levels > 0 ? c.input(0) : values;
  int64_t rows = first.has_rank() ? first.dim(0) : Shape::kUnknownDim;
  if (levels > 0 && rows > 0) --rows;  // n + 1 row splits make n rows
  c.set_output(0, {rows});
  return OkStatus();
}

Status FromVariantShape(ShapeContext& c) {
  const int levels = c.num_outputs() - 1;
  const int64_t inner = c.node().attr<int64_t>("input_ragged_rank");
  if (inner < -1) return InvalidArgument("input_ragged_rank must be -1 or more, got ", inner);
  if (inner >= 0 && c.input(0).has_rank() && c.input(0).rank() + inner != levels) {
    return InvalidArgument("output_ragged_rank ", levels, " must be the sum of input_ragged_rank ", inner,
                           " and the rank of encoded_ragged, which has shape ", c.input(0));
  }
  for (int l = 0; l < levels; ++l) c.set_output(l, {Shape::kUnknownDim});
  c.set_output(levels, Shape::Unknown());
  return OkStatus();
}

Status ToVariantGradientShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape shape, c.input_as_shape(2));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status ToVariantGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const std::vector<Output>& in = NodeOf(op)->inputs();
  const Output splits = in.size() > 1 ? in[0] : Operand(Tensor::Scalar(int64_t{0})).ToOutput(*op.graph());
  input_grads->back() = NodeBuilder(*op.graph(), "RaggedTensorToVariantGradient")
                            .Input(grads[0])
                            .Input(splits)
                            .Input(ShapeOf(in.back()))
                            .Attr("Tvalues", in.back().dtype())
                            .Output();
  return OkStatus();
}

Status FromVariantGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (!grads.back().valid()) return OkStatus();
  const Shape& encoded = NodeOf(op)->inputs()[0].shape();
  if (!encoded.has_rank() || encoded.rank() > 1) {
    return Unimplemented("the gradient of RaggedTensorFromVariant needs a scalar or a vector, got shape ", encoded);
  }
  std::vector<Output> splits;
  for (int l = 0; l + 1 < op.num_outputs(); ++l) splits.push_back(op.output(l));
  (*input_grads)[0] = NodeBuilder(*op.graph(), "RaggedTensorToVariant")
                          .InputList(splits)
                          .Input(grads.back())
                          .Attr("Tsplits", NodeOf(op)->attr<DType>("Tsplits"))
                          .Attr("batched_input", encoded.rank() == 1)
                          .Output();
  return OkStatus();
}

}  // namespace

void RegisterSparseRaggedVariantOps(OpRegistry& r) {
  constexpr const char* kSplits = "Tsplits: {int32, int64} = int64";
  r.Add(Op("RaggedTensorToVariant")
            .Input("rt_nested_splits: RAGGED_RANK * Tsplits")
            .Input("rt_dense_values: Tvalues")
            .Output("encoded_ragged: variant")
            .Attr("RAGGED_RANK: int >= 0")
            .Attr("Tvalues: type")
            .Attr(kSplits)
            .Attr("batched_input: bool")
            .Shape(ToVariantShape)
            .Gradient(ToVariantGradient));
  r.Add(Op("RaggedTensorFromVariant")
            .Input("encoded_ragged: variant")
            .Output("output_nested_splits: output_ragged_rank * Tsplits")
            .Output("output_dense_values: Tvalues")
            .Attr("input_ragged_rank: int >= -1")
            .Attr("output_ragged_rank: int >= 0")
            .Attr("Tvalues: type")
            .Attr(kSplits)
            .Shape(FromVariantShape)
            .Gradient(FromVariantGradient));
  r.Add(Op("RaggedTensorToVariantGradient")
            .Input("encoded_ragged_grad: variant")
            .Input("row_splits: Tsplits")
            .Input("dense_values_shape: int32")
            .Output("dense_values_grad: Tvalues")
            .Attr("Tvalues: type")
            .Attr(kSplits)
            .Shape(ToVariantGradientShape));
}

}  // namespace tensorbraid
