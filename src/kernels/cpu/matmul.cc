// MatMul and batches of it.
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/gemm.h"

namespace tensorbraid::cpu {
namespace {

// The complex conjugates of all elements.
template <typename T>
StatusOr<Tensor> Conjugates(const Tensor& t) {
  TF_ASSIGN_OR_RETURN(Tensor result, Tensor::Create(t.dtype(), t.shape()));
  const auto from = t.data<T>();
  auto to = result.mutable_data<T>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = Conjugate(from[i]);
  return result;
}

template <typename T>
class MatMulKernel final : public Kernel {
 public:
  explicit MatMulKernel(const KernelConstruction& c)
      : transpose_a_(c.attr<bool>("transpose_a")), transpose_b_(c.attr<bool>("transpose_b")) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& a = ctx.input(0);
    const Tensor& b = ctx.input(1);
    if (a.shape().rank() != 2) return InvalidArgument("a must be a matrix, got shape ", a.shape());
    if (b.shape().rank() != 2) return InvalidArgument("b must be a matrix, got shape ", b.shape());
    TF_ASSIGN_OR_RETURN(const MatMulSizes sizes, MatMulSizesOf(a.shape(), b.shape(), transpose_a_, transpose_b_));
    const auto [m, n, k] = sizes;
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {m, n}));
    Gemm<T>(ctx.env().pool, transpose_a_, transpose_b_, m, n, k, a.data<T>().data(), b.data<T>().data(),
            out->mutable_data<T>().data());
    return OkStatus();
  }

 private:
  const bool transpose_a_;
  const bool transpose_b_;
};

template <typename T>
class BatchMatMulKernel final : public Kernel {
 public:
  explicit BatchMatMulKernel(const KernelConstruction& c)
      : adj_x_(c.attr<bool>("adj_x")), adj_y_(c.attr<bool>("adj_y")), broadcast_(c.node().type() != "BatchMatMul") {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    const Tensor& y = ctx.input(1);
    TF_ASSIGN_OR_RETURN(const MatMulSizes sizes, MatMulSizesOf(x.shape(), y.shape(), adj_x_, adj_y_));
    const int64_t m = sizes.m, n = sizes.n, k = sizes.k;
    const int rx = x.shape().rank(), ry = y.shape().rank();
    const Shape x_batch(x.shape().dims().first(rx - 2));
    const Shape y_batch(y.shape().dims().first(ry - 2));
    if (!broadcast_ && x_batch != y_batch) {
      return InvalidArgument("batches must be the same, got ", x.shape(), " and ", y.shape());
    }
    TF_ASSIGN_OR_RETURN(const Shape batch, BroadcastShapes(x_batch, y_batch));
    Shape shape = batch;
    shape.AddDim(m);
    shape.AddDim(n);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
    Tensor x_used = x, y_used = y;
    if constexpr (kIsComplex<T>) {
      if (adj_x_) {
        TF_ASSIGN_OR_RETURN(x_used, Conjugates<T>(x));
      }
      if (adj_y_) {
        TF_ASSIGN_OR_RETURN(y_used, Conjugates<T>(y));
      }
    }
    const T* px = x_used.data<T>().data();
    const T* py = y_used.data<T>().data();
    T* po = out->mutable_data<T>().data();
    const int64_t count = batch.num_elements();
    const bool split = count > 1;
    Parallel(ctx, count, 0.02 * m * n * k + 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Gemm<T>(split ? nullptr : ctx.env().pool, adj_x_, adj_y_, m, n, k, px + MatrixAt(x_batch, batch, i) * m * k,
                py + MatrixAt(y_batch, batch, i) * k * n, po + i * m * n);
      }
    });
    return OkStatus();
  }

 private:
  const bool adj_x_;
  const bool adj_y_;
  const bool broadcast_;
};

template <typename... T>
void AddMatMul(KernelRegistry& r, Types<T...>) {
  (r.Add<MatMulKernel<T>>("MatMul", {{"T", {DTypeOf<T>::value}}}, KernelCost::kExpensive), ...);
  (r.Add<BatchMatMulKernel<T>>("BatchMatMul", {{"T", {DTypeOf<T>::value}}}, KernelCost::kExpensive), ...);
  (r.Add<BatchMatMulKernel<T>>("BatchMatMulV2", {{"T", {DTypeOf<T>::value}}}, KernelCost::kExpensive), ...);
  (r.Add<BatchMatMulKernel<T>>(
       "BatchMatMulV3", {{"Ta", {DTypeOf<T>::value}}, {"Tb", {DTypeOf<T>::value}}, {"Tout", {DTypeOf<T>::value}}},
       KernelCost::kExpensive),
   ...);
}

}  // namespace

void RegisterMatMulKernels(KernelRegistry& r) { AddMatMul(r, NumberTypes{}); }

}  // namespace tensorbraid::cpu
