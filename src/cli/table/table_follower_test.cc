#include "cli/table/table_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <utility>

#include "checkpoint/bundle_writer.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "nlohmann/json.hpp"
#include "tensorbraid/checkpoint/checkpoint.h"
#include "train/checkpoints/increment_testutil.h"
#include "train/checkpoints/increments.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TableFollowerTest : public testing::Test {
 protected:
  // The lines that a poll writes.
  std::vector<nlohmann::json> Poll(TableFollower& follower) {
    out_.str("");
    const auto written = follower.Poll();
    EXPECT_TRUE(written.ok()) << written.status();
    std::vector<nlohmann::json> lines;
    std::istringstream text(out_.str());
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    EXPECT_EQ(written.ok() && *written, !lines.empty());
    return lines;
  }
  static std::vector<int64_t> KeysIn(const std::vector<nlohmann::json>& lines) {
    std::vector<int64_t> keys;
    for (const auto& line : lines) {
      if (line.contains("version")) keys.push_back(line["key"].get<int64_t>());
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }
  static std::vector<int64_t> Keys(const std::vector<int64_t>& numbers) {
    std::vector<int64_t> keys;
    for (const int64_t n : numbers) keys.push_back(TableModel::AllKeys()[static_cast<size_t>(n)]);
    return keys;
  }
  std::string path() const { return dir_.path() + "/model.ckpt"; }

  TempDir dir_;
  std::ostringstream out_;
};

TEST_F(TableFollowerTest, WritesWhatIncrementsBringAndThenTheNextFullCheckpoint) {
  TableModel model({.parts = 2});
  TableFollower follower({.directory = dir_.path()}, out_), with_full({.directory = dir_.path(), .full = true}, out_);
  EXPECT_TRUE(absl::IsNotFound(follower.Poll().status()));

  model.Train({1, 2, 3});
  ASSERT_TRUE(model.Save(path()).ok());
  EXPECT_TRUE(Poll(follower).empty());
  EXPECT_EQ(KeysIn(Poll(with_full)), Keys({1, 2, 3}));

  model.Train({2, 5});
  ASSERT_TRUE(model.SaveIncrement(path()).ok());
  model.Train({7});
  ASSERT_TRUE(model.SaveIncrement(path()).ok());
  const auto lines = Poll(follower);
  ASSERT_EQ(lines.size(), 14u);
  EXPECT_EQ(lines[0]["begin"], "model.ckpt-2");
  EXPECT_EQ(lines[0]["full"], false);
  EXPECT_EQ(KeysIn({lines[1], lines[2]}), Keys({2, 5}));
  EXPECT_EQ(lines[1]["table"], "emb");
  EXPECT_EQ(lines[1]["values"].size(), 2u);
  EXPECT_EQ(lines[3]["variable"], "dense");
  EXPECT_EQ(lines[7],
            nlohmann::json::parse(R"({"end":"model.ckpt-2","full":false,"rows":2,"deleted":0,"variables":3})"));
  EXPECT_EQ(lines[8]["begin"], "model.ckpt-3");
  EXPECT_EQ(lines[13]["rows"], 1);
  EXPECT_EQ(Poll(with_full), lines);
  EXPECT_TRUE(Poll(follower).empty());

  model.Train({9});
  ASSERT_TRUE(model.Save(path()).ok());
  model.Train({1});
  ASSERT_TRUE(model.SaveIncrement(path()).ok());
  const auto next = Poll(follower);
  EXPECT_EQ(next[0]["full"], true);
  EXPECT_EQ(KeysIn(next), Keys({1, 1, 2, 3, 5, 7, 9}));
}

TEST_F(TableFollowerTest, WhoAppliesTheLinesHasTheRowsOfTheCheckpoint) {
  TableModel model;
  TableFollower follower({.directory = dir_.path(), .full = true}, out_);
  std::map<int64_t, std::vector<float>> served;
  model.Train({0, 1, 2, 3, 4, 5});
  ASSERT_TRUE(model.Save(path()).ok());
  for (int round = 0; round < 3; ++round) {
    model.Train({round, round + 10, 5});
    ASSERT_TRUE(model.SaveIncrement(path()).ok());
    for (const auto& line : Poll(follower)) {
      if (line.contains("version")) served[line["key"].get<int64_t>()] = line["values"].get<std::vector<float>>();
    }
  }
  // The chain as `tensorbraid table` reads it has the same rows.
  const IncrementChain chain = FindChain(path() + "-1").value();
  ASSERT_EQ(chain.increments.size(), 3u);
  SavedTablesReader reader = SavedTablesReader::Open(chain.full, chain.increments).value();
  std::map<int64_t, std::vector<float>> saved;
  const TableInCheckpoint table = reader.Find("emb").value();
  ASSERT_TRUE(
      reader
          .ForEachRow(
              table, /*slots=*/true,
              [&](const SavedRow& row) {
                EXPECT_EQ(row.slots.size(), 1u);
                EXPECT_TRUE(saved.emplace(row.key, std::vector<float>(row.numbers.begin(), row.numbers.end())).second)
                    << row.key << " comes twice";
                return OkStatus();
              })
          .ok());
  EXPECT_EQ(saved, served);
  EXPECT_EQ(reader.CountRows(table).value(), 9);
}

// Writes a bundle.
void WriteBundle(const std::string& prefix, const std::map<std::string, Tensor>& tensors) {
  auto writer = BundleWriter::Create(prefix).value();
  for (const auto& [name, value] : tensors) ASSERT_TRUE(writer->Add(name, value).ok());
  ASSERT_TRUE(writer->Finish().ok());
}

TEST_F(TableFollowerTest, WhoAppliesTheLinesHasTheVariablesOfTheCheckpoint) {
  TableModel model;
  TableFollower follower({.directory = dir_.path(), .full = true}, out_);
  std::map<std::string, std::vector<float>> served;
  std::map<std::string, std::string> kinds;
  std::vector<size_t> numbers;  // of all lines of a poll
  ASSERT_TRUE(model.Save(path()).ok());
  for (int round = 0; round < 4; ++round) {
    model.Train({round, round + 10, 5});
    if (round == 3) {
      ASSERT_TRUE(model.session->Run({model.assign_fixed}).ok());  // saved as a whole then
    }
    ASSERT_TRUE((round == 2 ? model.Save(path()) : model.SaveIncrement(path())).ok());
    numbers.push_back(0);
    for (const auto& line : Poll(follower)) {
      if (!line.contains("variable")) continue;
      size_t size = 1;
      for (const int64_t dim : line["shape"]) size *= static_cast<size_t>(dim);
      const std::string name = line["variable"];
      served[name].resize(size);
      kinds[name] = line["dtype"];
      size_t at = line["first"];
      for (const float value : line["values"]) served[name].at(at++) = value;
      numbers.back() += line["values"].size();
    }
    std::map<std::string, std::vector<float>> expected;
    const auto state = model.State();
    const auto fixed = state.begin() + 1 + 2 * TableModel::kKeys;
    expected["fixed"] = {fixed, fixed + 2 * TableModel::kKeys};
    const auto dense = fixed + 4 * TableModel::kKeys;  // after the slot of `fixed`
    expected["dense"] = {dense, dense + 3};
    expected["global_step"] = {static_cast<float>(round + 1)};
    EXPECT_EQ(served, expected) << round;
  }
  EXPECT_EQ(kinds,
            (std::map<std::string, std::string>{{"dense", "float32"}, {"fixed", "float32"}, {"global_step", "int64"}}));
  constexpr size_t kAll = 2 * TableModel::kKeys + 3 + 1;
  EXPECT_EQ(numbers, (std::vector<size_t>{kAll + 3 * 2 + 4, 3 * 2 + 4, kAll, kAll}));
  TableFollower of_table({.directory = dir_.path(), .full = true, .table = "emb"}, out_);
  for (const auto& line : Poll(of_table)) EXPECT_FALSE(line.contains("variable")) << line;
}

TEST_F(TableFollowerTest, ATableThatTheCheckpointLacksIsAMistake) {
  TableModel model;
  TableFollower follower({.directory = dir_.path(), .table = "emp"}, out_);
  EXPECT_TRUE(absl::IsNotFound(follower.Poll().status()));  // no checkpoint yet
  ASSERT_TRUE(model.Save(path()).ok());
  const Status status = follower.Poll().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("has no growing table 'emp'; did you mean 'emb'?"));
}

TEST_F(TableFollowerTest, TheDirectoryOfTheIncrementsIsAMistake) {
  TableModel model;
  ASSERT_TRUE(model.Save(path()).ok());
  model.Train({1});
  ASSERT_TRUE(model.SaveIncrement(path()).ok());
  TableFollower follower({.directory = StrCat(dir_.path(), "/", kIncrementDirectory)}, out_);
  const Status status = follower.Poll().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(StrCat("; name '", dir_.path(), "'")));
}

TEST_F(TableFollowerTest, VariablesOfManyNumbersAndOfOtherDTypes) {
  WriteBundle(dir_.path() + "/m-1", {{"large", Tensor(kFloat32, {3, 2000})},
                                     {"large/Momentum", Tensor(kFloat32, {3, 2000})},
                                     {"flags", Tensor::Vector(std::vector<uint8_t>{0, 255})},
                                     {"exact", Tensor::Of<double>({2}, {0.1, -INFINITY})},
                                     {"node/.random_state", Tensor::Vector<int64_t>({1})},
                                     {"words", Tensor::Vector(std::vector<std::string>{"a"})}});
  ASSERT_TRUE(UpdateCheckpointState(dir_.path(), {.model_checkpoint_path = dir_.path() + "/m-1"}).ok());
  TableFollower follower({.directory = dir_.path(), .full = true}, out_);
  const auto lines = Poll(follower);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[1].dump(), R"({"dtype":"float64","first":0,"shape":[2],"values":[0.1,"-inf"],"variable":"exact"})");
  EXPECT_EQ(lines[2]["values"].dump(), "[0,255]");
  EXPECT_EQ(lines[3]["values"].size(), 4096u);
  EXPECT_EQ(lines[4]["first"], 4096);
  EXPECT_EQ(lines[4]["values"].size(), 6000u - 4096u);
  EXPECT_EQ(lines[5]["variables"], 3);
}

TEST_F(TableFollowerTest, IncrementsOfDeepRec) {
  const std::string full = dir_.path() + "/m-1";
  const Tensor offsets(kInt32, {1001});
  WriteBundle(full, {{"t/part_0-keys", Tensor::Vector<int64_t>({0, 2})},
                     {"t/part_0-values", Tensor::Of<float>({2, 1}, {0, 20})},
                     {"t/part_0-partition_offset", offsets},
                     {"t/part_1-keys", Tensor::Vector<int64_t>({1})},
                     {"t/part_1-values", Tensor::Of<float>({1, 1}, {10})},
                     {"t/part_1-partition_offset", offsets},
                     {"fixed", Tensor::Of<float>({3, 1}, {0, 1, 2})}});
  const std::string directory = StrCat(dir_.path(), "/", kIncrementDirectory);
  std::filesystem::create_directory(directory);
  ASSERT_TRUE(UpdateCheckpointState(dir_.path(), {.model_checkpoint_path = full}).ok());
  TableFollower follower({.directory = dir_.path(), .full = true}, out_);
  EXPECT_EQ(Poll(follower).size(), 6u);
  // Each has all changes since the full checkpoint. Part 0 has none.
  std::vector<std::string> saved;
  for (const int64_t step : {2, 3}) {
    std::vector<int64_t> keys = {1};
    if (step == 3) keys.push_back(3);
    const std::vector<int64_t> versions(keys.size(), step);
    saved.push_back(StrCat(directory, "/i-", step));
    WriteBundle(saved.back(), {{"t/part_1-sparse_incr_keys", Tensor::Vector(keys)},
                               {"t/part_1-sparse_incr_values", Tensor(kFloat32, {std::ssize(keys), 1})},
                               {"t/part_1-sparse_incr_versions", Tensor::Vector(versions)},
                               {"t/part_1-sparse_incr_freqs", Tensor::Vector(versions)},
                               {"t/part_1-incr_partition_offset", offsets},
                               {"fixed-sparse_incr_keys", Tensor::Vector<int32_t>({2})},
                               {"fixed-sparse_incr_values", Tensor::Of<float>({1, 1}, {9})}});
    ASSERT_TRUE(
        UpdateCheckpointState(directory, {.model_checkpoint_path = saved.back(), .all_model_checkpoint_paths = saved})
            .ok());
    const auto lines = Poll(follower);
    EXPECT_EQ(KeysIn(lines), keys);
    ASSERT_EQ(lines.size(), keys.size() + 3);
    EXPECT_EQ(lines[1]["version"], step);
    EXPECT_EQ(lines[keys.size() + 1]["first"], 2);
    EXPECT_TRUE(Poll(follower).empty());
  }
  const IncrementChain chain = FindChain(full).value();
  SavedTablesReader reader = SavedTablesReader::Open(chain.full, chain.increments).value();
  EXPECT_EQ(reader.CountRows(reader.Find("t").value()).value(), 4);
}

TEST_F(TableFollowerTest, DeletedKeysAreLinesOfTheirOwn) {
  const std::string full = dir_.path() + "/m-1", increment = StrCat(dir_.path(), "/", kIncrementDirectory, "/m-2");
  WriteBundle(full, {{"other-keys", Tensor(kInt64, {0})},
                     {"other-values", Tensor(kFloat32, {0, 1})},
                     {"other-partition_offset", Tensor(kInt32, {1001})},
                     {"t-keys", Tensor::Vector<int64_t>({1, 2, 3})},
                     {"t-values", Tensor::Of<float>({3, 1}, {10, 20, 30})},
                     {"t-partition_offset", Tensor(kInt32, {1001})}});
  std::filesystem::create_directory(StrCat(dir_.path(), "/", kIncrementDirectory));
  const std::string id = CheckpointId(full).value();
  WriteBundle(increment,
              {{"t-keys", Tensor::Vector<int64_t>({2, 4})},
               {"t-values", Tensor::Of<float>({2, 1}, {NAN, 40})},
               {"t-versions", Tensor::Vector<int64_t>({7, 8})},
               {"t-keys_deleted", Tensor::Vector<int64_t>({2, 3})},
               {kLinkTensor,
                LinkTensor({.full = "m-1", .full_id = id, .predecessor = "m-1", .predecessor_id = id, .number = 1})}});
  ASSERT_TRUE(
      UpdateCheckpointState(dir_.path(), {.model_checkpoint_path = full, .all_model_checkpoint_paths = {full}}).ok());
  ASSERT_TRUE(UpdateCheckpointState(DirectoryOf(increment),
                                    {.model_checkpoint_path = increment, .all_model_checkpoint_paths = {increment}})
                  .ok());
  TableFollower follower({.directory = dir_.path()}, out_);
  Poll(follower);
  EXPECT_EQ(out_.str(),
            "{\"begin\":\"m-2\",\"full\":false}\n"
            "{\"table\":\"t\",\"key\":2,\"deleted\":true}\n"
            "{\"table\":\"t\",\"key\":3,\"deleted\":true}\n"
            "{\"table\":\"t\",\"key\":2,\"version\":7,\"values\":[\"nan\"]}\n"
            "{\"table\":\"t\",\"key\":4,\"version\":8,\"values\":[40]}\n"
            "{\"end\":\"m-2\",\"full\":false,\"rows\":2,\"deleted\":2,\"variables\":0}\n");
  SavedTablesReader reader = SavedTablesReader::Open(full, {increment}).value();
  const TableInCheckpoint table = reader.Find("t").value();
  EXPECT_EQ(reader.CountRows(table).value(), 3);
  std::vector<int64_t> keys;
  ASSERT_TRUE(reader
                  .ForEachRow(table, false,
                              [&](const SavedRow& row) {
                                keys.push_back(row.key);
                                return OkStatus();
                              })
                  .ok());
  EXPECT_EQ(keys, (std::vector<int64_t>{2, 4, 1}));

  TableFollower other({.directory = dir_.path(), .table = "other"}, out_);
  EXPECT_EQ(Poll(other).size(), 2u);
}

// Calls `meet` once, when a line is written.
class MeetingOutput : public std::stringbuf {
 public:
  std::function<void()> meet;

 private:
  std::streamsize xsputn(const char* text, std::streamsize n) override {
    if (const auto once = std::exchange(meet, nullptr)) once();
    return std::stringbuf::xsputn(text, n);
  }
};

TEST_F(TableFollowerTest, AnIncrementThatIsRemovedWhileItIsReadHasNoEnd) {
  TableModel model;
  MeetingOutput output;
  std::ostream out(&output);
  TableFollower follower({.directory = dir_.path()}, out);
  model.Train({1});
  ASSERT_TRUE(model.Save(path()).ok());
  model.Train({2});
  ASSERT_TRUE(model.SaveIncrement(path()).ok());
  model.Train({3});
  output.meet = [&] {  // as a saver does that keeps one checkpoint
    ASSERT_TRUE(model.Save(path()).ok());
    ASSERT_TRUE(RemoveCheckpoint(IncrementPath(path()) + "-2").ok());
  };
  const auto written = follower.Poll();
  ASSERT_TRUE(written.ok()) << written.status();
  const std::string text = output.str();
  EXPECT_TRUE(
      text.starts_with("{\"begin\":\"model.ckpt-2\",\"full\":false}\n{\"begin\":\"model.ckpt-3\",\"full\":true}\n"))
      << text;
  EXPECT_THAT(text, Not(HasSubstr("{\"end\":\"model.ckpt-2\"")));
  EXPECT_THAT(text, HasSubstr("{\"end\":\"model.ckpt-3\",\"full\":true,\"rows\":3,"));
}

TEST_F(TableFollowerTest, AHoleIsAnErrorThatSaysWhatToDo) {
  TableModel model;
  TableFollower late({.directory = dir_.path()}, out_), early({.directory = dir_.path()}, out_);
  model.Train({1});
  ASSERT_TRUE(model.Save(path()).ok());
  for (int i = 0; i < 2; ++i) {
    model.Train({i});
    ASSERT_TRUE(model.SaveIncrement(path()).ok());
    if (i == 0) Poll(early);
  }
  ASSERT_TRUE(RemoveCheckpoint(IncrementPath(path()) + "-2").ok());
  for (TableFollower* follower : {&late, &early}) {
    const Status hole = follower->Poll().status();
    EXPECT_TRUE(absl::IsFailedPrecondition(hole)) << hole;
    EXPECT_THAT(hole.message(), HasSubstr("is gone: put '"));
  }
}

}  // namespace
}  // namespace tensorbraid
