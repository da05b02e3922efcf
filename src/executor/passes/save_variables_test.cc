#include <gtest/gtest.h>

#include "executor/passes/pass_test_util.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Operation Save(Graph& g, const std::vector<Output>& tensors) {
  const std::vector<std::string> names(tensors.size(), "v"), slices(tensors.size());
  std::vector<DType> dtypes;
  for (const Output& t : tensors) dtypes.push_back(BaseType(t.dtype()));
  return NodeBuilder(g, "SaveV2")
      .Input(Const(g, Tensor::Scalar<std::string>("model")))
      .Input(Const(g, Tensor::Vector(names)))
      .Input(Const(g, Tensor::Vector(slices)))
      .InputList(tensors)
      .Attr("dtypes", dtypes)
      .Finish();
}

Output ReferenceVariable(Graph& g) {
  return NodeBuilder(g, "VariableV2").Attr("shape", Shape({2})).Attr("dtype", kFloat32).Output();
}

const Node* Find(const Graph& g, const std::string& type) {
  for (const auto& node : ImplOf(g).nodes()) {
    if (node->type() == type) return node.get();
  }
  return nullptr;
}

using Types = std::vector<DType>;

TEST(SaveVariablesPass, SaveTakesVariablesInsteadOfTheirValues) {
  Graph g;
  const Variable v(g, {2}, Zeros(), {.name = "v"});
  const Output reference = ReferenceVariable(g);
  const Output value = Const(g, Tensor::Vector<float>({1, 2}));
  const auto o = After(SaveVariables, g, {}, {}, {Save(g, {v.Read(), reference, value})});
  const Node* save = Find(*o, "_SaveVariables");
  ASSERT_NE(save, nullptr);
  EXPECT_EQ(save->attr<Types>("Tvariables"), (Types{DType::kResource, RefType(kFloat32), kFloat32}));
  EXPECT_EQ(NodeOf(save->inputs()[3])->type(), "VarHandleOp");
  EXPECT_EQ(NodeOf(save->inputs()[4])->type(), "VariableV2");
  EXPECT_EQ(Count(*o, "ReadVariableOp"), 0);
  EXPECT_EQ(Count(*o, "SaveV2"), 0);
}

// Its variables are not in memory of the host.
TEST(SaveVariablesPass, ASaveOnAnAcceleratorStays) {
  Graph g;
  const auto device = g.Device("/device:GPU:0");
  const Variable v(g, {2}, Zeros(), {.name = "v"});
  const auto o = After(SaveVariables, g, {}, {}, {Save(g, {v.Read(), ReferenceVariable(g)})});
  EXPECT_EQ(Count(*o, "_SaveVariables"), 0);
  EXPECT_EQ(Count(*o, "SaveV2"), 1);
}

TEST(SaveVariablesPass, SaveWaitsForWhatTheReadsWaitedFor) {
  Graph g;
  const Variable v(g, {2}, Zeros(), {.name = "v"});
  const Operation update = v.AssignAdd(Ones(g, {2}));
  Output read;
  {
    auto order = g.ControlDependencies({update});
    read = v.Read();
  }
  const auto o = After(SaveVariables, g, {}, {}, {Save(g, {read})});
  const Node* save = Find(*o, "_SaveVariables");
  ASSERT_NE(save, nullptr);
  ASSERT_EQ(save->control_inputs().size(), 1u);
  EXPECT_EQ(save->control_inputs()[0]->type(), "AssignAddVariableOp");
}

TEST(SaveVariablesPass, AReadThatSomethingElseUsesStays) {
  Graph g;
  const Variable v(g, {2}, Zeros(), {.name = "v"}), w(g, {2}, Zeros(), {.name = "w"}),
      x(g, {2}, Zeros(), {.name = "x"});
  const Output used = v.Read(), waited_for = w.Read();
  Output after;
  {
    auto order = g.ControlDependencies({waited_for.op()});
    after = Const(g, Tensor::Scalar(1.0f));
  }
  const auto o = After(SaveVariables, g, {}, {Exp(used), after}, {Save(g, {used, waited_for, x.Read()})});
  const Node* save = Find(*o, "_SaveVariables");
  ASSERT_NE(save, nullptr);
  EXPECT_EQ(save->attr<Types>("Tvariables"), (Types{kFloat32, kFloat32, DType::kResource}));
  EXPECT_EQ(Count(*o, "ReadVariableOp"), 2);
}

TEST(SaveVariablesPass, VariablesOfOtherDevicesAreReadThere) {
  Graph g;
  Output value, reference;
  {
    auto device = g.Device("/job:ps/task:1");
    value = Variable(g, {2}, Zeros(), {.name = "v"}).Read();
    reference = ReferenceVariable(g);
  }
  const auto o = After(SaveVariables, g, {}, {}, {Save(g, {value, reference})});
  EXPECT_EQ(Count(*o, "SaveV2"), 1);
  EXPECT_EQ(Count(*o, "ReadVariableOp"), 1);
}

}  // namespace
}  // namespace tensorbraid
