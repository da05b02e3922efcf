// Tests matrix products (gemm.h).
#include "kernels/cpu/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tensorbraid::cpu {
namespace {

template <typename T>
std::vector<T> RampOf(int64_t n) {
  std::vector<T> v(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) v[static_cast<size_t>(i)] = static_cast<T>(i * 7 % 23 - 11);
  return v;
}

// Products of floats take other paths (oneDNN or MultiplyNarrow) than products of doubles (Eigen). The numbers are
// small integers, so the products of both types are exact and must be equal.
TEST(GemmTest, ProductsOfFloatsEqualThoseOfDoubles) {
  for (const int64_t m : {1, 2, 15, 16, 17, 40, 48, 63, 64, 65, 200}) {
    for (const int64_t n : {1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 40}) {
      for (const int64_t k : {1, 3, 16, 50}) {
        for (int transposed = 0; transposed < 4; ++transposed) {
          const bool of_a = (transposed & 1) != 0, of_b = (transposed & 2) != 0;
          std::vector<float> c(static_cast<size_t>(m * n));
          std::vector<double> expected(c.size());
          Gemm<float>(nullptr, of_a, of_b, m, n, k, RampOf<float>(m * k).data(), RampOf<float>(k * n).data(), c.data());
          Gemm<double>(nullptr, of_a, of_b, m, n, k, RampOf<double>(m * k).data(), RampOf<double>(k * n).data(),
                       expected.data());
          EXPECT_EQ(std::vector<double>(c.begin(), c.end()), expected)
              << m << " x " << n << " x " << k << ", transposed: " << of_a << of_b;
        }
      }
    }
  }
}

// The result is a block c of a larger matrix. The elements of that matrix outside of c must not change.
TEST(GemmTest, AProductIntoAPartOfAMatrixWritesOnlyThisPart) {
  constexpr int64_t kM = 37, kN = 10, kK = 20, kAStride = 41, kBStride = 13, kCStride = 12;
  for (const bool add : {false, true}) {
    const GemmPart part{.transpose_a = true,
                        .m = kM,
                        .n = kN,
                        .k = kK,
                        .a_stride = kAStride,
                        .b_stride = kBStride,
                        .c_stride = kCStride,
                        .add = add};
    std::vector<float> c = RampOf<float>(kM * kCStride);
    std::vector<double> expected = RampOf<double>(kM * kCStride);
    Gemm<float>(nullptr, part, RampOf<float>(kK * kAStride).data(), RampOf<float>(kK * kBStride).data(), c.data());
    Gemm<double>(nullptr, part, RampOf<double>(kK * kAStride).data(), RampOf<double>(kK * kBStride).data(),
                 expected.data());
    EXPECT_EQ(std::vector<double>(c.begin(), c.end()), expected) << "add: " << add;
  }
}

}  // namespace
}  // namespace tensorbraid::cpu
