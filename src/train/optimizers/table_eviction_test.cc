// Tests growing tables that evict rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "cluster/testing/test_cluster.h"
#include "core/system/clock.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Le;
using ::testing::UnorderedElementsAre;

// A training in which the gradient of each number of a row is 1. Rows begin with 2.
struct Evicting {
  Evicting(const TableEviction& evict, int parts, const DeviceFunction& device = nullptr)
      : Evicting(evict, parts, device, 1, AdagradOptimizer(0.5)) {}
  Evicting(const TableEviction& evict, int parts, const DeviceFunction& device, int width, Optimizer&& rule) {
    auto place = g.Device(device ? device : [](const Operation&) { return std::string(); });
    table = EmbeddingVariable(
        g, width,
        {.name = "ids", .initializer = Constant(2), .partitioner = FixedSizePartitioner(parts), .evict = evict});
    keys = Placeholder(g, kInt64, {-1});
    rows = nn::EmbeddingLookup(table, keys);
    train = rule.Minimize(ReduceSum(rows), {.global_step = GetOrCreateGlobalStep(g)});
    count = table.NumRows();
    init = GlobalVariablesInitializer(g);
    saver = std::make_unique<Saver>(g, SaverOptions{.incremental = true});
  }
  Status Start(const std::string& target = "") {
    TF_RETURN_IF_ERROR(g.status());
    TF_ASSIGN_OR_RETURN(session, Session::Create(g, {.target = target}));
    return session->Run({init}).status();
  }
  std::vector<float> Lookup(const std::vector<int64_t>& of) {
    const auto got = session->Run({rows}, {{keys, Tensor::Vector(of)}});
    if (!got.ok()) return {};
    return {got->at(0).data<float>().begin(), got->at(0).data<float>().end()};
  }
  void Step(const std::vector<int64_t>& of) {
    const Status status = session->Run({train}, {{keys, Tensor::Vector(of)}}).status();
    ASSERT_TRUE(status.ok()) << status;
  }
  int64_t NumRows() { return session->Run({count}).value()[0].scalar<int64_t>(); }

  Graph g;
  EmbeddingVariable table;
  Output keys, rows, count;
  Operation train, init;
  std::unique_ptr<Saver> saver;
  std::unique_ptr<Session> session;
};

std::vector<int64_t> Ints(const std::string& checkpoint, const std::string& tensor) {
  const auto reader = CheckpointReader::Open(checkpoint);
  if (!reader.ok()) return {-1};
  const auto values = (*reader)->GetTensor(tensor);
  if (!values.ok()) return {-2};
  return {values->data<int64_t>().begin(), values->data<int64_t>().end()};
}

TEST(TableEvictionTest, AFullSaveEvictsBeforeItWritesTheRows) {
  for (const bool on_servers : {false, true}) {
    SCOPED_TRACE(on_servers);
    const TempDir dir;
    TestCluster cluster(2, 1);
    Evicting t(
        {.steps_to_live = 3}, 2,
        on_servers ? ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = "/job:worker/task:0"}) : nullptr);
    const Status started = t.Start(on_servers ? cluster.worker_target() : "");
    ASSERT_TRUE(started.ok()) << started;
    t.Step({1, 4, -5});
    const std::vector<float> once = t.Lookup({1});
    for (int step = 1; step <= 4; ++step) t.Step({4, 1003});
    EXPECT_EQ(t.NumRows(), 4);
    const auto saved = t.saver->Save(*t.session, dir.path() + "/model");
    ASSERT_TRUE(saved.ok()) << saved.status();
    EXPECT_THAT(Ints(*saved, "ids/part_0-keys"), ElementsAre(4));
    EXPECT_THAT(Ints(*saved, "ids/part_1-keys"), ElementsAre(1003));
    EXPECT_EQ(t.NumRows(), 2);
    EXPECT_THAT(t.Lookup({1, -5}), ElementsAre(2, 2));
    t.Step({1});  // a new row, also of the slot
    EXPECT_EQ(t.Lookup({1}), once);
    EXPECT_EQ(t.NumRows(), 3);
  }
}

// A slot with one number for each row, beside rows of three.
TEST(TableEvictionTest, ANarrowSlotBeginsAnewWithItsRow) {
  const TempDir dir;
  Evicting t({.steps_to_live = 3}, 1, nullptr, 3, RowwiseAdagradOptimizer(0.5));
  ASSERT_TRUE(t.Start().ok());
  t.Step({1, 4});
  const std::vector<float> once = t.Lookup({1});
  for (int step = 1; step <= 4; ++step) t.Step({4});
  const std::vector<float> often = t.Lookup({4});
  ASSERT_TRUE(t.saver->Save(*t.session, dir.path() + "/model").ok());
  EXPECT_EQ(t.NumRows(), 1);
  EXPECT_THAT(t.Lookup({1}), ElementsAre(2, 2, 2));
  EXPECT_EQ(t.Lookup({4}), often);
  t.Step({1});  // it would move less if the slot had kept its sum
  EXPECT_EQ(t.Lookup({1}), once);
  Evicting other({.steps_to_live = 3}, 2, nullptr, 3, RowwiseAdagradOptimizer(0.5));
  ASSERT_TRUE(other.Start().ok());
  ASSERT_TRUE(other.saver->Restore(*other.session, dir.path() + "/model").ok());
  other.Step({1, 4});
  t.Step({4});
  EXPECT_EQ(other.Lookup({1, 4}), t.Lookup({1, 4}));
}

TEST(TableEvictionTest, ANarrowSlotCountsAsOneNumber) {
  const TempDir dir;
  Evicting t({.max_bytes = 4 * (24 + 3 * 4 + 4)}, 1, nullptr, 3, RowwiseAdagradOptimizer(0.5));
  ASSERT_TRUE(t.Start().ok());
  t.Step({1, 2, 3, 4});
  EXPECT_EQ(t.NumRows(), 4);
  t.Step({5, 6});
  ASSERT_TRUE(t.saver->Save(*t.session, dir.path() + "/model").ok());
  // If the eviction in the background comes first, it leaves three of the four rows that the table may have.
  EXPECT_THAT(t.NumRows(), AllOf(Ge(3), Le(4)));
  const std::vector<int64_t> keys = Ints(dir.path() + "/model", "ids/part_0-keys");
  EXPECT_THAT(keys, IsSupersetOf({5, 6})) << "the others were not updated for longer";
}

TEST(TableEvictionTest, IncrementsHaveTheEvictedKeys) {
  const TempDir dir;
  Evicting t({.max_rows = 4}, 1);
  ASSERT_TRUE(t.Start().ok());
  t.Step({1, 2});
  t.Step({3, 4});
  ASSERT_TRUE(t.saver->Save(*t.session, dir.path() + "/model").ok());
  t.Step({1});
  t.Step({5, 6});
  // The rows that were not updated for longest are evicted in the background.
  while (t.NumRows() > 4) {
  }
  EXPECT_EQ(t.Lookup({2})[0], 2);
  t.Step({7});
  while (t.NumRows() > 4) {
  }
  t.Step({2, 7});
  while (t.NumRows() > 4) {
  }
  const auto increment = t.saver->SaveIncrement(*t.session, dir.path() + "/model", {.global_step = 6});
  ASSERT_TRUE(increment.ok()) << increment.status();
  EXPECT_THAT(Ints(*increment, "ids/part_0-keys"), UnorderedElementsAre(2, 5, 6, 7));
  EXPECT_THAT(Ints(*increment, "ids/part_0-keys_deleted"), UnorderedElementsAre(1, 2, 3, 4));
  Evicting other({.max_rows = 4}, 3);
  ASSERT_TRUE(other.Start().ok());
  ASSERT_TRUE(other.saver->Restore(*other.session, dir.path() + "/model").ok());
  const std::vector<int64_t> all = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(other.Lookup(all), t.Lookup(all));
  EXPECT_EQ(other.NumRows(), 4);
}

TEST(TableEvictionTest, EachPartHasItsShareOfALimit) {
  const TempDir dir;
  Evicting t({.max_bytes = 8 * (24 + 2 * 4)}, 2);
  ASSERT_TRUE(t.Start().ok());
  t.Step({0, 2, 4, 6});
  EXPECT_EQ(t.NumRows(), 4);
  t.Step({10, 12, 1, 3});
  ASSERT_TRUE(t.saver->Save(*t.session, dir.path() + "/model").ok());
  // If the eviction in the background comes first, it leaves three of the four rows that the part may have.
  const size_t left = Ints(dir.path() + "/model", "ids/part_0-keys").size();
  EXPECT_THAT(left, AllOf(Ge(3u), Le(4u)));
  EXPECT_EQ(t.NumRows(), static_cast<int64_t>(left) + 2);
  EXPECT_THAT(Ints(dir.path() + "/model", "ids/part_1-keys"), ElementsAre(1, 3));
}

TEST(TableEvictionTest, ALimitThatIsNoneIsAMistake) {
  for (const TableEviction& evict :
       {TableEviction{.steps_to_live = -1}, TableEviction{.max_rows = -1}, TableEviction{.max_bytes = -1},
        TableEviction{.l2_threshold = std::numeric_limits<double>::quiet_NaN()}}) {
    Graph g;
    const EmbeddingVariable table(g, 2, {.name = "ids", .evict = evict});
    EXPECT_FALSE(table.valid());
    EXPECT_THAT(std::string(g.status().message()), HasSubstr("EmbeddingVariable 'ids'"));
    EXPECT_THAT(std::string(g.status().message()), HasSubstr("of its eviction"));
  }
}

}  // namespace
}  // namespace tensorbraid
