// Tests of the comparisons with the host. The fake plugin (src/pjrt/testing/fake_plugin.h) computes zeros for all but a
// few ops, so it has values that are wrong.
#include "executor/clusters/host_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "core/text/strings.h"
#include "pjrt/find_plugins.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class HostComparisonTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv(pjrt::kPluginVariable, "XLA_CPU=" TB_FAKE_PLUGIN, 1); }
  void SetUp() override {
    file_ = StrCat(testing::TempDir(), "host_comparison_test.", getpid());
    unlink(file_.c_str());
    setenv(kCompareVariable, file_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv(kCompareVariable);
    unlink(file_.c_str());
  }
  std::string Reports() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  // Runs two steps.
  void RunSteps(Graph& g, const std::vector<Fetch>& fetches, const std::vector<Operation>& init = {}) {
    ASSERT_TRUE(g.status().ok()) << g.status();
    const auto session = Session::Create(g, {.device_count = {{"XLA_CPU", 1}}}).value();
    if (!init.empty()) {
      const auto run = session->Run(std::vector<Fetch>(init.begin(), init.end()));
      ASSERT_TRUE(run.ok()) << run.status();
    }
    for (int step = 0; step < 2; ++step) {
      const auto run = session->Run(fetches, {{x_, Tensor::Vector<float>({1, 2})}});
      ASSERT_TRUE(run.ok()) << run.status();
    }
  }
  std::string file_;
  Output x_;
};

TEST_F(HostComparisonTest, RightValuesAreNotReported) {
  Graph g;
  auto device = g.Device("/device:XLA_CPU:0");
  x_ = Placeholder(g, kFloat32, {2}, "x");
  const Output v =
      NodeBuilder(g, "VariableV2").Name("v").Attr("shape", Shape({2})).Attr("dtype", kFloat32).Finish().output(0);
  const Operation init = NodeBuilder(g, "Assign").Input(v).Input(Const(g, Tensor::Vector<float>({1, 1}))).Finish();
  const Operation update = NodeBuilder(g, "AssignAdd").Name("update").Input(v).Input(x_ + x_).Finish();
  RunSteps(g, {x_ - x_ * x_, update}, {init});
  EXPECT_THAT(Reports(), AllOf(HasSubstr("compared a program of "), Not(HasSubstr("differs"))));
}

TEST_F(HostComparisonTest, TheFirstNodeThatDiffersIsNamed) {
  Graph g;
  auto device = g.Device("/device:XLA_CPU:0");
  x_ = Placeholder(g, kFloat32, {2}, "x");
  const Output sum = x_ + x_;
  const Output wrong = NodeBuilder(g, "Exp").Name("wrong").Input(sum).Finish().output(0);
  RunSteps(g, {NodeBuilder(g, "Neg").Name("end").Input(wrong * wrong).Finish().output(0)});
  const std::string reports = Reports();
  EXPECT_THAT(reports, HasSubstr("the first node that differs is Exp 'wrong' (host_comparison_test.cc:"));
  EXPECT_THAT(reports, HasSubstr("in output 0, element 0 of float32[2] is 0 instead of 7.389"));
  EXPECT_THAT(reports, HasSubstr("It differs also in a program of its own"));
  EXPECT_EQ(reports.find("differs is"), reports.rfind("differs is")) << "reported more than once: " << reports;
}

TEST_F(HostComparisonTest, AnUpdateThatDiffersIsNamed) {
  Graph g;
  auto device = g.Device("/device:XLA_CPU:0");
  x_ = Placeholder(g, kFloat32, {2}, "x");
  const auto variable = [&](const char* name) {
    NodeBuilder builder(g, "VarHandleOp");
    return builder.Name(name).Attr("shape", Shape({2})).Attr("dtype", kFloat32).Finish().output(0);
  };
  const Output v = variable("v"), sums = variable("sums");
  std::vector<Operation> init;
  for (const Output& handle : {v, sums}) {
    const Output value = Const(g, Tensor::Vector<float>({4, 5}));
    init.push_back(NodeBuilder(g, "AssignVariableOp").Input(handle).Input(value).Finish());
  }
  NodeBuilder builder(g, "ResourceApplyAdagrad");
  builder.Name("update").Input(v).Input(sums).Input(Const(g, Tensor::Scalar<float>(0.5f))).Input(x_ + x_);
  const Operation update = builder.Finish();
  RunSteps(g, {update}, init);
  EXPECT_THAT(Reports(), AllOf(HasSubstr("the variable 'v' differs after ResourceApplyAdagrad 'update'"),
                               HasSubstr("The value of no node differs")));
}

}  // namespace
}  // namespace tensorbraid
