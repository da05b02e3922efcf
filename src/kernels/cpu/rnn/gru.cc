// One step of a GRU and its gradient, in float32.
#include <algorithm>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/rnn/floats.h"
#include "kernels/cpu/vector_math.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

struct GruSizes {
  int64_t batch, inputs, cells;
};

// Checks the shapes of inputs x, h_prev, w_ru, w_c, b_ru, b_c.
StatusOr<GruSizes> CheckGruInputs(KernelContext& ctx) {
  const Shape& x = ctx.input(0).shape();
  const Shape& h_prev = ctx.input(1).shape();
  if (x.rank() != 2) return InvalidArgument("x must have shape [batch, inputs], got ", x);
  if (h_prev.rank() != 2) return InvalidArgument("h_prev must have shape [batch, cells], got ", h_prev);
  const GruSizes s{.batch = x.dim(0), .inputs = x.dim(1), .cells = h_prev.dim(1)};
  if (s.cells > (int64_t{1} << 40)) return InvalidArgument("h_prev ", h_prev, " has too many cells");
  TF_RETURN_IF_ERROR(CheckShape("h_prev", ctx.input(1), {s.batch, s.cells}, "[batch, cells]"));
  TF_RETURN_IF_ERROR(
      CheckShape("w_ru", ctx.input(2), {s.inputs + s.cells, 2 * s.cells}, "[inputs + cells, 2 * cells]"));
  TF_RETURN_IF_ERROR(CheckShape("w_c", ctx.input(3), {s.inputs + s.cells, s.cells}, "[inputs + cells, cells]"));
  TF_RETURN_IF_ERROR(CheckShape("b_ru", ctx.input(4), {2 * s.cells}, "[2 * cells]"));
  TF_RETURN_IF_ERROR(CheckShape("b_c", ctx.input(5), {s.cells}, "[cells]"));
  return s;
}

const float* GruInput(KernelContext& ctx, int i) { return ctx.input(i).data<float>().data(); }

// Calls body(row) for the rows of the batch, on several threads if that pays.
template <typename Body>
void ForRows(KernelContext& ctx, const GruSizes& s, double ns_per_cell, const Body& body) {
  Parallel(ctx, s.batch, ns_per_cell * s.cells, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) body(r);
  });
}

// r, u = sigmoid([x, h_prev] w_ru + b_ru); c = tanh([x, h_prev r] w_c + b_c); h = u h_prev + (1 - u) c.
Status GruCell(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const GruSizes s, CheckGruInputs(ctx));
  const Shape shape({s.batch, s.cells});
  Tensor* outputs[4];
  for (int i = 0; i < 4; ++i) {
    TF_ASSIGN_OR_RETURN(outputs[i], ctx.AllocateOutput(i, shape));
  }
  // Nothing to compute. Returns here, because an empty x and h_prev may have a huge number of rows.
  if (s.cells == 0) return OkStatus();
  const int64_t cells = s.cells, width = s.inputs + s.cells;
  TF_ASSIGN_OR_RETURN(Tensor joined, ctx.AllocateTemp(kFloat32, {s.batch, width}));
  TF_ASSIGN_OR_RETURN(Tensor gates, ctx.AllocateTemp(kFloat32, {s.batch, 2 * cells}));
  float* const xh = joined.inplace_data<float>().data();
  float* const ru = gates.inplace_data<float>().data();
  float* const c = outputs[2]->inplace_data<float>().data();
  const float *const x = GruInput(ctx, 0), *const h_prev = GruInput(ctx, 1), *const b_ru = GruInput(ctx, 4),
                     *const b_c = GruInput(ctx, 5);
  for (int64_t row = 0; row < s.batch; ++row) {
    std::copy_n(x + row * s.inputs, s.inputs, xh + row * width);
    std::copy_n(h_prev + row * cells, cells, xh + row * width + s.inputs);
  }
  Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/false, s.batch, 2 * cells, width, xh, GruInput(ctx, 2), ru);
  ForRows(ctx, s, 2, [&](int64_t row) {
    float* const r = outputs[0]->inplace_data<float>().data() + row * cells;
    float* const u = outputs[1]->inplace_data<float>().data() + row * cells;
    const float* const gate = ru + row * 2 * cells;
    float* const hr = xh + row * width + s.inputs;
#pragma GCC ivdep
    for (int64_t k = 0; k < cells; ++k) {
      r[k] = VectorSigmoid(gate[k] + b_ru[k]);
      u[k] = VectorSigmoid(gate[cells + k] + b_ru[cells + k]);
      hr[k] *= r[k];
    }
  });
  Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/false, s.batch, cells, width, xh, GruInput(ctx, 3), c);
  ForRows(ctx, s, 1.5, [&](int64_t row) {
    const float* const u = outputs[1]->data<float>().data() + row * cells;
    const float* const before = h_prev + row * cells;
    float* const h = outputs[3]->inplace_data<float>().data() + row * cells;
    float* const candidate = c + row * cells;
#pragma GCC ivdep
    for (int64_t k = 0; k < cells; ++k) {
      candidate[k] = VectorTanh(candidate[k] + b_c[k]);
      h[k] = u[k] * (before[k] - candidate[k]) + candidate[k];
    }
  });
  return OkStatus();
}

// The gradients of x and h_prev, and the derivatives of c and of [r, u] before their activation.
Status GruCellGrad(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const GruSizes s, CheckGruInputs(ctx));
  const Shape shape({s.batch, s.cells});
  constexpr const char* kNames[] = {"r", "u", "c", "d_h"};
  for (int i = 0; i < 4; ++i) TF_RETURN_IF_ERROR(CheckShape(kNames[i], ctx.input(6 + i), shape, "[batch, cells]"));
  const int64_t cells = s.cells, width = s.inputs + s.cells;
  TF_ASSIGN_OR_RETURN(Tensor * d_x, ctx.AllocateOutput(0, {s.batch, s.inputs}));
  TF_ASSIGN_OR_RETURN(Tensor * d_h_prev, ctx.AllocateOutput(1, shape));
  TF_ASSIGN_OR_RETURN(Tensor * d_c_bar, ctx.AllocateOutput(2, shape));
  TF_ASSIGN_OR_RETURN(Tensor * d_ru_bar, ctx.AllocateOutput(3, {s.batch, 2 * cells}));
  if (cells == 0) {  // only x may have elements; as above, the number of rows may be huge
    std::fill_n(d_x->inplace_data<float>().data(), d_x->num_elements(), 0.0f);
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(Tensor from_c, ctx.AllocateTemp(kFloat32, {s.batch, width}));
  TF_ASSIGN_OR_RETURN(Tensor from_ru, ctx.AllocateTemp(kFloat32, {s.batch, width}));
  const float *const h_prev = GruInput(ctx, 1), *const r = GruInput(ctx, 6), *const u = GruInput(ctx, 7),
                     *const c = GruInput(ctx, 8), *const d_h = GruInput(ctx, 9);
  float* const c_bar = d_c_bar->inplace_data<float>().data();
  float* const ru_bar = d_ru_bar->inplace_data<float>().data();
  float* const by_c = from_c.inplace_data<float>().data();    // the gradient of [x, h_prev r]
  float* const by_ru = from_ru.inplace_data<float>().data();  // the gradient of [x, h_prev] through r and u
  ForRows(ctx, s, 1, [&](int64_t row) {
    float* const u_bar = ru_bar + row * 2 * cells + cells;
    const int64_t at = row * cells;
#pragma GCC ivdep
    for (int64_t k = 0; k < cells; ++k) {
      const float g = d_h[at + k], one_less_u = 1.0f - u[at + k];
      c_bar[at + k] = g * one_less_u * (1.0f - c[at + k] * c[at + k]);
      u_bar[k] = g * (h_prev[at + k] - c[at + k]) * u[at + k] * one_less_u;
    }
  });
  Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/true, s.batch, width, cells, c_bar, GruInput(ctx, 3), by_c);
  ForRows(ctx, s, 1, [&](int64_t row) {
    float* const r_bar = ru_bar + row * 2 * cells;
    const float* const d_hr = by_c + row * width + s.inputs;
    const int64_t at = row * cells;
#pragma GCC ivdep
    for (int64_t k = 0; k < cells; ++k) r_bar[k] = d_hr[k] * h_prev[at + k] * r[at + k] * (1.0f - r[at + k]);
  });
  Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/true, s.batch, width, 2 * cells, ru_bar, GruInput(ctx, 2),
       by_ru);
  float* const dx = d_x->inplace_data<float>().data();
  float* const dh = d_h_prev->inplace_data<float>().data();
  ForRows(ctx, s, 1, [&](int64_t row) {
    const float *const one = by_c + row * width, *const other = by_ru + row * width;
    const int64_t at = row * cells;
#pragma GCC ivdep
    for (int64_t k = 0; k < s.inputs; ++k) dx[row * s.inputs + k] = one[k] + other[k];
#pragma GCC ivdep
    for (int64_t k = 0; k < cells; ++k) {
      dh[at + k] = other[s.inputs + k] + one[s.inputs + k] * r[at + k] + d_h[at + k] * u[at + k];
    }
  });
  return OkStatus();
}

// The products with the two weight matrices take most of the time.
Cost GruCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  cost.flops = 2 * c.input_dim(0, 0) * (c.input_elements(2) + c.input_elements(3));
  return cost;
}

}  // namespace

void RegisterRnnGruKernels(KernelRegistry& r) {
  r.Add("GRUBlockCell", {{"T", {kFloat32}}}, GruCell, GruCost);
  r.Add("GRUBlockCellGrad", {{"T", {kFloat32}}}, GruCellGrad, GruCost);
}

}  // namespace tensorbraid::cpu
