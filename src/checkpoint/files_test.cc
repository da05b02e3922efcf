#include "checkpoint/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/system/env_testutil.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// Records what happens to files in order, and makes one kind of operation fail.
class RecordingEnv final : public ForwardingEnv {
 public:
  std::string failing;
  std::vector<std::string> operations;

  Status Record(const std::string& operation) {
    operations.push_back(operation);
    return operation == failing ? ResourceExhausted("no space is left") : OkStatus();
  }

  StatusOr<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, WriteMode mode) override {
    TF_ASSIGN_OR_RETURN(auto file, System().OpenWritable(path, mode));
    return std::make_unique<File>(this, std::move(file));
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    TF_RETURN_IF_ERROR(Record("rename"));
    return System().RenameFile(from, to);
  }
  Status SyncDirectory(const std::string& path) override {
    TF_RETURN_IF_ERROR(Record("sync directory"));
    return System().SyncDirectory(path);
  }

 private:
  class File final : public WritableFile {
   public:
    File(RecordingEnv* env, std::unique_ptr<WritableFile> file) : env_(env), file_(std::move(file)) {}
    Status Append(std::string_view bytes) override {
      TF_RETURN_IF_ERROR(env_->Record("append"));
      return file_->Append(bytes);
    }
    Status Sync() override {
      TF_RETURN_IF_ERROR(env_->Record("sync"));
      return file_->Sync();
    }
    Status Close() override { return file_->Close(); }

   private:
    RecordingEnv* const env_;
    const std::unique_ptr<WritableFile> file_;
  };
};

TEST(AtomicFileTest, BytesAreSyncedBeforeTheRenameAndTheDirectoryBeforeCommitReturns) {
  TempDir dir;
  RecordingEnv env;
  const ScopedEnv scoped(&env);
  ASSERT_TRUE(WriteFileAtomically(dir.path() + "/file", "new").ok());
  EXPECT_THAT(env.operations, ElementsAre("append", "sync", "rename", "sync directory"));
}

TEST(AtomicFileTest, AFullDiskAtAnyStepLeavesTheOldContentAndNoTemporaryFile) {
  TempDir dir;
  const std::string path = dir.Write("file", "old");
  RecordingEnv env;
  const ScopedEnv scoped(&env);
  for (const char* step : {"append", "sync", "rename"}) {
    env.failing = step;
    const Status status = WriteFileAtomically(path, "new");
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << step;
    EXPECT_EQ(ReadWholeFile(path).value(), "old") << step;
    EXPECT_THAT(MatchingPaths(dir.path() + "/*").value(), ElementsAre(path)) << step;
  }
}

TEST(AtomicFileTest, ATemporaryNameThatIsTakenIsNotUsed) {
  class Repeating final : public ForwardingEnv {
   public:
    uint64_t RandomSeed() override { return seeds_++ / 2; }  // 0, 0, 1, 1, ...

   private:
    uint64_t seeds_ = 0;
  };
  TempDir dir;
  Repeating env;
  const ScopedEnv scoped(&env);
  const std::string path = dir.path() + "/file";
  const auto first = AtomicFile::Create(path).value();
  const auto second = AtomicFile::Create(path).value();
  EXPECT_THAT(MatchingPaths(path + ".*").value(), UnorderedElementsAre(path + ".tempstate0", path + ".tempstate1"));
}

TEST(AtomicFileTest, AnErrorNamesTheFile) {
  TempDir dir;
  const Status status = AtomicFile::Create(dir.path() + "/none/file").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(dir.path() + "/none/file"));
}

}  // namespace
}  // namespace tensorbraid
