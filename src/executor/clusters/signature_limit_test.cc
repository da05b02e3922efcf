#include "executor/clusters/signature_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SignatureLimitTest : public testing::Test {
 protected:
  // Whether a program may be made for x of this shape and this value of `axis`.
  bool Allows(const Shape& shape, int32_t axis) {
    const std::vector<pjrt::ProgramArgument> arguments = {
        {.tensors = {x_}, .dtype = kFloat32, .shape = shape},
        {.tensors = {axis_},
         .dtype = kInt32,
         .shape = {},
         .constant = std::make_shared<const Tensor>(Tensor::Scalar(axis))}};
    return limit_.Allows(StrCat(shape, axis), arguments);
  }

  Graph g_;
  const Output x_ = Placeholder(g_, kFloat32, {-1, -1}, "x"), axis_ = Placeholder(g_, kInt32, {}, "axis");
  const Output sum_ = NodeBuilder(g_, "Sum").Name("sum").Input(x_).Input(axis_).Finish().output(0);
  const std::vector<const Node*> nodes_ = {NodeOf(sum_)};
  SignatureLimit limit_{nodes_};
};

TEST_F(SignatureLimitTest, NamesTheDimensionThatChanges) {
  for (int64_t rows = 1; rows <= 64; ++rows) ASSERT_TRUE(Allows({rows, 1 + rows % 2}, 0)) << rows;
  EXPECT_TRUE(limit_.reason().empty());
  EXPECT_FALSE(Allows({65, 1}, 0));
  EXPECT_THAT(limit_.reason(),
              AllOf(HasSubstr("each size of dimension 0 of input 0 of Sum 'sum'"), HasSubstr(", which has had 65")));
  EXPECT_THAT(limit_.reason(), HasSubstr("Pad it"));
  EXPECT_FALSE(limit_.changing_argument().has_value());
  EXPECT_TRUE(Allows({64, 1}, 0));
  EXPECT_FALSE(Allows({1, 1}, 0));
}

TEST_F(SignatureLimitTest, NamesTheStaticArgumentThatChanges) {
  for (int32_t axis = 0; axis < 8; ++axis) {
    ASSERT_TRUE(Allows({2, 2}, axis)) << axis;
    ASSERT_TRUE(Allows({3, 2}, axis)) << axis;
  }
  EXPECT_FALSE(Allows({2, 2}, 8));
  EXPECT_THAT(limit_.reason(), AllOf(HasSubstr("each value of input 1 of Sum 'sum'"), HasSubstr(", which has had 9")));
  EXPECT_EQ(limit_.changing_argument(), 1u);
  EXPECT_TRUE(Allows({3, 2}, 7));
  EXPECT_FALSE(Allows({4, 2}, 7));  // a further signature, also if all its values are known
}

TEST_F(SignatureLimitTest, OfManyCombinationsNamesTheValueThatChangesMost) {
  for (int32_t axis = 0; axis < 8; ++axis) {
    for (int64_t rows = 1; rows <= 8; ++rows) ASSERT_TRUE(Allows({rows, 2}, axis));
  }
  EXPECT_FALSE(Allows({1, 3}, 0));
  EXPECT_THAT(limit_.reason(), AllOf(HasSubstr("each combination of shapes and values"), HasSubstr("there were 65")));
  EXPECT_THAT(limit_.reason(), HasSubstr("Of these, input 1 of Sum 'sum'"));
  EXPECT_THAT(limit_.reason(), HasSubstr(" has had the most values, 8. Use a constant there"));
  EXPECT_EQ(limit_.changing_argument(), 1u);
}

TEST_F(SignatureLimitTest, OfManyCombinationsNamesTheDimensionThatChangesMost) {
  for (int32_t axis = 0; axis < 4; ++axis) {
    for (int64_t rows = 1; rows <= 16; ++rows) ASSERT_TRUE(Allows({rows, 2}, axis));
  }
  EXPECT_FALSE(Allows({1, 3}, 0));
  EXPECT_THAT(limit_.reason(), HasSubstr("Of these, dimension 0 of input 0 of Sum 'sum'"));
  EXPECT_THAT(limit_.reason(), HasSubstr(" has had the most sizes, 16. Pad it"));
  EXPECT_FALSE(limit_.changing_argument().has_value());
}

}  // namespace
}  // namespace tensorbraid
