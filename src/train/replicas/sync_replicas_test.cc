// Tests training with several replicas, in a cluster within this process.
#include <gtest/gtest.h>

#include <thread>

#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// The graph of one worker: weight moves by -gradient, and the worker feeds its gradient. `aggregate` and `total` are
// the SyncReplicasOptions; if `aggregate` is 0, training is asynchronous. If `last_step` is 0, there is no last step.
// `num_tokens`: with how many tokens the chief begins.
struct Replica {
  Replica(const TestCluster& cluster, int worker, int aggregate, int total, int64_t last_step, int num_tokens = -1)
      : target(cluster.worker_target(worker)), is_chief(worker == 0) {
    auto device = g.Device(
        ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = StrCat("/job:worker/task:", worker)}));
    slope = Placeholder(g, kFloat32, {}, "slope");
    weight = Variable(g, {}, Zeros(), {.name = "weight"});
    global_step = GetOrCreateGlobalStep(g);
    std::shared_ptr<Optimizer> optimizer = std::make_shared<GradientDescentOptimizer>(1.0);
    if (last_step > 0) hooks.push_back(StopAtStep(last_step));
    if (aggregate > 0) {
      sync = std::make_shared<SyncReplicasOptimizer>(
          optimizer, SyncReplicasOptions{.replicas_to_aggregate = aggregate, .total_num_replicas = total});
      hooks.push_back(sync->MakeSessionRunHook(is_chief, num_tokens));
      optimizer = sync;
    }
    train = optimizer->Minimize(weight * slope, {.global_step = global_step});
  }
  Status Start() {
    TF_ASSIGN_OR_RETURN(session, MonitoredTrainingSession(g, {.master = target, .is_chief = is_chief, .hooks = hooks}));
    return OkStatus();
  }
  Status Step(float gradient) { return session->Run({train}, {{slope, Tensor::Scalar(gradient)}}).status(); }
  // Trains to the end and returns the status.
  Status Train(float gradient) {
    TF_RETURN_IF_ERROR(Start());
    while (!session->ShouldStop()) TF_RETURN_IF_ERROR(Step(gradient));
    return session->Close();
  }
  float Weight() { return session->session().Run({weight}).value()[0].scalar<float>(); }
  int64_t GlobalStep() { return session->session().Run({global_step}).value()[0].scalar<int64_t>(); }

  const std::string target;
  const bool is_chief;
  Graph g;
  Output slope;
  Variable weight, global_step;
  std::vector<std::shared_ptr<SessionRunHook>> hooks;
  std::shared_ptr<SyncReplicasOptimizer> sync;
  Operation train;
  std::unique_ptr<MonitoredSession> session;
};

TEST(AsyncTraining, NoUpdateIsLost) {
  TestCluster cluster(1, 2);
  Replica chief(cluster, 0, 0, 0, 0);
  Replica other(cluster, 1, 0, 0, 0);
  ASSERT_TRUE(chief.Start().ok());
  ASSERT_TRUE(other.Start().ok());
  constexpr int kSteps = 200;
  std::thread thread([&] {
    for (int i = 0; i < kSteps; ++i) EXPECT_TRUE(other.Step(-2).ok());
  });
  for (int i = 0; i < kSteps; ++i) EXPECT_TRUE(chief.Step(-1).ok());
  thread.join();
  EXPECT_EQ(chief.Weight(), 3 * kSteps);
  EXPECT_EQ(chief.GlobalStep(), 2 * kSteps);
}

TEST(AsyncTraining, AWorkerWaitsForTheChief) {
  TestCluster cluster(1, 2);
  Replica chief(cluster, 0, 0, 0, 50);
  Replica other(cluster, 1, 0, 0, 50);
  Status status;
  std::thread thread([&] { status = other.Train(-1); });
  EXPECT_TRUE(chief.Train(-1).ok());
  thread.join();
  EXPECT_TRUE(status.ok()) << status;
}

TEST(AsyncTraining, AWaitForTheChiefTimesOutAndNamesWhatIsMissing) {
  TestCluster cluster(1, 1);
  // On a busy machine, a short wait may end before the worker has asked the parameter server.
  Status late;
  for (std::chrono::milliseconds wait(300); wait < std::chrono::minutes(1); wait *= 3) {
    Replica other(cluster, 0, 0, 0, 0);
    late = MonitoredTrainingSession(other.g, {.master = other.target, .is_chief = false, .max_wait = wait}).status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
    if (late.message().find("weight") != std::string::npos) break;
  }
  EXPECT_NE(late.message().find("weight"), std::string::npos) << late;
}

TEST(AsyncTraining, AChiefThatComesBackResumes) {
  TestCluster cluster(1, 1);
  {
    Replica chief(cluster, 0, 0, 0, 0);
    ASSERT_TRUE(chief.Start().ok());
    ASSERT_TRUE(chief.Step(-5).ok());
  }
  Replica again(cluster, 0, 0, 0, 0);
  ASSERT_TRUE(again.Start().ok());
  EXPECT_EQ(again.Weight(), 5);
  EXPECT_EQ(again.GlobalStep(), 1);
}

TEST(AsyncTraining, AWorkerThatStartsAfterTheLastStepAddsNoStep) {
  TestCluster cluster(1, 2);
  Replica chief(cluster, 0, 0, 0, 3);
  ASSERT_TRUE(chief.Train(-1).ok());
  Replica late(cluster, 1, 0, 0, 3);
  ASSERT_TRUE(late.Start().ok());
  EXPECT_TRUE(late.session->ShouldStop());
}

TEST(SyncTraining, AStepAppliesTheMeanOfAllGradients) {
  TestCluster cluster(2, 2);
  Replica chief(cluster, 0, 2, 2, 20);
  Replica other(cluster, 1, 2, 2, 20);
  Status status;
  std::thread thread([&] { status = other.Train(-4); });
  ASSERT_TRUE(chief.Start().ok());
  while (!chief.session->ShouldStop()) ASSERT_TRUE(chief.Step(-4).ok());
  EXPECT_EQ(chief.GlobalStep(), 20);
  EXPECT_EQ(chief.Weight(), 80) << "20 steps of the mean of two gradients of -4";
  EXPECT_TRUE(chief.session->Close().ok());
  thread.join();
  EXPECT_TRUE(status.ok()) << status;
}

TEST(SyncTraining, WhenTheChiefStopsTheOthersStopWithoutAnError) {
  TestCluster cluster(1, 3);
  Replica chief(cluster, 0, 3, 3, 0);
  Replica first(cluster, 1, 3, 3, 0);
  Replica second(cluster, 2, 3, 3, 0);
  ASSERT_TRUE(chief.Start().ok());
  Status first_status, second_status;
  std::thread first_thread([&] { first_status = first.Train(-1); });
  std::thread second_thread([&] { second_status = second.Train(-1); });
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(chief.Step(-1).ok());
  EXPECT_TRUE(chief.session->Close().ok());
  first_thread.join();
  second_thread.join();
  EXPECT_TRUE(first_status.ok()) << first_status;
  EXPECT_TRUE(second_status.ok()) << second_status;
}

TEST(SyncTraining, ContinuesWithoutASpareReplica) {
  TestCluster cluster(1, 3);
  Replica chief(cluster, 0, 2, 3, 30);
  Replica other(cluster, 1, 2, 3, 30);
  Replica stopped(cluster, 2, 2, 3, 30);
  ASSERT_TRUE(chief.Start().ok());
  ASSERT_TRUE(stopped.Start().ok());  // makes no step before the end of training
  Status status;
  std::thread thread([&] { status = other.Train(-1); });
  while (!chief.session->ShouldStop()) ASSERT_TRUE(chief.Step(-1).ok());
  EXPECT_EQ(chief.GlobalStep(), 30);
  EXPECT_TRUE(chief.session->Close().ok());
  thread.join();
  EXPECT_TRUE(status.ok()) << status;
  // The stopped replica continues after the end of training.
  while (!stopped.session->ShouldStop()) ASSERT_TRUE(stopped.Step(-1).ok());
  EXPECT_GT(stopped.sync->dropped_gradients(), 0);
  EXPECT_TRUE(stopped.session->Close().ok());
}

TEST(SyncTraining, AWorkerCountsOnlyItsOwnDroppedGradients) {
  TestCluster cluster(2, 2);
  Replica chief(cluster, 0, 1, 2, 0);
  Replica late(cluster, 1, 1, 2, 0);
  ASSERT_TRUE(chief.Start().ok());
  ASSERT_TRUE(late.Start().ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(chief.Step(-1).ok());
  const int64_t dropped = chief.sync->dropped_gradients();
  ASSERT_TRUE(late.Step(-1).ok());  // of step 0, which has passed
  EXPECT_EQ(late.sync->dropped_gradients(), 1);
  EXPECT_EQ(chief.sync->dropped_gradients(), dropped);
}

TEST(SyncTraining, AChiefThatComesBackWakesTheWorkersThatWait) {
  TestCluster cluster(1, 2);
  Replica other(cluster, 1, 2, 2, 20);
  Status status;
  std::thread thread([&] { status = other.Train(-1); });
  {
    // This chief has neither StopAtStep nor the hook: it initialises, and stops before it enqueues a token.
    Replica chief(cluster, 0, 0, 0, 0);
    ASSERT_TRUE(chief.Start().ok());
  }
  Replica again(cluster, 0, 2, 2, 20);
  EXPECT_TRUE(again.Train(-1).ok());
  thread.join();
  EXPECT_TRUE(status.ok()) << status;
}

TEST(SyncTraining, WithoutFirstTokensAStepEndsAfterItsUpdate) {
  TestCluster cluster(1, 1);
  Replica chief(cluster, 0, 1, 1, 0, /*num_tokens=*/0);
  ASSERT_TRUE(chief.Start().ok());
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(chief.Step(-1).ok());
    ASSERT_EQ(chief.GlobalStep(), i);
    ASSERT_EQ(chief.Weight(), i);
  }
  EXPECT_EQ(chief.sync->dropped_gradients(), 0);
}

TEST(SyncTraining, AChiefThatTakesOverMakesTokensForWorkersThatWait) {
  TestCluster cluster(1, 2);
  Replica chief(cluster, 0, 2, 2, 0, /*num_tokens=*/0);
  Replica other(cluster, 1, 2, 2, 20);
  ASSERT_TRUE(chief.Start().ok());
  ASSERT_TRUE(other.Start().ok());  // Its first gradient is for this chief, and so is worthless for the next one.
  Status status;
  std::thread thread([&] {
    while (status.ok() && !other.session->ShouldStop()) status = other.Step(-1);
  });
  Replica again(cluster, 0, 2, 2, 20, /*num_tokens=*/0);
  EXPECT_TRUE(again.Train(-1).ok());
  thread.join();
  EXPECT_TRUE(status.ok()) << status;
}

TEST(SyncTraining, TheFirstStepNeedsTokensForGradientsThatComeFromTheSameWorker) {
  TestCluster cluster(1, 1);
  Replica few(cluster, 0, 3, 1, 0, /*num_tokens=*/1);
  const Status status = few.Start();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find("1 given, 2 needed"), std::string::npos) << status;
  Replica enough(cluster, 0, 3, 1, 1, /*num_tokens=*/2);
  EXPECT_EQ(enough.Train(-1), OkStatus());
}

// The chief was stopped, another process took its place, and the first process still has a session.
TEST(SyncTraining, TokensAndGradientsOfAReplacedChiefAreWorthless) {
  TestCluster cluster(2, 2);
  Replica chief(cluster, 0, 2, 2, 0);
  Replica other(cluster, 1, 2, 2, 0);
  ASSERT_TRUE(chief.Start().ok());
  ASSERT_TRUE(other.Start().ok());
  ASSERT_TRUE(other.Step(-1).ok());  // Its gradient waits for the chief's gradient. One token is left.
  Replica later(cluster, 0, 2, 2, 0);
  ASSERT_TRUE(later.Start().ok());
  ASSERT_TRUE(other.Step(-1).ok());  // gets the token that is left
  ASSERT_TRUE(other.Step(-1).ok());  // gets a token of the later chief
  EXPECT_EQ(later.GlobalStep(), 0);
  EXPECT_EQ(other.sync->dropped_gradients(), 2);
  ASSERT_TRUE(other.Step(-3).ok());
  ASSERT_TRUE(later.Step(-5).ok());  // Its token comes after the update.
  EXPECT_EQ(later.GlobalStep(), 1);
  EXPECT_EQ(later.Weight(), 4) << "the mean of -3 and -5";
  EXPECT_EQ(other.sync->dropped_gradients(), 2);
  EXPECT_EQ(later.sync->dropped_gradients(), 0);
}

TEST(SyncTraining, ASecondTrainingRunOnTheSameServersGetsNewTokens) {
  TestCluster cluster(1, 1);
  Replica first(cluster, 0, 1, 1, 5);
  ASSERT_TRUE(first.Train(-1).ok());
  Replica second(cluster, 0, 1, 1, 10);
  ASSERT_TRUE(second.Start().ok());
  while (!second.session->ShouldStop()) ASSERT_TRUE(second.Step(-1).ok());
  EXPECT_EQ(second.GlobalStep(), 10);
  EXPECT_TRUE(second.session->Close().ok());
}

TEST(SyncTraining, TheChiefUpdatesAveragesInEachStep) {
  Graph g;
  const Variable w(g, {}, Zeros(), {.name = "w"});
  const Variable step = GetOrCreateGlobalStep(g);
  ExponentialMovingAverage averages(0.5f);
  Variable updates;
  SyncReplicasOptimizer sync(std::make_shared<GradientDescentOptimizer>(1.0),
                             {.replicas_to_aggregate = 1, .after_update = [&] {
                                updates = Variable(g, {}, Zeros(), {.name = "updates", .trainable = false});
                                const std::vector<Operation> both = {averages.Apply({w}), updates.AssignAdd(1.0f)};
                                return Group(g, both, "both");
                              }});
  const Operation train = sync.Minimize(-1.0f * w, {.global_step = step});
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(averages.Average(w).name(), "w/ExponentialMovingAverage");
  auto session = MonitoredTrainingSession(g, {.hooks = {sync.MakeSessionRunHook(/*is_chief=*/true)}});
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE((*session)->Run({train}).ok());
  // The token of the fifth step comes from the chief's fourth run, which may not have updated the averages yet: it
  // gives out tokens before that. Its third run has ended.
  const float updated = (*session)->session().Run({updates}).value()[0].scalar<float>();
  EXPECT_TRUE(updated >= 3 && updated <= 5) << updated;
  EXPECT_GT((*session)->session().Run({averages.Average(w)}).value()[0].scalar<float>(), 2);
}

TEST(SyncTraining, AFunctionAfterTheUpdateThatGivesNoOperationIsAnError) {
  Graph g;
  const Variable w(g, {}, Zeros(), {.name = "w"});
  SyncReplicasOptimizer sync(std::make_shared<GradientDescentOptimizer>(1.0),
                             {.replicas_to_aggregate = 1, .after_update = [] { return Operation(); }});
  sync.Minimize(-1.0f * w, {.global_step = GetOrCreateGlobalStep(g)});
  EXPECT_NE(g.status().message().find("after_update has returned no operation"), absl::string_view::npos) << g.status();
}

TEST(SyncTraining, NeedsAGlobalStep) {
  Graph g;
  Variable w(g, {}, Zeros());
  SyncReplicasOptimizer sync(std::make_shared<GradientDescentOptimizer>(1.0), {.replicas_to_aggregate = 1});
  sync.Minimize(Square(w));
  EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
}

TEST(SyncTraining, TheHookFailsIfTheOptimizerWasNotUsed) {
  Graph g;
  Variable w(g, {}, Zeros());
  SyncReplicasOptimizer sync(std::make_shared<GradientDescentOptimizer>(1.0), {.replicas_to_aggregate = 1});
  const auto session = MonitoredTrainingSession(g, {.hooks = {sync.MakeSessionRunHook(/*is_chief=*/true)}});
  EXPECT_TRUE(absl::IsFailedPrecondition(session.status())) << session.status();
}

TEST(SyncTraining, TwoOptimizersNeedAGlobalStepEach) {
  Graph g;
  const Variable a(g, {}, Ones(), {.name = "a"});
  const Variable b(g, {}, Ones(), {.name = "b"});
  const Variable step = GetOrCreateGlobalStep(g);
  const auto descent = std::make_shared<GradientDescentOptimizer>(1.0);
  SyncReplicasOptimizer(descent, {}).Minimize(a * 2.0f, {.global_step = step, .variables = {a}});
  ASSERT_TRUE(g.status().ok()) << g.status();
  SyncReplicasOptimizer(descent, {}).Minimize(b * 2.0f, {.global_step = step, .variables = {b}});
  EXPECT_NE(g.status().message().find("another SyncReplicasOptimizer uses the global step 'global_step'"),
            absl::string_view::npos)
      << g.status();
}

TEST(SyncTraining, TwoOptimizersWithTheirOwnGlobalStepsTrainAlternately) {
  TestCluster cluster(1, 2);
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 2; ++worker) {
    workers.emplace_back([&cluster, worker] {
      Graph g;
      auto device = g.Device(
          ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = StrCat("/job:worker/task:", worker)}));
      const Variable a(g, {}, Zeros(), {.name = "a"});
      const Variable b(g, {}, Zeros(), {.name = "b"});
      const Variable step = GetOrCreateGlobalStep(g);
      const Variable other_step(g, {}, Zeros(), {.name = "other_step", .dtype = kInt64, .trainable = false});
      const auto sync = [&] {
        return std::make_shared<SyncReplicasOptimizer>(
            std::make_shared<GradientDescentOptimizer>(1.0),
            SyncReplicasOptions{.replicas_to_aggregate = 2, .total_num_replicas = 2});
      };
      const auto first = sync(), second = sync();
      // Both losses also depend on the variable that the other optimizer trains.
      const Operation train_a = first->Minimize(a + b, {.global_step = step, .variables = {a}});
      const Operation train_b = second->Minimize(a + b, {.global_step = other_step, .variables = {b}});
      auto session = MonitoredTrainingSession(g, {.master = cluster.worker_target(worker),
                                                  .is_chief = worker == 0,
                                                  .hooks = {StopAtStep(20), first->MakeSessionRunHook(worker == 0),
                                                            second->MakeSessionRunHook(worker == 0)}});
      ASSERT_TRUE(session.ok()) << session.status();
      while (!(*session)->ShouldStop()) {
        for (const Operation& train : {train_a, train_b}) {
          const Status status = (*session)->Run({train}).status();
          ASSERT_TRUE(status.ok()) << status;
        }
      }
      if (worker == 0) {
        EXPECT_EQ((*session)->session().Run({a}).value()[0].scalar<float>(), -20);
      }
      EXPECT_TRUE((*session)->Close().ok());
    });
  }
  for (std::thread& worker : workers) worker.join();
}

TEST(SyncTraining, TwoOptimizersInOneRunAreRefused) {
  TestCluster cluster(1, 1);
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = "/job:worker/task:0"}));
  const Variable a(g, {}, Zeros(), {.name = "a"});
  const Variable other_step(g, {}, Zeros(), {.name = "other_step", .dtype = kInt64, .trainable = false});
  std::vector<std::shared_ptr<SessionRunHook>> hooks;
  std::vector<Operation> train;
  for (const Variable& step : {GetOrCreateGlobalStep(g), other_step}) {
    SyncReplicasOptimizer optimizer(std::make_shared<GradientDescentOptimizer>(1.0), {});
    train.push_back(optimizer.Minimize(a * 1.0, {.global_step = step}));
    hooks.push_back(optimizer.MakeSessionRunHook(/*is_chief=*/true));
  }
  auto session = MonitoredTrainingSession(g, {.master = cluster.worker_target(0), .is_chief = true, .hooks = hooks});
  ASSERT_TRUE(session.ok()) << session.status();
  for (const Operation& op : train) EXPECT_TRUE((*session)->Run({op}).ok());
  const Status status = (*session)->Run({train[0], train[1]}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_NE(status.message().find("wait for each other"), absl::string_view::npos) << status;
}

TEST(SyncTraining, GroupsOfVariablesTrainInOneSynchronousStep) {
  TestCluster cluster(1, 1);
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = "/job:worker/task:0"}));
  const Variable a(g, {}, Zeros(), {.name = "a"});
  const Variable b(g, {}, Zeros(), {.name = "b"});
  const auto groups = std::make_shared<GroupedOptimizer>(
      std::vector<OptimizerGroup>{{std::make_shared<GradientDescentOptimizer>(1.0), {a}}},
      std::make_shared<GradientDescentOptimizer>(0.5));
  SyncReplicasOptimizer sync(groups, {});
  const Operation train = sync.Minimize(a + b, {.global_step = GetOrCreateGlobalStep(g)});
  auto session = MonitoredTrainingSession(
      g, {.master = cluster.worker_target(0), .hooks = {StopAtStep(4), sync.MakeSessionRunHook(/*is_chief=*/true)}});
  ASSERT_TRUE(session.ok()) << session.status();
  while (!(*session)->ShouldStop()) ASSERT_TRUE((*session)->Run({train}).ok());
  const auto values = (*session)->Run({a, b}).value();
  EXPECT_EQ(values[0].scalar<float>(), -4);
  EXPECT_EQ(values[1].scalar<float>(), -2);
}

}  // namespace
}  // namespace tensorbraid
