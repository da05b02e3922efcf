#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <numeric>

#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "checkpoint/checkpoint_testutil.h"
#include "checkpoint/coding.h"
#include "checkpoint/table_writer.h"
#include "checkpoint/tensor_bundle.pb.h"
#include "core/testing/values_of.h"
#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "core/values/crc32c.h"
#include "core/values/tensor_value.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

Tensor Iota(const Shape& shape, float first = 0) {
  Tensor t(kFloat32, shape);
  std::iota(t.mutable_data<float>().begin(), t.mutable_data<float>().end(), first);
  return t;
}

class BundleTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  std::unique_ptr<BundleReader> Open(const std::string& prefix) {
    auto reader = BundleReader::Open(prefix);
    EXPECT_TRUE(reader.ok()) << reader.status();
    return *std::move(reader);
  }
  static std::string Bytes(const std::string& path) { return ReadWholeFile(path).value(); }
  std::vector<std::string> FileNames() const {
    std::vector<std::string> names;
    for (const auto& f : std::filesystem::directory_iterator(dir_.path())) names.push_back(f.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  TempDir dir_;
};

TEST_F(BundleTest, AWriterThatFinishesSecondReplacesTheBundleOfTheFirst) {
  auto first = BundleWriter::Create(Path("x")).value();
  auto second = BundleWriter::Create(Path("x")).value();
  ASSERT_TRUE(first->Add("v", Iota({2}, 1)).ok());
  ASSERT_TRUE(second->Add("v", Iota({2}, 2)).ok());
  ASSERT_TRUE(first->Finish().ok());
  ASSERT_TRUE(second->Finish().ok());
  EXPECT_EQ(ValuesOf<float>(Open(Path("x"))->Read("v").value()), (std::vector<float>{2, 3}));
  EXPECT_EQ(FileNames(), (std::vector<std::string>{"x.data-00000-of-00002", "x.data-00001-of-00002", "x.index"}))
      << "until the new index is there, the first bundle stays whole";
}

// A Supervisor's thread and its program may save the same step at the same time.
TEST_F(BundleTest, WritersOfOnePrefixAtTheSameTimeLeaveAWholeBundle) {
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    const std::string prefix = Path(StrCat("x", round));
    const auto save = [&prefix](float first) {
      auto writer = BundleWriter::Create(prefix).value();
      ASSERT_TRUE(writer->Add("v", Iota({2}, first)).ok());
      const Status finished = writer->Finish();
      EXPECT_TRUE(finished.ok()) << finished;
    };
    Thread one("save-1", [&] { save(1); }), two("save-2", [&] { save(2); });
    one.Join();
    two.Join();
    const auto value = Open(prefix)->Read("v");
    ASSERT_TRUE(value.ok()) << round << ": " << value.status();
  }
}

TEST_F(BundleTest, TensorFlowsBundleIsReadInAllDtypes) {
  auto reader = Open(kTestdata + "/all");
  int plain = 0;
  const auto tensors = reader->List().value();
  for (const BundleReader::Info& info : tensors) {
    if (!info.name.starts_with("dtypes/")) continue;
    ++plain;
    EXPECT_EQ("dtypes/" + DTypeName(info.dtype), info.name);
    EXPECT_EQ(info.shape, Shape({2, 3}));
    const auto tensor = reader->Read(info.name);
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    const std::string text = tensor->ToString();
    EXPECT_THAT(text, HasSubstr(info.dtype == kBool ? "0 1" : "5"));
  }
  EXPECT_EQ(plain, 15);
  EXPECT_EQ(ValuesOf<float>(reader->Read("dtypes/float32").value()), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ValuesOf<bool>(reader->Read("dtypes/bool").value()),
            (std::vector<bool>{false, true, true, true, true, true}));
  EXPECT_EQ(reader->Read("dtypes/complex128")->data<std::complex<double>>()[5], std::complex<double>(5, 0));
  EXPECT_EQ(reader->Read("scalar")->scalar<float>(), 2.5f);
  EXPECT_EQ(reader->Read("empty")->shape(), Shape({3, 0, 2}));
  EXPECT_EQ(ValuesOf<std::string>(reader->Read("strings").value()),
            (std::vector<std::string>{"a", "", std::string("bytes \0\xff", 8), std::string(300, 'x')}));
  EXPECT_EQ(reader->Read("no_strings")->num_elements(), 0);
}

TEST_F(BundleTest, TensorFlowsPartitionedTensorsAreAssembled) {
  auto reader = Open(kTestdata + "/all");
  std::vector<float> all(12);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(ValuesOf<float>(reader->Read("by_row").value()), all);
  EXPECT_EQ(ValuesOf<float>(reader->Read("by_column").value()), all);
  EXPECT_EQ(ValuesOf<std::string>(reader->Read("string_parts").value()),
            (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(ValuesOf<float>(reader->ReadSlice("by_row", Slice("0,3:1,2")).value()),
            (std::vector<float>{1, 2, 4, 5, 7, 8}));
  EXPECT_EQ(ValuesOf<float>(reader->ReadSlice("by_column", Slice("3,1:-")).value()), (std::vector<float>{9, 10, 11}));
  EXPECT_EQ(ValuesOf<float>(reader->ReadSlice("holes", Slice("2,1:1,1")).value()), (std::vector<float>{7}));
  EXPECT_TRUE(absl::IsInvalidArgument(reader->Read("holes").status()));
  EXPECT_EQ(ValuesOf<float>(reader->ReadSlice("far", Slice("9999999990,1:-")).value()), (std::vector<float>{0, 1, 2}));
  EXPECT_TRUE(absl::IsInvalidArgument(reader->Read("far").status())) << "most of its 120 GB are missing";
  EXPECT_EQ(ValuesOf<float>(reader->ReadSlice("dtypes/float32", Slice("-:2,1")).value()), (std::vector<float>{2, 5}));
}

// When our writer writes the tensors of TensorFlow's bundles again, the files have the same bytes.
TEST_F(BundleTest, OurBundlesAreTensorFlowsByteForByte) {
  for (const char* name : {"all", "part_0", "part_1"}) {
    auto reader = Open(kTestdata + "/" + name);
    auto writer = BundleWriter::Create(Path(name)).value();
    const auto tensors = reader->List().value();
    for (const BundleReader::Info& info : tensors) {
      std::vector<std::string> slices;
      if (info.name == "by_row" && std::string(name) == "part_0") slices = {"0,1:-"};
      if (info.name == "by_row" && std::string(name) == "part_1") slices = {"1,3:-"};
      if (info.name == "by_row" && std::string(name) == "all") slices = {"0,1:-", "1,3:-"};
      if (info.name == "by_column") slices = {"-:0,2", "-:2,1"};
      if (info.name == "holes") slices = {"1,2:1,1"};
      if (info.name == "far") slices = {"9999999990,1:-"};
      if (info.name == "string_parts") slices = {"0,1", "1,2"};
      for (const std::string& text : slices) {
        const TensorSlice slice = Slice(text.c_str());
        ASSERT_TRUE(writer->AddSlice(info.name, info.shape, slice, reader->ReadSlice(info.name, slice).value()).ok());
      }
      if (slices.empty()) {
        ASSERT_TRUE(writer->Add(info.name, reader->Read(info.name).value()).ok());
      }
    }
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_EQ(Bytes(Path(name) + ".data-00000-of-00001"), Bytes(kTestdata + "/" + name + ".data-00000-of-00001"));
    EXPECT_EQ(Bytes(Path(name) + ".index"), Bytes(kTestdata + "/" + name + ".index"));
  }
  ASSERT_TRUE(MergeBundles({Path("part_0"), Path("part_1")}, Path("merged")).ok());
  EXPECT_EQ(Bytes(Path("merged.index")), Bytes(kTestdata + "/merged.index"));
  EXPECT_EQ(Bytes(Path("merged.data-00001-of-00002")), Bytes(kTestdata + "/merged.data-00001-of-00002"));
  EXPECT_EQ(FileNames(), (std::vector<std::string>{"all.data-00000-of-00001", "all.index", "merged.data-00000-of-00002",
                                                   "merged.data-00001-of-00002", "merged.index"}));
}

// "sparse" holds the components of a sparse tensor: indices, values and shape.
TEST_F(BundleTest, VariantsThatHoldTensorsAreReadAndWritten) {
  const Tensor theirs = Open(kTestdata + "/variants")->Read("sparse").value();
  auto writer = BundleWriter::Create(Path("x")).value();
  ASSERT_TRUE(writer->Add("sparse", theirs).ok());
  ASSERT_TRUE(writer->Finish().ok());
  for (const Tensor& t : {theirs, Open(Path("x"))->Read("sparse").value()}) {
    ASSERT_EQ(t.shape(), Shape({3}));
    std::vector<Tensor> parts;
    for (const Variant& v : t.data<Variant>()) {
      const auto* value = dynamic_cast<const TensorValue*>(v.value.get());
      ASSERT_NE(value, nullptr);
      parts.push_back(value->tensor);
    }
    EXPECT_EQ(ValuesOf<int64_t>(parts[0]), (std::vector<int64_t>{0, 1, 1, 0}));
    EXPECT_EQ(ValuesOf<int32_t>(parts[1]), (std::vector<int32_t>{7, 8}));
    EXPECT_EQ(ValuesOf<int64_t>(parts[2]), (std::vector<int64_t>{2, 2}));
  }
  auto empty = BundleWriter::Create(Path("y")).value();
  EXPECT_TRUE(absl::IsUnimplemented(empty->Add("e", Tensor(DType::kVariant, {})))) << "an empty variant";

  std::string damaged = Bytes(BundleDataName(Path("x"), 0, 1));
  damaged[damaged.size() / 2] ^= 1;
  ASSERT_TRUE(WriteFileAtomically(BundleDataName(Path("x"), 0, 1), damaged).ok());
  EXPECT_TRUE(absl::IsDataLoss(Open(Path("x"))->Read("sparse").status()));
}

TEST_F(BundleTest, NoFileExistsBeforeFinish) {
  {
    auto writer = BundleWriter::Create(Path("sub/x")).value();
    ASSERT_TRUE(writer->Add("a", Iota({3})).ok());
    EXPECT_TRUE(absl::IsNotFound(BundleReader::Open(Path("sub/x")).status()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(Path("sub"))) << "also after the writer was destroyed without Finish";
  EXPECT_TRUE(absl::IsNotFound(BundleWriter::Create(Path("no/such/x")).status()));
}

TEST_F(BundleTest, InvalidTensorsAndSlicesAreRefused) {
  auto writer = BundleWriter::Create(Path("x")).value();
  EXPECT_TRUE(writer->Add("a", Iota({3})).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer->Add("a", Iota({3})))) << "twice";
  EXPECT_TRUE(absl::IsInvalidArgument(writer->Add("", Iota({3}))));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->Add(std::string(10000, 'a'), Iota({3}))));
  EXPECT_TRUE(absl::IsUnimplemented(writer->Add("r", Tensor(DType::kResource, {}))));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->AddSlice("p", {4, 2}, Slice("0,2:-"), Iota({3, 2}))));
  EXPECT_TRUE(absl::IsInternal(writer->AddSlice("p", {4, 2}, Slice("3,2:-"), Iota({2, 2}))));
  EXPECT_TRUE(writer->AddSlice("p", {4, 2}, Slice("0,2:-"), Iota({2, 2})).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer->AddSlice("p", {5, 2}, Slice("2,2:-"), Iota({2, 2}))));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->AddSlice("a", {4, 2}, Slice("0,2:-"), Iota({2, 2}))));
}

TEST_F(BundleTest, ASliceOfManyDimensionsIsCutOut) {
  const Tensor whole = Iota({3, 4, 5, 6});
  auto writer = BundleWriter::Create(Path("x")).value();
  ASSERT_TRUE(writer->Add("a", whole).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const Tensor part = Open(Path("x"))->ReadSlice("a", Slice("1,2:-:2,3:1,4")).value();
  ASSERT_EQ(part.shape(), Shape({2, 4, 3, 4}));
  size_t at = 0;
  for (int a = 1; a < 3; ++a)
    for (int b = 0; b < 4; ++b)
      for (int c = 2; c < 5; ++c)
        for (int d = 1; d < 5; ++d)
          EXPECT_EQ(part.data<float>()[at++], static_cast<float>(((a * 4 + b) * 5 + c) * 6 + d));
}

TEST_F(BundleTest, DamagedDataIsDataLossAndSaysWhere) {
  const std::string data = Bytes(kTestdata + "/all.data-00000-of-00001");
  dir_.Write("x.index", Bytes(kTestdata + "/all.index"));
  std::map<std::string, int> refused;
  for (size_t i = 0; i < data.size(); i += 3) {
    std::string bad = data;
    bad[i] ^= 0x10;
    dir_.Write("x.data-00000-of-00001", bad);
    auto reader = Open(Path("x"));
    for (const char* tensor : {"dtypes/float32", "strings", "by_row"}) {
      const auto read = reader->Read(tensor);
      if (read.ok()) continue;
      ++refused[tensor];
      EXPECT_TRUE(absl::IsDataLoss(read.status())) << read.status();
      EXPECT_THAT(std::string(read.status().message()), HasSubstr(tensor));
    }
  }
  // A flipped bit in any byte of a tensor is detected. Every third byte was damaged, one at a time.
  EXPECT_EQ(refused["dtypes/float32"], 24 / 3);
  EXPECT_EQ(refused["by_row"], 48 / 3);
  EXPECT_GE(refused["strings"], 300 / 3);
}

TEST_F(BundleTest, MissingAndTruncatedFilesAreErrors) {
  EXPECT_TRUE(absl::IsNotFound(BundleReader::Open(Path("none")).status()));
  dir_.Write("x.index", Bytes(kTestdata + "/all.index"));
  auto reader = Open(Path("x"));
  EXPECT_TRUE(absl::IsNotFound(reader->Read("no such tensor").status()));
  EXPECT_TRUE(absl::IsNotFound(reader->Read("").status())) << "the header is not a tensor";
  EXPECT_TRUE(absl::IsNotFound(reader->Read("scalar").status())) << "no data file";
  dir_.Write("x.data-00000-of-00001", Bytes(kTestdata + "/all.data-00000-of-00001").substr(0, 100));
  EXPECT_TRUE(absl::IsDataLoss(reader->Read("strings").status()));
}

// Tests the reader with indices whose checksums are right, but whose entries may be wrong. The data file has 16 bytes,
// all zero.
class CraftedIndexTest : public BundleTest {
 protected:
  void Index(const std::map<std::string, proto::BundleEntryProto>& entries, proto::BundleHeaderProto header = One()) {
    auto file = AtomicFile::Create(Path("x.index")).value();
    TableWriter table(file.get());
    ASSERT_TRUE(table.Add("", header.SerializeAsString()).ok());
    for (const auto& [key, entry] : entries) ASSERT_TRUE(table.Add(key, entry.SerializeAsString()).ok());
    ASSERT_TRUE(table.Finish().ok());
    ASSERT_TRUE(file->Commit().ok());
    dir_.Write("x.data-00000-of-00001", std::string(16, '\0'));
  }
  static proto::BundleHeaderProto One() {
    proto::BundleHeaderProto header;
    header.set_num_shards(1);
    return header;
  }
  static proto::BundleEntryProto Entry(const std::vector<int64_t>& shape, int64_t offset, int64_t size,
                                       DType dtype = kFloat32) {
    proto::BundleEntryProto e;
    e.set_dtype(static_cast<int32_t>(dtype));
    for (const int64_t d : shape) e.mutable_shape()->add_dim()->set_size(d);
    e.set_offset(offset);
    e.set_size(size);
    e.set_crc32c(MaskCrc(Crc32c(std::string(static_cast<size_t>(std::clamp<int64_t>(size, 0, 16)), '\0'))));
    return e;
  }
};

TEST_F(CraftedIndexTest, ExtentsOutsideOfTheFileAreDataLossBeforeMemoryIsTaken) {
  Index({{"good", Entry({2}, 0, 8)}});
  EXPECT_TRUE(Open(Path("x"))->Read("good").ok());
  // Places outside of the file, sizes that do not fit the shape, impossible shapes, an unknown dtype (77), the dtype of
  // a reference (101), and too many dimensions.
  const int64_t huge = int64_t{1} << 62;
  for (const proto::BundleEntryProto& entry :
       {Entry({2}, 12, 8), Entry({2}, 0, 12), Entry({2}, -4, 8), Entry({2}, huge, 8), Entry({huge}, 0, 8),
        Entry({huge / 64, 1}, 0, huge / 16), Entry({-1}, 0, 8), Entry({1 << 30, 1 << 30, 1 << 30}, 0, 8),
        Entry({int64_t{1} << 40}, 0, int64_t{1} << 42), Entry({1000000}, 0, 16, kString), Entry({2}, 0, 8, DType(77)),
        Entry({2}, 0, 8, DType(101)), Entry(std::vector<int64_t>(300, 1), 0, 4)}) {
    Index({{"bad", entry}});
    const Status status = Open(Path("x"))->Read("bad").status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status << " " << entry.ShortDebugString();
  }
  proto::BundleEntryProto other_file = Entry({2}, 0, 8);
  other_file.set_shard_id(1);
  Index({{"bad", other_file}});
  EXPECT_TRUE(absl::IsDataLoss(Open(Path("x"))->Read("bad").status()));
  Index({{"bad", Entry({}, 0, 1, DType::kVariant)}});
  EXPECT_TRUE(absl::IsDataLoss(Open(Path("x"))->Read("bad").status())) << "too short for a variant";
  Index({{"bad", Entry({}, 0, 1, DType::kResource)}});
  EXPECT_TRUE(absl::IsUnimplemented(Open(Path("x"))->Read("bad").status()));
}

TEST_F(CraftedIndexTest, SlicesThatOverlapShareBytesOrLieOutsideAreDataLoss) {
  const auto with_slices = [](proto::BundleEntryProto entry, const std::vector<const char*>& slices) {
    for (const char* s : slices) Slice(s).ToProto(entry.add_slices());
    return entry;
  };
  const auto part = [&](const char* s) { return SliceKey("p", Slice(s)); };
  Index({{part("0,2"), Entry({2}, 0, 8)},
         {part("2,2"), Entry({2}, 8, 8)},
         {"p", with_slices(Entry({4}, 0, 0), {"0,2", "2,2"})}});
  EXPECT_TRUE(Open(Path("x"))->Read("p").ok());
  const std::map<std::string, proto::BundleEntryProto> bad[] = {
      {{part("0,2"), Entry({2}, 0, 8)},
       {part("1,2"), Entry({2}, 8, 8)},
       {"p", with_slices(Entry({4}, 0, 0), {"0,2", "1,2"})}},
      {{part("0,4"), Entry({4}, 0, 16)},
       {part("4,4"), Entry({4}, 0, 16)},
       {"p", with_slices(Entry({8}, 0, 0), {"0,4", "4,4"})}},
      {{part("0,2"), Entry({2}, 0, 8)},
       {part("3,2"), Entry({2}, 8, 8)},
       {"p", with_slices(Entry({4}, 0, 0), {"0,2", "3,2"})}},
      {{part("0,4"), Entry({2}, 0, 8)}, {"p", with_slices(Entry({4}, 0, 0), {"0,4"})}},
      {{"p", with_slices(Entry({4}, 0, 0), {"0,4:-"})}},
  };
  for (const auto& entries : bad) {
    Index(entries);
    const Status status = Open(Path("x"))->Read("p").status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  }
}

TEST_F(CraftedIndexTest, UnsupportedHeadersAreRefused) {
  proto::BundleHeaderProto header = One();
  header.set_num_shards(0);
  Index({}, header);
  EXPECT_TRUE(absl::IsDataLoss(BundleReader::Open(Path("x")).status()));
  header = One();
  header.set_endianness(1);
  Index({}, header);
  EXPECT_TRUE(absl::IsUnimplemented(BundleReader::Open(Path("x")).status()));
  header = One();
  header.mutable_version()->set_min_consumer(2);
  Index({}, header);
  EXPECT_TRUE(absl::IsUnimplemented(BundleReader::Open(Path("x")).status()));
}

TEST_F(BundleTest, MergingSaysWhatIsWrong) {
  const auto write = [&](const std::string& prefix, const std::vector<std::string>& names) {
    auto writer = BundleWriter::Create(Path(prefix)).value();
    for (const auto& name : names) ASSERT_TRUE(writer->Add(name, Iota({2})).ok());
    ASSERT_TRUE(writer->Finish().ok());
  };
  write("a", {"x", "y"});
  write("b", {"y", "z"});
  EXPECT_TRUE(absl::IsInvalidArgument(MergeBundles({Path("a"), Path("b")}, Path("m"))));
  EXPECT_TRUE(absl::IsInvalidArgument(MergeBundles({Path("a"), Path("none")}, Path("m"))));
  EXPECT_TRUE(absl::IsInvalidArgument(MergeBundles({}, Path("m"))));
  EXPECT_TRUE(absl::IsInvalidArgument(MergeBundles({Path("none")}, Path("m"), {.allow_missing = true})));
  EXPECT_TRUE(Open(Path("a"))->Read("x").ok()) << "a failed merge leaves its inputs unchanged";
  ASSERT_TRUE(MergeBundles({Path("none"), Path("a")}, Path("m"), {.allow_missing = true}).ok());
  EXPECT_EQ(ValuesOf<float>(Open(Path("m"))->Read("y").value()), (std::vector<float>{0, 1}));
}

TEST_F(BundleTest, ABundleWithoutANameIsRefused) {
  for (const std::string& prefix : {std::string(), Path("directory/"), Path("")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(BundleWriter::Create(prefix).status())) << prefix;
    EXPECT_TRUE(absl::IsInvalidArgument(MergeBundles({kTestdata + "/part_0"}, prefix))) << prefix;
  }
  EXPECT_EQ(FileNames(), std::vector<std::string>());
}

}  // namespace
}  // namespace tensorbraid
