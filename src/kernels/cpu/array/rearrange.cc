// Kernels that repeat, transpose or reverse tensors (Tile, Transpose, ReverseV2), InvertPermutation and Where.
#include <algorithm>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "runtime/kernel/kernel.h"
#include "runtime/variables/tensor_rows.h"

namespace tensorbraid::cpu {
namespace {

// Writes the tiled block of dimensions [d, rank) of `in` and advances `from` and `to` past the elements that were read
// and written. Dimensions from `plain` on have a multiple of 1.
template <typename E>
void TileBlock(const Shape& in, const IntVector& multiples, int d, int plain, const E*& from, E*& to) {
  E* const start = to;
  if (d >= plain) {
    const int64_t n = SizeOf(in, d, in.rank());
    CopyElements(from, n, to);
    from += n;
    to += n;
    return;
  }
  for (int64_t i = 0; i < in.dim(d); ++i) TileBlock(in, multiples, d + 1, plain, from, to);
  const int64_t block = to - start;
  for (int64_t m = 1; m < multiples[d]; ++m, to += block) CopyElements(start, block, to);
}

Status Tile(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  if (ctx.input(1).shape().rank() != 1) {
    return InvalidArgument("Expected multiples to be 1-D, with one for each dimension, got shape ",
                           ctx.input(1).shape());
  }
  TF_ASSIGN_OR_RETURN(const IntVector multiples, IntegersOf(ctx.input(1), "the multiples"));
  if (static_cast<int>(multiples.size()) != in.rank()) {
    return InvalidArgument("there must be one multiple for each of ", in.rank(), " dimensions, got ", multiples.size());
  }
  Shape shape;
  int plain = in.rank();
  for (int i = 0; i < in.rank(); ++i) {
    int64_t size;
    if (multiples[i] < 0 || __builtin_mul_overflow(in.dim(i), multiples[i], &size)) {
      return InvalidArgument("multiple ", multiples[i], " is out of range for a dimension of size ", in.dim(i));
    }
    shape.AddDim(size);
  }
  while (plain > 0 && multiples[plain - 1] == 1) --plain;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    const E* from = Elements<E>(ctx.input(0));
    E* to = MutableElements<E>(*out);
    TileBlock(in, multiples, 0, plain, from, to);
    return OkStatus();
  });
}

// Merges dimensions that the permutation keeps next to each other, to reduce the number of loops. Returns the sizes of
// the input's merged dimensions and sets `*perm` to their permutation.
IntVector MergeDimensions(const Shape& shape, IntVector* perm) {
  const int rank = shape.rank();
  IntVector group(rank);  // the group of each input dimension; groups are numbered in the order of the output
  int groups = 0;
  for (int i = 0; i < rank; ++i) {
    if (i == 0 || (*perm)[i] != (*perm)[i - 1] + 1) ++groups;
    group[(*perm)[i]] = groups - 1;
  }
  IntVector sizes;
  IntVector input_order;  // the groups in the order of the input
  for (int d = 0; d < rank; ++d) {
    if (d == 0 || group[d] != group[d - 1]) {
      sizes.push_back(1);
      input_order.push_back(group[d]);
    }
    sizes.back() *= shape.dim(d);
  }
  perm->assign(groups, 0);
  for (size_t i = 0; i < input_order.size(); ++i) (*perm)[input_order[i]] = static_cast<int64_t>(i);
  return sizes;
}

// Transposes [rows, columns] to [columns, rows] for input columns [first, last), in tiles that fit the cache.
template <typename E>
void TransposeMatrix(const E* from, int64_t rows, int64_t columns, int64_t first, int64_t last, E* to) {
  constexpr int64_t kTile = 32;
  for (int64_t c = first; c < last; c += kTile) {
    const int64_t c_end = std::min(c + kTile, last);
    for (int64_t r = 0; r < rows; r += kTile) {
      const int64_t r_end = std::min(r + kTile, rows);
      for (int64_t i = c; i < c_end; ++i) {
        for (int64_t j = r; j < r_end; ++j) to[i * rows + j] = from[j * columns + i];
      }
    }
  }
}

template <typename E>
void TransposeElements(ThreadPool& pool, const E* from, const IntVector& sizes, const IntVector& perm, E* to) {
  const int rank = static_cast<int>(sizes.size());
  if (rank == 2) {
    pool.ParallelFor(sizes[1], 0.5 * static_cast<double>(sizes[0]),
                     [&](int64_t begin, int64_t end) { TransposeMatrix(from, sizes[0], sizes[1], begin, end, to); });
    return;
  }
  IntVector in_strides(rank, 1);
  for (int d = rank - 2; d >= 0; --d) in_strides[d] = in_strides[d + 1] * sizes[d + 1];
  IntVector out_sizes(rank);
  IntVector strides(rank);
  for (int i = 0; i < rank; ++i) {
    out_sizes[i] = sizes[perm[i]];
    strides[i] = in_strides[perm[i]];
  }
  const int64_t row = out_sizes[rank - 1];
  const int64_t step = strides[rank - 1];
  int64_t rows = 1;
  for (int d = 0; d + 1 < rank; ++d) rows *= out_sizes[d];
  pool.ParallelFor(rows, 1.0 * static_cast<double>(row) + 5, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t offset = 0;
      int64_t rest = r;
      for (int d = rank - 2; d >= 0; --d) {
        offset += rest % out_sizes[d] * strides[d];
        rest /= out_sizes[d];
      }
      E* at = to + r * row;
      if (step == 1) {
        CopyElements(from + offset, row, at);
      } else {
        for (int64_t i = 0; i < row; ++i) at[i] = from[offset + i * step];
      }
    }
  });
}

Status Transpose(KernelContext& ctx) {
  const Shape in = ctx.input(0).shape();
  TF_ASSIGN_OR_RETURN(IntVector perm, IntegersOf(ctx.input(1), "the permutation"));
  const int64_t rank = in.rank();
  std::vector<bool> seen(rank, false);
  bool valid = static_cast<int64_t>(perm.size()) == rank;
  for (size_t i = 0; valid && i < perm.size(); ++i) {
    if (perm[i] < 0) perm[i] += rank;
    valid = perm[i] >= 0 && perm[i] < rank && !seen[perm[i]];
    if (valid) seen[perm[i]] = true;
  }
  if (!valid) return InvalidArgument(ctx.input(1).ToString(), " is not a permutation of the dimensions of ", in);
  Shape shape;
  for (int64_t d : perm) shape.AddDim(in.dim(static_cast<int>(d)));
  const IntVector sizes = MergeDimensions(in, &perm);
  if (sizes.size() < 2) {
    ctx.set_output(0, ctx.TakeInput(0));  // no element moves
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    TransposeElements(ctx.pool(), Elements<E>(ctx.input(0)), sizes, perm, MutableElements<E>(*out));
    return OkStatus();
  });
}

template <typename T>
Status ConjugateTranspose(KernelContext& ctx) {
  TF_RETURN_IF_ERROR(Transpose(ctx));
  Tensor out = ctx.output(0);
  ctx.set_output(0, Tensor());
  // If no element has moved, the result is the input tensor, to which other references may exist.
  if (!out.IsWritable()) {
    TF_ASSIGN_OR_RETURN(out, CopyOf(out));
  }
  for (T& v : out.inplace_data<T>()) v = std::conj(v);
  ctx.set_output(0, std::move(out));
  return OkStatus();
}

template <typename I>
Status InvertPermutation(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.shape().rank() != 1) return InvalidArgument("a permutation must be a vector, got shape ", in.shape());
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
  const auto x = in.data<I>();
  const auto y = out->inplace_data<I>();
  std::fill(y.begin(), y.end(), I{-1});
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] < 0 || static_cast<size_t>(x[i]) >= x.size() || y[x[i]] != -1) {
      return InvalidArgument(in.ToString(), " is not a permutation");
    }
    y[x[i]] = static_cast<I>(i);
  }
  return OkStatus();
}

Status Reverse(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const int rank = in.shape().rank();
  TF_ASSIGN_OR_RETURN(const IntVector axes, IntegersOf(ctx.input(1), "the axes"));
  IntVector reversed(rank, 0);
  for (int64_t a : axes) {
    if (a < -rank || a >= rank) return InvalidArgument("axis ", a, " is out of valid range [", -rank, ", ", rank, ")");
    const int64_t axis = a < 0 ? a + rank : a;
    if (reversed[axis] != 0) return InvalidArgument("axis ", axis, " specified more than once");
    reversed[axis] = 1;
  }
  int last = rank;  // dimensions from here on stay as they are
  while (last > 0 && reversed[last - 1] == 0) --last;
  if (last == 0) {
    ctx.set_output(0, ctx.TakeInput(0));
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
  if (out->num_elements() == 0) return OkStatus();
  const int64_t inner = SizeOf(in.shape(), last, rank);
  const int64_t blocks = SizeOf(in.shape(), 0, last);
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    const E* from = Elements<E>(in);
    E* to = MutableElements<E>(*out);
    for (int64_t b = 0; b < blocks; ++b, to += inner) {
      int64_t source = 0;
      int64_t rest = b;
      int64_t stride = 1;
      for (int d = last - 1; d >= 0; --d) {
        const int64_t size = in.shape().dim(d);
        const int64_t at = rest % size;
        source += (reversed[d] != 0 ? size - 1 - at : at) * stride;
        stride *= size;
        rest /= size;
      }
      CopyElements(from + source * inner, inner, to);
    }
    return OkStatus();
  });
}

template <typename T>
bool IsTrue(const T& v) {
  if constexpr (kIsHalf<T>)
    return float(v) != 0;
  else
    return v != T{};
}

template <typename T>
Status Where(KernelContext& ctx) {
  const Shape& shape = ctx.input(0).shape();
  const auto x = ctx.input(0).data<T>();
  const int64_t count = std::count_if(x.begin(), x.end(), [](const T& v) { return IsTrue(v); });
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {count, shape.rank()}));
  int64_t* to = out->inplace_data<int64_t>().data();
  const int rank = shape.rank();
  for (size_t i = 0; i < x.size(); ++i) {
    if (!IsTrue(x[i])) continue;
    auto rest = static_cast<int64_t>(i);
    for (int d = rank - 1; d >= 0; --d) {
      to[d] = rest % shape.dim(d);
      rest /= shape.dim(d);
    }
    to += rank;
  }
  return OkStatus();
}

}  // namespace

void RegisterArrayRearrangeKernels(KernelRegistry& r) {
  r.Add("Tile", {}, Tile);
  r.Add("Transpose", {}, Transpose);
  using enum DType;
  r.Add("ConjugateTranspose",
        {{"T",
          {kFloat32, kFloat64, kFloat16, kBfloat16, kInt8, kInt16, kInt32, kInt64, kUint8, kUint16, kUint32, kUint64,
           kBool, kString, kResource, kVariant}}},
        Transpose);
  r.Add("ConjugateTranspose", {{"T", {kComplex64}}}, ConjugateTranspose<std::complex<float>>);
  r.Add("ConjugateTranspose", {{"T", {kComplex128}}}, ConjugateTranspose<std::complex<double>>);
  r.Add("InvertPermutation", {{"T", {kInt32}}}, InvertPermutation<int32_t>);
  r.Add("InvertPermutation", {{"T", {kInt64}}}, InvertPermutation<int64_t>);
  r.Add("ReverseV2", {}, Reverse);
  ForEachNumberType([&]<typename T>() { r.Add("Where", {{"T", {DTypeOf<T>::value}}}, Where<T>); });
  r.Add("Where", {{"T", {kBool}}}, Where<bool>);
}

}  // namespace tensorbraid::cpu
