#include "kernels/cpu/embedding/initial_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/text/strings.h"
#include "core/values/fingerprint.h"
#include "kernels/cpu/random/distributions.h"

namespace tensorbraid::cpu {
namespace {

class ConstantRows final : public FirstRows {
 public:
  explicit ConstantRows(float value) : value_(value) {}
  void Fill(int64_t /*key*/, std::span<float> row) const override { std::fill(row.begin(), row.end(), value_); }

 private:
  const float value_;
};

// The finalizer of SplitMix64. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
// 2014. Philox, which other random ops use, takes three times as long.
uint64_t Mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
constexpr uint64_t kGamma = 0x9E3779B97F4A7C15u;  // between the states of SplitMix64

constexpr size_t kGroup = 16;  // numbers that are drawn together

// One of 2^23 numbers in (-1, 1).
float Symmetric(uint32_t bits) {
  // An int32, since processors convert these at once.
  return static_cast<float>(static_cast<int32_t>(2 * (bits >> 9) + 1)) * 0x1p-23f - 1.0f;
}

// Draws N numbers that are uniform in (-1, 1), from the states of SplitMix64 that follow this one.
template <size_t N>
[[gnu::always_inline]] inline void DrawGroup(uint64_t state, float* x) {
#if defined(__AVX512DQ__)
  // Such processors multiply eight numbers of 64 bits at once. That takes loops that do nothing else.
  uint64_t bits[N / 2];
  for (size_t i = 0; i < N / 2; ++i) bits[i] = Mixed(state + (i + 1) * kGamma);
  uint32_t halves[N];  // the low one is the first
  std::memcpy(halves, bits, sizeof(bits));
  for (size_t i = 0; i < N; ++i) x[i] = Symmetric(halves[i]);
#else
  for (size_t i = 0; i < N; i += 2) {
    const uint64_t bits = Mixed(state + (i / 2 + 1) * kGamma);
    x[i] = Symmetric(static_cast<uint32_t>(bits));
    x[i + 1] = Symmetric(static_cast<uint32_t>(bits >> 32));
  }
#endif
}

// Each of the following changes N numbers that are uniform in (-1, 1).
struct UniformRows {  // in (0, 1)
  template <size_t N>
  static void Change(float* x) {
    for (size_t i = 0; i < N; ++i) x[i] = 0.5f + 0.5f * x[i];
  }
};

struct NormalRows {
  template <size_t N>
  static void Change(float* x) {
    UniformRows::Change<N>(x);
    for (size_t i = 0; i < N; i += 2) Normal(x[i], x[i + 1], x + i);
  }
};

// Normal numbers between -2 and 2. By the inverse of the distribution function, sqrt(2) erfinv(erf(sqrt(2)) x), as a
// rational function with a relative error below 4e-6. So all numbers take the same time, and the compiler can compute
// several at once.
struct TruncatedRows {
  template <size_t N>
  static void Change(float* x) {
    for (size_t i = 0; i < N; ++i) {
      const float s = x[i] * x[i];
      const float above = 1.1962917f + s * (-1.9550692f + s * (0.89777654f + s * -0.08839378f));
      const float below = 1.0f + s * (-1.8726779f + s * (1.0768484f + s * -0.17886783f));
      x[i] = std::clamp(x[i] * above / below, -2.0f, 2.0f);
    }
  }
};

// An element is offset + scale * x, where x is drawn from the distribution D.
template <typename D>
class DrawnRows final : public FirstRows {
 public:
  DrawnRows(uint64_t stream, float offset, float scale) : stream_(stream), offset_(offset), scale_(scale) {}
  void Fill(int64_t key, std::span<float> row) const override {
    const uint64_t state = Mixed(stream_ + kGamma * Mixed(static_cast<uint64_t>(key)));
    float x[kGroup];
    if (row.size() <= 2) {  // such as the weights of a linear model
      DrawGroup<2>(state, x);
      D::template Change<2>(x);
      for (size_t i = 0; i < row.size(); ++i) row[i] = offset_ + scale_ * x[i];
      return;
    }
    size_t at = 0;
    for (; at + kGroup <= row.size(); at += kGroup) {
      DrawGroup<kGroup>(state + at / 2 * kGamma, x);
      D::template Change<kGroup>(x);
      for (size_t i = 0; i < kGroup; ++i) row[at + i] = offset_ + scale_ * x[i];
    }
    if (at == row.size()) return;
    DrawGroup<kGroup>(state + at / 2 * kGamma, x);
    D::template Change<kGroup>(x);
    for (size_t i = 0; at < row.size(); ++i, ++at) row[at] = offset_ + scale_ * x[i];
  }

 private:
  const uint64_t stream_;
  const float offset_, scale_;
};

int64_t FloorMod(int64_t key, int64_t count) {
  const int64_t rest = key % count;
  return rest < 0 ? rest + count : rest;
}

class RepeatedRows final : public FirstRows {
 public:
  RepeatedRows(std::shared_ptr<const FirstRows> rows, int64_t count) : rows_(std::move(rows)), count_(count) {}
  void Fill(int64_t key, std::span<float> row) const override { rows_->Fill(FloorMod(key, count_), row); }

 private:
  const std::shared_ptr<const FirstRows> rows_;
  const int64_t count_;
};

class MatrixRows final : public FirstRows {
 public:
  explicit MatrixRows(Tensor matrix) : matrix_(std::move(matrix)) {}
  void Fill(int64_t key, std::span<float> row) const override {
    const int64_t number = FloorMod(key, matrix_.shape().dim(0));
    std::copy_n(matrix_.data<float>().data() + number * matrix_.shape().dim(1), row.size(), row.begin());
  }

 private:
  const Tensor matrix_;
};

}  // namespace

StatusOr<std::shared_ptr<const FirstRows>> MakeFirstRows(const std::string& distribution,
                                                         const std::vector<float>& arguments, int64_t seed,
                                                         const std::string& whole) {
  const size_t wanted = distribution == "constant" ? 1 : 2;
  const bool finite = std::ranges::all_of(arguments, [](float x) { return std::isfinite(x); });
  if (arguments.size() != wanted || !finite) {
    std::string given;
    for (const float x : arguments) given += StrCat(given.empty() ? "" : ", ", x);
    return InvalidArgument("the initializer '", distribution, "' of growing table '", whole, "' takes ", wanted,
                           wanted == 1 ? " finite number, got [" : " finite numbers, got [", given, "]");
  }
  const float a = arguments[0];
  if (distribution == "constant") return std::make_shared<ConstantRows>(a);
  const uint64_t stream = Fingerprint64(StrCat(seed, ":", whole));
  const float b = arguments[1];
  if (distribution == "uniform") return std::make_shared<DrawnRows<UniformRows>>(stream, a, b - a);
  if (distribution == "normal") return std::make_shared<DrawnRows<NormalRows>>(stream, a, b);
  if (distribution == "truncated_normal") return std::make_shared<DrawnRows<TruncatedRows>>(stream, a, b);
  return InvalidArgument("growing table '", whole, "' has the unknown initializer '", distribution,
                         "': use constant, uniform, normal or truncated_normal");
}

std::shared_ptr<const FirstRows> MakeRepeatedRows(std::shared_ptr<const FirstRows> rows, int64_t count) {
  return std::make_shared<RepeatedRows>(std::move(rows), count);
}

StatusOr<std::shared_ptr<const FirstRows>> MakeMatrixRows(const Tensor& matrix, int64_t dim, const std::string& whole) {
  const Shape& shape = matrix.shape();
  if (matrix.dtype() != kFloat32 || shape.rank() != 2 || shape.dim(0) < 1 || shape.dim(1) != dim) {
    return InvalidArgument("the matrix of initial rows of growing table '", whole, "' must be float32 with shape [n, ",
                           dim, "] and one row or more, got ", matrix.dtype(), " ", shape);
  }
  if (!std::ranges::all_of(matrix.data<float>(), [](float x) { return std::isfinite(x); })) {
    return InvalidArgument("the matrix of initial rows of growing table '", whole, "' has a number that is not finite");
  }
  return std::make_shared<MatrixRows>(matrix);
}

}  // namespace tensorbraid::cpu
