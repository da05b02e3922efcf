// Reorders, reshapes, concatenates, splits and slices sparse tensors, and fills empty rows; also the edit distance.
#include <cstring>
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/functors.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/sparse/fill_empty_rows.h"
#include "kernels/cpu/sparse/sparse.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

Status SparseReorder(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const SparseView in, SparseView::OfUnbounded(ctx.input(0), ctx.input(1), ctx.input(2)));
  TF_ASSIGN_OR_RETURN(const SparseOutput out, AllocateSparse(ctx, 0, in.size(), in.shape()));
  const std::vector<int64_t> order = in.Sorted();
  for (int64_t i = 0; i < in.size(); ++i) std::copy_n(in.index(order[i]), in.rank(), out.indices + i * in.rank());
  return ForElementsOf(in.values().dtype(), [&]<typename E>() {
    for (int64_t i = 0; i < in.size(); ++i) MutableElements<E>(*out.values)[i] = Elements<E>(in.values())[order[i]];
    return OkStatus();
  });
}

Status SparseReshape(KernelContext& ctx) {
  const Tensor& indices = ctx.input(0);
  if (indices.shape().rank() != 2) return InvalidArgument("indices must be a matrix, got shape ", indices.shape());
  for (int i = 1; i < 3; ++i) {
    if (ctx.input(i).shape().rank() != 1) {
      return InvalidArgument(i == 1 ? "the input's" : "the new", " shape must be a vector, got shape ",
                             ctx.input(i).shape());
    }
  }
  const auto from = ctx.input(1).data<int64_t>();
  const auto wanted = ctx.input(2).data<int64_t>();
  const auto rank = static_cast<int64_t>(from.size()), new_rank = static_cast<int64_t>(wanted.size());
  TF_RETURN_IF_ERROR(CheckIndexRank(indices, rank, "indices", "the input's shape"));
  int64_t total = 1;
  for (int64_t d : from) {
    if (d < 0) return InvalidArgument("the input's shape must not be negative, got ", ctx.input(1).ToString());
    int64_t product = 0;
    if (__builtin_mul_overflow(total, d, &product)) {
      return InvalidArgument("Encountered overflow when multiplying ", total, " with ", d, ": the input's shape is ",
                             ctx.input(1).ToString());
    }
    total = product;
  }
  std::vector<int64_t> to(wanted.begin(), wanted.end());
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& d : to) {
    if (d == -1 && open == nullptr) {
      open = &d;
    } else if (d == -1) {
      return InvalidArgument("only one output dimension may be -1, got ", ctx.input(2).ToString());
    } else if (d < 0 || __builtin_mul_overflow(known, d, &known)) {
      return InvalidArgument("sizes must not be negative (one may be -1), got ", ctx.input(2).ToString());
    }
  }
  if (open != nullptr) {
    if (known == 0)
      return InvalidArgument("cannot infer the -1 dimension of a shape that also has a 0, got ",
                             ctx.input(2).ToString());
    if (total % known != 0) {
      return InvalidArgument("the requested shape requires a multiple of ", known,
                             " dense values, but the sparse tensor has ", total);
    }
    *open = total / known;
    known = total;
  }
  if (known != total)
    return InvalidArgument("Input to reshape is a tensor with ", total, " dense values, but the requested shape has ",
                           known);
  const int64_t n = indices.shape().dim(0);
  const auto index = indices.data<int64_t>();
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {n, new_rank}));
  const auto result = out->inplace_data<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t x = index[i * rank + d];
      if (x < 0 || x >= from[d]) {
        return InvalidArgument("index ", x, " (of element ", i, ") is out of bounds for dimension ", d, " of ",
                               ctx.input(1).ToString());
      }
      at = at * from[d] + x;
    }
    for (int64_t d = new_rank - 1; d >= 0; --d) {
      result[i * new_rank + d] = at % to[d];
      at /= to[d];
    }
  }
  ctx.set_output(1, Tensor::Vector(to));
  return OkStatus();
}

// Concatenates tensors along one dimension. The elements of the output are in row-major order.
Status SparseConcat(KernelContext& ctx) {
  const int num = static_cast<int>(ctx.node().attr<int64_t>("N"));
  std::vector<SparseView> parts;
  for (int i = 0; i < num; ++i) {
    TF_ASSIGN_OR_RETURN(SparseView part, SparseView::Of(ctx.input(i), ctx.input(num + i), ctx.input(2 * num + i)));
    parts.push_back(std::move(part));
  }
  const int rank = parts[0].rank();
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(ctx.node().attr<int64_t>("concat_dim"), rank));
  IntVector shape = parts[0].shape();
  shape[axis] = 0;
  int64_t n = 0;
  for (int i = 0; i < num; ++i) {
    if (parts[i].rank() != rank) {
      return InvalidArgument("tensor ", i, " has rank ", parts[i].rank(), ", but tensor 0 has rank ", rank);
    }
    for (int d = 0; d < rank; ++d) {
      if (d != axis && parts[i].shape()[d] != shape[d]) {
        return InvalidArgument("Input shapes must match except along the axis: tensor ", i, " has size ",
                               parts[i].shape()[d], " in dimension ", d, ", but tensor 0 has ", shape[d]);
      }
    }
    if (__builtin_add_overflow(shape[axis], parts[i].shape()[axis], &shape[axis])) {
      return InvalidArgument("the sum of the sizes along dimension ", axis, " is too large");
    }
    n += parts[i].size();
  }
  std::vector<int64_t> indices(n * rank);
  std::vector<std::pair<int, int64_t>> sources;
  int64_t offset = 0, at = 0;
  for (int i = 0; i < num; ++i) {
    for (int64_t j = 0; j < parts[i].size(); ++j, ++at) {
      std::copy_n(parts[i].index(j), rank, indices.begin() + at * rank);
      indices[at * rank + axis] += offset;
      sources.emplace_back(i, j);
    }
    offset += parts[i].shape()[axis];
  }
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return CompareIndex(indices.data() + a * rank, indices.data() + b * rank, rank) < 0;
  });
  TF_ASSIGN_OR_RETURN(const SparseOutput out, AllocateSparse(ctx, 0, n, shape));
  for (int64_t i = 0; i < n; ++i) std::copy_n(indices.begin() + order[i] * rank, rank, out.indices + i * rank);
  return ForElementsOf(out.values->dtype(), [&]<typename E>() {
    for (int64_t i = 0; i < n; ++i) {
      const auto [part, j] = sources[order[i]];
      MutableElements<E>(*out.values)[i] = Elements<E>(parts[part].values())[j];
    }
    return OkStatus();
  });
}

// Copies the elements with the numbers `chosen` to a sparse output. `start` is subtracted from their indices.
Status TakeElements(const SparseView& in, const std::vector<int64_t>& chosen, const IntVector& start,
                    const SparseOutput& out) {
  for (size_t i = 0; i < chosen.size(); ++i) {
    for (int d = 0; d < in.rank(); ++d) out.indices[i * in.rank() + d] = in.index(chosen[i])[d] - start[d];
  }
  return ForElementsOf(in.values().dtype(), [&]<typename E>() {
    for (size_t i = 0; i < chosen.size(); ++i) {
      MutableElements<E>(*out.values)[i] = Elements<E>(in.values())[chosen[i]];
    }
    return OkStatus();
  });
}

// Splits along a dimension into parts of about equal size. If the size is not divisible, the first parts are larger by
// one.
Status SparseSplit(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const SparseView in, SparseView::OfInputs(ctx, 1));
  if (!ctx.input(0).shape().is_scalar()) {
    return InvalidArgument("axis should be a scalar, got shape ", ctx.input(0).shape());
  }
  TF_ASSIGN_OR_RETURN(const int64_t wanted, IntegerOf(ctx.input(0), "split_dim"));
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(wanted, in.rank()));
  const int num = static_cast<int>(ctx.node().attr<int64_t>("num_split"));
  const int64_t size = in.shape()[axis];
  if (num > size) return InvalidArgument("cannot split dimension ", axis, " of size ", size, " into ", num, " parts");
  const int64_t base = size / num, larger = size % num;
  std::vector<std::vector<int64_t>> chosen(num);
  for (int64_t i = 0; i < in.size(); ++i) {
    const int64_t at = in.index(i)[axis];
    chosen[at < larger * (base + 1) ? at / (base + 1) : larger + (at - larger * (base + 1)) / base].push_back(i);
  }
  IntVector start(in.rank(), 0);
  for (int p = 0; p < num; ++p) {
    IntVector shape = in.shape();
    shape[axis] = base + (p < larger ? 1 : 0);
    TF_ASSIGN_OR_RETURN(const SparseOutput out,
                        AllocateSparse(ctx, p, num + p, 2 * num + p, static_cast<int64_t>(chosen[p].size()), shape));
    TF_RETURN_IF_ERROR(TakeElements(in, chosen[p], start, out));
    start[axis] += shape[axis];
  }
  return OkStatus();
}

Status SparseSlice(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const SparseView in, SparseView::OfInputs(ctx, 0));
  TF_ASSIGN_OR_RETURN(const IntVector start, IntegersOf(ctx.input(3), "start"));
  TF_ASSIGN_OR_RETURN(const IntVector size, IntegersOf(ctx.input(4), "size"));
  const auto rank = static_cast<size_t>(in.rank());
  if (start.size() != rank || size.size() != rank) {
    return InvalidArgument("start and size must have an entry for each of ", rank, " dimensions, got ", start.size(),
                           " and ", size.size());
  }
  IntVector shape(rank);
  for (size_t d = 0; d < rank; ++d) {
    if (start[d] < 0 || size[d] < 0) return InvalidArgument("start and size must not be negative");
    shape[d] = start[d] < in.shape()[d] ? std::min(size[d], in.shape()[d] - start[d]) : 0;
  }
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < in.size(); ++i) {
    bool inside = true;
    for (size_t d = 0; d < rank && inside; ++d) {
      inside = in.index(i)[d] >= start[d] && in.index(i)[d] - start[d] < shape[d];
    }
    if (inside) chosen.push_back(i);
  }
  TF_ASSIGN_OR_RETURN(const SparseOutput out, AllocateSparse(ctx, 0, static_cast<int64_t>(chosen.size()), shape));
  return TakeElements(in, chosen, start, out);
}

// Assigns the gradients of the elements of a slice to the input elements that they were copied from. The slice has
// these elements in the order of the input.
Status SparseSliceGrad(KernelContext& ctx) {
  const Tensor &grad = ctx.input(0), &in = ctx.input(1), &out_indices = ctx.input(3);
  if (in.shape().rank() != 2 || out_indices.shape().rank() != 2) {
    return InvalidArgument("input_indices and output_indices must be matrices, got shapes ", in.shape(), " and ",
                           out_indices.shape());
  }
  if (grad.shape().rank() != 1 || grad.num_elements() != out_indices.shape().dim(0)) {
    return InvalidArgument("backprop_val_grad must have an element for each of ", out_indices.shape().dim(0),
                           " output indices, got shape ", grad.shape());
  }
  const int rank = static_cast<int>(in.shape().dim(1));
  TF_ASSIGN_OR_RETURN(const IntVector start, IntegersOf(ctx.input(2), "input_start"));
  if (out_indices.shape().dim(1) != rank || static_cast<int>(start.size()) != rank) {
    return InvalidArgument("input_indices, input_start and output_indices must have the same rank");
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {in.shape().dim(0)}));
  const auto a = in.data<int64_t>(), b = out_indices.data<int64_t>();
  const size_t element = DTypeSize(grad.dtype());
  const char* const from = static_cast<const char*>(grad.raw_data());
  char* const to = static_cast<char*>(out->inplace_raw_data());
  std::memset(to, 0, out->num_bytes());
  int64_t next = 0;
  for (int64_t i = 0; i < in.shape().dim(0); ++i) {
    bool same = next < grad.num_elements();
    for (int d = 0; d < rank && same; ++d) {
      same = static_cast<uint64_t>(a[i * rank + d]) ==
             static_cast<uint64_t>(b[next * rank + d]) + static_cast<uint64_t>(start[d]);
    }
    if (same) std::memcpy(to + i * element, from + next++ * element, element);
  }
  if (next != grad.num_elements()) {
    return Internal("only ", next, " of ", grad.num_elements(), " gradients match an element of the input");
  }
  return OkStatus();
}

Status SparseFillEmptyRows(KernelContext& ctx) {
  const Tensor &indices = ctx.input(0), &values = ctx.input(1), &shape = ctx.input(2);
  if (shape.shape().rank() != 1 || shape.num_elements() == 0) {
    return InvalidArgument("dense_shape must be a vector of at least one size, got shape ", shape.shape());
  }
  if (indices.shape().rank() != 2) return InvalidArgument("indices must be a matrix, got shape ", indices.shape());
  if (values.shape().rank() != 1) return InvalidArgument("values must be a vector, got shape ", values.shape());
  if (indices.shape().dim(0) != values.num_elements()) {
    return InvalidArgument("there are ", indices.shape().dim(0), " indices, but ", values.num_elements(), " values");
  }
  TF_RETURN_IF_ERROR(CheckIndexRank(indices, shape.num_elements(), "indices", "dense_shape"));
  if (shape.data<int64_t>()[0] < 0) {
    return InvalidArgument("dense_shape must not be negative, got ", shape.ToString());
  }
  return FillEmptyRows(ctx, indices, values, shape.data<int64_t>()[0], ctx.input(3));
}

struct Range {
  int64_t begin, end;
};

// The number of insertions, deletions and replacements that turn elements `of_b` of the vector `all_b` into elements
// `of_a` of the vector `all_a`. Only this function is compiled for each dtype.
template <typename T>
int64_t Distance(const Tensor& all_a, Range of_a, const Tensor& all_b, Range of_b) {
  const std::span<const T> a = all_a.data<T>().subspan(of_a.begin, of_a.end - of_a.begin);
  const std::span<const T> b = all_b.data<T>().subspan(of_b.begin, of_b.end - of_b.begin);
  std::vector<int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t diagonal = row[0];
    row[0] = static_cast<int64_t>(i) + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const int64_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// The element of a dense tensor at an index. Like TensorFlow, accepts an index beyond the size of a dimension as long
// as its row-major position is within the tensor, and otherwise returns Internal.
StatusOr<int64_t> PositionOf(const int64_t* index, const Shape& shape) {
  int64_t position = 0;
  bool overflows = false;
  for (int d = 0; d < shape.rank(); ++d) {
    overflows |= __builtin_mul_overflow(position, shape.dim(d), &position);
    overflows |= __builtin_add_overflow(position, index[d], &position);
  }
  if (!overflows && position >= 0 && position < shape.num_elements()) return position;
  std::string text;
  for (int d = 0; d < shape.rank(); ++d) text += StrCat(d > 0 ? "," : "", index[d]);
  return Internal("the sequence at index [", text, "] is outside of the output, which has shape ", shape);
}

// The edit distance of the sequences along the last dimension.
Status DistancesOf(KernelContext& ctx, int64_t (*distance_of)(const Tensor&, Range, const Tensor&, Range)) {
  TF_ASSIGN_OR_RETURN(const SparseView hypothesis, SparseView::OfUnbounded(ctx.input(0), ctx.input(1), ctx.input(2)));
  TF_ASSIGN_OR_RETURN(const SparseView truth, SparseView::OfUnbounded(ctx.input(3), ctx.input(4), ctx.input(5)));
  const int rank = hypothesis.rank();
  if (truth.rank() != rank)
    return InvalidArgument("hypothesis and truth must have the same rank, got ", rank, " and ", truth.rank());
  if (rank < 2) return InvalidArgument("hypothesis and truth must have rank 2 or more, got ", rank);
  Shape shape;
  for (int d = 0; d + 1 < rank; ++d) shape.AddDim(std::max(hypothesis.shape()[d], truth.shape()[d]));
  if (shape.num_elements() < 0) return InvalidArgument("the shapes have too many elements");
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const auto to = out->inplace_data<float>();
  std::fill(to.begin(), to.end(), 0.0f);
  const bool normalize = ctx.node().attr<bool>("normalize");
  const auto group_end = [&](const SparseView& v, int64_t i) {
    int64_t end = i + 1;
    while (end < v.size() && CompareIndex(v.index(i), v.index(end), rank - 1) == 0) ++end;
    return end;
  };
  for (int64_t i = 0, j = 0; i < hypothesis.size() || j < truth.size();) {
    const int order = i == hypothesis.size() ? 1
                      : j == truth.size()    ? -1
                                             : CompareIndex(hypothesis.index(i), truth.index(j), rank - 1);
    const int64_t i_end = order <= 0 ? group_end(hypothesis, i) : i;
    const int64_t j_end = order >= 0 ? group_end(truth, j) : j;
    const int64_t* at = order <= 0 ? hypothesis.index(i) : truth.index(j);
    TF_ASSIGN_OR_RETURN(const int64_t place, PositionOf(at, shape));
    const auto distance = static_cast<float>(distance_of(truth.values(), {j, j_end}, hypothesis.values(), {i, i_end}));
    to[place] = !normalize ? distance : distance == 0 ? 0 : distance / static_cast<float>(j_end - j);
    i = i_end;
    j = j_end;
  }
  return OkStatus();
}

template <typename T>
Status EditDistance(KernelContext& ctx) {
  return DistancesOf(ctx, Distance<T>);
}

}  // namespace

void RegisterSparseStructureKernels(KernelRegistry& r) {
  r.Add("SparseReorder", {}, SparseReorder);
  r.Add("SparseReshape", {}, SparseReshape);
  r.Add("SparseConcat", {}, SparseConcat);
  r.Add("SparseSplit", {}, SparseSplit);
  r.Add("SparseSlice", {}, SparseSlice);
  r.Add("SparseFillEmptyRows", {}, SparseFillEmptyRows);
  AddFillEmptyRowsGrad(r, "SparseFillEmptyRowsGrad");
  r.Add("EditDistance", {{"T", {kString}}}, EditDistance<std::string>);
  r.Add("EditDistance", {{"T", {kBool}}}, EditDistance<bool>);
  ForEachNumberType([&]<typename T>() {
    r.Add("SparseSliceGrad", {{"T", {DTypeOf<T>::value}}}, SparseSliceGrad);
    r.Add("EditDistance", {{"T", {DTypeOf<T>::value}}}, EditDistance<T>);
  });
}

}  // namespace tensorbraid::cpu
