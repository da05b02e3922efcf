#include "graph/model/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/logging.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ReferencesTest : public ::testing::Test {
 protected:
  Output ReferenceVariable(const std::string& name, const std::string& shared_name = "") {
    return NodeBuilder(g_, "VariableV2")
        .Name(name)
        .Attr("dtype", kFloat32)
        .Attr("shape", Shape())
        .Attr("shared_name", shared_name)
        .Output();
  }
  Output One(const char* op, Output input) { return NodeBuilder(g_, op).Input(input).Output(); }
  Output AssignAdd(Output v) {
    return NodeBuilder(g_, "AssignAdd").Input(v).Input(Operand(1.0f).ToOutput(g_)).Output();
  }
  std::vector<Node*> After(Output read, int input) {
    TB_CHECK_OK(g_.status());
    const ReferenceTensors references(g_);
    return ReferenceReads(g_, references).After(*NodeOf(read), input);
  }

  Graph g_;
};

TEST_F(ReferencesTest, AReferenceStaysOneThroughOpsThatForwardIt) {
  const Output v = ReferenceVariable("v");
  const Output identity = One("Identity", v);
  const Output enter = NodeBuilder(g_, "Enter").Input(identity).Attr("frame_name", "loop").Output();
  const auto sides = NodeBuilder(g_, "Switch").Input(v).Input(Const(g_, Tensor::Scalar(true))).Finish();
  const auto merged = NodeBuilder(g_, "Merge").InputList({sides.output(0), sides.output(1)}).Finish();
  const Output updated = AssignAdd(v), sum = identity + 0.0f;
  ASSERT_TRUE(g_.status().ok()) << g_.status();
  const ReferenceTensors references(g_);
  for (const Output& o : {v, identity, enter, sides.output(0), sides.output(1), merged.output(0), updated}) {
    EXPECT_THAT(references.VariablesOf(o), ElementsAre(0)) << o.name();
  }
  EXPECT_FALSE(references.Contains(merged.output(1)));
  EXPECT_FALSE(references.Contains(sum));
}

TEST_F(ReferencesTest, AReferenceEndsWhereStaysReturnsFalse) {
  const Output v = ReferenceVariable("v"), identity = One("Identity", v), next = One("Identity", identity);
  const ReferenceTensors references(g_, [&](const Node& node, int) { return &node != NodeOf(next); });
  EXPECT_TRUE(references.Contains(identity));
  EXPECT_FALSE(references.Contains(next));
}

TEST_F(ReferencesTest, NodesWithTheSameSharedNameAreOneVariable) {
  const Output a = ReferenceVariable("a", "shared"), b = ReferenceVariable("b", "shared"), c = ReferenceVariable("c");
  const ReferenceTensors references(g_);
  EXPECT_EQ(references.VariablesOf(a), references.VariablesOf(b));
  EXPECT_NE(references.VariablesOf(a), references.VariablesOf(c));
}

TEST_F(ReferencesTest, AReadFollowsTheInputsThatFollowAnUpdate) {
  const Output v = ReferenceVariable("v"), other = ReferenceVariable("other");
  const Output updated = AssignAdd(v);
  const Output sum = updated * 2.0f, unrelated = AssignAdd(other) * 2.0f;
  Operation between = NodeBuilder(g_, "NoOp").Control(updated.op()).Finish();
  Output read, plain;
  {
    auto scope = g_.ControlDependencies({between, unrelated.op()});
    read = NodeBuilder(g_, "AddN").InputList({v, sum, unrelated}).Output();
  }
  plain = v + unrelated;
  EXPECT_THAT(After(read, 0), ElementsAre(NodeOf(sum), NodeOf(between)));
  EXPECT_THAT(After(plain, 0), IsEmpty());
}

TEST_F(ReferencesTest, AReadInALoopFollowsUpdatesOfEarlierIterations) {
  const Output v = ReferenceVariable("v");
  const auto enter = [&](const char* op, Output x) {
    return NodeBuilder(g_, op).Input(x).Attr("frame_name", "loop").Attr("is_constant", x == v).Output();
  };
  const Output start = enter("Enter", Operand(0.0f).ToOutput(g_)), in_loop = enter("RefEnter", v);
  TB_CHECK_OK(g_.status());
  Node* merge = ImplOf(g_)
                    .AddNode({.name = "merge",
                              .op = "Merge",
                              .inputs = {start, Output()},
                              .controls = {},
                              .attrs = {{"N", int64_t{2}}},
                              .device = ""})
                    .value();
  const Output read = in_loop + OutputOf(merge, 0);
  Output updated;
  {
    auto scope = g_.ControlDependencies({read.op()});
    updated = AssignAdd(in_loop);
  }
  const Output next = One("NextIteration", updated);
  TB_CHECK_OK(ImplOf(g_).CloseLoop(merge, /*input=*/1, next));
  EXPECT_THAT(After(read, 0), ElementsAre(merge));
}

TEST_F(ReferencesTest, AReadFollowsWhatAControlEdgeOrdersBehindAQueue) {
  const Output v = ReferenceVariable("v");
  const Output queue = NodeBuilder(g_, "FIFOQueueV2").Attr("component_types", std::vector<DType>{kFloat32}).Output();
  const Output element =
      NodeBuilder(g_, "QueueDequeueV2").Input(queue).Attr("component_types", std::vector<DType>{kFloat32}).Output();
  const Output batch = element * 2.0f;
  Output behind, read;
  {
    auto scope = g_.ControlDependencies({element.op()});
    behind = Operand(1.0f).ToOutput(g_) * 2.0f;
    read = One("Neg", v);
  }
  // A data edge does not count: an element of an input queue says nothing about the variable.
  EXPECT_THAT(After(v * batch, 0), IsEmpty());
  EXPECT_THAT(After(read, 0), ElementsAre(NodeOf(element)));
  EXPECT_THAT(After(v * behind, 0), ElementsAre(NodeOf(behind)));
}

}  // namespace
}  // namespace tensorbraid
