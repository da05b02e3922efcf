#include "io/record.h"

#include <gtest/gtest.h>

#include "io/file.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

StatusOr<std::vector<std::string>> ReadRecords(const std::string& path, Compression compression = Compression::kNone,
                                               int64_t buffer_size = 0) {
  TF_ASSIGN_OR_RETURN(auto reader, RecordReader::Open(path, compression, buffer_size));
  std::vector<std::string> records;
  std::string record;
  Status status = reader->Read(&record);
  for (; status.ok(); status = reader->Read(&record)) records.push_back(record);
  if (!absl::IsOutOfRange(status)) return status;
  return records;
}

Status WriteRecords(const std::string& path, const std::vector<std::string>& records,
                    Compression compression = Compression::kNone) {
  TF_ASSIGN_OR_RETURN(auto writer, RecordWriter::Open(path, compression));
  for (const std::string& r : records) TF_RETURN_IF_ERROR(writer->Write(r));
  return writer->Close();
}

std::string Records() {
  // A file that TensorFlow has written, with the record "hello" and an empty record.
  static constexpr unsigned char kBytes[] = {
      0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xea, 0xb2, 0x04, 0x3e, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0xbb, 0x1f,
      0x1c, 0x19, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x29, 0x03, 0x98, 0x07, 0xd8, 0xea, 0x82, 0xa2};
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};
}

TEST(Record, WritesTheSameBytesAsTensorFlow) {
  TempDir dir;
  const std::string path = dir.path() + "/records";
  ASSERT_TRUE(WriteRecords(path, {"hello", ""}).ok());
  EXPECT_EQ(*ReadFile(path), Records());
}

TEST(Record, RecordsAreReadAsWritten) {
  TempDir dir;
  std::string large;
  for (int64_t i = 0; i < 300000; ++i) large += static_cast<char>(i * i >> 3);
  const std::vector<std::string> records = {"a", "", large, "end"};
  for (Compression compression : {Compression::kNone, Compression::kZlib, Compression::kGzip}) {
    const std::string path = dir.path() + "/records";
    ASSERT_TRUE(WriteRecords(path, records, compression).ok());
    for (int64_t buffer_size : {0, 1, 7}) {
      const auto got = ReadRecords(path, compression, buffer_size);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_TRUE(*got == records) << static_cast<int>(compression) << " " << buffer_size;
    }
  }
}

TEST(Record, JoinedGzipFilesAreOneFile) {
  TempDir dir;
  const std::string path = dir.Write("records", Gzip(Records()) + Gzip(Records()));
  EXPECT_EQ(*ReadRecords(path, Compression::kGzip), (std::vector<std::string>{"hello", "", "hello", ""}));
}

TEST(Record, AGzipFileThatIsReadAsItIsIsRecognised) {
  TempDir dir;
  const Status status = ReadRecords(dir.Write("records", Gzip(Records()))).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_NE(status.message().find("it has the magic number of a gzip file"), std::string::npos) << status;
}

TEST(Record, EveryDamagedByteIsDataLoss) {
  TempDir dir;
  for (size_t i = 0; i < Records().size(); ++i) {
    std::string bytes = Records();
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    EXPECT_TRUE(absl::IsDataLoss(ReadRecords(dir.Write("records", bytes)).status())) << i;
  }
}

TEST(Record, AFileTruncatedWithinARecordIsDataLoss) {
  TempDir dir;
  const size_t first = 12 + 5 + 4;  // the end of the first record: header, "hello" and checksum
  for (size_t size = 0; size < Records().size(); ++size) {
    const auto got = ReadRecords(dir.Write("records", Records().substr(0, size)));
    EXPECT_EQ(absl::IsDataLoss(got.status()), size != 0 && size != first) << size;
  }
}

TEST(Record, TruncatedOrDamagedCompressionIsDataLoss) {
  TempDir dir;
  const std::string zipped = Gzip(Records());
  for (size_t size = 1; size < zipped.size(); ++size) {
    const auto got = ReadRecords(dir.Write("records", zipped.substr(0, size)), Compression::kGzip);
    EXPECT_TRUE(absl::IsDataLoss(got.status())) << size << " " << got.status();
  }
  EXPECT_TRUE(absl::IsDataLoss(ReadRecords(dir.Write("records", Records()), Compression::kGzip).status()));
}

TEST(Record, ReadingContinuesAtAnOffset) {
  TempDir dir;
  const std::string path = dir.path() + "/records";
  ASSERT_TRUE(WriteRecords(path, {"one", "two", "three"}).ok());
  std::string record;
  auto first = RecordReader::Open(path);
  ASSERT_TRUE((*first)->Read(&record).ok());
  ASSERT_TRUE((*first)->Read(&record).ok());
  auto second = RecordReader::Open(path);
  ASSERT_TRUE((*second)->SkipTo((*first)->offset()).ok());
  ASSERT_TRUE((*second)->Read(&record).ok());
  EXPECT_EQ(record, "three");
  EXPECT_TRUE(absl::IsInvalidArgument((*second)->SkipTo(0)));
}

TEST(Record, MissingFilesAreNotFound) {
  EXPECT_TRUE(absl::IsNotFound(RecordReader::Open("/no/such/file").status()));
  EXPECT_TRUE(absl::IsNotFound(RecordWriter::Open("/no/such/file").status()));
}

TEST(Record, PathsMayHaveTheFormOfAUrl) {
  TempDir dir;
  const std::string url = "file://" + dir.path() + "/records";
  const Status written = WriteRecords(url, {"hello"});
  ASSERT_TRUE(written.ok()) << written;
  const auto got = ReadRecords(url);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, std::vector<std::string>({"hello"}));
}

}  // namespace
}  // namespace tensorbraid
