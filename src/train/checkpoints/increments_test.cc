// Tests increments: what they hold, their chain, and what is restored.
#include "train/checkpoints/increments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/testing/test_cluster.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "train/checkpoints/checkpoint_saver.h"
#include "train/checkpoints/increment_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class IncrementsTest : public testing::Test {
 protected:
  std::string Path() const { return dir_.path() + "/model"; }
  std::string Full(int64_t step) const { return StrCat(Path(), "-", step); }
  std::string Increment(int64_t step) const { return StrCat(dir_.path(), "/.incremental_checkpoint/model-", step); }
  static std::vector<int64_t> Ints(const std::string& checkpoint, const std::string& tensor) {
    const auto reader = CheckpointReader::Open(checkpoint);
    if (!reader.ok()) return {-1};
    const auto values = (*reader)->GetTensor(tensor);
    if (!values.ok()) return {-2};
    return {values->data<int64_t>().begin(), values->data<int64_t>().end()};
  }
  static int64_t Key(size_t number) { return TableModel::AllKeys()[number]; }
  TempDir dir_;
};

TEST_F(IncrementsTest, AnIncrementHoldsWhatHasChanged) {
  TableModel m;
  m.Train({1, 2, 3, 4});
  EXPECT_EQ(m.SaveIncrement(Path()).value(), Full(1)) << "the first save is a full one";
  m.Train({3, 7});
  ASSERT_EQ(m.SaveIncrement(Path()).value(), Increment(2));
  EXPECT_THAT(Ints(Increment(2), "emb-keys"), UnorderedElementsAre(Key(3), Key(7)));
  EXPECT_THAT(Ints(Increment(2), "emb/Adagrad-keys"), UnorderedElementsAre(Key(3), Key(7)));
  EXPECT_THAT(Ints(Increment(2), "emb-keys_deleted"), SizeIs(0));
  EXPECT_THAT(Ints(Increment(2), "emb-versions"), ElementsAre(1, 1));
  EXPECT_EQ(CheckpointReader::Open(Increment(2)).value()->GetTensor("dense")->num_elements(), 3);
  EXPECT_EQ(CheckpointReader::Open(Increment(2)).value()->GetTensor("global_step")->scalar<int64_t>(), 2);
  m.Train({9});
  ASSERT_EQ(m.SaveIncrement(Path()).value(), Increment(3));
  EXPECT_THAT(Ints(Increment(3), "emb-keys"), ElementsAre(Key(9)));
  const IncrementLink link = ReadLink(Increment(3)).value();
  EXPECT_EQ(link.full, "model-1");
  EXPECT_EQ(link.predecessor, "model-2");
  EXPECT_EQ(link.number, 2);
  // An increment of nothing.
  EXPECT_EQ(m.SaveIncrement(Path()).value(), Increment(3) + "-1");
  EXPECT_THAT(Ints(Increment(3) + "-1", "emb-keys"), SizeIs(0));
  EXPECT_EQ(LatestCheckpoint(dir_.path()).value(), Full(1));
  EXPECT_EQ(LatestCheckpoint(dir_.path() + "/.incremental_checkpoint").value(), Increment(3) + "-1");
}

TEST_F(IncrementsTest, AnIncrementHoldsTheChangedRowsOfAVariable) {
  TableModel m;
  m.Train({1, 2, 3});
  ASSERT_TRUE(m.Save(Path()).ok());
  m.Train({3, 7});
  ASSERT_EQ(m.SaveIncrement(Path()).value(), Increment(2));
  const auto saved = CheckpointReader::Open(Increment(2)).value();
  for (const std::string name : {"fixed", "fixed/Adagrad"}) {
    EXPECT_FALSE(saved->HasTensor(name));
    EXPECT_THAT(Ints(Increment(2), name + "-changed_rows-0"), ElementsAre(3, 7));
    EXPECT_EQ(saved->GetTensor(name + "-changed_values-0")->shape(), Shape({2, 2}));
  }
  m.Train({9});
  ASSERT_EQ(m.SaveIncrement(Path()).value(), Increment(3));
  EXPECT_THAT(Ints(Increment(3), "fixed-changed_rows-0"), ElementsAre(9));
  EXPECT_THAT(ContentText(Increment(3)), HasSubstr("1 rows of growing tables, 2 rows of other variables"));
  TableModel other;
  ASSERT_TRUE(RestoreLatest(*other.saver, *other.session, dir_.path()).value());
  EXPECT_EQ(other.State(), m.State());
  // What was restored counts as saved.
  other.Train({11});
  ASSERT_EQ(other.SaveIncrement(Path()).value(), Increment(4));
  EXPECT_THAT(Ints(Increment(4), "fixed-changed_rows-0"), ElementsAre(11));
}

TEST_F(IncrementsTest, AVariableThatChangesAsAWholeIsSavedAsAWhole) {
  TableModel m;
  m.Train({1, 2, 3});
  ASSERT_TRUE(m.Save(Path()).ok());
  m.Train({3});
  ASSERT_TRUE(m.session->Run({m.assign_fixed}).ok());
  m.Train({7});
  ASSERT_EQ(m.SaveIncrement(Path()).value(), Increment(3));
  const auto saved = CheckpointReader::Open(Increment(3)).value();
  EXPECT_THAT(Ints(Increment(3), "fixed-changed_rows-0"), SizeIs(0));
  EXPECT_EQ(saved->GetTensor("fixed-changed_values-0")->shape(), Shape({TableModel::kKeys, 2}));
  EXPECT_THAT(Ints(Increment(3), "fixed/Adagrad-changed_rows-0"), ElementsAre(3, 7)) << "the slot changed by rows";
  m.Train({9});
  ASSERT_EQ(m.SaveIncrement(Path()).value(), Increment(4));
  EXPECT_THAT(Ints(Increment(4), "fixed-changed_rows-0"), ElementsAre(9));
  // Half of all rows is more than the whole is worth.
  std::vector<int64_t> many;
  for (int64_t i = 0; i <= TableModel::kKeys / 2; ++i) many.push_back(i);
  m.Train(many);
  ASSERT_EQ(m.SaveIncrement(Path()).value(), Increment(5));
  EXPECT_THAT(Ints(Increment(5), "fixed-changed_rows-0"), SizeIs(0));
  m.Train({4});
  ASSERT_EQ(m.SaveIncrement(Path()).value(), Increment(6));
  EXPECT_THAT(Ints(Increment(6), "fixed-changed_rows-0"), ElementsAre(4));
  TableModel other;
  for (int64_t step = 3; step <= 6; ++step) ASSERT_TRUE(other.saver->Restore(*other.session, Increment(step)).ok());
  EXPECT_EQ(other.State(), m.State());
}

TEST_F(IncrementsTest, RowsAreRestoredIntoAnyParts) {
  constexpr int64_t kDim = 2000;  // so that the increments are smaller than the full checkpoint
  const auto run = [&](int64_t parts, const std::vector<int64_t>& rows) -> std::vector<float> {
    Graph g;
    const PartitionedVariable table(g, {20, kDim}, Ones(), FixedSizePartitioner(parts), {.name = "fixed"});
    const Output ids = Placeholder(g, kInt64, {-1});
    const Operation train = GradientDescentOptimizer(0.5).Minimize(ReduceSum(nn::EmbeddingLookup(table, ids)));
    Saver saver(g, {.incremental = true});
    const Operation initialize = GlobalVariablesInitializer(g);
    EXPECT_TRUE(g.status().ok()) << g.status();
    auto session = Session::Create(g).value();
    EXPECT_TRUE(session->Run({initialize}).ok());
    const bool restored = RestoreLatest(saver, *session, dir_.path()).value();
    if (!rows.empty()) {
      if (!restored) {
        EXPECT_TRUE(saver.Save(*session, Path()).ok());
      }
      EXPECT_TRUE(session->Run({train}, {{ids, Tensor::Vector(rows)}}).ok());
      const auto increment = saver.SaveIncrement(*session, Path());
      EXPECT_TRUE(increment.ok() && IsIncrement(*increment)) << increment.status();
      EXPECT_FALSE(CheckpointReader::Open(*increment).value()->HasTensor("fixed"));
    }
    const Tensor value = session->Run({table.AsTensor()}).value()[0];
    return {value.data<float>().begin(), value.data<float>().end()};
  };
  run(3, {0, 6, 7, 19});
  // More than half of the rows of the first part have changed, so it is saved as a whole.
  run(2, {0, 1, 2, 3, 4, 5, 18});
  const auto saved = run(1, {19});
  EXPECT_EQ(saved[0], 0.0f);
  EXPECT_EQ(saved[kDim * 19], 0.0f);
  EXPECT_EQ(saved[kDim * 7], 0.5f);
  EXPECT_EQ(saved[kDim * 8], 1.0f);
  for (const int64_t parts : {1, 2, 3, 4}) EXPECT_EQ(run(parts, {}), saved) << parts;
}

TEST_F(IncrementsTest, ARestoreFollowsTheChain) {
  TableModel m;
  std::vector<std::vector<float>> states;
  ASSERT_TRUE(m.Save(Path()).ok());
  for (int64_t i = 1; i <= 4; ++i) {
    m.Train({i, i * i, 50});
    ASSERT_EQ(m.SaveIncrement(Path()).value(), Increment(i));
    states.push_back(m.State());
  }
  TableModel other;
  ASSERT_TRUE(RestoreLatest(*other.saver, *other.session, dir_.path()).value());
  EXPECT_EQ(other.State(), states[3]);
  EXPECT_EQ(other.saver->last_saved(), Increment(4));
  // An increment can be named. The chain then continues from there.
  ASSERT_TRUE(other.saver->Restore(*other.session, Increment(2)).ok());
  EXPECT_EQ(other.State(), states[1]);
  other.Train({60});
  ASSERT_EQ(other.SaveIncrement(Path()).value(), Increment(3));
  EXPECT_THAT(Ints(Increment(3), "emb-keys"), ElementsAre(Key(60)));
  ASSERT_TRUE(m.saver->Restore(*m.session, Full(0)).ok());
  EXPECT_EQ(m.State(), other.State());
}

TEST_F(IncrementsTest, ChangesAfterARestoreAreInTheNextIncrement) {
  {
    TableModel m;
    m.Train({1, 2});
    ASSERT_TRUE(m.Save(Path()).ok());
    m.Train({3});
    ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  }
  TableModel m;
  ASSERT_TRUE(RestoreLatest(*m.saver, *m.session, dir_.path()).value());
  m.Train({2, 4});
  ASSERT_EQ(m.SaveIncrement(Path()).value(), Increment(3));
  EXPECT_THAT(Ints(Increment(3), "emb-keys"), UnorderedElementsAre(Key(2), Key(4)));
  EXPECT_EQ(ReadLink(Increment(3))->number, 2);
  TableModel other;
  ASSERT_TRUE(RestoreLatest(*other.saver, *other.session, dir_.path()).value());
  EXPECT_EQ(other.State(), m.State());
}

TEST_F(IncrementsTest, AnyNumberOfPartsContinuesAChain) {
  std::vector<float> rows;
  int64_t n = 0;
  for (const int64_t parts : {2, 3, 1, 2}) {
    TableModel m({.parts = parts});
    if (n > 0) {
      ASSERT_TRUE(RestoreLatest(*m.saver, *m.session, dir_.path()).value());
      auto restored = m.State();
      restored.resize(rows.size());
      EXPECT_EQ(restored, rows) << parts;
    }
    m.Train({n, n + 1, 100});
    EXPECT_EQ(m.SaveIncrement(Path()).value(), n == 0 ? Full(1) : Increment(n + 1));
    rows = m.State();
    if (parts == 1) rows.resize(rows.size() - 2 * TableModel::kKeys);  // the slot
    ++n;
  }
}

TEST_F(IncrementsTest, AHoleIsAnErrorThatSaysWhatToDo) {
  TableModel m;
  ASSERT_TRUE(m.Save(Path()).ok());
  for (int64_t i = 1; i <= 3; ++i) {
    m.Train({i});
    ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  }
  ASSERT_TRUE(RemoveCheckpoint(Increment(2)).ok());
  TableModel other;
  other.Train({9});
  const auto before = other.State();
  const Status status = RestoreLatest(*other.saver, *other.session, dir_.path()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("the increment '" + Increment(3) + "' holds what has changed since '" + Increment(2)),
                    HasSubstr("is gone: put"), HasSubstr("remove '" + Increment(3) + ".index'")));
  EXPECT_EQ(other.State(), before);
  // What the message proposes works.
  ASSERT_TRUE(RemoveCheckpoint(Increment(3)).ok());
  EXPECT_TRUE(RestoreLatest(*other.saver, *other.session, dir_.path()).ok());
  EXPECT_EQ(other.saver->last_saved(), Increment(1));
}

TEST_F(IncrementsTest, AnotherCheckpointOfTheSameNameIsNotContinued) {
  TableModel m;
  m.Train({1});
  ASSERT_TRUE(m.Save(Path()).ok());
  m.Train({2});
  ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  TableModel other;
  other.Train({5, 6});
  ASSERT_EQ(other.Save(Path()).value(), Full(1));
  ASSERT_TRUE(m.saver->Restore(*m.session, Full(1)).ok());
  EXPECT_EQ(m.State(), other.State());
  const Status named = m.saver->Restore(*m.session, Increment(2));
  EXPECT_THAT(std::string(named.message()), HasSubstr("was replaced by another one"));
}

TEST_F(IncrementsTest, ADamagedIncrementEndsTheChainBeforeIt) {
  TableModel m;
  ASSERT_TRUE(m.Save(Path()).ok());
  m.Train({1});
  ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  const auto saved = m.State();
  for (int64_t i = 2; i <= 3; ++i) {
    m.Train({i});
    ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  }
  const auto files = MatchingPaths(Increment(2) + ".*").value();
  EXPECT_GE(files.size(), 2u);
  for (const std::string& path : files) {
    std::string bytes = ReadFile(path).value();
    bytes[bytes.size() / 2] ^= 1;
    ASSERT_TRUE(WriteFile(path, bytes).ok());
    TableModel other;
    ASSERT_TRUE(RestoreLatest(*other.saver, *other.session, dir_.path()).value());
    EXPECT_EQ(other.State(), saved) << path;
    bytes[bytes.size() / 2] ^= 1;
    ASSERT_TRUE(WriteFile(path, bytes).ok());
  }
}

TEST_F(IncrementsTest, AFullCheckpointIsSavedAfterManyIncrements) {
  TableModel m;
  ASSERT_TRUE(m.Save(Path()).ok());
  // The full checkpoint has more bytes than 64 increments that are empty.
  std::vector<int64_t> many;
  for (int64_t i = 0; i < 20'000; ++i) many.push_back(i);
  ASSERT_TRUE(m.session->Run({m.train}, {{m.keys, Tensor::Vector(many)}}).ok());
  ASSERT_EQ(m.Save(Path()).value(), Full(1));
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(IsIncrement(m.SaveIncrement(Path()).value())) << i;
  EXPECT_EQ(ReadLink(m.saver->last_saved())->number, 64);
  EXPECT_EQ(m.SaveIncrement(Path()).value(), Full(1));
  EXPECT_TRUE(IsIncrement(m.SaveIncrement(Path()).value()));
  // The increments of the checkpoint that was replaced are not restored.
  TableModel other;
  ASSERT_TRUE(other.saver->Restore(*other.session, Full(1)).ok());
  EXPECT_EQ(ReadLink(other.saver->last_saved())->number, 1);
}

TEST_F(IncrementsTest, AFullCheckpointIsSavedAfterManyBytesOfIncrements) {
  TableModel m;
  ASSERT_TRUE(m.Save(Path()).ok());
  std::vector<int64_t> many;
  for (int64_t i = 0; i < 5'000; ++i) many.push_back(i);
  ASSERT_TRUE(m.session->Run({m.train}, {{m.keys, Tensor::Vector(many)}}).ok());
  EXPECT_EQ(m.SaveIncrement(Path()).value(), Increment(1)) << "larger than the full one";
  m.Train({1});
  EXPECT_EQ(m.SaveIncrement(Path()).value(), Full(2));
  m.Train({1});
  EXPECT_EQ(m.SaveIncrement(Path()).value(), Increment(3));
}

TEST_F(IncrementsTest, OldIncrementsAreRemovedWithTheirFullCheckpoint) {
  TableModel m({.max_to_keep = 2});
  ASSERT_TRUE(m.Save(Path()).ok());
  for (int64_t i = 1; i <= 6; ++i) {
    m.Train({i});
    ASSERT_TRUE((i % 2 == 0 ? m.Save(Path()) : m.SaveIncrement(Path())).ok());
  }
  // Full checkpoints at 0, 2, 4 and 6, of which the last two are kept.
  for (const int64_t step : {1, 3}) EXPECT_FALSE(CheckpointExists(Increment(step))) << step;
  EXPECT_TRUE(CheckpointExists(Increment(5)));
  m.Train({7});
  ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  EXPECT_THAT(ListIncrements(Path()), ElementsAre(Increment(5), Increment(7)));
  // The older full checkpoint still has its increment.
  TableModel other;
  ASSERT_TRUE(other.saver->Restore(*other.session, Full(4)).ok());
  EXPECT_EQ(other.Step(), 5);
}

TEST_F(IncrementsTest, OtherSaversSeeFullCheckpointsOnly) {
  TableModel m;
  m.Train({1});
  ASSERT_TRUE(m.Save(Path()).ok());
  const auto saved = m.State();
  m.Train({2});
  ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  const auto full = CheckpointReader::Open(Full(1)).value();
  for (const auto& t : full->tensors()) {
    EXPECT_EQ(t.name.find("increment"), std::string::npos) << t.name;
  }
  Graph& g = m.g;
  Saver plain(g, {.name = "plain"});
  EXPECT_FALSE(plain.incremental());
  // A save of another saver does not take the changes.
  m.Train({3});
  ASSERT_TRUE(plain.Save(*m.session, dir_.path() + "/other").ok());
  ASSERT_EQ(m.SaveIncrement(Path()).value(), Increment(3));
  EXPECT_THAT(Ints(Increment(3), "emb-keys"), ElementsAre(Key(3)));
  EXPECT_THAT(std::string(plain.SaveIncrement(*m.session, Path()).status().message()),
              HasSubstr("SaverOptions::incremental"));
  EXPECT_THAT(std::string(plain.Restore(*m.session, Increment(3)).message()), HasSubstr("is an increment"));
  testing::internal::CaptureStderr();
  ASSERT_TRUE(plain.Restore(*m.session, Full(1)).ok());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("up to '" + Increment(3) + "', are not restored"));
  EXPECT_EQ(m.State(), saved);
  // The other restore has replaced the rows, so no save knows what has changed.
  m.Train({4});
  EXPECT_EQ(m.SaveIncrement(Path()).value(), Full(2));
}

TEST_F(IncrementsTest, AWarmStartFollowsTheChain) {
  TableModel m;
  m.Train({1, 2});
  ASSERT_TRUE(m.Save(Path()).ok());
  m.Train({2, 7});
  ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  const auto first = m.State();
  m.Train({7, 9});
  ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  const auto state_after = [&](const std::string& checkpoint) -> std::vector<float> {
    TableModel other;
    const auto session = MonitoredTrainingSession(other.g, {.warm_start_from = checkpoint});
    if (!session.ok()) ADD_FAILURE() << session.status();
    return session.ok() ? other.State((*session)->session()) : std::vector<float>();
  };
  EXPECT_EQ(state_after(Full(1)), m.State());
  EXPECT_EQ(state_after(Increment(2)), first);
  ASSERT_TRUE(RemoveCheckpoint(Increment(2)).ok());
  TableModel other;
  const Status hole = MonitoredTrainingSession(other.g, {.warm_start_from = Full(1)}).status();
  EXPECT_THAT(std::string(hole.message()), HasSubstr("is gone: put"));
}

TEST_F(IncrementsTest, ASessionThatSavesNoIncrementsRestoresThem) {
  TableModel m;
  m.Train({1, 2});
  ASSERT_TRUE(m.Save(Path()).ok());
  m.Train({2, 7});
  ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  for (const auto& every : {std::optional<std::chrono::milliseconds>(), {std::chrono::hours(1)}}) {
    TableModel other;
    const auto session =
        MonitoredTrainingSession(other.g, {.checkpoint_dir = dir_.path(), .save_increment_every = every});
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ(other.State((*session)->session()), m.State());
  }
}

TEST_F(IncrementsTest, ATableThatHasTheRowsOfAChosenCheckpointFollowsItsChain) {
  // The rows after a restore of a table that always takes those of `chosen`.
  const auto restored = [&](const std::string& chosen, bool incremental) -> std::vector<float> {
    Graph g;
    const EmbeddingVariable table(g, 2,
                                  {.name = "emb", .partitioner = FixedSizePartitioner(2), .restore_from = chosen});
    const Output rows = nn::EmbeddingLookup(table, Const(g, Tensor::Vector(TableModel::AllKeys())));
    Saver saver(g, {.incremental = incremental});
    auto session = Session::Create(g).value();
    EXPECT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
    const Status status = saver.Restore(*session, saver.Save(*session, dir_.path() + "/own/model").value());
    EXPECT_TRUE(status.ok()) << status;
    const Tensor values = session->Run({rows}).value()[0];
    return {values.data<float>().begin(), values.data<float>().end()};
  };
  TableModel m;
  const auto rows = [&] {
    const auto state = m.State();
    return std::vector<float>(state.begin() + 1, state.begin() + 1 + 2 * TableModel::kKeys);
  };
  m.Train({1, 2});
  ASSERT_TRUE(m.Save(Path()).ok());
  const auto full = rows();
  EXPECT_EQ(restored(Full(1), false), full);
  m.Train({2, 7});
  ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  const auto first = rows();
  m.Train({7, 9});
  ASSERT_TRUE(m.SaveIncrement(Path()).ok());
  for (const bool incremental : {false, true}) {
    EXPECT_EQ(restored(Full(1), incremental), rows());
    EXPECT_EQ(restored(Increment(2), incremental), first);
  }
}

TEST_F(IncrementsTest, AnInitializedTableIsSavedInFull) {
  TableModel m;
  m.Train({1});
  ASSERT_TRUE(m.Save(Path()).ok());
  ASSERT_TRUE(m.session->Run({m.initialize}).ok());
  m.Train({2});
  m.Train({2});
  EXPECT_EQ(m.SaveIncrement(Path()).value(), Full(2));
  m.Train({3});
  EXPECT_EQ(m.SaveIncrement(Path()).value(), Increment(3));
}

TEST_F(IncrementsTest, ASessionSavesIncrementsAndContinuesFromThem) {
  const auto graph = [](Graph& g, Output* keys, Variable* dense) {
    const Variable step = GetOrCreateGlobalStep(g);
    *keys = Placeholder(g, kInt64, {-1});
    const EmbeddingVariable table(g, 2, {.name = "emb"});
    *dense = Variable(g, {}, Zeros(), {.name = "dense"});
    return GradientDescentOptimizer(1.0).Minimize(ReduceSum(nn::EmbeddingLookup(table, *keys)) - dense->value(),
                                                  {.global_step = step});
  };
  const auto run = [&](int steps, float expected) {
    Graph g;
    Output keys;
    Variable dense;
    const Operation train = graph(g, &keys, &dense);
    auto session =
        MonitoredTrainingSession(g, {.checkpoint_dir = dir_.path(), .save_increment_every = std::chrono::seconds(0)});
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ((*session)->Run({dense}).value()[0].scalar<float>(), expected);
    for (int i = 0; i < steps; ++i) {
      ASSERT_TRUE((*session)->Run({train}, {{keys, Tensor::Vector<int64_t>({i})}}).ok());
    }
    // A step that fails ends the session without a last checkpoint, as if its process was killed.
    EXPECT_FALSE((*session)->Run({train}).ok());
  };
  run(3, 0);
  const std::string increments = dir_.path() + "/.incremental_checkpoint";
  EXPECT_EQ(LatestCheckpoint(dir_.path()).value(), dir_.path() + "/model.ckpt-0");
  EXPECT_EQ(LatestCheckpoint(increments).value(), increments + "/model.ckpt-3");
  run(2, 3);
  EXPECT_EQ(LatestCheckpoint(dir_.path()).value(), dir_.path() + "/model.ckpt-0") << "no full one at the start";
  run(0, 5);
  EXPECT_EQ(ReadLink(increments + "/model.ckpt-5")->number, 5);
}

TEST_F(IncrementsTest, AHookNeedsAnIncrementalSaver) {
  Graph g;
  const Variable step = GetOrCreateGlobalStep(g);
  const Variable v(g, {}, Zeros(), {.name = "v"});
  auto saver = std::make_shared<Saver>(g);
  auto hook = CheckpointSaver(dir_.path(), {.increment_every = std::chrono::seconds(1), .saver = saver});
  const auto session = MonitoredTrainingSession(g, {.hooks = {hook}});
  EXPECT_THAT(std::string(session.status().message()), HasSubstr("needs a saver with SaverOptions::incremental"));
}

}  // namespace
}  // namespace tensorbraid
