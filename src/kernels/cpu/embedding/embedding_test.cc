// Tests the ops on growing tables, alone and beside the ops on static variables.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "core/threads/thread.h"
#include "core/values/fingerprint.h"
#include "graph/model/op_registry.h"
#include "kernels/cpu/embedding/embedding_testutil.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();

Tensor Keys(const std::vector<int64_t>& keys) { return Tensor::Vector(keys); }

// Gradients without a pattern, for `rows` rows.
Tensor SomeGradient(int64_t rows, int64_t dim, int turn = 0) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows * dim; ++i) {
    values.push_back(std::sin(static_cast<float>(i * 7 + turn * 13)) * 3);
  }
  return Floats({rows, dim}, values);
}

uint64_t SplitMix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

TEST(GrowingTableTest, FirstValuesFollowFromSeedTableAndKeyAlone) {
  TestTask task, other_task;
  const TestTable table;
  ASSERT_TRUE(table.Initialize(task).ok());
  const std::vector<int64_t> keys = {3, -3, kMin, kMax, 0, -1};
  const auto first = table.Lookup(task, keys);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->shape(), Shape({6, 4}));
  for (size_t k = 0; k < keys.size(); ++k) {
    constexpr uint64_t kGamma = 0x9E3779B97F4A7C15u;
    const uint64_t state = SplitMix(Fingerprint64("7:emb") + kGamma * SplitMix(static_cast<uint64_t>(keys[k])));
    for (size_t i = 0; i < 4; ++i) {
      const uint64_t half = SplitMix(state + kGamma * (i / 2 + 1)) >> (i % 2 == 0 ? 0 : 32) & 0xFFFFFFFF;
      const double unit = (static_cast<double>(half >> 9) + 0.5) / (1 << 23);
      EXPECT_FLOAT_EQ(ValuesOf(*first)[4 * k + i], static_cast<float>(2 * unit - 1));
    }
  }
  // Rows that updates make, in another order and in parts, begin with the same values.
  for (const int64_t part : {0, 1, 2}) {
    TestTable of_part{.name = StrCat("emb/part_", part), .part = part, .parts = 3};
    ASSERT_TRUE(of_part.Initialize(other_task).ok());
    for (size_t k = keys.size(); k-- > 0;) {
      if ((keys[k] % 1000 + 1000) % 1000 % 3 != part) continue;
      ASSERT_TRUE(
          of_part.Update(other_task, "GradientDescent", {0.5f}, Floats({1, 4}, {0, 0, 0, 0}), Keys({keys[k]})).ok());
      const auto row = of_part.Lookup(other_task, {keys[k]});
      ASSERT_TRUE(row.ok()) << row.status();
      const auto expected = ValuesOf(*first);
      EXPECT_TRUE(std::equal(expected.begin() + 4 * static_cast<int64_t>(k),
                             expected.begin() + 4 * static_cast<int64_t>(k) + 4, ValuesOf(*row).begin()));
    }
  }
  EXPECT_EQ(*table.Rows(task), 0);
  for (const TestTable& other : {TestTable{.name = "a", .seed = 8}, TestTable{.name = "b", .whole = "other"}}) {
    ASSERT_TRUE(other.Initialize(task).ok());
    EXPECT_NE(ValuesOf(*other.Lookup(task, keys)), ValuesOf(*first));
  }
}

// Keys with the same remainder share an initial row until an update gives them one.
TEST(GrowingTableTest, InitialRowsOfAMatrix) {
  const Tensor matrix = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const TestTable given{.name = "given", .dim = 2, .matrix = matrix};
  TestTask task;
  ASSERT_TRUE(given.Initialize(task).ok());
  const std::vector<int64_t> keys = {0, 4, -1, kMin, 3};
  const auto first = given.Lookup(task, keys);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(ValuesOf(*first), std::vector<float>({1, 2, 3, 4, 5, 6, 3, 4, 1, 2}));  // -2^63 mod 3 is 1
  ASSERT_TRUE(given.Update(task, "GradientDescent", {1}, Floats({1, 2}, {1, 1}), Keys({3})).ok());
  EXPECT_EQ(ValuesOf(*given.Lookup(task, {3, 0})), std::vector<float>({0, 1, 1, 2}));

  // A drawn matrix has the rows of the first keys, in each part of the table.
  const TestTable plain, drawn{.name = "drawn", .matrix_rows = 5},
      part{.name = "emb/part_1", .part = 1, .parts = 2, .matrix_rows = 5};
  for (const TestTable* table : {&plain, &drawn, &part}) ASSERT_TRUE(table->Initialize(task).ok());
  const auto expected = ValuesOf(*plain.Lookup(task, {2, 1, 4, 2}));
  EXPECT_EQ(ValuesOf(*drawn.Lookup(task, {2, 6, -1, 1002})), expected);
  EXPECT_EQ(ValuesOf(*part.Lookup(task, {7, 1, 9, 1007})), expected);
}

TEST(GrowingTableTest, AMatrixThatDoesNotFit) {
  TestTask task;
  const auto error = [&](const Tensor& matrix) {
    const TestTable table{.name = "emb", .dim = 2, .matrix = matrix};
    return std::string(table.Initialize(task).message());
  };
  const std::string shape = "must be float32 with shape [n, 2] and one row or more";
  EXPECT_THAT(error(Floats({2, 1}, {1, 2})), HasSubstr(shape));
  EXPECT_THAT(error(Floats({0, 2}, {})), HasSubstr(shape));
  EXPECT_THAT(error(Tensor::Of<double>({1, 2}, {1, 2})), HasSubstr(shape));
  EXPECT_THAT(error(Floats({1, 2}, {1, std::numeric_limits<float>::infinity()})), HasSubstr("not finite"));
}

TEST(GrowingTableTest, FirstValuesHaveTheirDistribution) {
  TestTask task;
  std::vector<int64_t> keys;
  for (int64_t key = -2000; key < 2000; ++key) keys.push_back(key);
  const auto values = [&](const std::string& initializer, std::vector<float> arguments) {
    TestTable table{.name = initializer, .dim = 6, .initializer = initializer, .arguments = std::move(arguments)};
    EXPECT_TRUE(table.Initialize(task).ok());
    return ValuesOf(*table.Lookup(task, keys));
  };
  const auto check = [](const std::vector<float>& v, double mean, double deviation) {
    double sum = 0, squares = 0;
    for (const float x : v) sum += x;
    const double m = sum / static_cast<double>(v.size());
    for (const float x : v) squares += (x - m) * (x - m);
    EXPECT_NEAR(m, mean, 0.02);
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(v.size())), deviation, 0.02);
  };
  check(values("uniform", {1, 3}), 2, 2 / std::sqrt(12));
  check(values("normal", {0.5f, 0.75f}), 0.5, 0.75);
  const auto truncated = values("truncated_normal", {0.5f, 0.75f});
  check(truncated, 0.5, 0.75 * 0.8796);
  const auto low = std::ranges::count_if(truncated, [](float x) { return x < 0.5f - 0.75f; });
  EXPECT_NEAR(static_cast<double>(low) / static_cast<double>(truncated.size()), 0.1424, 0.01);  // below -1
  EXPECT_LE(*std::ranges::max_element(truncated), 2.0f);
  EXPECT_GE(*std::ranges::min_element(truncated), -1.0f);
  EXPECT_EQ(values("constant", {0.25f}), std::vector<float>(keys.size() * 6, 0.25f));
}

// Rows of one or two numbers are drawn in another way than longer ones.
TEST(GrowingTableTest, ShortRowsHaveTheFirstNumbersOfLongOnes) {
  TestTask task;
  std::vector<int64_t> keys;
  for (int64_t key = -500; key < 500; ++key) keys.push_back(key);
  for (const std::string initializer : {"uniform", "normal", "truncated_normal"}) {
    const auto values = [&](int64_t dim) {
      TestTable table{.name = StrCat(initializer, dim), .dim = dim, .initializer = initializer};
      table.whole = "emb";
      table.arguments = {0.5f, 0.75f};
      EXPECT_TRUE(table.Initialize(task).ok());
      return ValuesOf(*table.Lookup(task, keys));
    };
    const auto long_rows = values(16);
    for (const int64_t dim : {1, 2}) {
      std::vector<float> expected;
      for (size_t k = 0; k < keys.size(); ++k) {
        for (size_t i = 0; i < static_cast<size_t>(dim); ++i) expected.push_back(long_rows[16 * k + i]);
      }
      EXPECT_EQ(values(dim), expected) << initializer;
    }
  }
}

// A variable with a row for each of `keys`, updated by the op of static variables, beside the table.
class StaticVariable {
 public:
  StaticVariable(TestTask& task, std::string name, int64_t rows, int64_t dim, const std::vector<float>& values)
      : StaticVariable(task, std::move(name), Shape({rows, dim}), values) {}
  StaticVariable(TestTask& task, std::string name, const Shape& shape, const std::vector<float>& values)
      : task_(task), name_(std::move(name)), shape_(shape) {
    Graph g;
    EXPECT_TRUE(task.RunOp(g, NodeBuilder(g, "AssignVariableOp")
                                  .Input(Handle(g))
                                  .Input(Constant(g, Floats(shape_, values)))
                                  .Attr("dtype", kFloat32)
                                  .Finish())
                    .ok());
  }
  Output Handle(Graph& g) const {
    return NodeBuilder(g, "VarHandleOp")
        .Attr("shared_name", name_)
        .Attr("dtype", kFloat32)
        .Attr("shape", shape_)
        .Output();
  }
  std::vector<float> Read() const {
    Graph g;
    const auto value = task_.Run({NodeBuilder(g, "ReadVariableOp").Input(Handle(g)).Attr("dtype", kFloat32).Output()});
    EXPECT_TRUE(value.ok()) << value.status();
    return value.ok() ? ValuesOf(value->at(0)) : std::vector<float>();
  }

 private:
  TestTask& task_;
  const std::string name_;
  const Shape shape_;
};

class TableRulesTest : public testing::TestWithParam<int64_t> {
 protected:
  static constexpr int64_t kRows = 300;

  // Makes the table and a static variable with its first values. Key k of the table is row `RowOf(k)`.
  void Make(const TestTable& table, const std::string& name = "static") {
    ASSERT_TRUE(table.Initialize(task_).ok());
    for (int64_t row = 0; row < kRows; ++row) keys_.push_back(KeyOf(row));
    values_ = std::make_unique<StaticVariable>(task_, name, kRows, table.dim, ValuesOf(*table.Lookup(task_, keys_)));
  }
  static int64_t KeyOf(int64_t row) { return (row - kRows / 2) * 777'777'777'777; }
  Output C(const Tensor& t) { return Constant(g_, t); }
  Output Scalar(float value) { return C(Tensor::Scalar(value)); }

  TestTask task_;
  Graph g_;
  std::vector<int64_t> keys_;
  std::unique_ptr<StaticVariable> values_;
};

// Rows of a batch, some of which occur twice if `repeated`.
std::vector<int64_t> RowsOfTurn(int turn, bool repeated) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < 90; ++i) rows.push_back((i * 7 + turn * 31) % 300);
  if (repeated) rows.insert(rows.end(), {rows[3], rows[5], rows[3]});
  return rows;
}

TEST_P(TableRulesTest, GradientDescentHasTheBitsOfStaticVariables) {
  const int64_t dim = GetParam();
  const TestTable table{.dim = dim};
  Make(table);
  std::set<int64_t> updated;
  for (int turn = 0; turn < 4; ++turn) {
    std::vector<int64_t> rows = RowsOfTurn(turn, true), keys;
    for (const int64_t row : rows) keys.push_back(KeyOf(row));
    updated.insert(rows.begin(), rows.end());
    const Tensor grad = SomeGradient(static_cast<int64_t>(rows.size()), dim, turn);
    ASSERT_TRUE(table.Update(task_, "GradientDescent", {0.3f}, grad, Keys(keys), turn).ok());
    ASSERT_TRUE(task_
                    .RunOp(g_, NodeBuilder(g_, "ResourceScatterSub")
                                   .Input(values_->Handle(g_))
                                   .Input(C(Keys(rows)))
                                   .Input(C(grad) * Scalar(0.3f))
                                   .Finish())
                    .ok());
    EXPECT_EQ(ValuesOf(*table.Lookup(task_, keys_)), values_->Read());
  }
  EXPECT_EQ(*table.Rows(task_), static_cast<int64_t>(updated.size()));  // those with a gradient, and no others
}

// A rule with the initial numbers of its slots and with its scalars. An op takes what its inputs name.
struct RuleCase {
  const char* name;  // of the ops, after "KvResourceSparseApply" and "ResourceSparseApply"
  std::map<std::string, float> slots;
  std::map<std::string, float> scalars;
  std::map<std::string, bool> attrs = {};
  const char* static_op = "";  // if it is another one; an op for whole variables gets a gradient for all rows
};

std::vector<RuleCase> RuleCases() {
  const std::map<std::string, float> rms_prop = {{"lr", 0.1f}, {"rho", 0.9f}, {"momentum", 0.5f}, {"epsilon", 1e-3f}};
  const std::map<std::string, float> adam = {{"beta1_power", 0.81f}, {"beta2_power", 0.99f}, {"lr", 0.1f},
                                             {"beta1", 0.9f},        {"beta2", 0.99f},       {"epsilon", 1e-6f}};
  const std::map<std::string, float> ftrl = {
      {"lr", 0.1f}, {"l1", 0.05f}, {"l2", 0.02f}, {"lr_power", -0.5f}, {"l2_shrinkage", 0.03f}};
  return {{"Momentum", {{"accum", 0}}, {{"lr", 0.1f}, {"momentum", 0.9f}}},
          {"Momentum", {{"accum", 0}}, {{"lr", 0.1f}, {"momentum", 0.9f}}, {{"use_nesterov", true}}},
          {"Adadelta", {{"accum", 0}, {"accum_update", 0}}, {{"lr", 0.1f}, {"rho", 0.9f}, {"epsilon", 1e-6f}}},
          {"Adagrad", {{"accum", 0.1f}}, {{"lr", 0.3f}}},
          {"AdagradDecay",
           {{"accum", 0.1f}, {"accum_decay_power", 0}},
           {{"lr", 0.3f}, {"accum_decay_step", 2}, {"accum_decay_rate", 0.5f}, {"accum_baseline", 0.1f}}},
          {"AdamAsync", {{"m", 0}, {"v", 0}}, adam},
          {"AdamAsync", {{"m", 0}, {"v", 0}}, adam, {{"apply_sparse_rmsprop", true}}},
          {"RMSProp", {{"ms", 1}, {"mom", 0}}, rms_prop},
          {"CenteredRMSProp", {{"mg", 0}, {"ms", 1}, {"mom", 0}}, rms_prop},
          {"Ftrl", {{"accum", 0.1f}, {"linear", 0}}, ftrl},
          {"Ftrl", {{"accum", 0.1f}, {"linear", 0}}, ftrl, {{"multiply_linear_by_lr", true}}},
          {"FtrlV2", {{"accum", 0.1f}, {"linear", 0}}, ftrl},
          {"Adam", {{"m", 0}, {"v", 0}}, adam, {}, "ResourceApplyAdam"}};
}

TEST_P(TableRulesTest, RulesHaveTheBitsOfStaticVariables) {
  const int64_t dim = GetParam();
  int number = 0;
  for (const RuleCase& rule : RuleCases()) {
    SCOPED_TRACE(rule.name);
    const std::string id = StrCat(number++);
    std::string table_op = StrCat("KvResourceSparseApply", rule.name);
    if (OpRegistry::Global().Find(table_op) == nullptr) table_op = "_" + table_op;
    const std::string static_op = *rule.static_op != 0 ? rule.static_op : StrCat("ResourceSparseApply", rule.name);
    ASSERT_NE(OpRegistry::Global().Find(table_op), nullptr) << table_op;
    TestTable table{.name = "emb" + id, .dim = dim};
    for (const auto& [slot, initial] : rule.slots) table.slots.emplace_back(StrCat(table.name, "/", slot), initial);
    keys_.clear();
    Make(table, "static" + id);
    std::map<std::string, StaticVariable> statics;
    for (const auto& [slot, initial] : rule.slots) {
      statics.try_emplace(slot, task_, slot + id, kRows, dim,
                          std::vector<float>(static_cast<size_t>(kRows * dim), initial));
    }
    // The powers are variables if the ops change them, one for each of both ops.
    const auto power = [&](const std::string& op, const std::string& name) {
      return StaticVariable(task_, StrCat(name, op, id), Shape(), {rule.scalars.at(name)});
    };
    std::map<std::string, StaticVariable> powers;
    for (const std::string& op : {table_op, static_op}) {
      for (const ArgDef& in : OpRegistry::Global().Find(op)->inputs) {
        if (in.name.starts_with("beta") && in.type == DType::kResource)
          powers.emplace(op + in.name, power(op, in.name));
      }
    }
    for (int turn = 0; turn < 5; ++turn) {
      const bool whole = OpRegistry::Global().Find(static_op)->inputs.back().name == "grad";
      std::vector<int64_t> rows = RowsOfTurn(turn, true), keys;
      if (whole) {
        rows.resize(kRows);
        std::iota(rows.begin(), rows.end(), 0);
      }
      for (const int64_t row : rows) keys.push_back(KeyOf(row));
      const Tensor grad = SomeGradient(static_cast<int64_t>(rows.size()), dim, turn);
      for (const std::string& op : {table_op, static_op}) {
        const bool of_table = op == table_op;
        const OpDef& def = *OpRegistry::Global().Find(op);
        NodeBuilder b(g_, op);
        for (const ArgDef& in : def.inputs) {
          const auto slot = rule.slots.find(in.name);
          if (in.name == "var") {
            b.Input(of_table ? table.Handle(g_) : values_->Handle(g_));
          } else if (slot != rule.slots.end()) {
            const auto at = static_cast<size_t>(std::distance(rule.slots.begin(), slot));
            b.Input(of_table ? table.Slot(g_, at) : statics.at(in.name).Handle(g_));
          } else if (powers.contains(op + in.name)) {
            b.Input(powers.at(op + in.name).Handle(g_));
          } else if (in.name == "grad") {
            b.Input(C(grad));
          } else if (in.name == "indices") {
            b.Input(C(Keys(of_table ? keys : rows)));
          } else if (in.name == "global_step") {
            b.Input(C(Tensor::Scalar(int64_t{turn})));
          } else if (in.name == "accum_decay_step") {
            b.Input(C(Tensor::Scalar(static_cast<int64_t>(rule.scalars.at(in.name)))));
          } else {
            b.Input(Scalar(rule.scalars.at(in.name)));
          }
        }
        for (const auto& [attr, value] : rule.attrs) b.Attr(attr, value);
        const Status updated = task_.RunOp(g_, b.Finish());
        ASSERT_TRUE(updated.ok()) << updated;
      }
      EXPECT_EQ(ValuesOf(*table.Lookup(task_, keys_)), values_->Read());
      size_t at = 0;
      for (const auto& [slot, initial] : rule.slots) {
        EXPECT_EQ(ValuesOf(*table.LookupSlot(task_, at++, keys_)), statics.at(slot).Read()) << slot;
      }
      for (const auto& [name, value] : powers) {
        if (!name.starts_with(table_op)) continue;
        EXPECT_EQ(value.Read(), powers.at(static_op + name.substr(table_op.size())).Read()) << name;
      }
    }
  }
}

// Of two rows, one has a gradient in the second step; only it decays.
TEST(TableRuleTest, AdamWDecaysRowsWithAGradient) {
  TestTask task;
  const TestTable table{.dim = 1, .initializer = "constant", .arguments = {2}, .slots = {{"emb/m", 0}, {"emb/v", 0}}};
  ASSERT_TRUE(table.Initialize(task).ok());
  const float power1 = 0.8f, power2 = 0.9f, lr = 0.1f, beta1 = 0.8f, beta2 = 0.9f, epsilon = 0.01f, decay = 0.5f;
  std::map<int64_t, std::array<double, 3>> rows = {{5, {2, 0, 0}}, {-6, {2, 0, 0}}};
  for (const auto& [keys, g] : {std::pair(std::vector<int64_t>{5, -6}, std::vector<float>{1, -3}),
                                std::pair(std::vector<int64_t>{-6}, std::vector<float>{2})}) {
    const auto n = static_cast<int64_t>(keys.size());
    Graph graph;
    NodeBuilder b(graph, "KvResourceSparseApplyAdamW");
    b.Input(table.Handle(graph)).Input(table.Slot(graph, 0)).Input(table.Slot(graph, 1));
    for (const float scalar : {power1, power2, lr, beta1, beta2, epsilon}) {
      b.Input(Constant(graph, Tensor::Scalar(scalar)));
    }
    b.Input(Constant(graph, Floats({n, 1}, g))).Input(Constant(graph, Keys(keys)));
    b.Input(Constant(graph, Tensor::Scalar(int64_t{1}))).Input(Constant(graph, Tensor::Scalar(decay)));
    const Status updated = task.RunOp(graph, b.Finish());
    ASSERT_TRUE(updated.ok()) << updated;
    const double rate = 0.1 * std::sqrt(1 - 0.9) / (1 - 0.8);
    for (size_t i = 0; i < keys.size(); ++i) {
      auto& [x, m, v] = rows[keys[i]];
      m = 0.8 * m + 0.2 * g[i];
      v = 0.9 * v + 0.1 * g[i] * g[i];
      x -= rate * (m / (std::sqrt(v) + 0.01) + 0.5 * x);
    }
  }
  const auto values = ValuesOf(*table.Lookup(task, {5, -6}));
  EXPECT_NEAR(values[0], rows[5][0], 1e-6);
  EXPECT_NEAR(values[1], rows[-6][0], 1e-6);
}

// With a period of 10 steps and the rate 0.5: the second update is 2 periods later, and makes up for one of them; the
// third, for the other; the fourth, for none. The baseline is 1.
TEST(TableRuleTest, AdagradDecayFollowsTheGlobalStep) {
  TestTask task;
  const TestTable table{.dim = 1, .initializer = "constant", .arguments = {0}, .slots = {{"emb/a", 1}, {"emb/p", 0}}};
  ASSERT_TRUE(table.Initialize(task).ok());
  double sum = 1;
  for (const auto& [step, decays] :
       {std::pair(3, false), std::pair(25, true), std::pair(26, true), std::pair(27, false)}) {
    Graph g;
    NodeBuilder b(g, "KvResourceSparseApplyAdagradDecay");
    b.Input(table.Handle(g)).Input(table.Slot(g, 0)).Input(table.Slot(g, 1)).Input(Constant(g, Tensor::Scalar(0.1f)));
    b.Input(Constant(g, Tensor::Scalar(int64_t{10})));
    b.Input(Constant(g, Tensor::Scalar(0.5f))).Input(Constant(g, Tensor::Scalar(1.0f)));
    b.Input(Constant(g, Tensor::Scalar(int64_t{step}))).Input(Constant(g, Floats({1, 1}, {0.5f})));
    const Status updated = task.RunOp(g, b.Input(Constant(g, Keys({7}))).Finish());
    ASSERT_TRUE(updated.ok()) << updated;
    sum = (decays ? std::max(1.0, 0.5 * sum) : sum) + 0.25;
    EXPECT_EQ(ValuesOf(*table.LookupSlot(task, 0, {7}))[0], static_cast<float>(sum)) << step;
  }
  EXPECT_EQ(ValuesOf(*table.LookupSlot(task, 1, {7}))[0], 2);
}

// The formula of AdamAsync, composed of other ops.
TEST_P(TableRulesTest, AdamAsyncHasTheBitsOfItsComposition) {
  const int64_t dim = GetParam();
  const auto zeros = std::vector<float>(static_cast<size_t>(kRows * dim));
  for (const bool rmsprop : {false, true}) {
    const TestTable table{
        .name = StrCat("emb", rmsprop), .dim = dim, .slots = {{StrCat("m", rmsprop), 0}, {StrCat("v", rmsprop), 0}}};
    keys_.clear();
    Make(table);
    const StaticVariable first(task_, StrCat("first", rmsprop), kRows, dim, zeros);
    const StaticVariable second(task_, StrCat("second", rmsprop), kRows, dim, zeros);
    float p1 = 0.9f, p2 = 0.999f;
    const auto make_power = [&](const char* name, float value) {
      const Output handle = NodeBuilder(g_, "VarHandleOp")
                                .Attr("shared_name", name)
                                .Attr("dtype", kFloat32)
                                .Attr("shape", Shape())
                                .Output();
      EXPECT_TRUE(task_
                      .RunOp(g_, NodeBuilder(g_, "AssignVariableOp")
                                     .Input(handle)
                                     .Input(Scalar(value))
                                     .Attr("dtype", kFloat32)
                                     .Finish())
                      .ok());
    };
    make_power("p1", p1);
    make_power("p2", p2);
    for (int turn = 0; turn < 4; ++turn) {
      std::vector<int64_t> rows = RowsOfTurn(turn, false), keys;
      for (const int64_t row : rows) keys.push_back(KeyOf(row));
      const Tensor grad = SomeGradient(static_cast<int64_t>(rows.size()), dim, turn);
      Graph g;
      NodeBuilder b(g, "KvResourceSparseApplyAdamAsync");
      b.Input(table.Handle(g)).Input(table.Slot(g, 0)).Input(table.Slot(g, 1));
      for (const char* power : {"p1", "p2"}) {
        b.Input(NodeBuilder(g, "VarHandleOp")
                    .Attr("shared_name", power)
                    .Attr("dtype", kFloat32)
                    .Attr("shape", Shape())
                    .Output());
      }
      for (const float scalar : {0.01f, 0.9f, 0.999f, 1e-8f}) b.Input(Constant(g, Tensor::Scalar(scalar)));
      b.Input(Constant(g, grad)).Input(Constant(g, Keys(keys))).Input(Constant(g, Tensor::Scalar(int64_t{turn})));
      const Status updated = task_.RunOp(g, b.Attr("apply_sparse_rmsprop", rmsprop).Finish());
      ASSERT_TRUE(updated.ok()) << updated;

      const Output beta1 = Scalar(0.9f), beta2 = Scalar(0.999f), one = Scalar(1), rate = Scalar(0.01f),
                   values = C(grad);
      const auto of_rows = [&](const StaticVariable& slot) {
        return NodeBuilder(g_, "ResourceGather")
            .Input(slot.Handle(g_))
            .Input(C(Keys(rows)))
            .Attr("dtype", kFloat32)
            .Output();
      };
      const Output square = beta2 * of_rows(second) + (one - beta2) * values * values;
      Output mean, step;
      if (rmsprop) {
        mean = beta1 * of_rows(first) + rate * values * Rsqrt(square + Scalar(1e-8f));
        step = mean;
      } else {
        mean = beta1 * of_rows(first) + (one - beta1) * values;
        step = rate * Sqrt(one - Scalar(p2)) / (one - Scalar(p1)) * mean / (Sqrt(square) + Scalar(1e-8f));
        p1 *= 0.9f;
        p2 *= 0.999f;
      }
      const auto computed = task_.Run({mean, square, step});
      ASSERT_TRUE(computed.ok()) << computed.status();
      const auto scatter = [&](const char* op, const StaticVariable& variable, const Tensor& value) {
        EXPECT_TRUE(
            task_
                .RunOp(g_, NodeBuilder(g_, op).Input(variable.Handle(g_)).Input(C(Keys(rows))).Input(C(value)).Finish())
                .ok());
      };
      scatter("ResourceScatterUpdate", first, computed->at(0));
      scatter("ResourceScatterUpdate", second, computed->at(1));
      scatter("ResourceScatterSub", *values_, computed->at(2));
      EXPECT_EQ(ValuesOf(*table.LookupSlot(task_, 0, keys_)), first.Read());
      EXPECT_EQ(ValuesOf(*table.LookupSlot(task_, 1, keys_)), second.Read());
      EXPECT_EQ(ValuesOf(*table.Lookup(task_, keys_)), values_->Read());
    }
    for (const auto& [name, expected] : {std::pair("p1", p1), std::pair("p2", p2)}) {
      const Output handle = NodeBuilder(g_, "VarHandleOp")
                                .Attr("shared_name", name)
                                .Attr("dtype", kFloat32)
                                .Attr("shape", Shape())
                                .Output();
      const auto power = task_.Run({NodeBuilder(g_, "ReadVariableOp").Input(handle).Attr("dtype", kFloat32).Output()});
      ASSERT_TRUE(power.ok()) << power.status();
      EXPECT_EQ(power->at(0).data<float>()[0], expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(RowLengths, TableRulesTest, testing::Values(1, 3, 16));

TEST(GrowingTableTest, ConcurrentLookupsAndUpdatesLoseNothing) {
  TestTask task;
  const TestTable table{.dim = 2, .initializer = "constant", .arguments = {0}};
  ASSERT_TRUE(table.Initialize(task).ok());
  constexpr int kThreads = 3, kTurns = 15;
  std::vector<int64_t> keys;
  for (int64_t key = 0; key < 3000; ++key) keys.push_back(key * 37 - 5000);
  const Tensor ones = Floats({3000, 2}, std::vector<float>(6000, 1.0f));
  std::vector<Thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back("updates", [&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        EXPECT_TRUE(table.Update(task, "GradientDescent", {-1.0f}, ones, Keys(keys), turn).ok());
        const auto read = table.Lookup(task, keys);
        ASSERT_TRUE(read.ok());
        const std::vector<float> values = ValuesOf(*read);
        for (size_t i = 0; i < values.size(); i += 2) ASSERT_EQ(values[i], values[i + 1]);  // no row is read half-way
      }
    });
  }
  for (Thread& thread : threads) thread.Join();
  EXPECT_EQ(ValuesOf(*table.Lookup(task, keys)), std::vector<float>(6000, kThreads * kTurns));
}

TEST(GrowingTableTest, LookupsTakeKeysOfAnyShapeAndDefaults) {
  TestTask task;
  const TestTable table{.dim = 2, .initializer = "constant", .arguments = {5}};
  ASSERT_TRUE(table.Initialize(task).ok());
  ASSERT_TRUE(table.Update(task, "GradientDescent", {1}, Floats({1, 2}, {1, 2}), Keys({7})).ok());
  const Tensor keys = Tensor::Of<int32_t>({2, 1}, std::vector<int32_t>{7, 8});
  EXPECT_EQ(table.Lookup(task, keys)->shape(), Shape({2, 1, 2}));
  EXPECT_EQ(ValuesOf(*table.Lookup(task, keys)), (std::vector<float>{4, 3, 5, 5}));
  EXPECT_EQ(ValuesOf(*table.Lookup(task, keys, Floats({2}, {1, 2}))), (std::vector<float>{4, 3, 1, 2}));
  EXPECT_EQ(ValuesOf(*table.Lookup(task, keys, Floats({2, 2}, {1, 2, 8, 9}))), (std::vector<float>{4, 3, 8, 9}));
  EXPECT_EQ(table.Lookup(task, Tensor::Scalar(int64_t{7}))->shape(), Shape({2}));
  EXPECT_EQ(table.Lookup(task, Keys({}))->shape(), Shape({0, 2}));
  EXPECT_EQ(*table.Rows(task), 1);
  const Status refused = table.Lookup(task, keys, Floats({3, 2}, std::vector<float>(6))).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("a row for each of the 2 keys [2,2], got shape [3,2]"), std::string::npos)
      << refused;
}

TEST(GrowingTableTest, TheGradientOfALookupIsSlices) {
  TestTask task;
  const TestTable table{.dim = 2};
  ASSERT_TRUE(table.Initialize(task).ok());
  Graph g;
  const Output handle = table.Handle(g);
  const Output rows = NodeBuilder(g, "KvResourceGather")
                          .Input(handle)
                          .Input(Constant(g, Tensor::Of<int64_t>({2, 1}, std::vector<int64_t>{7, -8})))
                          .Input(Constant(g, Floats({0}, {})))
                          .Attr("dtype", kFloat32)
                          .Attr("Tkeys", kInt64)
                          .Output();
  EXPECT_EQ(rows.shape(), Shape({2, 1, 2}));
  const auto grads = SparseGradients({rows * Constant(g, Floats({2, 1, 2}, {1, 2, 3, 4}))}, {handle});
  ASSERT_TRUE(grads.ok()) << grads.status();
  ASSERT_TRUE(grads->at(0).is_sparse());
  const IndexedSlices& slices = grads->at(0).slices();
  const auto values = task.Run({slices.values, slices.indices, slices.dense_shape});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->at(0).shape(), Shape({2, 2}));
  EXPECT_EQ(ValuesOf(values->at(0)), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(values->at(1).data<int64_t>()[1], -8);
  EXPECT_EQ(values->at(2).data<int64_t>()[1], 2);
}

class TableErrorsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(table_.Initialize(task_).ok()); }
  static void Expect(const Status& status, absl::StatusCode code, const std::string& part_of_message) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_NE(status.message().find(part_of_message), std::string::npos) << status;
  }
  TestTask task_;
  const TestTable table_{.dim = 2, .initializer = "constant", .arguments = {1}, .slots = {{"emb/Adagrad", 0.1f}}};
};

TEST_F(TableErrorsTest, NumbersThatAreNotFinite) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Expect(table_.Update(task_, "Adagrad", {1}, Floats({2, 2}, {1, 1, 1, bad}), Keys({5, -6}), 41),
           absl::StatusCode::kInvalidArgument, "the gradient of key -6 of growing table 'emb' has a number that is ");
  }
  Expect(table_.Update(task_, "Adagrad", {1}, Floats({1, 2}, {1, NAN}), Keys({5}), 41),
         absl::StatusCode::kInvalidArgument, "nan in global step 41");
  EXPECT_EQ(*table_.Rows(task_), 0);
}

TEST_F(TableErrorsTest, ShapesThatDoNotFit) {
  const TestTable sgd{.dim = 2, .initializer = "constant", .arguments = {1}};
  Expect(sgd.Update(task_, "GradientDescent", {1}, Floats({1, 3}, {1, 1, 1}), Keys({5})),
         absl::StatusCode::kInvalidArgument, "have 2 numbers");
  Expect(sgd.Update(task_, "GradientDescent", {1}, Floats({1, 2}, {1, 1}), Keys({5, 6})),
         absl::StatusCode::kInvalidArgument, "one row per key");
  const TestTable longer{.dim = 3};
  Expect(longer.Lookup(task_, std::vector<int64_t>{1}).status(), absl::StatusCode::kInvalidArgument,
         "has rows of 2 numbers");
  Expect(longer.Lookup(task_, std::vector<int64_t>{1}).status(), absl::StatusCode::kInvalidArgument,
         "the same embedding_dim in all programs");
}

TEST_F(TableErrorsTest, ColumnsOfOtherTables) {
  const TestTable other{.name = "other", .dim = 2, .slots = {{"other/Adagrad", 0.1f}}};
  ASSERT_TRUE(other.Initialize(task_).ok());
  Graph g;
  const auto update = [&](const Output& table, const Output& slot) {
    return task_.RunOp(g, NodeBuilder(g, "KvResourceSparseApplyAdagrad")
                              .Input(table)
                              .Input(slot)
                              .Input(Constant(g, Tensor::Scalar(1.0f)))
                              .Input(Constant(g, Floats({1, 2}, {1, 1})))
                              .Input(Constant(g, Keys({1})))
                              .Input(Constant(g, Tensor::Scalar(int64_t{0})))
                              .Finish());
  };
  Expect(update(table_.Handle(g), other.Slot(g, 0)), absl::StatusCode::kInvalidArgument,
         "'emb' and 'other/Adagrad' are not columns of one growing table");
  Expect(update(table_.Handle(g), table_.Handle(g)), absl::StatusCode::kInvalidArgument, "'emb' is given");
  EXPECT_TRUE(update(table_.Handle(g), table_.Slot(g, 0)).ok());
}

TEST_F(TableErrorsTest, TablesWithoutValues) {
  const TestTable fresh{.name = "fresh", .dim = 2};
  Expect(fresh.Lookup(task_, std::vector<int64_t>{1}).status(), absl::StatusCode::kFailedPrecondition,
         "uninitialized value fresh.");
  Expect(fresh.Rows(task_).status(), absl::StatusCode::kFailedPrecondition, "uninitialized value fresh.");
  const TestTable with_slot{
      .name = "emb", .dim = 2, .initializer = "constant", .arguments = {1}, .slots = {{"emb/new", 0}}};
  Expect(with_slot.Update(task_, "Adagrad", {1}, Floats({1, 2}, {1, 1}), Keys({5})),
         absl::StatusCode::kFailedPrecondition, "uninitialized value emb/new.");
}

// Programs of a cluster have a graph each, and so have a table's description each.
TEST_F(TableErrorsTest, DescriptionsOfOtherPrograms) {
  const auto use = [&](const TestTable& other) {
    const Status lookup = other.Lookup(task_, std::vector<int64_t>{1}).status();
    const Status update = other.Update(task_, "Adagrad", {1}, Floats({1, 2}, {1, 1}), Keys({5}));
    EXPECT_TRUE(other.Rows(task_).ok());
    return std::pair(lookup, update);
  };
  const auto refused = [&](const TestTable& other, const std::string& text) {
    const auto [lookup, update] = use(other);
    Expect(lookup, absl::StatusCode::kInvalidArgument, text);
    Expect(update, absl::StatusCode::kInvalidArgument, text);
  };
  TestTable other = table_;
  EXPECT_TRUE(use(other).second.ok());
  other.filter_freq = 2;
  refused(other,
          "growing table 'emb' on localhost/0 was initialized or restored with no filter, but this program describes "
          "it with CounterFilter(filter_freq=2). All programs");
  other = table_;
  other.arguments = {2};
  refused(other, "the initializer constant(1), but this program describes it with the initializer constant(2)");
  other = table_;
  other.matrix = Floats({1, 2}, {1, 1});
  refused(other, "with a matrix of 1 initial rows");

  // A lookup needs neither an eviction nor slots.
  other = table_;
  other.steps_to_live = 10;
  EXPECT_TRUE(use(other).first.ok());
  Expect(use(other).second, absl::StatusCode::kInvalidArgument, "with GlobalStepEvict(steps_to_live=10)");
  other = table_;
  other.slots[0].second = 0.2f;
  EXPECT_TRUE(use(other).first.ok());
  Expect(use(other).second, absl::StatusCode::kInvalidArgument,
         "slot 'emb/Adagrad' that begins with 0.1, but this program describes it with slot 'emb/Adagrad' that begins "
         "with 0.2");

  // Another optimizer may add slots.
  other = table_;
  other.slots = {{"emb/Later", 0.3f}};
  Graph g;
  ASSERT_TRUE(task_.RunOp(g, NodeBuilder(g, "_InitializeTable").Input(other.Slot(g, 0)).Finish()).ok());
  EXPECT_TRUE(use(other).second.ok());
  EXPECT_TRUE(use(table_).second.ok());

  // The program that initializes the table decides.
  other = table_;
  other.slots[0].second = 0.2f;
  other.filter_freq = 3;
  ASSERT_TRUE(other.Initialize(task_).ok());
  EXPECT_TRUE(use(other).second.ok());
  refused(table_, "with CounterFilter(filter_freq=3), ");
}

TEST_F(TableErrorsTest, SeedsOfOtherPrograms) {
  const TestTable seven{.name = "seeds", .dim = 2}, eight{.name = "seeds", .dim = 2, .seed = 8};
  ASSERT_TRUE(seven.Initialize(task_).ok());
  Expect(eight.Lookup(task_, std::vector<int64_t>{1}).status(), absl::StatusCode::kInvalidArgument,
         "seed 7 of its initializer, but this program describes it with seed 8 of its initializer");

  // Seeds of graphs may differ. The rows are those of the program that has initialized the table.
  TestTable first = eight, second = seven;
  first.seed_of_graph = second.seed_of_graph = true;
  first.name = second.name = "graphs";
  EXPECT_FALSE(second.Lookup(task_, std::vector<int64_t>{1}).ok());
  ASSERT_TRUE(first.Initialize(task_).ok());
  const auto expected = ValuesOf(*first.Lookup(task_, {1}));
  EXPECT_EQ(ValuesOf(*second.Lookup(task_, {1})), expected);
  TestTask alone;
  ASSERT_TRUE(first.Initialize(alone).ok());
  EXPECT_EQ(ValuesOf(*first.Lookup(alone, {1})), expected);
}

// The handles of a program are objects of their own, and any of them ends the table.
TEST_F(TableErrorsTest, AnotherProgramDestroysATable) {
  ASSERT_TRUE(table_.Update(task_, "Adagrad", {1}, Floats({1, 2}, {1, 1}), Keys({5})).ok());
  Graph g;
  const auto destroy = [&] {
    return task_.RunOp(
        g, NodeBuilder(g, "DestroyResourceOp").Input(table_.Handle(g)).Attr("ignore_lookup_error", false).Finish());
  };
  ASSERT_TRUE(destroy().ok());
  Expect(table_.Rows(task_).status(), absl::StatusCode::kFailedPrecondition, "uninitialized value emb.");
  Expect(destroy(), absl::StatusCode::kNotFound, "has no values");
  ASSERT_TRUE(table_.Initialize(task_).ok());
  EXPECT_EQ(*table_.Rows(task_), 0);
}

TEST_F(TableErrorsTest, PartsAndInitializers) {
  Expect(TestTable{.name = "a", .parts = 0}.Initialize(task_), absl::StatusCode::kInvalidArgument,
         "cannot be part 0 of 0");
  Expect(TestTable{.name = "a", .part = 2, .parts = 2}.Initialize(task_), absl::StatusCode::kInvalidArgument,
         "part 2 of 2");
  Expect(TestTable{.name = "a", .parts = 1001}.Initialize(task_), absl::StatusCode::kInvalidArgument, "of 1001");
  Expect(TestTable{.name = "a", .initializer = "glorot"}.Initialize(task_), absl::StatusCode::kInvalidArgument,
         "unknown initializer 'glorot'");
  Expect(TestTable{.name = "a", .arguments = {1}}.Initialize(task_), absl::StatusCode::kInvalidArgument,
         "takes 2 finite numbers");
  Expect(TestTable{.name = "emb/Adagrad", .dim = 2}.Initialize(task_), absl::StatusCode::kInvalidArgument,
         "cannot become a table");
  const TestTable part{.name = "part", .part = 1, .parts = 2};
  ASSERT_TRUE(part.Initialize(task_).ok());
  Expect(part.Lookup(task_, std::vector<int64_t>{1, 2}).status(), absl::StatusCode::kInvalidArgument,
         "key 2 belongs to part 0 of 2 of the table, but was sent to part 1");
}

}  // namespace
}  // namespace tensorbraid
