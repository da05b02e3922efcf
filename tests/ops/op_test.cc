// Compares our results for every row of the op table (op_case.h) with the values, or the error, of TensorFlow or NumPy.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/text/strings.h"
#include "decompositions.h"
#include "executor/evaluate.h"
#include "graph/model/op_registry.h"
#include "op_case.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

// What is known about the inputs while the graph is built: their values, or only their dtypes.
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
    if (IsAmbiguous(c.op)) {
      ASSERT_EQ(results[i].dtype(), c.outputs[i].dtype());
      ASSERT_EQ(results[i].shape(), c.outputs[i].shape());
    } else {
      EXPECT_EQ(Difference(results[i], c.outputs[i], c.tolerance), "") << "output " << i;
    }
    const Shape& inferred = op.output(static_cast<int>(i)).shape();
    EXPECT_TRUE(inferred.IsCompatibleWith(results[i].shape()))
        << "output " << i << " was inferred as " << inferred.ToString();
  }
  if (!IsAmbiguous(c.op)) return;
  const auto got = Unambiguous(c.op, results), want = Unambiguous(c.op, c.outputs);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(Difference(got[i], want[i], c.tolerance), "");
}

// Checks the values of an op's variables after it has run, and that snapshots which were taken before have not changed.
void CheckVariables(const OpCase& c, Knowledge knowledge, ThreadPool* pool) {
  Graph g;
  const OpDef* def = OpRegistry::Global().Find(c.op);
  ASSERT_NE(def, nullptr);
  std::vector<Output> inputs;
  std::vector<Output> variables;
  std::vector<std::pair<Output, Tensor>> feeds;
  std::vector<Operation> initializers;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Tensor& value = c.inputs[i].tensors[0];
    const bool known = knowledge == Knowledge::kConstants;
    if (std::count(c.variables.begin(), c.variables.end(), static_cast<int>(i)) > 0) {
      const bool by_reference = def->inputs[i].is_ref;
      const std::string name = StrCat("v", i);
      inputs.push_back(NodeBuilder(g, by_reference ? "VariableV2" : "VarHandleOp")
                           .Name(name)
                           .Attr("dtype", value.dtype())
                           .Attr("shape", known ? value.shape() : Shape::Unknown())
                           .Output());
      variables.push_back(inputs.back());
      initializers.push_back(NodeBuilder(g, by_reference ? "Assign" : "AssignVariableOp")
                                 .Input(inputs.back())
                                 .Input(Const(g, value))
                                 .Finish());
    } else if (known) {
      inputs.push_back(Const(g, value));
    } else {
      inputs.push_back(Placeholder(g, value.dtype()));
      feeds.emplace_back(inputs.back(), value);
    }
  }
  ResourceManager resources;
  EvaluateOptions options{.targets = initializers, .resources = &resources, .pool = pool};
  ASSERT_TRUE(g.status().ok()) << g.status();
  ASSERT_TRUE(Evaluate({}, {}, options).ok());
  std::vector<Output> reads;
  for (size_t i = 0; i < variables.size(); ++i) {
    const DType dtype = c.inputs[c.variables[i]].tensors[0].dtype();
    reads.push_back(def->inputs[c.variables[i]].is_ref
                        ? Identity(variables[i])
                        : NodeBuilder(g, "ReadVariableOp").Input(variables[i]).Attr("dtype", dtype).Output());
  }
  options.targets.clear();
  const auto before = Evaluate(reads, {}, options);
  ASSERT_TRUE(before.ok()) << before.status();
  const Operation op = AddCase(g, c, inputs);
  Status status = g.status();
  std::vector<Output> fetches;
  StatusOr<std::vector<Tensor>> results = std::vector<Tensor>();
  if (status.ok()) {
    for (int i = 0; i < op.num_outputs(); ++i) fetches.push_back(op.output(i));
    options.targets = {op};
    results = Evaluate(fetches, feeds, options);
    status = results.status();
    options.targets.clear();
  }
  for (size_t i = 0; i < reads.size(); ++i) {
    EXPECT_EQ(Difference((*before)[i], c.inputs[c.variables[i]].tensors[0], 0), "")
        << "variable " << i << ", as read before the op ran";
  }
  if (!c.error.empty()) {
    EXPECT_EQ(absl::StatusCodeToString(status.code()), c.error) << status;
    return;
  }
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(results->size(), c.outputs.size());
  for (size_t i = 0; i < results->size(); ++i) {
    EXPECT_EQ(Difference((*results)[i], c.outputs[i], c.tolerance), "") << "output " << i;
    const Shape& inferred = op.output(static_cast<int>(i)).shape();
    EXPECT_TRUE(inferred.IsCompatibleWith((*results)[i].shape()))
        << "output " << i << " was inferred as " << inferred.ToString();
  }
  const auto after = Evaluate(reads, {}, options);
  ASSERT_TRUE(after.ok()) << after.status();
  for (size_t i = 0; i < reads.size(); ++i) {
    EXPECT_EQ(Difference((*after)[i], c.values[i], c.tolerance), "") << "variable " << i;
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
      if (c.variables.empty()) {
        Check(c, knowledge, pool);
      } else {
        CheckVariables(c, knowledge, pool);
      }
    }
  }
};

TEST_F(OpTable, ValuesOfConstantsAreAsExpected) { CheckAll(Knowledge::kConstants, nullptr); }

TEST_F(OpTable, ValuesAreAsExpectedWhenShapesAreKnownOnlyAtRunTime) {
  ThreadPool pool("op_test", 2);
  CheckAll(Knowledge::kUnknownShapes, &pool);
}

}  // namespace
}  // namespace tensorbraid
