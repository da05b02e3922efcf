// Tests of the ops on whole sequences: gradients by finite differences, steps after the last, and inputs that do not
// fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/text/strings.h"
#include "executor/evaluate.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

constexpr int64_t kTime = 4, kBatch = 3, kInputs = 2, kCells = 5;

// Pseudorandom elements in [-1, 1).
Tensor Draw(const Shape& shape, uint32_t seed) {
  Tensor t(kFloat64, shape);
  for (double& v : t.mutable_data<double>()) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<double>(seed >> 8) / (1 << 23) - 1.0;
  }
  return t;
}

// A sequence op, the values of its inputs, and its outputs that pass gradients on. Input 0 is the number of steps.
struct SequenceCase {
  std::string name;
  std::string op;
  std::vector<Shape> inputs;    // of float64, from input 1 on
  std::vector<double> scalars;  // after these; of _BlockLSTM, forget_bias and cell_clip
  std::vector<int> outputs;
  bool use_peephole = false;

  std::vector<Tensor> Values(int64_t steps) const {
    std::vector<Tensor> values = {Tensor::Scalar(steps)};
    for (const Shape& shape : inputs) values.push_back(Draw(shape, static_cast<uint32_t>(values.size())));
    for (const double scalar : scalars) values.push_back(Tensor::Scalar(scalar));
    return values;
  }
};

std::vector<SequenceCase> Cases() {
  const Shape x({kTime, kBatch, kInputs}), state({kBatch, kCells}), one({kCells});
  const int64_t width = kInputs + kCells;
  const std::vector<Shape> lstm = {x, state, state, {width, 4 * kCells}, one, one, one, {4 * kCells}};
  return {{"gru", "_BlockGRU", {x, state, {width, 2 * kCells}, {width, kCells}, {2 * kCells}, one}, {}, {3}},
          {"basic", "_BlockRNN", {x, state, {width, kCells}, one}, {}, {0}},
          {"lstm", "_BlockLSTM", lstm, {0.3, 0.0}, {1, 6}},
          {"clipped lstm with peepholes", "_BlockLSTM", lstm, {0.3, 0.4}, {1, 6}, true}};
}

// A node of the case's op over placeholders, which may be fed tensors of any shape.
Operation Build(Graph& g, const SequenceCase& c, const std::vector<Tensor>& values, std::vector<Output>* fed) {
  NodeBuilder builder(g, c.op);
  for (const Tensor& value : values) {
    fed->push_back(Placeholder(g, value.dtype()));
    builder.Input(fed->back());
  }
  if (c.op == "_BlockLSTM") builder.Attr("use_peephole", c.use_peephole);
  return builder.Finish();
}

std::vector<std::pair<Output, Tensor>> Feeds(const std::vector<Output>& fed, const std::vector<Tensor>& values) {
  std::vector<std::pair<Output, Tensor>> feeds;
  for (size_t i = 0; i < fed.size(); ++i) feeds.emplace_back(fed[i], values[i]);
  return feeds;
}

TEST(RnnSequences, GradientsAgreeWithFiniteDifferences) {
  for (const SequenceCase& c : Cases()) {
    for (const int64_t steps : {kTime, kTime - 1, int64_t{0}}) {
      Graph g;
      std::vector<Tensor> values = c.Values(steps);
      std::vector<Output> fed;
      const Operation op = Build(g, c, values, &fed);
      ASSERT_TRUE(op.valid()) << c.name << ": " << g.status();
      Output loss = Const(g, Tensor::Scalar(0.0));
      for (const int i : c.outputs) {
        loss = loss + ReduceSum(op.output(i) * Const(g, Draw({kTime, kBatch, kCells}, 100 + static_cast<uint32_t>(i))));
      }
      const std::vector<Output> xs(fed.begin() + 1, fed.begin() + 1 + static_cast<std::ptrdiff_t>(c.inputs.size()));
      const auto grads = Gradients({loss}, xs);
      ASSERT_TRUE(grads.ok()) << c.name << ": " << grads.status();
      for (size_t i = 0; i < xs.size(); ++i) {
        const bool peephole = c.op == "_BlockLSTM" && i >= 4 && i < 7;
        ASSERT_EQ(grads->at(i).valid(), !peephole || c.use_peephole) << c.name << ", input " << i + 1;
        if (!grads->at(i).valid()) continue;
        const auto grad = Evaluate({grads->at(i)}, Feeds(fed, values));
        ASSERT_TRUE(grad.ok()) << c.name << ": " << grad.status();
        ASSERT_EQ(grad->at(0).shape(), c.inputs[i]);
        const Tensor exact = values[i + 1];
        for (int64_t k = 0; k < exact.num_elements(); ++k) {
          const auto at = [&](double shift) {
            Tensor moved = exact.DeepCopy();
            moved.mutable_data<double>()[k] += shift;
            std::vector<Tensor> all = values;
            all[i + 1] = moved;
            return Evaluate({loss}, Feeds(fed, all))->at(0).scalar<double>();
          };
          constexpr double kShift = 1e-5;
          const double difference = (at(kShift) - at(-kShift)) / (2 * kShift);
          ASSERT_NEAR(grad->at(0).data<double>()[k], difference, 1e-7 * (1 + std::abs(difference)))
              << c.name << ", " << steps << " steps, input " << i + 1 << ", element " << k;
        }
      }
    }
  }
}

TEST(RnnSequences, StepsAfterTheLastAreZero) {
  for (const SequenceCase& c : Cases()) {
    Graph g;
    const std::vector<Tensor> values = c.Values(kTime - 2);
    std::vector<Output> fed;
    const Operation op = Build(g, c, values, &fed);
    ASSERT_TRUE(op.valid()) << c.name << ": " << g.status();
    for (int i = 0; i < op.num_outputs(); ++i) {
      const auto result = Evaluate({op.output(i)}, Feeds(fed, values));
      ASSERT_TRUE(result.ok()) << c.name << ": " << result.status();
      const auto data = result->at(0).data<double>();
      const auto end = data.begin() + (kTime - 2) * kBatch * kCells;
      EXPECT_TRUE(std::none_of(data.begin(), end, [](double v) { return v == 0; })) << c.name << ", output " << i;
      EXPECT_TRUE(std::all_of(end, data.end(), [](double v) { return v == 0; })) << c.name << ", output " << i;
    }
  }
}

// A client may send any shapes. Here each input in turn has one more dimension, or one more element in its last
// dimension.
TEST(RnnSequences, RefuseInputsThatDoNotFit) {
  for (const SequenceCase& c : Cases()) {
    const std::vector<Tensor> values = c.Values(kTime);
    Graph g;
    std::vector<Output> fed;
    const Operation op = Build(g, c, values, &fed);
    ASSERT_TRUE(op.valid()) << c.name << ": " << g.status();
    const auto right = Evaluate({op.output(0)}, Feeds(fed, values));
    ASSERT_TRUE(right.ok()) << c.name << ": " << right.status();
    NodeBuilder builder(g, c.op + "Grad");
    std::vector<Output> grad_fed(fed.begin(), fed.begin() + 1 + static_cast<std::ptrdiff_t>(c.inputs.size()));
    std::vector<Tensor> grad_values(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(grad_fed.size()));
    const size_t states = static_cast<size_t>(op.num_outputs()) + c.outputs.size();
    for (size_t i = 0; i < states; ++i) {
      grad_fed.push_back(Placeholder(g, kFloat64));
      grad_values.push_back(right->at(0));
    }
    if (c.op == "_BlockLSTM") {
      grad_fed.push_back(Placeholder(g, kFloat64));
      grad_values.push_back(Tensor::Scalar(0.4));
      builder.Attr("use_peephole", c.use_peephole);
    }
    for (const Output& input : grad_fed) builder.Input(input);
    const Operation grad = builder.Finish();
    ASSERT_TRUE(grad.valid()) << c.name << ": " << g.status();
    for (const auto& [node, all_fed, all_values] :
         {std::tuple(op, fed, values), std::tuple(grad, grad_fed, grad_values)}) {
      EXPECT_TRUE(Evaluate({node.output(0)}, Feeds(all_fed, all_values)).ok()) << c.name;
      for (const int64_t steps : {int64_t{-1}, kTime + 1}) {
        std::vector<Tensor> wrong = all_values;
        wrong[0] = Tensor::Scalar(steps);
        const Status status = Evaluate({node.output(0)}, Feeds(all_fed, wrong)).status();
        EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.name << ", " << steps << " steps: " << status;
      }
      for (size_t i = 0; i < all_values.size(); ++i) {
        Shape deeper({1}), longer = all_values[i].shape();
        for (const int64_t dim : all_values[i].shape().dims()) deeper.AddDim(dim);
        if (longer.rank() > 0) longer.set_dim(longer.rank() - 1, longer.dim(longer.rank() - 1) + 1);
        for (const Shape& shape : {deeper, longer}) {
          if (shape == all_values[i].shape()) continue;
          std::vector<Tensor> wrong = all_values;
          wrong[i] = Tensor(all_values[i].dtype(), shape);
          const Status status = Evaluate({node.output(0)}, Feeds(all_fed, wrong)).status();
          EXPECT_TRUE(absl::IsInvalidArgument(status))
              << c.name << ", input " << i << " " << shape.ToString() << ": " << status;
        }
      }
    }
  }
}

TEST(RnnSequences, MayBeEmpty) {
  for (const SequenceCase& c : Cases()) {
    // Once there are no steps. Once there are no sequences, so the number of steps may be huge.
    for (const int64_t time : {int64_t{0}, int64_t{1} << 50}) {
      std::vector<Tensor> values = c.Values(time);
      const int64_t batch = time == 0 ? kBatch : 0;
      values[1] = Tensor(kFloat64, {time, batch, kInputs});
      const int states = c.op == "_BlockLSTM" ? 2 : 1;
      for (int i = 0; i < states; ++i) values[2 + i] = Draw({batch, kCells}, 7);
      Graph g;
      std::vector<Output> fed;
      const Operation op = Build(g, c, values, &fed);
      const Output h = op.output(op.num_outputs() - 1);
      const auto grads = Gradients({h}, {fed[1], fed[4]});
      ASSERT_TRUE(grads.ok()) << c.name << ": " << grads.status();
      const auto result = Evaluate({h, grads->at(0), grads->at(1)}, Feeds(fed, values));
      ASSERT_TRUE(result.ok()) << c.name << ": " << result.status();
      EXPECT_EQ(result->at(0).shape(), Shape({time, batch, kCells})) << c.name;
      EXPECT_EQ(result->at(1).shape(), values[1].shape()) << c.name;
      const auto weights = result->at(2).data<double>();
      EXPECT_TRUE(std::all_of(weights.begin(), weights.end(), [](double v) { return v == 0; })) << c.name;
    }
  }
}

}  // namespace
}  // namespace tensorbraid
