#include "graph/format/missing_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/strings.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string NodeOf(const std::string& name, const std::string& op) {
  return StrCat("node { name: '", name, "' op: '", op, "' } ");
}

std::string FunctionOf(const std::string& name, const std::string& node, const std::string& op) {
  return StrCat("function { signature { name: '", name, "' } node_def { name: '", node, "' op: '", op, "' } } ");
}

// A node that refers to a function in an attribute.
std::string CallerOf(const std::string& name, const std::string& function) {
  return StrCat("node { name: '", name, R"(' op: 'PartitionedCall' attr { key: 'Tin' value { list { } } }
      attr { key: 'Tout' value { list { } } } attr { key: 'f' value { func { name: ')",
                function, "' } } } } ");
}

std::string MessageOf(const std::string& text) {
  Graph g;
  const Status s = g.ImportGraphDefText(text);
  EXPECT_EQ(s.code(), absl::StatusCode::kNotFound) << s;
  EXPECT_FALSE(g.FindOperation("good").ok()) << "something was added";
  return std::string(s.message());
}

TEST(MissingOpsTest, ListsAllMissingOpsWithANodeForEach) {
  const std::string message = MessageOf(NodeOf("good", "NoOp") + NodeOf("a", "Zebra") + NodeOf("b", "Yak") +
                                        NodeOf("c", "Zebra") + NodeOf("d", "Zebra"));
  EXPECT_THAT(message, HasSubstr("2 ops"));
  EXPECT_THAT(message, HasSubstr("'Yak': node 'b'"));
  EXPECT_THAT(message, HasSubstr("'Zebra': node 'a' and 2 more"));
  EXPECT_THAT(message, Not(HasSubstr("NoOp")));
}

TEST(MissingOpsTest, SuggestsTheOpWithTheNearestName) {
  EXPECT_THAT(MessageOf(NodeOf("a", "Placeholdr")), HasSubstr("did you mean 'Placeholder'?"));
}

TEST(MissingOpsTest, SaysWhatToUseInsteadOfTheLibrariesForGpus) {
  EXPECT_THAT(MessageOf(NodeOf("a", "NcclAllReduce")), HasSubstr("no ops of NCCL: add the tensors of several devices"));
  EXPECT_THAT(MessageOf(NodeOf("a", "CudnnRNNV2")), HasSubstr("no layers of cuDNN: CudnnCompatibleLSTMCell"));
}

TEST(MissingOpsTest, ListsMissingOpsOfFunctionsThatAreUsed) {
  const std::string library = StrCat("library { ", FunctionOf("outer", "call", "inner"),
                                     FunctionOf("inner", "deep", "Zebra"), FunctionOf("unused", "x", "Yak"), " } ");
  for (const std::string& node : {NodeOf("top", "outer"), CallerOf("top", "outer")}) {
    const std::string message = MessageOf(library + node);
    EXPECT_THAT(message, HasSubstr("'Zebra': node 'deep' of function 'inner'"));
    EXPECT_THAT(message, Not(HasSubstr("Yak"))) << "'unused' is never called";
  }
  Graph g;
  EXPECT_TRUE(g.ImportGraphDefText(library + NodeOf("good", "NoOp")).ok());
}

TEST(MissingOpsTest, RecursiveFunctionsDoNotLoop) {
  Graph g;
  const Status s = g.ImportGraphDefText(
      StrCat("library { ", FunctionOf("f", "x", "g"), FunctionOf("g", "y", "f"), " } ", NodeOf("a", "f")));
  EXPECT_TRUE(s.ok()) << s;
}

TEST(MissingOpsTest, LimitsTheLengthOfTheMessage) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += NodeOf(StrCat("node_", i), StrCat("Missing", i));
  text += NodeOf("long", std::string(100'000, 'A'));
  const std::string message = MessageOf(text);
  EXPECT_LT(message.size(), 4000u);
  EXPECT_THAT(message, HasSubstr("5001 ops"));
  EXPECT_THAT(message, HasSubstr("other ops"));
}

}  // namespace
}  // namespace tensorbraid
