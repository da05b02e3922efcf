// Ops that draw samples from distributions whose parameters are inputs: schemas, shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/random/shapes.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// Shape rule for ops that draw, for each element of input 1, samples of the shape that input 0 gives. The output has
// this shape, followed by the shape of input 1.
Status ShapeForEach(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  TF_ASSIGN_OR_RETURN(Shape shape, c.input_as_shape(0));
  const Shape& each = c.input(1);
  if (!shape.has_rank() || !each.has_rank()) return OkStatus();
  for (int64_t d : each.dims()) shape.AddDim(d);
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status MultinomialShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape logits, c.WithRank(0, 2));
  TF_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  const Tensor num = c.input_value(1);
  c.set_output(0, {logits.dim(0), num.is_valid() ? int64_t{num.scalar<int32_t>()} : Shape::kUnknownDim});
  return OkStatus();
}

// The gradient of gamma samples with respect to alpha, which is input kAlpha. The shape of the samples ends with the
// shape of alpha.
template <int kAlpha>
Status GammaGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output alpha = NodeOf(op)->inputs()[kAlpha], sample = op.output(0);
  (*input_grads)[kAlpha] = SumToOperand(grads[0] * Node2("RandomGammaGrad", alpha, sample), alpha, sample);
  return OkStatus();
}

}  // namespace

void RegisterRandomSamplingOps(OpRegistry& r) {
  r.Add(Op("Multinomial")
            .Input("logits: T")
            .Input("num_samples: int32")
            .Output("output: output_dtype")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Attr("T: realnumbertype")
            .Attr("output_dtype: {int32, int64} = DT_INT64")
            .Stateful()
            .Shape(MultinomialShape)
            .NotDifferentiable());
  r.Add(Op("StatelessMultinomial")
            .Input("logits: T")
            .Input("num_samples: int32")
            .Input("seed: Tseed")
            .Output("output: output_dtype")
            .Attr("T: realnumbertype")
            .Attr("Tseed: {int32, int64} = DT_INT64")
            .Attr("output_dtype: {int32, int64} = DT_INT64")
            .Shape(MultinomialShape)
            .NotDifferentiable());
  r.Add(Op("RandomGamma")
            .Input("shape: S")
            .Input("alpha: T")
            .Output("output: T")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Attr("S: {int32, int64}")
            .Attr("T: {half, float, double}")
            .Stateful()
            .Shape(ShapeForEach)
            .Gradient(GammaGradient<1>));
  r.Add(Op("RandomGammaGrad")
            .Input("alpha: T")
            .Input("sample: T")
            .Output("output: T")
            .Attr("T: {float, double}")
            .Shape(BroadcastShape));
  r.Add(Op("StatelessRandomGammaV2")
            .Input("shape: T")
            .Input("seed: Tseed")
            .Input("alpha: dtype")
            .Output("output: dtype")
            .Attr("dtype: {half, float, double}")
            .Attr("T: {int32, int64}")
            .Attr("Tseed: {int32, int64} = DT_INT64")
            .Shape(ShapeFromInput)
            .Gradient(GammaGradient<2>));
  r.Add(Op("StatelessRandomGammaV3")
            .Input("shape: shape_dtype")
            .Input("key: uint64")
            .Input("counter: uint64")
            .Input("alg: int32")
            .Input("alpha: dtype")
            .Output("output: dtype")
            .Attr("dtype: {half, float, double}")
            .Attr("shape_dtype: {int32, int64} = DT_INT32")
            .Shape(ShapeFromInput)
            .Gradient(GammaGradient<4>));
  r.Add(Op("RandomPoisson")
            .Input("shape: S")
            .Input("rate: dtype")
            .Output("output: dtype")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Attr("S: {int32, int64}")
            .Attr("dtype: {half, float, double}")
            .Stateful()
            .Shape(ShapeForEach)
            .NotDifferentiable());
  r.Add(Op("RandomPoissonV2")
            .Input("shape: S")
            .Input("rate: R")
            .Output("output: dtype")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Attr("S: {int32, int64}")
            .Attr("R: {half, float, double, int32, int64} = DT_DOUBLE")
            .Attr("dtype: {half, float, double, int32, int64} = DT_INT64")
            .Stateful()
            .Shape(ShapeForEach)
            .NotDifferentiable());
  r.Add(Op("StatelessRandomPoisson")
            .Input("shape: T")
            .Input("seed: Tseed")
            .Input("lam: Rtype")
            .Output("output: dtype")
            .Attr("Rtype: {half, float, double, int32, int64}")
            .Attr("dtype: {half, float, double, int32, int64}")
            .Attr("T: {int32, int64}")
            .Attr("Tseed: {int32, int64} = DT_INT64")
            .Shape(ShapeFromInput)
            .NotDifferentiable());
  r.Add(Op("ParameterizedTruncatedNormal")
            .Input("shape: T")
            .Input("means: dtype")
            .Input("stdevs: dtype")
            .Input("minvals: dtype")
            .Input("maxvals: dtype")
            .Output("output: dtype")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Attr("dtype: {half, bfloat16, float, double}")
            .Attr("T: {int32, int64}")
            .Stateful()
            .Shape(ShapeFromInput)
            .NotDifferentiable());
}

}  // namespace tensorbraid
