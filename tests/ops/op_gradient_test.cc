// Compares gradients with finite differences in float64 or with TensorFlow's gradients, for those rows of the op table
// (op_case.h) that have `gradient` or `tf_gradient`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/text/strings.h"
#include "decompositions.h"
#include "executor/evaluate.h"
#include "op_case.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

// The sum of all float64 outputs, each element with a weight of its own, as a function of the inputs.
struct Model {
  Graph g;
  std::vector<Output> inputs;
  std::vector<Tensor> values;
  Output loss;

  std::vector<std::pair<Output, Tensor>> Feeds(const std::vector<Tensor>& at) const {
    std::vector<std::pair<Output, Tensor>> feeds;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].op().type() == "Placeholder") feeds.emplace_back(inputs[i], at[i]);
    }
    return feeds;
  }

  StatusOr<double> LossAt(const std::vector<Tensor>& at) const {
    TF_ASSIGN_OR_RETURN(const std::vector<Tensor> result, Evaluate({loss}, Feeds(at)));
    return result[0].scalar<double>();
  }
};

// Builds the node of a case. While it is built, the sizes of float64 inputs are known or, without `sizes_known`, only
// their ranks. The other inputs (axes, indices) are constants.
void Build(const OpCase& c, bool sizes_known, Model* m) {
  for (const OpCase::Input& in : c.inputs) {
    for (const Tensor& t : in.tensors) {
      m->values.push_back(t);
      m->inputs.push_back(t.dtype() != kFloat64 ? Const(m->g, t)
                          : sizes_known         ? Placeholder(m->g, kFloat64, t.shape())
                                                : Placeholder(m->g, kFloat64, Shape::UnknownOfRank(t.shape().rank())));
    }
  }
  const Operation op = AddCase(m->g, c, m->inputs);
  ASSERT_TRUE(m->g.status().ok()) << m->g.status();
  double weight = 0.7;  // the weights are pseudorandom numbers from 0.1 to 2.1
  for (int i = 0; i < op.num_outputs(); ++i) {
    if (op.output(i).dtype() != kFloat64) continue;
    Tensor weights(kFloat64, c.outputs[i].shape());
    for (double& w : weights.mutable_data<double>()) {
      w = weight;
      weight = std::fmod(weight * 1.7 + 0.3, 2.0) + 0.1;
    }
    const Output term = ReduceSum(op.output(i) * weights);
    m->loss = m->loss.valid() ? m->loss + term : term;
  }
  ASSERT_TRUE(m->loss.valid()) << m->g.status();
}

// Gradients of decompositions depend on the sizes of the matrices, as in TensorFlow.
bool IsRefusedForSizes(const Status& status, bool sizes_known) {
  return !sizes_known && status.message().find("requires matrices of known size") != std::string::npos;
}

void CheckGradient(const OpCase& c, bool sizes_known) {
  Model m;
  ASSERT_NO_FATAL_FAILURE(Build(c, sizes_known, &m));
  std::vector<Output> xs;
  for (int i : c.gradient) xs.push_back(m.inputs[i]);
  const auto gradients = Gradients({m.loss}, xs);
  if (IsRefusedForSizes(gradients.status(), sizes_known)) return;
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  ASSERT_TRUE(m.g.status().ok()) << m.g.status();
  for (const Output& g : *gradients) ASSERT_TRUE(g.valid()) << "nothing flows to an input";
  const auto got = Evaluate(*gradients, m.Feeds(m.values));
  ASSERT_TRUE(got.ok()) << got.status();
  for (size_t k = 0; k < c.gradient.size(); ++k) {
    const int input = c.gradient[k];
    Tensor want(kFloat64, m.values[input].shape());
    for (int64_t e = 0; e < want.num_elements(); ++e) {
      constexpr double kStep = 1e-5;
      double loss[2];
      for (int side = 0; side < 2; ++side) {
        std::vector<Tensor> at = m.values;
        at[input] = at[input].DeepCopy();
        at[input].mutable_data<double>()[e] += side == 0 ? -kStep : kStep;
        const auto value = m.LossAt(at);
        ASSERT_TRUE(value.ok()) << value.status();
        loss[side] = *value;
      }
      want.mutable_data<double>()[e] = (loss[1] - loss[0]) / (2 * kStep);
    }
    EXPECT_EQ(Difference((*got)[k], want, 2e-6), "") << "gradient of input " << input;
  }
}

void CheckAll(bool sizes_known) {
  std::string error;
  const std::vector<OpCase> cases = LoadCases(&error);
  ASSERT_EQ(error, "");
  int checked = 0;
  for (const OpCase& c : cases) {
    if (c.gradient.empty()) continue;
    SCOPED_TRACE(StrCat(c.where, " ", c.op));
    CheckGradient(c, sizes_known);
    ++checked;
  }
  EXPECT_GT(checked, 50);
}

// Compares the gradients of a case with TensorFlow's. While they are built, the sizes of the inputs to differentiate by
// are known or, without `sizes_known`, only their ranks.
void CheckTensorFlowGradient(const OpCase& c, bool sizes_known) {
  Graph g;
  std::vector<Output> inputs;
  std::vector<std::pair<Output, Tensor>> feeds;
  for (const OpCase::Input& in : c.inputs) {
    for (const Tensor& t : in.tensors) {
      const int index = static_cast<int>(inputs.size());
      const auto& xs = c.tf_gradient.inputs;
      if (std::find(xs.begin(), xs.end(), index) == xs.end()) {
        inputs.push_back(Const(g, t));
        continue;
      }
      const Shape shape = sizes_known ? t.shape() : Shape::UnknownOfRank(t.shape().rank());
      inputs.push_back(Placeholder(g, t.dtype(), shape));
      feeds.emplace_back(inputs.back(), t);
    }
  }
  const Operation op = AddCase(g, c, inputs);
  ASSERT_TRUE(g.status().ok()) << g.status();
  std::vector<Tensor> given = c.tf_gradient.grad_ys;
  if (IsAmbiguous(c.op)) {
    std::vector<Output> outputs;
    for (int i = 0; i < op.num_outputs(); ++i) outputs.push_back(op.output(i));
    const auto ours = Evaluate(outputs, feeds);
    ASSERT_TRUE(ours.ok()) << ours.status();
    given = TurnedGradients(c.op, given, c.outputs, *ours);
  }
  std::vector<Output> xs, ys, grad_ys;
  for (int i : c.tf_gradient.inputs) xs.push_back(inputs[i]);
  for (int i = 0; i < op.num_outputs(); ++i) {
    if (!given[i].is_valid()) continue;
    ys.push_back(op.output(i));
    grad_ys.push_back(Const(g, given[i]));
  }
  const auto gradients = Gradients(ys, xs, grad_ys);
  if (IsRefusedForSizes(gradients.status(), sizes_known)) return;
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  for (size_t k = 0; k < xs.size(); ++k) {
    const Tensor& want = c.tf_gradient.values[k];
    ASSERT_EQ((*gradients)[k].valid(), want.is_valid()) << "whether a gradient flows to input " << k;
    if (!want.is_valid()) continue;
    const auto got = Evaluate({(*gradients)[k]}, feeds);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(Difference((*got)[0], want, c.tolerance), "") << "gradient of input " << c.tf_gradient.inputs[k];
  }
}

void CheckAllTensorFlowGradients(bool sizes_known) {
  std::string error;
  for (const OpCase& c : LoadCases(&error)) {
    if (c.tf_gradient.inputs.empty()) continue;
    SCOPED_TRACE(StrCat(c.where, " ", c.op));
    CheckTensorFlowGradient(c, sizes_known);
  }
  ASSERT_EQ(error, "");
}

TEST(OpGradients, AgreeWithFiniteDifferences) { CheckAll(/*sizes_known=*/true); }
TEST(OpGradients, AgreeWithFiniteDifferencesWhenOnlyRanksAreKnown) { CheckAll(/*sizes_known=*/false); }
TEST(OpGradients, MatchTensorFlow) { CheckAllTensorFlowGradients(/*sizes_known=*/true); }
TEST(OpGradients, MatchTensorFlowWhenOnlyRanksAreKnown) { CheckAllTensorFlowGradients(/*sizes_known=*/false); }

}  // namespace
}  // namespace tensorbraid
