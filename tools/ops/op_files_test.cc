#include "ops/op_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/op_functions.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "ops/raw_ops/function.h"

namespace tensorbraid {
namespace {

constexpr char kHowTo[] = "; to update it: scripts/update_op_files";

std::string PathOf(const std::string& name) { return JoinPath(TENSORBRAID_SOURCE_TREE, name); }

TEST(OpFiles, AreUpToDate) {
  for (const auto& [name, text] : OpFiles()) {
    const auto kept = ReadFile(PathOf(name));
    ASSERT_TRUE(kept.ok()) << kept.status() << kHowTo;
    if (*kept == text) continue;
    const auto kept_lines = StrSplit(*kept, '\n');
    const std::set<std::string> known(kept_lines.begin(), kept_lines.end());
    for (const std::string& line : StrSplit(text, '\n')) {
      ASSERT_TRUE(known.contains(line)) << name << " lacks\n  " << line << "\n" << kHowTo;
    }
    FAIL() << name << " has lines that it should not have, or has them in another order" << kHowTo;
  }
}

TEST(OpFiles, AreAllHeadersOfRawOps) {
  const auto paths = MatchingPaths(PathOf("include/tensorbraid/raw_ops/*.h"));
  ASSERT_TRUE(paths.ok()) << paths.status();
  std::set<std::string> expected = {PathOf("include/tensorbraid/raw_ops/call.h")};
  for (const auto& [name, text] : OpFiles()) {
    if (name.starts_with("include/tensorbraid/raw_ops/")) expected.insert(PathOf(name));
  }
  EXPECT_EQ(std::set<std::string>(paths->begin(), paths->end()), expected);
}

TEST(OpFiles, AreWrittenIntoASourceTreeAndNowhereElse) {
  const std::string tree = JoinPath(testing::TempDir(), "op_files_tree");
  std::filesystem::remove_all(tree);
  std::filesystem::create_directory(tree);
  const auto refused = UpdateOpFiles(tree);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(),
            StrCat("'", tree, "' is no source tree of Tensorbraid: it has no include/tensorbraid/raw_ops/call.h"));
  EXPECT_TRUE(std::filesystem::is_empty(tree));

  std::filesystem::create_directories(JoinPath(tree, "include/tensorbraid/raw_ops"));
  ASSERT_TRUE(WriteFile(JoinPath(tree, "include/tensorbraid/raw_ops/call.h"), "").ok());
  const auto written = UpdateOpFiles(tree);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->size(), OpFiles().size());
  EXPECT_EQ(*ReadFile(JoinPath(tree, "docs/ops.md")), OpFiles().at("docs/ops.md"));
  EXPECT_TRUE(UpdateOpFiles(tree)->empty());
}

TEST(OpFiles, EveryFunctionOfAnOpIsDeclared) {
  std::set<std::string> ops;
  for (const RawFunction& f : RawFunctions()) ops.insert(f.op->name);
  EXPECT_GT(OpFunctions().size(), 100u);
  for (const OpFunction& function : OpFunctions()) {
    EXPECT_TRUE(ops.contains(std::string(function.op))) << function.op;
    const auto text = ReadFile(PathOf(StrCat("include/tensorbraid/ops/", function.header)));
    ASSERT_TRUE(text.ok()) << text.status();
    const std::string name = StrSplit(function.name, ':').back();
    EXPECT_NE(text->find(StrCat(" ", name, "(")), std::string::npos) << function.name;
  }
}

// Names that C++ reserves, or that occur twice in one function, would not compile. These need no compiler to be seen.
TEST(RawFunctions, ParametersFollowFromTheDefinition) {
  const auto functions = RawFunctions();
  const auto find = [&](std::string_view op) {
    return std::find_if(functions.begin(), functions.end(), [&](const RawFunction& f) { return f.op->name == op; });
  };
  const auto cast = find("Cast");
  ASSERT_NE(cast, functions.end());
  ASSERT_EQ(cast->required.size(), 1u);  // SrcT follows from the input
  EXPECT_EQ(cast->required[0].name, "dst_t");
  EXPECT_EQ(cast->required[0].type, "DType");
  ASSERT_EQ(cast->options.size(), 1u);
  EXPECT_EQ(cast->options[0].default_value, "false");
  EXPECT_FALSE(cast->takes_graph);
  EXPECT_FALSE(cast->takes_location);

  const auto call = find("StatefulPartitionedCall");
  ASSERT_NE(call, functions.end());
  EXPECT_TRUE(call->takes_graph);  // the function may have no arguments
  EXPECT_TRUE(call->takes_location);
  EXPECT_EQ(call->inputs[0].kind, RawInput::Kind::kList);
  EXPECT_EQ(call->result_type(), "StatefulPartitionedCallOutputs");

  const auto assign = find("Assign");
  ASSERT_NE(assign, functions.end());
  EXPECT_EQ(assign->inputs[0].kind, RawInput::Kind::kTensor);
  EXPECT_EQ(assign->inputs[1].kind, RawInput::Kind::kOperand);
}

}  // namespace
}  // namespace tensorbraid
