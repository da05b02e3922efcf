#include "tensorbraid/variables/variable_scope.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

TEST(VariableScopeTest, NamesAreThoseOfTensorFlow) {
  Graph g;
  {
    auto outer = g.VariableScope("encoder");
    EXPECT_EQ(VariableScopeName(g), "encoder");
    EXPECT_EQ(GetVariable(g, "w", {2}).name(), "encoder/w");
    {
      auto name_scope = g.NameScope("somewhere");  // has no effect on variables
      auto inner = g.VariableScope("layer");
      EXPECT_EQ(GetVariable(g, "w", {2}).name(), "encoder/layer/w");
      EXPECT_EQ(NoOp(g, "op").name(), "encoder/somewhere/layer/op");
    }
    auto same = g.VariableScope("", {.reuse = true});
    EXPECT_EQ(GetVariable(g, "w", {2}).name(), "encoder/w");
  }
  {
    auto again = g.VariableScope("encoder");
    EXPECT_EQ(NoOp(g, "op").name(), "encoder_1/op");
    auto absolute = g.VariableScope("other/place/");
    EXPECT_EQ(GetVariable(g, "w", {2}).name(), "other/place/w");
    EXPECT_EQ(NoOp(g, "op").name(), "encoder_1/place/op");
  }
  EXPECT_EQ(VariableScopeName(g), "");
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(VariableScopeTest, AScopeCanLeaveTheNamesOfNodesAlone) {
  Graph g;
  auto outer = g.VariableScope("encoder");
  auto inner = g.VariableScope("layer", {.name_scope = false});
  EXPECT_EQ(GetVariable(g, "w", {2}).name(), "encoder/layer/w");
  EXPECT_EQ(NoOp(g, "op").name(), "encoder/op");
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(VariableScopeTest, AVariableWithoutAFixedShapeTakesOtherShapes) {
  Graph g;
  const Variable v(g, Shape::Unknown(), Constant(Tensor::Vector<float>({1, 2})), {.fixed_shape = false});
  const Operation assign = v.Assign(Tensor::Vector<float>({3, 4, 5}));
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({v.initializer()}).ok());
  ASSERT_TRUE(session->Run({assign}).ok());
  EXPECT_EQ(session->Run({v.value()}).value()[0].shape(), Shape({3}));
}

TEST(VariableScopeTest, ASeedOfZeroIsASeedToo) {
  Graph g;
  const Variable a(g, {4}, RandomUniform(0, 1, kSeedZero), {.name = "a"});
  const Variable b(g, {4}, RandomUniform(0, 1, kSeedZero), {.name = "b"});
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  const auto values = session->Run({a.value(), b.value()}).value();
  EXPECT_EQ(values[0].data<float>()[0], values[1].data<float>()[0]);
  EXPECT_EQ(values[0].data<float>()[3], values[1].data<float>()[3]);
}

TEST(VariableScopeTest, UniqueNamesBeginAgainWhenTheEnclosingScopeIsOpened) {
  Graph g;
  const auto unique = [&] {
    auto scope = g.VariableScope("cell", {.unique = true});
    return VariableScopeName(g);
  };
  EXPECT_EQ(unique(), "cell");
  EXPECT_EQ(unique(), "cell_1");
  for (int i = 0; i < 2; ++i) {
    auto outer = g.VariableScope("model", {.reuse = i > 0});
    EXPECT_EQ(unique(), "model/cell");
    EXPECT_EQ(unique(), "model/cell_1");
  }
  for (int i = 0; i < 2; ++i) {
    auto tower = g.VariableScope("", {.reuse = kAutoReuse});
    EXPECT_EQ(unique(), "cell_2");
  }
  EXPECT_EQ(unique(), "cell_2");
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(VariableScopeTest, ReuseSharesVariables) {
  Graph g;
  Variable made, shared, automatic;
  {
    auto scope = g.VariableScope("s");
    made = GetVariable(g, "w", {2, 3});
  }
  {
    auto scope = g.VariableScope("s", {.reuse = true});
    auto inner = g.VariableScope("");  // inherits
    shared = GetVariable(g, "w", {2, 3});
  }
  {
    auto scope = g.VariableScope("s", {.reuse = kAutoReuse});
    automatic = GetVariable(g, "w", {2, 3});
    EXPECT_TRUE(GetVariable(g, "new", {}).valid());
  }
  EXPECT_TRUE(made.valid());
  EXPECT_EQ(made, shared);
  EXPECT_EQ(made, automatic);
  EXPECT_EQ(g.variables().size(), 2u);
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(VariableScopeTest, ErrorsNameTheLineOfTheCallAndTheLineThatItConflictsWith) {
  const auto mistake = [](const VariableScopeOptions& options, const std::string& name, const Shape& shape,
                          DType dtype) {
    Graph g;
    {
      auto scope = g.VariableScope("s");
      GetVariable(g, "w", {2, 3});
    }
    auto scope = g.VariableScope("s", options);
    EXPECT_FALSE(GetVariable(g, name, shape, {.dtype = dtype}).valid());
    EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
    const std::string message(g.status().message());
    const size_t first = message.find("variable_scope_test.cc:");
    EXPECT_NE(first, std::string::npos) << message;
    EXPECT_NE(message.find("variable_scope_test.cc:", first + 1), std::string::npos) << message;
    return message;
  };
  EXPECT_NE(mistake({}, "w", {2, 3}, kFloat32).find("variable 's/w'"), std::string::npos);
  EXPECT_NE(mistake({}, "w", {2, 3}, kFloat32).find("exists already"), std::string::npos);
  EXPECT_NE(mistake({.reuse = true}, "v", {2, 3}, kFloat32).find("does not exist"), std::string::npos);
  EXPECT_NE(mistake({.reuse = true}, "w", {2, 4}, kFloat32).find("has shape [2,3], but shape [2,4]"),
            std::string::npos);
  EXPECT_NE(mistake({.reuse = true}, "w", {2, 3}, kFloat64).find("has dtype float32, but float64"), std::string::npos);
}

TEST(VariableScopeTest, ScopesGiveDefaults) {
  Graph g;
  {
    auto outer = g.VariableScope("a", {.initializer = Constant(3.0), .regularizer = L1L2Regularizer(0.5, 2.0)});
    auto inner = g.VariableScope("b", {.dtype = kFloat64});
    GetVariable(g, "x", {2});
    GetVariable(g, "y", {2}, {.initializer = Ones(), .regularizer = NoRegularizer(), .dtype = kInt32});
    EXPECT_EQ(GetVariable(g, "z", {2}, {.dtype = kFloat32, .trainable = false}).trainable(), false);
  }
  auto again = g.VariableScope("a", {.reuse = true});
  auto inner = g.VariableScope("b");
  const Variable x = GetVariable(g, "x", {2}, {.dtype = kFloat64});
  const Variable y = GetVariable(g, "y", {2}, {.dtype = kInt32});
  ASSERT_TRUE(g.status().ok()) << g.status();
  const std::vector<Output> losses = layers::RegularizationLosses(g);
  ASSERT_EQ(losses.size(), 2u) << "of x and z, once each";
  EXPECT_TRUE(g.FindOperation("a/b/x/Regularizer/ReadVariableOp").ok());
  EXPECT_FALSE(g.FindOperation("a/b/y/Regularizer/ReadVariableOp").ok()) << "no loss reads it";
  auto session = Session::Create(g);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({GlobalVariablesInitializer(g)}).ok());
  const auto values = (*session)->Run({x, y, losses[0], losses[1]});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].data<double>()[1], 3.0);
  EXPECT_EQ((*values)[1].data<int32_t>()[1], 1);
  // Each variable is [3, 3]: the sum of the absolute values is 6, and the sum of the squares is 18.
  EXPECT_EQ((*values)[2].scalar<double>(), 0.5 * 6 + 2.0 * 18);
  EXPECT_EQ((*values)[3].scalar<float>(), 39.0f);
}

TEST(VariableScopeTest, AScopesPartitionerPartitionsItsVariables) {
  Graph g;
  PartitionedVariable w, own, scalar;
  {
    auto outer = g.VariableScope("m", {.regularizer = L2Regularizer(1.0), .partitioner = FixedSizePartitioner(3)});
    auto inner = g.VariableScope("layer");
    w = GetPartitionedVariable(g, "w", {7, 2});
    own = GetPartitionedVariable(g, "own", {7, 2}, FixedSizePartitioner(2), {.dtype = kFloat64});
    scalar = GetPartitionedVariable(g, "scalar", {});
    EXPECT_EQ(GetVariable(g, "whole", {7, 2}).name(), "m/layer/whole");
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  ASSERT_EQ(w.parts().size(), 3u);
  EXPECT_EQ(w.name(), "m/layer/w");
  EXPECT_EQ(w.parts()[2].name(), "m/layer/w/part_2");
  EXPECT_EQ(w.parts()[2].shape(), Shape({2, 2}));
  EXPECT_EQ(w.parts()[2].part_of()->whole, "m/layer/w");
  EXPECT_EQ(own.parts().size(), 2u);
  EXPECT_EQ(own.dtype(), kFloat64);
  ASSERT_EQ(scalar.parts().size(), 1u);
  EXPECT_EQ(scalar.parts()[0].name(), "m/layer/scalar");
  EXPECT_EQ(layers::RegularizationLosses(g).size(), 7u) << "one for each part";

  auto again = g.VariableScope("m/layer", {.reuse = true});
  EXPECT_EQ(GetPartitionedVariable(g, "w", {7, 2}).parts(), w.parts())
      << "the variable must be shared without a partitioner, too";
  EXPECT_EQ(GetPartitionedVariable(g, "whole", {7, 2}, FixedSizePartitioner(2)).parts().size(), 1u);
  EXPECT_TRUE(g.status().ok()) << g.status();
  EXPECT_FALSE(GetVariable(g, "w", {7, 2}).valid());
  EXPECT_NE(g.status().message().find("variable 'm/layer/w' (variable_scope_test.cc:"), std::string_view::npos);
  EXPECT_NE(g.status().message().find("is partitioned; share it with GetPartitionedVariable; it was made at"),
            std::string_view::npos)
      << g.status();
}

// Layers compute the same whether their variables, which have constant values here, are in one piece or in parts.
TEST(VariableScopeTest, LayersWithPartitionedVariablesComputeTheSame) {
  const auto run = [](const Partitioner& partitioner, size_t variables) {
    Graph g;
    auto scope = g.VariableScope("m", {.partitioner = partitioner});
    Tensor numbers(kFloat32, {7, 2});
    for (int i = 0; i < 14; ++i) numbers.mutable_data<float>()[i] = static_cast<float>(i);
    const auto ids = Const(g, Tensor::Of<int32_t>({3}, {0, 4, 6}));
    const auto rows =
        layers::Embedding(ids, {.input_dim = 7, .output_dim = 2, .initializer = Constant(numbers), .name = "e"});
    auto y = layers::Dense(rows, {.units = 2, .kernel_initializer = IdentityMatrix(2.0)});
    y = layers::BatchNorm(y, {.training = true});
    EXPECT_EQ(g.variables().size(), variables);
    EXPECT_TRUE(g.status().ok()) << g.status();
    const Operation init = GlobalVariablesInitializer(g);
    auto session = Session::Create(g).value();
    EXPECT_TRUE(session->Run({init}).ok());
    const auto values = session->Run({rows, y});
    EXPECT_TRUE(values.ok()) << values.status();
    return (*values)[0].ToString(100) + (*values)[1].ToString(100);
  };
  // In two parts each: embeddings, kernel, bias, gamma, beta. In one piece: the moving averages.
  EXPECT_EQ(run(FixedSizePartitioner(2), 12), run(nullptr, 7));
}

TEST(VariableScopeTest, AVariableWithMostOfTheBytesIsSpreadOverTheParameterServers) {
  constexpr int kServers = 4;
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = kServers, .strategy = LeastBytesStrategy(kServers)}));
  auto scope = g.VariableScope("s", {.partitioner = PartitionLargest(kServers)});
  std::map<std::string, int64_t> load;
  int64_t all = 0;
  for (int i = 0; i < 16; ++i) {
    // 90 % of the elements are in the eighth of 16 variables.
    const Shape shape{i == 7 ? 135'000 : 1000, 10};
    const auto variable = GetPartitionedVariable(g, StrCat("v", i), shape);
    EXPECT_EQ(variable.parts().size(), i == 7 ? 4u : 1u) << i;
    for (const Variable& part : variable.parts()) load[part.handle().op().device()] += part.shape().num_elements();
    all += shape.num_elements();
  }
  ASSERT_EQ(load.size(), 4u);
  for (const auto& [server, elements] : load)
    EXPECT_LT(static_cast<double>(elements), 1.1 * static_cast<double>(all) / kServers) << server;
}

TEST(VariableScopeTest, VariablesArePlacedByTheDeviceScopes) {
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 2}));
  auto scope = g.VariableScope("s");
  EXPECT_EQ(GetVariable(g, "a", {}).handle().op().device(), "/job:ps/task:0");
  EXPECT_EQ(GetVariable(g, "b", {}).handle().op().device(), "/job:ps/task:1");
}

}  // namespace
}  // namespace tensorbraid
