// Tests Supervisor and its managed sessions.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "checkpoint/files.h"
#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;

// Each step adds one to `count` on the parameter server.
struct CountModel {
  explicit CountModel(const std::string& device = "/job:ps/task:0") {
    auto scope = g.Device(device);
    count = Variable(g, {}, Zeros(), {.name = "count"});
    global_step = GetOrCreateGlobalStep(g);
    GradientDescentOptimizer optimizer(1.0);
    train = optimizer.Minimize(-1.0f * count, {.global_step = global_step});
  }
  float Count(Session& session) const { return session.Run({count}).value()[0].scalar<float>(); }
  int64_t Step(Session& session) const { return session.Run({global_step}).value()[0].scalar<int64_t>(); }

  Graph g;
  Variable count, global_step;
  Operation train;
};

class SupervisorTest : public testing::Test {
 protected:
  static void Train(Session& session, const CountModel& m, int steps) {
    for (int i = 0; i < steps; ++i) {
      const Status status = session.Run({m.train}).status();
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  TempDir dir_;
};

TEST_F(SupervisorTest, AWorkerWaitsUntilTheChiefHasInitialised) {
  TestCluster cluster(1, 2);
  CountModel worker, chief;
  Supervisor waits(worker.g, {.is_chief = false});
  StatusOr<std::shared_ptr<Session>> session;
  std::thread thread([&] { session = waits.PrepareOrWaitForSession(cluster.worker_target(1)); });
  Supervisor leads(chief.g, {.logdir = dir_.path()});
  auto lead = leads.PrepareOrWaitForSession(cluster.worker_target(0));
  ASSERT_TRUE(lead.ok()) << lead.status();
  thread.join();
  ASSERT_TRUE(session.ok()) << session.status();
  Train(**session, worker, 2);
  Train(**lead, chief, 1);
  EXPECT_EQ(chief.Count(**lead), 3);
  EXPECT_TRUE(waits.Stop().ok());
  EXPECT_TRUE(leads.Stop().ok());
  EXPECT_TRUE(FileExists(dir_.path() + "/graph.pbtxt"));
}

TEST_F(SupervisorTest, ASessionOfADestroyedGraphIsAnError) {
  auto m = std::make_unique<CountModel>("");
  const Operation train = m->train;
  Supervisor supervisor(m->g, {.logdir = dir_.path()});
  auto session = supervisor.ManagedSession();
  ASSERT_TRUE(session.ok()) << session.status();
  m.reset();
  const Status run = (*session)->Run({train}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(run)) << run;
  EXPECT_TRUE(absl::IsFailedPrecondition((*session)->Close()));
  const Status again = supervisor.PrepareOrWaitForSession().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(again)) << again;
  EXPECT_NE(again.message().find("Supervisor: the Graph has been destroyed"), std::string::npos) << again;
}

TEST_F(SupervisorTest, AWaitThatIsTooLongNamesWhatIsMissing) {
  TestCluster cluster(1, 1);
  const std::string missing = "the chief to initialise count, global_step";
  // On a busy machine, a short wait may end before the worker has asked the parameter server.
  Status late;
  for (milliseconds wait(300); wait < std::chrono::minutes(1); wait *= 3) {
    CountModel m;
    Supervisor supervisor(m.g, {.is_chief = false});
    late = supervisor.PrepareOrWaitForSession(cluster.worker_target(), {.max_wait = wait}).status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
    if (late.message().find(missing) != std::string::npos) break;
  }
  EXPECT_NE(late.message().find(missing), std::string::npos) << late;
}

TEST_F(SupervisorTest, StopSavesALastCheckpointFromWhichTheNextChiefContinues) {
  {
    CountModel m("");
    Supervisor supervisor(m.g, {.logdir = dir_.path()});
    auto session = supervisor.PrepareOrWaitForSession().value();
    Train(*session, m, 4);
    ASSERT_TRUE(supervisor.Stop().ok());
  }
  EXPECT_EQ(LatestCheckpoint(dir_.path()).value(), dir_.path() + "/model.ckpt-4");
  CountModel m("");
  Supervisor supervisor(m.g, {.logdir = dir_.path()});
  EXPECT_EQ(m.Count(*supervisor.PrepareOrWaitForSession().value()), 4);
}

TEST_F(SupervisorTest, IncrementsAreSavedBetweenCheckpoints) {
  const std::string increments = dir_.path() + "/.incremental_checkpoint";
  float trained = 0;
  {
    CountModel m("");
    Supervisor supervisor(m.g, {.logdir = dir_.path(), .save_increment_every = milliseconds(1)});
    const auto session = supervisor.PrepareOrWaitForSession();
    ASSERT_TRUE(session.ok()) << session.status();
    Train(**session, m, 10);
    trained = m.Count(**session);
    const auto newest = [&] { return LatestCheckpoint(increments).value_or(""); };
    while (!newest().ends_with("model.ckpt-10")) ASSERT_FALSE(supervisor.ShouldStop());
    // The session ends without a last checkpoint, as if its process was killed.
    supervisor.coordinator().RequestStop(Internal("killed"));
    EXPECT_FALSE(supervisor.Stop().ok());
  }
  // They are restored whether or not the next supervisor saves increments.
  for (const milliseconds every : {milliseconds(0), milliseconds(3'600'000)}) {
    CountModel m("");
    Supervisor supervisor(m.g, {.logdir = dir_.path(), .save_increment_every = every});
    const auto session = supervisor.PrepareOrWaitForSession();
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ(m.Count(**session), trained);
    supervisor.coordinator().RequestStop(Internal("killed"));
    EXPECT_FALSE(supervisor.Stop().ok());
  }
}

TEST_F(SupervisorTest, IncrementsNeedCheckpointsAndASaverForThem) {
  CountModel m("");
  const Supervisor none(
      m.g, {.logdir = dir_.path(), .save_model_every = milliseconds(0), .save_increment_every = milliseconds(1)});
  EXPECT_NE(m.g.status().message().find("save_increment_every needs save_model_every"), std::string::npos);
  CountModel n("");
  const Supervisor other(
      n.g, {.logdir = dir_.path(), .saver = std::make_shared<Saver>(n.g), .save_increment_every = milliseconds(1)});
  EXPECT_NE(n.g.status().message().find("SaverOptions::incremental"), std::string::npos) << n.g.status();
}

TEST_F(SupervisorTest, ARestartedChiefContinuesFromItsCheckpoint) {
  TestCluster cluster(1, 1);
  int64_t saved = 0;
  {
    CountModel m;
    Supervisor supervisor(m.g, {.logdir = dir_.path(), .save_model_every = milliseconds(5)});
    auto session = supervisor.PrepareOrWaitForSession(cluster.worker_target()).value();
    // Each step waits for the checkpoint of the one before, so that a save meets one step at most.
    for (int64_t step = 1; step <= 3; ++step) {
      Train(*session, m, 1);
      while (saved < step) {
        const auto latest = LatestCheckpoint(dir_.path());
        if (latest.ok()) saved = std::stoll(latest->substr(latest->rfind('-') + 1));
      }
    }
    // Both tasks are lost, and with them the variables.
    cluster.Stop("worker", 0);
    cluster.Stop("ps", 0);
    EXPECT_FALSE(supervisor.Stop().ok());
  }
  cluster.Start("ps", 0);
  cluster.Start("worker", 0);
  CountModel m;
  bool initialised = false;
  Supervisor supervisor(m.g, {.logdir = dir_.path(), .init_fn = [&](Session&) {
                                initialised = true;
                                return OkStatus();
                              }});
  auto session = supervisor.PrepareOrWaitForSession(cluster.worker_target());
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_GE(m.Step(**session), saved);
  // A save that runs beside training reads one variable after the other, so a step may come between them.
  EXPECT_NEAR(m.Count(**session), m.Step(**session), 1);
  EXPECT_FALSE(initialised) << "the checkpoint replaces init_op and init_fn";
}

TEST_F(SupervisorTest, PreparingAgainRecoversFromALostParameterServer) {
  TestCluster cluster(1, 1);
  CountModel m;
  Supervisor supervisor(m.g, {.logdir = dir_.path(), .save_model_every = std::chrono::hours(1)});
  auto session = supervisor.PrepareOrWaitForSession(cluster.worker_target()).value();
  while (!CheckpointExists(dir_.path() + "/model.ckpt-0")) std::this_thread::yield();
  Train(*session, m, 2);
  cluster.Stop("ps", 0);
  cluster.Start("ps", 0);
  EXPECT_FALSE(session->Run({m.train}).ok());
  auto again = supervisor.PrepareOrWaitForSession(cluster.worker_target());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(supervisor.ShouldStop());
  EXPECT_EQ(m.Count(**again), 0);  // the value in the checkpoint of step 0; the two steps after it are lost
  Train(**again, m, 1);
  EXPECT_TRUE(supervisor.Stop().ok());
}

TEST_F(SupervisorTest, InitFnIsCalledAfterInitOpAndOnlyWithoutACheckpoint) {
  CountModel m("");
  Operation set_to_7 = m.count.Assign(7.0f);
  int calls = 0;
  Supervisor supervisor(m.g, {.logdir = dir_.path(), .init_fn = [&](Session& session) -> Status {
                                ++calls;
                                EXPECT_EQ(m.Count(session), 0);
                                return session.Run({set_to_7}).status();
                              }});
  EXPECT_EQ(m.Count(*supervisor.PrepareOrWaitForSession().value()), 7);
  ASSERT_TRUE(supervisor.Stop().ok());
  EXPECT_EQ(m.Count(*supervisor.PrepareOrWaitForSession().value()), 7);
  EXPECT_EQ(calls, 1);
}

TEST_F(SupervisorTest, AGlobalStepMayBeAFloat) {
  for (const DType dtype : {kFloat32, kFloat64}) {
    const std::string logdir = dir_.path() + "/" + DTypeName(dtype);
    Graph g;
    const Variable step(g, {}, Constant(6), {.name = "step", .dtype = dtype, .trainable = false});
    Supervisor supervisor(g, {.logdir = logdir, .global_step = step});
    ASSERT_TRUE(supervisor.PrepareOrWaitForSession().ok());
    ASSERT_TRUE(supervisor.Stop().ok());
    EXPECT_EQ(LatestCheckpoint(logdir).value(), logdir + "/model.ckpt-6");
  }
}

TEST_F(SupervisorTest, AGlobalStepThatIsNoNumberOfAStepIsNamed) {
  for (const float wrong : {-1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    Graph g;
    const Variable step(g, {}, Constant(wrong), {.name = "step", .trainable = false});
    Supervisor supervisor(g, {.logdir = dir_.path(), .global_step = step});
    const Status status = supervisor.PrepareOrWaitForSession().status();
    const std::string message(status.ok() ? supervisor.Stop().message() : status.message());
    EXPECT_NE(message.find("the global step 'step' must be a scalar of int64, int32, float32"), std::string::npos)
        << message;
  }
}

TEST_F(SupervisorTest, TheErrorOfInitFnIsReturned) {
  CountModel m("");
  Supervisor supervisor(m.g, {.init_fn = [](Session&) { return NotFound("no pretrained model"); }});
  EXPECT_EQ(supervisor.PrepareOrWaitForSession().status(), NotFound("no pretrained model"));
  EXPECT_TRUE(supervisor.ShouldStop());
}

TEST_F(SupervisorTest, TheErrorOfAFailingInitOpIsReturnedAtOnce) {
  CountModel m("");
  const Output bad = NodeBuilder(m.g, "CheckNumerics")
                         .Input(Const(m.g, Tensor::Scalar(std::numeric_limits<float>::infinity())))
                         .Attr("message", "bad start")
                         .Output();
  Supervisor supervisor(m.g, {.init_op = m.count.Assign(bad)});
  const Status status = supervisor.PrepareOrWaitForSession().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find("bad start"), std::string::npos) << status;
}

TEST_F(SupervisorTest, InitOpIsFedWithInitFeed) {
  Graph g;
  const Output start = Placeholder(g, kFloat32, {}, "start");
  const Variable v(g, {}, Zeros(), {.name = "v"});
  Supervisor supervisor(g, {.init_op = v.Assign(start), .init_feed = {{start, Tensor::Scalar(5.0f)}}});
  auto session = supervisor.PrepareOrWaitForSession();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->Run({v}).value()[0].scalar<float>(), 5);
}

TEST_F(SupervisorTest, AnInitOpThatLeavesVariablesWithoutAValueIsAnError) {
  CountModel m("");
  Supervisor supervisor(m.g, {.init_op = m.global_step.initializer()});
  const Status status = supervisor.PrepareOrWaitForSession().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_NE(status.message().find("without a value: count"), std::string::npos) << status;
}

TEST_F(SupervisorTest, AChiefWithoutInitOpInitFnAndCheckpointFails) {
  CountModel m("");
  Supervisor supervisor(m.g, {.init_op = Operation(), .local_init_op = Operation()});
  const Status status = supervisor.PrepareOrWaitForSession().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_NE(status.message().find("init_fn"), std::string::npos) << status;
}

TEST_F(SupervisorTest, LocalVariablesAreInitialisedInEveryTask) {
  TestCluster cluster(1, 2);
  const auto run = [&](int worker) {
    CountModel m;
    Variable local(m.g, {}, Constant(3.0), {.name = "local", .local = true});
    Supervisor supervisor(m.g, {.is_chief = worker == 0});
    auto session = supervisor.PrepareOrWaitForSession(cluster.worker_target(worker));
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ((*session)->Run({local}).value()[0].scalar<float>(), 3);
  };
  run(0);
  run(1);
}

TEST_F(SupervisorTest, TheChiefCanWaitForACheckpoint) {
  CountModel m("");
  Supervisor supervisor(m.g, {.logdir = dir_.path()});
  const Status status =
      supervisor.PrepareOrWaitForSession("", {.wait_for_checkpoint = true, .max_wait = milliseconds(100)}).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_NE(status.message().find("waiting for a checkpoint"), std::string::npos) << status;
}

TEST_F(SupervisorTest, AVariableOfAWorkerNeedsADevice) {
  CountModel m("");
  Supervisor supervisor(m.g, {.is_chief = false});
  const Status status = supervisor.PrepareOrWaitForSession().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_NE(status.message().find("'count' (supervisor_test.cc:"), std::string::npos) << status;
}

TEST_F(SupervisorTest, AChangeOfTheGraphIsAnErrorThatNamesTheLine) {
  CountModel m("");
  Supervisor supervisor(m.g);
  auto session = supervisor.PrepareOrWaitForSession().value();
  const int line = __LINE__ + 1;
  EXPECT_FALSE(Square(m.count).valid());
  const std::string message(session->Run({m.train}).status().message());
  EXPECT_NE(message.find(StrCat("supervisor_test.cc:", line)), std::string::npos) << message;
  EXPECT_NE(message.find("Supervisor (supervisor_test.cc:"), std::string::npos) << message;
}

TEST_F(SupervisorTest, AChangeOfTheGraphIsAnErrorOfItsThreadAloneAndOthersGoOn) {
  CountModel m("");
  Supervisor supervisor(m.g, {.logdir = dir_.path(), .save_model_every = milliseconds(1)});
  auto session = supervisor.PrepareOrWaitForSession().value();
  std::atomic<int> runs = 0;
  ASSERT_TRUE(supervisor
                  .Loop(milliseconds(0),
                        [&] {
                          ++runs;
                          return session->Run({m.train}).status();
                        })
                  .ok());
  while (runs < 3) std::this_thread::yield();
  const int line = __LINE__ + 1;
  EXPECT_FALSE(Square(m.count).valid());
  const Status refused = m.g.TakeStatus();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_NE(refused.message().find(StrCat("supervisor_test.cc:", line)), std::string::npos) << refused;
  const int before = runs;
  while (runs < before + 3) std::this_thread::yield();
  EXPECT_TRUE(supervisor.Stop().ok());
}

TEST_F(SupervisorTest, StopEndsLoopsAndQueueRunners) {
  Graph g;
  const FIFOQueue queue(g, {kFloat32}, {.shapes = {Shape()}, .capacity = 1, .name = "input"});
  const QueueRunner runner({queue.Enqueue({1.0f})});
  const Output size = queue.Size();
  Supervisor supervisor(g);
  auto session = supervisor.PrepareOrWaitForSession().value();
  ASSERT_TRUE(supervisor.StartQueueRunners(*session, {runner}).ok());
  while (session->Run({size}).value()[0].scalar<int32_t>() < 1) std::this_thread::yield();
  std::atomic<int> calls{0};
  ASSERT_TRUE(supervisor
                  .Loop(milliseconds(0),
                        [&] {
                          ++calls;
                          return OkStatus();
                        })
                  .ok());
  while (calls < 3) std::this_thread::yield();
  // The queue is full, so the runner is blocked.
  const Status stopped = supervisor.Stop();
  EXPECT_TRUE(stopped.ok()) << stopped;
  const int last = calls;
  EXPECT_TRUE(supervisor.ShouldStop());
  EXPECT_TRUE(absl::IsCancelled(session->Run({size}).status()));
  EXPECT_EQ(calls, last);
  EXPECT_TRUE(absl::IsFailedPrecondition(supervisor.StartQueueRunners(*session, {runner})));
}

TEST_F(SupervisorTest, TheFirstErrorOfALoopStopsTheSupervisorAndStopReturnsIt) {
  CountModel m("");
  Supervisor supervisor(m.g);
  EXPECT_TRUE(absl::IsFailedPrecondition(supervisor.Loop(milliseconds(1), [] { return OkStatus(); })));
  (void)supervisor.PrepareOrWaitForSession().value();
  ASSERT_TRUE(supervisor.Loop(milliseconds(1), [] { return DataLoss("the input is damaged"); }).ok());
  supervisor.WaitForStop();
  supervisor.RequestStop(Internal("later"));
  EXPECT_EQ(supervisor.Stop(), DataLoss("the input is damaged"));
  EXPECT_EQ(supervisor.Stop(), DataLoss("the input is damaged"));
}

TEST_F(SupervisorTest, ACheckpointThatCannotBeSavedStopsTheSupervisor) {
  CountModel m("");
  Supervisor supervisor(m.g, {.logdir = dir_.path()});
  ASSERT_TRUE(supervisor.PrepareOrWaitForSession("", {.start_standard_services = false}).ok());
  std::filesystem::remove_all(dir_.path());
  std::ofstream(dir_.path()) << "a file where the directory was";
  ASSERT_TRUE(supervisor.StartStandardServices().ok());
  supervisor.WaitForStop();
  const Status status = supervisor.Stop();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("cannot save a checkpoint"), std::string::npos) << status;
}

TEST_F(SupervisorTest, OnlyTheChiefStartsTheStandardServices) {
  TestCluster cluster(1, 1);
  CountModel m;
  Supervisor supervisor(m.g, {.is_chief = false});
  EXPECT_TRUE(absl::IsFailedPrecondition(supervisor.StartStandardServices()));
}

TEST_F(SupervisorTest, AManagedSessionReportsAFailedRun) {
  CountModel m("");
  const Output fed = Placeholder(m.g, kFloat32, {}, "fed");
  Supervisor supervisor(m.g);
  auto session = supervisor.ManagedSession().value();
  ASSERT_TRUE(session->Run({m.train}).ok());
  const Status status = session->Run({fed}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE(supervisor.ShouldStop());
  EXPECT_EQ(session->Close(), status);
}

TEST_F(SupervisorTest, InAManagedSessionTheEndOfTheInputIsNoError) {
  Graph g;
  const FIFOQueue queue(g, {kFloat32}, {.shapes = {Shape()}, .name = "input"});
  const Output next = queue.Dequeue()[0];
  const Operation close = queue.Close();
  Supervisor supervisor(g);
  auto session = supervisor.ManagedSession().value();
  ASSERT_TRUE(session->Run({close}).ok());
  const auto last = session->Run({next});
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_FALSE(last->at(0).is_valid());
  EXPECT_TRUE(supervisor.ShouldStop());
  EXPECT_TRUE(session->Close().ok());
}

// Runs one of `workers` replicas as the usual script for TensorFlow 1 does. The replicas train synchronously until the
// global step is `steps`. Sets `weight` to the value of the variable after this replica's last step.
Status SupervisedReplica(const TestCluster& cluster, int worker, int workers, int64_t steps, const std::string& logdir,
                         float* weight) {
  Graph g;
  const bool is_chief = worker == 0;
  auto device =
      g.Device(ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = StrCat("/job:worker/task:", worker)}));
  const Variable w(g, {}, Zeros(), {.name = "weight"});
  const Variable global_step = GetOrCreateGlobalStep(g);
  SyncReplicasOptimizer optimizer(std::make_shared<GradientDescentOptimizer>(1.0),
                                  {.replicas_to_aggregate = workers, .total_num_replicas = workers});
  TF_ASSIGN_OR_RETURN(auto grads, optimizer.ComputeGradients(-1.0f * w));
  auto train = optimizer.ApplyGradients(grads, {.global_step = global_step});
  Supervisor supervisor(g, {.is_chief = is_chief, .logdir = logdir, .global_step = global_step});
  TF_ASSIGN_OR_RETURN(auto session, supervisor.PrepareOrWaitForSession(cluster.worker_target(worker)));
  if (is_chief) {
    TF_RETURN_IF_ERROR(supervisor.StartQueueRunners(*session, {optimizer.chief_queue_runner()}));
    TF_RETURN_IF_ERROR(session->Run({optimizer.init_tokens_op()}).status());
  }
  while (!supervisor.ShouldStop()) {
    const auto results = session->Run({train, global_step});
    if (absl::IsOutOfRange(results.status())) break;  // the chief has stopped
    TF_RETURN_IF_ERROR(results.status());
    TF_ASSIGN_OR_RETURN(const auto now, session->Run({global_step, w}));
    *weight = now[1].scalar<float>();
    if (now[0].scalar<int64_t>() >= steps) supervisor.RequestStop();
  }
  return supervisor.Stop();
}

TEST_F(SupervisorTest, ReplicasTrainSynchronouslyAndContinueFromTheCheckpoint) {
  TestCluster cluster(1, 2);
  for (const int64_t steps : {10, 20}) {
    if (steps > 10) {
      // All tasks are started again, and the parameter server has lost its variables.
      for (const auto& [job, index] : {std::pair("ps", 0), std::pair("worker", 0), std::pair("worker", 1)}) {
        cluster.Stop(job, index);
        cluster.Start(job, index);
      }
    }
    float weight[2] = {};
    Status status;
    std::thread thread([&] { status = SupervisedReplica(cluster, 1, 2, steps, dir_.path(), &weight[1]); });
    const Status chief = SupervisedReplica(cluster, 0, 2, steps, dir_.path(), &weight[0]);
    thread.join();
    EXPECT_TRUE(chief.ok()) << chief;
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(weight[0], static_cast<float>(steps)) << "each step adds the mean of two gradients of -1";
    const std::string latest = LatestCheckpoint(dir_.path()).value();
    EXPECT_EQ(CheckpointReader::Open(latest).value()->GetTensor("weight")->scalar<float>(), weight[0]);
  }
}

}  // namespace
}  // namespace tensorbraid
