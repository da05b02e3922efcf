// What the kernels of strings share, and the parts they are registered in.
#ifndef TENSORBRAID_KERNELS_CPU_STRINGS_H_
#define TENSORBRAID_KERNELS_CPU_STRINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernel.h"

namespace tensorbraid::cpu {

void RegisterStringFormatKernels(KernelRegistry& r);   // string_format.cc
void RegisterStringJoinKernels(KernelRegistry& r);     // string_join.cc
void RegisterStringNumberKernels(KernelRegistry& r);   // string_numbers.cc
void RegisterStringRegexKernels(KernelRegistry& r);    // string_regex.cc
void RegisterStringSplitKernels(KernelRegistry& r);    // string_split.cc
void RegisterStringUnicodeKernels(KernelRegistry& r);  // string_unicode.cc

// More bytes than one string of an output may have. What a few bytes of input may grow to is checked against it before
// memory is taken, since strings cannot report that there is none.
inline constexpr int64_t kMaxStringBytes = int64_t{1} << 32;

// A string input of rank 0. InvalidArgument, naming `what`, for another shape.
inline StatusOr<const std::string*> TextOf(const KernelContext& ctx, int i, const char* what) {
  const Tensor& t = ctx.input(i);
  if (t.shape().rank() != 0) return InvalidArgument(what, " must be a scalar, got shape ", t.shape());
  return &t.data<std::string>()[0];
}

// output 0 [i] = f(input 0 [i]): f(const std::string&) returns a T or a StatusOr<T>.
template <typename T, typename F>
Status MapStrings(KernelContext& ctx, const F& f) {
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  const auto in = ctx.input(0).data<std::string>();
  auto to = out->mutable_data<T>();
  for (size_t i = 0; i < in.size(); ++i) {
    if constexpr (std::is_same_v<decltype(f(in[i])), T>) {
      to[i] = f(in[i]);
    } else {
      TF_ASSIGN_OR_RETURN(to[i], f(in[i]));
    }
  }
  return OkStatus();
}

// The number that a text is, with white space around it or not. False when it is none or does not fit; real numbers
// that are too large are infinite.
bool ParseNumber(std::string_view text, float* value);
bool ParseNumber(std::string_view text, double* value);
bool ParseNumber(std::string_view text, int32_t* value);
bool ParseNumber(std::string_view text, int64_t* value);
bool ParseNumber(std::string_view text, uint32_t* value);
bool ParseNumber(std::string_view text, uint64_t* value);

// Row splits: they begin with 0, never fall, and end with `count`. InvalidArgument otherwise.
StatusOr<std::vector<int64_t>> RowSplits(const Tensor& splits, int64_t count);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_STRINGS_H_
