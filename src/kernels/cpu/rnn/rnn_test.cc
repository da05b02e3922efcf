// Compares recurrent cells with the same cells made of small ops: values, gradients, and sizes at which the work is
// split over threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "kernels/cpu/vector_math.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

// Pseudorandom elements in [-1, 1).
Tensor Noise(const Shape& shape, uint32_t seed) {
  Tensor t(kFloat32, shape);
  for (float& v : t.mutable_data<float>()) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<float>(seed >> 8) / (1 << 23) - 1.0f;
  }
  return t;
}

void ExpectNear(const Tensor& got, const Tensor& want, float tolerance, const char* what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    const float a = got.data<float>()[i], b = want.data<float>()[i];
    ASSERT_NEAR(a, b, tolerance * (1 + std::abs(b))) << what << ", element " << i;
  }
}

// The sum of all elements, multiplied by different weights.
Output Weighted(Graph& g, Output x, uint32_t seed) { return ReduceSum(x * Const(g, Noise(x.shape(), seed))); }

struct Lstm {
  Lstm(Graph& g, int64_t time, int64_t batch, int64_t inputs, int64_t cells)
      : time(time),
        cells(cells),
        x(Const(g, Noise({time, batch, inputs}, 1))),
        cs(Const(g, Noise({batch, cells}, 2))),
        h(Const(g, Noise({batch, cells}, 3))),
        w(Const(g, Noise({inputs + cells, 4 * cells}, 4))),
        b(Const(g, Noise({4 * cells}, 5))),
        peepholes{Const(g, Noise({cells}, 6)), Const(g, Noise({cells}, 7)), Const(g, Noise({cells}, 8))} {}
  std::vector<Output> Inputs(bool with_peepholes) const {
    std::vector<Output> all = {x, cs, h, w, b};
    if (with_peepholes) all.insert(all.end(), peepholes, peepholes + 3);
    return all;
  }
  std::optional<nn::LstmPeepholes> Peepholes(bool use) const {
    if (!use) return {};
    return nn::LstmPeepholes{peepholes[0], peepholes[1], peepholes[2]};
  }
  const int64_t time, cells;
  const Output x, cs, h, w, b;
  const Output peepholes[3];
};

// cs and h of all steps, from small ops. `version2`: the order of the gates in BlockLSTMV2.
std::pair<Output, Output> FromSmallOps(const Lstm& l, bool peephole, float forget_bias, bool version2) {
  Output cs = l.cs, h = l.h;
  std::vector<Operand> all_cs, all_h;
  for (const Output& x : Unstack(l.x)) {
    const auto gates = Split(MatMul(Concat({x, h}, 1), l.w) + l.b, 4, 1);
    Output i = gates[0], c = gates[version2 ? 2 : 1], f = gates[version2 ? 1 : 2] + forget_bias, o = gates[3];
    if (peephole) i = i + cs * l.peepholes[0], f = f + cs * l.peepholes[1];
    cs = Sigmoid(i) * Tanh(c) + Sigmoid(f) * cs;
    if (peephole) o = o + cs * l.peepholes[2];
    h = Sigmoid(o) * Tanh(cs);
    all_cs.push_back(cs);
    all_h.push_back(h);
  }
  return {Stack(all_cs), Stack(all_h)};
}

void ExpectSameLstm(Graph& g, const Lstm& l, bool peephole, Output cs, Output h, std::pair<Output, Output> want) {
  const std::vector<Output> inputs = l.Inputs(peephole);
  const auto got_grads = Gradients({Weighted(g, cs, 10), Weighted(g, h, 11)}, inputs);
  const auto want_grads = Gradients({Weighted(g, want.first, 10), Weighted(g, want.second, 11)}, inputs);
  ASSERT_TRUE(got_grads.ok() && want_grads.ok()) << got_grads.status() << want_grads.status();
  std::vector<Output> fetches = {cs, want.first, h, want.second};
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_TRUE(got_grads->at(i).valid()) << i;
    fetches.push_back(got_grads->at(i));
    fetches.push_back(want_grads->at(i));
  }
  const auto result = Evaluate(fetches);
  ASSERT_TRUE(result.ok()) << result.status() << g.status();
  constexpr const char* kNames[] = {"cs", "h", "x", "cs_prev", "h_prev", "w", "b", "wci", "wcf", "wco"};
  for (size_t i = 0; i < result->size(); i += 2) ExpectNear(result->at(i), result->at(i + 1), 1e-4f, kNames[i / 2]);
}

TEST(Rnn, SequencesEqualCellsOfSmallOps) {
  for (const bool peephole : {false, true}) {
    Graph g;
    const Lstm l(g, 4, 3, 5, 7);
    const auto out = nn::BlockLstm(l.x, l.cs, l.h, l.w, l.b, {.forget_bias = 0.6f, .peepholes = l.Peepholes(peephole)});
    ExpectSameLstm(g, l, peephole, out.cs, out.h, FromSmallOps(l, peephole, 0.6f, /*version2=*/false));
  }
}

// Parts of a large batch are computed independently of each other.
TEST(Rnn, SequencesOfALargeBatchEqualCellsOfSmallOps) {
  Graph g;
  const Lstm l(g, 4, 37, 5, 7);
  const auto out = nn::BlockLstm(l.x, l.cs, l.h, l.w, l.b, {.peepholes = l.Peepholes(true)});
  ExpectSameLstm(g, l, /*peephole=*/true, out.cs, out.h, FromSmallOps(l, /*peephole=*/true, 1.0f, /*version2=*/false));
}

TEST(Rnn, BlockLstmV2OrdersItsGatesInGradientsToo) {
  for (const bool peephole : {false, true}) {
    Graph g;
    const Lstm l(g, 4, 3, 5, 7);
    const Operation op = NodeBuilder(g, "BlockLSTMV2")
                             .Input(Const(g, Tensor::Scalar(int64_t{4})))
                             .Input(l.x)
                             .Input(l.cs)
                             .Input(l.h)
                             .Input(l.w)
                             .Input(l.peepholes[0])
                             .Input(l.peepholes[1])
                             .Input(l.peepholes[2])
                             .Input(l.b)
                             .Attr("use_peephole", peephole)
                             .Finish();
    ASSERT_TRUE(op.valid()) << g.status();
    ExpectSameLstm(g, l, peephole, op.output(1), op.output(6), FromSmallOps(l, peephole, 0.0f, /*version2=*/true));
  }
}

TEST(Rnn, LstmBlockCellsEqualCellsOfSmallOps) {
  for (const bool peephole : {false, true}) {
    Graph g;
    const Lstm l(g, 4, 3, 5, 7);
    Output cs = l.cs, h = l.h;
    std::vector<Operand> all_cs, all_h;
    for (const Output& x : Unstack(l.x)) {
      const auto out = nn::LstmBlockCell(x, cs, h, l.w, l.b, {.peepholes = l.Peepholes(peephole)});
      cs = out.cs, h = out.h;
      all_cs.push_back(cs);
      all_h.push_back(h);
    }
    ExpectSameLstm(g, l, peephole, Stack(all_cs), Stack(all_h), FromSmallOps(l, peephole, 1.0f, /*version2=*/false));
  }
}

TEST(Rnn, StepsAfterTheLastAreZeroAndHaveNoGradient) {
  Graph g;
  const Lstm l(g, 5, 3, 5, 7);
  const auto out = nn::BlockLstm(l.x, l.cs, l.h, l.w, l.b, /*options=*/{}, /*steps=*/3);
  const auto grads = Gradients({Weighted(g, out.h, 10)}, {l.x});
  ASSERT_TRUE(grads.ok()) << grads.status();
  const auto result = Evaluate({out.h, grads->at(0)});
  ASSERT_TRUE(result.ok()) << result.status();
  const auto h = result->at(0).data<float>(), dx = result->at(1).data<float>();
  // 3 steps of 3 rows, of 7 cells or 5 inputs.
  EXPECT_TRUE(std::all_of(h.begin() + 3 * 3 * 7, h.end(), [](float v) { return v == 0; }));
  EXPECT_TRUE(std::all_of(dx.begin() + 3 * 3 * 5, dx.end(), [](float v) { return v == 0; }));
  EXPECT_NE(h[3 * 3 * 7 - 1], 0);
  EXPECT_NE(dx[3 * 3 * 5 - 1], 0);
}

struct Gru {
  Gru(Graph& g, int64_t batch, int64_t inputs, int64_t cells)
      : x(Const(g, Noise({batch, inputs}, 1))),
        h(Const(g, Noise({batch, cells}, 2))),
        w_ru(Const(g, Noise({inputs + cells, 2 * cells}, 3))),
        w_c(Const(g, Noise({inputs + cells, cells}, 4))),
        b_ru(Const(g, Noise({2 * cells}, 5))),
        b_c(Const(g, Noise({cells}, 6))) {}
  const Output x, h, w_ru, w_c, b_ru, b_c;
};

TEST(Rnn, GruEqualsGruOfSmallOps) {
  Graph g;
  const Gru n(g, 3, 5, 7);
  const Output h = nn::GruBlockCell(n.x, n.h, n.w_ru, n.w_c, n.b_ru, n.b_c).h;
  const auto ru = Split(Sigmoid(MatMul(Concat({n.x, n.h}, 1), n.w_ru) + n.b_ru), 2, 1);
  const Output c = Tanh(MatMul(Concat({n.x, n.h * ru[0]}, 1), n.w_c) + n.b_c);
  const Output want = ru[1] * n.h + (1.0 - ru[1]) * c;
  const std::vector<Output> inputs = {n.x, n.h, n.w_ru, n.w_c, n.b_ru, n.b_c};
  const auto got_grads = Gradients({Weighted(g, h, 10)}, inputs),
             want_grads = Gradients({Weighted(g, want, 10)}, inputs);
  ASSERT_TRUE(got_grads.ok() && want_grads.ok()) << got_grads.status() << want_grads.status();
  std::vector<Output> fetches = {h, want};
  for (size_t i = 0; i < inputs.size(); ++i) {
    fetches.push_back(got_grads->at(i));
    fetches.push_back(want_grads->at(i));
  }
  const auto result = Evaluate(fetches);
  ASSERT_TRUE(result.ok()) << result.status() << g.status();
  for (size_t i = 0; i < result->size(); i += 2) ExpectNear(result->at(i), result->at(i + 1), 1e-5f, "h or a gradient");
}

// Work is split over threads, by rows of the batch, columns of weights or rows of products.
TEST(Rnn, ResultsOnOneThreadAndOnSeveralAgree) {
  Graph g;
  const Lstm l(g, 6, 150, 70, 130);
  const auto out = nn::BlockLstm(l.x, l.cs, l.h, l.w, l.b, {.peepholes = l.Peepholes(true)});
  const std::vector<Output> inputs = l.Inputs(true);
  const auto grads = Gradients({Weighted(g, out.h, 10)}, inputs);
  ASSERT_TRUE(grads.ok()) << grads.status();
  const Gru n(g, 200, 70, 130);
  const Output gru = nn::GruBlockCell(n.x, n.h, n.w_ru, n.w_c, n.b_ru, n.b_c).h;
  std::vector<Output> fetches = *grads;
  const auto gru_grads = Gradients({Weighted(g, gru, 10)}, {n.x, n.h});
  ASSERT_TRUE(gru_grads.ok()) << gru_grads.status();
  fetches.insert(fetches.end(), {out.cs, out.h, gru, gru_grads->at(0), gru_grads->at(1)});
  ThreadPool pool("rnn_test", 3);
  EvaluateOptions options;
  options.pool = &pool;
  const auto alone = Evaluate(fetches), shared = Evaluate(fetches, {}, options);
  ASSERT_TRUE(alone.ok() && shared.ok()) << alone.status() << shared.status();
  for (size_t i = 0; i < fetches.size(); ++i) {
    ExpectNear(shared->at(i), alone->at(i), 1e-4f, fetches[i].name().c_str());
  }
}

TEST(VectorMath, AgreesWithTheStandardLibrary) {
  for (int i = -12000; i <= 12000; ++i) {
    const float x = static_cast<float>(i) / 128;
    const double exp = std::exp(static_cast<double>(x));
    if (exp > 1e-37 && exp < 3e38) {
      EXPECT_NEAR(cpu::VectorExp(x) / exp, 1, 2e-7) << x;
    }
    EXPECT_NEAR(cpu::VectorTanh(x), std::tanh(static_cast<double>(x)), 2e-7 * std::abs(std::tanh(x))) << x;
    if (i > 0) {
      EXPECT_NEAR(cpu::VectorLog(x), std::log(static_cast<double>(x)), 2e-7 * (1 + std::abs(std::log(x)))) << x;
    }
  }
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_EQ(cpu::VectorExp(-inf), 0);
  EXPECT_EQ(cpu::VectorExp(inf), inf);
  EXPECT_EQ(cpu::VectorLog(0.0f), -inf);
  EXPECT_NEAR(cpu::VectorLog(1e-40f), -92.1034, 1e-3);  // ln(1e-40)
  EXPECT_EQ(cpu::VectorTanh(-inf), -1);
  EXPECT_EQ(cpu::VectorSigmoid(-inf), 0);
  EXPECT_EQ(cpu::VectorSigmoid(inf), 1);
  for (const float v : {cpu::VectorExp(nan), cpu::VectorLog(nan), cpu::VectorTanh(nan), cpu::VectorSigmoid(nan)}) {
    EXPECT_TRUE(std::isnan(v));
  }
}

}  // namespace
}  // namespace tensorbraid
