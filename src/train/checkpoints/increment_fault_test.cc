// Tests saves of increments while files fail in every way and at every operation. A restore gives a state that was
// saved, and what a failed save had taken is in the next increment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "cluster/testing/test_cluster.h"
#include "train/checkpoints/checkpoint_saver.h"
#include "train/checkpoints/fault_cases_testutil.h"
#include "train/checkpoints/increment_testutil.h"
#include "train/checkpoints/increments.h"

namespace tensorbraid {
namespace {

using Fault = FaultyFiles::Fault;

// The parameters are the fault, whether two parameter servers have the table, and whether the save with the fault is a
// full one, which ends a chain.
class IncrementFaultTest : public testing::TestWithParam<FaultParam> {
 protected:
  const FaultCase& fault() const { return std::get<0>(GetParam()); }
  bool on_servers() const { return std::get<1>(GetParam()); }
  bool full() const { return std::get<2>(GetParam()); }

  std::unique_ptr<TableModel> Make() {
    if (!on_servers()) return std::make_unique<TableModel>();
    return std::make_unique<TableModel>(
        TableModel::Options{.parts = 2, .servers = 2, .target = cluster_.worker_target()});
  }
  // Restores the latest checkpoint of the directory, with its increments, in another session.
  std::vector<float> Restored() {
    if (other_ == nullptr) other_ = Make();  // it is made once, which saves time
    const auto restored = RestoreLatest(*other_->saver, *other_->session, dir_);
    EXPECT_TRUE(restored.ok() && *restored) << restored.status();
    return other_->State();
  }

  // Saves a full checkpoint and two increments, and then once more with the fault at change `n`. Returns whether that
  // save had so many changes.
  bool SaveWithFaultAt(int n) {
    if (model_ == nullptr) model_ = Make();
    TableModel& m = *model_;
    const std::string path = dir_ + "/model";
    EXPECT_TRUE(m.session->Run({m.initialize}).ok());
    m.Train({1, 2, 3});
    EXPECT_TRUE(m.Save(path).ok());
    for (const int64_t key : {4, 5}) {
      m.Train({2, key});
      const auto saved = m.SaveIncrement(path);
      EXPECT_TRUE(saved.ok() && IsIncrement(*saved)) << saved.status();
    }
    const auto before = m.State();
    m.Train({2, 6});
    const auto after = m.State();
    EXPECT_TRUE(!fault().power_loss || files_.SyncDirectory("/").ok());
    files_.FailAt(fault().fault, n);
    const auto saved = full() ? m.Save(path) : m.SaveIncrement(path);
    const bool fired = files_.fired();
    files_.Repair();
    if (fault().power_loss && fired) files_.LosePower(*fault().power_loss);
    const bool ended = fault().fault == Fault::kKilled;
    // On servers, the two programs share the table, so a restore by the other one would replace the rows of this one.
    const auto restored = ended || !on_servers() ? Restored() : saved.ok() ? after : before;
    EXPECT_TRUE(restored == after || (restored == before && !saved.ok())) << saved.status();
    EXPECT_TRUE(saved.ok() || fired) << saved.status();

    // The next save. If the process has ended, another one makes it, after it has restored the state.
    TableModel& next = ended ? *other_ : m;
    next.Train({7, 8});
    const auto increment = next.SaveIncrement(path);
    EXPECT_TRUE(increment.ok()) << increment.status();
    // If the list of full checkpoints could not be written, nobody knows which one a restore takes.
    EXPECT_TRUE(full() || IsIncrement(increment.value_or(""))) << increment.value_or("");
    const auto state = next.State();
    EXPECT_EQ(Restored(), state);
    for (const std::string& file : files_.Files()) EXPECT_TRUE(files_.RemoveFile(file).ok());  // else it becomes slow
    return fired;
  }

  FaultyFiles files_;
  ScopedEnv env_{&files_};
  TestCluster cluster_{2, 1};
  std::string dir_;
  std::unique_ptr<TableModel> model_, other_;
};

TEST_P(IncrementFaultTest, ARestoreGivesAStateThatWasSaved) {
  // A save creates, appends to, syncs and renames at least three files: the data, the index and `checkpoint`.
  ForEachChange(12, &dir_, [this](int n) { return SaveWithFaultAt(n); });
}

std::string IncrementFaultName(const testing::TestParamInfo<FaultParam>& info) {
  return FaultName(info.param, "Servers", "Local", "Full");
}

INSTANTIATE_TEST_SUITE_P(Errors, IncrementFaultTest,
                         testing::Combine(testing::ValuesIn(kFileErrors), testing::Bool(), testing::Bool()),
                         IncrementFaultName);
INSTANTIATE_TEST_SUITE_P(Ends, IncrementFaultTest,
                         testing::Combine(testing::ValuesIn(kProcessEnds), testing::Bool(), testing::Bool()),
                         IncrementFaultName);

}  // namespace
}  // namespace tensorbraid
