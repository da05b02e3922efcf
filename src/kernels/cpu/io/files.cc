// Kernels that read and write whole files and match file names.
#include <algorithm>

#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_origins.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/string/string.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

Status ReadFileKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string* name, cpu::TextOf(ctx, 0, "the file name"));
  TF_ASSIGN_OR_RETURN(std::string contents, ReadFile(*name));
  NoteFileContents(*name, contents);  // so that errors of decoders can name the file
  ctx.set_output(0, Tensor::Scalar(std::move(contents)));
  return OkStatus();
}

Status WriteFileKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string* name, cpu::TextOf(ctx, 0, "the file name"));
  TF_ASSIGN_OR_RETURN(const std::string* contents, cpu::TextOf(ctx, 1, "the contents"));
  return WriteFile(*name, *contents);
}

Status MatchingFilesKernel(KernelContext& ctx) {
  if (ctx.input(0).shape().rank() > 1) {
    return InvalidArgument("the pattern must be a scalar or a vector, got shape ", ctx.input(0).shape());
  }
  std::vector<std::string> paths;
  for (const std::string& pattern : ctx.input(0).data<std::string>()) {
    TF_ASSIGN_OR_RETURN(const std::vector<std::string> found, MatchingPaths(pattern));
    paths.insert(paths.end(), found.begin(), found.end());
  }
  std::sort(paths.begin(), paths.end());
  ctx.set_output(0, Tensor::Vector(paths));
  return OkStatus();
}

}  // namespace

void RegisterIoFilesKernels(KernelRegistry& r) {
  r.Add("ReadFile", {}, ReadFileKernel, cpu::FileCost);
  r.Add("WriteFile", {}, WriteFileKernel, cpu::FileCost);
  r.Add("MatchingFiles", {}, MatchingFilesKernel, cpu::FileCost);
}

}  // namespace tensorbraid::cpu
