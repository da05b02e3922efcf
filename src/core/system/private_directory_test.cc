#include "core/system/private_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST(PrivateDirectoryTest, IsMadeForThisUserOnly) {
  const TempDir parent;
  const std::string path = parent.path() + "/private";
  ASSERT_TRUE(MakePrivateDirectory(path).ok());
  EXPECT_EQ(ModeOf(path), 0700U);
  EXPECT_TRUE(MakePrivateDirectory(path).ok()) << "again";
  EXPECT_EQ(MakePrivateDirectory(parent.path() + "/no/private").code(), absl::StatusCode::kNotFound);
}

TEST(PrivateDirectoryTest, ADirectoryThatOthersCanUseIsRefused) {
  const TempDir parent;
  const std::string path = parent.path() + "/open";
  ASSERT_TRUE(MakeDirectory(path).ok());
  for (const mode_t mode : {0701, 0710, 0755, 0777}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const Status status = MakePrivateDirectory(path);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << mode;
    EXPECT_THAT(std::string(status.message()), HasSubstr("run 'chmod 700 " + path));
  }
  ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
  EXPECT_TRUE(MakePrivateDirectory(path).ok());
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    EXPECT_THAT(std::string(MakePrivateDirectory(path).message()), HasSubstr("belongs to user 65534"));
  }
  const std::string file = parent.Write("file", "x");
  EXPECT_THAT(std::string(MakePrivateDirectory(file).message()), HasSubstr("is not a directory"));
}

TEST(PrivateDirectoryTest, FilesAreReplacedWhole) {
  const TempDir parent;
  const std::string path = parent.path() + "/private";
  ASSERT_TRUE(MakePrivateDirectory(path).ok());
  for (const char* text : {"first", "second"}) {
    ASSERT_TRUE(WritePrivateFile(path + "/file", text).ok());
    EXPECT_EQ(ReadFile(path + "/file").value(), text);
    EXPECT_EQ(ModeOf(path + "/file"), 0600U);
  }
  EXPECT_EQ(MatchingPaths(path + "/*").value().size(), 1U);
  EXPECT_EQ(WritePrivateFile(parent.path() + "/no/file", "x").code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace tensorbraid
