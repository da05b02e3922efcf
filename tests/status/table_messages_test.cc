// Tests how many messages the trainings of growing tables send, and that their results do not depend on it.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "cluster/protobuf/report.pb.h"
#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "core/testing/values_of.h"
#include "core/text/strings.h"
#include "status/report_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// How a training gets its batches, and how it applies its gradients.
enum class Input { kPlain, kStaged, kAhead };
enum class Updates { kPlain, kSync, kAsync, kAsyncPushes };

const char* Name(Input input) {
  return input == Input::kPlain ? "plain" : input == Input::kStaged ? "staged" : "staged lookups";
}
const char* Name(Updates updates) {
  return updates == Updates::kPlain   ? "plain"
         : updates == Updates::kSync  ? "synchronous"
         : updates == Updates::kAsync ? "asynchronous"
                                      : "asynchronous, a push for two batches";
}

struct Kind {
  Input input = Input::kPlain;
  Updates updates = Updates::kPlain;
  int64_t filter_freq = 0;
  bool sparse = false;  // lookups combine the keys of each example, as those of feature columns do
};

std::string Describe(const Kind& kind, int servers) {
  return StrCat("input: ", Name(kind.input), ", updates: ", Name(kind.updates), ", filter: ", kind.filter_freq,
                kind.sparse ? ", sparse" : "", ", servers: ", servers);
}

// A training of growing tables and a dense variable by one worker. Neighbouring batches share no key, so that staged
// lookups give the same rows.
class Training {
 public:
  // Without a cluster, all of it is in one process, where no tensor is sent.
  Training(const Kind& kind, int servers, int tables, TestCluster* cluster)
      : cluster_(cluster), is_sync_(kind.updates == Updates::kSync) {
    std::optional<ScopeGuard> device;
    if (cluster != nullptr) {
      device.emplace(
          g_.Device(ReplicaDeviceSetter({.cluster = cluster->spec(), .worker_device = "/job:worker/task:0"})));
    }
    step_ = GetOrCreateGlobalStep(g_);
    auto numbers = data::Iterator::Initializable(data::Dataset::Range(g_, int64_t{0}, int64_t{1000}));
    const Output first = FloorMod(numbers.GetNext()[0], int64_t{3}) * int64_t{4};
    std::vector<Output> batch;
    for (int t = 0; t < tables; ++t) batch.push_back(first + Const(g_, Tensor::Vector<int64_t>({t, 1 + t, 3 + t, t})));
    std::optional<StagedInput> input;
    if (kind.input != Input::kPlain) {
      input.emplace(batch);
      batch = input->batch();
    }
    const Variable weight(g_, {2, 1}, Constant(0.75), {.name = "weight"});
    Output loss = Const(g_, Tensor::Scalar(0.0f));
    const Output all = Range(g_, int64_t{0}, int64_t{30});
    for (int t = 0; t < tables; ++t) {
      EmbeddingVariableOptions options = {
          .name = StrCat("table", t), .initializer = RandomNormal(0, 1, 7), .filter_freq = kind.filter_freq};
      if (servers > 1) options.partitioner = FixedSizePartitioner(servers);
      const EmbeddingVariable table(g_, 2, options);
      const Output keys = batch[static_cast<size_t>(t)];
      const SparseTensor ids = {.indices = Const(g_, Tensor::Of<int64_t>({4, 2}, {0, 0, 0, 1, 1, 0, 2, 0})),
                                .values = keys,
                                .dense_shape = Const(g_, Tensor::Vector<int64_t>({3, 2}))};
      const Output rows = kind.sparse ? nn::EmbeddingLookupSparse(table, ids) : nn::EmbeddingLookup(table, keys);
      loss = loss + ReduceSum(Sigmoid(MatMul(rows, weight.value())) * rows);
      values_.emplace_back(nn::EmbeddingLookup(table, all));
    }
    values_.emplace_back(weight.Read());
    std::shared_ptr<Optimizer> optimizer = std::make_shared<AdagradOptimizer>(0.1);
    std::vector<std::shared_ptr<SessionRunHook>> hooks;
    if (kind.updates == Updates::kSync) {
      const auto sync = std::make_shared<SyncReplicasOptimizer>(
          optimizer, SyncReplicasOptions{.replicas_to_aggregate = 1, .total_num_replicas = 1});
      hooks.push_back(sync->MakeSessionRunHook(/*is_chief=*/true));
      optimizer = sync;
    } else if (kind.updates != Updates::kPlain) {
      AsyncReplicasOptions options = {.staleness = {.max_age = 5, .gradient_decay = 0.5}};
      if (kind.updates == Updates::kAsyncPushes) options.staleness.batches_per_push = {{0, 2}};
      const auto async = std::make_shared<AsyncReplicasOptimizer>(optimizer, options);
      hooks.push_back(async->MakeSessionRunHook());
      optimizer = async;
    }
    train_ = optimizer->Minimize(loss, {.global_step = step_});
    if (kind.input == Input::kAhead) input->LookUpAhead();
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    auto session =
        MonitoredTrainingSession(g_, {.master = cluster == nullptr ? "" : cluster->worker_target(0),
                                      .hooks = hooks,
                                      .queue_runners = input ? input->queue_runners() : std::vector<QueueRunner>(),
                                      .input_initializers = {numbers.initializer()}});
    EXPECT_TRUE(session.ok()) << session.status();
    if (session.ok()) session_ = *std::move(session);
  }
  void Steps(int steps) {
    for (int i = 0; i < steps && session_ != nullptr; ++i) {
      const auto result = session_->Run({train_});
      ASSERT_TRUE(result.ok()) << result.status();
      if (is_sync_ && ++steps_ == 1) AwaitFirstUpdate();
    }
  }
  // The rows of all tables, and the dense variable.
  std::vector<std::vector<float>> Values() {
    std::vector<std::vector<float>> result;
    if (session_ == nullptr) return result;
    const auto values = session_->session().Run(values_);
    EXPECT_TRUE(values.ok()) << values.status();
    if (!values.ok()) return result;
    for (const Tensor& value : *values) result.push_back(ValuesOf<float>(value));
    return result;
  }
  // The messages of a step that a server sends and receives, on average.
  double MessagesPerStep(const std::string& server) {
    constexpr int kSteps = 50;
    Steps(5);
    const double before = Messages(server);
    Steps(kSteps);
    return (Messages(server) - before) / kSteps;
  }

 private:
  // The first step of a synchronous training begins with a token, so it does not wait for its update. Without this
  // wait, the gradient of the second step may come in time for the first update, too. With it, that gradient is late.
  void AwaitFirstUpdate() {
    for (int64_t updates = 0; updates == 0;) {
      const auto value = session_->session().Run({step_});
      ASSERT_TRUE(value.ok()) << value.status();
      updates = (*value)[0].scalar<int64_t>();
    }
  }
  double Messages(const std::string& server) {
    const proto::ClusterReport report = ReportOf(cluster_->task("worker", 0));
    double messages = 0;
    for (const proto::TaskReport& task : report.tasks()) {
      for (const auto& traffic : task.received()) {
        if (task.task() == server || traffic.from() == server) messages += traffic.messages();
      }
    }
    return messages;
  }

  TestCluster* const cluster_;
  const bool is_sync_;
  int steps_ = 0;
  Graph g_;
  Variable step_;
  std::vector<Fetch> values_;
  Operation train_;
  std::unique_ptr<MonitoredSession> session_;
};

constexpr Kind kKinds[] = {
    {},
    {.filter_freq = 2},
    {.sparse = true},
    {.input = Input::kStaged},
    {.input = Input::kAhead},
    {.input = Input::kAhead, .filter_freq = 2},
    {.input = Input::kAhead, .sparse = true},
    {.updates = Updates::kSync},
    {.updates = Updates::kSync, .filter_freq = 2},
    {.updates = Updates::kSync, .sparse = true},
    {.input = Input::kStaged, .updates = Updates::kSync},
    {.input = Input::kAhead, .updates = Updates::kSync},
    {.input = Input::kAhead, .updates = Updates::kSync, .filter_freq = 2, .sparse = true},
    {.updates = Updates::kAsync},
    {.updates = Updates::kAsync, .filter_freq = 2, .sparse = true},
    {.input = Input::kAhead, .updates = Updates::kAsync},
    {.updates = Updates::kAsyncPushes},
    {.input = Input::kAhead, .updates = Updates::kAsyncPushes, .filter_freq = 2},
};

TEST(TableMessagesTest, MessagesOfAStepDoNotDependOnTheNumberOfTables) {
  // Without heartbeats, which are messages, too: a longer run has more of them.
  TaskOptions silent;
  silent.membership.heartbeat_interval = silent.membership.heartbeat_timeout = std::chrono::hours(1);
  for (const Kind& kind : kKinds) {
    for (const int servers : {1, 2}) {
      SCOPED_TRACE(Describe(kind, servers));
      TestCluster few(servers, 1, silent), many(servers, 1, silent);
      Training with_2(kind, servers, 2, &few), with_8(kind, servers, 8, &many);
      for (int server = 0; server < servers; ++server) {
        const std::string name = StrCat("ps/", server);
        const double messages = with_2.MessagesPerStep(name), also = with_8.MessagesPerStep(name);
        // The report that is asked for is a message, too.
        EXPECT_NEAR(messages, also, 0.5) << name;
      }
    }
  }
}

TEST(TableMessagesTest, ATrainingHasTheBitsOfOneThatSendsNothing) {
  for (const Kind& kind : kKinds) {
    for (const int servers : {1, 2}) {
      SCOPED_TRACE(Describe(kind, servers));
      TestCluster cluster(servers, 1);
      Training far(kind, servers, 3, &cluster), near(kind, servers, 3, nullptr);
      far.Steps(9);
      near.Steps(9);
      EXPECT_EQ(far.Values(), near.Values());
    }
  }
}

// The keys of the second table exist on one side of a conditional only. They come from a loop in that branch.
TEST(TableMessagesTest, LookupsOfABranchDoNotTravelWithOthers) {
  for (const bool near : {true, false}) {
    std::optional<TestCluster> cluster;
    if (!near) cluster.emplace(1, 1);
    Graph g;
    std::optional<ScopeGuard> device;
    if (!near) device.emplace(g.Device(ReplicaDeviceSetter({.ps_tasks = 1})));
    std::vector<EmbeddingVariable> tables;
    for (const char* name : {"first", "second", "third"}) {
      tables.emplace_back(g, 2, EmbeddingVariableOptions{.name = name, .initializer = Constant(tables.size() + 1.0)});
    }
    const Output takes = Placeholder(g, kBool, {}), keys = Placeholder(g, kInt64, {-1});
    const Output always = nn::EmbeddingLookup(tables[0], keys),
                 also = nn::EmbeddingLookup(tables[2], keys + int64_t{1});
    const Output either = Cond(
        takes,
        [&]() -> std::vector<Output> {
          const Output end = While(
              {Const(g, Tensor::Scalar<int64_t>(0))},
              [](const std::vector<Output>& v) { return Less(v[0], int64_t{3}); },
              [](const std::vector<Output>& v) -> std::vector<Output> { return {v[0] + int64_t{1}}; })[0];
          return {nn::EmbeddingLookup(tables[1], Reshape(end, {1}))};
        },
        [&]() -> std::vector<Output> {
          return {Const(g, Tensor::Of<float>({1, 2}, {5, 6}))};
        })[0];
    const Operation initialize = GlobalVariablesInitializer(g);
    ASSERT_TRUE(g.status().ok()) << g.status();
    const auto session = Session::Create(g, {.target = near ? "" : cluster->worker_target(0)});
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_TRUE((*session)->Run({initialize}).ok());
    for (const bool taken : {true, false}) {
      const auto rows = (*session)->Run({always, also, either},
                                        {{takes, Tensor::Scalar(taken)}, {keys, Tensor::Vector<int64_t>({4})}});
      ASSERT_TRUE(rows.ok()) << rows.status() << " taken: " << taken << " near: " << near;
      EXPECT_EQ(ValuesOf<float>((*rows)[0]), std::vector<float>({1, 1}));
      EXPECT_EQ(ValuesOf<float>((*rows)[1]), std::vector<float>({3, 3}));
      EXPECT_EQ(ValuesOf<float>((*rows)[2]), taken ? std::vector<float>({2, 2}) : std::vector<float>({5, 6}));
    }
  }
}

}  // namespace
}  // namespace tensorbraid
