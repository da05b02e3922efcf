// Every row of the op table: values (or the error) of TensorFlow and NumPy.
#include <gtest/gtest.h>

#include "core/strings.h"
#include "executor/evaluate.h"
#include "op_case.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

enum class Knowledge { kConstants, kUnknownShapes };

void Check(const OpCase& c, Knowledge knowledge, ThreadPool* pool) {
  Graph g;
  std::vector<Output> inputs;
  std::vector<std::pair<Output, Tensor>> feeds;
  for (const OpCase::Input& in : c.inputs) {
    for (const Tensor& t : in.tensors) {
      if (knowledge == Knowledge::kConstants) {
        inputs.push_back(Const(g, t));
      } else {
        inputs.push_back(Placeholder(g, t.dtype()));
        feeds.emplace_back(inputs.back(), t);
      }
    }
  }
  const Operation op = AddCase(g, c, inputs);
  Status status = g.status();
  std::vector<Tensor> results;
  if (status.ok()) {
    std::vector<Output> fetches;
    for (int i = 0; i < op.num_outputs(); ++i) fetches.push_back(op.output(i));
    EvaluateOptions options;
    options.pool = pool;
    auto got = Evaluate(fetches, feeds, options);
    status = got.status();
    if (got.ok()) results = *std::move(got);
  }
  if (!c.error.empty()) {
    EXPECT_EQ(absl::StatusCodeToString(status.code()), c.error) << status;
    return;
  }
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(results.size(), c.outputs.size());
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(Difference(results[i], c.outputs[i], c.tolerance), "") << "output " << i;
    const Shape& inferred = op.output(static_cast<int>(i)).shape();
    EXPECT_TRUE(inferred.IsCompatibleWith(results[i].shape()))
        << "output " << i << " was inferred as " << inferred.ToString();
  }
}

class OpTable : public testing::Test {
 protected:
  static void CheckAll(Knowledge knowledge, ThreadPool* pool) {
    std::string error;
    const std::vector<OpCase> cases = LoadCases(&error);
    ASSERT_EQ(error, "");
    for (const OpCase& c : cases) {
      SCOPED_TRACE(StrCat(c.where, " ", c.op));
      Check(c, knowledge, pool);
    }
  }
};

TEST_F(OpTable, ValuesOfConstants) { CheckAll(Knowledge::kConstants, nullptr); }

TEST_F(OpTable, ValuesWhenShapesAreKnownOnlyAtRunTime) {
  ThreadPool pool("op_test", 2);
  CheckAll(Knowledge::kUnknownShapes, &pool);
}

}  // namespace
}  // namespace tensorbraid
