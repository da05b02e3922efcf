#include "kernels/cpu/embedding/save_tables.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/bundle_streams.h"
#include "core/text/strings.h"
#include "core/threads/background_thread.h"
#include "kernels/cpu/embedding/columns.h"
#include "kernels/cpu/embedding/copied_rows.h"
#include "kernels/cpu/embedding/overlapped_rows.h"

namespace tensorbraid::cpu {
namespace {

// The data files of a bundle of tables. The tensors of one table grow in them at the same time. Those of counts are
// there if a table has a filter.
enum File {
  kKeys,
  kVersions,
  kFreqs,
  kFilteredKeys,
  kFilteredFreqs,
  kFilteredVersions,
  kBloomBlocks,
  kBloomCounters,
  kFirstColumn
};

template <typename T>
Status AppendAll(BundleStreams& streams, int file, const std::vector<T>& values) {
  return streams.Append(file, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

class OrderedTableWriter {
 public:
  OrderedTableWriter(BundleStreams& streams, const TableColumns& of, std::span<const std::string> names)
      : streams_(streams), of_(of), names_(names), offsets_(kSmallTables + 1), filtered_offsets_(kSmallTables + 1) {}

  Status Write(KernelContext& ctx, const SaveNumbers& numbers) {
    of_.table->Evict();
    const RowCopier copier(*of_.table, of_.columns);
    CopiedRows copied;
    // Without threads, all work is done on this one.
    std::optional<OverlappedRows> overlapped;
    const bool overlaps = ctx.pool().num_threads() > 0;
    if (overlaps) overlapped.emplace([this](const CopiedRows& rows) { return Append(rows); });
    TF_RETURN_IF_ERROR(of_.table->ExportInOrder(
        of_.columns,
        [&](int residue, SmallTable& small, const KeyCounts* counts) {
          if (counts != nullptr && counts->bloom() != nullptr) bloom_ = counts->bloom()->shape();
          copier.CopyAll(residue, small, counts, numbers, &copied);
        },
        [&]() -> Status {
          if (ctx.env().cancellation != nullptr) TF_RETURN_IF_ERROR(ctx.env().cancellation->status());
          return overlaps ? overlapped->Give(&copied) : Append(copied);
        }));
    if (overlaps) TF_RETURN_IF_ERROR(overlapped->Finish());
    return End();
  }

 private:
  Status Append(const CopiedRows& copied) {
    const auto count = [&](const std::vector<int64_t>& keys, int64_t* all, std::vector<int32_t>* offsets) {
      *all += static_cast<int64_t>(keys.size());
      (*offsets)[static_cast<size_t>(copied.residue) + 1] = static_cast<int32_t>(keys.size());
      return *all <= std::numeric_limits<int32_t>::max();
    };
    if (!count(copied.keys, &rows_, &offsets_) || !count(copied.filtered_keys, &filtered_, &filtered_offsets_)) {
      return InvalidArgument("growing table '", of_.table->name(), "' has more than 2^31 - 1 keys in one part, but ",
                             "checkpoints count them in 32 bits: give it more parts");
    }
    freqs_ += static_cast<int64_t>(copied.freqs.size());
    TF_RETURN_IF_ERROR(AppendAll(streams_, kKeys, copied.keys));
    TF_RETURN_IF_ERROR(AppendAll(streams_, kVersions, copied.versions));
    TF_RETURN_IF_ERROR(AppendAll(streams_, kFreqs, copied.freqs));
    TF_RETURN_IF_ERROR(AppendAll(streams_, kFilteredKeys, copied.filtered_keys));
    TF_RETURN_IF_ERROR(AppendAll(streams_, kFilteredFreqs, copied.filtered_freqs));
    TF_RETURN_IF_ERROR(AppendAll(streams_, kFilteredVersions, copied.filtered_versions));
    blocks_ += std::ssize(copied.bloom_blocks);
    TF_RETURN_IF_ERROR(AppendAll(streams_, kBloomBlocks, copied.bloom_blocks));
    TF_RETURN_IF_ERROR(AppendAll(streams_, kBloomCounters, copied.bloom_counters));
    for (size_t c = 0; c < names_.size(); ++c) {
      TF_RETURN_IF_ERROR(AppendAll(streams_, kFirstColumn + static_cast<int>(c), copied.numbers[c]));
    }
    return OkStatus();
  }

  // Ends the tensors that have grown, and adds the others. The slots share all but the numbers with the table.
  Status End() {
    const std::string& table = names_[0];
    for (auto* offsets : {&offsets_, &filtered_offsets_}) {
      std::partial_sum(offsets->begin(), offsets->end(), offsets->begin());
    }
    TF_RETURN_IF_ERROR(streams_.End(kKeys, table + "-keys", kInt64, Shape({rows_})));
    TF_RETURN_IF_ERROR(streams_.End(kVersions, table + "-versions", kInt64, Shape({rows_})));
    TF_RETURN_IF_ERROR(streams_.End(kFreqs, table + "-freqs", kInt64, Shape({freqs_})));
    TF_RETURN_IF_ERROR(streams_.End(kFilteredKeys, table + "-keys_filtered", kInt64, Shape({filtered_})));
    TF_RETURN_IF_ERROR(streams_.End(kFilteredFreqs, table + "-freqs_filtered", kInt64, Shape({filtered_})));
    TF_RETURN_IF_ERROR(streams_.End(kFilteredVersions, table + "-versions_filtered", kInt64, Shape({filtered_})));
    TF_RETURN_IF_ERROR(streams_.Add(kKeys, table + "-partition_offset", Tensor::Vector(offsets_)));
    TF_RETURN_IF_ERROR(streams_.Add(kKeys, table + "-partition_filter_offset", Tensor::Vector(filtered_offsets_)));
    if (bloom_) {
      constexpr int64_t kWords = std::tuple_size_v<BloomCounts::Block>;
      TF_RETURN_IF_ERROR(streams_.End(kBloomBlocks, table + kBloomBlocksName, kInt64, Shape({blocks_})));
      TF_RETURN_IF_ERROR(streams_.End(kBloomCounters, table + kBloomCountersName, kInt64, Shape({blocks_, kWords})));
      TF_RETURN_IF_ERROR(streams_.Add(kKeys, table + kBloomShapeName, TensorOf(*bloom_)));
    }
    for (size_t c = 0; c < names_.size(); ++c) {
      TF_RETURN_IF_ERROR(streams_.End(kFirstColumn + static_cast<int>(c), names_[c] + "-values", kFloat32,
                                      Shape({rows_, of_.table->width(of_.columns[c])})));
      if (c == 0) continue;
      for (const char* name : {"-keys", "-freqs", "-versions", "-partition_offset", "-keys_filtered", "-freqs_filtered",
                               "-versions_filtered", "-partition_filter_offset"}) {
        TF_RETURN_IF_ERROR(streams_.AddAgain(names_[c] + name, table + name));
      }
    }
    return OkStatus();
  }

  BundleStreams& streams_;
  const TableColumns& of_;
  const std::span<const std::string> names_;
  int64_t rows_ = 0, freqs_ = 0, filtered_ = 0, blocks_ = 0;
  std::optional<BloomShape> bloom_;
  // The number of keys of residue r is at r + 1, until End sums them up.
  std::vector<int32_t> offsets_, filtered_offsets_;
};

Status SaveTables(KernelContext& ctx) {
  constexpr int kFirstHandle = 3;
  const auto number = [&](int input) { return static_cast<uint64_t>(ctx.input(input).scalar<int64_t>()); };
  const auto& names = ctx.node().attr<std::vector<std::string>>("names");
  const auto& counts = ctx.node().attr<std::vector<int64_t>>("columns");
  const int files = kFirstColumn + static_cast<int>(*std::ranges::max_element(counts));
  TF_ASSIGN_OR_RETURN(const auto streams, BundleStreams::Create(ctx.input(0).scalar<std::string>(), files,
                                                                /*has_thread=*/ctx.pool().num_threads() > 0));
  size_t first = 0;
  for (const int64_t count : counts) {
    std::vector<int> inputs(static_cast<size_t>(count));
    std::iota(inputs.begin(), inputs.end(), kFirstHandle + static_cast<int>(first));
    TF_ASSIGN_OR_RETURN(const TableColumns of, ColumnsOf(ctx, inputs));
    OrderedTableWriter table(*streams, of, std::span(names).subspan(first, inputs.size()));
    TF_RETURN_IF_ERROR(table.Write(ctx, {.save = number(1), .predecessor = number(2)}));
    first += inputs.size();
  }
  return streams->Finish();
}

}  // namespace

void SaveTablesKernel::ComputeAsync(KernelContext& ctx, Done done) {
  if (ctx.pool().num_threads() == 0) return done(SaveTables(ctx));
  ctx.pool().ScheduleBlocking([&ctx, done = std::move(done)]() mutable {
    Status saved;
    RunAtLowPriority("tb-save", [&] { saved = SaveTables(ctx); });
    // The nodes that wait for the save run on the pool.
    ctx.pool().Schedule([saved = std::move(saved), done = std::move(done)] { done(saved); });
  });
}

}  // namespace tensorbraid::cpu
