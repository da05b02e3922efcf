// Tests the functions of raw_ops: how they convert their inputs, what they return, and that their nodes run.
// tests/ops/raw_ops_registry_test.cc compares the nodes of all of them with those of NodeBuilder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensorbraid/raw_ops.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class RawOpsTest : public ::testing::Test {
 protected:
  // Runs the operations one after the other, then fetches the tensor.
  template <typename T>
  std::vector<T> Run(const Output& x, const std::vector<Operation>& before = {}, const std::vector<Feed>& feeds = {}) {
    EXPECT_TRUE(x.valid()) << g_.status();
    auto session = Session::Create(g_);
    EXPECT_TRUE(session.ok()) << session.status();
    if (!x.valid() || !session.ok()) return {};
    for (const Operation& operation : before) {
      const auto result = (*session)->Run({operation});
      EXPECT_TRUE(result.ok()) << result.status();
    }
    const auto result = (*session)->Run({x}, feeds);
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return {};
    const auto data = (*result)[0].data<T>();
    return {data.begin(), data.end()};
  }

  Output Floats(const std::vector<float>& values) { return Const(g_, Tensor::Vector(values)); }
  Output Strings(const std::vector<std::string>& values) { return Const(g_, Tensor::Vector(values)); }
  Output Matrix() { return Const(g_, Tensor::Of<float>({2, 3}, {3, 1, 2, -1, 5, 0})); }

  Graph g_;
};

TEST_F(RawOpsTest, OptionsAreNamed) {
  const Output product = raw_ops::MatMul(Matrix(), Matrix(), {.transpose_b = true, .name = "product"});
  EXPECT_THAT(Run<float>(product), ElementsAre(14, 2, 2, 26));
  EXPECT_EQ(product.name(), "product:0");
  EXPECT_EQ(raw_ops::Neg(product, "negative").name(), "negative:0");
}

// The example of docs/ops.md.
Output Places(const Output& x) {
  const Output shifted = raw_ops::Roll(x, 1, 0);
  const auto best = raw_ops::TopKV2(shifted, 2, {.sorted = false});
  return raw_ops::Cast(best.indices, kInt64, {.name = "p"});
}

TEST_F(RawOpsTest, TheExampleOfTheDocumentRuns) {
  EXPECT_THAT(Run<int64_t>(Places(Floats({1, 9, 8}))), UnorderedElementsAre(0, 2));
}

TEST_F(RawOpsTest, AttributesOfAllTypes) {
  EXPECT_THAT(Run<float>(raw_ops::LeakyRelu(Floats({-2, 4}), {.alpha = 0.5f})), ElementsAre(-1, 4));
  EXPECT_THAT(Run<int32_t>(raw_ops::Cast(Floats({-2.5, 4}), kInt32)), ElementsAre(-2, 4));
  EXPECT_THAT(Run<int32_t>(raw_ops::Bucketize(Floats({-5, 3, 50}), {0, 10})), ElementsAre(0, 1, 2));
  EXPECT_THAT(Run<std::string>(raw_ops::AsString(Floats({1.25}), {.precision = 1, .fill = ""})), ElementsAre("1.2"));
  EXPECT_THAT(Run<int64_t>(raw_ops::Const(g_, Tensor::Vector<int64_t>({7, 8}), kInt64)), ElementsAre(7, 8));
  EXPECT_THAT(Run<float>(raw_ops::Squeeze(Matrix(), {.squeeze_dims = {}})), ElementsAre(3, 1, 2, -1, 5, 0));
  const Output image = raw_ops::Reshape(Matrix(), Const(g_, Tensor::Vector<int32_t>({1, 2, 3, 1})));
  EXPECT_THAT(Run<float>(raw_ops::MaxPool(image, {1, 1, 2, 1}, {1, 1, 1, 1}, "VALID")), ElementsAre(3, 2, 5, 5));
  const Output fed = raw_ops::Placeholder(g_, kFloat32, {.shape = {-1, 2}});
  EXPECT_EQ(fed.shape(), Shape({-1, 2}));
  EXPECT_THAT(Run<float>(raw_ops::Square(fed), {}, {{fed, Tensor::Of<float>({1, 2}, {3, 4})}}), ElementsAre(9, 16));
}

TEST_F(RawOpsTest, ReservedWordsEndWithAnUnderscore) {
  const Output text = raw_ops::StringFormat(g_, {Floats({1, 2})}, {.template_ = "it is %s"});
  EXPECT_THAT(Run<std::string>(text), ElementsAre("it is [1 2]"));
}

TEST_F(RawOpsTest, SeveralOutputsHaveNames) {
  const auto best = raw_ops::TopKV2(Matrix(), 2);
  EXPECT_THAT(Run<float>(best.values), ElementsAre(3, 2, 5, 0));
  EXPECT_THAT(Run<int32_t>(best.indices), ElementsAre(0, 2, 1, 2));
  EXPECT_EQ(best.operation, best.values.op());
  const auto unique = raw_ops::Unique(Strings({"a", "b", "a"}), {.out_idx = kInt64});
  EXPECT_THAT(Run<int64_t>(unique.idx), ElementsAre(0, 1, 0));
}

TEST_F(RawOpsTest, ListsOfInputsAndOutputs) {
  const auto parts = raw_ops::Split(1, Matrix(), 3);
  ASSERT_EQ(parts.output.size(), 3u);
  EXPECT_THAT(Run<float>(raw_ops::ConcatV2({parts.output[2], parts.output[0]}, 1)), ElementsAre(2, 3, 0, -1));
  const auto same = raw_ops::IdentityN({Strings({"a"}), Floats({1})});
  ASSERT_EQ(same.output.size(), 2u);
  EXPECT_THAT(Run<std::string>(same.output[0]), ElementsAre("a"));
  EXPECT_THAT(Run<float>(same.output[1]), ElementsAre(1));
  const auto columns =
      raw_ops::DecodeCSV(Strings({"1;x", "2;"}), {Floats({0}), Strings({"none"})}, {.field_delim = ";"});
  ASSERT_EQ(columns.output.size(), 2u);
  EXPECT_THAT(Run<float>(columns.output[0]), ElementsAre(1, 2));
  EXPECT_THAT(Run<std::string>(columns.output[1]), ElementsAre("x", "none"));
  EXPECT_THAT(Run<std::string>(raw_ops::StringJoin(g_, {Strings({"a"}), Strings({"b"})}, {.separator = "-"})),
              ElementsAre("a-b"));
}

TEST_F(RawOpsTest, ReferencesAreUpdated) {
  const Output variable = raw_ops::VariableV2(g_, {2}, kFloat64);
  const Output assign = raw_ops::Assign(variable, Const(g_, Tensor::Vector<double>({1, 2})));
  const Output add = raw_ops::AssignAdd(variable, Const(g_, Tensor::Vector<double>({10, 10})), {.use_locking = true});
  // The learning rate takes the dtype of the variable.
  const Output step = raw_ops::ApplyGradientDescent(variable, 0.5, Const(g_, Tensor::Vector<double>({2, 4})));
  EXPECT_THAT(Run<double>(raw_ops::Identity(variable), {assign.op(), add.op(), step.op()}), ElementsAre(10, 10));
}

TEST_F(RawOpsTest, ResourcesAreHandles) {
  const Output handle = raw_ops::VarHandleOp(g_, kFloat32, {2}, {.shared_name = "v"});
  const Operation assign = raw_ops::AssignVariableOp(handle, Floats({1, 2}));
  const Operation step = raw_ops::ResourceApplyGradientDescent(handle, 1, Floats({3, 4}));
  EXPECT_THAT(Run<float>(raw_ops::ReadVariableOp(handle, kFloat32), {assign, step}), ElementsAre(-2, -2));

  const Output queue = raw_ops::FIFOQueueV2(g_, {kFloat32, kString}, {.shapes = {{1}, {1}}});
  const Operation enqueue = raw_ops::QueueEnqueueV2(queue, {Floats({5}), Strings({"five"})});
  const auto element = raw_ops::QueueDequeueV2(queue, {kFloat32, kString});
  ASSERT_EQ(element.components.size(), 2u);
  EXPECT_EQ(element.components[0].shape(), Shape({1}));
  EXPECT_THAT(Run<std::string>(element.components[1], {enqueue}), ElementsAre("five"));
}

TEST_F(RawOpsTest, FunctionsAreCalled) {
  ASSERT_TRUE(g_.ImportGraphDefText(R"(
      versions { producer: 1882 }
      library {
        function {
          signature { name: "Twice" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
          node_def { name: "sum" op: "AddV2" input: "x" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
          ret { key: "y" value: "sum:z:0" }
        }
        function {
          signature { name: "Negative" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
          node_def { name: "neg" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
          ret { key: "y" value: "neg:y:0" }
        }
      })")
                  .ok());
  const AttrValue::Function twice{.name = "Twice", .attrs = {}}, negative{.name = "Negative", .attrs = {}};
  const auto called = raw_ops::StatefulPartitionedCall(g_, {Floats({1, 2})}, {kFloat32}, twice);
  ASSERT_EQ(called.output.size(), 1u);
  EXPECT_THAT(Run<float>(called.output[0]), ElementsAre(2, 4));
  const auto chosen = raw_ops::Case(1, {Floats({1, 2})}, {kFloat32}, {twice, negative});
  ASSERT_EQ(chosen.output.size(), 1u);
  EXPECT_THAT(Run<float>(chosen.output[0]), ElementsAre(-1, -2));
}

TEST_F(RawOpsTest, NumbersTakeTheDTypeThatTheOpNeeds) {
  const Output x = Const(g_, Tensor::Vector<int64_t>({1, 2}));
  EXPECT_THAT(Run<int64_t>(raw_ops::AddV2(3, x)), ElementsAre(4, 5));            // of the other operand
  EXPECT_THAT(Run<float>(raw_ops::ExpandDims(Floats({1}), 0)), ElementsAre(1));  // the default of Tdim
  EXPECT_THAT(Run<int64_t>(raw_ops::SelectV2(true, x, 0)), ElementsAre(1, 2));   // of the definition: bool
  EXPECT_EQ(raw_ops::Range(Const(g_, Tensor::Scalar(0.0)), 3, 1).dtype(), kFloat64);
  Variable weights(g_, {2}, Constant(2.0));
  EXPECT_EQ(raw_ops::Mul(weights, 3).dtype(), kFloat32);
  EXPECT_TRUE(g_.status().ok()) << g_.status();
  EXPECT_FALSE(raw_ops::AddV2(x, 0.5).valid());
  EXPECT_THAT(std::string(g_.status().message()), HasSubstr("AddV2: the number 0.5 (raw_call_test.cc:"));
}

TEST_F(RawOpsTest, MistakesNameTheCallersLine) {
  const int line = __LINE__ + 1;
  const auto parts = raw_ops::Split(0, Matrix(), 4);
  EXPECT_EQ(parts.output, std::vector<Output>(4));  // as many as were asked for, but not valid
  EXPECT_FALSE(parts.operation.valid());
  EXPECT_THAT(std::string(g_.TakeStatus().message()), HasSubstr("raw_call_test.cc:" + std::to_string(line)));
  const int queue_line = __LINE__ + 1;
  raw_ops::FIFOQueueV2(g_, {});
  EXPECT_THAT(std::string(g_.TakeStatus().message()), HasSubstr("raw_call_test.cc:" + std::to_string(queue_line)));
}

TEST_F(RawOpsTest, CallsWithoutAGraphAreLogged) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(raw_ops::AddV2(1, Tensor::Scalar(2)).valid());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("AddV2 (raw_call_test.cc"));
  testing::internal::CaptureStderr();
  EXPECT_FALSE(raw_ops::AddN({}).valid());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the list is empty"));
  // The mistake that made the input invalid is enough.
  testing::internal::CaptureStderr();
  EXPECT_FALSE(raw_ops::Neg(Output()).valid());
  EXPECT_FALSE(raw_ops::ReadVariableOp(Output(), kFloat32).valid());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tensorbraid
