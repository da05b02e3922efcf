// Tests clusters of processes (fault_task.cc and examples) whose tasks are killed, stopped, asked to stop, or started
// in another order.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "absl/strings/numbers.h"
#include "core/system/held_port.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"
#include "tensorbraid/checkpoint/checkpoint.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;
// How long a process on a busy machine may be silent.
constexpr int kPatienceMs = 120'000;

class FaultTest : public testing::Test {
 protected:
  // Reserves ports for one parameter server and `workers` workers.
  void Cluster(int workers) {
    for (int i = 0; i <= workers; ++i) ports_.push_back(HeldPort::Take().value());
    ps_hosts_ = StrCat("localhost:", ports_[0].port());
    for (int i = 1; i <= workers; ++i) {
      worker_hosts_ += StrCat(i > 1 ? "," : "", "localhost:", ports_[i].port());
    }
  }

  // Starts a task, which runs fault_task.cc. If it is a worker, it trains for `steps` steps; if `steps` is 0, it trains
  // until it is stopped.
  ChildProcess& Start(const std::string& job, int index, int steps = 200, bool issync = false,
                      const std::string& checkpoint_dir = "") {
    const std::string name = StrCat(job, "/", index);
    tasks_.erase(name);
    auto child = ChildProcess::Start({FAULT_TASK, "--ps_hosts=" + ps_hosts_, "--worker_hosts=" + worker_hosts_,
                                      "--job_name=" + job, StrCat("--task_index=", index), StrCat("--steps=", steps),
                                      issync ? "--issync" : "--noissync", "--checkpoint_dir=" + checkpoint_dir},
                                     {});
    return tasks_.emplace(name, *std::move(child)).first->second;
  }

  // Returns what the process writes to standard error until it ends, or until it writes nothing for two minutes.
  static std::string Errors(ChildProcess& child) {
    std::string text;
    pollfd event = {child.err().get(), POLLIN, 0};
    char buffer[4096];
    while (::poll(&event, 1, kPatienceMs) == 1) {
      const ssize_t n = ::read(child.err().get(), buffer, sizeof buffer);
      if (n <= 0) break;
      text.append(buffer, static_cast<size_t>(n));
    }
    return text;
  }
  // Returns false at the end of the stream, or if nothing arrives for two minutes.
  static bool ReadByte(const Fd& fd, char* c) {
    pollfd event = {fd.get(), POLLIN, 0};
    return ::poll(&event, 1, kPatienceMs) == 1 && ::read(fd.get(), c, 1) == 1;
  }
  // Reads lines until one contains `text`. Returns the rest of that line, or "" if there is no such line.
  static std::string AwaitText(const Fd& fd, const std::string& text) {
    std::string line;
    char c;
    while (ReadByte(fd, &c)) {
      line += c;
      if (c != '\n') continue;
      if (const size_t at = line.find(text); at != std::string::npos) {
        return line.substr(at + text.size(), line.size() - at - text.size() - 1);
      }
      line.clear();
    }
    return "";
  }
  // Kills the parameter server once there is a checkpoint, and restarts it. All workers must continue from the
  // checkpoint.
  void LoseTheParameterServer(bool issync) {
    const TempDir dir;
    Cluster(2);
    ChildProcess& ps = Start("ps", 0);
    ChildProcess& w0 = Start("worker", 0, 0, issync, dir.path());
    ChildProcess& w1 = Start("worker", 1, 0, issync, dir.path());
    ASSERT_NE(AwaitLine(w1.out(), "step "), "");
    const std::string saved = "saved " + dir.path() + "/model.ckpt-";
    // The first checkpoint may have no progress. It is of step 0, unless the other worker was faster than the chief's
    // saver. Waits for the second.
    ASSERT_NE(AwaitText(w0.err(), saved), "");
    ASSERT_NE(AwaitText(w0.err(), saved), "");
    ps.Signal(SIGKILL);
    ps.Reap();
    ChildProcess& again = Start("ps", 0);
    ASSERT_NE(AwaitText(w0.err(), "Restoring parameters from " + dir.path() + "/model.ckpt-"), "");
    for (ChildProcess* worker : {&w0, &w1}) {
      ASSERT_EQ(AwaitLine(worker->out(), "re"), "covered");  // the rest of the line "recovered"
      ASSERT_NE(AwaitLine(worker->out(), "step "), "");
      ASSERT_NE(AwaitLine(worker->out(), "step "), "") << "the worker did not continue";
    }
    for (ChildProcess* task : {&w0, &w1, &again}) task->Signal(SIGKILL);
  }
  // Returns the number N in the name model.ckpt-N of the latest checkpoint in a directory, or -1.
  static int64_t LatestStep(const std::string& directory) {
    const auto latest = LatestCheckpoint(directory);
    int64_t step = -1;
    return latest.ok() && absl::SimpleAtoi(latest->substr(latest->rfind('-') + 1), &step) ? step : -1;
  }
  // Asks all tasks to stop. Each leaves without an error, and the chief saves what the workers have learned.
  void StopTheCluster(bool issync) {
    const TempDir dir;
    Cluster(2);
    ChildProcess& ps = Start("ps", 0);
    ChildProcess& chief = Start("worker", 0, 0, issync, dir.path());
    ChildProcess& worker = Start("worker", 1, 0, issync, dir.path());
    for (ChildProcess* task : {&chief, &worker}) ASSERT_NE(AwaitLine(task->out(), "step "), "");
    for (ChildProcess* task : {&ps, &chief, &worker}) task->Signal(SIGTERM);
    int64_t end = 0;
    EXPECT_TRUE(absl::SimpleAtoi(AwaitLine(chief.out(), "done at "), &end));
    for (ChildProcess* task : {&chief, &worker, &ps}) EXPECT_EQ(task->Reap().ToString(), "exited with 0");
    EXPECT_GE(LatestStep(dir.path()), end);
  }
  static bool Contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  std::vector<HeldPort> ports_;
  std::string ps_hosts_, worker_hosts_;
  std::map<std::string, ChildProcess> tasks_;
};

TEST_F(FaultTest, AllTasksSucceedWithoutFaults) {
  Cluster(2);
  ChildProcess& ps = Start("ps", 0);
  ChildProcess& w0 = Start("worker", 0);
  ChildProcess& w1 = Start("worker", 1);
  EXPECT_EQ(w0.Reap().ToString(), "exited with 0");
  EXPECT_EQ(w1.Reap().ToString(), "exited with 0");
  EXPECT_EQ(ps.Reap().ToString(), "exited with 0");
}

TEST_F(FaultTest, AWorkerThatStartsFirstLogsItsWaitAndThenContinues) {
  Cluster(1);
  ChildProcess& worker = Start("worker", 0);
  ASSERT_EQ(AwaitLine(worker.out(), "started"), "");
  // Starts the parameter server only after the worker has logged the wait on standard error.
  std::string line;
  char c;
  const std::string waiting = "waiting for ps/0 (" + ps_hosts_ + ")";
  while (!Contains(line, waiting) && ReadByte(worker.err(), &c)) line += c;
  ASSERT_TRUE(Contains(line, waiting)) << line;
  ChildProcess& ps = Start("ps", 0);
  EXPECT_EQ(worker.Reap().ToString(), "exited with 0");
  EXPECT_EQ(ps.Reap().ToString(), "exited with 0");
}

TEST_F(FaultTest, AKilledWorkerDoesNotStopTheOthersAndIsNamedAsLost) {
  Cluster(2);
  ChildProcess& ps = Start("ps", 0);
  ChildProcess& w0 = Start("worker", 0, 3000);
  ChildProcess& w1 = Start("worker", 1, 0);
  ASSERT_EQ(AwaitLine(w1.out(), "step "), "1");
  w1.Signal(SIGKILL);
  EXPECT_EQ(w1.Reap().signal, SIGKILL);
  EXPECT_EQ(w0.Reap().ToString(), "exited with 0");
  EXPECT_FALSE(ps.Reap().ok());
  const std::string errors = Errors(ps);
  EXPECT_TRUE(Contains(errors, "UNAVAILABLE") && Contains(errors, "worker/1 is lost")) << errors;
}

TEST_F(FaultTest, AKilledChiefDoesNotStopTheOthers) {
  Cluster(2);
  ChildProcess& ps = Start("ps", 0);
  ChildProcess& chief = Start("worker", 0, 0);
  ChildProcess& other = Start("worker", 1, 0);
  ASSERT_EQ(AwaitLine(other.out(), "step "), "1");
  chief.Signal(SIGKILL);
  chief.Reap();
  for (int i = 0; i < 5; ++i) ASSERT_NE(AwaitLine(other.out(), "step "), "");
  other.Signal(SIGKILL);
  ps.Signal(SIGKILL);
}

TEST_F(FaultTest, SynchronousTrainingGoesOnWithoutAStoppedSpare) {
  Cluster(3);
  ChildProcess& ps = Start("ps", 0);
  ChildProcess& chief = Start("worker", 0, 2000, /*issync=*/true);
  ChildProcess& other = Start("worker", 1, 0, /*issync=*/true);
  ChildProcess& spare = Start("worker", 2, 0, /*issync=*/true);
  ASSERT_EQ(AwaitLine(spare.out(), "step "), "1");
  spare.Signal(SIGSTOP);
  EXPECT_EQ(chief.Reap().ToString(), "exited with 0") << Errors(chief);
  EXPECT_EQ(other.Reap().ToString(), "exited with 0") << Errors(other);
  EXPECT_FALSE(ps.Reap().ok());
  const std::string errors = Errors(ps);
  EXPECT_TRUE(Contains(errors, "worker/2 is lost")) << errors;
  spare.Signal(SIGKILL);
}

TEST_F(FaultTest, CtrlCEndsALaunchedClusterWithinTwoSeconds) {
  auto launch =
      ChildProcess::Start({TENSORBRAID_PROGRAM, "launch", "--ps=1", "--workers=2", "--", FAULT_TASK, "--steps=0"}, {});
  ASSERT_TRUE(launch.ok()) << launch.status();
  ASSERT_EQ(AwaitLine(launch->out(), "[worker/1] step "), "1");
  const auto began = Clock::now();
  ::kill(launch->pid(), SIGINT);
  // The limit as the launcher keeps it, which a busy machine may exceed. After SIGTERM it would be 30 s.
  EXPECT_TRUE(Contains(AwaitText(launch->err(), "launch: SIGINT: "), "the tasks have 1.5 s to save and leave"));
  EXPECT_EQ(launch->Reap().exit_code, 130);
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(25));
}

TEST_F(FaultTest, ALostParameterServerCostsTheStepsSinceTheLastCheckpoint) { LoseTheParameterServer(/*issync=*/false); }

TEST_F(FaultTest, SynchronousTrainingRecoversFromALostParameterServer) { LoseTheParameterServer(/*issync=*/true); }

TEST_F(FaultTest, TasksSaveAndLeaveAfterSigterm) { StopTheCluster(/*issync=*/false); }

TEST_F(FaultTest, SynchronousTasksSaveAndLeaveAfterSigterm) { StopTheCluster(/*issync=*/true); }

TEST_F(FaultTest, AChiefWhoseStepCannotEndSavesAndLeaves) {
  const TempDir dir;
  Cluster(2);
  ChildProcess& ps = Start("ps", 0);
  ChildProcess& chief = Start("worker", 0, 0, /*issync=*/true, dir.path());
  ChildProcess& worker = Start("worker", 1, 0, /*issync=*/true, dir.path());
  ASSERT_NE(AwaitLine(worker.out(), "step "), "");
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Reap().ToString(), "exited with 0");
  chief.Signal(SIGTERM);  // its step waits for the gradient of the worker
  int64_t end = 0;
  EXPECT_TRUE(absl::SimpleAtoi(AwaitLine(chief.out(), "done at "), &end));
  EXPECT_EQ(chief.Reap().ToString(), "exited with 0") << Errors(chief);
  EXPECT_EQ(ps.Reap().ToString(), "exited with 0") << Errors(ps);
  EXPECT_EQ(LatestStep(dir.path()), end);
}

TEST_F(FaultTest, AWorkerThatStillWaitsLeavesAfterSigterm) {
  const TempDir dir;
  Cluster(1);
  ChildProcess& worker = Start("worker", 0, 0, /*issync=*/false, dir.path());  // there is no parameter server
  ASSERT_NE(AwaitText(worker.err(), "waiting for ps/0"), "");
  worker.Signal(SIGTERM);
  const std::string errors = Errors(worker);
  EXPECT_TRUE(Contains(errors, "CANCELLED: this process was asked to stop while it waited for")) << errors;
  // A launcher kills its tasks 1.5 s after Ctrl-C, and a task that has not begun has nothing to save.
  EXPECT_TRUE(Contains(errors, "has not ended 1 s after")) << errors;
  EXPECT_EQ(worker.Reap().ToString(), "exited with 1");
}

TEST_F(FaultTest, ASecondSignalEndsATaskAtOnce) {
  Cluster(1);
  ChildProcess& ps = Start("ps", 0);  // waits until the worker has left
  ChildProcess& worker = Start("worker", 0, 0);
  ASSERT_NE(AwaitLine(worker.out(), "step "), "");
  ps.Signal(SIGTERM);
  ASSERT_NE(AwaitText(ps.err(), "SIGTERM: stopping in good order"), "");
  pollfd end = {ps.end_event().get(), POLLIN, 0};
  while (::poll(&end, 1, 10) == 0) ps.Signal(SIGTERM);  // within a second, it is the same request
  EXPECT_EQ(ps.Reap().signal, SIGTERM);
}

TEST_F(FaultTest, TwoSignalsAtTheSameMomentAreOneRequest) {
  const TempDir dir;
  Cluster(1);
  ChildProcess& ps = Start("ps", 0);
  ChildProcess& chief = Start("worker", 0, 0, /*issync=*/false, dir.path());
  ASSERT_NE(AwaitLine(chief.out(), "step "), "");
  chief.Signal(SIGSTOP);  // so that both wait for it
  chief.Signal(SIGTERM);
  chief.Signal(SIGINT);
  chief.Signal(SIGCONT);
  int64_t end = 0;
  EXPECT_TRUE(absl::SimpleAtoi(AwaitLine(chief.out(), "done at "), &end));
  EXPECT_EQ(chief.Reap().ToString(), "exited with 0") << Errors(chief);
  EXPECT_EQ(LatestStep(dir.path()), end);
  EXPECT_EQ(ps.Reap().ToString(), "exited with 0") << Errors(ps);
}

#ifdef CRNN_CTC
// The example crnn_ctc, which trains under a Supervisor, with a parameter server and two workers.
class SupervisedFaultTest : public FaultTest {
 protected:
  void SetUp() override { Cluster(2); }

  ChildProcess& StartCrnn(const std::string& job, int index, bool issync) {
    const std::string name = StrCat(job, "/", index);
    tasks_.erase(name);
    auto child = ChildProcess::Start(
        {CRNN_CTC, "--ps_hosts=" + ps_hosts_, "--worker_hosts=" + worker_hosts_, "--job_name=" + job,
         StrCat("--task_index=", index), "--data_dir=" MNIST_DATA, "--train_steps=100000", "--batch_size=2",
         issync ? "--issync" : "--noissync", "--checkpoint_dir=" + dir_.path(), "--save_checkpoint_secs=0.5"},
        {});
    return tasks_.emplace(name, *std::move(child)).first->second;
  }
  // The global step after a worker's next progress line, or -1.
  static int64_t NextStep(ChildProcess& worker) {
    const std::string line = AwaitLine(worker.out(), "step ");
    int64_t step = -1;
    return absl::SimpleAtoi(line.substr(0, line.find(' ')), &step) ? step : -1;
  }
  void KillAll() {
    for (auto& [name, task] : tasks_) task.Signal(SIGKILL);
  }
  std::string checkpoint() const { return dir_.path() + "/model.ckpt-"; }

  // Kills a worker that is not the chief, and starts it again. It must join the others at their step.
  void LoseAWorker(bool issync) {
    StartCrnn("ps", 0, issync);
    ChildProcess& chief = StartCrnn("worker", 0, issync);
    ChildProcess& worker = StartCrnn("worker", 1, issync);
    NextStep(worker);
    const int64_t reached = NextStep(worker);
    ASSERT_GT(reached, 0);
    worker.Signal(SIGKILL);
    worker.Reap();
    ChildProcess& again = StartCrnn("worker", 1, issync);
    const int64_t rejoined = NextStep(again);
    EXPECT_GE(rejoined, reached);
    EXPECT_GT(NextStep(again), rejoined);
    // The chief never stopped. Its lines since the start have not been read yet.
    int64_t of_chief = 0;
    while (of_chief >= 0 && of_chief < rejoined) of_chief = NextStep(chief);
    EXPECT_GE(of_chief, rejoined);
    KillAll();
  }

  // Kills the parameter server and starts it again: the chief restores a checkpoint, and both workers continue from it.
  void LoseTheVariables(bool issync) {
    ChildProcess& ps = StartCrnn("ps", 0, issync);
    ChildProcess& chief = StartCrnn("worker", 0, issync);
    ChildProcess& worker = StartCrnn("worker", 1, issync);
    int64_t saved = 0, restored = 0;
    while (saved < 5) ASSERT_TRUE(absl::SimpleAtoi(AwaitText(chief.err(), "saved " + checkpoint()), &saved));
    ps.Signal(SIGKILL);
    ps.Reap();
    StartCrnn("ps", 0, issync);
    ASSERT_TRUE(absl::SimpleAtoi(AwaitText(chief.err(), "Restoring parameters from " + checkpoint()), &restored));
    EXPECT_GE(restored, saved);
    for (ChildProcess* task : {&chief, &worker}) {
      ASSERT_NE(AwaitLine(task->out(), "going on from the latest checkpoint"), "");
      EXPECT_GT(NextStep(*task), restored);
    }
    KillAll();
  }

  // Asks all tasks to stop. The chief tests the model, saves it and leaves.
  void StopAll(bool issync) {
    ChildProcess& ps = StartCrnn("ps", 0, issync);
    ChildProcess& chief = StartCrnn("worker", 0, issync);
    ChildProcess& worker = StartCrnn("worker", 1, issync);
    NextStep(chief);
    const int64_t reached = NextStep(chief);
    for (ChildProcess* task : {&ps, &chief, &worker}) task->Signal(SIGTERM);
    for (ChildProcess* task : {&chief, &worker, &ps}) EXPECT_EQ(task->Reap().ToString(), "exited with 0");
    EXPECT_GE(LatestStep(dir_.path()), reached);
  }

  const TempDir dir_;
};

TEST_F(SupervisedFaultTest, TasksSaveAndLeaveAfterSigterm) { StopAll(/*issync=*/false); }
TEST_F(SupervisedFaultTest, SynchronousTasksSaveAndLeaveAfterSigterm) { StopAll(/*issync=*/true); }
TEST_F(SupervisedFaultTest, ARestartedWorkerContinuesAtTheStepOfTheOthers) { LoseAWorker(/*issync=*/false); }
TEST_F(SupervisedFaultTest, ARestartedWorkerContinuesInSynchronousTraining) { LoseAWorker(/*issync=*/true); }
TEST_F(SupervisedFaultTest, AfterALostParameterServerTheChiefRestoresACheckpoint) {
  LoseTheVariables(/*issync=*/false);
}
TEST_F(SupervisedFaultTest, SynchronousTrainingRecoversFromALostParameterServer) { LoseTheVariables(/*issync=*/true); }

TEST_F(SupervisedFaultTest, ARestartedChiefContinuesFromItsCheckpoint) {
  StartCrnn("ps", 0, /*issync=*/false);
  ChildProcess& chief = StartCrnn("worker", 0, /*issync=*/false);
  ChildProcess& worker = StartCrnn("worker", 1, /*issync=*/false);
  int64_t saved = 0, restored = 0;
  while (saved < 5) ASSERT_TRUE(absl::SimpleAtoi(AwaitText(chief.err(), "saved " + checkpoint()), &saved));
  chief.Signal(SIGKILL);
  chief.Reap();
  ChildProcess& again = StartCrnn("worker", 0, /*issync=*/false);
  ASSERT_TRUE(absl::SimpleAtoi(AwaitText(again.err(), "Restoring parameters from " + checkpoint()), &restored));
  EXPECT_GE(restored, saved);
  EXPECT_GT(NextStep(again), restored);
  EXPECT_GT(NextStep(worker), 0);  // this worker was not killed
  KillAll();
}
#endif

#ifdef MNIST_SOFTMAX
TEST_F(FaultTest, AKilledClusterThatIsRestartedContinuesFromItsCheckpoint) {
  const TempDir dir;
  const std::string checkpoint = dir.path() + "/model.ckpt-";
  const auto launch = [&](int64_t steps) {
    return *ChildProcess::Start(
        {TENSORBRAID_PROGRAM, "launch", "--ps=1", "--workers=2", "--", MNIST_SOFTMAX, "--data_dir=" MNIST_DATA,
         StrCat("--train_steps=", steps), "--checkpoint_dir=" + dir.path(), "--save_checkpoint_secs=0.2"},
        {});
  };
  int64_t reached = 0;
  {
    ChildProcess first = launch(100'000'000);
    while (reached < 100) {
      const std::string step = AwaitText(first.err(), "saved " + checkpoint);
      ASSERT_TRUE(absl::SimpleAtoi(step, &reached)) << step;
    }
    first.Signal(SIGKILL);
    first.Reap();
  }
  ChildProcess second = launch(reached + 2000);
  int64_t restored = 0;
  ASSERT_TRUE(absl::SimpleAtoi(AwaitText(second.err(), "Restoring parameters from " + checkpoint), &restored));
  EXPECT_GE(restored, reached);
  const std::string accuracy = AwaitText(second.out(), "test accuracy ");
  EXPECT_TRUE(accuracy.starts_with("0.9") || accuracy.starts_with("0.8")) << accuracy;
  EXPECT_EQ(second.Reap().ToString(), "exited with 0");
  EXPECT_GE(CheckpointReader::Open(*LatestCheckpoint(dir.path())).value()->GetTensor("global_step")->scalar<int64_t>(),
            reached + 2000);
}
#endif

TEST_F(FaultTest, ARestartedWorkerRejoins) {
  Cluster(2);
  ChildProcess& ps = Start("ps", 0);
  ChildProcess& w0 = Start("worker", 0, 0);
  ChildProcess& w1 = Start("worker", 1, 0);
  ASSERT_EQ(AwaitLine(w1.out(), "step "), "1");
  w1.Signal(SIGKILL);
  w1.Reap();
  ChildProcess& again = Start("worker", 1, 200);
  EXPECT_EQ(again.Reap().ToString(), "exited with 0");
  ASSERT_NE(AwaitLine(w0.out(), "step "), "");  // the other worker is still running
  w0.Signal(SIGKILL);
  ps.Signal(SIGKILL);
}

TEST_F(FaultTest, AKilledParameterServerIsNamedByEveryWorker) {
  Cluster(2);
  ChildProcess& ps = Start("ps", 0);
  ChildProcess& w0 = Start("worker", 0, 0);
  ChildProcess& w1 = Start("worker", 1, 0);
  ASSERT_EQ(AwaitLine(w0.out(), "step "), "1");
  ASSERT_EQ(AwaitLine(w1.out(), "step "), "1");
  ps.Signal(SIGKILL);
  for (ChildProcess* worker : {&w0, &w1}) {
    EXPECT_EQ(worker->Reap().exit_code, 1);
    const std::string errors = Errors(*worker);
    EXPECT_TRUE(Contains(errors, "UNAVAILABLE") && Contains(errors, "ps/0")) << errors;
  }
}

TEST_F(FaultTest, AStoppedParameterServerIsNamedSoonAfterTheHeartbeatTimeout) {
  Cluster(1);
  ChildProcess& ps = Start("ps", 0);
  ChildProcess& worker = Start("worker", 0, 0);
  ASSERT_EQ(AwaitLine(worker.out(), "step "), "1");
  ps.Signal(SIGSTOP);
  const auto stopped = Clock::now();
  EXPECT_EQ(worker.Reap().exit_code, 1);
  // The heartbeat timeout is two seconds; the rest allows for a loaded machine.
  EXPECT_LT(Clock::now() - stopped, std::chrono::seconds(60));
  const std::string errors = Errors(worker);
  EXPECT_TRUE(Contains(errors, "UNAVAILABLE") && Contains(errors, "ps/0") && Contains(errors, "no sign of life"))
      << errors;
  ps.Signal(SIGKILL);
}

TEST_F(FaultTest, SwappedHostsAreNamedAtTheFirstContact) {
  Cluster(1);
  ChildProcess& ps = Start("ps", 0);
  ASSERT_EQ(AwaitLine(ps.out(), "started"), "");
  // The worker's flags list another host first, so the worker expects ps/1 at the address of ps/0.
  auto wrong = ChildProcess::Start({FAULT_TASK, "--ps_hosts=localhost:1," + ps_hosts_,
                                    "--worker_hosts=" + worker_hosts_, "--job_name=worker", "--task_index=0"},
                                   {});
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  std::string line;
  char c;
  while (!Contains(line, "swapped") && ReadByte(wrong->err(), &c)) line += c;
  EXPECT_TRUE(Contains(line, "this address belongs to ps/0, but worker/0 expects ps/1 here")) << line;
}

TEST_F(FaultTest, APortInUseIsAnErrorThatNamesTheAddress) {
  Cluster(1);
  ChildProcess& ps = Start("ps", 0);
  ASSERT_EQ(AwaitLine(ps.out(), "started"), "");
  auto second = ChildProcess::Start(
      {FAULT_TASK, "--ps_hosts=" + ps_hosts_, "--worker_hosts=" + worker_hosts_, "--job_name=ps", "--task_index=0"},
      {});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->Reap().exit_code, 1);
  const std::string errors = Errors(*second);
  EXPECT_TRUE(Contains(errors, "ALREADY_EXISTS") && Contains(errors, ps_hosts_)) << errors;
}

TEST_F(FaultTest, GarbageOnThePortDoesNotEndTheServer) {
  Cluster(1);
  ChildProcess& ps = Start("ps", 0);
  ASSERT_EQ(AwaitLine(ps.out(), "started"), "");
  for (int round = 0; round < 20; ++round) {
    const Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(ports_[0].port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    // Every second round begins with the bytes that begin each HTTP/2 connection. The other bytes are pseudorandom.
    std::string bytes = round % 2 == 0 ? "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" : "";
    for (int i = 0; i < 1000; ++i) bytes += static_cast<char>((round * 7919 + i * 104729) >> 3);
    (void)!::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  ChildProcess& worker = Start("worker", 0);
  EXPECT_EQ(worker.Reap().ToString(), "exited with 0");
  EXPECT_EQ(ps.Reap().ToString(), "exited with 0");
}

}  // namespace
}  // namespace tensorbraid
