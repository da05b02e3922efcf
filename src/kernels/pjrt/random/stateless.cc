// Random ops without state: the output depends only on a seed, or on a key and a counter.
#include "core/text/strings.h"
#include "kernels/cpu/random/random_shape.h"
#include "kernels/cpu/random/streams.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/random/draw.h"

namespace tensorbraid::pjrt {
namespace {

constexpr DTypeSet kRandomIntegers = {kInt32, kInt64, kUint32, kUint64};

StatusOr<Expr> InputOf(const EmitContext& ctx, int i) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.input(i));
  return Expr(ctx.builder(), value);
}

StatusOr<Stream> StreamOfSeedInput(const EmitContext& ctx, int i) {
  TF_ASSIGN_OR_RETURN(const Expr seed, InputOf(ctx, i));
  if (seed.shape() != Shape({2})) return InvalidArgument("the seed must have shape [2], got ", seed.shape());
  if (seed.dtype() != kInt32 && seed.dtype() != kInt64) {
    return InvalidArgument("the seed must be int32 or int64, got ", seed.dtype());
  }
  return StreamOfSeed(seed);
}

// The inputs are the shape, then a seed, or (`v2`) key, counter and algorithm.
StatusOr<Stream> StreamOf(const EmitContext& ctx, bool v2) {
  if (!v2) return StreamOfSeedInput(ctx, 1);
  TF_ASSIGN_OR_RETURN(const Tensor alg, ctx.static_input(3));
  if (!alg.shape().is_scalar()) return InvalidArgument("alg must be a scalar, got shape ", alg.shape());
  const auto algorithm = alg.scalar<int32_t>();
  if (algorithm != cpu::kPhiloxAlgorithm && algorithm != cpu::kAutoSelectAlgorithm) {
    return InvalidArgument("algorithm ", algorithm,
                           " is not supported on this device; use 1 (Philox) or 3 (automatic)");
  }
  TF_ASSIGN_OR_RETURN(const Expr key, InputOf(ctx, 1));
  TF_ASSIGN_OR_RETURN(const Expr counter, InputOf(ctx, 2));
  if (key.shape() != Shape({1})) return InvalidArgument("the key must have shape [1], got ", key.shape());
  if (counter.shape().rank() != 1 || counter.shape().dim(0) < 2) {
    return InvalidArgument("the counter must be a vector of 2 or more elements, got shape ", counter.shape());
  }
  return Stream{key.Reshape({}), ElementOf(counter, 0), ElementOf(counter, 1)};
}

StatusOr<Shape> ShapeOf(const EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(0));
  return cpu::RandomShapeFrom(sizes);
}

void AddStateless(EmitterRegistry& r, std::string_view op, DTypeSet types, Distribution numbers,
                  std::source_location location = std::source_location::current()) {
  const bool v2 = op.ends_with("V2");
  const EmitFn emit = [numbers, v2](EmitContext& ctx) -> Status {
    TF_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(ctx));
    TF_ASSIGN_OR_RETURN(const Stream stream, StreamOf(ctx, v2));
    ctx.set_output(0, numbers(stream, ctx.node().output_type(0), shape).value());
    return OkStatus();
  };
  EmitterDef& def = r.Add(op, {{"dtype", types}}, emit, location);
  def.static_inputs = {"shape"};
  if (v2) def.static_inputs.emplace_back("alg");
}

void AddStatelessIntegers(EmitterRegistry& r, std::string_view op, DTypeSet types,
                          std::source_location location = std::source_location::current()) {
  const bool v2 = op.ends_with("V2");
  const EmitFn emit = [v2](EmitContext& ctx) -> Status {
    TF_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(ctx));
    TF_ASSIGN_OR_RETURN(const Stream stream, StreamOf(ctx, v2));
    TF_ASSIGN_OR_RETURN(const Expr numbers, IntegersBetween(ctx, stream, shape, v2 ? 4 : 2));
    ctx.set_output(0, numbers.value());
    return OkStatus();
  };
  EmitterDef& def = r.Add(op, {{"dtype", types}}, emit, location);
  def.static_inputs = {"shape", "minval", "maxval"};
  if (v2) def.static_inputs.emplace_back("alg");
}

Expr AnyIntegers(const Stream& stream, DType dtype, const Shape& shape) {
  return UniformIntegers(stream, dtype, shape);
}

Status EmitKeyCounter(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Stream stream, StreamOfSeedInput(ctx, 0));
  const auto counter =
      ctx.builder().Concatenate({stream.low.Reshape({1}).value(), stream.high.Reshape({1}).value()}, 0);
  ctx.set_output(0, stream.key.Reshape({1}).value());
  ctx.set_output(1, counter);
  if (ctx.num_outputs() > 2) ctx.set_constant(2, Tensor::Scalar<int32_t>(cpu::kPhiloxAlgorithm));
  return OkStatus();
}

}  // namespace

void RegisterRandomStatelessEmitters(EmitterRegistry& r) {
  AddStateless(r, "StatelessRandomUniform", kFloats, UniformNumbers);
  AddStateless(r, "StatelessRandomUniformV2", kFloats, UniformNumbers);
  AddStateless(r, "StatelessRandomNormal", kFloats, NormalNumbers);
  AddStateless(r, "StatelessRandomNormalV2", kFloats, NormalNumbers);
  AddStateless(r, "StatelessTruncatedNormal", kFloats, TruncatedNormalNumbers);
  AddStateless(r, "StatelessTruncatedNormalV2", kFloats, TruncatedNormalNumbers);
  AddStateless(r, "StatelessRandomUniformFullInt", kRandomIntegers, AnyIntegers);
  AddStateless(r, "StatelessRandomUniformFullIntV2", kRandomIntegers, AnyIntegers);
  AddStatelessIntegers(r, "StatelessRandomUniformInt", {kInt32, kInt64});
  AddStatelessIntegers(r, "StatelessRandomUniformIntV2", kRandomIntegers);
  r.Add("StatelessRandomGetKeyCounter", {}, EmitKeyCounter);
  r.Add("StatelessRandomGetKeyCounterAlg", {}, EmitKeyCounter);
}

}  // namespace tensorbraid::pjrt
