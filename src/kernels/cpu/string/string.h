// Shared code of the string kernels.
#ifndef TENSORBRAID_KERNELS_CPU_STRING_STRING_H_
#define TENSORBRAID_KERNELS_CPU_STRING_STRING_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/memory/allocator.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// The maximum size in bytes of a string of an output. Kernels whose output may be much larger than their input check it
// before they allocate, because std::string cannot report that memory is exhausted.
inline constexpr int64_t kMaxStringBytes = int64_t{1} << 32;

// While a kernel runs, counts the strings that it makes as memory in use. So a kernel whose output may be much larger
// than its input stops at the allocator's limit.
class TextMemory {
 public:
  TextMemory() = default;
  ~TextMemory() { UncountMemory(counted_); }
  TextMemory(const TextMemory&) = delete;
  TextMemory& operator=(const TextMemory&) = delete;
  // Returns ResourceExhausted if `bytes` more exceed the limit.
  Status Add(size_t bytes) {
    if (!CountMemory(static_cast<int64_t>(bytes))) {
      return ResourceExhausted("out of memory for ", bytes, " more bytes, after strings of ", counted_, " bytes");
    }
    counted_ += static_cast<int64_t>(bytes);
    return OkStatus();
  }

 private:
  int64_t counted_ = 0;
};

// Builds a string from parts, with the separator between them. Keeps references to both arguments.
class Joined {
 public:
  Joined(const std::string& separator, TextMemory& memory) : separator_(separator), memory_(memory) {}
  Status Add(const std::string& part) {
    const size_t more = part.size() + (first_ ? 0 : separator_.size());
    if (static_cast<int64_t>(text_.size() + more) > kMaxStringBytes) {
      return ResourceExhausted("the joined string would have more than ", kMaxStringBytes, " bytes");
    }
    TF_RETURN_IF_ERROR(memory_.Add(more));
    if (!first_) text_ += separator_;
    text_ += part;
    first_ = false;
    return OkStatus();
  }
  std::string Take() { return std::move(text_); }

 private:
  const std::string& separator_;
  TextMemory& memory_;
  std::string text_;
  bool first_ = true;
};

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
  auto to = out->inplace_data<T>();
  TextMemory memory;
  for (size_t i = 0; i < in.size(); ++i) {
    if constexpr (std::is_same_v<decltype(f(in[i])), T>) {
      to[i] = f(in[i]);
    } else {
      TF_ASSIGN_OR_RETURN(to[i], f(in[i]));
    }
    if constexpr (std::is_same_v<T, std::string>) TF_RETURN_IF_ERROR(memory.Add(to[i].size()));
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
