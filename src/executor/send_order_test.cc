#include "executor/send_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <vector>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "executor/executor.h"
#include "graph/model/graph_impl.h"
#include "runtime/kernel/cancellation.h"
#include "runtime/kernel/step_tracer.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;

// Keeps the numbers of the edges on which tensors are sent, in order.
class SentEdges final : public Rendezvous {
 public:
  void Send(const StepEdge& edge, LoopPosition, Tensor) override {
    MutexLock lock(mu_);
    edges_.push_back(static_cast<int>(edge.number));
  }
  void Recv(const StepEdge&, LoopPosition, RecvDone done) override { done(Internal("nothing is sent")); }
  std::vector<int> edges() {
    MutexLock lock(mu_);
    return edges_;
  }

 private:
  Mutex mu_;
  std::vector<int> edges_ TB_GUARDED_BY(mu_);
};

class SendOrderTest : public ::testing::Test {
 protected:
  Graph& g() { return *graph_; }
  // A constant with which a graph begins.
  Output Start(int size = 2) { return Const(g(), Tensor(kFloat32, {size, size})); }

  void Send(const Output& tensor, int edge) {
    TB_CHECK_OK(g().status());
    auto node = ImplOf(g()).AddNode({.name = StrCat("send", edge),
                                     .op = "_Send",
                                     .inputs = {tensor},
                                     .controls = {},
                                     .attrs = {{"edge", int64_t{edge}},
                                               {"peer", std::string("/job:worker/replica:0/task:1")},
                                               {"bytes", int64_t{-1}}},
                                     .device = ""});
    TB_CHECK_OK(node.status());
  }

  // Makes two layers that read a sequence of `steps` elements. The second layer's output for each element is sent, on
  // the edge with the element's number. Returns the outputs by layer and element.
  std::vector<std::vector<Output>> TwoLayers(int steps, int size) {
    std::vector<std::vector<Output>> h(2, std::vector<Output>(static_cast<size_t>(steps)));
    const Output weights = Start(size);
    // The whole first layer is made before the second one, as in an unrolled network.
    for (size_t layer = 0; layer < 2; ++layer) {
      Output state = weights;
      for (size_t t = 0; t < h[layer].size(); ++t) {
        state = MatMul(layer == 0 ? state : h[0][t] + state, weights, {.name = StrCat("layer", layer, "_", t)});
        h[layer][t] = state;
      }
    }
    for (int t = 0; t < steps; ++t) Send(h[1][static_cast<size_t>(t)], t);
    return h;
  }

  // The graph must not be used afterwards.
  std::shared_ptr<const Plan> MakePlan() {
    TB_CHECK_OK(g().status());
    for (const auto& node : ImplOf(g()).nodes()) node->set_device("/job:worker/replica:0/task:0/device:CPU:0");
    auto plan = Plan::Create(std::move(graph_), &resources_, &kernels_);
    TB_CHECK_OK(plan.status());
    return *std::move(plan);
  }
  static int RankOf(const Plan& plan, const std::string& name) {
    for (size_t i = 0; i < plan.nodes().size(); ++i) {
      if (plan.nodes()[i].node->name() == name) return plan.ranks().at(i);
    }
    CheckFailed(__FILE__, __LINE__, "node", name);
  }

  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  ResourceManager resources_;
  KernelCache kernels_;
};

TEST_F(SendOrderTest, APlanThatSendsNothingHasNoRanks) {
  Square(Start());
  EXPECT_TRUE(MakePlan()->ranks().empty());
}

TEST_F(SendOrderTest, AllLayersReadAnElementBeforeTheFirstLayerReadsTheNext) {
  constexpr int kSteps = 5;
  TwoLayers(kSteps, 2);
  const auto plan = MakePlan();
  for (int t = 0; t + 1 < kSteps; ++t) {
    EXPECT_LT(RankOf(*plan, StrCat("layer1_", t)), RankOf(*plan, StrCat("layer0_", t + 1))) << t;
    // Every _Send has a lower rank than all nodes that compute.
    EXPECT_LT(RankOf(*plan, StrCat("send", kSteps - 1)), RankOf(*plan, StrCat("layer0_", t))) << t;
  }
}

TEST_F(SendOrderTest, NodesThatNoSendNeedsComeLast) {
  const Output x = Start();
  Square(x, "not_sent");
  Output y = x;
  for (int i = 0; i < 10; ++i) y = Tanh(y, StrCat("tanh", i));
  Send(y, 0);
  const auto plan = MakePlan();
  for (int i = 0; i < 10; ++i) EXPECT_LT(RankOf(*plan, StrCat("tanh", i)), RankOf(*plan, "not_sent"));
}

// As in the backward pass of recurrent layers, a sum over the whole sequence is not deep, but it needs many nodes. The
// nodes that another task needs for each element run first.
TEST_F(SendOrderTest, ASumOverASequenceDoesNotHoldUpItsElements) {
  constexpr int kSteps = 12;
  Output first = Start(), second = first;
  std::vector<Output> squares;
  for (int t = 0; t < kSteps; ++t) {
    first = Tanh(first);
    squares.push_back(Square(first, StrCat("square", t)));
    second = Tanh(Tanh(first + second), StrCat("second", t));
    Send(second, t);
  }
  Send(AddN(squares), kSteps);
  const auto plan = MakePlan();
  for (int t = 0; t < kSteps; ++t) {
    EXPECT_LT(RankOf(*plan, StrCat("second", kSteps - 1)), RankOf(*plan, StrCat("square", t))) << t;
  }
}

// In this wide graph, all tensors are sent. Comparing each _Send with all others would take minutes.
TEST_F(SendOrderTest, TheRanksOfAGraphWithManySendsAreAPermutation) {
  const Output x = Start();
  for (int i = 0; i < 20'000; ++i) Send(Square(x), i);
  const auto plan = MakePlan();
  std::vector<int> ranks = plan->ranks();
  std::sort(ranks.begin(), ranks.end());
  for (size_t i = 0; i < ranks.size(); ++i) ASSERT_EQ(ranks[i], static_cast<int>(i));
}

// The products are large, so that they run on the pool, in the order in which its only thread takes them.
TEST_F(SendOrderTest, APoolThreadTakesTheNodesInTheOrderOfTheirRanks) {
  constexpr int kSteps = 4;
  const auto h = TwoLayers(kSteps, 256);
  // No other task waits for these products. Each could run as soon as h[0][t] is there, but they run last.
  for (size_t t = 0; t < kSteps; ++t) MatMul(h[0][t], h[0][t], {.name = StrCat("not_sent", t)});
  const auto plan = MakePlan();
  ASSERT_EQ(plan->nodes()[0].node->type(), "Const");

  ThreadPool pool("test", 1);
  SentEdges sent;
  CancellationManager cancellation;
  StepTracer tracer;
  std::promise<Status> done;
  auto executor = std::make_shared<Executor>(plan, &pool, &resources_);
  {
    const ScopedTransportThread leaves_large_kernels_to_the_pool;
    executor->Run(
        {}, &sent, &cancellation, [&](const Status& status, const auto&) { done.set_value(status); }, &tracer);
  }
  ASSERT_TRUE(done.get_future().get().ok());
  EXPECT_THAT(sent.edges(), ElementsAre(0, 1, 2, 3));
  std::vector<std::string> products;
  for (const NodeRecord& record : tracer.TakeRecords()) {
    if (record.node->type() == "MatMul") products.push_back(record.node->name());
  }
  ASSERT_EQ(products.size(), 3u * kSteps);
  products.resize(2u * kSteps);
  EXPECT_THAT(products, ElementsAre("layer0_0", "layer1_0", "layer0_1", "layer1_1", "layer0_2", "layer1_2", "layer0_3",
                                    "layer1_3"));
}

}  // namespace
}  // namespace tensorbraid
