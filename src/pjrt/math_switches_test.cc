#include "pjrt/math_switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pjrt/client.h"
#include "pjrt/stablehlo.h"
#include "pjrt/testing/test_plugins.h"

namespace tensorbraid::pjrt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ProductOf(DType dtype) {
  stablehlo::Builder b;
  const stablehlo::Value x = b.Parameter(dtype, Shape({2, 3})), y = b.Parameter(dtype, Shape({3, 4}));
  const stablehlo::Value product = b.Dot(x, y, {.x_contracting = {1}, .y_contracting = {0}});
  return b.Module({x, y}, {product});
}

class MathSwitchesTest : public testing::Test {
 protected:
  ~MathSwitchesTest() override {
    AllowTensorFloat32(true);
    RequireDeterminism(false);
  }
};

TEST_F(MathSwitchesTest, ProductsOfFloat32AreExactIfTensorFloat32IsNotAllowed) {
  EXPECT_THAT(ProductOf(kFloat32), Not(HasSubstr("precision")));
  AllowTensorFloat32(false);
  EXPECT_THAT(ProductOf(kFloat32),
              HasSubstr(", precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]"));
  EXPECT_THAT(ProductOf(kBfloat16), Not(HasSubstr("precision")));
}

TEST_F(MathSwitchesTest, DeterministicProgramsHaveOptionsAndANameOfTheirOwn) {
  const std::string usual = ProductOf(kFloat32);
  RequireDeterminism(true);
  const std::string deterministic = ProductOf(kFloat32);
  RequireDeterminism(false);
  EXPECT_NE(usual, deterministic);
  EXPECT_THAT(CompileOptionsProto(usual), Not(HasSubstr("xla_gpu_deterministic_ops")));
  EXPECT_THAT(CompileOptionsProto(deterministic), HasSubstr("xla_gpu_deterministic_ops"));
}

}  // namespace
}  // namespace tensorbraid::pjrt
