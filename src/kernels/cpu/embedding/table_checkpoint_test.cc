// Tests saving and restoring growing tables.
#include <atomic>
#include <cmath>
#include <map>

#include "checkpoint/files.h"
#include "checkpoint/row_tensors.h"
#include "core/threads/thread.h"
#include "io/file_testutil.h"
#include "kernels/cpu/embedding/embedding_testutil.h"

namespace tensorbraid {
namespace {

class TableCheckpointTest : public testing::Test {
 protected:
  static constexpr int64_t kKeys = 5000;
  static int64_t KeyOf(int64_t i) { return (i - kKeys / 2) * 7'777'777'777; }
  static std::vector<int64_t> KeysOfPart(int64_t part, int64_t parts) {
    std::vector<int64_t> keys;
    for (int64_t i = 0; i < kKeys; ++i) {
      if ((KeyOf(i) % 1000 + 1000) % 1000 % parts == part) keys.push_back(KeyOf(i));
    }
    return keys;
  }
  static TestTable Part(const std::string& name, int64_t part, int64_t parts) {
    const std::string own = parts == 1 ? name : StrCat(name, "/part_", part);
    return {.name = own, .dim = 2, .part = part, .parts = parts, .slots = {{StrCat(own, "/Adagrad"), 0.1f}}};
  }
  std::string Prefix(const std::string& name) const { return dir_.path() + "/" + name; }

  // Trains all keys of a table in `parts` parts, with a version that follows from the key.
  static void Train(TestTask& task, int64_t parts) {
    for (int64_t part = 0; part < parts; ++part) {
      const TestTable table = Part("emb", part, parts);
      ASSERT_TRUE(table.Initialize(task).ok());
      const std::vector<int64_t> keys = KeysOfPart(part, parts);
      std::vector<float> grad;
      for (const int64_t key : keys) {
        grad.push_back(std::sin(static_cast<float>(key)));
        grad.push_back(std::cos(static_cast<float>(key)));
      }
      const auto n = static_cast<int64_t>(keys.size());
      ASSERT_TRUE(table.Update(task, "Adagrad", {0.5f}, Floats({n, 2}, grad), Tensor::Vector(keys), 3).ok());
      ASSERT_TRUE(
          table.Update(task, "Adagrad", {0.5f}, Floats({1, 2}, {1, 1}), Tensor::Vector<int64_t>({keys[5]}), 9).ok());
    }
  }

  // The outputs of _ExportTable, with the slots of the table.
  static StatusOr<std::vector<Tensor>> Export(TestTask& task, const TestTable& table) {
    Graph g;
    const Operation op = NodeBuilder(g, "_ExportTable").Input(table.Handle(g)).InputList(table.Slots(g)).Finish();
    TF_RETURN_IF_ERROR(g.status());
    std::vector<Output> outputs;
    for (int i = 0; i < op.num_outputs(); ++i) outputs.push_back(op.output(i));
    return task.Run(outputs);
  }
  // Writes the tensors of the parts under the names of DeepRec's checkpoints.
  Status Save(TestTask& task, const std::string& prefix, int64_t parts) {
    std::vector<std::string> names;
    std::vector<Output> tensors;
    Graph g;
    for (int64_t part = 0; part < parts; ++part) {
      const TestTable table = Part("emb", part, parts);
      TF_ASSIGN_OR_RETURN(const auto exported, Export(task, table));
      for (const auto& [name, values] : {std::pair(table.name, 4), std::pair(table.slots[0].first, 5)}) {
        for (const auto& [suffix, i] : {std::pair("-keys", 0), {"-versions", 2}, {"-values", values}}) {
          names.push_back(name + suffix);
          tensors.push_back(Constant(g, exported[static_cast<size_t>(i)]));
        }
      }
    }
    return SaveTensors(g, prefix, names, tensors);
  }
  Status SaveTensors(Graph& g, const std::string& prefix, const std::vector<std::string>& names,
                     const std::vector<Output>& tensors) {
    std::vector<DType> dtypes;
    for (const Output& t : tensors) dtypes.push_back(t.dtype());
    TestTask task;
    return task.RunOp(g, NodeBuilder(g, "SaveV2")
                             .Input(Constant(g, Tensor::Scalar(Prefix(prefix))))
                             .Input(Constant(g, Tensor::Vector(names)))
                             .Input(Constant(g, Tensor::Vector(std::vector<std::string>(names.size()))))
                             .InputList(tensors)
                             .Attr("dtypes", dtypes)
                             .Finish());
  }
  Status Restore(TestTask& task, const std::string& prefix, const TestTable& table, const std::string& name = "emb",
                 std::vector<std::string> slot_names = {"Adagrad"}) {
    Graph g;
    return task.RunOp(g, NodeBuilder(g, "_RestoreTable")
                             .Input(Constant(g, Tensor::Scalar(Prefix(prefix))))
                             .Input(table.Handle(g))
                             .InputList(table.Slots(g))
                             .Attr("name", name)
                             .Attr("slot_names", slot_names)
                             .Finish());
  }

  struct Row {
    int64_t version;
    std::vector<float> values, sums;
    friend bool operator==(const Row&, const Row&) = default;
  };
  // All rows of a table in parts. Checks the order of the rows.
  static std::map<int64_t, Row> RowsOf(TestTask& task, int64_t parts) {
    std::map<int64_t, Row> rows;
    for (int64_t part = 0; part < parts; ++part) {
      const auto exported = Export(task, Part("emb", part, parts));
      EXPECT_TRUE(exported.ok()) << exported.status();
      if (!exported.ok()) return rows;
      const auto& t = *exported;
      const auto keys = t[0].data<int64_t>(), versions = t[2].data<int64_t>();
      EXPECT_EQ(t[1].shape(), Shape({0}));
      EXPECT_EQ(t[3].shape(), Shape({1001}));
      const auto offset = t[3].data<int32_t>();
      EXPECT_EQ(offset[0], 0);
      EXPECT_EQ(offset[1000], t[0].num_elements());
      for (int r = 0; r < 1000; ++r) {
        EXPECT_TRUE(r % parts == part || offset[static_cast<size_t>(r)] == offset[static_cast<size_t>(r) + 1]);
        for (int i = offset[static_cast<size_t>(r)]; i < offset[static_cast<size_t>(r) + 1]; ++i) {
          const auto at = static_cast<size_t>(i);
          EXPECT_EQ((keys[at] % 1000 + 1000) % 1000, r);
          const auto row = [&](const Tensor& numbers) {
            const auto all = numbers.data<float>();
            return std::vector<float>{all[2 * at], all[2 * at + 1]};
          };
          EXPECT_TRUE(rows.emplace(keys[at], Row{versions[at], row(t[4]), row(t[5])}).second) << "key " << keys[at];
        }
      }
    }
    return rows;
  }

  TempDir dir_;
};

TEST_F(TableCheckpointTest, AnyNumberOfPartsIsRestoredIntoAnyOther) {
  for (const int64_t saved : {1, 2, 3}) {
    TestTask task;
    Train(task, saved);
    const auto rows = RowsOf(task, saved);
    ASSERT_EQ(rows.size(), static_cast<size_t>(kKeys));
    EXPECT_EQ(rows.at(KeysOfPart(0, saved)[5]).version, 9);
    EXPECT_EQ(rows.at(KeysOfPart(0, saved)[6]).version, 3);
    const std::string prefix = StrCat("saved", saved);
    const Status status = Save(task, prefix, saved);
    ASSERT_TRUE(status.ok()) << status;
    for (const int64_t parts : {1, 2, 3}) {
      TestTask other;
      for (int64_t part = 0; part < parts; ++part) {
        const Status restored = Restore(other, prefix, Part("emb", part, parts));
        ASSERT_TRUE(restored.ok()) << restored;
      }
      EXPECT_TRUE(RowsOf(other, parts) == rows) << saved << " parts into " << parts;
    }
  }
}

TEST_F(TableCheckpointTest, ARestoreReplacesAllRows) {
  TestTask task;
  Train(task, 1);
  const auto rows = RowsOf(task, 1);
  ASSERT_TRUE(Save(task, "saved", 1).ok());
  const TestTable table = Part("emb", 0, 1);
  ASSERT_TRUE(
      table.Update(task, "Adagrad", {1}, Floats({2, 2}, {1, 1, 1, 1}), Tensor::Vector<int64_t>({1, KeyOf(3)})).ok());
  EXPECT_FALSE(RowsOf(task, 1) == rows);
  ASSERT_TRUE(Restore(task, "saved", table).ok());
  EXPECT_TRUE(RowsOf(task, 1) == rows);
  // A table whose slots are not restored gives new rows their initial numbers.
  TestTask other;
  TestTable without = table;
  without.slots.clear();
  ASSERT_TRUE(Restore(other, "saved", without, "emb", {}).ok());
  EXPECT_EQ(*without.Rows(other), kKeys);
  EXPECT_FALSE(Export(other, table).ok());  // the slot is not initialized
}

TEST_F(TableCheckpointTest, RowsOfSlotsBelongToTheirKeys) {
  Graph g;
  const auto keys = [&](std::vector<int64_t> k) { return Constant(g, Tensor::Vector(k)); };
  ASSERT_TRUE(SaveTensors(g, "mixed", {"emb-keys", "emb-values", "emb/Adagrad-keys", "emb/Adagrad-values"},
                          {keys({1, 2}), Constant(g, Floats({2, 2}, {10, 11, 20, 21})), keys({3, 2}),
                           Constant(g, Floats({2, 2}, {7, 7, 5, 6}))})
                  .ok());
  TestTask task;
  const TestTable table = Part("emb", 0, 1);
  ASSERT_TRUE(Restore(task, "mixed", table).ok());
  EXPECT_EQ(ValuesOf(*table.Lookup(task, {1, 2})), (std::vector<float>{10, 11, 20, 21}));
  EXPECT_EQ(ValuesOf(*table.LookupSlot(task, 0, {1, 2, 3})), (std::vector<float>{0.1f, 0.1f, 5, 6, 0.1f, 0.1f}));
  EXPECT_EQ(*table.Rows(task), 2);
}

TEST_F(TableCheckpointTest, IncrementsAreReadInTheirOrderWithoutTheKeysThatAreDeletedInTheEnd) {
  // Saves rows {key, key + add} of the table, in parts, and the keys that were deleted.
  const auto save = [&](const std::string& prefix, std::vector<int64_t> keys, float add, std::vector<int64_t> deleted,
                        const std::string& name = "emb") {
    std::vector<float> values;
    for (const int64_t key : keys)
      values.insert(values.end(), {static_cast<float>(key), static_cast<float>(key) + add});
    const auto n = static_cast<int64_t>(keys.size());
    Graph g;
    ASSERT_TRUE(SaveTensors(g, prefix, {name + "-keys", name + "-values", name + "-keys_deleted"},
                            {Constant(g, Tensor::Vector(keys)), Constant(g, Floats({n, 2}, values)),
                             Constant(g, Tensor::Vector(deleted))})
                    .ok());
  };
  save("full", {1, 2, 3, 4, 5}, 0.5f, {});
  save("first", {2, 6, 7}, 1, {3, 4, 6});        // 6 was deleted, and has a row again
  save("second", {4}, 2, {7, 1}, "emb/part_0");  // so was 4, later; this one was saved in parts
  TestTask task;
  TestTable table = Part("emb", 0, 1);
  table.slots.clear();
  const auto restore = [&](const std::vector<std::string>& increments) {
    std::vector<std::string> prefixes;
    for (const std::string& increment : increments) prefixes.push_back(Prefix(increment));
    Graph g;
    return task.RunOp(g, NodeBuilder(g, "_RestoreTrackedTable")
                             .Input(Constant(g, Tensor::Scalar(Prefix("full"))))
                             .Input(Constant(g, Tensor::Vector(prefixes)))
                             .Input(Constant(g, Tensor::Scalar<int64_t>(0)))
                             .Input(table.Handle(g))
                             .InputList(std::vector<Output>())
                             .Attr("N", int64_t{0})
                             .Attr("name", "emb")
                             .Attr("slot_names", std::vector<std::string>())
                             .Finish());
  };
  const Status restored = restore({"first", "second"});
  ASSERT_TRUE(restored.ok()) << restored;
  EXPECT_EQ(*table.Rows(task), 4);
  EXPECT_EQ(ValuesOf(*table.Lookup(task, {2, 4, 5, 6})), (std::vector<float>{2, 3, 4, 6, 5, 5.5f, 6, 7}));
  ASSERT_TRUE(restore({"first"}).ok());
  EXPECT_EQ(*table.Rows(task), 5);
  EXPECT_EQ(ValuesOf(*table.Lookup(task, {1, 7})), (std::vector<float>{1, 1.5f, 7, 8}));
  EXPECT_FALSE(restore({"first", "gone"}).ok());
  EXPECT_EQ(*table.Rows(task), 5);
}

TEST_F(TableCheckpointTest, AnIncrementAloneIsRefused) {
  TestTask task;
  Train(task, 1);
  const auto rows = RowsOf(task, 1);
  Graph g;
  const Output key = Constant(g, Tensor::Vector<int64_t>({1})), values = Constant(g, Floats({1, 2}, {1, 2}));
  ASSERT_TRUE(SaveTensors(g, "ours", {"emb-keys", "emb-values", kLinkTensor},
                          {key, values, Constant(g, Tensor::Vector(std::vector<std::string>(5)))})
                  .ok());
  ASSERT_TRUE(SaveTensors(g, "deeprec", {"emb-sparse_incr_keys", "emb-sparse_incr_values"}, {key, values}).ok());
  for (const char* increment : {"ours", "deeprec"}) {
    const Status refused = Restore(task, increment, Part("emb", 0, 1));
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_NE(refused.message().find("is an increment, and holds only those rows of growing table 'emb'"),
              std::string::npos)
        << refused;
    EXPECT_TRUE(RowsOf(task, 1) == rows);
  }
}

TEST_F(TableCheckpointTest, WhatIsMissingIsNamedAndNothingIsLost) {
  TestTask task;
  Train(task, 1);
  const auto rows = RowsOf(task, 1);
  ASSERT_TRUE(Save(task, "saved", 1).ok());
  const TestTable table = Part("emb", 0, 1);
  const auto expect = [&](const Status& status, absl::StatusCode code, const std::string& text) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_NE(status.message().find(text), std::string::npos) << status;
    EXPECT_TRUE(RowsOf(task, 1) == rows);
  };
  expect(Restore(task, "other", table), absl::StatusCode::kNotFound, "other");
  expect(Restore(task, "saved", table, "item"), absl::StatusCode::kNotFound,
         "has no growing table 'item': it has neither 'item-keys' nor 'item/part_0-keys'");
  expect(Restore(task, "saved", table, "emb", {"Momentum"}), absl::StatusCode::kNotFound, "emb/Momentum-keys");
  Graph g;
  ASSERT_TRUE(SaveTensors(g, "longer", {"emb-keys", "emb-values"},
                          {Constant(g, Tensor::Vector<int64_t>({1})), Constant(g, Floats({1, 3}, {1, 2, 3}))})
                  .ok());
  TestTable without = table;
  without.slots.clear();
  expect(Restore(task, "longer", without, "emb", {}), absl::StatusCode::kInvalidArgument,
         "is float32[1,3], but the growing table needs float32[1,2]");
}

TEST_F(TableCheckpointTest, ManyRowsAreReadInBatchesAndAWrongByteIsFound) {
  constexpr int64_t kMany = 400'000;
  std::vector<int64_t> keys, versions;
  std::vector<float> values, sums;
  for (int64_t residue = 0; residue < 1000; ++residue) {
    for (int64_t i = 0; i < kMany / 1000; ++i) {
      keys.push_back(residue + 1000 * i);
      versions.push_back(i);
      values.insert(values.end(), {static_cast<float>(keys.back()), static_cast<float>(i)});
      sums.insert(sums.end(), {static_cast<float>(i), static_cast<float>(residue)});
    }
  }
  Graph g;
  const Output saved_keys = Constant(g, Tensor::Vector(keys));
  ASSERT_TRUE(SaveTensors(g, "many",
                          {"emb-keys", "emb-versions", "emb-values", "emb/Adagrad-keys", "emb/Adagrad-values"},
                          {saved_keys, Constant(g, Tensor::Vector(versions)), Constant(g, Floats({kMany, 2}, values)),
                           saved_keys, Constant(g, Floats({kMany, 2}, sums))})
                  .ok());
  TestTask task;
  for (int64_t part = 0; part < 2; ++part) {
    const Status restored = Restore(task, "many", Part("emb", part, 2));
    ASSERT_TRUE(restored.ok()) << restored;
  }
  const auto rows = RowsOf(task, 2);
  ASSERT_EQ(rows.size(), static_cast<size_t>(kMany));
  for (const auto& [key, row] : rows) {
    const auto i = static_cast<float>(key / 1000);
    ASSERT_TRUE(row == (Row{key / 1000, {static_cast<float>(key), i}, {i, static_cast<float>(key % 1000)}})) << key;
  }
  // Each of these bytes is in another tensor. The earlier rows stay.
  const TestTable table = Part("emb", 0, 2);
  ASSERT_TRUE(
      table.Update(task, "Adagrad", {1}, Floats({1, 2}, {1, 1}), Tensor::Vector<int64_t>({2'000'000'000}), 9).ok());
  const std::string data = Prefix("many") + ".data-00000-of-00001";
  const std::string whole = ReadWholeFile(data).value();
  for (const size_t at : {whole.size() / 100, whole.size() / 2, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    ASSERT_TRUE(WriteFileAtomically(data, damaged).ok());
    const Status status = Restore(task, "many", table);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_NE(status.message().find("has a wrong checksum"), std::string::npos) << status;
    EXPECT_EQ(*table.Rows(task), kMany / 2 + 1);
  }
  ASSERT_TRUE(WriteFileAtomically(data, whole.substr(0, whole.size() / 2)).ok());
  EXPECT_EQ(Restore(task, "many", table).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(*table.Rows(task), kMany / 2 + 1);
}

TEST_F(TableCheckpointTest, ExportsDoNotDisturbUpdates) {
  TestTask task;
  Train(task, 1);
  const TestTable table = Part("emb", 0, 1);
  std::atomic<bool> stop{false};
  Thread updates("updates", [&] {
    const std::vector<int64_t> keys = KeysOfPart(0, 1);
    const Tensor ones = Floats({kKeys, 2}, std::vector<float>(2 * kKeys, 1.0f));
    for (int64_t step = 10; !stop; ++step) {
      EXPECT_TRUE(table.Update(task, "Adagrad", {1}, ones, Tensor::Vector(keys), step).ok());
      EXPECT_TRUE(
          table.Update(task, "Adagrad", {1}, Floats({1, 2}, {1, 1}), Tensor::Vector<int64_t>({step}), step).ok());
    }
  });
  const int64_t twice = KeysOfPart(0, 1)[5];  // Train updates it twice
  for (int i = 0; i < 10; ++i) {
    std::map<int64_t, int64_t> versions;  // of the small tables, which an update changes as a whole
    for (const auto& [key, row] : RowsOf(task, 1)) {
      if (std::abs(key) < 7'777'777'777 || key == twice) continue;
      const int64_t version = versions.emplace((key % 1000 + 1000) % 1000, row.version).first->second;
      ASSERT_EQ(row.version, version) << key;
      // Train adds the squares of sine and cosine to the sums, which begin with 0.1, and each later update adds 1.
      const auto later = static_cast<float>(std::max<int64_t>(version - 9, 0));
      ASSERT_NEAR(row.sums[0] + row.sums[1], 1.2f + 2 * later, 1e-3f * (1 + later)) << key;
    }
  }
  stop = true;
  updates.Join();
}

}  // namespace
}  // namespace tensorbraid
