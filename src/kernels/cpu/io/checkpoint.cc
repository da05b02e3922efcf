// Kernels that save tensors to checkpoints, restore them and merge checkpoints.
#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_format.h"
#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "checkpoint/v1_checkpoint.h"
#include "core/text/strings.h"
#include "core/threads/background_thread.h"
#include "kernels/cpu/io/checkpoint_request.h"
#include "kernels/cpu/io/file_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid::cpu {

StatusOr<CheckpointRequest> ReadCheckpointRequest(KernelContext& ctx, int num_tensors) {
  const Tensor& prefix = ctx.input(0);
  const Tensor& names = ctx.input(1);
  const Tensor& slices = ctx.input(2);
  if (prefix.num_elements() != 1) {
    return InvalidArgument("prefix must be one string, got shape ", prefix.shape());
  }
  if (names.shape().rank() != 1 || slices.shape().rank() != 1) {
    return InvalidArgument("tensor_names and shape_and_slices must be vectors, got shapes ", names.shape(), " and ",
                           slices.shape());
  }
  if (names.num_elements() != num_tensors || slices.num_elements() != num_tensors) {
    return InvalidArgument("got ", names.num_elements(), " tensor_names and ", slices.num_elements(),
                           " shape_and_slices for ", num_tensors, " tensors");
  }
  TF_RETURN_IF_ERROR(CheckBundlePrefix(prefix.data<std::string>()[0]));
  return CheckpointRequest{prefix.data<std::string>()[0], names.data<std::string>(), slices.data<std::string>()};
}

std::vector<size_t> OrderByName(std::span<const std::string> names) {
  std::vector<size_t> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return names[a] < names[b]; });
  return order;
}

StatusOr<Tensor> RestoreOne(BundleReader& reader, const std::string& name, const std::string& slice, DType dtype) {
  TF_ASSIGN_OR_RETURN(const BundleReader::Info info, reader.Find(name));
  if (info.dtype != dtype) {
    return InvalidArgument("tensor '", name, "' has the original dtype ", info.dtype, " in the checkpoint ",
                           reader.prefix(), ", not ", dtype);
  }
  if (slice.empty()) return reader.Read(name);
  TF_ASSIGN_OR_RETURN(const ShapeAndSlice part, ParseShapeAndSlice(slice));
  if (part.shape != info.shape) {
    return InvalidArgument("tensor '", name, "' has shape ", info.shape, " in the checkpoint ", reader.prefix(),
                           ", not ", part.shape);
  }
  return reader.ReadSlice(name, part.slice);
}

namespace {

// Returns the value of input `i` to save. The context does not keep the value.
using TakeValue = StatusOr<Tensor> (*)(KernelContext& ctx, int i);

// Takes and writes one value after the other, so that a value is held only while it is written.
template <TakeValue kTake>
Status Save(KernelContext& ctx) {
  constexpr int kFirstTensor = 3;
  TF_ASSIGN_OR_RETURN(const CheckpointRequest request, ReadCheckpointRequest(ctx, ctx.num_inputs() - kFirstTensor));
  TF_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Create(request.prefix));
  for (size_t i = 0; i < request.names.size(); ++i) {
    if (ctx.env().cancellation != nullptr) TF_RETURN_IF_ERROR(ctx.env().cancellation->status());
    TF_ASSIGN_OR_RETURN(const Tensor tensor, kTake(ctx, kFirstTensor + static_cast<int>(i)));
    if (request.slices[i].empty()) {
      TF_RETURN_IF_ERROR(writer->Add(request.names[i], tensor));
      continue;
    }
    TF_ASSIGN_OR_RETURN(const ShapeAndSlice part, ParseShapeAndSlice(request.slices[i]));
    TF_RETURN_IF_ERROR(writer->AddSlice(request.names[i], part.shape, part.slice, tensor));
  }
  return writer->Finish();
}

// Saves on a separate thread of low priority, because steps should have the cores and a save is not urgent. Before the
// pool is destroyed, it waits for the save.
template <TakeValue kTake>
class SaveKernel final : public AsyncKernel {
 public:
  explicit SaveKernel(const KernelConstruction&) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    if (ctx.pool().num_threads() == 0) return done(Save<kTake>(ctx));
    ctx.pool().ScheduleBlocking([&ctx, done = std::move(done)]() mutable {
      Status saved;
      RunAtLowPriority("tb-save", [&] { saved = Save<kTake>(ctx); });
      // The nodes that wait for the save run on the pool.
      ctx.pool().Schedule([saved = std::move(saved), done = std::move(done)] { done(saved); });
    });
  }
};

StatusOr<Tensor> TakeTensor(KernelContext& ctx, int i) { return ctx.TakeInput(i); }

// The value of the variable, if the input is a variable; otherwise the input.
StatusOr<Tensor> TakeVariable(KernelContext& ctx, int i) {
  const DType declared = ctx.node().declared_input_type(i);
  if (!IsRef(declared) && declared != DType::kResource) return TakeTensor(ctx, i);
  TF_ASSIGN_OR_RETURN(const auto variable, VariableOf(ctx, i));
  return variable->Read();
}

// Restores from a checkpoint of version 1, which older programs wrote.
Status RestoreFromV1(KernelContext& ctx, const CheckpointRequest& request) {
  TF_ASSIGN_OR_RETURN(const auto reader, V1Reader::Open(request.prefix));
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    TF_ASSIGN_OR_RETURN(Tensor tensor,
                        RestoreV1(*reader, request.names[i], request.slices[i], ctx.node().output_type(i)));
    ctx.set_output(i, std::move(tensor));
  }
  return OkStatus();
}

}  // namespace

Status RestoreTensors(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const CheckpointRequest request, ReadCheckpointRequest(ctx, ctx.num_outputs()));
  if (!FileExists(BundleIndexName(request.prefix))) return RestoreFromV1(ctx, request);
  TF_ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(request.prefix));
  for (const size_t i : OrderByName(request.names)) {
    const int output = static_cast<int>(i);
    TF_ASSIGN_OR_RETURN(Tensor tensor,
                        RestoreOne(*reader, request.names[i], request.slices[i], ctx.node().output_type(output)));
    ctx.set_output(output, std::move(tensor));
  }
  return OkStatus();
}

namespace {

Status MergeCheckpoints(KernelContext& ctx) {
  if (ctx.input(0).shape().rank() != 1) {
    return InvalidArgument("checkpoint_prefixes must be a vector, got shape ", ctx.input(0).shape());
  }
  if (ctx.input(1).shape().rank() != 0) {
    return InvalidArgument("destination_prefix must be a scalar, got shape ", ctx.input(1).shape());
  }
  const auto given = ctx.input(0).data<std::string>();
  const std::vector<std::string> prefixes(given.begin(), given.end());
  const std::string& destination = ctx.input(1).scalar<std::string>();
  TF_RETURN_IF_ERROR(
      MergeBundles(prefixes, destination, {.allow_missing = ctx.node().attr<bool>("allow_missing_files")}));
  if (!ctx.node().attr<bool>("delete_old_dirs")) return OkStatus();
  std::set<std::string> directories;
  for (const std::string& prefix : prefixes) directories.insert(DirectoryOf(prefix));
  directories.erase(DirectoryOf(destination));
  // Removes only empty directories. It is not an error if a directory is still in use.
  for (const std::string& directory : directories) RemoveDirectory(directory).IgnoreError();
  return OkStatus();
}

Status CheckScalars(const KernelContext& ctx) {
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    if (ctx.input(i).shape().rank() != 0) {
      return InvalidArgument("input ", i, " must be a scalar, got shape ", ctx.input(i).shape());
    }
  }
  return OkStatus();
}

Status ShardedFilename(KernelContext& ctx) {
  TF_RETURN_IF_ERROR(CheckScalars(ctx));
  ctx.set_output(0, Tensor::Scalar(absl::StrFormat("%s-%05d-of-%05d", ctx.input(0).scalar<std::string>(),
                                                   ctx.input(1).scalar<int32_t>(), ctx.input(2).scalar<int32_t>())));
  return OkStatus();
}

Status ShardedFilespec(KernelContext& ctx) {
  TF_RETURN_IF_ERROR(CheckScalars(ctx));
  const std::string any_shard(5, '?');
  ctx.set_output(0, Tensor::Scalar(absl::StrFormat("%s-%s-of-%05d", ctx.input(0).scalar<std::string>(), any_shard,
                                                   ctx.input(1).scalar<int32_t>())));
  return OkStatus();
}

}  // namespace

void RegisterIoCheckpointKernels(KernelRegistry& r) {
  r.Add<SaveKernel<TakeTensor>>("SaveV2");
  r.Add<SaveKernel<TakeVariable>>("_SaveVariables");
  r.Add<FileKernel<RestoreTensors>>("RestoreV2");
  r.Add<FileKernel<MergeCheckpoints>>("MergeV2Checkpoints");
  r.Add("ShardedFilename", {}, ShardedFilename);
  r.Add("ShardedFilespec", {}, ShardedFilespec);
}

}  // namespace tensorbraid::cpu
