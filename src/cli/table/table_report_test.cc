#include "cli/table/table_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "checkpoint/bundle_writer.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

class TableReportTest : public testing::Test {
 protected:
  // The tensors of a part, or of a slot of one.
  void AddRows(const std::string& name, const std::vector<int64_t>& keys, const std::vector<float>& numbers,
               const std::vector<int64_t>& versions, const std::vector<int64_t>& frequencies = {}) {
    const auto rows = static_cast<int64_t>(keys.size());
    Tensor values(DType::kFloat32, Shape({rows, 2}));
    std::copy(numbers.begin(), numbers.end(), values.inplace_data<float>().begin());
    Add(name + "-keys", Tensor::Vector<int64_t>(keys));
    Add(name + "-values", values);
    Add(name + "-versions", Tensor::Vector<int64_t>(versions));
    Add(name + "-freqs", Tensor::Vector<int64_t>(frequencies));
    Add(name + "-partition_offset", Tensor(DType::kInt32, Shape({1001})));
  }
  void Add(const std::string& name, const Tensor& tensor) { tensors_[name] = tensor; }

  // Writes the tensors that were added, and returns the path. The next checkpoint has none of them.
  std::string Write(const std::string& name) {
    const std::string prefix = StrCat(dir_.path(), "/", name);
    auto writer = BundleWriter::Create(prefix).value();
    for (const auto& [key, value] : tensors_) EXPECT_TRUE(writer->Add(key, value).ok());
    EXPECT_TRUE(writer->Finish().ok());
    tensors_.clear();
    return prefix;
  }
  SavedTablesReader Open() { return SavedTablesReader::Open(Write("m")).value(); }
  // Two parts with a slot, and a table that counts.
  SavedTablesReader OpenTwo() {
    AddRows("users/part_0", {4, 2}, {1, 2, 3, 4}, {7, 9});
    AddRows("users/part_0/Adagrad", {4, 2}, {0.5f, 0.5f, 0.25f, 0.25f}, {7, 9});
    AddRows("users/part_1", {-3}, {0.1f, -8}, {8});
    AddRows("users/part_1/Adagrad", {-3}, {0.75f, 0.75f}, {8});
    AddRows("words", {5, 6}, {1, 1, 0, 0}, {1, 1}, {10, 20});
    Add("dense", Tensor::Scalar(1.0f));
    return Open();
  }

  TempDir dir_;
  std::map<std::string, Tensor> tensors_;
};

TEST_F(TableReportTest, ListsWholeTablesWithTheirSlots) {
  SavedTablesReader reader = OpenTwo();
  EXPECT_EQ(DescribeTables(reader).value(),
            "table  rows  dim  parts  numbers  slots\n"
            "users  3     2    2      48 B     Adagrad\n"
            "words  2     2    1      16 B     -\n");
}

TEST_F(TableReportTest, AKeyIsFoundInAnyPart) {
  SavedTablesReader reader = OpenTwo();
  const TableInCheckpoint users = reader.Find("users").value();
  const auto rows = DescribeRows(reader, users, {"-3", "5", "2"}, {-3, 5, 2}, /*slots=*/true).value();
  EXPECT_EQ(rows.text,
            "-3: last updated at step 8\n"
            "  users: 0.1 -8\n"
            "  users/Adagrad: 0.75 0.75\n"
            "5: no row\n"
            "2: last updated at step 9\n"
            "  users: 3 4\n"
            "  users/Adagrad: 0.25 0.25\n");
  EXPECT_EQ(rows.missing, 1);
}

TEST_F(TableReportTest, KeysAreNumbersOrHashesOfStrings) {
  EXPECT_EQ(KeyOf("-17", false).value(), -17);
  EXPECT_THAT(KeyOf("fox", false).status().message(), HasSubstr("--hash"));
  EXPECT_TRUE(absl::IsInvalidArgument(KeyOf("99999999999999999999", false).status()));
  EXPECT_GE(KeyOf("fox", true).value(), 0);
}

TEST_F(TableReportTest, TheTopRowsComeByNormFrequencyAndVersion) {
  SavedTablesReader reader = OpenTwo();
  const TableInCheckpoint users = reader.Find("users").value();
  EXPECT_EQ(DescribeTopRows(reader, users, RowOrder::kNorm, 2).value(),
            "key  norm     version\n"
            "-3   8.00062  8\n"
            "2    5        9\n");
  EXPECT_EQ(DescribeTopRows(reader, users, RowOrder::kVersion, 1).value(),
            "key  norm  version\n"
            "2    5     9\n");
  EXPECT_THAT(DescribeTopRows(reader, users, RowOrder::kFrequency, 1).status().message(), HasSubstr("did not count"));
  const TableInCheckpoint words = reader.Find("words").value();
  EXPECT_EQ(DescribeTopRows(reader, words, RowOrder::kFrequency, 1).value(),
            "key  norm  version  frequency\n"
            "6    0     1        20\n");
}

TEST_F(TableReportTest, ATableMayHaveRowsAndCountsInIncrementsOnly) {
  AddRows("words", {}, {}, {}, {});
  const std::string full = Write("m-1");
  AddRows("words", {5, 6}, {1, 1, 0, 0}, {1, 1}, {10, 20});
  SavedTablesReader reader = SavedTablesReader::Open(full, {Write("m-2")}).value();
  EXPECT_EQ(DescribeTopRows(reader, reader.Find("words").value(), RowOrder::kFrequency, 1).value(),
            "key  norm  version  frequency\n"
            "6    0     1        20\n");
}

TEST_F(TableReportTest, TheCsvIsAFileOnceItIsWhole) {
  SavedTablesReader reader = OpenTwo();
  const TableInCheckpoint words = reader.Find("words").value();
  const std::string path = dir_.path() + "/words.csv";
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(WriteRowsToFile(reader, words, /*slots=*/false, path).ok());
    EXPECT_EQ(ReadFile(path).value(), "key,version,frequency,v0,v1\n5,1,10,1,1\n6,1,20,0,0\n");
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".unfinished"));
  EXPECT_THAT(WriteRowsToFile(reader, words, false, dir_.path() + "/nowhere/words.csv").message(),
              HasSubstr("words.csv.unfinished' cannot be written"));
}

TEST_F(TableReportTest, APipeStaysAPipe) {
  SavedTablesReader reader = OpenTwo();
  const std::string path = dir_.path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::fstream other_end(path, std::ios::in | std::ios::out);  // so that neither end waits for the other
  ASSERT_TRUE(WriteRowsToFile(reader, reader.Find("words").value(), /*slots=*/false, path).ok());
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  std::string line;
  ASSERT_TRUE(std::getline(other_end, line));
  EXPECT_EQ(line, "key,version,frequency,v0,v1");
}

TEST_F(TableReportTest, TheCsvHasAllRows) {
  SavedTablesReader reader = OpenTwo();
  std::ostringstream out;
  ASSERT_TRUE(WriteRows(reader, reader.Find("users").value(), /*slots=*/true, out).ok());
  EXPECT_EQ(out.str(),
            "key,version,v0,v1,Adagrad:0,Adagrad:1\n"
            "4,7,1,2,0.5,0.5\n"
            "2,9,3,4,0.25,0.25\n"
            "-3,8,0.1,-8,0.75,0.75\n");
}

TEST_F(TableReportTest, AWrongNameGetsTheNearest) {
  const SavedTablesReader reader = OpenTwo();
  EXPECT_THAT(reader.Find("user").status().message(), HasSubstr("did you mean 'users'?"));
  EXPECT_THAT(reader.Find("x").status().message(), HasSubstr("it has users, words"));
}

TEST_F(TableReportTest, PartsThatDoNotBelongTogetherAreDataLoss) {
  AddRows("users/part_0", {4}, {1, 2}, {7});
  AddRows("users/part_2", {6}, {1, 2}, {7});
  const Status status = SavedTablesReader::Open(Write("m")).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("has no part 1 of the growing table 'users'"));
}

}  // namespace
}  // namespace tensorbraid
