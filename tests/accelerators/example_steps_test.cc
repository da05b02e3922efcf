// Tests into how many programs the training steps of the examples are divided, and what the host computes between
// them. The examples train some steps, whose profile (session/step_profiler.h) has their graph. The host computes all
// programs here, since the compiler of the fake plugin does not know their ops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "core/text/strings.h"
#include "executor/clusters/host_substitute.h"
#include "executor/clusters/step_programs.h"
#include "io/file_testutil.h"
#include "planner/model/placed_step.h"
#include "planner/model/profile.h"

namespace tensorbraid {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ExampleStepsTest : public testing::Test {
 protected:
  // Trains with an example, and returns the programs of the step. A profile needs some 30 steps, and more if they are
  // short.
  StatusOr<StepPrograms> ProgramsOfExample(const std::string& command) {
    const std::string line = StrCat(
        kHostSubstituteVariable, "=always TENSORBRAID_LOG=warning TENSORBRAID_STEP_PROFILE=", dir_.path(), "/profile ",
        command, " --accelerator_plugin=GPU=" TB_FAKE_PLUGIN " --batch_size=4 > ", dir_.path(), "/output 2>&1");
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
    TF_ASSIGN_OR_RETURN(const planner::TrainingGraph graph, planner::ReadProfile(dir_.path() + "/profile", 1));
    TF_ASSIGN_OR_RETURN(std::shared_ptr<const Graph> step, planner::StepOnAccelerators(graph, {.batch = 4}, "GPU"));
    return ProgramsOf(std::move(step));
  }
  // Writes digits without any dark pixel, for programs that train with MNIST.
  void WriteDigits(const std::string& kind, uint32_t count) const {
    dir_.Write(kind + "-images-idx3-ubyte", Idx({count, 28, 28}, std::string(size_t{28} * 28 * count, 0)));
    dir_.Write(kind + "-labels-idx1-ubyte", Idx({count}, std::string(count, 3)));
  }

  const TempDir dir_;
};

// The host only makes the summaries.
TEST_F(ExampleStepsTest, TheConvolutionalNetworkIsOneProgram) {
  WriteDigits("train", 100);
  WriteDigits("t10k", 10);
  const auto step = ProgramsOfExample(StrCat(TB_MNIST_CNN " --device=/gpu:0 --train_steps=40 --data_dir=", dir_.path(),
                                             " --log_dir=", dir_.path(), "/logs"));
  ASSERT_TRUE(step.ok()) << step.status();
  ASSERT_EQ(step->programs.size(), 1U);
  EXPECT_TRUE(step->programs[0].text.ok()) << step->programs[0].text.status();
  EXPECT_GT(step->programs[0].num_nodes, 100);
  EXPECT_THAT(step->on_host, Each(HasSubstr("Summary has no emitter")));
}

TEST_F(ExampleStepsTest, TheResidualNetworkIsOneProgram) {
  const auto step = ProgramsOfExample(TB_RESNET_IMAGES " --device_type=GPU --train_steps=60 --size=8 --test_images=0");
  ASSERT_TRUE(step.ok()) << step.status();
  ASSERT_EQ(step->programs.size(), 1U);
  EXPECT_TRUE(step->programs[0].text.ok()) << step->programs[0].text.status();
  EXPECT_GT(step->programs[0].num_nodes, 600);
  EXPECT_THAT(step->on_host, IsEmpty());
}

}  // namespace
}  // namespace tensorbraid
