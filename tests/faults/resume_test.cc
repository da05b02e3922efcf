// Tests that training whose processes are killed and started again ends with the same bits as training that was not
// interrupted.
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <string>
#include <vector>

#include "core/system/held_port.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// Whether checkpoints have the states of random ops and of the input.
enum class States { kSaved, kNotSaved };

class ResumeTest : public testing::Test {
 protected:
  // One training run. Its checkpoints are in a directory with its name.
  struct Training {
    std::string name;
    States states = States::kSaved;
  };

  ChildProcess Start(const Training& training, int hold_at = 0, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {RESUME_TASK, "--checkpoint_dir=" + Directory(training), StrCat("--hold_at=", hold_at),
                                 training.states == States::kSaved ? "--save_random_state" : "--nosave_random_state"});
    return ChildProcess::Start(flags, {}).value();
  }
  ChildProcess StartInCluster(const Training& training, const std::string& job, int hold_at = 0) {
    return Start(training, hold_at,
                 {StrCat("--ps_hosts=localhost:", ps_port_.port()), "--task_index=0", "--job_name=" + job,
                  StrCat("--worker_hosts=localhost:", worker_port_.port())});
  }
  static void Kill(ChildProcess& process) {
    process.Signal(SIGKILL);
    EXPECT_EQ(process.Reap().signal, SIGKILL);
  }
  // Trains in one process, which is killed and started again at each of the steps `kills`.
  void Run(const Training& training, const std::vector<int>& kills) {
    for (const int step : kills) {
      ChildProcess process = Start(training, step);
      // AwaitLine returns the rest of the line, which is "holds".
      ASSERT_EQ(AwaitLine(process.out(), "hol"), "ds") << "held at " << step;
      Kill(process);
    }
    EXPECT_EQ(Start(training).Reap().ToString(), "exited with 0");
  }
  // Trains with a worker and a parameter server, both of which are killed and started again at the steps `kills`.
  void RunInCluster(const Training& training, const std::vector<int>& kills) {
    for (const int step : kills) {
      ChildProcess ps = StartInCluster(training, "ps");
      ChildProcess worker = StartInCluster(training, "worker", step);
      ASSERT_EQ(AwaitLine(worker.out(), "hol"), "ds") << "held at " << step;
      Kill(worker);
      Kill(ps);
    }
    ChildProcess ps = StartInCluster(training, "ps");
    EXPECT_EQ(StartInCluster(training, "worker").Reap().ToString(), "exited with 0");
    EXPECT_EQ(ps.Reap().ToString(), "exited with 0");
  }

  // The bytes of all variables and slots in the last checkpoint, by name.
  std::map<std::string, std::string> Weights(const Training& training) const {
    std::map<std::string, std::string> weights;
    const auto latest = LatestCheckpoint(Directory(training));
    EXPECT_TRUE(latest.ok() && latest->ends_with("-15")) << latest.status() << latest.value_or("");
    if (!latest.ok()) return weights;
    const auto reader = CheckpointReader::Open(*latest).value();
    for (const auto& tensor : reader->tensors()) {
      if (tensor.name.find("/.") != std::string::npos) continue;  // the state of a random op or an iterator
      const Tensor value = reader->GetTensor(tensor.name).value();
      weights[tensor.name].assign(static_cast<const char*>(value.raw_data()), value.num_bytes());
    }
    EXPECT_GE(weights.size(), 13u) << "4 variables, 8 slots, the global step";
    return weights;
  }
  std::string Directory(const Training& training) const { return dir_.path() + "/" + training.name; }

  const TempDir dir_;
  const HeldPort ps_port_ = HeldPort::Take().value();
  const HeldPort worker_port_ = HeldPort::Take().value();
};

TEST_F(ResumeTest, AKilledProcessResumesBitForBit) {
  Run({"whole"}, {});
  Run({"killed"}, {2, 6, 11});  // continues from the checkpoints of steps 0, 4 and 8
  EXPECT_TRUE(Weights({"killed"}) == Weights({"whole"}));
}

TEST_F(ResumeTest, WithoutTheStatesAKilledProcessResumesWithOtherNumbers) {
  const Training whole{"whole", States::kNotSaved}, killed{"killed", States::kNotSaved};
  Run(whole, {});
  Run(killed, {6});
  EXPECT_FALSE(Weights(killed) == Weights(whole));
  Run({"with_states"}, {});
  EXPECT_TRUE(Weights(whole) == Weights({"with_states"})) << "saving the states must not change training";
}

TEST_F(ResumeTest, AKilledClusterResumesBitForBit) {
  RunInCluster({"whole"}, {});
  RunInCluster({"killed"}, {6, 11});
  EXPECT_TRUE(Weights({"killed"}) == Weights({"whole"}));
}

TEST_F(ResumeTest, WithoutTheStatesAKilledClusterResumesWithOtherNumbers) {
  const Training whole{"whole", States::kNotSaved}, killed{"killed", States::kNotSaved};
  RunInCluster(whole, {});
  RunInCluster(killed, {6});
  EXPECT_FALSE(Weights(killed) == Weights(whole));
}

TEST_F(ResumeTest, AWorkerWhoseParameterServerIsKilledGoesBackToTheCheckpoint) {
  RunInCluster({"whole"}, {});
  const Training killed{"killed"};
  ChildProcess ps = StartInCluster(killed, "ps");
  ChildProcess worker = StartInCluster(killed, "worker", /*hold_at=*/6);
  ASSERT_EQ(AwaitLine(worker.out(), "hol"), "ds");
  Kill(ps);
  ps = StartInCluster(killed, "ps");
  EXPECT_EQ(worker.Reap().ToString(), "exited with 0");
  EXPECT_EQ(ps.Reap().ToString(), "exited with 0");
  EXPECT_TRUE(Weights(killed) == Weights({"whole"}));
}

}  // namespace
}  // namespace tensorbraid
