// Shared code of the string kernels.
#ifndef TENSORBRAID_KERNELS_CPU_STRING_STRING_H_
#define TENSORBRAID_KERNELS_CPU_STRING_STRING_H_

#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernel.h"

namespace tensorbraid::cpu {

// The maximum size in bytes of a string of an output. Kernels whose output may be much larger than their input check it
// before they allocate, because std::string cannot report that memory is exhausted.
inline constexpr int64_t kMaxStringBytes = int64_t{1} << 32;

// The string of scalar input i. Returns InvalidArgument, with `what` as the name of the input, if it is not a scalar.
inline StatusOr<const std::string*> TextOf(const KernelContext& ctx, int i, const char* what) {
  const Tensor& t = ctx.input(i);
  if (t.shape().rank() != 0) return InvalidArgument(what, " must be a scalar, got shape ", t.shape());
  return &t.data<std::string>()[0];
}

// Whether `c` is white space in the C locale.
inline bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Sets element i of output 0 to f(element i of input 0). f(const std::string&) returns a T or a StatusOr<T>.
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

// Parses a number, which may have white space around it. Returns false if the text is not a number or an integer is out
// of range; real numbers that are too large become infinite.
bool ParseNumber(std::string_view text, float* value);
bool ParseNumber(std::string_view text, double* value);
bool ParseNumber(std::string_view text, int32_t* value);
bool ParseNumber(std::string_view text, int64_t* value);
bool ParseNumber(std::string_view text, uint32_t* value);
bool ParseNumber(std::string_view text, uint64_t* value);

// The row splits in a tensor. Returns InvalidArgument unless they begin with 0, are non-decreasing and end with
// `count`.
StatusOr<std::vector<int64_t>> RowSplits(const Tensor& splits, int64_t count);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_STRING_STRING_H_
