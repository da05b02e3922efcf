#include "tensorbraid/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/bundle_writer.h"
#include "checkpoint/checkpoint_testutil.h"
#include "checkpoint/files.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CheckpointReader, ListsAndReadsTensors) {
  auto reader = CheckpointReader::Open(kTestdata + "/merged").value();
  std::vector<std::string> names;
  for (const auto& t : reader->tensors()) names.push_back(t.name);
  EXPECT_THAT(names, ElementsAre("by_row", "first", "second"));
  EXPECT_EQ(reader->tensors()[0].shape, Shape({4, 3}));
  EXPECT_TRUE(reader->HasTensor("first"));
  EXPECT_FALSE(reader->HasTensor("third"));
  EXPECT_EQ(reader->GetTensor("by_row")->data<float>()[11], 11.0f);
  EXPECT_TRUE(absl::IsNotFound(reader->GetTensor("third").status()));
  EXPECT_TRUE(absl::IsNotFound(CheckpointReader::Open(kTestdata + "/none").status()));
}

class CheckpointStateTest : public testing::Test {
 protected:
  void WriteCheckpoint(const std::string& name) {
    auto writer = BundleWriter::Create(Path(name)).value();
    ASSERT_TRUE(writer->Add("x", Tensor::Scalar(1.0f)).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  TempDir dir_;
};

TEST_F(CheckpointStateTest, StateIsReadAsWrittenAndCanBeMoved) {
  using std::chrono::duration;
  using Timestamp = CheckpointState::Timestamp;
  const Timestamp first(duration<double>(1.5)), second(duration<double>(2.5)), preserved(duration<double>(1));
  ASSERT_TRUE(UpdateCheckpointState(dir_.path(), {.model_checkpoint_path = Path("m-2"),
                                                  .all_model_checkpoint_paths = {"/else/m-1", Path("m-2")},
                                                  .all_model_checkpoint_timestamps = {first, second},
                                                  .last_preserved_timestamp = preserved})
                  .ok());
  EXPECT_THAT(ReadWholeFile(Path("checkpoint")).value(),
              AllOf(HasSubstr("all_model_checkpoint_timestamps: 1.5\n"), HasSubstr("last_preserved_timestamp: 1\n")));
  const std::string elsewhere = Path("moved");
  std::filesystem::create_directory(elsewhere);
  std::filesystem::rename(Path("checkpoint"), elsewhere + "/checkpoint");
  const auto state = GetCheckpointState(elsewhere);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->model_checkpoint_path, elsewhere + "/m-2");
  EXPECT_THAT(state->all_model_checkpoint_paths, ElementsAre("/else/m-1", elsewhere + "/m-2"));
  EXPECT_THAT(state->all_model_checkpoint_timestamps, ElementsAre(first, second));
  EXPECT_EQ(state->last_preserved_timestamp, preserved);
}

TEST_F(CheckpointStateTest, TensorFlowsFileIsRead) {
  dir_.Write("checkpoint",
             "model_checkpoint_path: \"model-20\"\nall_model_checkpoint_paths: \"model-10\"\n"
             "all_model_checkpoint_paths: \"model-20\"\nsomething_new: 3\n");
  const auto state = GetCheckpointState(dir_.path());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->model_checkpoint_path, Path("model-20"));
  EXPECT_TRUE(state->all_model_checkpoint_timestamps.empty());
}

TEST_F(CheckpointStateTest, TheLatestCheckpointMustExist) {
  EXPECT_TRUE(absl::IsNotFound(LatestCheckpoint(dir_.path()).status()));
  WriteCheckpoint("m-1");
  EXPECT_TRUE(absl::IsNotFound(LatestCheckpoint(dir_.path()).status())) << "no state file names it";
  ASSERT_TRUE(UpdateCheckpointState(dir_.path(), {.model_checkpoint_path = Path("m-1")}).ok());
  EXPECT_EQ(LatestCheckpoint(dir_.path()).value(), Path("m-1"));
  EXPECT_TRUE(CheckpointExists(Path("m-1")));
  ASSERT_TRUE(RemoveCheckpoint(Path("m-1")).ok());
  EXPECT_FALSE(CheckpointExists(Path("m-1")));
  EXPECT_TRUE(absl::IsNotFound(LatestCheckpoint(dir_.path()).status()));
  EXPECT_TRUE(RemoveCheckpoint(Path("m-1")).ok()) << "removing it again";
  dir_.Write("checkpoint", "{{{{");
  EXPECT_TRUE(absl::IsDataLoss(LatestCheckpoint(dir_.path()).status()));
}

}  // namespace
}  // namespace tensorbraid
