// Elementwise kernels: loops over rows of elements, and drivers that split broadcast tensors into such rows.
//
// A loop handles types and arithmetic, but not shapes; a driver handles shapes, but not types. So each new (op, dtype)
// instantiates only three small loops, one for each Spread. 16-bit floats go through the float32 loop, block by block.
#ifndef TENSORBRAID_KERNELS_CPU_ELEMENTWISE_H_
#define TENSORBRAID_KERNELS_CPU_ELEMENTWISE_H_

#include <complex>
#include <cstdint>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "kernels/cpu/compute_type.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/half.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// Runs body over [0, total), split over pool threads if that pays. `cost_ns` is the estimated cost of one unit.
void Parallel(KernelContext& ctx, int64_t total, double cost_ns,
              absl::FunctionRef<void(int64_t begin, int64_t end)> body);

// Which operand of a row, if any, is a single element that is broadcast over the row.
enum class Spread { kNone, kLeft, kRight };

// Computes n elements; `out` may be `a` or `b`. Returns false if an operand has a value that the op rejects.
using BinaryRow = bool (*)(const void* a, const void* b, void* out, int64_t n, Spread spread);
using UnaryRow = void (*)(const void* in, void* out, int64_t n);

struct BinaryLoop {
  BinaryRow row;
  int in_size;  // bytes per element
  int out_size;
  double cost_ns;       // per element
  const char* refusal;  // the message when row returns false
};

// Computes output 0 from inputs 0 and 1 with NumPy broadcasting; in place when possible.
// Returns InvalidArgument if the shapes cannot be broadcast, or with the loop's `refusal` if a row returns false.
Status RunBinary(KernelContext& ctx, const BinaryLoop& loop);
// Like RunBinary, but without broadcasting: both inputs must have the same shape.
Status RunSameShape(KernelContext& ctx, const BinaryLoop& loop);
// Computes output 0, of the shape of input 0, in place when possible.
Status RunUnary(KernelContext& ctx, UnaryRow row, int in_size, int out_size, double cost_ns);

// A functor F is a struct with
//   template <typename T> static R Apply(T a, T b)        (R: T, or bool)
// and optionally `static constexpr double kCostNs` (per element). If it also has `static constexpr const char*
// kRefusal` and `template <typename T> static bool Refuses(T b)`, integer operands b that it refuses are an error with
// this text.
template <typename F, typename T, typename R>
bool BinaryRowOf(const void* av, const void* bv, void* outv, int64_t n, Spread spread) {
  const T* a = static_cast<const T*>(av);
  const T* b = static_cast<const T*>(bv);
  R* out = static_cast<R*>(outv);
  if constexpr (requires { F::kRefusal; } && std::is_integral_v<T>) {
    const int64_t nb = spread == Spread::kRight ? 1 : n;
    for (int64_t i = 0; i < nb; ++i) {
      if (F::Refuses(b[i])) return false;
    }
  }
  // No iteration depends on another, even if out is a or b.
  switch (spread) {
    case Spread::kNone:
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = F::Apply(a[i], b[i]);
      break;
    case Spread::kLeft: {
      const T s = a[0];
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = F::Apply(s, b[i]);
      break;
    }
    case Spread::kRight: {
      const T s = b[0];
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = F::Apply(a[i], s);
      break;
    }
  }
  return true;
}

// The loop for 16-bit floats: widens blocks, computes them as float32 and rounds the results.
template <BinaryRow float_row, typename H, typename R>
bool HalfBinaryRow(const void* av, const void* bv, void* outv, int64_t n, Spread spread) {
  constexpr int64_t kBlock = 256;
  const H* a = static_cast<const H*>(av);
  const H* b = static_cast<const H*>(bv);
  R* out = static_cast<R*>(outv);
  float fa[kBlock], fb[kBlock], fout[kBlock];
  if (spread == Spread::kLeft) fa[0] = static_cast<float>(a[0]);
  if (spread == Spread::kRight) fb[0] = static_cast<float>(b[0]);
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t m = std::min(kBlock, n - i);
    if (spread != Spread::kLeft) ToFloat(a + i, fa, m);
    if (spread != Spread::kRight) ToFloat(b + i, fb, m);
    if constexpr (std::is_same_v<R, bool>) {
      if (!float_row(fa, fb, out + i, m, spread)) return false;
    } else {
      if (!float_row(fa, fb, fout, m, spread)) return false;
      FromFloat(fout, out + i, m);
    }
  }
  return true;
}

template <UnaryRow float_row, typename H>
void HalfUnaryRow(const void* inv, void* outv, int64_t n) {
  constexpr int64_t kBlock = 256;
  const H* in = static_cast<const H*>(inv);
  H* out = static_cast<H*>(outv);
  float block[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t m = std::min(kBlock, n - i);
    ToFloat(in + i, block, m);
    float_row(block, block, m);
    FromFloat(block, out + i, m);
  }
}

// The type for which the loops are compiled: T, or the unsigned integer of the same size if F has `static constexpr
// bool kWraps = true`, which means that F gives the same bits for signed and unsigned integers.
template <typename F, typename T>
auto BinaryTypeOf() {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && requires { requires F::kWraps; }) {
    return std::make_unsigned_t<T>{};
  } else {
    return T{};
  }
}

template <typename F, typename T>
constexpr BinaryLoop MakeBinaryLoop() {
  using Wide = std::conditional_t<kIsHalf<T>, float, T>;
  using WideResult = std::decay_t<decltype(F::Apply(std::declval<Wide>(), std::declval<Wide>()))>;
  using R = std::conditional_t<std::is_same_v<WideResult, bool>, bool, T>;
  BinaryLoop loop{nullptr, sizeof(T), sizeof(R), 0.3, ""};
  if constexpr (requires { F::kCostNs; }) loop.cost_ns = F::kCostNs;
  if constexpr (requires { F::kRefusal; }) loop.refusal = F::kRefusal;
  if constexpr (kIsHalf<T>) {
    loop.row = HalfBinaryRow<BinaryRowOf<F, float, std::conditional_t<std::is_same_v<R, bool>, bool, float>>, T, R>;
  } else {
    using L = decltype(BinaryTypeOf<F, T>());
    loop.row = BinaryRowOf<F, L, std::conditional_t<std::is_same_v<R, bool>, bool, L>>;
  }
  return loop;
}

template <typename F, typename T>
Status BinaryKernel(KernelContext& ctx) {
  static constexpr BinaryLoop loop = MakeBinaryLoop<F, T>();
  return RunBinary(ctx, loop);
}

template <typename F, typename T>
Status SameShapeKernel(KernelContext& ctx) {
  static constexpr BinaryLoop loop = MakeBinaryLoop<F, T>();
  return RunSameShape(ctx, loop);
}

// A list of element types, to register a kernel for each.
template <typename... T>
struct Types {};
template <typename... A, typename... B>
Types<A..., B...> operator+(Types<A...>, Types<B...>) {
  return {};
}

using FloatTypes = Types<float, double, Float16, Bfloat16>;
using IntTypes = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
using RealTypes = decltype(FloatTypes{} + IntTypes{});
using ComplexTypes = Types<std::complex<float>, std::complex<double>>;
using NumberTypes = decltype(RealTypes{} + ComplexTypes{});

// T's dtype and the quantized dtypes that are stored as T.
template <typename T>
DTypeSet DTypesStoredAs() {
  using enum DType;
  DTypeSet types = {DTypeOf<T>::value};
  for (DType t : {kQint8, kQuint8, kQint16, kQuint16, kQint32}) {
    if (StorageType(t) == DTypeOf<T>::value) types.Insert(t);
  }
  return types;
}

template <typename F, typename... T>
void AddBinary(KernelRegistry& r, const char* op, Types<T...>,
               std::source_location location = std::source_location::current()) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, BinaryKernel<F, T>, FunctorCost<F>, location), ...);
}
template <typename F, typename... T>
void AddSameShape(KernelRegistry& r, const char* op, Types<T...>,
                  std::source_location location = std::source_location::current()) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, SameShapeKernel<F, T>, FunctorCost<F>, location), ...);
}

// The complex conjugate; for a real number, the number itself.
template <typename T>
T Conjugate(T v) {
  if constexpr (kIsComplex<T>) {
    return std::conj(v);
  } else {
    return v;
  }
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_ELEMENTWISE_H_
