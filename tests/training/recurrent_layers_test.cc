// Compares recurrent layers with TensorFlow's dynamic_rnn and bidirectional_dynamic_rnn: names of variables, outputs,
// states and gradients. See README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "rows.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

Tensor TensorOf(const Json& values, const Shape& shape, DType dtype) {
  Tensor t(dtype, shape);
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == kFloat64) {
      t.mutable_data<double>()[i] = values[i].get<double>();
    } else {
      t.mutable_data<float>()[i] = values[i].get<float>();
    }
  }
  return t;
}

Shape ShapeOfRow(const Json& row) { return Shape(row.at("shape").get<std::vector<int64_t>>()); }

layers::RnnCell CellOf(const Json& cell, int64_t units) {
  const std::string kind = cell.at("kind").get<std::string>();
  const Json& o = cell.at("options");
  if (kind == "gru") return layers::GRUCell(units);
  if (kind == "basic") return layers::BasicRNNCell(units);
  return layers::LSTMCell(units, {.forget_bias = o.value("forget_bias", 1.0),
                                  .cell_clip = o.value("cell_clip", 0.0),
                                  .use_peepholes = o.value("use_peepholes", false)});
}

struct Layer {
  Output outputs;
  std::vector<Output> state;
};

Layer BuildLayer(const Json& row, const Output& x, const std::optional<Operand>& lengths,
                 const std::vector<Output>& initial_state) {
  std::vector<layers::RnnCell> cells;
  for (const Json& cell : row.at("cells")) cells.push_back(CellOf(cell, row.at("units").get<int64_t>()));
  const bool time_major = row.at("options").value("time_major", false);
  if (row.at("options").value("bidirectional", false)) {
    const auto both = layers::BidirectionalRnn(cells[0], cells[1], x, {.lengths = lengths, .time_major = time_major});
    Layer layer{both.outputs, both.forward_state};
    layer.state.insert(layer.state.end(), both.backward_state.begin(), both.backward_state.end());
    return layer;
  }
  const auto result =
      layers::DynamicRnn(cells.size() == 1 ? cells[0] : layers::MultiRNNCell(cells), x,
                         {.lengths = lengths, .initial_state = initial_state, .time_major = time_major});
  return {result.outputs, result.state};
}

// Compares a row with TensorFlow's results. With `known_sizes`, the sizes of batch and time are known while the graph
// is built.
void ExpectTensorFlows(const Json& row, bool known_sizes) {
  const DType dtype = row.at("dtype") == "float64" ? kFloat64 : kFloat32;
  const std::string where = row.at("cells").dump() + row.at("options").dump() + row.at("lengths").dump() +
                            row.at("dtype").dump() + (known_sizes ? "" : ", unknown sizes");
  const Shape shape = ShapeOfRow(row.at("x"));
  Graph g;
  const Output x = Placeholder(g, dtype, known_sizes ? shape : Shape({-1, -1, shape.dim(2)}), "x");
  std::vector<Feed> feeds = {{x, TensorOf(row.at("x").at("values"), shape, dtype)}};
  std::optional<Operand> lengths;
  if (!row.at("lengths").is_null()) {
    const auto counts = row.at("lengths").get<std::vector<int32_t>>();
    const Output fed = Placeholder(g, kInt32, {known_sizes ? static_cast<int64_t>(counts.size()) : -1}, "lengths");
    feeds.emplace_back(fed, Tensor::Vector(counts));
    lengths = fed;
  }
  std::vector<Output> initial_state;
  for (const Json& state : row.at("initial_state")) {
    const int64_t units = row.at("units").get<int64_t>();
    const Shape size({static_cast<int64_t>(state.size()) / units, units});
    initial_state.push_back(Const(g, TensorOf(state, size, dtype)));
  }
  const Layer layer = BuildLayer(row, x, lengths, initial_state);
  ASSERT_TRUE(g.status().ok()) << where << ": " << g.status();
  Output loss = ReduceSum(layer.outputs * layer.outputs * 0.5 + layer.outputs);
  for (const Output& state : layer.state) loss = loss + ReduceSum(state * state);
  std::vector<Output> sources = {x};
  sources.insert(sources.end(), initial_state.begin(), initial_state.end());
  std::vector<Operation> assigns;
  for (const Json& weight : row.at("variables")) {
    const auto variables = g.variables();
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) {
      return v.name() == weight.at("name").get<std::string>();
    });
    ASSERT_NE(found, variables.end()) << where << " has no variable " << weight.at("name");
    sources.push_back(found->value());
    assigns.push_back(found->Assign(Const(g, TensorOf(weight.at("values"), ShapeOfRow(weight), dtype))));
  }
  ASSERT_EQ(assigns.size(), g.variables().size()) << where;
  const auto grads = Gradients({loss}, sources);
  ASSERT_TRUE(grads.ok()) << where << ": " << grads.status();
  std::vector<Fetch> fetches = {layer.outputs};
  fetches.insert(fetches.end(), layer.state.begin(), layer.state.end());
  fetches.insert(fetches.end(), grads->begin(), grads->end());
  const Operation start = Group(g, assigns);
  auto session = Session::Create(g);
  ASSERT_TRUE(session.ok()) << where << ": " << session.status();
  ASSERT_TRUE((*session)->Run({start}).ok());
  const auto results = (*session)->Run(fetches, feeds);
  ASSERT_TRUE(results.ok()) << where << ": " << results.status();
  ASSERT_EQ(results->size(), row.at("results").size()) << where;
  const double tolerance = dtype == kFloat64 ? 1e-12 : 5e-6;
  for (size_t r = 0; r < results->size(); ++r) {
    const Json& want = row.at("results")[r];
    const Tensor& got = results->at(r);
    ASSERT_EQ(got.num_elements(), static_cast<int64_t>(want.size())) << where << ", result " << r;
    for (size_t i = 0; i < want.size(); ++i) {
      const double value = dtype == kFloat64 ? got.data<double>()[i] : static_cast<double>(got.data<float>()[i]);
      const double w = want[i].get<double>();
      EXPECT_NEAR(value, w, tolerance * std::max(1.0, std::abs(w))) << where << ", result " << r << ", element " << i;
    }
  }
}

TEST(TrainingTest, RecurrentLayersMatchTensorFlow) {
  for (const Json& row : Rows("recurrent_layers")) {
    for (const bool known_sizes : {true, false}) ExpectTensorFlows(row, known_sizes);
  }
}

}  // namespace
}  // namespace tensorbraid
