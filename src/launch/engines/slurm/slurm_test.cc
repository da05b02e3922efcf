#include "launch/engines/slurm/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <map>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/processes/child_process.h"
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

using Variables = std::map<std::string, std::string>;
const SlurmConfiguration kCluster;

SlurmOptions FourTasks() {
  SlurmOptions options;
  options.tasks = 4;
  options.program = "train";
  options.stop_grace = std::chrono::seconds(30);
  return options;
}

TEST(SlurmChannelTest, AsksForNodesOutsideOfAnAllocation) {
  SlurmOptions options = FourTasks();
  options.tasks_per_node = 2;
  options.cpus_per_task = 3;
  options.partition = "long";
  options.time = "2:00:00";
  options.gres = "gpu:2";
  options.arguments = {"--account=lab"};
  const auto channel = SlurmChannel(options, kCluster, {});
  ASSERT_TRUE(channel.ok()) << channel.status();
  EXPECT_EQ(channel->command[0], "srun");
  EXPECT_THAT(channel->command,
              IsSupersetOf({"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--cpus-per-task=6", "--partition=long",
                            "--time=2:00:00", "--gres=gpu:2", "--account=lab", "--job-name=train", "--signal=TERM@60",
                            "--cpu-bind=none", "--no-kill", "--kill-on-bad-exit=0"}));
  EXPECT_EQ(channel->agents, 2);
  EXPECT_THAT(channel->slots, ElementsAre(2));
  EXPECT_FALSE(channel->signals_agents_only);
}

TEST(SlurmChannelTest, AsksForTheGpusOfTheTasksOnANode) {
  SlurmOptions options = FourTasks();
  options.workers = 3;
  options.gpus_per_worker = 2;
  EXPECT_THAT(SlurmChannel(options, kCluster, {})->command, Contains("--gpus-per-node=6"));
  EXPECT_THAT(SlurmBatchScript(options, {"tensorbraid"}), HasSubstr("#SBATCH --gpus-per-node=6\n"));
  options.tasks_per_node = 2;
  EXPECT_THAT(SlurmChannel(options, kCluster, {})->command, IsSupersetOf({"--nodes=2", "--gpus-per-node=4"}));
  options.gres = "gpu:8";
  EXPECT_THAT(SlurmChannel(options, kCluster, {})->command, Not(Contains(StartsWith("--gpus"))));
}

TEST(SlurmChannelTest, AgentsAreToldWhichLaunchMungeVouchesFor) {
  SlurmOptions options = FourTasks();
  EXPECT_THAT(SlurmChannel(options, kCluster, {})->command.back(), Not(HasSubstr("--munge")));
  options.munge = "123";
  EXPECT_THAT(SlurmChannel(options, kCluster, {})->command.back(), HasSubstr("--shared --munge=123"));
}

TEST(SlurmChannelTest, OneNodeIsTheDefault) {
  const auto channel = SlurmChannel(FourTasks(), {.signals_agents_only = true, .binds_cores = false}, {});
  ASSERT_TRUE(channel.ok()) << channel.status();
  EXPECT_THAT(channel->command, AllOf(IsSupersetOf({"--nodes=1", "--cpus-per-task=4"}),
                                      Not(Contains(StartsWith("--cpu-bind"))), Not(Contains(StartsWith("--time")))));
  EXPECT_TRUE(channel->slots.empty());
  EXPECT_TRUE(channel->signals_agents_only);
}

TEST(SlurmChannelTest, UsesTheAllocationThatItRunsIn) {
  SlurmOptions options = FourTasks();
  options.partition = "other";
  const auto channel = SlurmChannel(options, kCluster,
                                    {{"SLURM_JOB_ID", "7"},
                                     {"SLURM_JOB_NUM_NODES", "3"},
                                     {"SLURM_NTASKS", "5"},
                                     {"SLURM_TASKS_PER_NODE", "2(x2),1"}});
  ASSERT_TRUE(channel.ok()) << channel.status();
  EXPECT_THAT(channel->command, AllOf(IsSupersetOf({"--nodes=3", "--ntasks=3", "--overlap"}),
                                      Not(Contains(StartsWith("--partition"))), Not(Contains(StartsWith("--signal")))));
  EXPECT_EQ(channel->agents, 3);
  EXPECT_THAT(channel->slots, ElementsAre(2, 2, 1));
  EXPECT_THAT(channel->room_hint, HasSubstr("start job 7 with sbatch or salloc --ntasks=4"));
}

TEST(SlurmChannelTest, SpareNodesAreFurtherNodes) {
  SlurmOptions options = FourTasks();
  options.tasks_per_node = 2;
  options.spare_nodes = 1;
  const auto outside = SlurmChannel(options, kCluster, {});
  ASSERT_TRUE(outside.ok()) << outside.status();
  EXPECT_THAT(outside->command, IsSupersetOf({"--nodes=3", "--ntasks=3", "--cpus-per-task=2", "--no-kill"}));
  EXPECT_EQ(outside->agents, 3);
  EXPECT_EQ(outside->spares, 1);
  EXPECT_THAT(SlurmBatchScript(options, {"launch"}),
              AllOf(HasSubstr("#SBATCH --nodes=3\n"), HasSubstr("#SBATCH --no-kill\n")));
  const auto inside = SlurmChannel(options, kCluster, {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "4"}});
  ASSERT_TRUE(inside.ok()) << inside.status();
  EXPECT_EQ(inside->agents, 4);
  EXPECT_EQ(inside->spares, 1);
  const auto small = SlurmChannel(options, kCluster, {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "1"}});
  EXPECT_THAT(small.status().message(),
              HasSubstr("--spare_nodes=1, but job 7 has 1 node: start it with sbatch or salloc --nodes=2"));
  options.nodes = 3;
  const auto three = SlurmChannel(options, kCluster, {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "3"}});
  EXPECT_THAT(three.status().message(), HasSubstr("--nodes=3, --spare_nodes=1, but job 7 has 3 nodes"));
}

TEST(SlurmChannelTest, SlurmIsAskedWhetherAJobIsSuspended) {
  const auto channel = SlurmChannel(FourTasks(), kCluster, {});
  ASSERT_TRUE(channel.ok()) << channel.status();
  EXPECT_THAT(channel->state_command("7"), ElementsAre("squeue", "--noheader", "--jobs=7", "--format=%T"));
}

TEST(SlurmChannelTest, CoresAreNoTasks) {
  // salloc --nodes=2 alone sets SLURM_TASKS_PER_NODE to the numbers of cores.
  const Variables variables = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "2"}, {"SLURM_TASKS_PER_NODE", "1(x2)"}};
  EXPECT_TRUE(SlurmChannel(FourTasks(), kCluster, variables)->slots.empty());
}

TEST(SlurmChannelTest, WhatDoesNotFitTheAllocationIsNamed) {
  const Variables job = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "2"}};
  const auto error = [&job](Variables more, int nodes = 0) {
    SlurmOptions options = FourTasks();
    options.nodes = nodes;
    more.insert(job.begin(), job.end());
    const auto channel = SlurmChannel(options, kCluster, more);
    EXPECT_TRUE(absl::IsInvalidArgument(channel.status())) << channel.status();
    return std::string(channel.status().message());
  };
  EXPECT_THAT(error({}, 3), HasSubstr("--nodes=3, but job 7 has 2 nodes: start it with sbatch or salloc --nodes=3"));
  EXPECT_THAT(error({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}}),
              HasSubstr("srun has started 2 launchers"));
  EXPECT_THAT(error({{"SLURM_JOB_NUM_NODES", "x"}}), HasSubstr("SLURM_JOB_NUM_NODES='x'"));
  for (const char* wrong : {"2(x", "2(xy)", "0", "two", "1,,1", "1(x0)", "1(x999999999)"}) {
    EXPECT_THAT(error({{"SLURM_NTASKS", "4"}, {"SLURM_TASKS_PER_NODE", wrong}}), HasSubstr("2(x3),1")) << wrong;
  }
}

TEST(SlurmBatchScriptTest, RunsTheLauncherInPlaceOfTheShell) {
  SlurmOptions options = FourTasks();
  options.nodes = 2;
  options.time = "30";
  options.program = "my train";
  EXPECT_EQ(SlurmBatchScript(options, {"/bin/tensorbraid", "launch", "--on=slurm", "--", "./my train"}),
            "#!/bin/bash\n"
            "#SBATCH '--job-name=my train'\n"
            "#SBATCH --nodes=2\n"
            "#SBATCH --time=30\n"
            "#SBATCH --ntasks-per-node=2\n"
            "#SBATCH --cpus-per-task=1\n"
            "#SBATCH --signal=B:TERM@60\n"
            "exec /bin/tensorbraid launch --on=slurm -- './my train'\n");
}

TEST(SlurmBatchScriptTest, RequeuesWhenItsTimeIsUp) {
  SlurmOptions options = FourTasks();
  options.requeue = true;
  EXPECT_THAT(SlurmBatchScript(options, {"tensorbraid", "launch"}),
              AllOf(HasSubstr("#SBATCH --requeue\n"), HasSubstr("#SBATCH --open-mode=append\n"),
                    HasSubstr("--signal=B:USR1@60"), HasSubstr("scontrol requeue"), Not(HasSubstr("exec"))));
}

// Runs a batch script with a launcher in place of ours, and returns what it says to scontrol.
std::string Requeued(const std::string& launcher) {
  const TempDir dir;
  dir.Write("scontrol", "#!/bin/sh\necho \"$*\" >> " + dir.path() + "/calls\n");
  dir.Write("launcher", "#!/bin/sh\n" + launcher);
  for (const char* file : {"/scontrol", "/launcher"}) ::chmod((dir.path() + file).c_str(), 0700);
  SlurmOptions options = FourTasks();
  options.requeue = true;
  dir.Write("script", SlurmBatchScript(options, {dir.path() + "/launcher", "launch", "--", "train", "a b"}));
  auto script = ChildProcess::Start({"bash", dir.path() + "/script"},
                                    {{"PATH", dir.path() + ":" + std::getenv("PATH")}, {"SLURM_JOB_ID", "7"}});
  EXPECT_TRUE(script.ok()) << script.status();
  EXPECT_EQ(script->Reap().exit_code, 255);
  return TextOf(dir.path() + "/calls");
}

TEST(SlurmBatchScriptTest, RequeuesWhenAMachineWasLostButNotForAnExitCode) {
  const std::string arguments = "test \"$1:$3:$4:$5\" = \"launch:--:train:a b\" || exit 1\n";
  EXPECT_EQ(Requeued(arguments + "echo lost > \"${2#--lost_file=}\"; exit 255\n"), "requeue 7\n");
  EXPECT_EQ(Requeued(arguments + "exit 255\n"), "");
}

TEST(WithoutBatchOptionsTest, KeepsTheRestAndAllOfTheProgram) {
  EXPECT_THAT(WithoutBatchOptions({"tensorbraid", "launch", "--on=slurm", "--batch", "--nodes", "2", "--ps=2",
                                   "--time=30", "--engine-args", "--account=lab", "--requeue", "--restart=on-failure",
                                   "--", "train", "--batch", "--time=3"}),
              ElementsAre("tensorbraid", "launch", "--on=slurm", "--ps=2", "--restart=on-failure", "--", "train",
                          "--batch", "--time=3"));
}

}  // namespace
}  // namespace tensorbraid
