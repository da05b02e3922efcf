// Puts tensors into one tensor and takes them out again.
#include <algorithm>
#include <cstring>

#include "core/text/strings.h"
#include "core/values/bools.h"
#include "kernels/cpu/wire/joined_tensors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

constexpr int64_t kJoinedMagic = 0x31306e696f6a6274;  // "tbjoin01"
constexpr int64_t kWord = sizeof(int64_t);

int64_t Aligned(int64_t bytes) {
  constexpr int64_t kTo = kTensorAlignment;
  return (bytes + kTo - 1) / kTo * kTo;
}

int64_t WordsOfDescription(int rank) { return 3 + rank; }

Status BadJoined(const Tensor& joined, const char* what) {
  return InvalidArgument("the ", joined.num_bytes(), " bytes of joined tensors are damaged: ", what);
}

}  // namespace

JoinedLayout::JoinedLayout(std::span<const Tensor* const> tensors) {
  const auto count = static_cast<int64_t>(tensors.size());
  header_ = {kJoinedMagic, count};
  int64_t word = 2 + count;
  for (const Tensor* tensor : tensors) {
    header_.push_back(word);
    word += WordsOfDescription(tensor->shape().rank());
  }
  bytes_ = Aligned(word * kWord);
  for (const Tensor* tensor : tensors) {
    header_.push_back(static_cast<int64_t>(tensor->dtype()));
    header_.push_back(tensor->shape().rank());
    for (int i = 0; i < tensor->shape().rank(); ++i) header_.push_back(tensor->shape().dim(i));
    header_.push_back(bytes_);
    begins_.push_back(bytes_);
    bytes_ += Aligned(static_cast<int64_t>(tensor->num_bytes()));
  }
}

int64_t JoinedBytes(std::span<const JoinedPart> parts) {
  int64_t words = 2 + std::ssize(parts), bytes = 0;
  for (const JoinedPart& part : parts) {
    words += WordsOfDescription(part.rank);
    bytes += Aligned(part.bytes);
  }
  return Aligned(words * kWord) + bytes;
}

StatusOr<Tensor> TakeJoined(const Tensor& joined, int64_t index) {
  if (joined.shape().rank() != 1) return BadJoined(joined, "they are no vector");
  const auto* const bytes = reinterpret_cast<const char*>(joined.data<float>().data());
  const auto size = static_cast<int64_t>(joined.num_bytes());
  // The memory may belong to another process, so each word is read once, and then checked.
  const auto word = [&](int64_t at) {
    int64_t value;
    std::memcpy(&value, bytes + at * kWord, kWord);
    return value;
  };
  const int64_t words = size / kWord;
  if (words < 2 || word(0) != kJoinedMagic) return BadJoined(joined, "they do not begin as such");
  const int64_t count = word(1);
  if (index >= count || index >= words - 2) return BadJoined(joined, "there are too few tensors");
  int64_t at = word(2 + index);
  if (at < 0 || at > words - WordsOfDescription(0)) return BadJoined(joined, "a description is missing");
  const int64_t dtype_number = word(at), rank = word(at + 1);
  if (rank < 0 || rank > words - at - WordsOfDescription(0)) return BadJoined(joined, "a description is cut off");
  const auto dtype = static_cast<DType>(dtype_number);
  if (dtype_number != static_cast<int64_t>(dtype) || !IsPlain(dtype)) return BadJoined(joined, "a dtype is wrong");
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < rank; ++i) dims.push_back(word(at + 2 + i));
  const int64_t begin = word(at + 2 + rank);
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; })) return BadJoined(joined, "a shape is negative");
  if (begin < 0 || begin > size) return BadJoined(joined, "a tensor is outside of them");
  const Shape shape{std::span<const int64_t>(dims)};
  const auto offset = static_cast<size_t>(bytes - static_cast<const char*>(joined.buffer()->data()) + begin);
  TF_ASSIGN_OR_RETURN(Tensor view, Tensor::FromBuffer(joined.buffer(), offset, dtype, shape));
  const bool aligned = reinterpret_cast<uintptr_t>(view.raw_data()) % kTensorAlignment == 0;
  // What another process may still change must be valid whatever its bits are (cluster/exchange/tensor_codec.cc).
  if (aligned && (IsFloating(dtype) || (joined.buffer()->writable() && dtype != kBool))) return view;
  TF_ASSIGN_OR_RETURN(Tensor copy, Tensor::Create(dtype, shape));
  std::memcpy(copy.inplace_raw_data(), view.raw_data(), copy.num_bytes());
  NormalizeBools(&copy);
  return copy;
}

namespace {

Status JoinTensors(KernelContext& ctx) {
  std::vector<const Tensor*> tensors;
  for (int i = 0; i < ctx.num_inputs(); ++i) tensors.push_back(&ctx.input(i));
  const JoinedLayout layout(tensors);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {layout.bytes() / static_cast<int64_t>(sizeof(float))}));
  auto* const bytes = reinterpret_cast<char*>(out->inplace_data<float>().data());
  std::memcpy(bytes, layout.header().data(), layout.header().size() * sizeof(int64_t));
  const double bytes_of_one = static_cast<double>(layout.bytes()) / static_cast<double>(tensors.size());
  ctx.pool().ParallelFor(
      std::ssize(tensors), EstimatedNs({.bytes = 2 * bytes_of_one}), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const Tensor& tensor = *tensors[static_cast<size_t>(i)];
          if (tensor.num_bytes() == 0) continue;
          std::memcpy(bytes + layout.begin_of(static_cast<size_t>(i)), tensor.raw_data(), tensor.num_bytes());
        }
      });
  return OkStatus();
}

Cost JoinCost(const CostContext& c) {
  Cost cost;
  for (int i = 0; i < c.num_inputs(); ++i) cost.bytes += 2 * c.input_bytes(i);
  return cost;
}

class TakeJoinedKernel final : public Kernel {
 public:
  explicit TakeJoinedKernel(const KernelConstruction& c)
      : index_(c.attr<int64_t>("index")), dtype_(c.attr<DType>("T")), shape_(c.attr<Shape>("shape")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(Tensor taken, TakeJoined(ctx.input(0), index_));
    if (taken.dtype() != dtype_ || !taken.shape().IsCompatibleWith(shape_)) {
      return InvalidArgument("tensor ", index_, " of the joined ones is ", taken.dtype(), taken.shape(), " where ",
                             dtype_, shape_, " was expected");
    }
    ctx.set_output(0, std::move(taken));
    return OkStatus();
  }

 private:
  const int64_t index_;
  const DType dtype_;
  const Shape shape_;
};

}  // namespace

void RegisterWireJoinKernels(KernelRegistry& r) {
  r.Add("_JoinTensors", {}, JoinTensors, JoinCost);
  r.Add<TakeJoinedKernel>("_TakeJoined", {}, kNoCost);
}

}  // namespace tensorbraid::cpu
