// Tests gradients through calls of library functions, If and Case.
#include <gtest/gtest.h>

#include <cmath>

#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// Returns a FunctionDef as text. The function has the arguments `a`, of dtype `first`, and `b`, of dtype float64, and
// these nodes. It returns the tensor `result`, of dtype float64. Dtypes are numbers: 2 is float64, 20 is resource.
std::string FunctionText(const std::string& name, int first, const std::string& nodes, const std::string& result) {
  return StrCat("function { signature { name: '", name, "' input_arg { name: 'a' type: ", first,
                " } input_arg { name: 'b' type: 2 } output_arg { name: 'y' type: 2 } } ", nodes,
                " ret { key: 'y' value: '", result, "' } } ");
}
std::string NodeText(const std::string& name, const std::string& op, const std::string& inputs,
                     const std::string& type_attr = "T") {
  return StrCat("node_def { name: '", name, "' op: '", op, "' ", inputs, " attr { key: '", type_attr,
                "' value { type: 2 } } } ");
}

class FunctionGradient : public testing::Test {
 protected:
  FunctionGradient() {
    const std::string a = "input: 'a' ", b = "input: 'b' ";
    const std::string functions[] = {
        // a^2 b, sin(a), and a shuffled.
        FunctionText("product", 2, NodeText("square", "Square", a) + NodeText("p", "Mul", "input: 'square:y:0' " + b),
                     "p:z:0"),
        FunctionText("sine", 2, NodeText("s", "Sin", a), "s:y:0"),
        FunctionText("shuffle", 2, NodeText("r", "RandomShuffle", a), "r:output:0"),
        // The product of a variable with b, and the square of b.
        FunctionText(
            "weighted", 20,
            NodeText("read", "ReadVariableOp", a, "dtype") + NodeText("p", "Mul", "input: 'read:value:0' " + b),
            "p:z:0"),
        FunctionText("unweighted", 20, NodeText("square", "Square", b), "square:y:0")};
    std::string library;
    for (const std::string& function : functions) library += function;
    const Status imported = g_.ImportGraphDefText(StrCat("library { ", library, "}"));
    EXPECT_TRUE(imported.ok()) << imported;
    a_ = Const(g_, Tensor::Vector<double>({3, 0.5}));
    b_ = Const(g_, Tensor::Vector<double>({2, -1}));
    chosen_ = Placeholder(g_, kInt32, {});
  }

  static AttrValue::Function Named(const std::string& name) { return {.name = name, .attrs = {}}; }
  Output Call(const std::string& op, const std::string& f) {
    return NodeBuilder(g_, op)
        .InputList({a_, b_})
        .Attr("Tout", std::vector<DType>{kFloat64})
        .Attr("f", Named(f))
        .Output();
  }
  Output If(const std::string& op, const Output& a, const std::string& then, const std::string& otherwise) {
    return NodeBuilder(g_, op)
        .Input(chosen_)
        .InputList({a, b_})
        .Attr("Tout", std::vector<DType>{kFloat64})
        .Attr("then_branch", Named(then))
        .Attr("else_branch", Named(otherwise))
        .Output();
  }

  std::vector<Output> GradientsOf(const Output& y, const std::vector<Output>& xs) {
    const auto gradients = Gradients({y}, xs);
    EXPECT_TRUE(gradients.ok()) << gradients.status();
    return gradients.value_or(std::vector<Output>(xs.size()));
  }
  // Expects that `got` has the value `want` if this branch is taken. Runs `before` first, if it is valid.
  void ExpectValue(const Output& got, int32_t branch, const std::vector<double>& want, const Operation& before = {}) {
    ASSERT_TRUE(got.valid()) << g_.status();
    auto session = Session::Create(g_);
    ASSERT_TRUE(session.ok()) << session.status();
    if (before.valid()) {
      ASSERT_TRUE((*session)->Run({before}).ok());
    }
    const auto result = (*session)->Run({got}, {{chosen_, Tensor::Scalar(branch)}});
    ASSERT_TRUE(result.ok()) << result.status();
    const auto values = (*result)[0].data<double>();
    ASSERT_EQ(values.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], 1e-12) << "branch " << branch;
  }

  Graph g_;
  Output a_, b_, chosen_;
};

TEST_F(FunctionGradient, FlowsThroughCalls) {
  for (const char* op : {"PartitionedCall", "StatefulPartitionedCall"}) {
    const auto gradients = GradientsOf(Call(op, "product"), {a_, b_});
    ExpectValue(gradients[0], 0, {12, -1});
    ExpectValue(gradients[1], 0, {9, 0.25});
    ExpectValue(GradientsOf(gradients[0], {a_})[0], 0, {4, -2});
  }
}

TEST_F(FunctionGradient, FlowsThroughTheBranchThatIsTaken) {
  for (const char* op : {"If", "StatelessIf"}) {
    const auto gradients = GradientsOf(If(op, a_, "product", "sine"), {a_, b_});
    ExpectValue(gradients[0], 1, {12, -1});
    ExpectValue(gradients[1], 1, {9, 0.25});
    ExpectValue(gradients[0], 0, {std::cos(3), std::cos(0.5)});
    ExpectValue(gradients[1], 0, {0, 0});
    const Output second = GradientsOf(gradients[0], {a_})[0];
    ExpectValue(second, 1, {4, -2});
    ExpectValue(second, 0, {-std::sin(3), -std::sin(0.5)});
  }
}

TEST_F(FunctionGradient, FlowsThroughTheChosenCase) {
  for (const char* op : {"Case", "StatelessCase"}) {
    std::vector<std::shared_ptr<const AttrValue::Function>> branches;
    for (const char* name : {"sine", "product"}) {
      branches.push_back(std::make_shared<const AttrValue::Function>(Named(name)));
    }
    const Output y = NodeBuilder(g_, op)
                         .Input(chosen_)
                         .InputList({a_, b_})
                         .Attr("Tout", std::vector<DType>{kFloat64})
                         .Attr("branches", branches)
                         .Output();
    const auto gradients = GradientsOf(y, {a_, b_});
    ExpectValue(gradients[0], 0, {std::cos(3), std::cos(0.5)});
    ExpectValue(gradients[0], 1, {12, -1});
    ExpectValue(gradients[1], 7, {9, 0.25});  // a number out of range takes the last branch
  }
}

TEST_F(FunctionGradient, OfAVariableIsZeroInABranchThatDoesNotUseIt) {
  const Variable v(g_, {2}, Constant(5.0), {.name = "v", .dtype = kFloat64});
  const Output y = If("If", v.handle(), "weighted", "unweighted");
  const auto gradients = GradientsOf(y, {v.handle(), b_});
  ExpectValue(gradients[0], 1, {2, -1}, v.initializer());
  ExpectValue(gradients[1], 1, {5, 5}, v.initializer());
  ExpectValue(gradients[0], 0, {0, 0}, v.initializer());
  ExpectValue(gradients[1], 0, {4, -2}, v.initializer());
}

TEST_F(FunctionGradient, IsRefusedIfASecondRunOfTheFunctionMayDiffer) {
  const auto gradients = Gradients({If("If", a_, "product", "shuffle")}, {a_});
  EXPECT_EQ(gradients.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(gradients.status().message().find("RandomShuffle 'r' of function 'shuffle'"), std::string::npos)
      << gradients.status();
}

}  // namespace
}  // namespace tensorbraid
