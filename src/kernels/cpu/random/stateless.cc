// Random ops without state: the output depends only on a seed, or on a key and a counter. Values equal TensorFlow's.
#include <cstring>
#include <limits>

#include "core/system/env.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/random/distributions.h"
#include "kernels/cpu/random/streams.h"
#include "runtime/kernel/kernel.h"
#include "runtime/variables/variable_resource.h"

namespace tensorbraid::cpu {

StatusOr<StreamStart> StreamOfSeed(const Tensor& seed) {
  if (seed.shape() != Shape({2})) return InvalidArgument("the seed must have shape [2], got ", seed.shape());
  uint64_t s[2];
  for (int i = 0; i < 2; ++i) {
    switch (seed.dtype()) {
      case kInt32:
        s[i] = static_cast<uint64_t>(int64_t{seed.data<int32_t>()[i]});
        break;
      case kInt64:
        s[i] = static_cast<uint64_t>(seed.data<int64_t>()[i]);
        break;
      default:
        return InvalidArgument("the seed must be int32 or int64, got ", seed.dtype());
    }
  }
  constexpr uint64_t kScrambleKey = 0x02461e293ec8f720;  // the same as in TensorFlow
  const Philox::Block mix = Philox(kScrambleKey, s[0], s[1]).At(0);
  return StreamStart{mix[0] | uint64_t{mix[1]} << 32, 0, mix[2] | uint64_t{mix[3]} << 32};
}

StatusOr<StreamStart> StreamOfInputs(KernelContext& ctx, int first) {
  const Tensor &key = ctx.input(first), &counter = ctx.input(first + 1), &alg = ctx.input(first + 2);
  if (!alg.shape().is_scalar()) return InvalidArgument("alg must be a scalar, got shape ", alg.shape());
  const int32_t algorithm = alg.scalar<int32_t>();
  if (algorithm != kPhiloxAlgorithm && algorithm != kAutoSelectAlgorithm) {
    return InvalidArgument("algorithm ", algorithm,
                           " is not supported on this device; use 1 (Philox) or 3 (automatic)");
  }
  if (key.shape() != Shape({1})) return InvalidArgument("the key must have shape [1], got ", key.shape());
  if (counter.shape().rank() != 1 || counter.num_elements() < 2) {
    return InvalidArgument("the counter must be a vector of 2 or more elements, got shape ", counter.shape());
  }
  return StreamStart{key.data<uint64_t>()[0], counter.data<uint64_t>()[0], counter.data<uint64_t>()[1]};
}

namespace {

// The stream of an op whose inputs are the shape, then a seed, or (`v2`) key, counter and algorithm.
StatusOr<StreamStart> StreamOf(KernelContext& ctx, bool v2) {
  return v2 ? StreamOfInputs(ctx, 1) : StreamOfSeed(ctx.input(1));
}

template <typename D, typename T, bool kV2>
Status Stateless(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape shape, RandomShapeFrom(ctx.input(0)));
  TF_ASSIGN_OR_RETURN(const StreamStart stream, StreamOf(ctx, kV2));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  Fill<D>(ctx, stream.philox(), 0, out->inplace_data<T>());
  return OkStatus();
}

template <typename T, bool kV2>
Status StatelessInt(KernelContext& ctx) {
  using U = std::make_unsigned_t<T>;
  TF_ASSIGN_OR_RETURN(const Shape shape, RandomShapeFrom(ctx.input(0)));
  TF_ASSIGN_OR_RETURN(const StreamStart stream, StreamOf(ctx, kV2));
  const Tensor &low = ctx.input(kV2 ? 4 : 2), &high = ctx.input(kV2 ? 5 : 3);
  if (!low.shape().is_scalar() || !high.shape().is_scalar()) {
    return InvalidArgument("minval and maxval must be scalars, got shapes ", low.shape(), " and ", high.shape());
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  const T from = low.scalar<T>(), to = high.scalar<T>();
  if (from >= to) return InvalidArgument("Need minval < maxval, got ", from, " >= ", to);
  const UniformInt<T> distribution{static_cast<U>(from), static_cast<U>(static_cast<U>(to) - static_cast<U>(from))};
  Fill(ctx, stream.philox(), 0, out->inplace_data<T>(), distribution);
  return OkStatus();
}

Status SetStream(KernelContext& ctx, const StreamStart& stream) {
  ctx.set_output(0, Tensor::Vector<uint64_t>({stream.key}));
  ctx.set_output(1, Tensor::Vector<uint64_t>({stream.low, stream.high}));
  if (ctx.num_outputs() > 2) ctx.set_output(2, Tensor::Scalar<int32_t>(kPhiloxAlgorithm));
  return OkStatus();
}

Status GetKeyCounter(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const StreamStart stream, StreamOfSeed(ctx.input(0)));
  return SetStream(ctx, stream);
}

Status GetAlg(KernelContext& ctx) {
  ctx.set_output(0, Tensor::Scalar<int32_t>(kPhiloxAlgorithm));
  return OkStatus();
}

// Random integers without a seed.
template <typename T>
Status NonDeterministicInts(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape shape, RandomShapeFrom(ctx.input(0)));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  Fill<UniformInt<T>>(ctx, Philox(RandomSeed(), RandomSeed()), 0, out->inplace_data<T>());
  return OkStatus();
}

// Advances the counter of a generator by `delta` numbers. The generator is a variable whose first elements are counter
// low, counter high and key. If the op has an output, it is set to the state before the change.
Status SkipState(KernelContext& ctx, int64_t algorithm, __int128 delta) {
  if (algorithm != kPhiloxAlgorithm && algorithm != kAutoSelectAlgorithm) {
    return InvalidArgument("algorithm ", algorithm,
                           " is not supported on this device; use 1 (Philox) or 3 (automatic)");
  }
  TF_ASSIGN_OR_RETURN(const RefPtr<VariableResource> variable, ctx.LookupResource<VariableResource>(0));
  return variable->Update([&](const Tensor& old, Tensor* out) -> Status {
    if (old.dtype() != kInt64 || old.shape().rank() != 1 || old.num_elements() < 3) {
      return InvalidArgument("the state of a generator must be an int64 vector of 3 or more elements, got ",
                             old.dtype(), old.shape());
    }
    const auto from = old.data<int64_t>();
    const int64_t state[] = {from[0], from[1], from[2]};
    if (ctx.num_outputs() > 0) ctx.set_output(0, Tensor::Vector<int64_t>({state[0], state[1], state[2]}));
    const auto to = out->inplace_data<int64_t>();
    if (to.data() != from.data()) std::copy(from.begin(), from.end(), to.begin());
    // Each number takes kBlocksPerOutput blocks.
    auto counter =
        static_cast<unsigned __int128>(static_cast<uint64_t>(state[1])) << 64 | static_cast<uint64_t>(state[0]);
    counter += static_cast<unsigned __int128>(static_cast<__int128>(delta) * Generator::kBlocksPerOutput);
    to[0] = static_cast<int64_t>(static_cast<uint64_t>(counter));
    to[1] = static_cast<int64_t>(static_cast<uint64_t>(counter >> 64));
    return OkStatus();
  });
}

Status RngReadAndSkip(KernelContext& ctx) {
  if (!ctx.input(1).shape().is_scalar() || !ctx.input(2).shape().is_scalar()) {
    return InvalidArgument("alg and delta must be scalars, got shapes ", ctx.input(1).shape(), " and ",
                           ctx.input(2).shape());
  }
  return SkipState(ctx, ctx.input(1).scalar<int32_t>(), ctx.input(2).scalar<uint64_t>());
}

Status RngSkip(KernelContext& ctx) {
  if (!ctx.input(1).shape().is_scalar() || !ctx.input(2).shape().is_scalar()) {
    return InvalidArgument("algorithm and delta must be scalars, got shapes ", ctx.input(1).shape(), " and ",
                           ctx.input(2).shape());
  }
  return SkipState(ctx, ctx.input(1).scalar<int64_t>(), ctx.input(2).scalar<int64_t>());
}

template <typename... T>
void AddFloats(KernelRegistry& r, Types<T...>) {
  const auto type = [](DType t) { return TypeConstraints{{"dtype", {t}}}; };
  (r.Add("StatelessRandomUniform", type(DTypeOf<T>::value), Stateless<Uniform<T>, T, false>, ElementCost<4000>), ...);
  (r.Add("StatelessRandomUniformV2", type(DTypeOf<T>::value), Stateless<Uniform<T>, T, true>, ElementCost<4000>), ...);
  (r.Add("StatelessRandomNormal", type(DTypeOf<T>::value), Stateless<StandardNormal<T>, T, false>, ElementCost<4000>),
   ...);
  (r.Add("StatelessRandomNormalV2", type(DTypeOf<T>::value), Stateless<StandardNormal<T>, T, true>, ElementCost<4000>),
   ...);
  (r.Add("StatelessTruncatedNormal", type(DTypeOf<T>::value), Stateless<Truncated<T>, T, false>, ElementCost<4000>),
   ...);
  (r.Add("StatelessTruncatedNormalV2", type(DTypeOf<T>::value), Stateless<Truncated<T>, T, true>, ElementCost<4000>),
   ...);
}

template <typename... T>
void AddInts(KernelRegistry& r, Types<T...>) {
  const auto type = [](DType t) { return TypeConstraints{{"dtype", {t}}}; };
  (r.Add("StatelessRandomUniformFullInt", type(DTypeOf<T>::value), Stateless<UniformInt<T>, T, false>,
         ElementCost<4000>),
   ...);
  (r.Add("StatelessRandomUniformFullIntV2", type(DTypeOf<T>::value), Stateless<UniformInt<T>, T, true>,
         ElementCost<4000>),
   ...);
  (r.Add("StatelessRandomUniformIntV2", type(DTypeOf<T>::value), StatelessInt<T, true>, ElementCost<4000>), ...);
  (r.Add("NonDeterministicInts", type(DTypeOf<T>::value), NonDeterministicInts<T>, ElementCost<4000>), ...);
}

}  // namespace

void RegisterRandomStatelessKernels(KernelRegistry& r) {
  AddFloats(r, FloatTypes{});
  AddInts(r, Types<int32_t, int64_t, uint32_t, uint64_t>{});
  r.Add("StatelessRandomUniformInt", {{"dtype", {kInt32}}}, StatelessInt<int32_t, false>);
  r.Add("StatelessRandomUniformInt", {{"dtype", {kInt64}}}, StatelessInt<int64_t, false>);
  r.Add("StatelessRandomGetKeyCounter", {}, GetKeyCounter);
  r.Add("StatelessRandomGetKeyCounterAlg", {}, GetKeyCounter);
  r.Add("StatelessRandomGetAlg", {}, GetAlg);
  r.Add("RngReadAndSkip", {}, RngReadAndSkip);
  r.Add("RngSkip", {}, RngSkip);
}

}  // namespace tensorbraid::cpu
