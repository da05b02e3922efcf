#include "launch/engines/ray/ray.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/launcher/launcher.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

TEST(RayChannelTest, AnAgentForEachTask) {
  RayOptions options;
  options.ps = 2;
  options.workers = 3;
  options.ps_resources = "CPU=2";
  options.python = "/venv/bin/python";
  options.agent_program = "/usr/bin/tensorbraid";
  const auto channel = RayChannel(options);
  ASSERT_TRUE(channel.ok()) << channel.status();
  EXPECT_EQ(channel->agents, 5);
  EXPECT_THAT(channel->slots, ElementsAre(1));
  EXPECT_EQ(channel->command[0], "/venv/bin/python");
  EXPECT_THAT(channel->command,
              AllOf(IsSupersetOf({"-m", "tensorbraid.ray", "--ps=2", "--workers=3", "--ps_resources=CPU=2",
                                  "--placement=SPREAD", "--wait_s=300", "--program=/usr/bin/tensorbraid"}),
                    Not(Contains(StartsWith("--resources"))), Not(Contains(StartsWith("--address"))),
                    Not(Contains(StartsWith("--sync")))));
}

TEST(RayChannelTest, AChiefIsAWorkerAndAnEvaluatorIsOneTaskMore) {
  const auto channel = RayChannel({.ps = 1, .workers = 2, .chief = true, .evaluator = true});
  ASSERT_TRUE(channel.ok()) << channel.status();
  EXPECT_EQ(channel->agents, 4);
  EXPECT_THAT(channel->command, IsSupersetOf({"--ps=1", "--workers=2", "--chief", "--evaluator"}));
}

TEST(RayChannelTest, BringsOneDirectoryThatExists) {
  const TempDir dir;
  RayOptions options;
  options.sync = {dir.path()};
  EXPECT_THAT(RayChannel(options)->command, Contains("--sync=" + dir.path()));
  options.sync.push_back("/tmp");
  EXPECT_THAT(RayChannel(options).status().message(), HasSubstr("give one --sync"));
  options.sync = {dir.path() + "/missing"};
  EXPECT_THAT(RayChannel(options).status().message(), HasSubstr("there is no such directory"));
}

TEST(RayChannelTest, GpusAreForWorkers) {
  RayOptions options;
  ASSERT_TRUE(AddGpus(0, &options).ok());
  EXPECT_EQ(options.resources, "");
  ASSERT_TRUE(AddGpus(2, &options).ok());
  EXPECT_THAT(RayChannel(options)->command, IsSupersetOf({"--resources=CPU=1,GPU=2", "--ps_resources=CPU=1"}));
  options.resources = "CPU=4";
  options.ps_resources = "CPU=2";
  ASSERT_TRUE(AddGpus(1, &options).ok());
  EXPECT_THAT(RayChannel(options)->command, IsSupersetOf({"--resources=CPU=4,GPU=1", "--ps_resources=CPU=2"}));
  EXPECT_THAT(AddGpus(1, &options).message(), HasSubstr("both say how many GPUs"));
}

// What the engine makes of a command that starts no agents.
class RefusedJobTest : public ::testing::Test {
 protected:
  StatusOr<LaunchResult> Run(const std::string& script) {
    RayOptions ray;
    ray.ps = 0;
    ray.workers = 1;
    SharedChannel channel = *RayChannel(ray);
    channel.command = {"sh", "-c", script};
    const Fd err(::open((dir_.path() + "/err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    LaunchOptions options{.ps = 0, .workers = 1, .command = {"true"}};
    options.err_fd = err.get();
    return Launch(options, std::make_unique<AgentEngine>(AgentEngineOptions{
                               .nodes = {}, .command = nullptr, .shared = channel, .version = "", .directory = ""}));
  }

  TempDir dir_;
};

TEST_F(RefusedJobTest, TheCommandSaysWhy) {
  const auto result =
      Run("echo waiting >&2; echo '@={\"node\":\"\",\"event\":\"refused\",\"why\":{\"code\":8,"
          "\"message\":\"no node has GPU 1\"}}'; read line");
  EXPECT_TRUE(absl::IsResourceExhausted(result.status())) << result.status();
  EXPECT_EQ(result.status().message(), "Ray: no node has GPU 1");
  EXPECT_THAT(TextOf(dir_.path() + "/err"),
              AllOf(HasSubstr("launch: asking Ray for room for 1 task\n"), HasSubstr("launch: Ray: waiting\n")));
}

TEST_F(RefusedJobTest, APythonWithoutThePackageIsNamed) {
  const auto result = Run("echo 'No module named tensorbraid' >&2; exit 1");
  EXPECT_THAT(result.status().message(), AllOf(HasSubstr("No module named"), HasSubstr("--python")));
}

}  // namespace
}  // namespace tensorbraid
