// Exponential functions for float that compilers vectorise: no branches, no tables, no calls. The versions for double
// call the C library, which is slower and exact to the last bit or two.
//
// The relative error for float is below 2e-7 (1.5 units in the last place). NaN gives NaN.
#ifndef TENSORBRAID_KERNELS_CPU_VECTOR_MATH_H_
#define TENSORBRAID_KERNELS_CPU_VECTOR_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tensorbraid::cpu {

// e^x for all x: 0 and infinity where float has no such number.
inline float VectorExp(float x) {
  // Beyond these bounds the result rounds to 0 or overflows.
  x = x < -105.0f ? -105.0f : x;
  x = x > 90.0f ? 90.0f : x;
  // x = n ln(2) + r with |r| <= ln(2) / 2. Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
  constexpr float kRound = 12582912.0f;
  const float shifted = x * 1.44269504f + kRound;
  const uint32_t n = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kRound);
  const float multiple = shifted - kRound;
  // ln(2) in two parts: products of the first part are exact.
  const float r = (x - multiple * 0.693359375f) + multiple * 2.12194440e-4f;
  float p = 0.0013934545f;
  p = p * r + 0.0083637765f;
  p = p * r + 0.0416664568f;
  p = p * r + 0.1666657336f;
  p = p * r + 0.5f;
  p = p * (r * r) + r + 1.0f;
  // 2^n in two factors, because n may be beyond the exponents of normal numbers.
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(n) >> 1);
  const float a = std::bit_cast<float>((half + 127) << 23);
  const float b = std::bit_cast<float>((n - half + 127) << 23);
  return p * a * b;
}
inline double VectorExp(double x) { return std::exp(x); }

// ln(x) for 0 <= x < infinity; -infinity for 0.
inline float VectorLog(float x) {
  // Denormal numbers are scaled into the normal range, by 2^23.
  const bool tiny = x < std::numeric_limits<float>::min();
  const float scaled = tiny ? x * 8388608.0f : x;
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)).
  const uint32_t bits = std::bit_cast<uint32_t>(scaled);
  const int32_t e = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const float m = std::bit_cast<float>(bits - (static_cast<uint32_t>(e) << 23)) - 1.0f;
  const float exponent = static_cast<float>(e) - (tiny ? 23.0f : 0.0f);
  float p = 0.0714975394f;
  p = p * m - 0.1157120073f;
  p = p * m + 0.1166151105f;
  p = p * m - 0.1241105068f;
  p = p * m + 0.1424993654f;
  p = p * m - 0.1666848024f;
  p = p * m + 0.2000070748f;
  p = p * m - 0.2499998905f;
  p = p * m + 0.3333333119f;
  const float square = m * m;
  const float log = exponent * 0.693359375f + (m + square * (m * p - 0.5f) - exponent * 2.12194440e-4f);
  const float positive = x == 0.0f ? -std::numeric_limits<float>::infinity() : log;
  return x != x ? x : positive;
}
inline double VectorLog(double x) { return std::log(x); }

// 1 / (1 + e^-x).
template <typename A>
A VectorSigmoid(A x) {
  return A(1) / (A(1) + VectorExp(-x));
}

// tanh(x).
inline float VectorTanh(float x) {
  // Near 0: x (1 + x² p(x²)). Elsewhere (1 - e^(-2|x|)) / (1 + e^(-2|x|)), because there the difference loses no
  // digits.
  const float z = x * x;
  float p = 0.0022727032f;
  p = p * z - 0.0083264004f;
  p = p * z + 0.0217636329f;
  p = p * z - 0.0539586241f;
  p = p * z + 0.1333330097f;
  p = p * z - 0.3333333316f;
  const float near = x + x * (z * p);
  const float magnitude = std::fabs(x);
  const float t = VectorExp(-2.0f * magnitude);
  const float far = std::copysign((1.0f - t) / (1.0f + t), x);
  return magnitude < 0.6f ? near : far;
}
inline double VectorTanh(double x) { return std::tanh(x); }

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_VECTOR_MATH_H_
