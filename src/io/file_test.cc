#include "io/file.h"

#include <gtest/gtest.h>

#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

TEST(File, WritingCreatesMissingDirectories) {
  TempDir dir;
  const std::string path = dir.path() + "/a/b/file";
  const std::string bytes("x\0y", 3);
  ASSERT_TRUE(WriteFile(path, "something longer").ok());
  ASSERT_TRUE(WriteFile(path, bytes).ok());
  EXPECT_EQ(*ReadFile(path), bytes);
}

TEST(File, ErrorsSayWhyAFileCannotBeUsed) {
  TempDir dir;
  EXPECT_TRUE(absl::IsNotFound(ReadFile(dir.path() + "/none").status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(ReadFile(dir.path()).status()));
  EXPECT_FALSE(WriteFile(dir.path(), "x").ok());
}

TEST(File, PatternsMatchNamesInOneDirectory) {
  TempDir dir;
  for (const char* name : {"b1", "a1", "a2"}) dir.Write(name, "");
  ASSERT_TRUE(WriteFile(dir.path() + "/a3/a4", "").ok());
  const std::string at = dir.path() + "/";
  EXPECT_EQ(*MatchingPaths(at + "a*"), (std::vector<std::string>{at + "a1", at + "a2", at + "a3"}));
  EXPECT_EQ(*MatchingPaths(at + "?1"), (std::vector<std::string>{at + "a1", at + "b1"}));
  EXPECT_EQ(*MatchingPaths(at + "*/a[1-4]"), (std::vector<std::string>{at + "a3/a4"}));
  EXPECT_TRUE(MatchingPaths(at + "c*")->empty());
  EXPECT_TRUE(MatchingPaths("/no/such/directory/*")->empty());
}

}  // namespace
}  // namespace tensorbraid
