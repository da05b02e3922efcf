#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_format.h"
#include "checkpoint/coding.h"
#include "checkpoint/table_reader.h"
#include "checkpoint/table_writer.h"
#include "core/text/strings.h"
#include "core/values/crc32c.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

class TableTest : public testing::Test {
 protected:
  std::string Write(const std::map<std::string, std::string>& entries) {
    const std::string path = dir_.path() + "/table";
    auto file = AtomicFile::Create(path).value();
    TableWriter writer(file.get());
    for (const auto& [key, value] : entries) EXPECT_TRUE(writer.Add(key, value).ok());
    EXPECT_TRUE(writer.Finish().ok());
    EXPECT_TRUE(file->Commit().ok());
    return ReadWholeFile(path).value();
  }
  static StatusOr<std::map<std::string, std::string>> ReadAll(const std::string& bytes) {
    TF_ASSIGN_OR_RETURN(const auto table, TableReader::Open(bytes, "t"));
    std::map<std::string, std::string> entries;
    TableReader::Iterator it(table.get());
    for (it.SeekToFirst(); it.valid(); it.Next()) entries[it.key()] = it.value();
    TF_RETURN_IF_ERROR(it.status());
    return entries;
  }
  // A few hundred kilobytes, which take several blocks.
  static std::map<std::string, std::string> Many() {
    std::map<std::string, std::string> entries = {{"", "header"}};
    for (int i = 0; i < 20'000; ++i)
      entries[absl::StrFormat("layer%d/weights_%d", i % 7, i)] = std::string(i % 50, 'v');
    return entries;
  }
  TempDir dir_;
};

TEST_F(TableTest, WhatIsWrittenIsReadInOrder) {
  for (const auto& entries :
       {std::map<std::string, std::string>{}, {{"", ""}}, {{"a", "1"}, {"ab", "2"}, {"b", ""}}, Many()}) {
    const auto read = ReadAll(Write(entries));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, entries);
  }
}

TEST_F(TableTest, EveryKeyIsFoundAndNoOther) {
  const auto entries = Many();
  auto table = TableReader::Open(Write(entries), "t").value();
  TableReader::Iterator it(table.get());
  for (const auto& [key, value] : entries) {
    it.Seek(key);
    ASSERT_TRUE(it.valid() && it.key() == key && it.value() == value) << key;
    it.Seek(key + "\x01");
    const auto next = entries.upper_bound(key);
    ASSERT_EQ(it.valid(), next != entries.end());
    if (it.valid()) {
      ASSERT_EQ(it.key(), next->first);
    }
  }
}

TEST_F(TableTest, KeysOutOfOrderAreRefused) {
  auto file = AtomicFile::Create(dir_.path() + "/table").value();
  TableWriter writer(file.get());
  EXPECT_TRUE(writer.Add("b", "").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer.Add("b", "")));
  EXPECT_TRUE(absl::IsInvalidArgument(writer.Add("a", "")));
  EXPECT_TRUE(absl::IsInvalidArgument(writer.Add(std::string(kMaxKeySize + 1, 'x'), "")));
}

TEST_F(TableTest, AFlippedBitIsDataLossOrHarmless) {
  const std::map<std::string, std::string> entries = {{"", "header"}, {"one", "1"}, {"two", "2"}};
  const std::string good = Write(entries);
  size_t harmless = 0;
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    const auto read = ReadAll(bad);
    // A flipped bit is harmless in what the reader does not use: the meta block, its handle, and the padding.
    if (read.ok()) {
      EXPECT_EQ(*read, entries) << "bit " << bit;
      ++harmless;
    } else {
      EXPECT_TRUE(absl::IsDataLoss(read.status())) << read.status();
    }
  }
  // The meta block has 8 bytes and a trailer. In the footer, the magic number and at least 2 bytes of the index block's
  // handle are used.
  EXPECT_LE(harmless, 8 * (8 + kBlockTrailerSize + kTableFooterSize - sizeof kTableMagic - 2));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_TRUE(absl::IsDataLoss(ReadAll(good.substr(0, size)).status()));
  }
}

// Returns a table with one data block of these bytes and right checksums. The index has `index_value` in place of the
// handle of the block, unless it is empty.
std::string TableOf(std::string block, const std::string& index_value = "") {
  std::string table, handle, footer;
  const auto add = [&](std::string bytes, std::string* to) {
    PutVarint(table.size(), to);
    PutVarint(bytes.size(), to);
    bytes.push_back('\0');
    PutFixed(MaskCrc(Crc32c(bytes)), &bytes);
    table += bytes;
  };
  add(std::move(block), &handle);
  BlockBuilder index(1);
  index.Add("z", index_value.empty() ? handle : index_value);
  footer = std::string(2, '\0');
  add(index.Finish(), &footer);
  footer.resize(kTableFooterSize - 8);
  PutFixed(kTableMagic, &footer);
  return table + footer;
}

// The end of a block: the offsets of its restart points, and then their number.
std::string Restarts(const std::vector<uint32_t>& numbers) {
  std::string bytes;
  for (const uint32_t n : numbers) PutFixed(n, &bytes);
  return bytes;
}

TEST_F(TableTest, MalformedBlocksWithRightChecksumsAreDataLoss) {
  const std::string entry("\0\1\1kv", 5);
  ASSERT_TRUE(ReadAll(TableOf(entry + Restarts({0, 1}))).ok());
  const std::string blocks[] = {
      "",                                                               // too short for the number of restart points
      Restarts({0}),                                                    // no restart points
      Restarts({0, 1000}),                                              // more restart points than fit
      entry + Restarts({0, 0xffffffff}),                                // the largest possible number
      std::string("\1\1\1kv", 5) + Restarts({0, 1}),                    // shares bytes with no key
      std::string("\0\5\1kv", 5) + Restarts({0, 1}),                    // a key that is longer than the block
      std::string("\0\1\x7fkv", 5) + Restarts({0, 1}),                  // a value that is longer than the block
      std::string("\0\xff\xff\xff\xff\x0f\1kv", 9) + Restarts({0, 1}),  // a key of 2^32 - 1 bytes
      entry + entry + Restarts({0, 1}),                                 // the same key twice
      std::string("\0\xff", 2) + Restarts({0, 1}),                      // truncated within its sizes
      std::string("\0\x81\x40\0", 4) + std::string(8193, 'k') + Restarts({0, 1}),  // a key above kMaxKeySize
  };
  for (const std::string& block : blocks) {
    EXPECT_TRUE(absl::IsDataLoss(ReadAll(TableOf(block)).status())) << testing::PrintToString(block);
  }
  // The second restart point is outside of the block. Only Seek uses restart points.
  auto table = TableReader::Open(TableOf(entry + Restarts({0, 900, 2})), "t").value();
  TableReader::Iterator it(table.get());
  it.Seek("k");
  EXPECT_TRUE(absl::IsDataLoss(it.status()));
  for (const std::string& handle : {std::string("\xff"), std::string("\0\xff\x7f", 3), std::string("\x7f\1", 2)}) {
    EXPECT_TRUE(absl::IsDataLoss(ReadAll(TableOf(entry + Restarts({0, 1}), handle)).status()));
  }
}

}  // namespace
}  // namespace tensorbraid
