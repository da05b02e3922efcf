#include <gtest/gtest.h>

#include "executor/passes/pass_test_util.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

TEST(ConstantFoldingPass, ComputesExpressionsInOneSweep) {
  Graph g;
  const Output all = Square(Add(Operand(2.0f).ToOutput(g), 3.0f)) * 2.0f;
  const auto o = After(FoldConstants, g, {}, {all});
  EXPECT_EQ(FetchedConstant(*o, 0).scalar<float>(), 50.0f);
  EXPECT_EQ(FetchedFrom(*o, 0).name(), NodeOf(all)->name());
}

TEST(ConstantFoldingPass, ANodeWithSeveralOutputsBecomesSeveralConstants) {
  Graph g;
  const Output rows = Operand(Tensor::Of<float>({2, 2}, {1, 2, 3, 4})).ToOutput(g);
  const Operation unpack = NodeBuilder(g, "Unpack").Input(rows).Attr("num", int64_t{2}).Finish();
  const Output first = Square(unpack.output(0));
  const auto o = After(FoldConstants, g, {}, {first, unpack.output(1)});
  EXPECT_EQ(Count(*o, "Unpack"), 0);
  EXPECT_EQ(FetchedConstant(*o, 0).data<float>()[1], 4.0f);
  EXPECT_EQ(FetchedConstant(*o, 1).data<float>()[1], 4.0f);
  for (const auto& node : ImplOf(*o).nodes()) {
    for (const Output& in : node->inputs()) EXPECT_LT(NodeOf(in)->id(), node->id()) << node->name();
  }
}

TEST(ConstantFoldingPass, KeepsLargeAndFailingExpressions) {
  Graph g;
  const Output three = Operand(Tensor::Vector<float>({1, 2, 3})).ToOutput(g);
  const Output outside = Gather(three, Operand(Tensor::Vector<int32_t>({7})).ToOutput(g));
  const auto o = After(FoldConstants, g, {}, {Fill(g, {1000, 1000}, 1.0f), outside});
  EXPECT_EQ(FetchedFrom(*o, 0).type(), "Fill");
  EXPECT_EQ(FetchedFrom(*o, 1).type(), NodeOf(outside)->type());
}

TEST(ConstantFoldingPass, KeepsWhatRunsOnlyInABranch) {
  Graph g;
  const Output p = Placeholder(g, kBool, {});
  const Operation pivot = NodeBuilder(g, "Switch").Input(p).Input(p).Finish();
  Output c;
  {
    auto order = g.ControlDependencies({Identity(pivot.output(1)).op()});
    c = Operand(2.0f).ToOutput(g);
  }
  const Output squared = Square(c);
  const auto o = After(FoldConstants, g, {p}, {squared});
  EXPECT_EQ(FetchedFrom(*o, 0).type(), "Square");
}

TEST(ConstantFoldingPass, KeepsReadsOfFiles) {
  Graph g;
  const Output name = Operand(Tensor::Scalar("words.txt")).ToOutput(g);
  const Output contents = NodeBuilder(g, "ReadFile").Input(name).Output();
  const Output files = NodeBuilder(g, "MatchingFiles").Input(name).Output();
  const Output ids = NodeBuilder(g, "GenerateVocabRemapping")
                         .Input(name)
                         .Input(name)
                         .Attr("new_vocab_offset", int64_t{0})
                         .Attr("num_new_vocab", int64_t{2})
                         .Output();
  const auto o = After(FoldConstants, g, {}, {contents, files, ids});
  EXPECT_EQ(Count(*o, "ReadFile"), 1);
  EXPECT_EQ(Count(*o, "MatchingFiles"), 1);
  EXPECT_EQ(Count(*o, "GenerateVocabRemapping"), 1);
  for (const Output& read : {contents, files, ids}) EXPECT_FALSE(NodeOf(read)->op().is_pure()) << NodeOf(read)->type();
}

}  // namespace
}  // namespace tensorbraid
