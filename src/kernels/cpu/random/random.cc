// Random ops with state: each node keeps a generator.
#include <cstring>
#include <vector>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/random/distributions.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

template <template <typename> typename D, typename T>
class RandomKernel final : public Kernel, public StatefulKernel {
 public:
  explicit RandomKernel(const KernelConstruction& c) : generator_(c) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Shape shape, RandomShapeFrom(ctx.input(0)));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    Fill<D<T>>(ctx, generator_.philox(), generator_.ReserveOutputs(out->num_elements()), out->inplace_data<T>());
    return OkStatus();
  }

  KernelState* state() override { return &generator_; }

 private:
  Generator generator_;
};

// Integers in [low, high).
template <typename T>
class RandomIntKernel final : public Kernel, public StatefulKernel {
 public:
  explicit RandomIntKernel(const KernelConstruction& c) : generator_(c) {}

  Status Compute(KernelContext& ctx) override {
    using U = std::make_unsigned_t<T>;
    TF_ASSIGN_OR_RETURN(const Shape shape, RandomShapeFrom(ctx.input(0)));
    for (int i = 1; i < 3; ++i) {
      if (!ctx.input(i).shape().is_scalar()) {
        return InvalidArgument(i == 1 ? "minval" : "maxval", " must be a scalar, got shape ", ctx.input(i).shape());
      }
    }
    const T low = ctx.input(1).scalar<T>(), high = ctx.input(2).scalar<T>();
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    if (low >= high) return InvalidArgument("Need minval < maxval, got ", low, " >= ", high);
    const UniformInt<T> distribution{static_cast<U>(low), static_cast<U>(static_cast<U>(high) - static_cast<U>(low))};
    Fill(ctx, generator_.philox(), generator_.ReserveOutputs(out->num_elements()), out->inplace_data<T>(),
         distribution);
    return OkStatus();
  }

  KernelState* state() override { return &generator_; }

 private:
  Generator generator_;
};

class RandomShuffleKernel final : public Kernel, public StatefulKernel {
 public:
  explicit RandomShuffleKernel(const KernelConstruction& c) : generator_(c) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    if (in.shape().rank() == 0 || in.shape().dim(0) <= 1 || in.num_elements() == 0) {
      ctx.set_output(0, in);
      return OkStatus();
    }
    const int64_t rows = in.shape().dim(0);
    std::vector<int64_t> order(rows);
    for (int64_t i = 0; i < rows; ++i) order[i] = i;
    // Fisher-Yates: each position except the last is swapped with a random position at or after it. This takes rows - 1
    // numbers, of which a block has 4.
    PhiloxReader reader(generator_.philox(), generator_.Reserve((rows + 2) / 4));
    for (int64_t i = 0; i + 1 < rows; ++i) {
      const auto left = static_cast<uint64_t>(rows - i);
      const uint64_t step = left <= UINT32_MAX ? reader.Next32() % left : reader.NextBelow(left);
      std::swap(order[i], order[i + static_cast<int64_t>(step)]);
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
    const int64_t row = in.num_elements() / rows;
    if (in.dtype() == DType::kString) {
      const auto from = in.data<std::string>();
      const auto to = out->inplace_data<std::string>();
      for (int64_t i = 0; i < rows; ++i) std::copy_n(&from[order[i] * row], row, &to[i * row]);
    } else if (IsPlain(in.dtype())) {
      const size_t bytes = row * DTypeSize(in.dtype());
      const char* from = static_cast<const char*>(in.raw_data());
      char* to = static_cast<char*>(out->inplace_raw_data());
      for (int64_t i = 0; i < rows; ++i) std::memcpy(to + i * bytes, from + order[i] * bytes, bytes);
    } else {
      return Unimplemented("cannot shuffle elements of type ", in.dtype());
    }
    return OkStatus();
  }

  KernelState* state() override { return &generator_; }

 private:
  Generator generator_;
};

template <typename... T>
void AddRandom(KernelRegistry& r, Types<T...>) {
  (r.Add<RandomKernel<Uniform, T>>("RandomUniform", {{"dtype", {DTypeOf<T>::value}}}, ElementCost<4000>), ...);
  (r.Add<RandomKernel<StandardNormal, T>>("RandomStandardNormal", {{"dtype", {DTypeOf<T>::value}}}, ElementCost<4000>),
   ...);
  (r.Add<RandomKernel<Truncated, T>>("TruncatedNormal", {{"dtype", {DTypeOf<T>::value}}}, ElementCost<4000>), ...);
}

}  // namespace

void RegisterRandomKernels(KernelRegistry& r) {
  AddRandom(r, FloatTypes{});
  r.Add<RandomIntKernel<int32_t>>("RandomUniformInt", {{"Tout", {kInt32}}});
  r.Add<RandomIntKernel<int64_t>>("RandomUniformInt", {{"Tout", {kInt64}}});
  r.Add<RandomShuffleKernel>("RandomShuffle");
}

}  // namespace tensorbraid::cpu
