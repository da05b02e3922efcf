// Kernels for increments of variables whose rows are updated (docs/design/0036).
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/bundle_reader.h"
#include "checkpoint/changed_rows.h"
#include "checkpoint/row_tensors.h"
#include "checkpoint/tensor_slice.h"
#include "core/text/strings.h"
#include "kernels/cpu/io/checkpoint_request.h"
#include "kernels/cpu/io/file_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/variables/tensor_rows.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid::cpu {
namespace {

uint64_t SaveNumber(KernelContext& ctx, int input) { return static_cast<uint64_t>(ctx.input(input).scalar<int64_t>()); }

Status RecordRows(KernelContext& ctx) {
  if (SaveNumber(ctx, 0) == 0) return OkStatus();
  TF_ASSIGN_OR_RETURN(const auto variable, VariableOf(ctx, 2));
  return variable->RecordRows(SaveNumber(ctx, 1), SaveNumber(ctx, 0));
}

Status ChangedRows(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, 2, ctx.node().attr<DType>("dtype")));
  TF_ASSIGN_OR_RETURN(auto changed, variable->TakeChangedRows(SaveNumber(ctx, 1), SaveNumber(ctx, 0)));
  if (!changed) {
    TF_ASSIGN_OR_RETURN(Tensor whole, variable->Read());
    ctx.set_output(0, Tensor::Vector(std::vector<int64_t>()));
    ctx.set_output(1, std::move(whole));
    return OkStatus();
  }
  const auto first_row = ctx.node().attr<int64_t>("first_row");
  for (int64_t& number : changed->numbers) number += first_row;
  ctx.set_output(0, Tensor::Vector(changed->numbers));
  ctx.set_output(1, std::move(changed->values));
  return OkStatus();
}

// A full checkpoint, or an increment.
struct OpenedCheckpoint {
  std::unique_ptr<BundleReader> reader;
  std::vector<BundleReader::Info> changed;  // the tensors with numbers of changed rows, ordered by name
  bool of_deeprec = false;
};

StatusOr<OpenedCheckpoint> OpenIncrement(const std::string& prefix) {
  OpenedCheckpoint opened;
  TF_ASSIGN_OR_RETURN(opened.reader, BundleReader::Open(prefix));
  TF_ASSIGN_OR_RETURN(opened.changed, opened.reader->List());
  opened.of_deeprec = !opened.reader->Find(kLinkTensor).ok();
  const std::string_view rows = opened.of_deeprec ? kDeepRecRows : kChangedRows;
  std::erase_if(opened.changed, [&](const auto& info) { return info.name.find(rows) == std::string::npos; });
  return opened;
}

// The part of a tensor that is restored: its first row, and the shape of the whole.
struct RestoredPart {
  int64_t first_row = 0;
  Shape whole;
};

StatusOr<RestoredPart> PartOf(const std::string& name, const std::string& slice, const Shape& restored) {
  if (slice.empty()) return RestoredPart{.whole = restored};
  TF_ASSIGN_OR_RETURN(const ShapeAndSlice part, ParseShapeAndSlice(slice));
  for (int i = 1; i < part.shape.rank(); ++i) {
    if (part.slice_shape.dim(i) == part.shape.dim(i)) continue;
    return InvalidArgument("the slice '", slice, "' of '", name,
                           "' is not one of rows, but increments have rows of it; save a full checkpoint first");
  }
  const int64_t first = part.shape.rank() == 0 ? 0 : part.slice.Resolved(part.shape).extent(0).start;
  return RestoredPart{.first_row = first, .whole = part.shape};
}

// Overwrites rows of `to`, a part of the tensor `name`, by those that the increment has.
Status ApplyRows(const OpenedCheckpoint& full, const OpenedCheckpoint& increment, const std::string& name,
                 const RestoredPart& part, Tensor* to) {
  BundleReader& reader = *increment.reader;
  std::vector<ChangedRowsOfPart> changed;
  if (increment.of_deeprec) {
    TF_ASSIGN_OR_RETURN(changed, FindChangedRowsOfDeepRec(increment.changed, name, *full.reader));
  } else {
    changed = FindChangedRows(increment.changed, name);
    if (changed.empty()) return NotFound("the increment ", reader.prefix(), " has no tensor '", name, "'");
  }
  for (const ChangedRowsOfPart& rows_of : changed) {
    TF_ASSIGN_OR_RETURN(Tensor numbers, reader.Read(rows_of.numbers));
    if (numbers.dtype() == kInt32) {
      const auto narrow = numbers.data<int32_t>();
      numbers = Tensor::Vector(std::vector<int64_t>(narrow.begin(), narrow.end()));
    }
    TF_ASSIGN_OR_RETURN(const Tensor values, reader.Read(rows_of.values));
    Shape rows = part.whole;
    const int64_t count = values.shape().rank() == 0 ? 0 : values.shape().dim(0);
    if (rows.rank() > 0) rows.set_dim(0, count);
    const bool all = numbers.num_elements() == 0;
    if (values.dtype() != to->dtype() || values.shape() != rows || numbers.dtype() != kInt64 ||
        (!all && numbers.num_elements() != count)) {
      return InvalidArgument("the increment ", reader.prefix(), " has the numbers of ", numbers.num_elements(),
                             " changed rows of '", name, "' with values ", values.dtype(), values.shape(),
                             ", which do not fit to ", to->dtype(), part.whole);
    }
    if (to->shape().rank() == 0) {  // a scalar, whose shape was not known when it was saved
      *to = values;
      continue;
    }
    const int64_t size = to->shape().dim(0) == 0 ? 0 : to->num_elements() / to->shape().dim(0);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t number = (all || rows_of.within_part ? rows_of.first_row : 0) +
                             (all ? i : numbers.data<int64_t>()[static_cast<size_t>(i)]);
      const int64_t row = number - part.first_row;
      if (number < 0 || number >= part.whole.dim(0)) {
        return DataLoss("the increment ", reader.prefix(), " has row ", number, " of '", name, "' of shape ",
                        part.whole);
      }
      if (row >= 0 && row < to->shape().dim(0)) CopyElementRange(values, i * size, size, to, row * size);
    }
  }
  return OkStatus();
}

Status RestoreIncrements(KernelContext& ctx) {
  if (ctx.input(3).num_elements() == 0) return RestoreTensors(ctx);
  TF_ASSIGN_OR_RETURN(const CheckpointRequest request, ReadCheckpointRequest(ctx, ctx.num_outputs()));
  std::vector<OpenedCheckpoint> chain(1);
  TF_ASSIGN_OR_RETURN(chain[0].reader, BundleReader::Open(request.prefix));
  for (const std::string& increment : ctx.input(3).data<std::string>()) {
    TF_ASSIGN_OR_RETURN(OpenedCheckpoint opened, OpenIncrement(increment));
    chain.push_back(std::move(opened));
  }
  for (const size_t i : OrderByName(request.names)) {
    const std::string& name = request.names[i];
    const std::string& slice = request.slices[i];
    const int output = static_cast<int>(i);
    size_t from = chain.size() - 1;
    while (from > 0 && !chain[from].reader->Find(name).ok()) --from;
    TF_ASSIGN_OR_RETURN(Tensor tensor, RestoreOne(*chain[from].reader, name, slice, ctx.node().output_type(output)));
    if (from + 1 < chain.size()) {
      TF_ASSIGN_OR_RETURN(const RestoredPart part, PartOf(name, slice, tensor.shape()));
      for (size_t j = from + 1; j < chain.size(); ++j) {
        TF_RETURN_IF_ERROR(ApplyRows(chain[0], chain[j], name, part, &tensor));
      }
    }
    ctx.set_output(output, std::move(tensor));
  }
  return OkStatus();
}

}  // namespace

void RegisterIoCheckpointIncrementsKernels(KernelRegistry& r) {
  r.Add("_RecordRows", {}, RecordRows);
  r.Add("_ChangedRows", {}, ChangedRows);
  r.Add<FileKernel<RestoreIncrements>>("_RestoreIncrements");
}

}  // namespace tensorbraid::cpu
