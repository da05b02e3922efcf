// Tests recurrent layers: names, lengths, states, sharing, and that all ways to run a cell agree.
#include <gtest/gtest.h>

#include <cmath>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// A tensor of different values between -1 and 1.
Tensor Waves(const Shape& shape, double phase) {
  Tensor t(kFloat32, shape);
  double i = phase;
  for (float& v : t.mutable_data<float>()) v = static_cast<float>(std::sin(i += 1.7));
  return t;
}

std::vector<std::string> VariableNames(const Graph& g) {
  std::vector<std::string> names;
  for (const Variable& v : g.variables()) names.push_back(v.name());
  return names;
}

std::vector<Tensor> RunAll(Graph& g, const std::vector<Output>& fetches) {
  const Operation init = GlobalVariablesInitializer(g);
  EXPECT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g);
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return {};
  EXPECT_TRUE((*session)->Run({init}).ok());
  auto result = (*session)->Run(std::vector<Fetch>(fetches.begin(), fetches.end()));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : std::vector<Tensor>();
}

void ExpectClose(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  ASSERT_EQ(a.dtype(), b.dtype()) << what;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    if (a.dtype() == kFloat64) {
      ASSERT_NEAR(a.data<double>()[i], b.data<double>()[i], 1e-13) << what << ", element " << i;
    } else {
      ASSERT_NEAR(a.data<float>()[i], b.data<float>()[i], 2e-5) << what << ", element " << i;
    }
  }
}

constexpr int64_t kBatch = 3, kTime = 5, kFeatures = 4;

struct Kind {
  const char* name;
  layers::RnnCell cell;
};

std::vector<Kind> Kinds() {
  const layers::RnnCell lstm = layers::LSTMCell(6), gru = layers::GRUCell(5);
  return {{"lstm", lstm},
          {"lstm with peepholes", layers::LSTMCell(6, {.forget_bias = 0.2, .cell_clip = 0.7, .use_peepholes = true})},
          {"gru", gru},
          {"basic", layers::BasicRNNCell(6)},
          {"two layers", layers::MultiRNNCell({lstm, gru})}};
}

// Expects that a cell computes the same, with the same gradients, over whole sequences and unrolled step by step. Does
// so without lengths, and with lengths that are int32 for the whole sequences and int64 for the steps.
void ExpectSequencesAndStepsAgree(const Kind& kind, DType dtype) {
  for (const bool with_lengths : {false, true}) {
    Graph g;
    g.SetRandomSeed(7);
    const Output x = Cast(Const(g, Waves({kBatch, kTime, kFeatures}, 0.1)), dtype);
    const Output lengths = Const(g, Tensor::Vector<int32_t>({5, 0, 3}));
    const Output wide = Const(g, Tensor::Vector<int64_t>({5, 0, 3}));
    layers::RnnOptions options{.name = "rnn"};
    if (with_lengths) options.lengths = lengths;
    const layers::RnnResult dynamic = layers::DynamicRnn(kind.cell, x, options);
    ASSERT_TRUE(g.status().ok()) << kind.name << ": " << g.status();
    const size_t variables = g.variables().size();
    layers::StaticRnnResult steps;
    {
      auto again = g.VariableScope("", {.reuse = true});
      if (with_lengths) options.lengths = wide;
      steps = layers::StaticRnn(kind.cell, Unstack(x, 1, kTime), options);
    }
    ASSERT_TRUE(g.status().ok()) << kind.name << ": " << g.status();
    EXPECT_EQ(g.variables().size(), variables);
    ASSERT_EQ(steps.outputs.size(), static_cast<size_t>(kTime));
    const Output unrolled = Stack(std::vector<Operand>(steps.outputs.begin(), steps.outputs.end()), 1);
    std::vector<Output> xs = {x};
    for (const Variable& v : g.variables()) xs.push_back(v.value());
    const auto loss = [](Output outputs, const std::vector<Output>& state) {
      Output sum = ReduceSum(outputs * outputs * 0.5 + outputs);
      for (const Output& one : state) sum = sum + ReduceSum(one * one);
      return sum;
    };
    const auto first = Gradients({loss(dynamic.outputs, dynamic.state)}, xs);
    const auto second = Gradients({loss(unrolled, steps.state)}, xs);
    ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
    std::vector<Output> a = *first, b = *second;
    a.push_back(dynamic.outputs);
    b.push_back(unrolled);
    a.insert(a.end(), dynamic.state.begin(), dynamic.state.end());
    b.insert(b.end(), steps.state.begin(), steps.state.end());
    std::vector<Output> all = a;
    all.insert(all.end(), b.begin(), b.end());
    const std::vector<Tensor> values = RunAll(g, all);
    ASSERT_EQ(values.size(), all.size());
    for (size_t i = 0; i < a.size(); ++i) ExpectClose(values[i], values[a.size() + i], kind.name);
    if (!with_lengths || dtype != kFloat32) continue;
    // The outputs after the ends of sequences 1 and 2, whose lengths are 0 and 3, are zeros.
    const Tensor& outputs = values[first->size()];
    const int64_t units = outputs.shape().dim(2);
    for (int64_t k = 0; k < kTime * units; ++k) EXPECT_EQ(outputs.data<float>()[kTime * units + k], 0) << kind.name;
    for (int64_t k = 3 * units; k < kTime * units; ++k) {
      EXPECT_EQ(outputs.data<float>()[2 * kTime * units + k], 0) << kind.name;
    }
  }
}

TEST(RnnLayers, SequencesAndStepsAgree) {
  for (const Kind& kind : Kinds()) {
    for (const DType dtype : {kFloat32, kFloat64}) ExpectSequencesAndStepsAgree(kind, dtype);
  }
}

TEST(RnnLayers, ComputeInHalfPrecision) {
  for (const Kind& kind : Kinds()) {
    for (const DType dtype : {kFloat16, kBfloat16}) {
      Graph g;
      g.SetRandomSeed(7);
      const Output x = Const(g, Waves({kBatch, kTime, kFeatures}, 0.1));
      const Output wide = layers::DynamicRnn(kind.cell, x, {.name = "rnn"}).outputs;
      const size_t variables = g.variables().size();
      const Output narrow = layers::DynamicRnn(kind.cell, Cast(x, dtype), {.name = "narrow"}).outputs;
      std::vector<Operation> copies;
      for (size_t i = 0; i < variables; ++i) {
        copies.push_back(g.variables()[variables + i].Assign(Cast(g.variables()[i].value(), dtype)));
      }
      const Operation copy = Group(g, copies), init = GlobalVariablesInitializer(g);
      const Output difference = ReduceMax(Abs(wide - Cast(narrow, kFloat32)));
      ASSERT_TRUE(g.status().ok()) << kind.name << ": " << g.status();
      EXPECT_EQ(narrow.dtype(), dtype);
      auto session = Session::Create(g);
      ASSERT_TRUE(session.ok()) << session.status();
      ASSERT_TRUE((*session)->Run({init}).ok());
      ASSERT_TRUE((*session)->Run({copy}).ok());
      const auto result = (*session)->Run({difference});
      ASSERT_TRUE(result.ok()) << kind.name << ": " << result.status();
      EXPECT_LT(result->at(0).scalar<float>(), dtype == kFloat16 ? 4e-3f : 3e-2f) << kind.name;
    }
  }
}

// With DynamicRnn, the number of nodes does not depend on the number of steps.
TEST(RnnLayers, OnlyStaticRnnIsUnrolled) {
  for (const Kind& kind : Kinds()) {
    for (const DType dtype : {kFloat32, kFloat64}) {
      const auto nodes = [&](int64_t time) {
        Graph g;
        layers::DynamicRnn(kind.cell, Placeholder(g, dtype, {-1, time, kFeatures}));
        EXPECT_TRUE(g.status().ok()) << kind.name << ": " << g.status();
        return g.operations().size();
      };
      EXPECT_EQ(nodes(2), nodes(100)) << kind.name;
      // A few more nodes return the initial state of sequences that turn out to be empty.
      EXPECT_LT(nodes(-1), nodes(2) + 20) << kind.name;
    }
  }
}

TEST(RnnLayers, NameTheirVariablesLikeTensorFlow) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1, kTime, kFeatures});
  layers::BidirectionalRnn(layers::LSTMCell(2), layers::GRUCell(2), x);
  layers::DynamicRnn(layers::MultiRNNCell({layers::BasicRNNCell(2), layers::LSTMCell(2, {.use_peepholes = true})}), x);
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(VariableNames(g),
            (std::vector<std::string>{
                "bidirectional_rnn/fw/lstm_cell/kernel", "bidirectional_rnn/fw/lstm_cell/bias",
                "bidirectional_rnn/bw/gru_cell/gates/kernel", "bidirectional_rnn/bw/gru_cell/gates/bias",
                "bidirectional_rnn/bw/gru_cell/candidate/kernel", "bidirectional_rnn/bw/gru_cell/candidate/bias",
                "rnn/multi_rnn_cell/cell_0/basic_rnn_cell/kernel", "rnn/multi_rnn_cell/cell_0/basic_rnn_cell/bias",
                "rnn/multi_rnn_cell/cell_1/lstm_cell/kernel", "rnn/multi_rnn_cell/cell_1/lstm_cell/bias",
                "rnn/multi_rnn_cell/cell_1/lstm_cell/w_f_diag", "rnn/multi_rnn_cell/cell_1/lstm_cell/w_i_diag",
                "rnn/multi_rnn_cell/cell_1/lstm_cell/w_o_diag"}));
}

TEST(RnnLayers, TellTheVariablesOfEachCell) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1, kTime, kFeatures});
  const layers::RnnCell lstm = layers::LSTMCell(2), gru = layers::GRUCell(2);
  const auto names = [](const layers::CellVariables& variables) {
    std::vector<std::vector<std::string>> names;
    for (const std::vector<Variable>& of_cell : variables) {
      names.emplace_back();
      for (const Variable& v : of_cell) names.back().push_back(v.name());
    }
    return names;
  };
  const layers::RnnCell deep = layers::MultiRNNCell({layers::BasicRNNCell(2), layers::MultiRNNCell({gru})});
  const auto first = layers::DynamicRnn(deep, x, {.name = "rnn"});
  const std::string basic = "rnn/multi_rnn_cell/cell_0/basic_rnn_cell/",
                    inner = "rnn/multi_rnn_cell/cell_1/multi_rnn_cell/cell_0/gru_cell/";
  const std::vector<std::vector<std::string>> wanted = {
      {basic + "kernel", basic + "bias"},
      {inner + "gates/kernel", inner + "gates/bias", inner + "candidate/kernel", inner + "candidate/bias"}};
  EXPECT_EQ(names(first.variables), wanted);
  {
    const auto shared = g.VariableScope("", {.reuse = true});
    EXPECT_EQ(names(layers::DynamicRnn(deep, x, {.name = "rnn"}).variables), wanted) << "shared, not made";
  }
  const auto unrolled = layers::StaticRnn(lstm, {Placeholder(g, kFloat32, {-1, kFeatures})}, {.name = "static"});
  EXPECT_EQ(names(unrolled.variables),
            (std::vector<std::vector<std::string>>{{"static/lstm_cell/kernel", "static/lstm_cell/bias"}}));
  const auto both = layers::BidirectionalRnn(lstm, layers::BasicRNNCell(1), x, {.name = "both"});
  EXPECT_EQ(names(both.forward_variables),
            (std::vector<std::vector<std::string>>{{"both/fw/lstm_cell/kernel", "both/fw/lstm_cell/bias"}}));
  EXPECT_EQ(names(both.backward_variables),
            (std::vector<std::vector<std::string>>{{"both/bw/basic_rnn_cell/kernel", "both/bw/basic_rnn_cell/bias"}}));
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(RnnLayers, TheBackwardHalfReadsFromTheEndOfEachSequence) {
  for (const bool with_lengths : {false, true}) {
    Graph g;
    g.SetRandomSeed(3);
    const Output x = Const(g, Waves({kBatch, kTime, kFeatures}, 0.3));
    layers::BidirectionalRnnOptions options;
    if (with_lengths) options.lengths = Const(g, Tensor::Vector<int32_t>({5, 2, 4}));
    const auto both = layers::BidirectionalRnn(layers::LSTMCell(3), layers::LSTMCell(3), x, options);
    ASSERT_TRUE(g.status().ok()) << g.status();
    const auto values = RunAll(g, {both.outputs, both.backward, both.backward_state[1], both.forward_state[1]});
    ASSERT_EQ(values.size(), 4u);
    EXPECT_EQ(values[0].shape(), Shape({kBatch, kTime, 6}));
    for (int64_t b = 0; b < kBatch; ++b) {
      const int64_t last = with_lengths ? std::vector<int64_t>{5, 2, 4}[b] - 1 : kTime - 1;
      for (int64_t k = 0; k < 3; ++k) {
        // The backward half ends at the first step, the forward half at the last.
        EXPECT_EQ(values[1].data<float>()[b * kTime * 3 + k], values[2].data<float>()[b * 3 + k]);
        EXPECT_EQ(values[0].data<float>()[(b * kTime + last) * 6 + k], values[3].data<float>()[b * 3 + k]);
        EXPECT_EQ(values[0].data<float>()[b * kTime * 6 + 3 + k], values[1].data<float>()[b * kTime * 3 + k]);
      }
    }
  }
}

TEST(RnnLayers, AcceptAnyNumberOfSteps) {
  for (const Kind& kind : Kinds()) {
    for (const DType dtype : {kFloat32, kFloat64}) {
      Graph g;
      const Output x = Placeholder(g, dtype, {-1, -1, kFeatures}), lengths = Placeholder(g, kInt32, {-1});
      const auto both = layers::BidirectionalRnn(kind.cell, kind.cell, x, {.lengths = lengths});
      ASSERT_TRUE(g.status().ok()) << kind.name << ": " << g.status();
      std::vector<Output> xs = {x};
      for (const Variable& v : g.variables()) xs.push_back(v.value());
      const auto grads = Gradients({ReduceSum(both.outputs)}, xs);
      ASSERT_TRUE(grads.ok()) << kind.name << ": " << grads.status();
      const Operation init = GlobalVariablesInitializer(g);
      auto session = Session::Create(g);
      ASSERT_TRUE(session.ok()) << session.status();
      ASSERT_TRUE((*session)->Run({init}).ok());
      std::vector<Fetch> fetches = {both.outputs, both.forward_state[0]};
      fetches.insert(fetches.end(), grads->begin(), grads->end());
      const int64_t units = both.outputs.shape().dim(2), state = both.forward_state[0].shape().dim(1);
      for (const int64_t batch : {2, 0}) {
        for (const int64_t time : {4, 1, 0}) {
          Tensor input(dtype, {batch, time, kFeatures});
          if (dtype == kFloat32) input = Waves(input.shape(), 0.2);
          const Tensor counts = Tensor::Vector(std::vector<int32_t>(batch, 9));  // more than the steps that there are
          const auto result = (*session)->Run(fetches, {{x, input}, {lengths, counts}});
          ASSERT_TRUE(result.ok()) << kind.name << ": " << result.status();
          EXPECT_EQ(result->at(0).shape(), Shape({batch, time, units}));
          EXPECT_EQ(result->at(1).shape(), Shape({batch, state}));
          EXPECT_EQ(result->at(2).shape(), Shape({batch, time, kFeatures}));
        }
      }
    }
  }
}

TEST(RnnLayers, ContinueFromAState) {
  Graph g;
  const Output x = Const(g, Waves({kBatch, 6, kFeatures}, 0.4));
  const auto whole = layers::DynamicRnn(layers::LSTMCell(3), x, {.name = "rnn"});
  auto again = g.VariableScope("", {.reuse = true});
  const auto first = layers::DynamicRnn(layers::LSTMCell(3), Slice(x, {0, 0, 0}, {-1, 2, -1}), {.name = "rnn"});
  const auto second = layers::DynamicRnn(layers::LSTMCell(3), Slice(x, {0, 2, 0}, {-1, 4, -1}),
                                         {.initial_state = first.state, .name = "rnn"});
  ASSERT_TRUE(g.status().ok()) << g.status();
  const auto values = RunAll(g, {whole.state[0], second.state[0], whole.state[1], second.state[1]});
  ASSERT_EQ(values.size(), 4u);
  ExpectClose(values[0], values[1], "c");
  ExpectClose(values[2], values[3], "h");
}

TEST(RnnLayers, ErrorsSayWhatIsWrongAndNameTheLine) {
  const auto message = [](const std::function<void(Graph&)>& build) {
    Graph g;
    build(g);
    EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
    EXPECT_NE(g.status().message().find("rnn_test.cc"), std::string_view::npos) << g.status();
    return std::string(g.status().message());
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(message([](Graph& g) {
                    layers::DynamicRnn(layers::LSTMCell(0), Placeholder(g, kFloat32, {2, 3, 4}));
                  }),
                  "units must be positive"));
  EXPECT_TRUE(has(message([](Graph& g) {
                    layers::DynamicRnn(layers::LSTMCell(2), Placeholder(g, kFloat32, {2, 3}));
                  }),
                  "[batch, time, features]"));
  EXPECT_TRUE(has(message([](Graph& g) {
                    layers::DynamicRnn(layers::LSTMCell(2), Placeholder(g, kFloat32, {2, 3, -1}));
                  }),
                  "number of features"));
  EXPECT_TRUE(has(message([](Graph& g) {
                    layers::DynamicRnn(layers::LSTMCell(2), Placeholder(g, kFloat32, {2, 3, 4}),
                                       {.lengths = Const(g, Tensor::Vector<int32_t>({1, 2, 3}))});
                  }),
                  "lengths must be"));
  EXPECT_TRUE(has(message([](Graph& g) {
                    layers::DynamicRnn(layers::MultiRNNCell({}), Placeholder(g, kFloat32, {2, 3, 4}));
                  }),
                  "at least one cell"));
}

}  // namespace
}  // namespace tensorbraid
