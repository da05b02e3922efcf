#include <gtest/gtest.h>

#include <optional>

#include "core/text/strings.h"
#include "runtime/resources/reader_resource.h"

namespace tensorbraid {
namespace {

// Work item "abc" has the records "a", "b" and "c". Starting "!" fails, and so does reading the record "?".
class LetterSource final : public RecordSource {
 public:
  Status Start(const std::string& work) override {
    if (work == "!") return NotFound("no such work item");
    work_ = work;
    next_ = 0;
    return OkStatus();
  }
  Status Read(Record* record) override {
    if (next_ >= work_.size()) return OutOfRange("end");
    if (work_[next_] == '?') return DataLoss("damaged");
    record->key = StrCat(work_, ":", next_);
    record->value = work_.substr(next_++, 1);
    return OkStatus();
  }
  void Reset() override { work_.clear(); }
  bool KeepsState() const override { return true; }

 private:
  std::string work_;
  size_t next_ = 0;
};

class ReaderTest : public testing::Test {
 protected:
  void Add(const std::string& work) {
    queue_->Enqueue({Tensor::Scalar(work)}, nullptr, [](const Status& s) { ASSERT_TRUE(s.ok()); });
  }
  // The result of a read: its records, concatenated, or its error code; empty while the read waits.
  using Outcome = std::shared_ptr<std::optional<std::string>>;
  Outcome Read(int64_t count = 1, CancellationManager* cancellation = nullptr) {
    auto outcome = std::make_shared<std::optional<std::string>>();
    reader_->Read(count, queue_, cancellation, nullptr, [outcome](StatusOr<ReaderResource::Records> records) {
      ASSERT_FALSE(outcome->has_value()) << "called twice";
      if (!records.ok()) {
        *outcome = absl::StatusCodeToString(records.status().code());
        return;
      }
      std::string text;
      for (const auto& r : *records) text += r.value;
      *outcome = text;
    });
    return outcome;
  }

  RefPtr<QueueResource> queue_ = MakeRef<QueueResource>("queue", QueueOptions{.types = {kString}, .shapes = {Shape()}});
  RefPtr<ReaderResource> reader_ = MakeRef<ReaderResource>("reader", "letters", std::make_unique<LetterSource>());
};

TEST_F(ReaderTest, ReadsOneWorkItemAfterTheOther) {
  Add("ab");
  Add("");
  Add("c");
  EXPECT_EQ(*Read(), "a");
  EXPECT_EQ(*Read(), "b");
  EXPECT_EQ(reader_->num_work_units_completed(), 0);
  EXPECT_EQ(*Read(), "c");
  EXPECT_EQ(reader_->num_records_produced(), 3);
  EXPECT_EQ(reader_->num_work_units_completed(), 2);
}

TEST_F(ReaderTest, TheRecordsOfAReadAreOfOneWorkItem) {
  Add("abcd");
  Add("e");
  EXPECT_EQ(*Read(3), "abc");
  EXPECT_EQ(*Read(3), "d");
  EXPECT_EQ(*Read(3), "e");
  EXPECT_EQ(*Read(0), "INVALID_ARGUMENT");
}

TEST_F(ReaderTest, WaitingReadsAreServedInOrder) {
  const Outcome first = Read(), second = Read(), third = Read();
  EXPECT_FALSE(first->has_value());
  Add("ab");
  EXPECT_EQ(*first, "a");
  EXPECT_EQ(*second, "b");
  EXPECT_FALSE(third->has_value());
  queue_->Close(false, nullptr, [](const Status& s) { EXPECT_TRUE(s.ok()); });
  EXPECT_EQ(*third, "OUT_OF_RANGE");
}

TEST_F(ReaderTest, CancellationEndsOnlyTheWaitsOfItsStep) {
  CancellationManager one, two;
  const Outcome first = Read(1, &one), second = Read(1, &two), third = Read();
  two.Cancel(Cancelled("over"));
  EXPECT_EQ(*second, "CANCELLED");
  EXPECT_FALSE(first->has_value());
  one.Cancel(Cancelled("over"));
  EXPECT_EQ(*first, "CANCELLED");
  Add("a");
  EXPECT_EQ(*third, "a");
  EXPECT_EQ(*Read(1, &one), "CANCELLED");
}

TEST_F(ReaderTest, AWorkItemThatCannotBeStartedIsDropped) {
  Add("!");
  Add("a");
  EXPECT_EQ(*Read(), "NOT_FOUND");
  EXPECT_EQ(*Read(), "a");
}

TEST_F(ReaderTest, RecordsBeforeAnErrorAreReturned) {
  Add("a?");
  EXPECT_EQ(*Read(5), "a");
  EXPECT_EQ(*Read(5), "DATA_LOSS");
}

TEST_F(ReaderTest, ManyEmptyWorkItemsDoNotOverflowTheStack) {
  for (int i = 0; i < 100000; ++i) Add("");
  Add("a");
  EXPECT_EQ(*Read(), "a");
  EXPECT_EQ(reader_->num_work_units_completed(), 100000);
}

TEST_F(ReaderTest, ResetAbandonsTheWorkItem) {
  Add("ab");
  Add("c");
  EXPECT_EQ(*Read(), "a");
  ASSERT_TRUE(reader_->Reset().ok());
  EXPECT_EQ(reader_->num_records_produced(), 0);
  EXPECT_EQ(*Read(), "c");
}

TEST_F(ReaderTest, StateHasTensorFlowsFormatAndCanBeRestored) {
  Add("ab");
  EXPECT_EQ(*Read(), "a");
  // 1 item was started, 1 record was produced, and the current item is "ab".
  EXPECT_EQ(*reader_->SerializeState(), std::string("\x08\x01\x18\x01\x22\x02"
                                                    "ab"));
  const std::string state = *reader_->SerializeState();
  EXPECT_EQ(*Read(), "b");
  ASSERT_TRUE(reader_->RestoreState(state).ok());
  EXPECT_EQ(reader_->num_records_produced(), 1);
  EXPECT_EQ(*Read(), "a");
  EXPECT_TRUE(absl::IsInvalidArgument(reader_->RestoreState("nonsense")));
}

TEST_F(ReaderTest, QueuesOfOtherElementsAreRefused) {
  const auto numbers = MakeRef<QueueResource>("numbers", QueueOptions{.types = {kInt32}});
  Status status;
  reader_->Read(1, numbers, nullptr, nullptr, [&](const auto& records) { status = records.status(); });
  EXPECT_TRUE(absl::IsInvalidArgument(status));
}

}  // namespace
}  // namespace tensorbraid
