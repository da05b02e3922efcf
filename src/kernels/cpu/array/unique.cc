// Kernels that find the distinct elements of a tensor, or those that another one lacks: Unique and ListDiff.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/text/strings.h"
#include "kernels/cpu/array/store_integers.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Whether two elements are equal. Numbers compare by value: 0 equals -0, and a NaN equals nothing.
template <typename T>
bool SameElement(const T& a, const T& b) {
  return a == b;
}
template <typename T>
uint64_t HashOf(const T& v) {
  if constexpr (kIsHalf<T>) {
    return absl::Hash<float>()(float(v));
  } else if constexpr (!std::is_arithmetic_v<T> && !std::is_same_v<T, std::string>) {
    return absl::HashOf(v.real(), v.imag());
  } else {
    return absl::Hash<T>()(v);
  }
}

// Sets output `output` to the vector of these integers.
Status SetIntegers(KernelContext& ctx, int output, std::span<const int64_t> values) {
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(output, {static_cast<int64_t>(values.size())}));
  StoreIntegers(values, 0, out);
  return OkStatus();
}

// The slices of a tensor along an axis. If the tensor is viewed as [outer, dim, inner], the elements of slice s are at
// offsets (o * dim + s) * inner + i, for each o and i. For a tensor without elements, `outer` is 0, because its
// dimensions may be so large that loops over them take minutes.
struct Slices {
  Slices(const Tensor& x, int axis)
      : outer(x.num_elements() == 0 ? 0 : SizeOf(x.shape(), 0, axis)),
        dim(x.shape().dim(axis)),
        inner(SizeOf(x.shape(), axis + 1, x.shape().rank())) {}
  int64_t outer, dim, inner;
};

// The functions that are compiled for each dtype.
struct Comparison {
  uint64_t (*hash)(const Tensor& x, const Slices& slices, int64_t s);
  bool (*same)(const Tensor& x, const Slices& slices, int64_t a, int64_t b);      // whether two slices are equal
  std::vector<uint64_t> (*hash_all)(const Tensor& x);                             // the hash of each element
  bool (*same_elements)(const Tensor& x, int64_t i, const Tensor& y, int64_t j);  // whether x[i] equals y[j]
};

template <typename T>
uint64_t HashOfSlice(const Tensor& x, const Slices& slices, int64_t s) {
  uint64_t h = 0;
  for (int64_t o = 0; o < slices.outer; ++o) {
    const T* row = Elements<T>(x) + (o * slices.dim + s) * slices.inner;
    for (int64_t i = 0; i < slices.inner; ++i) h = h * 0x9E3779B97F4A7C15 + HashOf(row[i]);
  }
  return h;
}
template <typename T>
bool SameSlices(const Tensor& x, const Slices& slices, int64_t a, int64_t b) {
  for (int64_t o = 0; o < slices.outer; ++o) {
    const T* row = Elements<T>(x) + o * slices.dim * slices.inner;
    for (int64_t i = 0; i < slices.inner; ++i) {
      if (!SameElement(row[a * slices.inner + i], row[b * slices.inner + i])) return false;
    }
  }
  return true;
}
template <typename T>
std::vector<uint64_t> HashesOf(const Tensor& x) {
  std::vector<uint64_t> hashes(x.num_elements());
  std::transform(Elements<T>(x), Elements<T>(x) + x.num_elements(), hashes.begin(), HashOf<T>);
  return hashes;
}
template <typename T>
bool SameElements(const Tensor& x, int64_t i, const Tensor& y, int64_t j) {
  return SameElement(Elements<T>(x)[i], Elements<T>(y)[j]);
}
template <typename T>
inline constexpr Comparison kComparison = {HashOfSlice<T>, SameSlices<T>, HashesOf<T>, SameElements<T>};

// Copies the elements of the chosen slices, in order: for each outer position, the elements of all chosen slices.
Status CopySlices(const Tensor& x, const Slices& slices, std::span<const int64_t> chosen, Tensor* y) {
  return ForElementsOf(x.dtype(), [&]<typename E>() {
    E* to = MutableElements<E>(*y);
    for (int64_t o = 0; o < slices.outer; ++o) {
      for (int64_t s : chosen) {
        CopyElements(Elements<E>(x) + (o * slices.dim + s) * slices.inner, slices.inner, to);
        to += slices.inner;
      }
    }
    return OkStatus();
  });
}

// The axis along which Unique compares slices. Checks the inputs.
StatusOr<int> UniqueAxis(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  int axis = 0;
  bool vector_wanted = true;
  if (ctx.num_inputs() > 1) {
    if (ctx.input(1).shape().rank() != 1) {
      return InvalidArgument("the axis must be a vector, got shape ", ctx.input(1).shape());
    }
    TF_ASSIGN_OR_RETURN(const IntVector axes, IntegersOf(ctx.input(1), "the axis"));
    if (axes.size() > 1) return InvalidArgument("axis must have at most one element, got ", axes.size());
    if (!axes.empty()) {
      TF_ASSIGN_OR_RETURN(axis, AxisOf(axes[0], x.shape().rank()));
      vector_wanted = false;
    }
  }
  if (vector_wanted && x.shape().rank() != 1) return InvalidArgument("x must be a vector, got shape ", x.shape());
  if (x.num_elements() > std::numeric_limits<int32_t>::max() ||
      x.shape().dim(axis) > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("x must have fewer than 2^31 elements, got shape ", x.shape());
  }
  return axis;
}

// Outputs: y (the distinct slices, in the order of their first occurrence), idx, and for some ops counts.
Status UniqueSlices(KernelContext& ctx, const Comparison& compare) {
  TF_ASSIGN_OR_RETURN(const int axis, UniqueAxis(ctx));
  const Tensor& x = ctx.input(0);
  const Slices slices(x, axis);
  // `firsts` has the first occurrence of each distinct slice. The map has, for each hash, the number of the first
  // distinct slice with this hash, and `next` chains the distinct slices that have the same hash.
  absl::flat_hash_map<uint64_t, int64_t> first_of_hash;
  constexpr int64_t kUsual = 1 << 14;
  first_of_hash.reserve(std::min(slices.dim, kUsual));
  std::vector<int64_t> firsts, next, counts;
  // Allocates the output first, because a tensor without elements may have any number of slices.
  TF_ASSIGN_OR_RETURN(Tensor * idx, ctx.AllocateOutput(1, {slices.dim}));
  for (int64_t s = 0; s < slices.dim; ++s) {
    const auto [it, is_new] = first_of_hash.try_emplace(compare.hash(x, slices, s), firsts.size());
    int64_t found = is_new ? -1 : it->second;
    int64_t last = -1;
    while (found >= 0 && !compare.same(x, slices, firsts[found], s)) {
      last = found;
      found = next[found];
    }
    if (found < 0) {
      found = static_cast<int64_t>(firsts.size());
      if (last >= 0) next[last] = found;
      firsts.push_back(s);
      next.push_back(-1);
      counts.push_back(0);
    }
    StoreIntegers(std::span(&found, 1), s, idx);
    ++counts[found];
  }
  Shape shape = x.shape();
  shape.set_dim(axis, static_cast<int64_t>(firsts.size()));
  TF_ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, shape));
  TF_RETURN_IF_ERROR(CopySlices(x, slices, firsts, y));
  if (ctx.num_outputs() > 2) TF_RETURN_IF_ERROR(SetIntegers(ctx, 2, counts));
  return OkStatus();
}

// Numbers integers in the order of their first occurrence. A hash table of its own, whose places are the numbers: they
// are found several times as fast as in a general one, and ids of embeddings are what Unique is used for most.
template <typename T>
class Numbering {
 public:
  explicit Numbering(size_t expected) : places_(std::bit_ceil(std::clamp(2 * expected, size_t{64}, kUsual))) {
    values_.reserve(std::min(expected, places_.size() / 2));
  }

  // The number of an integer, which is new if it equals the size before.
  uint32_t NumberOf(T integer) {
    if (2 * values_.size() >= places_.size()) Grow();
    uint32_t& place = PlaceOf(integer);
    if (place == 0) {
      values_.push_back(integer);
      place = static_cast<uint32_t>(values_.size());
    }
    return place - 1;
  }
  size_t size() const { return values_.size(); }
  // Those that were numbered, by their numbers.
  std::span<const T> values() const { return values_; }

 private:
  static constexpr size_t kUsual = 1 << 15;

  // The place that has this integer, or where it belongs.
  uint32_t& PlaceOf(T integer) {
    auto hash = static_cast<uint64_t>(integer) * 0x9E3779B97F4A7C15;
    hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93;
    for (size_t at = hash >> 32; true; ++at) {
      uint32_t& place = places_[at & (places_.size() - 1)];
      if (place == 0 || values_[place - 1] == integer) return place;
    }
  }
  void Grow() {
    places_.assign(2 * places_.size(), 0);
    for (size_t i = 0; i < values_.size(); ++i) PlaceOf(values_[i]) = static_cast<uint32_t>(i + 1);
  }

  std::vector<uint32_t> places_;  // numbers + 1; 0: none. Their number is a power of 2.
  std::vector<T> values_;
};

// UniqueSlices for a vector of integers.
template <typename T>
Status UniqueIntegers(KernelContext& ctx) {
  const std::span<const T> x = ctx.input(0).data<T>();
  TF_ASSIGN_OR_RETURN(Tensor * idx, ctx.AllocateOutput(1, {std::ssize(x)}));
  Numbering<T> numbering(x.size());
  std::vector<int64_t> counts;
  const bool counted = ctx.num_outputs() > 2;
  const auto number_all = [&](auto numbers) {
    for (size_t i = 0; i < x.size(); ++i) {
      const uint32_t number = numbering.NumberOf(x[i]);
      numbers[i] = static_cast<typename decltype(numbers)::value_type>(number);
      if (!counted) continue;
      if (number == counts.size()) counts.push_back(0);
      ++counts[number];
    }
  };
  if (idx->dtype() == kInt32) {
    number_all(idx->inplace_data<int32_t>());
  } else {
    number_all(idx->inplace_data<int64_t>());
  }
  TF_ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, {static_cast<int64_t>(numbering.size())}));
  std::ranges::copy(numbering.values(), y->inplace_data<T>().begin());
  return counted ? SetIntegers(ctx, 2, counts) : OkStatus();
}

template <typename T>
Status Unique(KernelContext& ctx) {
  if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, int32_t>) {
    TF_RETURN_IF_ERROR(UniqueAxis(ctx).status());
    if (ctx.input(0).shape().rank() == 1) return UniqueIntegers<T>(ctx);
  }
  return UniqueSlices(ctx, kComparison<T>);
}

// The elements of x that are not in y, and their indices in x.
Status ElementsNotIn(KernelContext& ctx, const Comparison& compare) {
  for (int i = 0; i < 2; ++i) {
    if (ctx.input(i).shape().rank() != 1) {
      return InvalidArgument(i == 0 ? "x" : "y", " must be a vector, got shape ", ctx.input(i).shape());
    }
  }
  const Tensor &x = ctx.input(0), &y = ctx.input(1);
  const std::vector<uint64_t> x_hashes = compare.hash_all(x), y_hashes = compare.hash_all(y);
  absl::flat_hash_map<uint64_t, std::vector<int64_t>> places;
  for (size_t i = 0; i < y_hashes.size(); ++i) places[y_hashes[i]].push_back(static_cast<int64_t>(i));
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const auto it = places.find(x_hashes[i]);
    const bool found = it != places.end() && std::any_of(it->second.begin(), it->second.end(),
                                                         [&](int64_t j) { return compare.same_elements(x, i, y, j); });
    if (!found) kept.push_back(i);
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {static_cast<int64_t>(kept.size())}));
  TF_RETURN_IF_ERROR(CopySlices(x, Slices(x, 0), kept, out));
  return SetIntegers(ctx, 1, kept);
}

template <typename T>
Status ListDiff(KernelContext& ctx) {
  return ElementsNotIn(ctx, kComparison<T>);
}

}  // namespace

void RegisterArrayUniqueKernels(KernelRegistry& r) {
  const auto unique = [&]<typename T>() {
    const TypeConstraints t = {{"T", {DTypeOf<T>::value}}};
    for (const char* op : {"Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2"}) r.Add(op, t, Unique<T>);
    r.Add("ListDiff", t, ListDiff<T>);
  };
  ForEachNumberType(unique);
  ForEachType<bool, std::string>(unique);
}

}  // namespace tensorbraid::cpu
