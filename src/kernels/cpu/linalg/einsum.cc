// The kernel of Einsum: arranges each operand as [batch, rows, columns], computes a batch of matrix products, and
// arranges the axes of the result.
#include "ops/linalg/einsum.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/functors.h"
#include "kernels/cpu/gemm.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

using Labels = std::vector<int>;

bool Has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

// The order in which to visit the elements of a tensor: one size and one step per label. A label that occurs twice in
// the tensor steps along the diagonal.
struct Walk {
  std::vector<int64_t> sizes;
  std::vector<int64_t> steps;
  int64_t count() const { return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()); }
};

// The walk through a tensor of `shape`, whose axes have the labels `axes`, in the order of the labels in `order`.
Walk WalkOf(const Shape& shape, const Labels& axes, const Labels& order) {
  Walk w;
  for (int label : order) {
    int64_t size = 1, step = 0, stride = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (axes[axis] == label) {
        size = shape.dim(axis);
        step += stride;
      }
      stride *= shape.dim(axis);
    }
    w.sizes.push_back(size);
    w.steps.push_back(step);
  }
  return w;
}

// Calls f with the offset of each element in row-major order of the walk.
template <typename F>
void ForEachOffset(const Walk& w, const F& f) {
  const int rank = static_cast<int>(w.sizes.size());
  if (w.count() == 0) return;
  if (rank == 0) {
    f(0);
    return;
  }
  std::vector<int64_t> index(rank, 0);
  const int64_t inner = w.sizes[rank - 1], inner_step = w.steps[rank - 1];
  int64_t at = 0;
  while (true) {
    for (int64_t i = 0; i < inner; ++i) f(at + i * inner_step);
    int d = rank - 2;
    for (; d >= 0; --d) {
      at += w.steps[d];
      if (++index[d] < w.sizes[d]) break;
      at -= w.steps[d] * w.sizes[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

// The loops that are compiled for each dtype.
struct EinsumLoops {
  // Sets each element of `out` to a sum. For each offset of the walk `kept`, in order, it adds the elements that the
  // walk `over` visits from this offset on.
  void (*sum)(const Tensor& in, const Walk& kept, const Walk& over, Tensor* out);
  AnyGemm gemm;
};

template <typename T>
void SumOver(const Tensor& in, const Walk& kept, const Walk& over, Tensor* out) {
  const T* from = in.data<T>().data();
  T* to = out->inplace_data<T>().data();
  ForEachOffset(kept, [&](int64_t at) {
    using A = ComputeType<T>;
    A sum = A(0);
    ForEachOffset(over, [&](int64_t more) { sum = AddF::Apply(sum, static_cast<A>(from[at + more])); });
    *to++ = static_cast<T>(sum);
  });
}

class EinsumKernel : public Kernel {
 public:
  Status Compute(KernelContext& ctx) final {
    TF_RETURN_IF_ERROR(equation_.status());
    std::vector<Shape> shapes;
    std::vector<int> ranks;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      shapes.push_back(ctx.input(i).shape());
      ranks.push_back(shapes.back().rank());
    }
    if (shapes.size() != equation_->inputs.size()) {
      return InvalidArgument("the equation has ", equation_->inputs.size(), " operands, but the op has ", shapes.size(),
                             " inputs");
    }
    TF_ASSIGN_OR_RETURN(const EinsumEquation e, ExpandEinsum(*equation_, ranks));
    TF_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, EinsumSizes(e, shapes));
    Shape shape;
    for (int label : e.output) shape.AddDim(sizes[label]);
    if (e.inputs.size() == 1) {
      Labels order, summed;
      Add(&order, e.output, [](int) { return true; });
      Add(&summed, e.inputs[0], [&](int l) { return !Has(order, l); });
      TF_ASSIGN_OR_RETURN(const Tensor arranged, Arranged(ctx.input(0), e.inputs[0], order, summed));
      return Place(ctx, arranged, order, e.output, shape);
    }
    return Product(ctx, e, shape);
  }

 protected:
  EinsumKernel(const KernelConstruction& c, const EinsumLoops& loops)
      : loops_(loops), equation_(ParseEinsum(c.attr<std::string>("equation"))) {}

 private:
  // Adds the labels of `from` for which `wanted` returns true, without duplicates.
  template <typename F>
  static void Add(Labels* to, const Labels& from, const F& wanted) {
    for (int label : from) {
      if (wanted(label) && !Has(*to, label)) to->push_back(label);
    }
  }

  // The tensor with its axes in `order`, summed over the axes in `summed`.
  StatusOr<Tensor> Arranged(const Tensor& in, const Labels& axes, const Labels& order, const Labels& summed) const {
    const Walk kept = WalkOf(in.shape(), axes, order);
    const Shape shape{std::span<const int64_t>(kept.sizes)};
    if (axes == order && summed.empty()) return in;
    TF_ASSIGN_OR_RETURN(Tensor out, Tensor::Create(in.dtype(), shape));
    if (!summed.empty()) {
      loops_.sum(in, kept, WalkOf(in.shape(), axes, summed), &out);
      return out;
    }
    TF_RETURN_IF_ERROR(ForElementsOf(in.dtype(), [&]<typename E>() {
      const E* from = Elements<E>(in);
      E* to = MutableElements<E>(out);
      ForEachOffset(kept, [&](int64_t at) { *to++ = from[at]; });
      return OkStatus();
    }));
    return out;
  }

  // Sets the output from a tensor with axes in `order`. If a label occurs twice in the output, elements off the
  // diagonal are 0.
  static Status Place(KernelContext& ctx, const Tensor& in, const Labels& order, const Labels& output,
                      const Shape& shape) {
    if (order == output) {
      TF_ASSIGN_OR_RETURN(Tensor same, in.Reshaped(shape));
      ctx.set_output(0, std::move(same));
      return OkStatus();
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    if (order.size() != output.size()) std::memset(out->inplace_raw_data(), 0, out->num_bytes());
    const Walk walk = WalkOf(shape, output, order);
    return ForElementsOf(in.dtype(), [&]<typename E>() {
      const E* from = Elements<E>(in);
      E* to = MutableElements<E>(*out);
      ForEachOffset(walk, [&](int64_t at) { to[at] = *from++; });
      return OkStatus();
    });
  }

  // Computes the output from two operands. A label is in `batch` if both operands and the output have it; in
  // `contracted` if both operands have it; in `free` if one operand and the output have it; in `summed` if only one
  // operand has it.
  Status Product(KernelContext& ctx, const EinsumEquation& e, const Shape& shape) const {
    const Labels &a = e.inputs[0], &b = e.inputs[1];
    Labels batch, contracted, free[2], summed[2];
    Add(&batch, e.output, [&](int l) { return Has(a, l) && Has(b, l); });
    Add(&contracted, a, [&](int l) { return Has(b, l) && !Has(e.output, l); });
    Add(&free[0], a, [&](int l) { return !Has(b, l) && Has(e.output, l); });
    Add(&free[1], b, [&](int l) { return !Has(a, l) && Has(e.output, l); });
    Add(&summed[0], a, [&](int l) { return !Has(b, l) && !Has(e.output, l); });
    Add(&summed[1], b, [&](int l) { return !Has(a, l) && !Has(e.output, l); });
    Labels order_a = batch, order_b = batch;
    order_a.insert(order_a.end(), free[0].begin(), free[0].end());
    order_a.insert(order_a.end(), contracted.begin(), contracted.end());
    order_b.insert(order_b.end(), contracted.begin(), contracted.end());
    order_b.insert(order_b.end(), free[1].begin(), free[1].end());
    TF_ASSIGN_OR_RETURN(const Tensor x, Arranged(ctx.input(0), a, order_a, summed[0]));
    TF_ASSIGN_OR_RETURN(const Tensor y, Arranged(ctx.input(1), b, order_b, summed[1]));

    const int nb = static_cast<int>(batch.size());
    const Shape batch_x(x.shape().dims().first(nb)), batch_y(y.shape().dims().first(nb));
    TF_ASSIGN_OR_RETURN(const Shape batches, BroadcastShapes(batch_x, batch_y));
    const auto product_of = [](const Shape& s, size_t begin, size_t count) {
      int64_t n = 1;
      for (size_t i = begin; i < begin + count; ++i) n *= s.dim(static_cast<int>(i));
      return n;
    };
    const int64_t m = product_of(x.shape(), nb, free[0].size());
    const int64_t k = product_of(y.shape(), nb, contracted.size());
    const int64_t n = product_of(y.shape(), nb + contracted.size(), free[1].size());
    Shape product_shape = batches;
    for (size_t i = 0; i < free[0].size(); ++i) product_shape.AddDim(x.shape().dim(static_cast<int>(nb + i)));
    for (size_t i = 0; i < free[1].size(); ++i) {
      product_shape.AddDim(y.shape().dim(static_cast<int>(nb + contracted.size() + i)));
    }
    TF_ASSIGN_OR_RETURN(Tensor product, Tensor::Create(x.dtype(), product_shape));
    const int64_t size = static_cast<int64_t>(DTypeSize(x.dtype()));
    const char* const px = static_cast<const char*>(x.raw_data());
    const char* const py = static_cast<const char*>(y.raw_data());
    char* const to = static_cast<char*>(product.inplace_raw_data());
    const int64_t count = batches.num_elements();
    Parallel(ctx, count, 0.05 * m * n * k + 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        loops_.gemm(count > 1 ? nullptr : ctx.env().pool, /*transpose_a=*/false, /*transpose_b=*/false, {m, n, k},
                    px + MatrixAt(batch_x, batches, i) * m * k * size,
                    py + MatrixAt(batch_y, batches, i) * k * n * size, to + i * m * n * size);
      }
    });
    Labels order = batch;
    order.insert(order.end(), free[0].begin(), free[0].end());
    order.insert(order.end(), free[1].begin(), free[1].end());
    return Place(ctx, product, order, e.output, shape);
  }

  const EinsumLoops loops_;
  const StatusOr<EinsumEquation> equation_;
};

template <typename T>
class EinsumKernelOf final : public EinsumKernel {
 public:
  explicit EinsumKernelOf(const KernelConstruction& c) : EinsumKernel(c, {SumOver<T>, GemmOf<T>}) {}
};

template <typename... T>
void AddEinsum(KernelRegistry& r, Types<T...>) {
  (r.Add<EinsumKernelOf<T>>("Einsum", {{"T", {DTypeOf<T>::value}}}, EinsumCost), ...);
}

}  // namespace

void RegisterLinalgEinsumKernels(KernelRegistry& r) {
  AddEinsum(r, FloatTypes{} + ComplexTypes{} + Types<int32_t, int64_t>{});
}

}  // namespace tensorbraid::cpu
