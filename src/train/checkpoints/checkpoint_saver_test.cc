#include "train/checkpoints/checkpoint_saver.h"

#include <gtest/gtest.h>

#include "checkpoint/files.h"
#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// Each step adds one to `count`, which is on the parameter server or, with CountingModel(nullptr), on no particular
// device.
struct CountingModel {
  CountingModel() {
    auto device = g.Device("/job:ps/task:0");
    Build();
  }
  explicit CountingModel(std::nullptr_t) { Build(); }
  void Build() {
    count = Variable(g, {}, Zeros(), {.name = "count"});
    global_step = GetOrCreateGlobalStep(g);
    GradientDescentOptimizer optimizer(1.0);
    train = optimizer.Minimize(-1.0f * count, {.global_step = global_step});
  }
  Graph g;
  Variable count, global_step;
  Operation train;
};

class CheckpointDirTest : public testing::Test {
 protected:
  StatusOr<std::unique_ptr<MonitoredSession>> Start(CountingModel& m, MonitoredTrainingSessionOptions options = {}) {
    options.checkpoint_dir = dir_.path();
    return MonitoredTrainingSession(m.g, std::move(options));
  }
  std::string At(int64_t step) const { return StrCat(dir_.path(), "/model.ckpt-", step); }
  void Train(MonitoredSession& session, const CountingModel& m, int steps) {
    for (int i = 0; i < steps; ++i) ASSERT_TRUE(session.Run({m.train}).ok());
  }
  static float CountOf(MonitoredSession& session, const CountingModel& m) {
    return session.Run({m.count}).value()[0].scalar<float>();
  }
  TempDir dir_;
};

TEST_F(CheckpointDirTest, SavesEveryNStepsAndAtTheEnd) {
  CountingModel m(nullptr);
  auto session = Start(m, {.save_checkpoint_every_steps = 3}).value();
  EXPECT_TRUE(CheckpointExists(At(0)));
  Train(*session, m, 5);
  EXPECT_TRUE(CheckpointExists(At(3)));
  EXPECT_FALSE(CheckpointExists(At(5)));
  ASSERT_TRUE(session->Close().ok());
  EXPECT_EQ(LatestCheckpoint(dir_.path()).value(), At(5));
  EXPECT_EQ(CheckpointReader::Open(At(5)).value()->GetTensor("count")->scalar<float>(), 5.0f);
}

TEST_F(CheckpointDirTest, ListenersHearOfEachSaveAndMayStopTheTraining) {
  CountingModel m(nullptr);
  std::vector<std::string> calls;
  const auto note = [&calls](const char* when, int64_t step) {
    calls.push_back(StrCat(when, " ", step));
    return OkStatus();
  };
  auto saver = CheckpointSaver(dir_.path(),
                               {.every_n_steps = 3,
                                .write_meta_graph = false,
                                .before_save = [&](SessionRunContext&, int64_t step) { return note("before", step); },
                                .after_save =
                                    [&](SessionRunContext& context, int64_t step) {
                                      if (step == 3) context.RequestStop();
                                      return note("after", step);
                                    }});
  auto session = MonitoredTrainingSession(m.g, {.hooks = {saver}}).value();
  while (!session->ShouldStop()) ASSERT_TRUE(session->Run({m.train}).ok());
  ASSERT_TRUE(session->Close().ok());
  EXPECT_EQ(calls, (std::vector<std::string>{"before 0", "after 0", "before 3", "after 3"}));
  EXPECT_FALSE(FileExists(At(3) + ".meta"));
}

TEST_F(CheckpointDirTest, AnErrorOfAListenerEndsTheTraining) {
  CountingModel m(nullptr);
  auto saver = CheckpointSaver(dir_.path(), {.every_n_steps = 2, .before_save = [](SessionRunContext&, int64_t step) {
                                               return step > 0 ? Internal("no") : OkStatus();
                                             }});
  auto session = MonitoredTrainingSession(m.g, {.hooks = {saver}}).value();
  Train(*session, m, 1);
  EXPECT_TRUE(absl::IsInternal(session->Run({m.train}).status()));
  EXPECT_FALSE(CheckpointExists(At(2)));
}

TEST_F(CheckpointDirTest, SavesWhenTheIntervalHasPassed) {
  CountingModel m(nullptr);
  auto session = Start(m, {.save_checkpoint_every = std::chrono::seconds(0)}).value();
  Train(*session, m, 2);
  EXPECT_TRUE(CheckpointExists(At(1)));
  EXPECT_TRUE(CheckpointExists(At(2)));
}

TEST_F(CheckpointDirTest, ARunThatDoesNotTrainDoesNotSave) {
  CountingModel m(nullptr);
  auto session = Start(m, {.save_checkpoint_every = std::chrono::seconds(0)}).value();
  Train(*session, m, 1);
  ASSERT_TRUE(RemoveCheckpoint(At(1)).ok());
  CountOf(*session, m);
  EXPECT_FALSE(CheckpointExists(At(1)));
}

TEST_F(CheckpointDirTest, TheNextProcessContinuesFromTheCheckpoint) {
  {
    CountingModel m(nullptr);
    auto session = Start(m).value();
    Train(*session, m, 4);
    ASSERT_TRUE(session->Close().ok());
  }
  CountingModel m(nullptr);
  auto session = Start(m, {.hooks = {StopAtStep(6)}}).value();
  EXPECT_EQ(CountOf(*session, m), 4.0f);
  int steps = 0;
  for (; !session->ShouldStop(); ++steps) ASSERT_TRUE(session->Run({m.train}).ok());
  EXPECT_EQ(steps, 2);
  ASSERT_TRUE(session->Close().ok());
  EXPECT_EQ(LatestCheckpoint(dir_.path()).value(), At(6));
  EXPECT_TRUE(CheckpointExists(At(4)))
      << "the checkpoint of the earlier process is one of the latest, so it must be kept";
}

TEST_F(CheckpointDirTest, ADamagedCheckpointIsSkipped) {
  {
    CountingModel m(nullptr);
    auto session = Start(m, {.save_checkpoint_every_steps = 2}).value();
    Train(*session, m, 4);
  }
  const std::string data = At(4) + ".data-00000-of-00001";
  std::string bytes = ReadWholeFile(data).value();
  for (char& c : bytes) c ^= 0x55;
  ASSERT_TRUE(WriteFileAtomically(data, bytes).ok());
  CountingModel m(nullptr);
  EXPECT_EQ(CountOf(*Start(m).value(), m), 2.0f);
}

TEST_F(CheckpointDirTest, FailsInsteadOfStartingAgainIfNoCheckpointIsUsable) {
  {
    CountingModel m(nullptr);
    Train(*Start(m).value(), m, 1);
  }
  for (const int64_t step : {0, 1}) ASSERT_TRUE(WriteFileAtomically(At(step) + ".index", "nothing").ok());
  CountingModel m(nullptr);
  EXPECT_TRUE(absl::IsDataLoss(Start(m).status()));
}

TEST_F(CheckpointDirTest, FailsInsteadOfStartingAgainIfTheNamedCheckpointsAreGone) {
  {
    CountingModel m(nullptr);
    Train(*Start(m).value(), m, 1);
  }
  for (const int64_t step : {0, 1}) ASSERT_TRUE(RemoveCheckpoint(At(step)).ok());
  CountingModel m(nullptr);
  const Status status = Start(m).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_NE(status.message().find(At(1)), absl::string_view::npos) << status;
}

TEST_F(CheckpointDirTest, StartFailsIfTheCheckpointHasAnotherShape) {
  {
    CountingModel m(nullptr);
    Train(*Start(m).value(), m, 1);
  }
  Graph g;
  const Variable count(g, {2}, Zeros(), {.name = "count"});
  GetOrCreateGlobalStep(g);
  const Status status = MonitoredTrainingSession(g, {.checkpoint_dir = dir_.path()}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  for (const char* part : {"'count'", "float32[2]", "float32[]"}) {
    EXPECT_NE(status.message().find(part), absl::string_view::npos) << status;
  }
}

TEST_F(CheckpointDirTest, RejectsInvalidOptions) {
  CountingModel m(nullptr);
  EXPECT_TRUE(absl::IsInvalidArgument(MonitoredTrainingSession(m.g, {.save_checkpoint_every_steps = 3}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Start(m, {.save_checkpoint_every_steps = 0}).status()));
  Graph g;
  const Variable v(g, {}, Zeros(), {.name = "v"});
  EXPECT_TRUE(absl::IsFailedPrecondition(MonitoredTrainingSession(g, {.checkpoint_dir = dir_.path()}).status()));
}

TEST_F(CheckpointDirTest, TrainingGoesOnWithoutItsDirectoryAndCloseReportsTheFailedSave) {
  CountingModel m(nullptr);
  auto session = Start(m, {.save_checkpoint_every_steps = 1}).value();
  std::filesystem::remove_all(dir_.path());
  ASSERT_TRUE(WriteFileAtomically(dir_.path(), "a file in its place").ok());
  Train(*session, m, 2);
  EXPECT_FALSE(session->ShouldStop());
  const Status closed = session->Close();
  EXPECT_NE(closed.message().find("it is a file"), absl::string_view::npos) << closed;
}

TEST_F(CheckpointDirTest, ContinuesAfterTheLossOfAParameterServer) {
  TestCluster cluster(1, 1);
  CountingModel m;
  auto session = Start(m, {.master = cluster.worker_target(), .save_checkpoint_every_steps = 2}).value();
  Train(*session, m, 5);
  cluster.Stop("ps", 0);
  cluster.Start("ps", 0);
  const auto run = session->Run({m.train, m.count});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_FALSE(session->ShouldStop());
  EXPECT_EQ(CountOf(*session, m), 5.0f) << "the run must restore the checkpoint of step 4 and make one step";
  EXPECT_TRUE(session->Close().ok());
}

TEST_F(CheckpointDirTest, RecoveryRestoresAllVariables) {
  TestCluster cluster(2, 1);
  CountingModel m;
  Variable other;
  {
    auto device = m.g.Device("/job:ps/task:1");
    other = Variable(m.g, {}, Zeros(), {.name = "other", .trainable = false});
  }
  const Operation both = Group(m.g, {m.train, other.AssignAdd(1.0f)});
  auto session = Start(m, {.master = cluster.worker_target(), .save_checkpoint_every_steps = 2}).value();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(session->Run({m.train, both}).ok());
  cluster.Stop("ps", 0);
  cluster.Start("ps", 0);
  ASSERT_TRUE(session->Run({m.train, both}).ok());
  const auto values = session->Run({m.count, other}).value();
  EXPECT_EQ(values[0].scalar<float>(), values[1].scalar<float>());
  EXPECT_EQ(values[0].scalar<float>(), 5.0f);
}

TEST_F(CheckpointDirTest, SynchronousTrainingContinuesAfterTheLossOfAParameterServer) {
  TestCluster cluster(1, 1);
  Graph g;
  auto device = g.Device("/job:ps/task:0");
  const Variable count(g, {}, Zeros(), {.name = "count"});
  const Variable global_step = GetOrCreateGlobalStep(g);
  SyncReplicasOptimizer optimizer(std::make_shared<GradientDescentOptimizer>(1.0), {.replicas_to_aggregate = 1});
  const Operation train = optimizer.Minimize(-1.0f * count, {.global_step = global_step});
  auto session =
      MonitoredTrainingSession(g, {.master = cluster.worker_target(),
                                   .hooks = {optimizer.MakeSessionRunHook(/*is_chief=*/true), StopAtStep(40)},
                                   .checkpoint_dir = dir_.path(),
                                   .save_checkpoint_every_steps = 5});
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 0; i < 12; ++i) ASSERT_TRUE((*session)->Run({train}).ok());
  cluster.Stop("ps", 0);
  cluster.Start("ps", 0);
  while (!(*session)->ShouldStop()) {
    const Status status = (*session)->Run({train}).status();
    ASSERT_TRUE(status.ok()) << status;
  }
  EXPECT_TRUE((*session)->Close().ok());
  const std::string latest = LatestCheckpoint(dir_.path()).value();
  EXPECT_GE(CheckpointReader::Open(latest).value()->GetTensor("count")->scalar<float>(), 40.0f);
}

TEST_F(CheckpointDirTest, QueueRunnersContinueAfterTheLossOfAParameterServer) {
  TestCluster cluster(1, 1);
  Graph g;
  auto device = g.Device("/job:ps/task:0");
  const Variable count(g, {}, Zeros(), {.name = "count"});
  const Variable global_step = GetOrCreateGlobalStep(g);
  const FIFOQueue input(g, {kFloat32}, {.shapes = {Shape()}, .capacity = 2, .name = "input"});
  const QueueRunner runner({input.Enqueue({1.0f})}, input.Close(), input.Close(/*cancel_pending_enqueues=*/true));
  GradientDescentOptimizer optimizer(1.0);
  const Operation train = optimizer.Minimize(-1.0f * count * input.Dequeue()[0], {.global_step = global_step});
  auto session = MonitoredTrainingSession(g, {.master = cluster.worker_target(),
                                              .queue_runners = {runner},
                                              .checkpoint_dir = dir_.path(),
                                              .save_checkpoint_every_steps = 2});
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE((*session)->Run({train}).ok());
  cluster.Stop("ps", 0);
  cluster.Start("ps", 0);
  // More steps than the queue holds elements.
  for (int i = 0; i < 5; ++i) {
    const Status status = (*session)->Run({train}).status();
    ASSERT_TRUE(status.ok()) << status;
  }
  // The checkpoint of step 4 was restored, and 5 steps followed.
  EXPECT_GE((*session)->Run({count}).value()[0].scalar<float>(), 9.0f);
  const Status closed = (*session)->Close();
  EXPECT_TRUE(closed.ok()) << closed;
}

TEST_F(CheckpointDirTest, WithoutACheckpointDirectoryTheLossOfATaskIsAnError) {
  TestCluster cluster(1, 1);
  CountingModel m;
  auto session = MonitoredTrainingSession(m.g, {.master = cluster.worker_target()}).value();
  Train(*session, m, 1);
  cluster.Stop("ps", 0);
  cluster.Start("ps", 0);
  const Status status = session->Run({m.train}).status();
  EXPECT_TRUE(absl::IsAborted(status) || absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(session->ShouldStop());
}

}  // namespace
}  // namespace tensorbraid
