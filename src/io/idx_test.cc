#include "io/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class IdxTest : public ::testing::Test {
 protected:
  void ExpectDataLoss(const std::string& bytes, const std::string& message) {
    const Status status = ReadIdx(dir_.Write("file", bytes)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(dir_.path()), HasSubstr(message)));
  }

  TempDir dir_;
  const std::string good_ = Idx({2, 3}, "abcdef");
};

TEST_F(IdxTest, ReadsPlainAndGzippedFilesAlike) {
  for (const std::string& bytes : {good_, Gzip(good_)}) {
    auto tensor = ReadIdx(dir_.Write("file", bytes));
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_EQ(tensor->shape(), Shape({2, 3}));
    EXPECT_THAT(tensor->data<uint8_t>(), ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
  }
}

TEST_F(IdxTest, ReadsAFileWithoutElements) {
  auto tensor = ReadIdx(dir_.Write("file", Idx({0, 28, 28}, "")));
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->shape(), Shape({0, 28, 28}));
}

TEST_F(IdxTest, AMissingFileIsNotFoundAndADirectoryIsInvalid) {
  EXPECT_EQ(ReadIdx(dir_.path() + "/none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadIdx(dir_.path()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(IdxTest, EveryTruncationIsDataLoss) {
  const std::string zipped = Gzip(good_);
  for (size_t size = 0; size < good_.size(); ++size) ExpectDataLoss(good_.substr(0, size), "");
  for (size_t size = 0; size < zipped.size(); ++size) ExpectDataLoss(zipped.substr(0, size), "");
}

TEST_F(IdxTest, EveryFlippedByteOfTheCompressedDataIsDataLoss) {
  const std::string zipped = Gzip(good_);
  for (size_t i = 10; i < zipped.size(); ++i) {  // the ten bytes before are gzip's header, which holds no data
    std::string bad = zipped;
    bad[i] = static_cast<char>(bad[i] ^ 0x55);
    ExpectDataLoss(bad, "");
  }
}

TEST_F(IdxTest, DataAfterTheElementsIsDataLoss) {
  ExpectDataLoss(good_ + "x", "more data");
  ExpectDataLoss(Gzip(good_ + "x"), "more data");
}

TEST_F(IdxTest, ErrorsForBadHeadersSayWhatIsWrong) {
  ExpectDataLoss("PNG image", "magic number is 0x504e4720");
  ExpectDataLoss(std::string("\0\0\x0d\1\0\0\0\0", 8), "type 0x0d");
  ExpectDataLoss(std::string("\0\0\x08\0", 4), "magic number");
}

TEST_F(IdxTest, SizesBeyondTheEndOfTheFileAreDataLoss) {
  ExpectDataLoss(Idx({0xffffffff, 0xffffffff, 0xffffffff}, "abc"), "more than the file can hold");
  ExpectDataLoss(Idx({0xffffffff, 0x7fff}, "abc"), "more than the file can hold");
  ExpectDataLoss(Idx({100000}, "abc"), "more than the file can hold");
}

TEST_F(IdxTest, PathsMayHaveTheFormOfAUrl) {
  const auto tensor = ReadIdx("file://" + dir_.Write("file", good_));
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->shape(), Shape({2, 3}));
}

}  // namespace
}  // namespace tensorbraid
