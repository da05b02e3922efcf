// Tests the limit on the files that a thread may use, and that the limit cannot be bypassed.
#include "core/system/file_access.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/background_thread.h"
#include "core/threads/thread_pool.h"
#include "io/file.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// An allowed directory and one that is not, each with a file.
class FileAccessTest : public ::testing::Test {
 protected:
  FileAccessTest() {
    std::filesystem::create_directories(in_ + "/sub");
    std::filesystem::create_directory(out_);
    TB_CHECK_OK(WriteFile(in_ + "/file", "inside"));
    TB_CHECK_OK(WriteFile(in_ + "/sub/file", "deeper"));
    TB_CHECK_OK(WriteFile(out_ + "/secret", "outside"));
    access_ = FileAccess::Create({in_}).value();
  }
  void ExpectRefused(const Status& status, const std::string& path) {
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << path << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
    EXPECT_THAT(std::string(status.message()), HasSubstr("--allow_path"));
  }
  // Expects that the Env refuses every use of the path.
  void ExpectClosed(const std::string& path) {
    Env& env = Env::Default();
    ExpectRefused(ReadFile(path).status(), path);
    ExpectRefused(RandomAccessFile::Open(path).status(), path);
    ExpectRefused(env.Stat(path).status(), path);
    for (const auto mode : {Env::WriteMode::kReplace, Env::WriteMode::kCreate, Env::WriteMode::kAppend}) {
      const Status opened = env.OpenWritable(path, mode).status();
      // kCreate finds that a symbolic link exists, wherever the link leads.
      if (mode == Env::WriteMode::kCreate && absl::IsAlreadyExists(opened)) continue;
      ExpectRefused(opened, path);
    }
    ExpectRefused(env.SyncDirectory(path), path);
  }
  // Expects that nothing can be made, removed or moved at the path.
  void ExpectClosedToChanges(const std::string& path) {
    Env& env = Env::Default();
    ExpectRefused(env.RemoveFile(path), path);
    ExpectRefused(env.MakeDirectory(path), path);
    ExpectRefused(env.RemoveDirectory(path), path);
    ExpectRefused(env.RenameFile(path, in_ + "/moved"), path);
    ExpectRefused(env.RenameFile(in_ + "/file", path), path);
    ExpectRefused(WriteFile(path + "/new", "x"), path);
  }

  const TempDir base_;
  const std::string in_ = base_.path() + "/in", out_ = base_.path() + "/out";
  FileAccess access_;
};

TEST_F(FileAccessTest, EverythingBeneathTheDirectoryIsAllowed) {
  const ScopedFileAccess scope(&access_);
  EXPECT_EQ(ReadFile(in_ + "/sub/file").value(), "deeper");
  EXPECT_EQ(ReadFile("file://" + in_ + "/file").value(), "inside");
  EXPECT_EQ(ReadFile(in_ + "//sub/./../file").value(), "inside");
  EXPECT_EQ(WriteFile(in_ + "/new/er/file", "x"), OkStatus());
  EXPECT_EQ(Env::Default().RenameFile(in_ + "/new/er/file", in_ + "/moved"), OkStatus());
  EXPECT_EQ(ReadFile(in_ + "/moved").value(), "x");
  EXPECT_EQ(Env::Default().RemoveFile(in_ + "/moved"), OkStatus());
  EXPECT_EQ(Env::Default().RemoveDirectory(in_ + "/new/er/"), OkStatus());
  EXPECT_TRUE(absl::IsAlreadyExists(Env::Default().MakeDirectory(in_)));
  EXPECT_EQ(Env::Default().SyncDirectory(in_), OkStatus());
  EXPECT_TRUE(Env::Default().Stat(in_ + "/")->is_directory);
  EXPECT_TRUE(absl::IsNotFound(ReadFile(in_ + "/missing").status()));
  EXPECT_THAT(MatchingPaths(in_ + "/*/file").value(), ElementsAre(in_ + "/sub/file"));
}

TEST_F(FileAccessTest, OtherPathsAreRefusedHoweverTheyAreWritten) {
  std::filesystem::create_directory(in_ + "-too");
  const ScopedFileAccess scope(&access_);
  for (const std::string& path :
       {out_ + "/secret", in_ + "/../out/secret", in_ + "/sub/../../out/secret", in_ + "-too", base_.path(),
        std::string("/"), std::string("/etc/passwd"), std::string("relative"), "file://" + out_ + "/secret"}) {
    ExpectClosed(path);
  }
  for (const std::string& path : {out_ + "/secret", in_ + "/../out/secret", in_ + "/..", in_ + "-too/x"}) {
    ExpectClosedToChanges(path);
  }
  for (const std::string& pattern : {out_ + "/*", in_ + "/../out/*", in_ + "*/*"}) {
    ExpectRefused(MatchingPaths(pattern).status(), pattern);
  }
}

TEST_F(FileAccessTest, SymbolicLinksMustNotLeadOut) {
  std::filesystem::create_symlink(out_ + "/secret", in_ + "/link");
  std::filesystem::create_symlink(out_, in_ + "/directory");
  std::filesystem::create_symlink("../out/secret", in_ + "/relative");
  std::filesystem::create_symlink("/proc/self/root", in_ + "/root");
  std::filesystem::create_symlink("sub/file", in_ + "/good");
  const ScopedFileAccess scope(&access_);
  for (const char* link : {"/link", "/relative", "/root/etc/passwd", "/directory/secret"}) ExpectClosed(in_ + link);
  ExpectClosedToChanges(in_ + "/directory/secret");
  EXPECT_EQ(ReadFile(in_ + "/good").value(), "deeper");
  EXPECT_THAT(MatchingPaths(in_ + "/*").value(), ElementsAre(in_ + "/file", in_ + "/good", in_ + "/sub"));
  EXPECT_THAT(MatchingPaths(in_ + "/*/secret").value(), ElementsAre());
  // The link itself is inside, and may be removed; what it leads to stays.
  EXPECT_EQ(Env::Default().RemoveFile(in_ + "/link"), OkStatus());
  EXPECT_TRUE(std::filesystem::exists(out_ + "/secret"));
}

TEST_F(FileAccessTest, WithoutDirectoriesNothingIsAllowedAndWithTheRootEverything) {
  const FileAccess none, all = FileAccess::Create({"/"}).value();
  {
    const ScopedFileAccess scope(&none);
    ExpectClosed(in_ + "/file");
    EXPECT_THAT(std::string(ReadFile(in_ + "/file").status().message()), HasSubstr("this server has none"));
    const ScopedFileAccess wider(&all);
    EXPECT_EQ(ReadFile(out_ + "/secret").value(), "outside");
    const ScopedFileAccess unlimited(nullptr);
    EXPECT_EQ(ReadFile(out_ + "/secret").value(), "outside");
  }
  EXPECT_EQ(CurrentFileAccess(), nullptr);
}

TEST_F(FileAccessTest, DirectoriesMustExist) {
  EXPECT_THAT(std::string(FileAccess::Create({in_ + "/missing"}).status().message()), HasSubstr("--allow_path"));
  EXPECT_THAT(std::string(FileAccess::Create({in_ + "/file"}).status().message()), HasSubstr("not a directory"));
}

TEST_F(FileAccessTest, WorkForOtherThreadsInheritsTheLimit) {
  ThreadPool pool("test", 2);
  const auto refused_in = [&](const std::function<void(std::function<void()>)>& run) {
    std::promise<Status> read;
    run([&] { read.set_value(ReadFile(out_ + "/secret").status()); });
    return absl::IsPermissionDenied(read.get_future().get());
  };
  const auto schedule = [&](std::function<void()> work) { pool.Schedule(std::move(work)); };
  const auto block = [&](std::function<void()> work) { pool.ScheduleBlocking(std::move(work)); };
  const auto background = [&](std::function<void()> work) { RunAtLowPriority("test", std::move(work)); };
  for (int i = 0; i < 2; ++i) {
    {
      const ScopedFileAccess scope(&access_);
      EXPECT_TRUE(refused_in(schedule));
      EXPECT_TRUE(refused_in(block));
      EXPECT_TRUE(refused_in(background));
      // The limit passes from thread to thread.
      EXPECT_TRUE(refused_in([&](auto work) { schedule([&, work] { block(work); }); }));
    }
    // The same threads now run work without the limit.
    EXPECT_FALSE(refused_in(schedule));
    EXPECT_FALSE(refused_in(block));
  }
}

}  // namespace
}  // namespace tensorbraid
