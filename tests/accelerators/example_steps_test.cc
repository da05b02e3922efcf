// Tests into how many programs the training steps of the examples are divided, and what the host computes between
// them.
#include "example_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/clusters/step_programs.h"
#include "planner/model/placed_step.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

class ExampleStepsTest : public testing::TestWithParam<ExampleStep> {};
INSTANTIATE_TEST_SUITE_P(All, ExampleStepsTest, testing::ValuesIn(ExampleSteps()),
                         [](const auto& info) { return info.param.name; });

TEST_P(ExampleStepsTest, HasItsProgramsAndTripsToTheHost) {
  const ExampleStep& example = GetParam();
  const auto graph = TrainForProfile(example);
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::shared_ptr<const Graph> step = planner::StepOnAccelerators(*graph, {.batch = example.batch}, "GPU").value();
  const auto programs = ProgramsOf(std::move(step));
  ASSERT_TRUE(programs.ok()) << programs.status();

  std::printf("%s: %zu programs, %d trips to the host and back\n", example.name.c_str(), programs->programs.size(),
              programs->host_trips);
  int nodes = 0, known_later = 0;
  for (const StepProgram& program : programs->programs) {
    std::printf("  on %s: %s\n", program.device.c_str(), program.name.c_str());
    if (!program.text.ok()) {
      EXPECT_TRUE(absl::IsFailedPrecondition(program.text.status())) << program.text.status();
      std::printf("    %s\n", std::string(program.text.status().message()).c_str());
      ++known_later;
    }
    nodes = std::max(nodes, program.num_nodes);
  }
  std::vector<std::string> on_host;
  for (const std::string& node : programs->on_host) {
    std::printf("  on the host: %s\n", node.c_str());
    if (node.find("Summary has no emitter") == std::string::npos) on_host.push_back(node);
  }
  EXPECT_EQ(programs->programs.size(), static_cast<size_t>(example.programs));
  EXPECT_EQ(known_later, example.known_later);
  EXPECT_GE(nodes, example.nodes);
  EXPECT_EQ(programs->host_trips, example.host_trips);
  std::vector<testing::Matcher<std::string>> expected;
  for (const std::string& part : example.on_host) expected.push_back(HasSubstr(part));
  EXPECT_THAT(on_host, ElementsAreArray(expected));
}

}  // namespace
}  // namespace tensorbraid
