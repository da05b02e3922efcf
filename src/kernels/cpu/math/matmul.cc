// Products of matrices, and of batches of matrices.
#include <algorithm>
#include <numeric>

#include "core/text/strings.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/nn/bias_relu.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The complex conjugates of all elements.
template <typename T>
StatusOr<Tensor> Conjugates(const Tensor& t) {
  TF_ASSIGN_OR_RETURN(Tensor result, Tensor::Create(t.dtype(), t.shape()));
  const auto from = t.data<T>();
  auto to = result.inplace_data<T>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = Conjugate(from[i]);
  return result;
}

template <typename T>
class MatMulKernel final : public Kernel {
 public:
  explicit MatMulKernel(const KernelConstruction& c)
      : transpose_a_(c.attr<bool>("transpose_a")), transpose_b_(c.attr<bool>("transpose_b")) {}

  Status Compute(KernelContext& ctx) override { return Multiply(ctx).status(); }

  // Returns the output.
  StatusOr<Tensor*> Multiply(KernelContext& ctx) const {
    const Tensor& a = ctx.input(0);
    const Tensor& b = ctx.input(1);
    if (a.shape().rank() != 2) return InvalidArgument("a must be a matrix, got shape ", a.shape());
    if (b.shape().rank() != 2) return InvalidArgument("b must be a matrix, got shape ", b.shape());
    TF_ASSIGN_OR_RETURN(const MatMulSizes sizes, MatMulSizesOf(a.shape(), b.shape(), transpose_a_, transpose_b_));
    const auto [m, n, k] = sizes;
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {m, n}));
    Gemm<T>(ctx.env().pool, transpose_a_, transpose_b_, m, n, k, a.data<T>().data(), b.data<T>().data(),
            out->inplace_data<T>().data());
    return out;
  }

 private:
  const bool transpose_a_;
  const bool transpose_b_;
};

// A product plus a bias, optionally followed by Relu (bias_relu.h).
class FusedMatMulKernel final : public Kernel {
 public:
  explicit FusedMatMulKernel(const KernelConstruction& c) : product_(c), relu_(ReadFusedRelu(c.node())) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(relu_.status());
    TF_ASSIGN_OR_RETURN(Tensor * out, product_.Multiply(ctx));
    TF_ASSIGN_OR_RETURN(const BiasRelu bias, MakeBiasRelu(ctx.input(2), out->shape().dim(1), *relu_));
    bias.ApplyShared(ctx, out->inplace_data<float>().data(), out->shape().dim(0));
    return OkStatus();
  }

 private:
  MatMulKernel<float> product_;
  const StatusOr<bool> relu_;
};

// The sum of N products, of inputs i and N + i for i < N. All products are added to a part of the sum while it is in
// the cache, so that a sum of many products with a short inner size is written to memory once.
class SumOfMatMulsKernel final : public Kernel {
 public:
  explicit SumOfMatMulsKernel(const KernelConstruction& c)
      : transpose_a_(c.attr<bool>("transpose_a")), transpose_b_(c.attr<bool>("transpose_b")) {}

  Status Compute(KernelContext& ctx) override {
    const int terms = ctx.num_inputs() / 2;
    MatMulSizes sum;
    std::vector<int64_t> inner;
    for (int i = 0; i < terms; ++i) {
      const Shape &a = ctx.input(i).shape(), &b = ctx.input(terms + i).shape();
      if (a.rank() != 2 || b.rank() != 2) {
        return InvalidArgument("the operands of product ", i, " must be matrices, got shapes ", a, " and ", b);
      }
      auto sizes = MatMulSizesOf(a, b, transpose_a_, transpose_b_);
      if (!sizes.ok()) return Annotate(sizes.status(), StrCat("product ", i));
      if (i == 0) sum = *sizes;
      if (sizes->m != sum.m || sizes->n != sum.n) {
        return InvalidArgument("product ", i, " has shape [", sizes->m, ",", sizes->n, "], but product 0 has [", sum.m,
                               ",", sum.n, "]");
      }
      inner.push_back(sizes->k);
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {sum.m, sum.n}));
    if (out->num_elements() == 0) return OkStatus();
    float* const to = out->inplace_data<float>().data();
    const int64_t all_inner = std::accumulate(inner.begin(), inner.end(), int64_t{0});
    constexpr int64_t kGrain = 32;                  // rows; with fewer, products are inefficient
    constexpr int64_t kCachedElements = 128 << 10;  // of the output
    const int64_t rows_at_once = std::max(kGrain, kCachedElements / sum.n);
    Parallel(ctx, (sum.m + kGrain - 1) / kGrain, 0.02 * kGrain * sum.n * all_inner, [&](int64_t begin, int64_t end) {
      const int64_t last = std::min(sum.m, end * kGrain);
      for (int64_t row = begin * kGrain; row < last; row += rows_at_once) {
        for (int i = 0; i < terms; ++i) {
          const int64_t a_stride = transpose_a_ ? sum.m : inner[i];
          const GemmPart part{.transpose_a = transpose_a_,
                              .transpose_b = transpose_b_,
                              .m = std::min(rows_at_once, last - row),
                              .n = sum.n,
                              .k = inner[i],
                              .a_stride = a_stride,
                              .b_stride = transpose_b_ ? inner[i] : sum.n,
                              .c_stride = sum.n,
                              .add = i > 0};
          const float* const a = ctx.input(i).data<float>().data() + row * (transpose_a_ ? 1 : a_stride);
          Gemm<float>(/*pool=*/nullptr, part, a, ctx.input(terms + i).data<float>().data(), to + row * sum.n);
        }
      }
    });
    return OkStatus();
  }

 private:
  const bool transpose_a_;
  const bool transpose_b_;
};

// The sizes and the output of the products of two batches of matrices.
struct BatchProduct {
  MatMulSizes sizes;
  Shape x_batch, y_batch, batch;
  Tensor* out;

  int64_t count() const { return batch.num_elements(); }
  // The first elements of product i and of its operands.
  int64_t x_at(int64_t i) const { return MatrixAt(x_batch, batch, i) * sizes.m * sizes.k; }
  int64_t y_at(int64_t i) const { return MatrixAt(y_batch, batch, i) * sizes.k * sizes.n; }
  int64_t out_at(int64_t i) const { return i * sizes.m * sizes.n; }
};

// Checks the operands and allocates the output. Without `broadcast`, both must have the same batch dimensions.
StatusOr<BatchProduct> StartBatchProduct(KernelContext& ctx, bool adj_x, bool adj_y, bool broadcast) {
  const Tensor& x = ctx.input(0);
  const Tensor& y = ctx.input(1);
  BatchProduct p;
  TF_ASSIGN_OR_RETURN(p.sizes, MatMulSizesOf(x.shape(), y.shape(), adj_x, adj_y));
  p.x_batch = Shape(x.shape().dims().first(x.shape().rank() - 2));
  p.y_batch = Shape(y.shape().dims().first(y.shape().rank() - 2));
  if (!broadcast && p.x_batch != p.y_batch) {
    return InvalidArgument("batch dimensions must be the same, got ", x.shape(), " and ", y.shape());
  }
  TF_ASSIGN_OR_RETURN(p.batch, BroadcastShapes(p.x_batch, p.y_batch));
  Shape shape = p.batch;
  shape.AddDim(p.sizes.m);
  shape.AddDim(p.sizes.n);
  TF_ASSIGN_OR_RETURN(p.out, ctx.AllocateOutput(0, shape));
  return p;
}

class BatchMatMulKernel : public Kernel {
 public:
  Status Compute(KernelContext& ctx) final {
    TF_ASSIGN_OR_RETURN(const BatchProduct p, StartBatchProduct(ctx, adj_x_, adj_y_, broadcast_));
    // Nothing to compute. Returns here, because an empty output may consist of a huge number of empty products.
    if (p.out->num_elements() == 0) return OkStatus();
    Tensor x = ctx.input(0), y = ctx.input(1);
    if (conjugates_ != nullptr && adj_x_) {
      TF_ASSIGN_OR_RETURN(x, conjugates_(x));
    }
    if (conjugates_ != nullptr && adj_y_) {
      TF_ASSIGN_OR_RETURN(y, conjugates_(y));
    }
    const int64_t size = static_cast<int64_t>(DTypeSize(p.out->dtype()));
    const char* const px = static_cast<const char*>(x.raw_data());
    const char* const py = static_cast<const char*>(y.raw_data());
    char* const to = static_cast<char*>(p.out->inplace_raw_data());
    const bool split = p.count() > 1;  // if so, threads share the products, and each product is computed by one
    const double ns = 0.02 * p.sizes.m * p.sizes.n * p.sizes.k + 100;
    Parallel(ctx, p.count(), ns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        gemm_(split ? nullptr : ctx.env().pool, adj_x_, adj_y_, p.sizes, px + p.x_at(i) * size, py + p.y_at(i) * size,
              to + p.out_at(i) * size);
      }
    });
    return OkStatus();
  }

 protected:
  // `conjugates` is null for real numbers.
  BatchMatMulKernel(const KernelConstruction& c, AnyGemm gemm, StatusOr<Tensor> (*conjugates)(const Tensor&))
      : gemm_(gemm),
        conjugates_(conjugates),
        adj_x_(c.attr<bool>("adj_x")),
        adj_y_(c.attr<bool>("adj_y")),
        broadcast_(c.node().type() != "BatchMatMul") {}

 private:
  const AnyGemm gemm_;
  StatusOr<Tensor> (*const conjugates_)(const Tensor&);
  const bool adj_x_;
  const bool adj_y_;
  const bool broadcast_;
};

template <typename T>
class BatchMatMulKernelOf final : public BatchMatMulKernel {
 public:
  explicit BatchMatMulKernelOf(const KernelConstruction& c)
      : BatchMatMulKernel(c, GemmOf<T>, kIsComplex<T> ? Conjugates<T> : nullptr) {}
};

template <typename... T>
void AddMatMul(KernelRegistry& r, Types<T...>) {
  (r.Add<MatMulKernel<T>>("MatMul", {{"T", {DTypeOf<T>::value}}}, ProductCost), ...);
  (r.Add<BatchMatMulKernelOf<T>>("BatchMatMul", {{"T", {DTypeOf<T>::value}}}, ProductCost), ...);
  (r.Add<BatchMatMulKernelOf<T>>("BatchMatMulV2", {{"T", {DTypeOf<T>::value}}}, ProductCost), ...);
  (r.Add<BatchMatMulKernelOf<T>>(
       "BatchMatMulV3", {{"Ta", {DTypeOf<T>::value}}, {"Tb", {DTypeOf<T>::value}}, {"Tout", {DTypeOf<T>::value}}},
       ProductCost),
   ...);
}

template <typename To, typename From>
std::vector<To> Converted(const Tensor& t) {
  const auto from = t.data<From>();
  std::vector<To> to(from.size());
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<To>(from[i]);
  return to;
}

// A product of float32 and bfloat16 matrices, computed in float32. The hint that an operand has many zeros is ignored.
template <typename A, typename B>
class SparseMatMulKernel final : public Kernel {
 public:
  explicit SparseMatMulKernel(const KernelConstruction& c)
      : transpose_a_(c.attr<bool>("transpose_a")), transpose_b_(c.attr<bool>("transpose_b")) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& a = ctx.input(0);
    const Tensor& b = ctx.input(1);
    if (a.shape().rank() != 2) return InvalidArgument("a must be a matrix, got shape ", a.shape());
    if (b.shape().rank() != 2) return InvalidArgument("b must be a matrix, got shape ", b.shape());
    TF_ASSIGN_OR_RETURN(const MatMulSizes sizes, MatMulSizesOf(a.shape(), b.shape(), transpose_a_, transpose_b_));
    const auto [m, n, k] = sizes;
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {m, n}));
    const std::vector<float> wa = Converted<float, A>(a), wb = Converted<float, B>(b);
    Gemm<float>(ctx.env().pool, transpose_a_, transpose_b_, m, n, k, wa.data(), wb.data(),
                out->inplace_data<float>().data());
    return OkStatus();
  }

 private:
  const bool transpose_a_;
  const bool transpose_b_;
};

// BatchMatMulV3 of operands of types A and B. W is the type that the product is computed in, R the type of the output.
template <typename A, typename B, typename W, typename R>
class MixedBatchMatMulKernel final : public Kernel {
 public:
  explicit MixedBatchMatMulKernel(const KernelConstruction& c)
      : adj_x_(c.attr<bool>("adj_x")), adj_y_(c.attr<bool>("adj_y")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const BatchProduct p, StartBatchProduct(ctx, adj_x_, adj_y_, /*broadcast=*/true));
    // Nothing to compute. Returns here, because an empty output may consist of a huge number of empty products.
    if (p.out->num_elements() == 0) return OkStatus();
    const auto [m, n, k] = p.sizes;
    const std::vector<W> wx = Converted<W, A>(ctx.input(0)), wy = Converted<W, B>(ctx.input(1));
    std::vector<W> product(m * n);
    auto to = p.out->inplace_data<R>();
    for (int64_t i = 0; i < p.count(); ++i) {
      Gemm<W>(ctx.env().pool, adj_x_, adj_y_, m, n, k, wx.data() + p.x_at(i), wy.data() + p.y_at(i), product.data());
      for (int64_t j = 0; j < m * n; ++j) to[p.out_at(i) + j] = static_cast<R>(product[j]);
    }
    return OkStatus();
  }

 private:
  const bool adj_x_;
  const bool adj_y_;
};

template <typename A, typename B, typename W, typename R>
void AddMixed(KernelRegistry& r) {
  r.Add<MixedBatchMatMulKernel<A, B, W, R>>(
      "BatchMatMulV3", {{"Ta", {DTypeOf<A>::value}}, {"Tb", {DTypeOf<B>::value}}, {"Tout", {DTypeOf<R>::value}}},
      ProductCost);
}

template <typename A, typename B>
void AddSparse(KernelRegistry& r) {
  r.Add<SparseMatMulKernel<A, B>>("SparseMatMul", {{"Ta", {DTypeOf<A>::value}}, {"Tb", {DTypeOf<B>::value}}},
                                  ProductCost);
}

}  // namespace

StatusOr<MatMulSizes> MatMulSizesOf(const Shape& a, const Shape& b, bool transpose_a, bool transpose_b) {
  const int ra = a.rank(), rb = b.rank();
  if (ra < 2 || rb < 2) return InvalidArgument("inputs must be matrices, got ", a, " and ", b);
  const MatMulSizes sizes{.m = a.dim(transpose_a ? ra - 1 : ra - 2),
                          .n = b.dim(transpose_b ? rb - 2 : rb - 1),
                          .k = a.dim(transpose_a ? ra - 2 : ra - 1)};
  if (b.dim(transpose_b ? rb - 1 : rb - 2) != sizes.k) {
    return InvalidArgument("Matrix size-incompatible: ", a, transpose_a ? " transposed" : "", " times ", b,
                           transpose_b ? " transposed" : "");
  }
  return sizes;
}

int64_t MatrixAt(const Shape& of, const Shape& batch, int64_t i) {
  int64_t at = 0, step = 1;
  for (int d = 1; d <= batch.rank(); ++d) {
    const int64_t size = batch.dim(batch.rank() - d);
    const int64_t own = d <= of.rank() ? of.dim(of.rank() - d) : 1;
    if (own != 1) at += i % size * step;
    step *= own;
    i /= size;
  }
  return at;
}

void RegisterMathMatmulKernels(KernelRegistry& r) {
  AddMatMul(r, NumberTypes{});
  r.Add<FusedMatMulKernel>("_FusedMatMul", {{"T", {kFloat32}}}, ProductCost);
  r.Add<SumOfMatMulsKernel>("_SumOfMatMuls", {{"T", {kFloat32}}}, ProductSumCost);
  AddSparse<float, float>(r);
  AddSparse<float, Bfloat16>(r);
  AddSparse<Bfloat16, float>(r);
  AddSparse<Bfloat16, Bfloat16>(r);
  AddMixed<int8_t, int8_t, int32_t, int32_t>(r);
  AddMixed<int8_t, uint8_t, int32_t, int32_t>(r);
  AddMixed<uint8_t, int8_t, int32_t, int32_t>(r);
  AddMixed<uint8_t, uint8_t, int32_t, int32_t>(r);
  AddMixed<Bfloat16, int8_t, float, Bfloat16>(r);
  AddMixed<Bfloat16, uint8_t, float, Bfloat16>(r);
  AddMixed<int8_t, Bfloat16, float, Bfloat16>(r);
  AddMixed<uint8_t, Bfloat16, float, Bfloat16>(r);
}

}  // namespace tensorbraid::cpu
