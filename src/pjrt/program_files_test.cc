#include "pjrt/program_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/file.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

constexpr std::string_view kText = "module @program {}";

class ProgramFilesTest : public ::testing::Test {
 protected:
  std::unique_ptr<ProgramFiles> Open(const std::string& compiler) {
    auto files = ProgramFiles::Open(directory_, compiler);
    EXPECT_TRUE(files.ok()) << files.status();
    return std::move(*files);
  }
  std::string OnlyFile() {
    const auto paths = MatchingPaths(directory_ + "/*").value();
    EXPECT_EQ(paths.size(), 1U);
    return paths.at(0);
  }

  const TempDir parent_;
  const std::string directory_ = parent_.path() + "/programs";
};

TEST_F(ProgramFilesTest, AProgramIsFoundByItsTextAndItsCompiler) {
  const std::string compiled("\0code\n", 6);
  EXPECT_EQ(Open("plugin 1\n")->Read(kText).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(Open("plugin 1\n")->Write(kText, compiled).ok());
  EXPECT_EQ(Open("plugin 1\n")->Read(kText).value(), compiled);
  EXPECT_EQ(Open("plugin 2\n")->Read(kText).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Open("plugin 1\n")->Read("module @other {}").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ProgramFilesTest, ADamagedFileIsAnError) {
  const auto files = Open("plugin 1\n");
  ASSERT_TRUE(files->Write(kText, "code").ok());
  const std::string path = OnlyFile(), whole = ReadFile(path).value();
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] ^= 0x10;
    ASSERT_TRUE(WriteFile(path, damaged).ok());
    EXPECT_EQ(files->Read(kText).status().code(), absl::StatusCode::kDataLoss) << "byte " << i;
    ASSERT_TRUE(WriteFile(path, whole.substr(0, i)).ok());
    EXPECT_EQ(files->Read(kText).status().code(), absl::StatusCode::kDataLoss) << i << " bytes";
  }
  ASSERT_TRUE(files->Write(kText, "code").ok()) << "written again";
  EXPECT_EQ(files->Read(kText).value(), "code");
}

TEST_F(ProgramFilesTest, AnotherProgramWithTheNameOfTheFileIsNotTaken) {
  const auto files = Open("plugin 1\n");
  ASSERT_TRUE(files->Write(kText, "code").ok());
  const std::string path = OnlyFile(), other = ReadFile(path).value();
  ASSERT_TRUE(files->Write("module @other {}", "other code").ok());
  const std::vector<std::string> paths = MatchingPaths(directory_ + "/*").value();
  for (const std::string& each : paths) ASSERT_TRUE(WriteFile(each, other).ok());
  EXPECT_EQ(files->Read("module @other {}").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ProgramFilesTest, ADirectoryThatOthersCanWriteIsNotUsed) {
  ASSERT_TRUE(MakeDirectory(directory_).ok());
  ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);
  EXPECT_EQ(ProgramFiles::Open(directory_, "plugin 1\n").status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace tensorbraid
