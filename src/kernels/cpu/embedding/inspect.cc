// Shows rows of a growing table.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "kernels/cpu/costs.h"
#include "runtime/kernel/kernel.h"
#include "runtime/tables/embedding_table.h"

namespace tensorbraid::cpu {
namespace {

enum class TopBy { kNorm, kFrequency, kVersion, kResidue };

// The keys that come first by a number: larger numbers first, then smaller keys. Thread-safe.
class TopKeys {
 public:
  explicit TopKeys(size_t count) : count_(count) {}
  void Add(double number, int64_t key) {
    const std::pair rank(std::isnan(number) ? -INFINITY : -number, key);
    MutexLock lock(mu_);
    if (worst_first_.size() == count_ && !(rank < worst_first_.top())) return;
    worst_first_.push(rank);
    if (worst_first_.size() > count_) worst_first_.pop();
  }
  std::vector<int64_t> Take() {
    MutexLock lock(mu_);
    std::vector<int64_t> keys;
    for (; !worst_first_.empty(); worst_first_.pop()) keys.push_back(worst_first_.top().second);
    std::ranges::reverse(keys);
    return keys;
  }

 private:
  const size_t count_;
  Mutex mu_;
  std::priority_queue<std::pair<double, int64_t>> worst_first_ TB_GUARDED_BY(mu_);
};

class InspectTableKernel final : public Kernel {
 public:
  explicit InspectTableKernel(const KernelConstruction& c)
      : table_(c.attr<std::string>("table")),
        container_(c.attr<std::string>("container")),
        top_(c.attr<int64_t>("top")),
        by_(c.attr<std::string>("by") == "norm"        ? TopBy::kNorm
            : c.attr<std::string>("by") == "frequency" ? TopBy::kFrequency
            : c.attr<std::string>("by") == "residue"   ? TopBy::kResidue
                                                       : TopBy::kVersion) {}

  Status Compute(KernelContext& ctx) override {
    const auto table = ctx.resources().Lookup<EmbeddingTable>(container_, table_);
    if (!table.ok()) return NotFound("there is no growing table '", table_, "' on this task");
    const auto asked = ctx.input(0).data<int64_t>();
    std::vector<int64_t> keys(asked.begin(), asked.end());
    if (by_ == TopBy::kResidue) {
      TF_ASSIGN_OR_RETURN(keys, KeysOfResidues(ctx, **table, keys));
    } else if (top_ > 0) {
      TF_ASSIGN_OR_RETURN(keys, TopOf(ctx, **table));
    }
    return SetRows(ctx, **table, keys);
  }

 private:
  static StatusOr<std::vector<int64_t>> KeysOfResidues(KernelContext& ctx, const EmbeddingTable& table,
                                                       const std::vector<int64_t>& residues) {
    std::vector<std::vector<int64_t>> keys(kSmallTables);
    const int columns[] = {0};
    const auto add = [&](int residue, SmallTable& small, const KeyCounts*) TB_NO_THREAD_SAFETY_ANALYSIS {
      if (std::ranges::count(residues, residue) == 0) return;
      std::vector<int64_t>& of_residue = keys[static_cast<size_t>(residue)];
      small.ForEachRow([&](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS { of_residue.push_back(small.info(row).key); });
    };
    TF_RETURN_IF_ERROR(table.Export(ctx.pool(), columns, add));
    std::vector<int64_t> all;
    for (const std::vector<int64_t>& of_residue : keys) all.insert(all.end(), of_residue.begin(), of_residue.end());
    return all;
  }

  StatusOr<std::vector<int64_t>> TopOf(KernelContext& ctx, const EmbeddingTable& table) const {
    constexpr int64_t kMost = 100'000;
    TopKeys top(static_cast<size_t>(std::min(top_, kMost)));
    const int columns[] = {0};
    const auto dim = static_cast<size_t>(table.dim());
    const auto add_all = [&](int, SmallTable& small, const KeyCounts* counts) TB_NO_THREAD_SAFETY_ANALYSIS {
      small.ForEachRow([&](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS {
        const RowInfo& info = small.info(row);
        double number = static_cast<double>(info.version);
        if (by_ == TopBy::kFrequency) number = counts == nullptr ? 0 : static_cast<double>(counts->CountOf(info.key));
        if (by_ == TopBy::kNorm) {
          number = 0;
          for (const float v : std::span(small.numbers(0, row), dim)) number += double{v} * double{v};
        }
        top.Add(number, info.key);
      });
    };
    TF_RETURN_IF_ERROR(table.Export(ctx.pool(), columns, add_all));
    return top.Take();
  }

  // Sets the outputs to the rows of these keys that have one, in the order of the keys.
  static Status SetRows(KernelContext& ctx, const EmbeddingTable& table, const std::vector<int64_t>& keys) {
    const auto columns = table.InitializedColumns();
    const auto& widths = columns.widths;
    const auto width = static_cast<size_t>(std::accumulate(widths.begin(), widths.end(), int64_t{0}));
    std::vector<uint8_t> found(keys.size());
    std::vector<int64_t> versions(keys.size()), frequencies(keys.size());
    std::vector<float> numbers(keys.size() * width);
    bool counts = false;
    TF_RETURN_IF_ERROR(table.ReadRows(ctx.pool(), columns.names, keys, [&](const VisitedRow& row, int64_t frequency) {
      if (row.info == nullptr) return;
      found[row.number] = 1;
      versions[row.number] = row.info->version;
      counts = frequency >= 0;
      frequencies[row.number] = frequency;
      float* to = numbers.data() + row.number * width;
      for (size_t c = 0; c < widths.size(); ++c) to = std::copy_n(row.numbers[c], widths[c], to);
    }));
    const auto n = std::ranges::count(found, 1);
    TF_ASSIGN_OR_RETURN(Tensor * out_keys, ctx.AllocateOutput(0, {n}));
    TF_ASSIGN_OR_RETURN(Tensor * out_versions, ctx.AllocateOutput(1, {n}));
    TF_ASSIGN_OR_RETURN(Tensor * out_frequencies, ctx.AllocateOutput(2, {counts ? n : 0}));
    TF_ASSIGN_OR_RETURN(Tensor * out_numbers, ctx.AllocateOutput(3, {n, static_cast<int64_t>(width)}));
    size_t at = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (found[i] == 0) continue;
      out_keys->inplace_data<int64_t>()[at] = keys[i];
      out_versions->inplace_data<int64_t>()[at] = versions[i];
      if (counts) out_frequencies->inplace_data<int64_t>()[at] = frequencies[i];
      std::copy_n(numbers.data() + i * width, width, out_numbers->inplace_data<float>().data() + at * width);
      ++at;
    }
    ctx.set_output(4, Tensor::Vector(columns.names));
    ctx.set_output(5, Tensor::Vector(widths));
    return OkStatus();
  }

  const std::string table_, container_;
  const int64_t top_;
  const TopBy by_;
};

}  // namespace

void RegisterEmbeddingInspectKernels(KernelRegistry& r) { r.Add<InspectTableKernel>("_InspectTable", {}, FileCost); }

}  // namespace tensorbraid::cpu
