// Tests readers of files through their ops.
#include <gtest/gtest.h>

#include "core/text/strings.h"
#include "executor/evaluate.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "io/record.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

class ReadersTest : public testing::Test {
 protected:
  // Adds a reader and a queue to the graph, fills the queue with `files`, and closes the queue.
  void Open(const std::string& op, const std::vector<std::string>& files, std::map<std::string, AttrValue> attrs = {}) {
    // The resources need a shared name, because each evaluation creates new kernels.
    const std::string name = StrCat("shared", num_opened_++);
    NodeBuilder builder(g_, op);
    builder.Attr("shared_name", name);
    for (const auto& [name, value] : attrs) builder.Attr(name, value);
    reader_ = builder.Output();
    queue_ = NodeBuilder(g_, "FIFOQueueV2")
                 .Attr("component_types", std::vector<DType>{kString})
                 .Attr("shapes", std::vector<Shape>{Shape()})
                 .Attr("shared_name", name)
                 .Output();
    const Operation fill =
        NodeBuilder(g_, "QueueEnqueueManyV2").Input(queue_).InputList({Const(g_, Tensor::Vector(files))}).Finish();
    const Operation close = NodeBuilder(g_, "QueueCloseV2").Input(queue_).Control(fill).Finish();
    ASSERT_TRUE(Evaluate({}, {}, {.targets = {close}, .resources = &resources_}).ok());
    const Output n = Const(g_, Tensor::Scalar(int64_t{1000}));
    read_ = NodeBuilder(g_, "ReaderReadV2").Input(reader_).Input(queue_).Finish();
    read_up_to_ = NodeBuilder(g_, "ReaderReadUpToV2").Input(reader_).Input(queue_).Input(n).Finish();
    ASSERT_TRUE(g_.status().ok()) << g_.status();
  }
  // "key=value", or the error code.
  std::string Read() {
    const auto got = Evaluate({read_.output(0), read_.output(1)}, {}, {.resources = &resources_});
    if (!got.ok()) return absl::StatusCodeToString(got.status().code());
    return StrCat((*got)[0].scalar<std::string>(), "=", (*got)[1].scalar<std::string>());
  }
  std::string ReadUpTo() {
    const auto got = Evaluate({read_up_to_.output(0), read_up_to_.output(1)}, {}, {.resources = &resources_});
    if (!got.ok()) return absl::StatusCodeToString(got.status().code());
    std::string text;
    for (int64_t i = 0; i < (*got)[0].num_elements(); ++i) {
      text += StrCat((*got)[0].data<std::string>()[i], "=", (*got)[1].data<std::string>()[i], ";");
    }
    return text;
  }

  TempDir dir_;
  ResourceManager resources_;
  Graph g_;
  int num_opened_ = 0;
  Output reader_, queue_;
  Operation read_, read_up_to_;
};

TEST_F(ReadersTest, LineNumbersCountTheHeaderLines) {
  const std::string a = dir_.Write("a", "h\n1\n2\n"), empty = dir_.Write("empty", ""), b = dir_.Write("b", "h\n3");
  Open("TextLineReaderV2", {a, empty, b}, {{"skip_header_lines", 1}});
  EXPECT_EQ(Read(), a + ":2=1");
  EXPECT_EQ(ReadUpTo(), a + ":3=2;");
  EXPECT_EQ(Read(), b + ":2=3");
  EXPECT_EQ(Read(), "OUT_OF_RANGE");
}

TEST_F(ReadersTest, AMissingFileIsAnErrorAndTheNextReadSkipsIt) {
  const std::string a = dir_.Write("a", "1\n");
  Open("TextLineReaderV2", {dir_.path() + "/none", a});
  EXPECT_EQ(Read(), "NOT_FOUND");
  EXPECT_EQ(Read(), a + ":1=1");
}

TEST_F(ReadersTest, FixedLengthRecordsLieBetweenHeaderAndFooter) {
  const std::string a = dir_.Write("a", "HHaabbccF"), small = dir_.Write("small", "H");
  Open("FixedLengthRecordReaderV2", {a, small}, {{"header_bytes", 2}, {"record_bytes", 2}, {"footer_bytes", 1}});
  EXPECT_EQ(ReadUpTo(), StrCat(a, ":0=aa;", a, ":1=bb;", a, ":2=cc;"));
  EXPECT_EQ(ReadUpTo(), "OUT_OF_RANGE");
}

TEST_F(ReadersTest, FixedLengthRecordsMayOverlapOrLeaveGaps) {
  const std::string a = dir_.Write("a", "Habcde"), zipped = dir_.Write("zipped", Gzip("abcdefg"));
  Open("FixedLengthRecordReaderV2", {a}, {{"header_bytes", 1}, {"record_bytes", 2}, {"hop_bytes", 1}});
  EXPECT_EQ(ReadUpTo(), StrCat(a, ":0=ab;", a, ":1=bc;", a, ":2=cd;", a, ":3=de;"));
  Open("FixedLengthRecordReaderV2", {zipped}, {{"record_bytes", 1}, {"hop_bytes", 3}, {"encoding", "GZIP"}});
  EXPECT_EQ(ReadUpTo(), StrCat(zipped, ":0=a;", zipped, ":1=d;", zipped, ":2=g;"));
}

TEST_F(ReadersTest, TfRecordsAreNamedByOffset) {
  const std::string path = dir_.path() + "/records";
  auto writer = RecordWriter::Open(path, Compression::kZlib);
  ASSERT_TRUE((*writer)->Write("ab").ok());
  ASSERT_TRUE((*writer)->Write("c").ok());
  ASSERT_TRUE((*writer)->Close().ok());
  Open("TFRecordReaderV2", {path}, {{"compression_type", "ZLIB"}});
  // A record has 16 bytes in addition to its data: the length and two checksums.
  EXPECT_EQ(ReadUpTo(), StrCat(path, ":0=ab;", path, ":18=c;"));
}

// As in TensorFlow, a truncated file, which a program may still be writing, ends before the incomplete record. A
// corrupt file is an error.
TEST_F(ReadersTest, TfRecordsEndWhereTheFileIsTruncated) {
  const std::string path = dir_.path() + "/records";
  auto writer = RecordWriter::Open(path);
  ASSERT_TRUE((*writer)->Write("ab").ok());
  ASSERT_TRUE((*writer)->Close().ok());
  const std::string bytes = *ReadFile(path);
  const std::string cut = dir_.Write("cut", bytes + bytes.substr(0, 15));  // the second record lacks 3 bytes
  std::string flipped = bytes;
  flipped[13] ^= 1;  // a byte of the data
  const std::string damaged = dir_.Write("damaged", flipped);
  Open("TFRecordReaderV2", {cut, path, damaged});
  EXPECT_EQ(ReadUpTo(), cut + ":0=ab;");
  EXPECT_EQ(ReadUpTo(), path + ":0=ab;");
  EXPECT_EQ(ReadUpTo(), "DATA_LOSS");
}

TEST_F(ReadersTest, WholeFileAndIdentityReadersReturnOneRecordPerItem) {
  const std::string a = dir_.Write("a", "1\n2");
  Open("WholeFileReaderV2", {a});
  EXPECT_EQ(Read(), a + "=1\n2");
  Open("IdentityReaderV2", {"x", "y"});
  EXPECT_EQ(ReadUpTo(), "x=x;");
  EXPECT_EQ(Read(), "y=y");
}

TEST_F(ReadersTest, InvalidAttributesAreRefused) {
  for (const auto& [name, value] : std::map<std::string, AttrValue>{{"record_bytes", 0}, {"hop_bytes", -1}}) {
    std::map<std::string, AttrValue> attrs = {{"record_bytes", 1}};
    attrs[name] = value;
    Open("FixedLengthRecordReaderV2", {}, attrs);
    EXPECT_EQ(Read(), "INVALID_ARGUMENT") << name;
  }
}

TEST_F(ReadersTest, ReadFileReadsTheFileEachTime) {
  const std::string a = dir_.Write("a", "1");
  const Output contents = NodeBuilder(g_, "ReadFile").Input(Const(g_, Tensor::Scalar(a))).Output();
  EXPECT_EQ((*Evaluate({contents}))[0].scalar<std::string>(), "1");
  dir_.Write("a", "2");
  EXPECT_EQ((*Evaluate({contents}))[0].scalar<std::string>(), "2");
}

TEST_F(ReadersTest, MatchingFilesFindsAWrittenFile) {
  const std::string path = dir_.path() + "/new/file";
  const Operation write = NodeBuilder(g_, "WriteFile")
                              .Input(Const(g_, Tensor::Scalar(path)))
                              .Input(Const(g_, Tensor::Scalar("x")))
                              .Finish();
  const Output found =
      NodeBuilder(g_, "MatchingFiles").Input(Const(g_, Tensor::Scalar(dir_.path() + "/*/f*"))).Control(write).Output();
  const auto paths = Evaluate({found});
  ASSERT_TRUE(paths.ok()) << paths.status();
  ASSERT_EQ((*paths)[0].num_elements(), 1);
  EXPECT_EQ((*paths)[0].data<std::string>()[0], path);
}

}  // namespace
}  // namespace tensorbraid
