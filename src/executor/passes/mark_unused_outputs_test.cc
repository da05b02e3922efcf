#include <gtest/gtest.h>

#include <algorithm>

#include "executor/evaluate.h"
#include "executor/passes/pass_test_util.h"
#include "graph/gradients/unused_outputs.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/rnn.h"

namespace tensorbraid {
namespace {

// The gradients of an LSTM of 4 units over 3 steps, with 5 features and batches of 2.
struct LstmTraining {
  LstmTraining() {
    const auto zeros = [&](const Shape& shape) { return Zeros(g, shape, kFloat32); };
    const Output x = Ones(g, {3, 2, 5}, kFloat32), w = Ones(g, {5 + 4, 4 * 4}, kFloat32) * 0.1f;
    const nn::LstmBlockOutputs out = nn::BlockLstm(x, zeros({2, 4}), zeros({2, 4}), w, zeros({4 * 4}));
    const auto grads = Gradients({ReduceSum(out.h)}, {x, w});
    TB_CHECK_OK(grads.status());
    of_x = grads->at(0);
    of_w = grads->at(1);
  }
  Graph g;
  Output of_x, of_w;
};

TEST(MarkUnusedOutputsPass, MarksTheOutputsThatNothingUses) {
  LstmTraining t;
  ASSERT_EQ(t.of_w.op().type(), "BlockLSTMGrad");
  const auto o = After(MarkUnusedOutputs, t.g, {}, {t.of_w});
  const Node& grad = FetchedFrom(*o, 0);
  EXPECT_EQ(grad.type(), "BlockLSTMGrad");
  for (int i = 0; i < grad.num_outputs(); ++i) EXPECT_EQ(IsUnusedOutput(grad, i), i != t.of_w.index()) << i;
}

TEST(MarkUnusedOutputsPass, DoesNotMarkFetchedOutputs) {
  LstmTraining t;
  const auto o = After(MarkUnusedOutputs, t.g, {}, {t.of_w, t.of_x});
  const Node& grad = FetchedFrom(*o, 0);
  EXPECT_FALSE(IsUnusedOutput(grad, t.of_x.index()));
  EXPECT_FALSE(IsUnusedOutput(grad, t.of_w.index()));
}

TEST(MarkUnusedOutputsPass, OtherOutputsKeepTheirValues) {
  LstmTraining t;
  const auto all = Evaluate({t.of_w, t.of_x});
  ASSERT_TRUE(all.ok()) << all.status();
  const auto marked = After(MarkUnusedOutputs, t.g, {}, {t.of_w});
  const auto one = Evaluate({ImplOf(*marked).Find("_retval_0")->inputs()[0]});
  ASSERT_TRUE(one.ok()) << one.status();
  const auto want = all->at(0).data<float>(), got = one->at(0).data<float>();
  EXPECT_TRUE(std::equal(want.begin(), want.end(), got.begin(), got.end()));
}

}  // namespace
}  // namespace tensorbraid
