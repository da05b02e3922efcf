// Tests asynchronous training under a StalenessPolicy, in a cluster within this process. A replica is held between its
// read of the variables and its gradient for as long as the test wants, so ages are exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using NewOptimizer = std::function<std::shared_ptr<Optimizer>()>;

std::shared_ptr<Optimizer> Descent() { return std::make_shared<GradientDescentOptimizer>(1.0); }

// The graph of one worker. The gradient for `weight` is the value that the worker feeds, and the gradient for `other`
// is ten times this value. If there are two parameter servers, the two variables are on different ones. With learning
// rate 1, each variable falls by its gradient. A step waits for `feed` between its read and its gradient. A step that
// also runs `has_read` lets the test wait for its read with `wait_for_read`.
struct AsyncReplica {
  AsyncReplica(const TestCluster& cluster, int worker, const StalenessPolicy& policy,
               const NewOptimizer& make = Descent, int64_t last_step = 0)
      : target(cluster.worker_target(worker)), is_chief(worker == 0) {
    auto device = g.Device(
        ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = StrCat("/job:worker/task:", worker)}));
    weight = Variable(g, {}, Zeros(), {.name = "weight"});
    other = Variable(g, {}, Zeros(), {.name = "other"});
    global_step = GetOrCreateGlobalStep(g);
    slopes = FIFOQueue(g, {kFloat32}, {.shapes = {Shape()}, .name = "slopes"});
    reads = FIFOQueue(g, {kFloat32}, {.shapes = {Shape()}, .name = "reads"});
    slope = Placeholder(g, kFloat32, {}, "slope");
    feed = slopes.Enqueue({slope});
    has_read = reads.Enqueue({weight + other});
    wait_for_read = reads.Dequeue()[0];
    const Output given = slopes.Dequeue()[0];
    wrapped = make();
    async =
        std::make_shared<AsyncReplicasOptimizer>(wrapped, AsyncReplicasOptions{.staleness = policy, .replica = worker});
    if (last_step > 0) hooks.push_back(StopAtStep(last_step));
    hooks.push_back(async->MakeSessionRunHook());
    train = async->Minimize((weight + 10 * other) * given, {.global_step = global_step});
  }
  Status Start() {
    TF_ASSIGN_OR_RETURN(session, MonitoredTrainingSession(g, {.master = target, .is_chief = is_chief, .hooks = hooks}));
    return OkStatus();
  }
  // A step without a delay. Returns the outcomes.
  std::vector<int64_t> Step(float gradient) {
    EXPECT_TRUE(session->session().Run({feed}, {{slope, Tensor::Scalar(gradient)}}).ok());
    auto outcomes = session->Run({async->outcomes(), train});
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    if (!outcomes.ok() || !(*outcomes)[0].is_valid()) return {};
    const auto values = (*outcomes)[0].data<int64_t>();
    return {values.begin(), values.end()};
  }
  // A step that has read the variables before `meanwhile` and computes its gradient after it.
  std::vector<int64_t> SlowStep(float gradient, const std::function<void()>& meanwhile) {
    StatusOr<std::vector<Tensor>> outcomes = std::vector<Tensor>();
    std::thread step([&] { outcomes = session->Run({async->outcomes(), train, has_read}); });
    EXPECT_TRUE(session->session().Run({wait_for_read}).ok());
    meanwhile();
    EXPECT_TRUE(session->session().Run({feed}, {{slope, Tensor::Scalar(gradient)}}).ok());
    step.join();
    EXPECT_TRUE(outcomes.ok()) << outcomes.status();
    if (!outcomes.ok()) return {};
    const auto values = (*outcomes)[0].data<int64_t>();
    return {values.begin(), values.end()};
  }
  float Value(const Variable& v) { return session->session().Run({v}).value()[0].scalar<float>(); }
  float Weight() { return Value(weight); }
  int64_t GlobalStep() { return session->session().Run({global_step}).value()[0].scalar<int64_t>(); }

  const std::string target;
  const bool is_chief;
  Graph g;
  Variable weight, other, global_step;
  FIFOQueue slopes, reads;
  Output slope, wait_for_read;
  Operation feed, has_read, train;
  std::shared_ptr<Optimizer> wrapped;
  std::shared_ptr<AsyncReplicasOptimizer> async;
  std::vector<std::shared_ptr<SessionRunHook>> hooks;
  std::unique_ptr<MonitoredSession> session;
};

// Two replicas on two parameter servers. The second replica is slow: between its read of the variables and its gradient
// of -8, the first replica makes `steps` steps with gradient -1.
struct SlowReplica {
  explicit SlowReplica(const StalenessPolicy& policy, int steps = 3, const NewOptimizer& make = Descent)
      : cluster(2, 2), fast(cluster, 0, policy, make), slow(cluster, 1, policy, make) {
    EXPECT_TRUE(fast.Start().ok());
    EXPECT_TRUE(slow.Start().ok());
    outcomes = slow.SlowStep(-8, [&] {
      for (int i = 0; i < steps; ++i) EXPECT_THAT(fast.Step(-1), ElementsAre(0, 0));
    });
  }
  TestCluster cluster;
  AsyncReplica fast, slow;
  std::vector<int64_t> outcomes;
};

TEST(AsyncReplicas, TheDefaultPolicyAppliesStaleGradientsAndCountsTheirAges) {
  SlowReplica r({});
  EXPECT_THAT(r.outcomes, ElementsAre(3, 3));
  EXPECT_EQ(r.slow.Weight(), 3 + 8);
  EXPECT_EQ(r.slow.Value(r.slow.other), 30 + 80);
  const StalenessCounts counts = r.slow.async->counts();
  EXPECT_EQ(counts.pushes, 1);
  EXPECT_EQ(counts.applied, 2);
  EXPECT_EQ(counts.scaled + counts.dropped, 0);
  EXPECT_EQ(counts.max_age, 3);
  EXPECT_EQ(counts.mean_age(), 3);
}

TEST(AsyncReplicas, CountsStepsOfOperationsThatDependOnTheTrainingOperation) {
  for (const bool batches : {false, true}) {
    const TestCluster cluster(1, 1);
    StalenessPolicy policy;
    if (batches) policy.batches_per_push = {{0, 2}};
    AsyncReplica r(cluster, 0, policy, Descent, /*last_step=*/3);
    const Operation all = Group(r.g, {r.train}, "all");
    ASSERT_TRUE(r.Start().ok());
    int runs = 0;
    for (; !r.session->ShouldStop() && runs < 10; ++runs) {
      ASSERT_TRUE(r.session->session().Run({r.feed}, {{r.slope, Tensor::Scalar(1.0f)}}).ok());
      const Status status = r.session->Run({all}).status();
      ASSERT_TRUE(status.ok()) << status;
    }
    EXPECT_EQ(runs, batches ? 6 : 3);  // with `batches`, two for each of three pushes
    EXPECT_EQ(r.async->counts().pushes, 3);
  }
}

TEST(AsyncReplicas, DropsGradientsThatAreTooOldAndTellsTheWorkerThatPushedThem) {
  SlowReplica r({.max_age = 2});
  EXPECT_THAT(r.outcomes, ElementsAre(-4, -4)) << "-1 minus an age of 3";
  EXPECT_EQ(r.slow.Weight(), 3);
  EXPECT_EQ(r.slow.Value(r.slow.other), 30);
  EXPECT_EQ(r.slow.async->counts().dropped, 2);
  EXPECT_EQ(r.fast.async->counts().dropped, 0);
  EXPECT_EQ(r.fast.async->counts().applied, 6);
  EXPECT_EQ(r.slow.GlobalStep(), 4) << "each push, also a dropped one, must increase the global step";
  EXPECT_THAT(r.slow.Step(-1), ElementsAre(0, 0)) << "a dropped gradient makes no other one older";
}

TEST(AsyncReplicas, AppliesAGradientWhoseAgeIsExactlyMaxAge) {
  SlowReplica r({.max_age = 3});
  EXPECT_THAT(r.outcomes, ElementsAre(3, 3));
  EXPECT_EQ(r.slow.Weight(), 3 + 8);
}

TEST(AsyncReplicas, ScalesAGradientByItsAge) {
  SlowReplica r({.gradient_decay = 1});
  EXPECT_EQ(r.slow.Weight(), 3 + 2) << "8 / (1 + 3)";
  EXPECT_EQ(r.slow.Value(r.slow.other), 30 + 20);
  EXPECT_EQ(r.slow.async->counts().scaled, 2);
  EXPECT_EQ(r.fast.async->counts().scaled, 0);
}

TEST(AsyncReplicas, LowersTheLearningRateInsteadOfTheGradient) {
  const auto momentum = [] { return std::make_shared<MomentumOptimizer>(1.0, 0.0); };
  SlowReplica lower({.rate_decay = 1}, 3, momentum);
  EXPECT_EQ(lower.slow.Weight(), 3 + 2);
  EXPECT_EQ(lower.slow.Value(lower.slow.async->GetSlot(lower.slow.weight, "momentum")), -8);
  SlowReplica scaled({.gradient_decay = 1}, 3, momentum);
  EXPECT_EQ(scaled.slow.Weight(), 3 + 2);
  EXPECT_EQ(scaled.slow.Value(scaled.slow.async->GetSlot(scaled.slow.weight, "momentum")), -2);
}

TEST(AsyncReplicas, CompensatesADelayWithTheValueThatTheReplicaRead) {
  SlowReplica r({.delay_compensation = 0.5});
  EXPECT_EQ(r.slow.Weight(), 3 + (8 - 0.5 * 64 * (3 - 0))) << "-8 + 0.5 * 8² * (present value - value read)";
  EXPECT_EQ(r.slow.async->counts().applied, 2);
}

TEST(AsyncReplicas, EachVariableHasItsOwnAge) {
  // The first replica also trains `weight` alone.
  TestCluster cluster(2, 2);
  AsyncReplica fast(cluster, 0, {}), slow(cluster, 1, {.max_age = 2});
  auto only_weight = AsyncReplicasOptimizer(Descent(), {})
                         .Minimize(fast.weight * -1.0, {.global_step = fast.global_step, .variables = {fast.weight}});
  ASSERT_TRUE(fast.Start().ok());
  ASSERT_TRUE(slow.Start().ok());
  EXPECT_THAT(slow.SlowStep(-8,
                            [&] {
                              fast.Step(-1);
                              for (int i = 0; i < 2; ++i) EXPECT_TRUE(fast.session->session().Run({only_weight}).ok());
                            }),
              ElementsAre(-4, 1));
  EXPECT_EQ(slow.Weight(), 1 + 2);
  EXPECT_EQ(slow.Value(slow.other), 10 + 80);
}

TEST(AsyncReplicas, SeveralBatchesMakeOnePushOfTheirMean) {
  TestCluster cluster(2, 1);
  AsyncReplica r(cluster, 0, {.batches_per_push = {{0, 3}}});
  ASSERT_TRUE(r.Start().ok());
  EXPECT_TRUE(r.Step(-1).empty());
  EXPECT_TRUE(r.Step(-2).empty());
  EXPECT_EQ(r.Weight(), 0);
  EXPECT_EQ(r.GlobalStep(), 0);
  EXPECT_THAT(r.Step(-6), ElementsAre(0, 0));
  EXPECT_EQ(r.Weight(), 3);
  EXPECT_EQ(r.Value(r.other), 30);
  EXPECT_EQ(r.GlobalStep(), 1);
  EXPECT_EQ(r.async->counts().pushes, 1);
  EXPECT_EQ(r.async->counts().applied, 2);
  for (int i = 0; i < 3; ++i) r.Step(-5);
  EXPECT_EQ(r.Weight(), 3 + 5);
}

TEST(AsyncReplicas, TheAgeOfAPushIsTheAgeOfItsFirstBatch) {
  TestCluster cluster(2, 2);
  AsyncReplica fast(cluster, 0, {}), slow(cluster, 1, {.max_age = 2, .batches_per_push = {{0, 2}}});
  ASSERT_TRUE(fast.Start().ok());
  ASSERT_TRUE(slow.Start().ok());
  slow.Step(-4);
  for (int i = 0; i < 3; ++i) fast.Step(-1);
  EXPECT_THAT(slow.Step(-4), ElementsAre(-4, -4));
  EXPECT_TRUE(slow.Step(-4).empty());
  EXPECT_THAT(slow.Step(-4), ElementsAre(0, 0));
  EXPECT_EQ(slow.Weight(), 3 + 4);
}

TEST(AsyncReplicas, TheNumberOfBatchesFollowsTheGlobalStep) {
  TestCluster cluster(1, 1);
  AsyncReplica r(cluster, 0, {.batches_per_push = {{0, 1}, {2, 2}}});
  ASSERT_TRUE(r.Start().ok());
  EXPECT_FALSE(r.Step(-1).empty());
  EXPECT_FALSE(r.Step(-1).empty());
  EXPECT_TRUE(r.Step(-1).empty());
  EXPECT_FALSE(r.Step(-1).empty());
  EXPECT_EQ(r.GlobalStep(), 3);
}

TEST(AsyncReplicas, AReplicaWaitsForOneThatIsTooFarBehind) {
  TestCluster cluster(1, 2);
  AsyncReplica fast(cluster, 0, {.max_lead = 1}), slow(cluster, 1, {.max_lead = 1});
  ASSERT_TRUE(fast.Start().ok());
  ASSERT_TRUE(slow.Start().ok());
  fast.Step(-1);
  std::atomic<bool> done = false;
  std::thread ahead([&] {
    fast.Step(-1);
    done = true;
  });
  // The step has been applied when the replica begins to wait.
  while (slow.Weight() < 2) std::this_thread::yield();
  EXPECT_FALSE(done);
  slow.Step(-1);
  ahead.join();
  EXPECT_EQ(fast.Weight(), 3);
}

TEST(AsyncReplicas, AReplicaThatEndsHoldsNobodyBack) {
  TestCluster cluster(1, 2);
  AsyncReplica chief(cluster, 0, {.max_lead = 0}, Descent, /*last_step=*/20), other(cluster, 1, {.max_lead = 0});
  ASSERT_TRUE(chief.Start().ok());
  ASSERT_TRUE(other.Start().ok());
  std::thread short_training([&] {
    for (int i = 0; i < 3; ++i) other.Step(-1);
    EXPECT_TRUE(other.session->Close().ok());
  });
  while (!chief.session->ShouldStop()) chief.Step(-1);
  short_training.join();
  EXPECT_EQ(chief.Weight(), 20);
  EXPECT_TRUE(chief.session->Close().ok());
}

TEST(AsyncReplicas, TheOthersJoinWhenTheFirstReplicaHasWarmedUp) {
  TestCluster cluster(1, 2);
  const StalenessPolicy policy = {.max_lead = 2, .warm_up_steps = 10};
  AsyncReplica chief(cluster, 0, policy), other(cluster, 1, policy);
  ASSERT_TRUE(chief.Start().ok());
  int64_t joined_at = -1;
  std::thread joins([&] {
    EXPECT_TRUE(other.Start().ok());
    joined_at = other.GlobalStep();
    EXPECT_THAT(other.Step(-1), ElementsAre(0, 0));
  });
  for (int i = 0; i < 10; ++i) chief.Step(-1);
  joins.join();
  EXPECT_EQ(joined_at, 10);
  EXPECT_EQ(other.Weight(), 11);
}

// The graph of one worker, with a table. Each step looks up row 0 twice and row 2 once. Each lookup has gradient 1. A
// step waits for `open` between its lookups and its gradient.
struct TableReplica {
  TableReplica(const TestCluster& cluster, int worker, const StalenessPolicy& policy, const NewOptimizer& make) {
    auto device = g.Device(
        ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = StrCat("/job:worker/task:", worker)}));
    table = Variable(g, {4, 2}, Zeros(), {.name = "table"});
    auto global_step = GetOrCreateGlobalStep(g);
    gate = FIFOQueue(g, {kFloat32}, {.shapes = {Shape()}, .name = "gate"});
    open = gate.Enqueue({1.0f});
    reads = FIFOQueue(g, {kFloat32}, {.shapes = {Shape()}, .name = "reads"});
    const Output rows = Gather(table, Tensor::Of<int64_t>({3}, {0, 2, 0}));
    has_read = reads.Enqueue({ReduceSum(rows)});
    wait_for_read = reads.Dequeue()[0];
    async =
        std::make_shared<AsyncReplicasOptimizer>(make(), AsyncReplicasOptions{.staleness = policy, .replica = worker});
    train = async->Minimize(ReduceSum(rows * gate.Dequeue()[0]), {.global_step = global_step});
    init = GlobalVariablesInitializer(g);
    locals = LocalVariablesInitializer(g);
    EXPECT_TRUE(g.status().ok()) << g.status();
    session = Session::Create(g, {.target = cluster.worker_target(worker)}).value();
  }
  void Step() {
    EXPECT_TRUE(session->Run({open}).ok());
    const auto status = session->Run({train}).status();
    EXPECT_TRUE(status.ok()) << status;
  }
  int64_t SlowStep(const std::function<void()>& meanwhile) {
    int64_t outcome = 0;
    std::thread step([&] {
      outcome = session->Run({async->outcomes(), train, has_read}).value()[0].data<int64_t>()[0];
    });
    EXPECT_TRUE(session->Run({wait_for_read}).ok());
    meanwhile();
    EXPECT_TRUE(session->Run({open}).ok());
    step.join();
    return outcome;
  }
  std::vector<float> Values(const Variable& v) {
    const Tensor t = session->Run({v}).value()[0];
    return {t.data<float>().begin(), t.data<float>().end()};
  }
  Graph g;
  Variable table;
  FIFOQueue gate, reads;
  Operation open, has_read, train, init, locals;
  Output wait_for_read;
  std::shared_ptr<AsyncReplicasOptimizer> async;
  std::unique_ptr<Session> session;
};

TEST(AsyncReplicasOnRows, ScalesSlices) {
  TestCluster cluster(1, 2);
  TableReplica fast(cluster, 0, {.gradient_decay = 1}, Descent), slow(cluster, 1, {.gradient_decay = 1}, Descent);
  ASSERT_TRUE(fast.session->Run({fast.init}).ok());
  EXPECT_EQ(slow.SlowStep([&] { fast.Step(); }), 1);
  // Row 0 has changed by -2, and by -2 / (1 + 1) because of the age 1. Row 2 has changed by half as much.
  EXPECT_THAT(slow.Values(slow.table), ElementsAre(-3, -3, 0, 0, -1.5, -1.5, 0, 0));
}

TEST(AsyncReplicasOnRows, ADroppedGradientLeavesTheSlotsOfAdamAlone) {
  TestCluster cluster(1, 2);
  const auto adam = [] { return std::make_shared<AdamOptimizer>(0.1); };
  TableReplica fast(cluster, 0, {}, adam), slow(cluster, 1, {.max_age = 0}, adam);
  ASSERT_TRUE(fast.session->Run({fast.init}).ok());
  std::vector<float> table, m, v;
  EXPECT_EQ(slow.SlowStep([&] {
    fast.Step();
    table = fast.Values(fast.table);
    m = fast.Values(fast.async->GetSlot(fast.table, "m"));
    v = fast.Values(fast.async->GetSlot(fast.table, "v"));
  }),
            -2);  // dropped with the age 1
  EXPECT_NE(m[0], 0);
  EXPECT_EQ(fast.Values(fast.table), table);
  EXPECT_EQ(fast.Values(fast.async->GetSlot(fast.table, "m")), m);
  EXPECT_EQ(fast.Values(fast.async->GetSlot(fast.table, "v")), v);
}

TEST(AsyncReplicasOnRows, SumsUpTheSlicesOfSeveralBatches) {
  TestCluster cluster(1, 1);
  TableReplica r(cluster, 0, {.batches_per_push = {{0, 2}}}, Descent);
  ASSERT_TRUE(r.session->Run({r.init}).ok());
  ASSERT_TRUE(r.session->Run({r.locals}).ok());
  r.Step();
  EXPECT_THAT(r.Values(r.table), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  r.Step();
  EXPECT_THAT(r.Values(r.table), ElementsAre(-2, -2, 0, 0, -1, -1, 0, 0));
}

TEST(AsyncReplicasOnRows, DelayCompensationIsRefused) {
  Graph g;
  Variable table(g, {4, 2}, Zeros(), {.name = "table"});
  AsyncReplicasOptimizer async(Descent(), {.staleness = {.delay_compensation = 1}});
  async.Minimize(ReduceSum(Gather(table, Tensor::Of<int64_t>({1}, {0}))), {.global_step = GetOrCreateGlobalStep(g)});
  EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
  EXPECT_NE(std::string(g.status().message()).find("'table'"), std::string::npos) << g.status();
}

// If gradients have the age 0, every optimizer makes the same updates with a policy as without one.
TEST(AsyncReplicas, EveryOptimizerMakesTheSameUpdatesOfFreshGradients) {
  const std::vector<std::pair<const char*, NewOptimizer>> optimizers = {
      {"descent", [] { return std::make_shared<GradientDescentOptimizer>(0.1); }},
      {"momentum", [] { return std::make_shared<MomentumOptimizer>(0.1, 0.9); }},
      {"adadelta", [] { return std::make_shared<AdadeltaOptimizer>(1.0); }},
      {"adagrad", [] { return std::make_shared<AdagradOptimizer>(0.1); }},
      {"adam", [] { return std::make_shared<AdamOptimizer>(0.1); }},
      {"rms_prop", [] { return std::make_shared<RMSPropOptimizer>(0.1); }},
      {"ftrl", [] { return std::make_shared<FtrlOptimizer>(0.1); }},
      {"proximal", [] { return std::make_shared<ProximalAdagradOptimizer>(0.1); }},
  };
  for (const auto& [name, make] : optimizers) {
    std::vector<std::vector<float>> ends;
    for (const bool with_policy : {false, true}) {
      Graph g;
      Variable w(g, {3}, Constant(1.0), {.name = "w"});
      Variable rows(g, {4, 2}, Constant(1.0), {.name = "rows"});
      const Output loss = ReduceSum(Square(w)) + ReduceSum(Square(Gather(rows, Tensor::Of<int64_t>({2}, {3, 1}))));
      std::shared_ptr<Optimizer> optimizer = make();
      if (with_policy) {
        optimizer = std::make_shared<AsyncReplicasOptimizer>(
            optimizer, AsyncReplicasOptions{.staleness = {.max_age = 0, .gradient_decay = 1, .rate_decay = 1}});
      }
      const Operation train = optimizer->Minimize(loss, {.global_step = GetOrCreateGlobalStep(g)});
      ASSERT_TRUE(g.status().ok()) << name << ": " << g.status();
      const auto session = Session::Create(g).value();
      ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
      for (int i = 0; i < 3; ++i) {
        const auto run = session->Run({train}).status();
        ASSERT_TRUE(run.ok()) << name << ": " << run;
      }
      std::vector<float> end;
      const std::vector<Tensor> values = session->Run({w, rows}).value();
      for (const Tensor& t : values) end.insert(end.end(), t.data<float>().begin(), t.data<float>().end());
      ends.push_back(end);
    }
    EXPECT_EQ(ends[0], ends[1]) << name;
    EXPECT_NE(ends[0][0], 1) << name;
  }
}

TEST(AsyncReplicas, ErrorsNameTheMissingStepOrTheInvalidField) {
  for (const bool with_step : {false, true}) {
    Graph g;
    Variable w(g, {}, Zeros());
    AsyncReplicasOptimizer async(Descent(), {.staleness = {.max_lead = with_step ? -1 : 0}});
    async.Minimize(Square(w), {.global_step = with_step ? GetOrCreateGlobalStep(g) : Variable()});
    EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
    EXPECT_NE(std::string(g.status().message()).find(with_step ? "max_lead" : "needs a global step"), std::string::npos)
        << g.status();
  }
}

TEST(AsyncReplicas, TheHookFailsIfTheOptimizerWasNotUsed) {
  Graph g;
  Variable w(g, {}, Zeros());
  AsyncReplicasOptimizer async(Descent(), {});
  const auto session = MonitoredTrainingSession(g, {.hooks = {async.MakeSessionRunHook()}});
  EXPECT_TRUE(absl::IsFailedPrecondition(session.status())) << session.status();
}

}  // namespace
}  // namespace tensorbraid
