#include "kernels/cpu/half.h"

#include <Eigen/Core>

namespace tensorbraid::cpu {
namespace {

// Eigen's half and bfloat16 have the same layout as ours, and their conversions use the CPU's instructions.
template <typename E, typename H>
void Widen(const H* in, float* out, int64_t n) {
  static_assert(sizeof(E) == sizeof(H));
  Eigen::Map<Eigen::ArrayXf>(out, n) =
      Eigen::Map<const Eigen::Array<E, Eigen::Dynamic, 1>>(reinterpret_cast<const E*>(in), n).template cast<float>();
}

template <typename E, typename H>
void Round(const float* in, H* out, int64_t n) {
  Eigen::Map<Eigen::Array<E, Eigen::Dynamic, 1>>(reinterpret_cast<E*>(out), n) =
      Eigen::Map<const Eigen::ArrayXf>(in, n).template cast<E>();
}

}  // namespace

void ToFloat(const Float16* in, float* out, int64_t n) { Widen<Eigen::half>(in, out, n); }
void ToFloat(const Bfloat16* in, float* out, int64_t n) { Widen<Eigen::bfloat16>(in, out, n); }
void FromFloat(const float* in, Float16* out, int64_t n) { Round<Eigen::half>(in, out, n); }
void FromFloat(const float* in, Bfloat16* out, int64_t n) { Round<Eigen::bfloat16>(in, out, n); }

}  // namespace tensorbraid::cpu
