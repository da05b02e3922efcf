// Kernels that save and restore tensors in checkpoints of version 1, which older programs use.
#include "checkpoint/v1_checkpoint.h"
#include "core/text/strings.h"
#include "kernels/cpu/io/file_kernel.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The string in input `i`, which must have exactly one element.
StatusOr<std::string> OneString(const KernelContext& ctx, int i, const char* what) {
  if (ctx.input(i).num_elements() != 1) {
    return InvalidArgument(what, " must be one string, got shape ", ctx.input(i).shape());
  }
  return ctx.input(i).data<std::string>()[0];
}

// The kernel of Save or, with kSlices, of SaveSlices.
template <bool kSlices>
Status Save(KernelContext& ctx) {
  constexpr int kFirst = kSlices ? 3 : 2;
  const int count = ctx.num_inputs() - kFirst;
  TF_ASSIGN_OR_RETURN(const std::string path, OneString(ctx, 0, "filename"));
  for (int i = 1; i < kFirst; ++i) {
    if (ctx.input(i).num_elements() != count) {
      return InvalidArgument(i == 1 ? "tensor_names" : "shapes_and_slices", " must have ", count,
                             " elements, one for each tensor, got shape ", ctx.input(i).shape());
    }
  }
  V1Writer writer(path);
  for (int i = 0; i < count; ++i) {
    const std::string& name = ctx.input(1).data<std::string>()[i];
    const Tensor& tensor = ctx.input(kFirst + i);
    ShapeAndSlice part{tensor.shape(), TensorSlice(tensor.shape().rank()), tensor.shape()};
    if (kSlices && !ctx.input(2).data<std::string>()[i].empty()) {
      TF_ASSIGN_OR_RETURN(part, ParseShapeAndSlice(ctx.input(2).data<std::string>()[i]));
    }
    TF_RETURN_IF_ERROR(writer.Add(name, part.shape, part.slice, tensor));
  }
  return writer.Finish();
}

// The kernel of Restore or, with kSlice, of RestoreSlice.
template <bool kSlice>
Status Restore(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string pattern, OneString(ctx, 0, "file_pattern"));
  TF_ASSIGN_OR_RETURN(const std::string name, OneString(ctx, 1, "tensor_name"));
  std::string slice;
  if (kSlice) {
    TF_ASSIGN_OR_RETURN(slice, OneString(ctx, 2, "shape_and_slice"));
  }
  TF_ASSIGN_OR_RETURN(const auto reader, V1Reader::Open(pattern));
  TF_ASSIGN_OR_RETURN(Tensor tensor, RestoreV1(*reader, name, slice, ctx.node().output_type(0)));
  ctx.set_output(0, std::move(tensor));
  return OkStatus();
}

}  // namespace

void RegisterIoCheckpointV1Kernels(KernelRegistry& r) {
  r.Add<FileKernel<Save</*kSlices=*/false>>>("Save");
  r.Add<FileKernel<Save</*kSlices=*/true>>>("SaveSlices");
  r.Add<FileKernel<Restore</*kSlice=*/false>>>("Restore");
  r.Add<FileKernel<Restore</*kSlice=*/true>>>("RestoreSlice");
}

}  // namespace tensorbraid::cpu
