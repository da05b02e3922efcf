#include "runtime/tables/eviction.h"

#include <algorithm>
#include <vector>

namespace tensorbraid {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

// The step so many steps before `newest`.
int64_t Before(int64_t newest, int64_t steps) {
  int64_t step = kNever;
  return __builtin_sub_overflow(newest, steps, &step) ? kNever : step;
}

// The rows that were not updated for longest: all with versions below `below`, and so many of those from there to
// before `end`.
struct LongestNotUpdated {
  int64_t below = kNever, end = kNever;
  int64_t also = 0;

  bool Has(int64_t version) {
    if (version < below) return true;
    if (version >= end || also == 0) return false;
    --also;
    return true;
  }
};

// Calls visit(small) for each small table, which is locked.
template <typename Visit>
void ForEach(TableRows& rows, const Visit& visit) {
  // Without columns to make, there is no error.
  rows.ForEachInOrder(
          {}, [&](int residue, SmallTable& small) { visit(residue, small); }, OkStatus)
      .IgnoreError();
}

// Which `excess` rows have to go. Counts the rows by version, in ranges of equal length if there are many versions.
LongestNotUpdated FindLongestNotUpdated(TableRows& rows, int64_t excess) {
  constexpr uint64_t kRanges = 1 << 16;
  int64_t oldest = std::numeric_limits<int64_t>::max(), newest = kNever;
  ForEach(rows, [&](int, SmallTable& small) TB_NO_THREAD_SAFETY_ANALYSIS {
    small.ForEachRow([&](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS {
      oldest = std::min(oldest, small.info(row).version);
      newest = std::max(newest, small.info(row).version);
    });
  });
  if (oldest > newest) return {};
  const auto since_oldest = [&](int64_t version) {
    return static_cast<uint64_t>(version) - static_cast<uint64_t>(oldest);
  };
  const uint64_t length = since_oldest(newest) / kRanges + 1;
  std::vector<int64_t> counts(kRanges);
  ForEach(rows, [&](int, SmallTable& small) TB_NO_THREAD_SAFETY_ANALYSIS {
    small.ForEachRow([&](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS {
      const int64_t version = std::clamp(small.info(row).version, oldest, newest);
      ++counts[since_oldest(version) / length];
    });
  });
  uint64_t range = 0;
  while (range + 1 < kRanges && counts[range] <= excess) excess -= counts[range++];
  const auto begin_of = [&](uint64_t r) {
    const uint64_t begin = std::min(r * length, since_oldest(newest) + 1);
    return static_cast<int64_t>(static_cast<uint64_t>(oldest) + begin);
  };
  return {.below = begin_of(range), .end = begin_of(range + 1), .also = excess};
}

float HalfSquares(std::span<const float> numbers) {
  float sum = 0;
  for (const float x : numbers) sum += x * x;
  return 0.5f * sum;
}

}  // namespace

int64_t EvictionRule::MostRows(int64_t numbers) const {
  int64_t most = std::numeric_limits<int64_t>::max();
  if (most_rows > 0) most = most_rows;
  if (most_bytes > 0) {
    const int64_t row = kBytesBeside + numbers * static_cast<int64_t>(sizeof(float));
    most = std::min(most, std::max<int64_t>(most_bytes / row, 1));
  }
  return most;
}

int64_t EvictRows(TableRows& rows, const EvictionRule& rule, int64_t most_rows, KeyCounts* counts) {
  const int64_t newest = rows.newest_step();
  const int64_t living = rule.steps_to_live > 0 ? Before(newest, rule.steps_to_live) : kNever;
  const int64_t spared = rule.l2_threshold >= 0 ? Before(newest, EvictionRule::kSparedSteps) : kNever;
  const auto dim = static_cast<size_t>(rows.dim());
  int64_t evicted = 0;
  const auto sweep = [&](const auto& goes) {
    ForEach(rows, [&](int residue, SmallTable& small) TB_NO_THREAD_SAFETY_ANALYSIS {
      small.ForEachRow([&](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS {
        const RowInfo info = small.info(row);
        if (!goes(info.version, small.numbers(0, row))) return;
        small.Erase(row);
        if (counts != nullptr) counts->Erase(info.key);
        ++evicted;
      });
      if (counts == nullptr || living == kNever) return;
      counts->EraseIf(residue, [&](const KeyCount& key) TB_NO_THREAD_SAFETY_ANALYSIS {
        return key.version < living && small.Find(key.key, KeyHash(key.key)) == RowIndex::kNone;
      });
    });
  };
  if (rule.by_age()) {
    sweep([&](int64_t version, const float* numbers) {
      return version < living || (version < spared && HalfSquares({numbers, dim}) < rule.l2_threshold);
    });
    rows.CountErased(evicted);
  }
  const int64_t by_age = evicted;
  if (const int64_t excess = rows.NumRows() - most_rows; excess > 0) {
    LongestNotUpdated longest = FindLongestNotUpdated(rows, excess);
    sweep([&](int64_t version, const float*) { return longest.Has(version); });
    rows.CountErased(evicted - by_age);
  }
  return evicted;
}

}  // namespace tensorbraid
