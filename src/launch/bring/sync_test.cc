#include "launch/bring/sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/bring/fake_ssh_testutil.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Brings files from folders of a directory to another folder of it.
class SyncTest : public ::testing::Test {
 protected:
  void SetUp() override { ssh_ = WriteFakeSsh(dir_); }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    dir_.Write(name, text);
  }
  std::string Path(const std::string& name) const { return fs::canonical(dir_.path()).string() + "/" + name; }
  SyncSource Read(const std::string& folder) const {
    const auto source = ReadSyncSource(
        Path(folder), [](const std::string& path, bool is_directory) { return is_directory && path == "left out"; });
    EXPECT_TRUE(source.ok()) << source.status();
    return source.ok() ? *source : SyncSource{};
  }
  Status Bring(const std::vector<SyncSource>& sources, const std::vector<AgentNode>& nodes = {{"alpha", "", 0}}) const {
    return BringFiles({.nodes = nodes, .ssh = {ssh_}, .err_fd = -1}, sources, Path("there"));
  }
  TempDir dir_;
  std::string ssh_;
};

TEST_F(SyncTest, FilesOfAllSourcesComeUnderAnyName) {
  const std::string odd = "a 'b'/#1; \"x\"*";
  Write("here/" + odd, "odd");
  Write("here/#first", "comment");
  Write("here/left out/file", "");
  Write("more/a 'b'/second", "two");
  fs::create_symlink("second", Path("more/a 'b'/link"));
  ASSERT_TRUE(Bring({Read("here"), Read("more")}, {{"alpha", "", 0}, {"beta", "", 0}}).ok());
  EXPECT_EQ(TextOf(Path("there/" + odd)), "odd");
  EXPECT_EQ(TextOf(Path("there/#first")), "comment");
  EXPECT_EQ(TextOf(Path("there/a 'b'/link")), "two");
  EXPECT_TRUE(fs::is_symlink(Path("there/a 'b'/link")));
  EXPECT_FALSE(fs::exists(Path("there/left out")));
}

TEST_F(SyncTest, OnlyWhatWasBroughtIsRemoved) {
  Write("here/#old", "");
  Write("here/stays", "1");
  ASSERT_TRUE(Bring({Read("here")}).ok());
  Write("there/theirs", "");
  fs::remove(Path("here/#old"));
  Write("here/stays", "2");  // of the same size
  ASSERT_TRUE(Bring({Read("here")}).ok());
  EXPECT_THAT(ReadSyncSource(Path("there"), [](const std::string&, bool) { return false; })->files,
              ElementsAre("stays", "theirs"));
  EXPECT_EQ(TextOf(Path("there/stays")), "2");
}

TEST_F(SyncTest, MistakesAreNamed) {
  Write("here/file", "");
  EXPECT_THAT(Bring({Read("here")}, {{"gamma", "", 0}}).message(), HasSubstr("--sync: gamma: "));
  Write("here/two\nlines", "");
  EXPECT_THAT(ReadSyncSource(Path("here"), [](const std::string&, bool) { return false; }).status().message(),
              HasSubstr("has a line break"));
  EXPECT_THAT(SyncedDirectory(Path("none")).status().message(), HasSubstr("there is no such directory"));
  EXPECT_THAT(SyncedDirectory("/").status().message(), HasSubstr("the whole system"));
}

TEST(IsWrittenByJobsTest, KnowsCheckpointsAndEventFiles) {
  for (const char* name :
       {"checkpoint", "model.ckpt-7.index", "events.out.tfevents.1.alpha", "x.data-00000-of-00001"}) {
    EXPECT_TRUE(IsWrittenByJobs(name)) << name;
  }
  for (const char* name : {"checkpoint.py", "train.data", "model.pb"}) EXPECT_FALSE(IsWrittenByJobs(name)) << name;
}

}  // namespace
}  // namespace tensorbraid
