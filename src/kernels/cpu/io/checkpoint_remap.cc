// Loads matrices whose rows and columns stand for the words of a vocabulary, and rearranges them for a vocabulary other
// than the one with which they were saved.
#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "checkpoint/bundle_reader.h"
#include "core/text/strings.h"
#include "kernels/cpu/io/file_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/resources/lookup_table.h"

namespace tensorbraid::cpu {
namespace {

StatusOr<std::string> OneFile(const KernelContext& ctx, int i, const char* what) {
  if (!ctx.input(i).shape().is_scalar()) {
    return InvalidArgument(what, " must be one string, got shape ", ctx.input(i).shape());
  }
  return ctx.input(i).scalar<std::string>();
}

// For each word of a range of the new vocabulary, its ID in the old vocabulary, or -1 if the old vocabulary does not
// have it.
Status GenerateVocabRemapping(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(std::string new_file, OneFile(ctx, 0, "new_vocab_file"));
  TF_ASSIGN_OR_RETURN(std::string old_file, OneFile(ctx, 1, "old_vocab_file"));
  const int64_t offset = ctx.node().attr<int64_t>("new_vocab_offset");
  const int64_t count = ctx.node().attr<int64_t>("num_new_vocab");
  if (offset < 0 || count < 0) {
    return InvalidArgument("new_vocab_offset and num_new_vocab must not be negative, got ", offset, " and ", count);
  }
  TF_ASSIGN_OR_RETURN(const auto new_vocabulary, ReadTableFile({.path = std::move(new_file)}, kString, kInt64));
  const auto words = new_vocabulary.first.data<std::string>();
  const auto lines = static_cast<int64_t>(words.size());
  if (offset > lines || count > lines - offset) {
    return InvalidArgument("the new vocabulary has ", lines, " lines, which is too few for ", count,
                           " words from line ", offset);
  }
  TF_ASSIGN_OR_RETURN(
      const auto old_vocabulary,
      ReadTableFile({.path = old_file, .vocab_size = ctx.node().attr<int64_t>("old_vocab_size")}, kString, kInt64));
  absl::flat_hash_map<std::string_view, int64_t> old_ids;
  for (const std::string& word : old_vocabulary.first.data<std::string>()) {
    const auto id = static_cast<int64_t>(old_ids.size());
    const auto [at, is_new] = old_ids.emplace(word, id);
    if (!is_new) {
      return FailedPrecondition("'", word, "' is in both line ", at->second, " and line ", id, " of ", old_file);
    }
  }
  TF_ASSIGN_OR_RETURN(Tensor * remapping, ctx.AllocateOutput(0, Shape({count})));
  const auto out = remapping->inplace_data<int64_t>();
  int32_t present = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto found = old_ids.find(words[offset + i]);
    out[i] = found == old_ids.end() ? -1 : found->second;
    if (out[i] >= 0) ++present;
  }
  ctx.set_output(1, Tensor::Scalar(present));
  return OkStatus();
}

struct Remapping {
  std::vector<int64_t> old_ids;  // indexed by new ID; negative if there is no old one
  int64_t missing = 0;           // the number of new IDs without an old one
  int64_t begin = 0, end = 0;    // all nonnegative old IDs are in [begin, end)
};

// Reads the remapping in input `i`, which must have `size` elements.
StatusOr<Remapping> ReadRemapping(const KernelContext& ctx, int i, const char* what, int64_t size) {
  const Tensor& t = ctx.input(i);
  if (t.shape().rank() != 1 || t.num_elements() != size) {
    return InvalidArgument(what, " must be a vector of ", size, " elements, got shape ", t.shape());
  }
  Remapping r;
  absl::flat_hash_map<int64_t, int64_t> new_ids;
  for (const int64_t old_id : t.data<int64_t>()) {
    const auto new_id = static_cast<int64_t>(r.old_ids.size());
    r.old_ids.push_back(old_id);
    if (old_id < 0) {
      ++r.missing;
      continue;
    }
    const auto [at, is_new] = new_ids.emplace(old_id, new_id);
    if (!is_new) {
      return Unimplemented(what, " maps old ID ", old_id, " to both ", at->second, " and ", new_id);
    }
    r.begin = r.end == 0 ? old_id : std::min(r.begin, old_id);
    r.end = std::max(r.end, old_id + 1);
  }
  return r;
}

Status CheckMatrix(const BundleReader::Info& info) {
  if (info.dtype != kFloat32) {
    return InvalidArgument("tensor '", info.name, "' has dtype ", info.dtype, " in the checkpoint, expected ",
                           kFloat32);
  }
  if (info.shape.rank() != 2) {
    return InvalidArgument("tensor '", info.name, "' must be a matrix, has shape ", info.shape, " in the checkpoint");
  }
  return OkStatus();
}

// Copies old rows and columns to their new positions and fills the missing elements with the initial values.
class MatrixLoader {
 public:
  MatrixLoader(BundleReader& reader, BundleReader::Info info, const Remapping& rows, const Remapping& columns)
      : reader_(reader), info_(std::move(info)), rows_(rows), columns_(columns) {}

  // Checks the inputs against the saved matrix. If OK, the new matrix, with `num_columns` columns, is no larger than
  // the data in the file and the inputs together, so it can be allocated.
  Status CheckSizes(int64_t num_columns, int64_t initial_values) const {
    const auto num_rows = static_cast<int64_t>(rows_.old_ids.size());
    if (rows_.end > info_.shape.dim(0)) {
      return Internal("row_remapping refers to row ", rows_.end - 1, " of '", info_.name, "', whose shape is ",
                      info_.shape);
    }
    if (columns_.end > info_.shape.dim(1)) {
      return InvalidArgument("col_remapping refers to column ", columns_.end - 1, " of '", info_.name,
                             "', whose shape is ", info_.shape);
    }
    int64_t missing = 0, missing_in_rows = 0;
    if (__builtin_mul_overflow(rows_.missing, num_columns, &missing) ||
        __builtin_mul_overflow(num_rows - rows_.missing, columns_.missing, &missing_in_rows) ||
        __builtin_add_overflow(missing, missing_in_rows, &missing) || missing != initial_values) {
      return InvalidArgument("initializing_values must have one element for each of the ", missing,
                             " elements without an old value, got ", initial_values);
    }
    // Reads one row to verify that the file has the data that its index describes.
    if (rows_.end > 0) return reader_.ReadSlice(info_.name, TensorSlice({{rows_.begin, 1}, {}})).status();
    return OkStatus();
  }

  // `rows_at_once` limits the number of rows of the old matrix that are read at a time; 0 or less means no limit.
  // REQUIRES: CheckSizes returned OK.
  Status Load(std::span<const float> initial, int64_t rows_at_once, float* out) {
    const auto num_columns = static_cast<int64_t>(columns_.old_ids.size());
    absl::flat_hash_map<int64_t, int64_t> new_rows;
    for (size_t row = 0; row < rows_.old_ids.size(); ++row) {
      float* const to = out + static_cast<int64_t>(row) * num_columns;
      const bool is_missing = rows_.old_ids[row] < 0;
      if (!is_missing) new_rows[rows_.old_ids[row]] = static_cast<int64_t>(row);
      for (int64_t column = 0; column < num_columns; ++column) {
        if (!is_missing && columns_.old_ids[column] >= 0) continue;
        to[column] = initial.front();
        initial = initial.subspan(1);
      }
    }
    const int64_t step = rows_at_once > 0 ? rows_at_once : std::max<int64_t>(rows_.end - rows_.begin, 1);
    for (int64_t begin = rows_.begin; begin < rows_.end; begin += step) {
      const int64_t length = std::min(step, rows_.end - begin);
      TF_ASSIGN_OR_RETURN(const Tensor part, reader_.ReadSlice(info_.name, TensorSlice({{begin, length}, {}})));
      const float* from = part.data<float>().data();
      for (int64_t row = begin; row < begin + length; ++row, from += info_.shape.dim(1)) {
        const auto found = new_rows.find(row);
        if (found == new_rows.end()) continue;
        for (int64_t column = 0; column < num_columns; ++column) {
          const int64_t old_column = columns_.old_ids[column];
          if (old_column >= 0) out[found->second * num_columns + column] = from[old_column];
        }
      }
      if (length < step) break;  // begin + step may overflow
    }
    return OkStatus();
  }

 private:
  BundleReader& reader_;
  const BundleReader::Info info_;
  const Remapping& rows_;
  const Remapping& columns_;
};

Status LoadAndRemapMatrix(KernelContext& ctx) {
  for (const int i : {0, 1}) {
    if (ctx.input(i).num_elements() != 1) {
      return InvalidArgument(i == 0 ? "ckpt_path" : "old_tensor_name", " must have exactly one element, got shape ",
                             ctx.input(i).shape());
    }
  }
  const int64_t num_columns = ctx.node().attr<int64_t>("num_cols");
  TF_ASSIGN_OR_RETURN(const Remapping rows,
                      ReadRemapping(ctx, 2, "row_remapping", ctx.node().attr<int64_t>("num_rows")));
  // An empty col_remapping means that the columns stay as they are.
  const bool same_columns = ctx.input(3).shape().rank() == 1 && ctx.input(3).num_elements() == 0;
  TF_ASSIGN_OR_RETURN(Remapping columns, ReadRemapping(ctx, 3, "col_remapping", same_columns ? 0 : num_columns));
  TF_ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(ctx.input(0).data<std::string>()[0]));
  TF_ASSIGN_OR_RETURN(BundleReader::Info info, reader->Find(ctx.input(1).data<std::string>()[0]));
  TF_RETURN_IF_ERROR(CheckMatrix(info));
  if (same_columns) {
    if (info.shape.dim(1) != num_columns) {
      return InvalidArgument("without col_remapping, tensor '", info.name, "' must have ", num_columns,
                             " columns, has shape ", info.shape, " in the checkpoint");
    }
  }
  const Shape shape({static_cast<int64_t>(rows.old_ids.size()), num_columns});
  MatrixLoader loader(*reader, std::move(info), rows, columns);
  TF_RETURN_IF_ERROR(loader.CheckSizes(num_columns, ctx.input(4).num_elements()));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (same_columns && out->num_elements() > 0) {
    columns.old_ids.resize(static_cast<size_t>(num_columns));
    std::iota(columns.old_ids.begin(), columns.old_ids.end(), 0);
  }
  return loader.Load(ctx.input(4).data<float>(), ctx.node().attr<int64_t>("max_rows_in_memory"),
                     out->inplace_data<float>().data());
}

}  // namespace

void RegisterIoCheckpointRemapKernels(KernelRegistry& r) {
  r.Add<FileKernel<GenerateVocabRemapping>>("GenerateVocabRemapping");
  r.Add<FileKernel<LoadAndRemapMatrix>>("LoadAndRemapMatrix");
}

}  // namespace tensorbraid::cpu
