// Tests training in which the values and gradients of variables are sent in smaller types, in a cluster within this
// process.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

constexpr int64_t kFeatures = 500, kClasses = 10, kExamples = 200;

struct Trained {
  float loss = 0;
  double to_ps = 0;      // bytes of tensors that the parameter server has received in the steps
  double to_worker = 0;  // bytes of tensors that the worker has received from it in the steps
};

double ReceivedFrom(Task& task, const std::string& job) {
  for (const auto& traffic : task.membership().AllReceived()) {
    if (traffic.task == StrCat("/job:", job, "/replica:0/task:0")) return static_cast<double>(traffic.tensor_bytes);
  }
  return 0;
}

// Softmax regression on random examples. Each step uses all examples; after `steps` steps, the model almost fits them.
// `wire` is given to the optimizer if `by_optimizer`, otherwise to the device setter.
Trained Train(WireTypes wire, bool sync = false, TaskOptions options = {}, bool by_optimizer = false, int steps = 60) {
  TestCluster cluster(1, 1, std::move(options));
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> x(kExamples * kFeatures);
  for (float& value : x) value = normal(random);
  std::vector<int64_t> y(kExamples);
  for (int64_t& label : y) label = static_cast<int64_t>(random() % kClasses);

  Graph g;
  auto device = g.Device(ReplicaDeviceSetter(
      {.cluster = cluster.spec(), .worker_device = "/job:worker/task:0", .wire = by_optimizer ? WireTypes() : wire}));
  const Output images = Placeholder(g, kFloat32, {-1, kFeatures}, "images");
  const Output labels = Placeholder(g, kInt64, {-1}, "labels");
  Variable weights(g, {kFeatures, kClasses}, Zeros(), {.name = "weights"});
  const Output loss = ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, MatMul(images, weights)));
  std::shared_ptr<Optimizer> optimizer = std::make_shared<GradientDescentOptimizer>(0.5);
  std::vector<std::shared_ptr<SessionRunHook>> hooks;
  if (sync) {
    auto wrapped = std::make_shared<SyncReplicasOptimizer>(
        optimizer, SyncReplicasOptions{.replicas_to_aggregate = 1, .total_num_replicas = 1});
    hooks.push_back(wrapped->MakeSessionRunHook(/*is_chief=*/true));
    optimizer = wrapped;
  }
  const Operation train =
      optimizer->Minimize(loss, {.global_step = GetOrCreateGlobalStep(g), .wire = by_optimizer ? wire : WireTypes()});
  const std::vector<Feed> feeds = {{images, Tensor::Of<float>({kExamples, kFeatures}, x)},
                                   {labels, Tensor::Of<int64_t>({kExamples}, y)}};
  Trained result;
  EXPECT_TRUE(g.status().ok()) << g.status();
  auto session = MonitoredTrainingSession(g, {.master = cluster.worker_target(), .hooks = hooks});
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return result;
  Task& ps = cluster.task("ps", 0);
  Task& worker = cluster.task("worker", 0);
  const double to_ps = ReceivedFrom(ps, "worker"), to_worker = ReceivedFrom(worker, "ps");
  for (int step = 0; step < steps; ++step) {
    const auto ran = (*session)->Run({train}, feeds);
    EXPECT_TRUE(ran.ok()) << ran.status();
    if (!ran.ok()) return result;
  }
  result.to_ps += ReceivedFrom(ps, "worker") - to_ps;
  result.to_worker += ReceivedFrom(worker, "ps") - to_worker;
  const auto last = (*session)->Run({loss}, feeds);
  EXPECT_TRUE(last.ok()) << last.status();
  if (last.ok()) result.loss = (*last)[0].scalar<float>();
  EXPECT_TRUE((*session)->Close().ok());
  return result;
}

struct WireCase {
  WireTypes wire;
  double gradients, values;  // the share of the bytes that is still sent
  double loss;               // how much larger the loss may be
};

TEST(WireTrainingTest, EveryTypeTrainsToNearlyTheSameLossWithItsShareOfTheBytes) {
  const Trained whole = Train({});
  EXPECT_LT(whole.loss, 0.2);
  // The shares follow from the encodings (kernels/cpu/wire/codec.h): kInt8 sends 260 bytes for 256 values, kOneBit 40.
  for (const WireCase& c :
       {WireCase{Wire::kFloat16, 0.5, 0.5, 0.01}, WireCase{Wire::kBFloat16, 0.5, 0.5, 0.01},
        WireCase{Wire::kInt8, 0.255, 1, 0.01}, WireCase{Wire::kOneBit, 0.04, 1, 0.1},
        WireCase{Wire::kTopK, 0.021, 1, 0.3}, WireCase{{Wire::kInt8, Wire::kInt8}, 0.255, 0.255, 0.05}}) {
    const std::string name = StrCat(WireName(c.wire.parameters), "/", WireName(c.wire.gradients));
    const Trained sent = Train(c.wire);
    EXPECT_NEAR(sent.loss, whole.loss, c.loss) << name;
    EXPECT_NEAR(sent.to_ps / whole.to_ps, c.gradients, 0.02) << name;
    EXPECT_NEAR(sent.to_worker / whole.to_worker, c.values, 0.02) << name;
  }
}

TEST(WireTrainingTest, SynchronousReplicasSendToAccumulatorsInTheTypeOfTheVariable) {
  const Trained whole = Train({}, /*sync=*/true), sent = Train(Wire::kInt8, /*sync=*/true);
  EXPECT_NEAR(sent.loss, whole.loss, 0.01);
  EXPECT_NEAR(sent.to_ps / whole.to_ps, 0.255, 0.03);
}

TEST(WireTrainingTest, TheWireOptionOfAnOptimizerAppliesToItsVariables) {
  for (const bool sync : {false, true}) {
    const Trained whole = Train({}, sync), sent = Train(Wire::kInt8, sync, {}, /*by_optimizer=*/true);
    EXPECT_NEAR(sent.loss, whole.loss, 0.01) << sync;
    EXPECT_NEAR(sent.to_ps / whole.to_ps, 0.255, 0.03) << sync;
  }
}

TEST(WireTrainingTest, AnOptimizerRefusesATypeThatValuesCannotHave) {
  Graph g;
  const Variable v(g, {2}, Zeros(), {.name = "v"});
  GradientDescentOptimizer(0.1).Minimize(ReduceSum(v), {.wire = {Wire::kTopK, Wire::kTopK}});
  EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
}

TEST(WireTrainingTest, TheServersOptionAppliesToGraphsWithoutWireTypes) {
  TaskOptions options;
  options.wire = {{"ps", Wire::kInt8}};
  const Trained whole = Train(Wire::kFloat32, /*sync=*/false, options), sent = Train({}, /*sync=*/false, options);
  EXPECT_NEAR(sent.loss, whole.loss, 0.01);
  EXPECT_NEAR(sent.to_ps / whole.to_ps, 0.255, 0.02);
}

TEST(WireTrainingTest, ElementsThatWereNotSentYetSurviveTheSession) {
  TestCluster cluster(1, 1);
  Graph g;
  auto device = g.Device(
      ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = "/job:worker/task:0", .wire = Wire::kTopK}));
  const Output x = Placeholder(g, kFloat32, {1000}, "x");
  Variable v(g, {1000}, Zeros(), {.name = "v"});
  const Operation update = v.AssignAdd(x);
  ASSERT_TRUE(g.status().ok()) << g.status();
  std::vector<float> values(1000);
  for (int i = 0; i < 1000; ++i) values[i] = static_cast<float>((i * 37) % 1000 + 1);
  const Tensor first = Tensor::Vector(values), zeros = Tensor::Vector(std::vector<float>(1000));
  {
    auto session = Session::Create(g, {.target = cluster.worker_target()});
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_TRUE((*session)->Run({GlobalVariablesInitializer(g)}).ok());
    ASSERT_TRUE((*session)->Run({update}, {{x, first}}).ok());
  }
  auto session = Session::Create(g, {.target = cluster.worker_target()});
  ASSERT_TRUE(session.ok()) << session.status();
  const auto sum = [&] { return (*session)->Run({v.value()}).value()[0]; };
  EXPECT_EQ(std::ranges::count(sum().data<float>(), 0.0F), 990);
  // Each step sends 1 % of the elements, from those that are left.
  for (int step = 0; step < 99; ++step) ASSERT_TRUE((*session)->Run({update}, {{x, zeros}}).ok());
  const Tensor last = sum();
  EXPECT_EQ(std::vector<float>(last.data<float>().begin(), last.data<float>().end()), values);
}

}  // namespace
}  // namespace tensorbraid
