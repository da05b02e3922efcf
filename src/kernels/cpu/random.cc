// Random tensors. Elements come in groups of a fixed size; group number n is drawn from its own blocks of the stream,
// so values do not depend on which thread draws it.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/philox.h"
#include "kernels/cpu/register.h"

namespace tensorbraid {
namespace cpu {
namespace {

// The generator of one node: its stream and how much of it is used. It lives as long as the kernel; whoever keeps
// kernels decides whether another plan goes on with it.
class Generator {
 public:
  explicit Generator(const KernelConstruction& c)
      : philox_(MakePhilox(c.attr<int64_t>("seed"), c.attr<int64_t>("seed2"))) {}

  const Philox& philox() const { return philox_; }
  // The first of `blocks` blocks that are the caller's. Thread-safe.
  uint64_t Reserve(uint64_t blocks) { return next_.fetch_add(blocks, std::memory_order_relaxed); }

 private:
  static Philox MakePhilox(int64_t seed, int64_t seed2) {
    if (seed != 0 || seed2 != 0) return Philox(seed, seed2);
    std::random_device device;
    const auto draw = [&] { return uint64_t{device()} << 32 | device(); };
    const uint64_t first = draw();
    return Philox(first, draw());
  }

  const Philox philox_;
  std::atomic<uint64_t> next_{0};
};

StatusOr<Shape> ShapeFrom(const Tensor& t) {
  if (t.shape().rank() != 1) return InvalidArgument("the shape must be a vector, got shape ", t.shape());
  Shape shape;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const int64_t d = t.dtype() == kInt64 ? t.data<int64_t>()[i] : t.data<int32_t>()[i];
    if (d < 0) return InvalidArgument("a shape cannot have a size of ", d);
    shape.AddDim(d);
  }
  return shape;
}

// In [0, 1): the bits fill the mantissa of a number in [1, 2).
float UnitFloat(uint32_t bits) {
  const uint32_t u = (bits & 0x7fffff) | 0x3f800000;
  float f;
  std::memcpy(&f, &u, sizeof f);
  return f - 1.0f;
}
double UnitDouble(uint32_t low, uint32_t high) {
  const uint64_t u = (uint64_t{high & 0xfffff} << 32 | low) | uint64_t{0x3ff} << 52;
  double d;
  std::memcpy(&d, &u, sizeof d);
  return d - 1.0;
}

// Two normally distributed numbers from two uniform ones (Box and Muller).
template <typename A>
void Normal(A u, A v, A* out) {
  const A radius = std::sqrt(A(-2) * std::log(std::max(u, A(1e-7))));
  const A angle = A(2 * 3.14159265358979323846) * v;
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

// Each distribution fills kGroup elements from a stretch of kBlocks blocks.
template <typename T>
struct Uniform {
  static constexpr int kGroup = std::is_same_v<T, double> ? 2 : 4;
  static constexpr int kBlocks = 1;
  static void Draw(const Philox& p, uint64_t at, T* out) {
    const Philox::Block b = p.At(at);
    if constexpr (std::is_same_v<T, double>) {
      for (int i = 0; i < 2; ++i) out[i] = UnitDouble(b[2 * i], b[2 * i + 1]);
    } else if constexpr (std::is_same_v<T, Float16>) {
      // As many bits as the type has, so that rounding never gives 1.
      for (int i = 0; i < 4; ++i) out[i] = T((b[i] & 0x3ff) / 1024.0f);
    } else if constexpr (std::is_same_v<T, Bfloat16>) {
      for (int i = 0; i < 4; ++i) out[i] = T((b[i] & 0x7f) / 128.0f);
    } else {
      for (int i = 0; i < 4; ++i) out[i] = UnitFloat(b[i]);
    }
  }
};

template <typename T>
struct StandardNormal {
  static constexpr int kGroup = Uniform<T>::kGroup;
  static constexpr int kBlocks = 1;
  static void Draw(const Philox& p, uint64_t at, T* out) {
    const Philox::Block b = p.At(at);
    if constexpr (std::is_same_v<T, double>) {
      Normal(UnitDouble(b[0], b[1]), UnitDouble(b[2], b[3]), out);
    } else {
      float values[4];
      Normal(UnitFloat(b[0]), UnitFloat(b[1]), values);
      Normal(UnitFloat(b[2]), UnitFloat(b[3]), values + 2);
      for (int i = 0; i < 4; ++i) out[i] = static_cast<T>(values[i]);
    }
  }
};

template <typename T>
struct Truncated {
  static constexpr int kGroup = 4;
  // A draw is kept with probability 0.954: 64 blocks without four good ones do not happen.
  static constexpr int kBlocks = 64;
  static void Draw(const Philox& p, uint64_t at, T* out) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    constexpr int kEach = Uniform<Wide>::kGroup;
    int filled = 0;
    for (int block = 0; block < kBlocks && filled < kGroup; ++block) {
      Wide values[kEach];
      StandardNormal<Wide>::Draw(p, at + block, values);
      for (int i = 0; i < kEach && filled < kGroup; ++i) {
        if (std::abs(values[i]) < Wide(2)) out[filled++] = static_cast<T>(values[i]);
      }
    }
    while (filled < kGroup) out[filled++] = T(0);
  }
};

template <typename D, typename T>
void Fill(KernelContext& ctx, Generator& generator, std::span<T> out) {
  const int64_t n = static_cast<int64_t>(out.size());
  const int64_t groups = (n + D::kGroup - 1) / D::kGroup;
  const uint64_t first = generator.Reserve(static_cast<uint64_t>(groups) * D::kBlocks);
  Parallel(ctx, groups, 15.0 * D::kGroup, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const uint64_t at = first + static_cast<uint64_t>(g) * D::kBlocks;
      const int64_t from = g * D::kGroup;
      if (from + D::kGroup <= n) {
        D::Draw(generator.philox(), at, out.data() + from);
      } else {
        T last[D::kGroup];
        D::Draw(generator.philox(), at, last);
        std::copy(last, last + (n - from), out.data() + from);
      }
    }
  });
}

template <template <typename> typename D, typename T>
class RandomKernel final : public Kernel {
 public:
  explicit RandomKernel(const KernelConstruction& c) : generator_(c) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(ctx.input(0)));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    Fill<D<T>>(ctx, generator_, out->mutable_data<T>());
    return OkStatus();
  }

 private:
  Generator generator_;
};

// Integers in [low, high).
template <typename T>
class RandomIntKernel final : public Kernel {
 public:
  explicit RandomIntKernel(const KernelConstruction& c) : generator_(c) {}

  Status Compute(KernelContext& ctx) override {
    using U = std::make_unsigned_t<T>;
    TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(ctx.input(0)));
    for (int i = 1; i < 3; ++i) {
      if (!ctx.input(i).shape().is_scalar()) {
        return InvalidArgument("minval and maxval must be scalars, got shape ", ctx.input(i).shape());
      }
    }
    const T low = ctx.input(1).scalar<T>(), high = ctx.input(2).scalar<T>();
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    if (low >= high) return InvalidArgument("minval must be less than maxval, got ", low, " and ", high);
    const U span = static_cast<U>(high) - static_cast<U>(low);
    const std::span<T> values = out->mutable_data<T>();
    const int64_t n = out->num_elements();
    const int64_t groups = (n + 1) / 2;
    const uint64_t first = generator_.Reserve(groups);
    Parallel(ctx, groups, 20, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const Philox::Block b = generator_.philox().At(first + g);
        for (int64_t i = 0; i < 2 && 2 * g + i < n; ++i) {
          const uint64_t bits = uint64_t{b[2 * i + 1]} << 32 | b[2 * i];
          // The high half of a product spreads 64 random bits evenly over the span.
          const U offset = static_cast<U>((static_cast<unsigned __int128>(bits) * span) >> 64);
          values[2 * g + i] = static_cast<T>(static_cast<U>(low) + offset);
        }
      }
    });
    return OkStatus();
  }

 private:
  Generator generator_;
};

class RandomShuffleKernel final : public Kernel {
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
    const uint64_t first = generator_.Reserve(rows);
    for (int64_t i = rows - 1; i > 0; --i) {
      const Philox::Block b = generator_.philox().At(first + i);
      const uint64_t bits = uint64_t{b[1]} << 32 | b[0];
      const int64_t j = static_cast<int64_t>((static_cast<unsigned __int128>(bits) * (i + 1)) >> 64);
      std::swap(order[i], order[j]);
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
    const int64_t row = in.num_elements() / rows;
    if (in.dtype() == DType::kString) {
      const auto from = in.data<std::string>();
      const auto to = out->mutable_data<std::string>();
      for (int64_t i = 0; i < rows; ++i) std::copy_n(&from[order[i] * row], row, &to[i * row]);
    } else if (IsPlain(in.dtype())) {
      const size_t bytes = row * DTypeSize(in.dtype());
      const char* from = static_cast<const char*>(in.raw_data());
      char* to = static_cast<char*>(out->mutable_raw_data());
      for (int64_t i = 0; i < rows; ++i) std::memcpy(to + i * bytes, from + order[i] * bytes, bytes);
    } else {
      return Unimplemented("cannot shuffle elements of type ", in.dtype());
    }
    return OkStatus();
  }

 private:
  Generator generator_;
};

template <typename... T>
void AddRandom(KernelRegistry& r, Types<T...>) {
  (r.Add<RandomKernel<Uniform, T>>("RandomUniform", {{"dtype", {DTypeOf<T>::value}}}), ...);
  (r.Add<RandomKernel<StandardNormal, T>>("RandomStandardNormal", {{"dtype", {DTypeOf<T>::value}}}), ...);
  (r.Add<RandomKernel<Truncated, T>>("TruncatedNormal", {{"dtype", {DTypeOf<T>::value}}}), ...);
}

}  // namespace
}  // namespace cpu

void RegisterRandomKernels(KernelRegistry& r) {
  using namespace cpu;  // NOLINT: the family's own
  AddRandom(r, FloatTypes{});
  r.Add<RandomIntKernel<int32_t>>("RandomUniformInt", {{"Tout", {kInt32}}});
  r.Add<RandomIntKernel<int64_t>>("RandomUniformInt", {{"Tout", {kInt64}}});
  r.Add<RandomShuffleKernel>("RandomShuffle");
}

}  // namespace tensorbraid
