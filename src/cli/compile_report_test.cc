#include "cli/compile_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "io/file.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The fake plugin compiles additions and subtractions.
class CompileReportTest : public testing::Test {
 protected:
  CompileReportTest() {
    const auto plugin = pjrt::Plugin::Load(TB_FAKE_PLUGIN);
    topology_ = pjrt::Topology::Create(**plugin, pjrt::DescribeCard("h100").value()).value();
  }

  // The step that subtracts `delta` from a variable, of which the batch is not known.
  void AddStep(const Output& delta, bool reference) {
    if (reference) {
      const Output v = NodeBuilder(graph_, "VariableV2")
                           .Name("v")
                           .Attr("shape", Shape({4}))
                           .Attr("dtype", kFloat32)
                           .Finish()
                           .output(0);
      NodeBuilder(graph_, "AssignSub").Name("train").Input(v).Input(delta).Finish();
    } else {
      Variable v(graph_, {4}, Zeros(), {.name = "v"});
      NodeBuilder(graph_, "AssignSubVariableOp").Name("train").Input(v.handle()).Input(delta).Finish();
    }
  }
  StatusOr<CompileReport> Report(int64_t batch) {
    request_.graph.graph_def = graph_.ToGraphDef().value();
    request_.graph.feeds = {{.tensor = "x:0", .shape = Shape({-1})}};
    request_.graph.targets = {"train"};
    request_.options.batch = batch;
    return CompileStep(*topology_, request_);
  }

  Graph graph_;
  const Output x_ = Placeholder(graph_, kFloat32, {-1}, "x");
  std::unique_ptr<pjrt::Topology> topology_;
  CompileRequest request_;
};

TEST_F(CompileReportTest, ShowsTheProgramsOfAStep) {
  for (const bool reference : {false, true}) {
    SCOPED_TRACE(reference);
    graph_.~Graph();
    new (&graph_) Graph;
    AddStep(Placeholder(graph_, kFloat32, {-1}, "x"), reference);
    request_.dump = StrCat(testing::TempDir(), "/programs_", static_cast<int64_t>(getpid()), reference);
    const auto report = Report(4);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->programs, 1);
    EXPECT_EQ(report->failed, 0) << report->text;
    EXPECT_THAT(report->text, HasSubstr("\ntrain "));
    EXPECT_THAT(report->text, HasSubstr(" 32 B "));  // of the two arguments
    EXPECT_THAT(report->text, HasSubstr("On GPU:0, a run needs 32 B.\n"));
    EXPECT_THAT(report->text,
                HasSubstr("The step has 1 program, and goes from the device to the host and back 0 times. "
                          "The host computes 0 nodes.\n"));
    EXPECT_THAT(ReadFile(request_.dump + "/program_0.mlir").value_or(""), HasSubstr("stablehlo.subtract"));
  }
}

TEST_F(CompileReportTest, SaysWhichShapeIsNotKnown) {
  AddStep(x_, /*reference=*/false);
  const auto report = Report(0);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->failed, 1);
  EXPECT_THAT(report->text, HasSubstr("failed: a program of 1 nodes that ends with 'train': the shape of "));
  EXPECT_THAT(report->text, HasSubstr("is not known before the step runs: it is [?]"));
}

TEST_F(CompileReportTest, NamesWhatTheHostComputesAndWhatTheCompilerRefuses) {
  // The host computes Unique, whose result has a length that depends on the values; the fake plugin has no exp.
  const Output host = NodeBuilder(graph_, "Unique").Name("unique").Input(x_).Finish().output(0);
  AddStep(Exp(x_) + host, /*reference=*/false);
  const auto report = Report(4);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->failed, 1) << report->text;
  EXPECT_EQ(report->on_host, 1) << report->text;
  EXPECT_THAT(report->text, HasSubstr("Unique 'unique'"));
  EXPECT_THAT(report->text,
              HasSubstr("Unique has no emitter: the shape of its output depends on the elements of its inputs"));
}

TEST_F(CompileReportTest, CompilesEqualProgramsOfSeveralDevicesOnce) {
  std::vector<Operation> updates;
  for (const int i : {0, 1}) {
    const auto device = graph_.Device(StrCat("/gpu:", i));
    const Variable v(graph_, {4}, Zeros(), {.name = StrCat("v", i)});
    updates.push_back(NodeBuilder(graph_, "AssignSubVariableOp").Input(v.handle()).Input(x_).Finish());
  }
  Group(graph_, updates, "train");
  const auto report = Report(4);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->programs, 2) << report->text;
  EXPECT_EQ(report->failed, 0) << report->text;
  EXPECT_EQ(report->memory, 32);
  EXPECT_THAT(report->text, HasSubstr(" as above "));
  EXPECT_THAT(report->text, HasSubstr("On GPU:0, a run needs 32 B.\nOn GPU:1, a run needs 32 B.\n"));
}

TEST_F(CompileReportTest, CountsTripsToTheHost) {
  Output delta = x_ + x_;
  for (int i = 0; i < 2; ++i) {
    const auto host = graph_.Device("/cpu:0");
    const Output on_host = Abs(delta);
    const auto device = graph_.Device("/gpu:0");
    delta = on_host + on_host;
  }
  AddStep(delta, /*reference=*/false);
  const auto report = Report(4);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->programs, 3) << report->text;
  EXPECT_EQ(report->on_host, 0) << report->text;  // only what was to be on the device counts
  EXPECT_EQ(report->host_trips, 2) << report->text;
}

}  // namespace
}  // namespace tensorbraid
