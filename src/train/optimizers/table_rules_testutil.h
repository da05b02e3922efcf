// The rules that update a growing table as they update the rows of a static variable, bit for bit.
#ifndef TENSORBRAID_TRAIN_OPTIMIZERS_TABLE_RULES_TESTUTIL_H_
#define TENSORBRAID_TRAIN_OPTIMIZERS_TABLE_RULES_TESTUTIL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {

using MakeOptimizer = std::function<std::shared_ptr<Optimizer>(Graph&)>;

inline std::shared_ptr<Optimizer> HalfDescent(Graph&) { return std::make_shared<GradientDescentOptimizer>(0.5); }

inline const std::vector<std::pair<std::string, MakeOptimizer>>& RulesOfTables() {
  static const auto* const all = new std::vector<std::pair<std::string, MakeOptimizer>>{
      {"GradientDescent", [](Graph&) { return std::make_shared<GradientDescentOptimizer>(0.1); }},
      {"Adagrad", [](Graph&) { return std::make_shared<AdagradOptimizer>(0.1); }},
      {"RowwiseAdagrad", [](Graph&) { return std::make_shared<RowwiseAdagradOptimizer>(0.1); }},
      {"Momentum", [](Graph&) { return std::make_shared<MomentumOptimizer>(0.1, 0.9); }},
      {"Nesterov",
       [](Graph&) { return std::make_shared<MomentumOptimizer>(0.1, 0.9, MomentumOptions{.use_nesterov = true}); }},
      {"Adadelta", [](Graph&) { return std::make_shared<AdadeltaOptimizer>(0.5); }},
      {"AdagradDecay",
       [](Graph& g) {
         return std::make_shared<AdagradDecayOptimizer>(
             0.1, GetOrCreateGlobalStep(g),
             AdagradDecayOptions{.accumulator_decay_step = 3, .accumulator_decay_rate = 0.5});
       }},
      {"AdamAsync", [](Graph&) { return std::make_shared<AdamAsyncOptimizer>(0.05); }},
      {"AdamAsync by RMSProp",
       [](Graph&) {
         return std::make_shared<AdamAsyncOptimizer>(0.05, AdamAsyncOptions{.apply_sparse_rmsprop = true});
       }},
      {"RMSProp", [](Graph&) { return std::make_shared<RMSPropOptimizer>(0.05, RMSPropOptions{.momentum = 0.5}); }},
      {"centered RMSProp",
       [](Graph&) { return std::make_shared<RMSPropOptimizer>(0.05, RMSPropOptions{.centered = true}); }},
      {"Ftrl",
       [](Graph&) { return std::make_shared<FtrlOptimizer>(0.1, FtrlOptions{.l1_regularization_strength = 0.01}); }},
      {"Ftrl with shrinkage", [](Graph&) {
         return std::make_shared<FtrlOptimizer>(0.1, FtrlOptions{.l2_shrinkage_regularization_strength = 0.01});
       }}};
  return *all;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_OPTIMIZERS_TABLE_RULES_TESTUTIL_H_
