#include "runtime/variables/row_stripes.h"

#include <array>
#include <numeric>
#include <vector>

namespace tensorbraid::cpu {
namespace {

void Lock(std::span<RowLocks* const> tables, int stripe) TB_NO_THREAD_SAFETY_ANALYSIS {
  for (RowLocks* table : tables) table->stripe(stripe).Lock();
}

void Unlock(std::span<RowLocks* const> tables, int stripe) TB_NO_THREAD_SAFETY_ANALYSIS {
  for (RowLocks* table : tables) table->stripe(stripe).Unlock();
}

}  // namespace

void VisitByStripe(ThreadPool& pool, std::span<const int64_t> rows, std::span<RowLocks* const> tables, double cost_ns,
                   absl::FunctionRef<void(std::span<const int64_t>)> visit) {
  std::vector<int64_t> numbers(rows.size());
  if (tables.empty()) {
    std::iota(numbers.begin(), numbers.end(), int64_t{0});
    return visit(numbers);
  }
  // A counting sort: the numbers of stripe s end up in [begin[s], begin[s + 1]). The sizes of the stripes are counted
  // two places further on. So after the partial sum, begin[s + 1] is the start of stripe s. Each number of the stripe
  // that is placed advances begin[s + 1], up to the end of the stripe.
  constexpr size_t kStripes = RowLocks::kStripes;
  const RowLocks& table = *tables[0];
  std::array<size_t, kStripes + 2> begin{};
  for (const int64_t row : rows) ++begin[static_cast<size_t>(table.StripeOf(row)) + 2];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  for (size_t i = 0; i < rows.size(); ++i) {
    numbers[begin[static_cast<size_t>(table.StripeOf(rows[i])) + 1]++] = static_cast<int64_t>(i);
  }
  const double cost_of_stripe = cost_ns * static_cast<double>(rows.size()) / kStripes;
  pool.ParallelFor(kStripes, cost_of_stripe, [&](int64_t first, int64_t last) {
    for (auto s = static_cast<size_t>(first); s < static_cast<size_t>(last); ++s) {
      const std::span<const int64_t> of_stripe(numbers.data() + begin[s], begin[s + 1] - begin[s]);
      if (of_stripe.empty()) continue;
      Lock(tables, static_cast<int>(s));
      visit(of_stripe);
      Unlock(tables, static_cast<int>(s));
    }
  });
}

void UpdateByStripe(ThreadPool& pool, std::span<const int64_t> rows, std::span<RowLocks* const> tables, double cost_ns,
                    absl::FunctionRef<void(std::span<const int64_t>)> update) {
  VisitByStripe(pool, rows, tables, cost_ns, [&](std::span<const int64_t> numbers) {
    for (RowLocks* table : tables) {
      if (table->recorded() == nullptr) continue;
      for (const int64_t i : numbers) table->Changed(rows[static_cast<size_t>(i)]);
    }
    update(numbers);
  });
}

}  // namespace tensorbraid::cpu
