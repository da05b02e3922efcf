#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "runtime/resources/lookup_table.h"

namespace tensorbraid {
namespace {

using Kind = TableOptions::Kind;
using Strings = std::vector<std::string>;
using Integers = std::vector<int64_t>;

RefPtr<LookupTable> Make(Kind kind) {
  TableOptions options;
  options.kind = kind;
  return MakeRef<LookupTable>("t", options);
}

Tensor Keys(const Strings& keys) { return Tensor::Vector(keys); }
Tensor Values(const Integers& values) { return Tensor::Vector(values); }

Integers Find(const LookupTable& table, const Strings& keys, int64_t otherwise = -1) {
  const auto found = table.Find(Keys(keys), Tensor::Scalar(otherwise));
  EXPECT_TRUE(found.ok()) << found.status();
  if (!found.ok()) return {};
  return {found->data<int64_t>().begin(), found->data<int64_t>().end()};
}

TEST(LookupTableTest, AStaticTableIsFilledOnce) {
  auto table = Make(Kind::kStatic);
  EXPECT_TRUE(absl::IsFailedPrecondition(table->Find(Keys({"a"}), Tensor::Scalar<int64_t>(0)).status()));
  EXPECT_TRUE(absl::IsAborted(table->Export().status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(table->Initialize(Keys({"a", "a"}), Values({1, 2}))));
  EXPECT_EQ(table->size(), 0);
  ASSERT_TRUE(table->Initialize(Keys({"a", "b", "b"}), Values({1, 2, 2})).ok());
  EXPECT_EQ(Find(*table, {"b", "x"}), (Integers{2, -1}));
  EXPECT_TRUE(table->Initialize(Keys({"a", "b"}), Values({1, 2})).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(table->Initialize(Keys({"a"}), Values({1}))));
  EXPECT_TRUE(absl::IsUnimplemented(table->Insert(Keys({"c"}), Values({1}))));
  EXPECT_TRUE(absl::IsUnimplemented(table->Remove(Keys({"c"}))));
}

TEST(LookupTableTest, AMutableTableInsertsReplacesAndRemoves) {
  auto table = Make(Kind::kMutable);
  Strings many;
  Integers numbers;
  for (int i = 0; i < 100; ++i) {
    many.push_back(std::to_string(i));
    numbers.push_back(i);
  }
  ASSERT_TRUE(table->Insert(Keys(many), Values(numbers)).ok());
  ASSERT_TRUE(table->Remove(Keys({"7", "none"})).ok());
  ASSERT_TRUE(table->Insert(Keys({"8", "new"}), Values({80, 1000})).ok());
  EXPECT_EQ(table->size(), 100);
  EXPECT_EQ(Find(*table, {"7", "8", "new", "99"}), (Integers{-1, 80, 1000, 99}));
  ASSERT_TRUE(table->Import(Keys({"z"}), Values({26})).ok());
  const auto exported = table->Export();
  ASSERT_TRUE(exported.ok());
  EXPECT_EQ(exported->first.ToString(), Keys({"z"}).ToString());
  EXPECT_EQ(exported->second.ToString(), Values({26}).ToString());
}

TEST(LookupTableTest, ADefaultIsOneValueOrOneForEachKey) {
  auto table = Make(Kind::kMutable);
  ASSERT_TRUE(table->Insert(Keys({"a"}), Values({1})).ok());
  const auto each = table->Find(Keys({"a", "b"}), Values({10, 20}));
  ASSERT_TRUE(each.ok());
  EXPECT_EQ(each->ToString(), Values({1, 20}).ToString());
  EXPECT_TRUE(absl::IsInvalidArgument(table->Find(Keys({"a", "b"}), Values({1, 2, 3})).status()));
}

TEST(LookupTableTest, KeysAndValuesOfAnotherShapeOrTypeAreRefused) {
  auto table = Make(Kind::kMutable);
  EXPECT_TRUE(absl::IsInvalidArgument(table->Insert(Keys({"a", "b"}), Values({1}))));
  EXPECT_TRUE(absl::IsInvalidArgument(table->Insert(Values({1}), Values({1}))));
  EXPECT_TRUE(absl::IsInvalidArgument(table->Insert(Keys({"a"}), Tensor::Vector<float>({1}))));
  EXPECT_TRUE(absl::IsInvalidArgument(table->Remove(Values({1}))));
  EXPECT_EQ(table->size(), 0);
}

TEST(LookupTableTest, ADenseTableHasVectorKeysOfWhichTwoAreReserved) {
  TableOptions options;
  options.kind = Kind::kDense;
  options.key_dtype = kInt64;
  options.value_dtype = kFloat32;
  options.key_shape = Shape({2});
  options.value_shape = Shape({2});
  options.empty_key = Values({0, 0});
  options.deleted_key = Values({-1, -1});
  options.initial_num_buckets = 4;
  ASSERT_TRUE(LookupTable::CheckOptions(options).ok());
  TableOptions same = options;
  same.deleted_key = same.empty_key;
  EXPECT_TRUE(absl::IsInvalidArgument(LookupTable::CheckOptions(same)));
  same = options;
  same.initial_num_buckets = 6;  // not a power of 2
  EXPECT_TRUE(absl::IsInvalidArgument(LookupTable::CheckOptions(same)));
  auto table = MakeRef<LookupTable>("t", options);
  ASSERT_TRUE(table->Insert(Tensor::Of<int64_t>({2, 2}, {1, 2, 3, 4}), Tensor::Of<float>({2, 2}, {1, 2, 3, 4})).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(table->Insert(Values({0, 0}), Tensor::Vector<float>({1, 1}))));
  EXPECT_TRUE(absl::IsInvalidArgument(table->Remove(Values({-1, -1}))));
  const auto found = table->Find(Tensor::Of<int64_t>({2, 2}, {3, 4, 4, 3}), Tensor::Vector<float>({-1, -2}));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->ToString(), Tensor::Of<float>({2, 2}, {3, 4, -1, -2}).ToString());
  const auto exported = table->Export();
  ASSERT_TRUE(exported.ok());
  EXPECT_EQ(exported->first.shape(), Shape({4, 2}));
  ASSERT_TRUE(table->Import(exported->first, exported->second).ok());
  EXPECT_EQ(table->size(), 2);
}

class TableFileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(TableFileTest, LinesAndColumnsBecomeKeysAndValues) {
  TextFileInitializer file;
  file.path = Write("table_file_words", "the\nof\r\nand");
  auto words = ReadTableFile(file, kString, kInt64);
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_EQ(words->first.ToString(), Keys({"the", "of", "and"}).ToString());
  EXPECT_EQ(words->second.ToString(), Values({0, 1, 2}).ToString());
  file.vocab_size = 2;
  file.offset = 10;
  words = ReadTableFile(file, kString, kInt64);
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_EQ(words->second.ToString(), Values({10, 11}).ToString());
  file.vocab_size = 4;
  EXPECT_TRUE(absl::IsInvalidArgument(ReadTableFile(file, kString, kInt64).status()));
  file.path = Write("table_file_columns", "5 x 0.5\n7 y 1.5\n");
  file = {.path = file.path, .key_index = 0, .value_index = 2, .delimiter = " "};
  const auto columns = ReadTableFile(file, kInt32, kFloat32);
  ASSERT_TRUE(columns.ok()) << columns.status();
  EXPECT_EQ(columns->first.ToString(), Tensor::Vector<int32_t>({5, 7}).ToString());
  EXPECT_EQ(columns->second.ToString(), Tensor::Vector<float>({0.5, 1.5}).ToString());
}

TEST_F(TableFileTest, FilesThatDoNotFitAreRefused) {
  TextFileInitializer file;
  file.path = Write("table_file_bad", "a\n\nb\n");
  EXPECT_TRUE(absl::IsInvalidArgument(ReadTableFile(file, kString, kInt64).status()));  // an empty line
  file.path = Write("table_file_good", "a\nb\n");
  EXPECT_TRUE(absl::IsInvalidArgument(ReadTableFile(file, kInt64, kInt64).status()));     // "a" as an int64 key
  EXPECT_TRUE(absl::IsInvalidArgument(ReadTableFile(file, kString, kFloat32).status()));  // line numbers as floats
  // There is only column 0.
  file.value_index = 1;
  EXPECT_TRUE(absl::IsInvalidArgument(ReadTableFile(file, kString, kInt64).status()));
  file.value_index = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(ReadTableFile(file, kString, kInt64).status()));  // "a" as an int64 value
  file.delimiter = "ab";
  EXPECT_TRUE(absl::IsInvalidArgument(ReadTableFile(file, kString, kString).status()));
  file = {.path = file.path + "_not_there"};
  EXPECT_TRUE(absl::IsNotFound(ReadTableFile(file, kString, kInt64).status()));
}

}  // namespace
}  // namespace tensorbraid
