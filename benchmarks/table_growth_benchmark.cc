// Lets a growing table grow from no rows, by new keys only, and shows what its rows take and how long steps take.
//
//   table_growth_benchmark [ROWS]
//
// Rows (default: 20 million) have 16 numbers and a slot; a step makes 20,000 of them. The marks: the process takes at
// most 1.25 times the numbers and 24 bytes a row in the end, and 1.3 times that before; no step takes longer than 20
// times the median.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <vector>

#include "core/system/clock.h"
#include "core/threads/thread_pool.h"
#include "runtime/tables/table_rows.h"

namespace tensorbraid {
namespace {

constexpr int64_t kDim = 16, kStep = 20'000;

class Zeros final : public FirstRows {
 public:
  void Fill(int64_t, std::span<float> row) const override { std::fill(row.begin(), row.end(), 0.0f); }
};

// The memory of this process in bytes.
double ResidentBytes() {
  double all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

Status Measure(int64_t wanted) {
  ThreadPool pool("growth", 2);
  const double before = ResidentBytes();
  TableRows rows(kDim, 0, 1);
  const Zeros zeros;
  constexpr std::array columns = {0, 1};
  constexpr std::array initial = {0.0f, 0.1f};
  std::mt19937_64 random(1);
  std::vector<int64_t> keys(kStep);
  std::vector<double> ms;
  double most = 0, last = 0;  // bytes per row
  for (int64_t made = 0; made < wanted;) {
    for (int64_t& key : keys) key = static_cast<int64_t>(random());
    const TableRows::Visit visit{.keys = keys,
                                 .columns = columns,
                                 .absent = TableRows::Absent::kAdd,
                                 .rows = &zeros,
                                 .initial = initial,
                                 .cost_ns = 100,
                                 .write = true};
    const auto begin = MonotonicClock::now();
    TF_RETURN_IF_ERROR(rows.VisitKeys(pool, visit, [](std::span<const VisitedRow> visited) {
      for (const VisitedRow& row : visited) row.numbers[0][0] += row.numbers[1][0];
    }));
    const std::chrono::duration<double, std::milli> took = MonotonicClock::now() - begin;
    ms.push_back(took.count());
    made += kStep;
    last = (ResidentBytes() - before) / static_cast<double>(made);
    if (made >= wanted / 2) most = std::max(most, last);
  }
  const TableMemory memory = rows.Memory();
  const auto per_row = [&](int64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(memory.rows); };
  std::printf("%lld rows of %lld numbers and a slot\n", static_cast<long long>(memory.rows),
              static_cast<long long>(kDim));
  std::printf("  bytes per row of the process  %7.1f, at most %.1f in the second half; the mark is %.0f, and %.0f\n",
              last, most, 1.25 * per_row(memory.numbers) + 24, 1.3 * (1.25 * per_row(memory.numbers) + 24));
  std::printf("  of these, as the table counts %7.1f of numbers, %.1f beside them, %.1f not used yet\n",
              per_row(memory.numbers), per_row(memory.beside), per_row(memory.unused));
  std::ranges::sort(ms);
  std::printf("  a step of %lld new rows       %7.2f ms, the longest %.2f ms, which is %.1f times the median\n",
              static_cast<long long>(kStep), ms[ms.size() / 2], ms.back(), ms.back() / ms[ms.size() / 2]);
  return OkStatus();
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 20'000'000;
  const tensorbraid::Status status = tensorbraid::Measure(std::max<int64_t>(rows, 1));
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
