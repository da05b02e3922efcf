// Compiles the training steps of the examples for cards that this machine does not have, with the plugin
// TENSORBRAID_TEST_COMPILER. Nothing runs. TENSORBRAID_TEST_CARD names another card than the H100.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cli/compile_report.h"
#include "example_steps.h"

namespace tensorbraid {
namespace {

class CompileExamplesTest : public testing::TestWithParam<ExampleStep> {};
INSTANTIATE_TEST_SUITE_P(All, CompileExamplesTest, testing::ValuesIn(ExampleSteps()),
                         [](const auto& info) { return info.param.name; });

TEST_P(CompileExamplesTest, IsCompiledForACard) {
  const ExampleStep& example = GetParam();
  if (example.by_command && std::getenv("TENSORBRAID_TEST_LARGE") == nullptr) {
    GTEST_SKIP() << "compiled only if TENSORBRAID_TEST_LARGE is set";
  }
  const char* const card = std::getenv("TENSORBRAID_TEST_CARD");
  const auto plugin = pjrt::Plugin::Load(std::getenv("TENSORBRAID_TEST_COMPILER")).value();
  const auto topology = pjrt::Topology::Create(*plugin, pjrt::DescribeCard(card == nullptr ? "h100" : card).value());
  ASSERT_TRUE(topology.ok()) << topology.status();
  CompileRequest request;
  const auto graph = TrainForProfile(example);
  ASSERT_TRUE(graph.ok()) << graph.status();
  request.graph = *graph;
  request.options.batch = example.batch;
  const auto report = CompileStep(**topology, request);
  ASSERT_TRUE(report.ok()) << report.status();
  std::printf("%s, batch %d\n%s\n", example.name.c_str(), static_cast<int>(example.batch), report->text.c_str());
  EXPECT_EQ(report->failed, example.known_later);
  EXPECT_EQ(report->programs, example.programs);
  EXPECT_GT(report->memory, 0);
}

}  // namespace
}  // namespace tensorbraid
