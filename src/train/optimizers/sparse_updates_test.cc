// Tests optimizers that update rows of a table against TensorFlow's results (testdata/make_sparse_updates.py).
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using Json = nlohmann::json;

constexpr int64_t kRows = 7;

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(const Variable& global_step)>;

// The optimizers of make_sparse_updates.py, keyed by name.
std::map<std::string, MakeOptimizer> Optimizers() {
  return {
      {"gradient_descent", [](auto&) { return std::make_unique<GradientDescentOptimizer>(0.1); }},
      {"momentum", [](auto&) { return std::make_unique<MomentumOptimizer>(0.1, 0.9); }},
      {"nesterov",
       [](auto&) { return std::make_unique<MomentumOptimizer>(0.1, 0.9, MomentumOptions{.use_nesterov = true}); }},
      {"adadelta", [](auto&) { return std::make_unique<AdadeltaOptimizer>(1.0, AdadeltaOptions{.epsilon = 1e-4}); }},
      {"adagrad", [](auto&) { return std::make_unique<AdagradOptimizer>(0.3); }},
      {"adagrad_da",
       [](auto& step) {
         return std::make_unique<AdagradDAOptimizer>(
             0.3, step, AdagradDAOptions{.l1_regularization_strength = 0.01, .l2_regularization_strength = 0.1});
       }},
      {"adam", [](auto&) { return std::make_unique<AdamOptimizer>(0.1); }},
      {"rms_prop", [](auto&) { return std::make_unique<RMSPropOptimizer>(0.05, RMSPropOptions{.momentum = 0.5}); }},
      {"centered_rms_prop",
       [](auto&) {
         return std::make_unique<RMSPropOptimizer>(0.05,
                                                   RMSPropOptions{.momentum = 0.5, .epsilon = 0.01, .centered = true});
       }},
      {"ftrl",
       [](auto&) {
         return std::make_unique<FtrlOptimizer>(
             0.3, FtrlOptions{.l1_regularization_strength = 0.01, .l2_regularization_strength = 0.1});
       }},
      {"ftrl_v2",
       [](auto&) {
         return std::make_unique<FtrlOptimizer>(0.3, FtrlOptions{.l2_shrinkage_regularization_strength = 0.05});
       }},
      {"proximal_gradient_descent",
       [](auto&) {
         return std::make_unique<ProximalGradientDescentOptimizer>(
             0.1,
             ProximalGradientDescentOptions{.l1_regularization_strength = 0.02, .l2_regularization_strength = 0.1});
       }},
      {"proximal_adagrad",
       [](auto&) {
         return std::make_unique<ProximalAdagradOptimizer>(
             0.3, ProximalAdagradOptions{.l1_regularization_strength = 0.01, .l2_regularization_strength = 0.1});
       }},
  };
}

Tensor Table(int64_t columns) {
  Tensor table(kFloat32, {kRows, columns});
  for (int64_t i = 0; i < kRows * columns; ++i) {
    table.mutable_data<float>()[i] = static_cast<float>(static_cast<double>(i % 11) / 10 - 0.5);
  }
  return table;
}

// The largest distance between two values, in units of the last place; 0 if all bits are equal.
int64_t LargestDistance(const Tensor& got, const Json& bits) {
  int64_t largest = 0;
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    const auto want = static_cast<int32_t>(bits[static_cast<size_t>(i)].get<uint32_t>());
    const int64_t distance = int64_t{std::bit_cast<int32_t>(got.data<float>()[i])} - want;
    largest = std::max(largest, std::abs(distance));
  }
  return largest;
}

// Trains with an optimizer and compares the table and the slots with those that `line` has after some of the steps.
void Check(const Json& line, const MakeOptimizer& make, int64_t tolerance) {
  Graph g;
  const Variable step = GetOrCreateGlobalStep(g);
  const auto columns = line["columns"].get<int64_t>();
  const Variable w(g, {kRows, columns}, Constant(Table(columns)), {.name = "w"});
  const Output first = Placeholder(g, kInt64, {2, 2});
  const Output second = Placeholder(g, kInt64, {1});
  // Gradients of the same row are summed in the order of the lookups, so the lookups are two statements: within one
  // expression their order would be unspecified.
  const Output rows = nn::EmbeddingLookup(w, first);
  const Output row = nn::EmbeddingLookup(w, second);
  const Output loss = ReduceSum(Square(rows - 0.25)) + ReduceSum(Square(row + 0.125));
  const auto optimizer = make(step);
  const Operation train = optimizer->Minimize(loss, {.global_step = step});
  std::vector<Fetch> state = {w};
  for (const Json& slot : line["slots"]) state.emplace_back(optimizer->GetSlot(w, slot.get<std::string>()));
  const Operation init = GlobalVariablesInitializer(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({init}).ok());
  size_t shown = 0;
  for (int64_t s = 1; shown < line["steps"].size(); ++s) {
    const Tensor one = Tensor::Of<int64_t>({2, 2}, {s % 7, (2 * s + 1) % 7, s * s % 7, s % 7});
    const Tensor two = Tensor::Vector<int64_t>({3 * s % 7});
    const Status status = session->Run({train}, {{first, one}, {second, two}}).status();
    ASSERT_TRUE(status.ok()) << status;
    if (line["steps"][shown].get<int64_t>() != s) continue;
    const auto values = session->Run(state).value();
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_LE(LargestDistance(values[i], line["bits"][shown][i]), tolerance)
          << "step " << s << ", " << (i == 0 ? "the table" : line["slots"][i - 1].get<std::string>());
    }
    ++shown;
  }
}

TEST(SparseUpdatesTest, TwentyStepsOfEachOptimizerHaveTheBitsOfTensorFlow) {
  const auto optimizers = Optimizers();
  std::ifstream file(TRAIN_TESTDATA "/sparse_updates.jsonl");
  std::set<std::string> seen;
  for (std::string text; std::getline(file, text);) {
    const Json line = Json::parse(text);
    const auto name = line["optimizer"].get<std::string>();
    SCOPED_TRACE(name + " with " + line["columns"].dump() + " columns");
    ASSERT_TRUE(optimizers.contains(name));
    seen.insert(name);
    // TensorFlow's kernel for rows of one element rounds in an order that we do not know.
    const bool differs = name == "adagrad_da" && line["columns"] == 1;
    Check(line, optimizers.at(name), /*tolerance=*/differs ? 4 : 0);
  }
  EXPECT_EQ(seen.size(), optimizers.size());
}

}  // namespace
}  // namespace tensorbraid
