#include "executor/clusters/tensor_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

TEST(TensorDifferenceTest, RoundingIsNoDifference) {
  const Tensor expected = Tensor::Vector<float>({1000, 1, 0});
  EXPECT_EQ(DifferenceOf(Tensor::Vector<float>({1000.5, 1.5, -0.5}), expected, 1e-3), "");
  EXPECT_EQ(DifferenceOf(Tensor::Vector<float>({1000, 3, 0}), expected, 1e-3),
            "element 1 of float32[3] is 3 instead of 1");
  EXPECT_EQ(DifferenceOf(Tensor::Vector<float>({1002, 3, 0}), expected, 1e-3),
            "element 0 of float32[3] is 1002 instead of 1000, and 1 more differ");
}

TEST(TensorDifferenceTest, SmallNumbersAreComparedWithAThousandth) {
  EXPECT_EQ(DifferenceOf(Tensor::Vector<float>({5e-7}), Tensor::Vector<float>({0}), 1e-3), "");
  EXPECT_NE(DifferenceOf(Tensor::Vector<float>({5e-6}), Tensor::Vector<float>({0}), 1e-3), "");
}

TEST(TensorDifferenceTest, EachDtypeHasItsTolerance) {
  EXPECT_NE(DifferenceOf(Tensor::Vector<double>({1.00001}), Tensor::Vector<double>({1}), 1e-3), "");
  EXPECT_EQ(DifferenceOf(Tensor::Vector<double>({1.0000000001}), Tensor::Vector<double>({1}), 1e-3), "");
  EXPECT_EQ(DifferenceOf(Tensor::Vector<Bfloat16>({Bfloat16(1.03f)}), Tensor::Vector<Bfloat16>({Bfloat16(1)}), 1e-3),
            "");
  EXPECT_NE(DifferenceOf(Tensor::Vector<int64_t>({1000001}), Tensor::Vector<int64_t>({1000000}), 1e-3), "");
  EXPECT_NE(DifferenceOf(Tensor::Vector<bool>({true}), Tensor::Vector<bool>({false}), 1e-3), "");
  using C = std::complex<float>;
  EXPECT_THAT(DifferenceOf(Tensor::Vector<C>({C(1, 2), C(1, 3)}), Tensor::Vector<C>({C(1, 2), C(1, 2)}), 1e-3),
              HasSubstr("element 1 of complex64[2] is 3 instead of 2"));
}

TEST(TensorDifferenceTest, NanAndInfinityAreEqualToThemselvesOnly) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(DifferenceOf(Tensor::Vector<float>({nan, infinity}), Tensor::Vector<float>({nan, infinity}), 1e-3), "");
  EXPECT_NE(DifferenceOf(Tensor::Vector<float>({1}), Tensor::Vector<float>({nan}), 1e-3), "");
  EXPECT_NE(DifferenceOf(Tensor::Vector<float>({nan}), Tensor::Vector<float>({1}), 1e-3), "");
  EXPECT_NE(DifferenceOf(Tensor::Vector<float>({-infinity}), Tensor::Vector<float>({infinity}), 1e-3), "");
  EXPECT_NE(DifferenceOf(Tensor::Vector<float>({1, infinity}), Tensor::Vector<float>({1, 7}), 1e-3), "");
}

TEST(TensorDifferenceTest, OtherTypesAreNamed) {
  EXPECT_EQ(DifferenceOf(Tensor::Vector<float>({1}), Tensor::Vector<float>({1, 2}), 1e-3),
            "it is float32[1] instead of float32[2]");
}

}  // namespace
}  // namespace tensorbraid
