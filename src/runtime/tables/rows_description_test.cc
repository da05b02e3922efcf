#include "runtime/tables/rows_description.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

TableDifferences DifferencesOf(const RowsDescription& ours, const RowsDescription& theirs, TableUse use) {
  TableDifferences found;
  FindDifferences(ours, theirs, use, &found);
  return found;
}

// "OURS | THEIRS", or "" if the descriptions say the same.
std::string Compared(const RowsDescription& ours, const RowsDescription& theirs, TableUse use) {
  const TableDifferences found = DifferencesOf(ours, theirs, use);
  EXPECT_EQ(found.ours.size(), found.theirs.size());
  return found.ours.empty() ? "" : StrCat(StrJoin(found.ours, ", "), " | ", StrJoin(found.theirs, ", "));
}

RowsDescription Drawn(int64_t seed, bool of_graph = false) {
  return {.whole = "users",
          .first = {.distribution = "random_uniform(-1, 1)", .seed = seed, .seed_of_graph = of_graph}};
}

// A difference that counts for lookups and updates.
void ExpectAlways(const RowsDescription& ours, const RowsDescription& theirs, const std::string& text) {
  EXPECT_EQ(Compared(ours, theirs, TableUse::kLookup), text);
  EXPECT_EQ(Compared(ours, theirs, TableUse::kUpdate), text);
}

// A difference that counts for updates alone.
void ExpectInUpdates(const RowsDescription& ours, const RowsDescription& theirs, const std::string& text) {
  EXPECT_EQ(Compared(ours, theirs, TableUse::kLookup), "");
  EXPECT_EQ(Compared(ours, theirs, TableUse::kUpdate), text);
}

TEST(RowsDescriptionTest, EqualDescriptionsDoNotDiffer) {
  RowsDescription table = Drawn(7);
  table.filter_freq = 2;
  table.no_permission = std::numeric_limits<float>::quiet_NaN();
  table.evict.steps_to_live = 5;
  ExpectAlways(table, table, "");
  EXPECT_EQ(DifferencesOf(table, table, TableUse::kUpdate).drawn, "");
}

TEST(RowsDescriptionTest, Initializers) {
  RowsDescription other = Drawn(7);
  other.first.distribution = "constant(0)";
  other.first.seed.reset();
  ExpectAlways(Drawn(7), other, "the initializer random_uniform(-1, 1) | the initializer constant(0)");
  other = Drawn(7);
  other.first.matrix_rows = 8;
  ExpectAlways(Drawn(7), other,
               "the initializer random_uniform(-1, 1) | the initializer random_uniform(-1, 1) with "
               "default_value_dim=8");
  other.first = {.matrix_rows = 8, .matrix = 17};
  ExpectAlways(Drawn(7), other, "the initializer random_uniform(-1, 1) | a matrix of 8 initial rows");
  RowsDescription larger = other;
  larger.first.matrix_rows = 9;
  ExpectAlways(other, larger, "a matrix of 8 initial rows | a matrix of 9 initial rows");
}

TEST(RowsDescriptionTest, SeedsOfInitializers) {
  ExpectAlways(Drawn(7), Drawn(8), "seed 7 of its initializer | seed 8 of its initializer");
  ExpectAlways(Drawn(7), Drawn(8, /*of_graph=*/true), "seed 7 of its initializer | seed 8 of the graph");
  ExpectAlways(Drawn(7), Drawn(7, /*of_graph=*/true), "");
}

// Workers that give their graphs different seeds, so that they shuffle differently, are usual.
TEST(RowsDescriptionTest, SeedsOfGraphsAndNumbersOfMatricesMayDiffer) {
  ExpectAlways(Drawn(7, true), Drawn(8, true), "");
  EXPECT_EQ(DifferencesOf(Drawn(7, true), Drawn(8, true), TableUse::kLookup).drawn, "the graph has seed 8 and not 7");
  RowsDescription matrix, other;
  matrix.first = other.first = {.matrix_rows = 8, .matrix = 17};
  other.first.matrix = 18;
  ExpectAlways(matrix, other, "");
  EXPECT_EQ(DifferencesOf(matrix, other, TableUse::kLookup).drawn,
            "the numbers in its matrix of initial rows are others");
}

TEST(RowsDescriptionTest, Filters) {
  RowsDescription counting = Drawn(7), bloom = Drawn(7);
  counting.filter_freq = 2;
  bloom.filter_freq = 2;
  bloom.filter_keys = 1000;
  bloom.filter_error = 0.01f;
  ExpectAlways(counting, Drawn(7), "CounterFilter(filter_freq=2) | no filter");
  ExpectAlways(counting, bloom,
               "CounterFilter(filter_freq=2) | CBFFilter(filter_freq=2, max_element_size=1000, "
               "false_positive_probability=0.01)");
  RowsDescription other = counting;
  other.filter_freq = 3;
  ExpectAlways(counting, other, "CounterFilter(filter_freq=2) | CounterFilter(filter_freq=3)");
}

TEST(RowsDescriptionTest, ValuesWithoutPermissionCountWithAFilter) {
  RowsDescription zero = Drawn(7), one = Drawn(7);
  one.no_permission = 1;
  ExpectAlways(zero, one, "");
  zero.filter_freq = one.filter_freq = 2;
  ExpectAlways(zero, one, "default_value_no_permission=0 | default_value_no_permission=1");
}

TEST(RowsDescriptionTest, EvictionsCountForUpdates) {
  RowsDescription steps = Drawn(7), norm = Drawn(7), size = Drawn(7);
  steps.evict.steps_to_live = 5;
  norm.evict.l2_threshold = 0.5f;
  size.max_rows = 100;
  ExpectInUpdates(steps, Drawn(7), "GlobalStepEvict(steps_to_live=5) | no eviction");
  ExpectInUpdates(norm, size, "L2WeightEvict(l2_weight_threshold=0.5) | SizeEvict(max_rows=100)");
  size.max_bytes = 1000;
  size.evict.steps_to_live = 5;
  ExpectInUpdates(steps, size,
                  "GlobalStepEvict(steps_to_live=5) | GlobalStepEvict(steps_to_live=5) and SizeEvict(max_rows=100, "
                  "max_bytes=1000)");
}

TEST(RowsDescriptionTest, GradientsThatAreNotFiniteCountForUpdates) {
  RowsDescription skipping = Drawn(7);
  skipping.skip_not_finite = true;
  ExpectInUpdates(Drawn(7), skipping, "skip_not_finite=False | skip_not_finite=True");
}

TEST(RowsDescriptionTest, NamesOfTheWhole) {
  RowsDescription other = Drawn(7);
  other.whole = "users/part_0";
  ExpectAlways(Drawn(7), other, "the name 'users' | the name 'users/part_0'");
}

}  // namespace
}  // namespace tensorbraid
