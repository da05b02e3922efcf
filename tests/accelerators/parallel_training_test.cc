// Tests trainings that several devices share: towers, layers of a model on two devices, and workers of a cluster. Their
// values are those of the CPU. The devices are XLA_CPU:0 to XLA_CPU:3 of a plugin that computes on the CPU, which the
// environment variable TENSORBRAID_ACCELERATOR_PLUGIN names ("XLA_CPU:4=PATH").
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cluster/protobuf/config.pb.h"
#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "executor/clusters/host_substitute.h"
#include "pjrt/compile_log.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

constexpr const char* kHost = "/device:CPU:0";
constexpr int kSteps = 6;

std::string Device(int i) { return StrCat("/device:XLA_CPU:", i); }

struct Digits {
  Tensor images, labels;

  Digits Rows(int64_t begin, int64_t end) const { return {images.Slice(begin, end), labels.Slice(begin, end)}; }
};

// The batches of a training, the same ones in each.
std::vector<Digits> Batches(int number, int size) {
  auto mnist = data::Mnist::Load("examples/data/mnist").value();
  std::vector<Digits> batches;
  for (int i = 0; i < number; ++i) {
    auto batch = mnist.NextBatch(size);
    batches.push_back({batch.images, batch.labels});
  }
  return batches;
}

// Where a perceptron of three layers is.
struct Places {
  std::vector<std::string> layers;  // compute
  std::vector<std::string> variables;

  static Places On(const std::string& device) { return On(device, device); }
  static Places On(const std::string& layers, const std::string& variables) { return {{3, layers}, {3, variables}}; }
};

// The mean loss of a perceptron that reads digits, computed where its last layer is. The first call makes the
// variables, which later calls share.
Output Loss(const Output& images, const Output& labels, const Places& places) {
  Graph& g = *images.graph();
  auto scope = g.VariableScope("digits", {.reuse = kAutoReuse});
  const std::vector<int64_t> units = {64, 32, 10};
  Output x = images;
  for (size_t i = 0; i < units.size(); ++i) {
    auto device = g.Device([compute = places.layers[i], variable = places.variables[i]](const Operation& op) {
      return op.type() == "VarHandleOp" ? variable : compute;
    });
    x = layers::Dense(x, {.units = units[i],
                          .activation = i + 1 < units.size() ? layers::Activation::kRelu : layers::Activation::kNone,
                          .kernel_initializer = GlorotUniform(static_cast<int64_t>(i) + 1),
                          .name = StrCat("layer", i)});
  }
  auto device = g.Device(places.layers.back());
  return ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, x));
}

// What a training gives.
struct Trained {
  std::vector<float> losses;      // of its steps
  std::vector<Tensor> variables;  // at its end
};

void ExpectNear(const Trained& a, const Trained& b) {
  ASSERT_EQ(a.losses.size(), b.losses.size());
  for (size_t i = 0; i < a.losses.size(); ++i) EXPECT_NEAR(a.losses[i], b.losses[i], 1e-5) << "step " << i;
  ASSERT_EQ(a.variables.size(), b.variables.size());
  for (size_t v = 0; v < a.variables.size(); ++v) {
    const auto x = a.variables[v].data<float>(), y = b.variables[v].data<float>();
    ASSERT_EQ(x.size(), y.size()) << v;
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-5) << "variable " << v << ", element " << i;
  }
}

// A model in this process: towers that share each batch, or one. The mean of their gradients updates the variables.
struct Model {
  explicit Model(const std::vector<Places>& towers) {
    auto device = graph.Device(kHost);
    images = Placeholder(graph, kFloat32, {-1, data::Mnist::kPixels}, "images");
    labels = Placeholder(graph, kInt64, {-1}, "labels");
    const auto image_shares = Split(images, static_cast<int>(towers.size()));
    const auto label_shares = Split(labels, static_cast<int>(towers.size()));
    MomentumOptimizer optimizer(0.1, 0.9);
    std::vector<std::vector<GradAndVar>> gradients;
    std::vector<Operand> losses;
    for (size_t i = 0; i < towers.size(); ++i) {
      const Output each = Loss(image_shares[i], label_shares[i], towers[i]);
      gradients.push_back(optimizer.ComputeGradients(each).value());
      losses.emplace_back(each);
    }
    train = optimizer.ApplyGradients(AverageGradients(gradients));
    loss = ReduceMean(Stack(losses));
    init = GlobalVariablesInitializer(graph);
    EXPECT_TRUE(graph.status().ok()) << graph.status();
  }

  Trained Train(const std::vector<Digits>& batches) {
    session = Session::Create(graph, {.device_count = {{"XLA_CPU", 4}}}).value();
    const Status started = session->Run({init}).status();
    EXPECT_TRUE(started.ok()) << started;
    Trained trained;
    for (const Digits& batch : batches) {
      const auto values = session->Run({loss, train}, Feeds(batch));
      EXPECT_TRUE(values.ok()) << values.status();
      if (!values.ok()) return trained;
      trained.losses.push_back((*values)[0].scalar<float>());
    }
    const auto variables = graph.trainable_variables();
    trained.variables = session->Run({variables.begin(), variables.end()}).value();
    return trained;
  }
  std::vector<Feed> Feeds(const Digits& batch) const { return {{images, batch.images}, {labels, batch.labels}}; }

  // How many programs each device runs in a step.
  std::map<std::string, int> RunsOfPrograms(const Digits& batch) {
    RunMetadata record;
    const Status run = session->Run({loss, train}, Feeds(batch), {.trace_level = TraceLevel::kFull}, &record).status();
    EXPECT_TRUE(run.ok()) << run;
    proto::RunMetadata message;
    EXPECT_TRUE(message.ParseFromString(record.serialized()));
    std::map<std::string, int> runs;
    for (const auto& device : message.step_stats().dev_stats()) {
      for (const auto& node : device.node_stats()) {
        if (node.node_name().starts_with("run of a program")) ++runs[device.device()];
      }
    }
    return runs;
  }

  Graph graph;
  Output images, labels, loss;
  Operation train, init;
  std::unique_ptr<Session> session;
};

Trained TrainedOnCpu(const std::vector<Digits>& batches) { return Model({Places::On(kHost)}).Train(batches); }

std::string Stream(int device) { return StrCat("/job:localhost/replica:0/task:0", Device(device), "/stream:all"); }

int64_t CompiledPrograms() { return CompileLog::Global().totals().programs; }

class ParallelTrainingTest : public testing::Test {
 protected:
  // Each step is one of programs.
  static void SetUpTestSuite() { setenv(kHostSubstituteVariable, "never", 1); }
};

TEST_F(ParallelTrainingTest, FourTowersTrainAsOneOnTheCpu) {
  const auto batches = Batches(kSteps, 64);
  const Trained expected = TrainedOnCpu(batches);
  EXPECT_LT(expected.losses.back(), expected.losses.front());
  for (const std::string& variables : {std::string(kHost), Device(0)}) {
    SCOPED_TRACE(variables);
    std::vector<Places> towers;
    for (int i = 0; i < 4; ++i) towers.push_back(Places::On(Device(i), variables));
    Model model(towers);
    ExpectNear(model.Train(batches), expected);
    const auto runs = model.RunsOfPrograms(batches[0]);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(runs.contains(Stream(i))) << i;
  }
}

// The forward and the backward pass of towers is one program, which all of them share.
TEST_F(ParallelTrainingTest, EqualTowersCompileOnce) {
  const auto batches = Batches(2, 24);  // no other test has shares of this size
  for (const int number : {2, 4}) {
    SCOPED_TRACE(number);
    std::vector<Places> towers;
    for (int i = 0; i < number; ++i) towers.push_back(Places::On(Device(i), kHost));
    Model model(towers);
    const int64_t before = CompiledPrograms();
    model.Train(batches);
    EXPECT_EQ(CompiledPrograms() - before, 1);
    std::map<std::string, int> expected;
    for (int i = 0; i < number; ++i) expected[Stream(i)] = 1;
    EXPECT_EQ(model.RunsOfPrograms(batches[0]), expected);
    EXPECT_EQ(CompiledPrograms() - before, 1);
  }
}

// A step goes forward and backward through all layers, each on the device of its variables.
TEST_F(ParallelTrainingTest, LayersOnTwoDevicesTrainAsOnTheCpu) {
  const auto batches = Batches(kSteps, 40);
  const Trained expected = TrainedOnCpu(batches);
  struct Row {
    std::vector<int> devices;
    std::map<std::string, int> runs;
  };
  // Where two layers that follow each other are on one device, they are one program, and so are their gradients. So are
  // the last layer, the loss and their gradients.
  for (const Row& row :
       {Row{{0, 0, 1}, {{Stream(0), 2}, {Stream(1), 1}}}, Row{{0, 1, 0}, {{Stream(0), 3}, {Stream(1), 2}}}}) {
    Places places;
    for (const int i : row.devices) places.layers.push_back(Device(i));
    places.variables = places.layers;
    SCOPED_TRACE(StrCat(row.devices[0], row.devices[1], row.devices[2]));
    Model model({places});
    ExpectNear(model.Train(batches), expected);
    EXPECT_EQ(model.RunsOfPrograms(batches[0]), row.runs);
  }
}

// A worker of a cluster with a parameter server on the CPU. It computes on the first accelerator, which all workers of
// this process share, or on the CPU.
struct Worker {
  // `aggregate`: how many gradients a step has, of as many workers as the cluster has. 0: asynchronous.
  Worker(const TestCluster& cluster, int index, int aggregate, const std::string& compute,
         std::shared_ptr<Optimizer> optimizer = std::make_shared<MomentumOptimizer>(0.1, 0.9)) {
    const std::string task = StrCat("/job:worker/task:", index);
    auto device = graph.Device(ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = task + compute}));
    images = Placeholder(graph, kFloat32, {-1, data::Mnist::kPixels}, "images");
    labels = Placeholder(graph, kInt64, {-1}, "labels");
    loss = Loss(images, labels, Places::On(task + compute, "/job:ps/task:0/device:CPU:0"));
    global_step = GetOrCreateGlobalStep(graph);
    MonitoredTrainingSessionOptions options = {.master = cluster.worker_target(index), .is_chief = index == 0};
    if (aggregate > 0) {
      sync = std::make_shared<SyncReplicasOptimizer>(
          optimizer, SyncReplicasOptions{.replicas_to_aggregate = aggregate,
                                         .total_num_replicas = cluster.spec().num_tasks("worker")});
      options.hooks.push_back(sync->MakeSessionRunHook(index == 0));
      optimizer = sync;
    }
    train = optimizer->Minimize(loss, {.global_step = global_step});
    auto created = MonitoredTrainingSession(graph, options);
    EXPECT_TRUE(created.ok()) << created.status();
    if (created.ok()) session = *std::move(created);
  }

  float Step(const Digits& batch) {
    const auto values = session->Run({loss, train}, {{images, batch.images}, {labels, batch.labels}});
    EXPECT_TRUE(values.ok()) << values.status();
    return values.ok() && (*values)[0].is_valid() ? (*values)[0].scalar<float>() : -1;
  }
  float LossOf(const Digits& batch) {
    return session->session().Run({loss}, {{images, batch.images}, {labels, batch.labels}}).value()[0].scalar<float>();
  }
  std::vector<Tensor> Variables() {
    const auto variables = graph.trainable_variables();
    return session->session().Run({variables.begin(), variables.end()}).value();
  }
  int64_t GlobalStep() { return session->session().Run({global_step}).value()[0].scalar<int64_t>(); }

  Graph graph;
  Output images, labels, loss;
  Variable global_step;
  std::shared_ptr<SyncReplicasOptimizer> sync;
  Operation train;
  std::unique_ptr<MonitoredSession> session;
};

TaskOptions WithAccelerators() {
  TaskOptions options;
  options.device_count = {{"XLA_CPU", 4}};
  return options;
}

// The workers make steps in turns, so that the values are those of one process.
TEST_F(ParallelTrainingTest, AsynchronousWorkersThatTakeTurnsTrainAsOnTheCpu) {
  const auto batches = Batches(kSteps, 32);
  const Trained expected = TrainedOnCpu(batches);
  TestCluster cluster(1, 2, WithAccelerators());
  Worker first(cluster, 0, 0, Device(0)), second(cluster, 1, 0, Device(0));
  Trained trained;
  for (int i = 0; i < kSteps; ++i) trained.losses.push_back((i % 2 == 0 ? first : second).Step(batches[i]));
  trained.variables = second.Variables();
  ExpectNear(trained, expected);
  EXPECT_EQ(first.GlobalStep(), kSteps);
}

TEST_F(ParallelTrainingTest, AsynchronousWorkersTrainAtTheSameTime) {
  constexpr int kBoth = 40;  // steps of both workers
  const auto batches = Batches(kBoth, 32);
  TestCluster cluster(1, 2, WithAccelerators());
  const auto descent = [] { return std::make_shared<GradientDescentOptimizer>(0.1); };
  Worker first(cluster, 0, 0, Device(0), descent()), second(cluster, 1, 0, Device(1), descent());
  const float before = first.LossOf(batches[0]);
  std::thread other([&] {
    for (int i = 1; i < kBoth; i += 2) second.Step(batches[i]);
  });
  for (int i = 0; i < kBoth; i += 2) first.Step(batches[i]);
  other.join();
  EXPECT_LT(first.LossOf(batches[0]), 0.8f * before);
  EXPECT_EQ(first.GlobalStep(), kBoth);
}

// Workers that train synchronously, in steps of which a test decides.
class SynchronousWorkers {
 public:
  SynchronousWorkers(const TestCluster& cluster, int number, int aggregate) : workers_(number) {
    // They wait for the chief.
    std::vector<std::thread> threads;
    for (int i = 0; i < number; ++i) {
      threads.emplace_back([&, i] { workers_[i] = std::make_unique<Worker>(cluster, i, aggregate, Device(i)); });
    }
    for (auto& thread : threads) thread.join();
  }
  Worker& operator[](int i) { return *workers_[i]; }

  // The first step of the training, which two workers make. It begins with tokens, so it does not wait for the update.
  // Behind it, all workers lack the token of this step, and their next gradients are too late.
  float FirstStep(const Digits& batch) {
    const float loss = StepOfTwo(0, 1, batch);
    while (workers_[0]->GlobalStep() == 0) std::this_thread::yield();
    for (const auto& worker : workers_) worker->Step(batch);
    for (const auto& worker : workers_) EXPECT_EQ(worker->sync->dropped_gradients(), 1);
    return loss;
  }
  // A step of two workers, each with half of the batch. Returns the loss of the whole batch.
  float StepOfTwo(int a, int b, const Digits& batch) {
    const int64_t rows = batch.labels.num_elements();
    float second = 0;
    std::thread other([&] { second = workers_[b]->Step(batch.Rows(rows / 2, rows)); });
    const float first = workers_[a]->Step(batch.Rows(0, rows / 2));
    other.join();
    return (first + second) / 2;
  }

 private:
  std::vector<std::unique_ptr<Worker>> workers_;
};

TEST_F(ParallelTrainingTest, SynchronousWorkersTrainAsOnTheCpu) {
  const auto batches = Batches(kSteps, 64);
  const Trained expected = TrainedOnCpu(batches);
  TestCluster cluster(1, 2, WithAccelerators());
  SynchronousWorkers workers(cluster, 2, 2);
  Trained trained;
  trained.losses.push_back(workers.FirstStep(batches[0]));
  for (int i = 1; i < kSteps; ++i) trained.losses.push_back(workers.StepOfTwo(0, 1, batches[i]));
  trained.variables = workers[0].Variables();
  ExpectNear(trained, expected);
  EXPECT_EQ(workers[0].GlobalStep(), kSteps);
}

// Two of three gradients count in each step. The third worker comes too late, another one each time.
TEST_F(ParallelTrainingTest, SynchronousWorkersWithASpareOneTrainAsOnTheCpu) {
  const auto batches = Batches(kSteps + 1, 64);
  const Digits& late = batches[kSteps];
  const Trained expected = TrainedOnCpu({batches.begin(), batches.end() - 1});
  TestCluster cluster(1, 3, WithAccelerators());
  SynchronousWorkers workers(cluster, 3, 2);
  Trained trained;
  trained.losses.push_back(workers.FirstStep(batches[0]));
  for (int i = 1; i < kSteps; ++i) {
    trained.losses.push_back(workers.StepOfTwo(i % 3, (i + 1) % 3, batches[i]));
    workers[(i + 2) % 3].Step(late);
  }
  trained.variables = workers[0].Variables();
  ExpectNear(trained, expected);
  EXPECT_EQ(workers[0].GlobalStep(), kSteps);
  int64_t dropped = 0;
  for (int i = 0; i < 3; ++i) dropped += workers[i].sync->dropped_gradients();
  EXPECT_EQ(dropped, 3 + kSteps - 1);
}

}  // namespace
}  // namespace tensorbraid
