// Functions of Eigen arrays on ranges of any length and alignment.
//
// Eigen computes most of a range with vector instructions, and the elements before and after whole vectors with the C
// library, whose results can differ in the last bit. Which elements these are depends on the address, and on where
// threads split the tensor. With the functions below, the result of an element depends on this element alone.
#ifndef TENSORBRAID_KERNELS_CPU_WHOLE_VECTORS_H_
#define TENSORBRAID_KERNELS_CPU_WHOLE_VECTORS_H_

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>

namespace tensorbraid::cpu {

// A whole number of vectors on every processor.
template <typename T>
using WholeVectors = Eigen::Array<T, 64 / sizeof(T), 1>;

// out[i] = f(in[i]), where f maps an Eigen array to an expression of it. `out` may be `in`.
template <typename T, typename F>
void ApplyInVectors(const T* in, T* out, int64_t n, const F& f) {
  using Vectors = WholeVectors<T>;
  constexpr int64_t kLanes = Vectors::SizeAtCompileTime;
  int64_t i = 0;
  for (; n - i >= kLanes; i += kLanes) Eigen::Map<Vectors>(out + i) = f(Eigen::Map<const Vectors>(in + i));
  if (i == n) return;
  Vectors rest = Vectors::Ones();
  std::copy(in + i, in + n, rest.data());
  const Vectors results = f(rest);
  std::copy_n(results.data(), n - i, out + i);
}

// The sum of n elements, in an order that depends only on n.
template <typename T>
T SumInVectors(const T* x, int64_t n) {
  using Vectors = WholeVectors<T>;
  constexpr int64_t kLanes = Vectors::SizeAtCompileTime;
  int64_t i = 0;
  T sum = 0;
  if (n >= kLanes) {
    Vectors sums = Vectors::Zero();
    for (; n - i >= kLanes; i += kLanes) sums += Eigen::Map<const Vectors>(x + i);
    sum = sums.sum();
  }
  for (; i < n; ++i) sum += x[i];
  return sum;
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_WHOLE_VECTORS_H_
