// Discrete Fourier transforms of the last one, two or three dimensions. All are computed in double precision:
// lengths that are powers of two by radix-2 FFT, other lengths as a convolution whose length is a power of two
// (Bluestein).
#include <algorithm>
#include <bit>
#include <complex>
#include <numbers>
#include <vector>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/elementwise.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

using C = std::complex<double>;

// exp(2 pi i numerator / denominator)
C Root(int64_t numerator, int64_t denominator) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(numerator) / static_cast<double>(denominator));
}

// The Fourier transform of vectors of length n; results are not scaled. Immutable.
class Transform {
 public:
  explicit Transform(int64_t n) : n_(n), size_(std::has_single_bit(uint64_t(n)) ? n : std::bit_ceil(uint64_t(2 * n))) {
    roots_.resize(size_ / 2);
    for (int64_t i = 0; i < size_ / 2; ++i) roots_[i] = Root(-i, size_);
    if (size_ == n_) return;
    chirp_.resize(n_);
    // Reduces the square modulo 2n before the multiplication by pi, otherwise precision is lost.
    for (int64_t i = 0; i < n_; ++i) {
      chirp_[i] = Root(-static_cast<int64_t>(static_cast<unsigned __int128>(i) * i % (2 * n_)), 2 * n_);
    }
    kernel_.resize(size_);
    for (int64_t i = 0; i < n_; ++i) {
      kernel_[i] = std::conj(chirp_[i]);
      if (i > 0) kernel_[size_ - i] = std::conj(chirp_[i]);
    }
    PowerOfTwo(kernel_.data());
  }

  // Transforms `line` in place. `scratch` is a buffer to reuse between calls.
  void Run(C* line, bool inverse, std::vector<C>* scratch) const {
    // The inverse transform is the conjugate of the transform of the conjugate.
    if (inverse) std::transform(line, line + n_, line, [](C v) { return std::conj(v); });
    if (size_ == n_) {
      PowerOfTwo(line);
    } else {
      scratch->assign(size_, C(0));
      for (int64_t i = 0; i < n_; ++i) (*scratch)[i] = line[i] * chirp_[i];
      PowerOfTwo(scratch->data());
      for (int64_t i = 0; i < size_; ++i) (*scratch)[i] = std::conj((*scratch)[i] * kernel_[i]);
      PowerOfTwo(scratch->data());
      for (int64_t i = 0; i < n_; ++i) {
        line[i] = std::conj((*scratch)[i]) / static_cast<double>(size_) * chirp_[i];
      }
    }
    if (inverse) std::transform(line, line + n_, line, [](C v) { return std::conj(v); });
  }

 private:
  // The transform of length size_, in place.
  void PowerOfTwo(C* v) const {
    // Puts the elements into bit-reversed order.
    for (int64_t i = 1, j = 0; i < size_; ++i) {
      int64_t bit = size_ / 2;
      for (; j & bit; bit /= 2) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(v[i], v[j]);
    }
    for (int64_t length = 2; length <= size_; length *= 2) {
      const int64_t half = length / 2, step = size_ / length;
      for (int64_t i = 0; i < size_; i += length) {
        for (int64_t k = 0; k < half; ++k) {
          const C odd = v[i + half + k] * roots_[k * step];
          v[i + half + k] = v[i + k] - odd;
          v[i + k] += odd;
        }
      }
    }
  }

  const int64_t n_;
  const int64_t size_;  // n_ if it is a power of two, otherwise the length of the convolution
  std::vector<C> roots_, chirp_, kernel_;
};

// The limit of the length of a transform, because roots, chirps and scratch buffers take many times the memory of a
// line.
constexpr int64_t kLongest = int64_t{1} << 26;

Status CheckLengths(const IntVector& sizes) {
  for (int64_t n : sizes) {
    if (n > kLongest) return ResourceExhausted("transform length ", n, " is not supported; the maximum is ", kLongest);
  }
  return OkStatus();
}

// Transforms values [outer, n, inner] along the middle axis. The inverse transform is scaled by 1 / n.
void TransformAxis(KernelContext& ctx, std::span<C> values, int64_t n, int64_t inner, bool inverse) {
  if (values.empty() || n == 0) return;
  const Transform transform(n);
  const int64_t lines = static_cast<int64_t>(values.size()) / n;
  Parallel(ctx, lines, 20.0 * n, [&](int64_t begin, int64_t end) {
    std::vector<C> line(n), scratch;
    for (int64_t i = begin; i < end; ++i) {
      C* at = values.data() + i / inner * n * inner + i % inner;
      for (int64_t k = 0; k < n; ++k) line[k] = at[k * inner];
      transform.Run(line.data(), inverse, &scratch);
      const double scale = inverse ? 1.0 / static_cast<double>(n) : 1;
      for (int64_t k = 0; k < n; ++k) at[k * inner] = line[k] * scale;
    }
  });
}

// Transforms values whose last dimensions are `sizes` along the first `axes` of these dimensions.
void TransformAxes(KernelContext& ctx, std::span<C> values, const IntVector& sizes, size_t axes, bool inverse) {
  int64_t inner = 1;
  for (size_t d = sizes.size(); d > 0; --d) {
    if (d <= axes) TransformAxis(ctx, values, sizes[d - 1], inner, inverse);
    inner *= sizes[d - 1];
  }
}

// Crops the last dimensions of `in` from sizes `from` to sizes `to`: keeps the first elements of each dimension.
template <typename T>
StatusOr<Tensor> Cropped(const T* in, int64_t batch, const IntVector& from, const IntVector& to) {
  int64_t from_size = 1, rows = 1;
  for (int64_t d : from) from_size *= d;
  for (size_t d = 0; d + 1 < to.size(); ++d) rows *= to[d];
  const int64_t last = to.back();
  TF_ASSIGN_OR_RETURN(Tensor result, Tensor::Create(DType::kComplex128, {batch, rows, last}));
  C* out = result.inplace_data<C>().data();
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t row = 0; row < rows; ++row) {
      int64_t at = 0, rest = row, stride = from.back();
      for (size_t d = to.size() - 1; d > 0; --d) {
        at += rest % to[d - 1] * stride;
        rest /= to[d - 1];
        stride *= from[d - 1];
      }
      for (int64_t i = 0; i < last; ++i) *out++ = C(in[b * from_size + at + i]);
    }
  }
  return result;
}

IntVector LastDims(const Shape& shape, int n) {
  const auto dims = shape.dims().last(n);
  return IntVector(dims.begin(), dims.end());
}

template <typename T, int axes, bool inverse>
Status FourierKernel(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.shape().rank() < axes) {
    return InvalidArgument("input must have rank ", axes, " or more, got shape ", in.shape());
  }
  const IntVector sizes = LastDims(in.shape(), axes);
  TF_RETURN_IF_ERROR(CheckLengths(sizes));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
  TF_ASSIGN_OR_RETURN(Tensor wide, ctx.AllocateTemp(DType::kComplex128, in.shape()));
  const auto from = in.data<std::complex<T>>();
  const std::span<C> values = wide.inplace_data<C>();
  std::copy(from.begin(), from.end(), values.begin());
  TransformAxes(ctx, values, sizes, axes, inverse);
  std::transform(values.begin(), values.end(), out->inplace_data<std::complex<T>>().begin(),
                 [](C v) { return std::complex<T>(v); });
  return OkStatus();
}

StatusOr<IntVector> LengthsOf(KernelContext& ctx, int axes) {
  if (ctx.input(0).shape().rank() < axes) {
    return InvalidArgument("input must have rank ", axes, " or more, got shape ", ctx.input(0).shape());
  }
  if (ctx.input(1).shape() != Shape({axes})) {
    return InvalidArgument("fft_length must have ", axes, " elements, got shape ", ctx.input(1).shape());
  }
  TF_ASSIGN_OR_RETURN(const IntVector lengths, IntegersOf(ctx.input(1), "fft_length"));
  for (int64_t n : lengths) {
    if (n < 0) return InvalidArgument("fft_length must not be negative, got ", n);
  }
  TF_RETURN_IF_ERROR(CheckLengths(lengths));
  return lengths;
}

// Checks that each of the last dimensions of `shape` has at least `wanted` elements.
Status CheckSizes(const Shape& shape, const IntVector& wanted) {
  const IntVector sizes = LastDims(shape, static_cast<int>(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (sizes[i] < wanted[i]) {
      return InvalidArgument("a dimension of the input has ", sizes[i], " elements, but fft_length requires ",
                             wanted[i], "; the input has shape ", shape);
    }
  }
  return OkStatus();
}

Shape WithLast(const Shape& shape, const IntVector& last) {
  Shape result(shape.dims().first(shape.rank() - last.size()));
  for (int64_t d : last) result.AddDim(d);
  return result;
}

// Transforms real numbers to the first half of their spectrum; the second half follows from it by symmetry.
template <typename T, int axes>
Status RealFourierKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const IntVector lengths, LengthsOf(ctx, axes));
  const Tensor& in = ctx.input(0);
  TF_RETURN_IF_ERROR(CheckSizes(in.shape(), lengths));
  IntVector half = lengths;
  half.back() = lengths.back() == 0 ? 0 : lengths.back() / 2 + 1;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, WithLast(in.shape(), half)));
  if (out->num_elements() == 0) return OkStatus();
  const int64_t batch = SizeOf(in.shape(), 0, in.shape().rank() - axes);
  TF_ASSIGN_OR_RETURN(Tensor full, Cropped(in.data<T>().data(), batch, LastDims(in.shape(), axes), lengths));
  TransformAxes(ctx, full.inplace_data<C>(), lengths, axes, /*inverse=*/false);
  TF_ASSIGN_OR_RETURN(const Tensor kept, Cropped(full.data<C>().data(), batch, lengths, half));
  const auto values = kept.data<C>();
  std::transform(values.begin(), values.end(), out->inplace_data<std::complex<T>>().begin(),
                 [](C v) { return std::complex<T>(v); });
  return OkStatus();
}

template <typename T, int axes>
Status InverseRealFourierKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const IntVector lengths, LengthsOf(ctx, axes));
  const Tensor& in = ctx.input(0);
  IntVector half = lengths;
  half.back() = lengths.back() == 0 ? 0 : lengths.back() / 2 + 1;
  TF_RETURN_IF_ERROR(CheckSizes(in.shape(), half));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, WithLast(in.shape(), lengths)));
  if (out->num_elements() == 0) return OkStatus();
  const int64_t batch = SizeOf(in.shape(), 0, in.shape().rank() - axes);
  TF_ASSIGN_OR_RETURN(Tensor cropped,
                      Cropped(in.data<std::complex<T>>().data(), batch, LastDims(in.shape(), axes), half));
  const std::span<C> values = cropped.inplace_data<C>();
  TransformAxes(ctx, values, half, axes - 1, /*inverse=*/true);
  const int64_t n = lengths.back(), n_half = half.back();
  const Transform transform(n);
  const auto to = out->inplace_data<T>();
  Parallel(ctx, static_cast<int64_t>(values.size()) / n_half, 20.0 * n, [&](int64_t begin, int64_t end) {
    std::vector<C> line(n), scratch;
    for (int64_t i = begin; i < end; ++i) {
      const C* from = values.data() + i * n_half;
      for (int64_t k = 0; k < n; ++k) line[k] = k < n_half ? from[k] : std::conj(from[n - k]);
      // In the spectrum of real numbers, elements 0 and n / 2 are their own mirror image, so they are real.
      line[0] = line[0].real();
      if (n % 2 == 0) line[n / 2] = line[n / 2].real();
      transform.Run(line.data(), /*inverse=*/true, &scratch);
      for (int64_t k = 0; k < n; ++k) to[i * n + k] = static_cast<T>(line[k].real() / static_cast<double>(n));
    }
  });
  return OkStatus();
}

template <typename T, int axes>
void AddFourier(KernelRegistry& r, const std::string& suffix) {
  const DType real = DTypeOf<T>::value, complex = DTypeOf<std::complex<T>>::value;
  r.Add("FFT" + suffix, {{"Tcomplex", {complex}}}, FourierKernel<T, axes, /*inverse=*/false>, FourierCost);
  r.Add("IFFT" + suffix, {{"Tcomplex", {complex}}}, FourierKernel<T, axes, /*inverse=*/true>, FourierCost);
  r.Add("RFFT" + suffix, {{"Treal", {real}}, {"Tcomplex", {complex}}}, RealFourierKernel<T, axes>, FourierCost);
  r.Add("IRFFT" + suffix, {{"Treal", {real}}, {"Tcomplex", {complex}}}, InverseRealFourierKernel<T, axes>, FourierCost);
}

template <typename T>
void AddAll(KernelRegistry& r) {
  AddFourier<T, 1>(r, "");
  AddFourier<T, 2>(r, "2D");
  AddFourier<T, 3>(r, "3D");
}

}  // namespace

void RegisterLinalgFourierKernels(KernelRegistry& r) {
  AddAll<float>(r);
  AddAll<double>(r);
}

}  // namespace tensorbraid::cpu
