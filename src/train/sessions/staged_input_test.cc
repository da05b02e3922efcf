#include "tensorbraid/train/staged_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

constexpr int64_t kSteps = 12;

enum class Input { kPlain, kStaged, kAhead };

// A training of a growing table and a static variable on batches of three keys each. Neighbouring batches share no key.
struct Training {
  explicit Training(Input kind) {
    auto numbers = data::Iterator::Initializable(data::Dataset::Range(g, int64_t{0}, kSteps));
    numbers_begin = numbers.initializer();
    const Output number = numbers.GetNext()[0];
    const Output first = FloorMod(number, int64_t{3}) * int64_t{4};
    std::vector<Output> batch = {first + Const(g, Tensor::Vector<int64_t>({0, 1, 3})), number};
    if (kind != Input::kPlain) {
      input.emplace(batch);
      batch = input->batch();
    }
    number_of_batch = batch[1];
    const EmbeddingVariable grows(g, 2, {.name = "grows", .initializer = Constant(0.5)});
    const Variable fixed(g, {12, 2}, Constant(0.25), {.name = "fixed"});
    rows = nn::EmbeddingLookup(grows, batch[0]);
    loss = ReduceSum(Square(rows * nn::EmbeddingLookup(fixed, batch[0])));
    train = AdagradOptimizer(0.1).Minimize(loss, {.global_step = GetOrCreateGlobalStep(g)});
    if (kind == Input::kAhead) input->LookUpAhead();
  }

  // The numbers of the batches and the losses of all steps.
  StatusOr<std::vector<std::pair<int64_t, float>>> Run() {
    TF_ASSIGN_OR_RETURN(
        auto session, MonitoredTrainingSession(g, {.queue_runners = runners(), .input_initializers = {numbers_begin}}));
    std::vector<std::pair<int64_t, float>> steps;
    while (!session->ShouldStop()) {
      const auto r = session->Run({number_of_batch, loss, train});
      TF_RETURN_IF_ERROR(r.status());
      if (session->ShouldStop()) break;  // the input has ended
      steps.emplace_back((*r)[0].scalar<int64_t>(), (*r)[1].scalar<float>());
    }
    TF_RETURN_IF_ERROR(session->Close());
    return steps;
  }
  std::vector<QueueRunner> runners() const { return input ? input->queue_runners() : std::vector<QueueRunner>(); }
  int64_t Count(std::string_view scope) const {
    return std::ranges::count_if(ImplOf(g).nodes(), [&](const auto& n) { return n->name().starts_with(scope); });
  }

  Graph g;
  std::optional<StagedInput> input;
  Operation numbers_begin, train;
  Output number_of_batch, rows, loss;
};

TEST(StagedInputTest, ATrainingHasTheBitsOfAPlainOne) {
  const auto plain = Training(Input::kPlain).Run();
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->size(), static_cast<size_t>(kSteps));
  for (const Input kind : {Input::kStaged, Input::kAhead}) {
    Training training(kind);
    EXPECT_EQ(training.Count("staged_lookups/ahead/") > 0, kind == Input::kAhead);
    EXPECT_EQ(training.runners().size(), kind == Input::kAhead ? 2u : 1u);
    EXPECT_EQ(training.input->batch()[0].shape(), Shape({3}));
    const auto steps = training.Run();
    ASSERT_TRUE(steps.ok()) << steps.status();
    EXPECT_EQ(*steps, *plain);
  }
}

TEST(StagedInputTest, ALookupStaysInTheStepIfItDependsOnMoreThanTheBatch) {
  Graph g;
  StagedInput input({Const(g, Tensor::Vector<int64_t>({1, 2}))});
  const Variable offset(g, {}, Constant(3.0), {.name = "offset", .dtype = kInt64, .trainable = false});
  const EmbeddingVariable table(g, 2, {.name = "grows"});
  nn::EmbeddingLookup(table, input[0] + offset);
  const size_t nodes = ImplOf(g).num_nodes();
  input.LookUpAhead();
  EXPECT_EQ(g.status(), OkStatus());
  EXPECT_EQ(ImplOf(g).num_nodes(), nodes);
  EXPECT_EQ(input.queue_runners().size(), 1u);
}

TEST(StagedInputTest, MarkedOperationsAreComputedAheadOnTheDeviceOfTheBatch) {
  Graph g;
  std::optional<StagedInput> input;
  {
    const auto device = g.Device("/job:worker/task:0");
    input.emplace(std::vector<Output>{Const(g, Tensor::Scalar(3.0f))});
  }
  const Output square = Square((*input)[0]), sum = square + 1.0f;
  input->LookUpAhead({square.op()});
  ASSERT_EQ(g.status(), OkStatus());
  const Node* const copy = ImplOf(g).Find("staged_lookups/ahead/" + square.op().name());
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->device(), "/job:worker/task:0");
  EXPECT_EQ(sum.op().input(0).op().type(), "Identity") << "the sum reads the row that the thread has made";
}

TEST(StagedInputTest, AGraphThatIsFinalizedDoesNotChange) {
  Training training(Input::kStaged);
  const size_t nodes = ImplOf(training.g).num_nodes();
  training.g.Finalize("the test");
  training.input->LookUpAhead();
  EXPECT_EQ(training.g.TakeStatus().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ImplOf(training.g).num_nodes(), nodes);
}

TEST(StagedInputTest, ABatchHasATensor) {
  Graph g;
  const StagedInput input({});
  EXPECT_TRUE(input.queue_runners().empty());
  EXPECT_TRUE(input.batch().empty());
}

}  // namespace
}  // namespace tensorbraid
