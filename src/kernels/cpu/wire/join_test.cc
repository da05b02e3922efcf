#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid::cpu {
namespace {

// Takes tensor number `index` of two that are joined, and says that it has this dtype and shape.
StatusOr<Tensor> Take(int64_t index, DType dtype, const Shape& shape) {
  Graph g;
  const std::vector<Output> both = {Const(g, Tensor::Vector<float>({1, 2})), Const(g, Tensor::Scalar(int64_t{3}))};
  const Output joined = NodeBuilder(g, "_JoinTensors").InputList(both).Output();
  const Output taken =
      NodeBuilder(g, "_TakeJoined").Input(joined).Attr("T", dtype).Attr("index", index).Attr("shape", shape).Output();
  TF_RETURN_IF_ERROR(g.status());
  TF_ASSIGN_OR_RETURN(const auto results, Session::Create(g).value()->Run({taken}));
  return results[0];
}

TEST(JoinTensorsTest, EachTensorComesOutAsItWas) {
  const auto vector = Take(0, kFloat32, {-1});
  ASSERT_TRUE(vector.ok()) << vector.status();
  EXPECT_THAT(vector->data<float>(), testing::ElementsAre(1, 2));
  const auto scalar = Take(1, kInt64, {});
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_EQ(scalar->scalar<int64_t>(), 3);
}

TEST(JoinTensorsTest, AnotherTensorThanExpectedIsAnError) {
  for (const Status& status : {Take(0, kFloat32, {3}).status(), Take(1, kFloat32, {}).status()}) {
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("was expected")) << status;
  }
  EXPECT_THAT(std::string(Take(2, kFloat32, {}).status().message()),
              testing::HasSubstr("no tensor 2 in 2 joined tensors"));
}

}  // namespace
}  // namespace tensorbraid::cpu
