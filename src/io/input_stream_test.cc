#include "io/input_stream.h"

#include <gtest/gtest.h>

#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

TEST(InputStream, LinesLoseTheirEndsAndCarriageReturns) {
  TempDir dir;
  const std::string path = dir.Write("text", "a\r\nb\rc\n\nlast");
  for (int64_t buffer_size : {0, 1, 2, 3}) {
    auto stream = InputStream::Open(path, Compression::kNone, buffer_size);
    ASSERT_TRUE(stream.ok());
    std::string line;
    for (const char* want : {"a", "bc", "", "last"}) {
      ASSERT_TRUE((*stream)->ReadLine(&line).ok());
      EXPECT_EQ(line, want);
    }
    EXPECT_TRUE(absl::IsOutOfRange((*stream)->ReadLine(&line)));
    EXPECT_EQ((*stream)->position(), 12);  // the size of the file
  }
}

TEST(InputStream, ReadingPastTheEndGivesWhatIsLeft) {
  TempDir dir;
  auto stream = InputStream::Open(dir.Write("file", "abcdef"), Compression::kNone, 4);
  std::string bytes;
  ASSERT_TRUE((*stream)->Skip(1).ok());
  ASSERT_TRUE((*stream)->Read(4, &bytes).ok());
  EXPECT_EQ(bytes, "bcde");
  EXPECT_TRUE(absl::IsOutOfRange((*stream)->Read(4, &bytes)));
  EXPECT_EQ(bytes, "f");
  EXPECT_TRUE(absl::IsOutOfRange((*stream)->Skip(1)));
}

TEST(InputStream, GzippedDataIsDecompressed) {
  TempDir dir;
  const std::string text(100000, 'x');
  auto stream = InputStream::Open(dir.Write("file", Gzip(text)), Compression::kGzip, 64);
  std::string bytes;
  ASSERT_TRUE((*stream)->ReadAll(&bytes).ok());
  EXPECT_EQ(bytes, text);
}

TEST(InputStream, ASchemeThatIsNotThereIsNamed) {
  const Status other = InputStream::Open("hdfs://host/file").status();
  EXPECT_TRUE(absl::IsUnimplemented(other)) << other;
  const Status missing = InputStream::Open("file:///nothing/there").status();
  EXPECT_TRUE(absl::IsNotFound(missing)) << missing;
}

TEST(InputStream, ADirectoryCannotBeRead) {
  TempDir dir;
  auto stream = InputStream::Open(dir.path());
  ASSERT_TRUE(stream.ok());
  std::string bytes;
  EXPECT_TRUE(absl::IsFailedPrecondition((*stream)->Read(1, &bytes)));
}

TEST(InputStream, CompressionsHaveTensorFlowsNames) {
  EXPECT_EQ(*CompressionFromName("GZIP"), Compression::kGzip);
  EXPECT_EQ(*CompressionFromName(""), Compression::kNone);
  EXPECT_TRUE(absl::IsInvalidArgument(CompressionFromName("gzip").status()));
}

}  // namespace
}  // namespace tensorbraid
