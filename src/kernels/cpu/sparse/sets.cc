// Sets along the last dimension: their sizes, unions, intersections and differences.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/sparse/sparse.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

enum class SetOperation { kAMinusB, kBMinusA, kIntersection, kUnion };

// Sets have elements of type E: std::string, or int64_t for all integer dtypes.
using SetIntegers = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>;

template <typename E, typename... T>
std::vector<E> WidenedOf(const Tensor& t, Types<T...>) {
  std::vector<E> all;
  ((t.dtype() == DTypeOf<T>::value ? all.assign(t.data<T>().begin(), t.data<T>().end()) : void()), ...);
  return all;
}
template <typename E>
std::vector<E> SetElementsOf(const Tensor& t) {
  if constexpr (std::is_same_v<E, std::string>) {
    return WidenedOf<E>(t, Types<std::string>{});
  } else {
    return WidenedOf<E>(t, SetIntegers{});
  }
}

template <typename E, typename... T>
void NarrowTo(const std::vector<E>& elements, Tensor& t, Types<T...>) {
  ((t.dtype() == DTypeOf<T>::value ? void(std::copy(elements.begin(), elements.end(), t.inplace_data<T>().begin()))
                                   : void()),
   ...);
}
void SetElements(const std::vector<std::string>& elements, Tensor& t) { NarrowTo(elements, t, Types<std::string>{}); }
void SetElements(const std::vector<int64_t>& elements, Tensor& t) { NarrowTo(elements, t, SetIntegers{}); }

// The sets of a tensor. A group is a position in all dimensions but the last, and holds one set. The key is the
// row-major number of the group. Groups without elements may be missing.
template <typename T>
struct Sets {
  Shape groups;
  std::map<int64_t, std::set<T>> sets;
};

template <typename T>
StatusOr<Sets<T>> DenseSets(const Tensor& t) {
  const int rank = t.shape().rank();
  if (rank < 2) return InvalidArgument("a tensor of sets must have rank 2 or more, got shape ", t.shape());
  Sets<T> s{Shape(t.shape().dims().first(rank - 1)), {}};
  const std::vector<T> values = SetElementsOf<T>(t);
  const auto size = static_cast<size_t>(t.shape().dim(rank - 1));
  for (size_t i = 0; i < values.size(); ++i) s.sets[static_cast<int64_t>(i / size)].insert(values[i]);
  return s;
}

template <typename T>
StatusOr<Sets<T>> SparseSets(KernelContext& ctx, int first, bool validate, int least_rank) {
  TF_ASSIGN_OR_RETURN(const SparseView v, SparseView::OfInputs(ctx, first));
  if (v.rank() < least_rank) {
    return InvalidArgument("a tensor of sets must have rank ", least_rank, " or more, got ", v.rank());
  }
  Sets<T> s{Shape(std::span<const int64_t>(v.shape().data(), v.rank() - 1)), {}};
  if (s.groups.num_elements() < 0) return InvalidArgument("the shape has too many elements");
  const std::vector<T> values = SetElementsOf<T>(v.values());
  for (int64_t i = 0; i < v.size(); ++i) {
    if (validate && i > 0 && CompareIndex(v.index(i - 1), v.index(i), v.rank()) >= 0) {
      return InvalidArgument("index ", i, " is repeated or out of order");
    }
    int64_t group = 0;
    for (int d = 0; d + 1 < v.rank(); ++d) group = group * v.shape()[d] + v.index(i)[d];
    s.sets[group].insert(values[i]);
  }
  return s;
}

template <typename T>
Status SetSize(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Sets<T> s,
                      SparseSets<T>(ctx, 0, ctx.node().attr<bool>("validate_indices"), /*least_rank=*/1));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, s.groups));
  const auto to = out->inplace_data<int32_t>();
  std::fill(to.begin(), to.end(), 0);
  for (const auto& [group, set] : s.sets) to[group] = static_cast<int32_t>(set.size());
  return OkStatus();
}

StatusOr<SetOperation> OperationOf(const std::string& name) {
  if (name == "a-b") return SetOperation::kAMinusB;
  if (name == "b-a") return SetOperation::kBMinusA;
  if (name == "intersection") return SetOperation::kIntersection;
  if (name == "union") return SetOperation::kUnion;
  return InvalidArgument("set_operation must be a-b, b-a, intersection or union, got '", name, "'");
}

template <typename T>
std::vector<T> Combined(const std::set<T>& a, const std::set<T>& b, SetOperation operation) {
  std::vector<T> out;
  const auto to = std::back_inserter(out);
  switch (operation) {
    case SetOperation::kAMinusB:
      std::set_difference(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case SetOperation::kBMinusA:
      std::set_difference(b.begin(), b.end(), a.begin(), a.end(), to);
      break;
    case SetOperation::kIntersection:
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case SetOperation::kUnion:
      std::set_union(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
  }
  return out;
}

// Sets the outputs to the combined sets, each sorted, as a sparse tensor. Its last dimension has the size of the
// largest set.
template <typename T>
Status Combine(KernelContext& ctx, const Sets<T>& a, const Sets<T>& b) {
  TF_ASSIGN_OR_RETURN(const SetOperation operation, OperationOf(ctx.node().attr<std::string>("set_operation")));
  if (a.groups != b.groups)
    return InvalidArgument("both inputs must have the same shape except for the last dimension, got ", a.groups,
                           " and ", b.groups);
  std::set<int64_t> groups;
  for (const auto* s : {&a, &b}) {
    for (const auto& [group, set] : s->sets) groups.insert(group);
  }
  const std::set<T> none;
  const auto set_of = [&](const Sets<T>& s, int64_t group) -> const std::set<T>& {
    const auto it = s.sets.find(group);
    return it == s.sets.end() ? none : it->second;
  };
  std::vector<std::pair<int64_t, std::vector<T>>> results;
  int64_t total = 0, largest = 0;
  for (int64_t group : groups) {
    std::vector<T> result = Combined(set_of(a, group), set_of(b, group), operation);
    const auto size = static_cast<int64_t>(result.size());
    if (size == 0) continue;
    total += size;
    largest = std::max(largest, size);
    results.emplace_back(group, std::move(result));
  }
  IntVector shape(a.groups.dims().begin(), a.groups.dims().end());
  shape.push_back(largest);
  TF_ASSIGN_OR_RETURN(const SparseOutput out, AllocateSparse(ctx, 0, total, shape));
  int64_t* index = out.indices;
  std::vector<T> elements;
  elements.reserve(static_cast<size_t>(total));
  for (const auto& [group, result] : results) {
    for (size_t i = 0; i < result.size(); ++i, index += shape.size()) {
      int64_t rest = group;
      for (int d = a.groups.rank() - 1; d >= 0; --d) {
        index[d] = rest % a.groups.dim(d);
        rest /= a.groups.dim(d);
      }
      index[a.groups.rank()] = static_cast<int64_t>(i);
      elements.push_back(result[i]);
    }
  }
  SetElements(elements, *out.values);
  return OkStatus();
}

template <typename T>
Status DenseToDense(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Sets<T> a, DenseSets<T>(ctx.input(0)));
  TF_ASSIGN_OR_RETURN(const Sets<T> b, DenseSets<T>(ctx.input(1)));
  return Combine(ctx, a, b);
}

template <typename T>
Status DenseToSparse(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Sets<T> a, DenseSets<T>(ctx.input(0)));
  TF_ASSIGN_OR_RETURN(const Sets<T> b,
                      SparseSets<T>(ctx, 1, ctx.node().attr<bool>("validate_indices"), /*least_rank=*/2));
  return Combine(ctx, a, b);
}

template <typename T>
Status SparseToSparse(KernelContext& ctx) {
  const bool validate = ctx.node().attr<bool>("validate_indices");
  TF_ASSIGN_OR_RETURN(const Sets<T> a, SparseSets<T>(ctx, 0, validate, /*least_rank=*/2));
  TF_ASSIGN_OR_RETURN(const Sets<T> b, SparseSets<T>(ctx, 3, validate, /*least_rank=*/2));
  return Combine(ctx, a, b);
}

}  // namespace

void RegisterSparseSetsKernels(KernelRegistry& r) {
  const auto add = [&]<typename E>(const TypeConstraints& t) {
    r.Add("SetSize", t, SetSize<E>);
    r.Add("DenseToDenseSetOperation", t, DenseToDense<E>);
    r.Add("DenseToSparseSetOperation", t, DenseToSparse<E>);
    r.Add("SparseToSparseSetOperation", t, SparseToSparse<E>);
  };
  add.operator()<std::string>({{"T", {kString}}});
  add.operator()<int64_t>({{"T", {kInt8, kInt16, kInt32, kInt64, kUint8, kUint16}}});
}

}  // namespace tensorbraid::cpu
