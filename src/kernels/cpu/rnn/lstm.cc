// LSTM: one step (LSTMBlockCell) and whole sequences (BlockLSTM), with their gradients.
//
// The gates need the product [x, h_prev] * w. In a sequence x is known for all steps, so its part of the product is
// computed for all steps at once, and only h_prev's part step by step. The gradients of x and w are computed for all
// steps at once as well. The arithmetic of the gates is one pass over memory. All is computed in float32.
#include <algorithm>
#include <cstring>

#include "core/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/rnn/floats.h"
#include "kernels/cpu/rnn/parts.h"
#include "kernels/cpu/vector_math.h"

namespace tensorbraid::cpu {
namespace {

// Estimated costs of the arithmetic of one cell.
constexpr double kForwardNs = 3;
constexpr double kBackwardNs = 2;

struct LstmSizes {
  int64_t steps, batch, inputs, cells;
};

// The order of the gates in w and b: input, cell input, forget, output; or input, forget, cell input, output.
enum class GateOrder { kIcfo, kIfco };

struct LstmOptions {
  float forget_bias = 0;
  float cell_clip = 0;  // cells are clipped to [-cell_clip, cell_clip] if this is positive
  bool peephole = false;
  GateOrder order = GateOrder::kIcfo;
};

// Where each gate begins in a row of 4 * cells elements.
struct GateOffsets {
  GateOffsets(GateOrder order, int64_t cells)
      : i(0),
        ci(order == GateOrder::kIcfo ? cells : 2 * cells),
        f(order == GateOrder::kIcfo ? 2 * cells : cells),
        o(3 * cells) {}
  int64_t i, ci, f, o;
};

// The arrays of one step, or of all.
struct LstmParameters {
  const float *w, *wci, *wcf, *wco, *b;
};
struct LstmActivations {
  float *i, *cs, *f, *o, *ci, *co, *h;
};

// Computes one row of cells. `from_x` and `from_h` are the two parts of the product; from_h may be null. The loop is
// vectorised: the pointers must not overlap.
template <bool kPeephole>
void ForwardRow(const LstmOptions& options, const GateOffsets& at, int64_t cells, const LstmParameters& p,
                const float* __restrict from_x, const float* __restrict from_h, const float* __restrict cs_prev,
                const LstmActivations& out) {
  const float clip = options.cell_clip > 0 ? options.cell_clip : std::numeric_limits<float>::infinity();
  const float forget_bias = options.forget_bias;
  float* __restrict i_out = out.i, * __restrict cs_out = out.cs, * __restrict f_out = out.f, * __restrict o_out = out.o;
  float* __restrict ci_out = out.ci, * __restrict co_out = out.co, * __restrict h_out = out.h;
  const float* __restrict b = p.b, * __restrict wci = p.wci, * __restrict wcf = p.wcf, * __restrict wco = p.wco;
#pragma GCC ivdep
  for (int64_t k = 0; k < cells; ++k) {
    float i = from_x[at.i + k] + from_h[at.i + k] + b[at.i + k];
    float f = from_x[at.f + k] + from_h[at.f + k] + b[at.f + k] + forget_bias;
    if constexpr (kPeephole) {
      i += cs_prev[k] * wci[k];
      f += cs_prev[k] * wcf[k];
    }
    i = VectorSigmoid(i);
    f = VectorSigmoid(f);
    const float ci = VectorTanh(from_x[at.ci + k] + from_h[at.ci + k] + b[at.ci + k]);
    float cs = i * ci + f * cs_prev[k];
    cs = cs > clip ? clip : cs;
    cs = cs < -clip ? -clip : cs;
    float o = from_x[at.o + k] + from_h[at.o + k] + b[at.o + k];
    if constexpr (kPeephole) o += cs * wco[k];
    o = VectorSigmoid(o);
    const float co = VectorTanh(cs);
    i_out[k] = i;
    f_out[k] = f;
    ci_out[k] = ci;
    cs_out[k] = cs;
    o_out[k] = o;
    co_out[k] = co;
    h_out[k] = o * co;
  }
}

// Computes the derivative of the gates before their activation, and turns dcs, the derivative of the cells, into that
// of the previous cells. `dh` is the derivative of h.
template <bool kPeephole>
void BackwardRow(const GateOffsets& at, int64_t cells, const LstmParameters& p, const float* __restrict cs_prev,
                 const LstmActivations& a, const float* __restrict dh, float* __restrict dcs,
                 float* __restrict dgates) {
  const float* __restrict i_in = a.i, * __restrict f_in = a.f, * __restrict o_in = a.o, * __restrict ci_in = a.ci;
  const float* __restrict co_in = a.co, * __restrict wci = p.wci, * __restrict wcf = p.wcf, * __restrict wco = p.wco;
#pragma GCC ivdep
  for (int64_t k = 0; k < cells; ++k) {
    const float i = i_in[k], f = f_in[k], o = o_in[k], ci = ci_in[k], co = co_in[k];
    const float d_o = o * (1.0f - o) * dh[k] * co;
    float d_cs = (1.0f - co * co) * dh[k] * o + dcs[k];
    if constexpr (kPeephole) d_cs += d_o * wco[k];
    const float d_ci = (1.0f - ci * ci) * d_cs * i;
    const float d_f = f * (1.0f - f) * d_cs * cs_prev[k];
    const float d_i = i * (1.0f - i) * d_cs * ci;
    float d_prev = d_cs * f;
    if constexpr (kPeephole) d_prev += d_i * wci[k] + d_f * wcf[k];
    dgates[at.i + k] = d_i;
    dgates[at.ci + k] = d_ci;
    dgates[at.f + k] = d_f;
    dgates[at.o + k] = d_o;
    dcs[k] = d_prev;
  }
}

LstmActivations RowsFrom(const LstmActivations& a, int64_t offset) {
  return {a.i + offset, a.cs + offset, a.f + offset, a.o + offset, a.ci + offset, a.co + offset, a.h + offset};
}

// Computes one step of the whole batch.
void ForwardStep(KernelContext& ctx, const LstmSizes& s, const LstmOptions& options, const LstmParameters& p,
                 const float* from_x, const float* from_h, const float* cs_prev, const LstmActivations& out) {
  const GateOffsets at(options.order, s.cells);
  const auto row = options.peephole ? ForwardRow<true> : ForwardRow<false>;
  Parallel(ctx, s.batch, kForwardNs * s.cells, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      row(options, at, s.cells, p, from_x + r * 4 * s.cells, from_h + r * 4 * s.cells, cs_prev + r * s.cells,
          RowsFrom(out, r * s.cells));
    }
  });
}

void BackwardStep(KernelContext& ctx, const LstmSizes& s, const LstmOptions& options, const LstmParameters& p,
                  const float* cs_prev, const LstmActivations& a, const float* dh, float* dcs, float* dgates) {
  const GateOffsets at(options.order, s.cells);
  const auto row = options.peephole ? BackwardRow<true> : BackwardRow<false>;
  Parallel(ctx, s.batch, kBackwardNs * s.cells, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t cell = r * s.cells;
      row(at, s.cells, p, cs_prev + cell, RowsFrom(a, cell), dh + cell, dcs + cell, dgates + 4 * cell);
    }
  });
}

// out[k] = sum over rows of x[row, k] (* y[row, k] unless y is null), split over columns, so that the result does not
// depend on the number of threads. Row lengths of x and y are given.
void SumRows(KernelContext& ctx, int64_t rows, int64_t columns, const float* x, int64_t x_row, const float* y,
             int64_t y_row, float* out) {
  constexpr int64_t kBlock = 64;
  Parallel(ctx, (columns + kBlock - 1) / kBlock, 0.2 * rows * kBlock, [&](int64_t begin, int64_t end) {
    const int64_t from = begin * kBlock, to = std::min(columns, end * kBlock);
    std::fill(out + from, out + to, 0.0f);
    for (int64_t r = 0; r < rows; ++r) {
      const float* a = x + r * x_row;
      if (y == nullptr) {
        for (int64_t k = from; k < to; ++k) out[k] += a[k];
      } else {
        const float* b = y + r * y_row;
        for (int64_t k = from; k < to; ++k) out[k] += a[k] * b[k];
      }
    }
  });
}

// The gradients of the peephole weights: sums over all rows of the batch and steps. `cs_prev` has the cells before each
// step.
void PeepholeGradients(KernelContext& ctx, const LstmSizes& s, const LstmOptions& options, const float* dgates,
                       const float* cs_prev, const float* cs, float* wci, float* wcf, float* wco) {
  const GateOffsets at(options.order, s.cells);
  const int64_t rows = s.steps * s.batch;
  SumRows(ctx, rows, s.cells, dgates + at.i, 4 * s.cells, cs_prev, s.cells, wci);
  SumRows(ctx, rows, s.cells, dgates + at.f, 4 * s.cells, cs_prev, s.cells, wcf);
  SumRows(ctx, rows, s.cells, dgates + at.o, 4 * s.cells, cs, s.cells, wco);
}

// Checks the shapes of the eight inputs from `first` on (x, cs_prev, h_prev, w, wci, wcf, wco, b). x is [batch,
// inputs], or [time, batch, inputs] for a sequence.
StatusOr<LstmSizes> CheckInputs(KernelContext& ctx, int first, bool sequence, bool peephole) {
  const Shape& x = ctx.input(first).shape();
  const Shape& cs_prev = ctx.input(first + 1).shape();
  if (x.rank() != (sequence ? 3 : 2)) {
    return InvalidArgument("x must have shape ", sequence ? "[time, batch, inputs]" : "[batch, inputs]", ", got ", x);
  }
  if (cs_prev.rank() != 2) return InvalidArgument("cs_prev must have shape [batch, cells], got ", cs_prev);
  const LstmSizes s{.steps = sequence ? x.dim(0) : 1,
                    .batch = x.dim(x.rank() - 2),
                    .inputs = x.dim(x.rank() - 1),
                    .cells = cs_prev.dim(1)};
  if (s.cells > (int64_t{1} << 40)) return InvalidArgument("cs_prev ", cs_prev, " has too many cells");
  // An empty x may have any sizes.
  if (s.batch > 0 && s.steps > (int64_t{1} << 40) / s.batch) return InvalidArgument("x ", x, " has too many rows");
  TF_RETURN_IF_ERROR(CheckShape("cs_prev", ctx.input(first + 1), {s.batch, s.cells}, "[batch, cells]"));
  TF_RETURN_IF_ERROR(CheckShape("h_prev", ctx.input(first + 2), {s.batch, s.cells}, "[batch, cells]"));
  TF_RETURN_IF_ERROR(
      CheckShape("w", ctx.input(first + 3), {s.inputs + s.cells, 4 * s.cells}, "[inputs + cells, 4 * cells]"));
  constexpr const char* kPeepholes[] = {"wci", "wcf", "wco"};
  for (int i = 0; i < 3; ++i) {
    const Tensor& weights = ctx.input(first + 4 + i);
    // Like TensorFlow, LSTMBlockCell accepts any vector if it does not use it.
    if (!sequence && !peephole) {
      if (weights.shape().rank() == 1) continue;
      return InvalidArgument(kPeepholes[i], " must be a vector, got shape ", weights.shape());
    }
    TF_RETURN_IF_ERROR(CheckShape(kPeepholes[i], weights, {s.cells}, "[cells]"));
  }
  TF_RETURN_IF_ERROR(CheckShape("b", ctx.input(first + 7), {4 * s.cells}, "[4 * cells]"));
  return s;
}

// Checks and returns the number of steps to compute: the scalar in input 0.
StatusOr<int64_t> StepsToRun(KernelContext& ctx, int64_t time) {
  const Tensor& max = ctx.input(0);
  if (!max.shape().is_scalar()) return InvalidArgument("seq_len_max must be a scalar, got shape ", max.shape());
  const int64_t steps = max.scalar<int64_t>();
  if (steps < 0 || steps > time) {
    return InvalidArgument("seq_len_max must be between 0 and ", time, " but is ", steps);
  }
  return steps;
}

// The inputs from `first` to `first + count` as float32 tensors.
template <typename T>
Status InputsAsFloats(KernelContext& ctx, int first, int count, std::vector<Tensor>* out) {
  for (int i = 0; i < count; ++i) {
    TF_ASSIGN_OR_RETURN(Tensor wide, AsFloats<T>(ctx, ctx.input(first + i)));
    out->push_back(std::move(wide));
  }
  return OkStatus();
}

const float* FloatsOf(const Tensor& t) { return t.data<float>().data(); }

// The parameters among the eight inputs x, cs_prev, h_prev, w, wci, wcf, wco, b.
LstmParameters ParametersOf(const std::vector<Tensor>& in) {
  return {FloatsOf(in[3]), FloatsOf(in[4]), FloatsOf(in[5]), FloatsOf(in[6]), FloatsOf(in[7])};
}

// Seven activations that are only read.
LstmActivations ReadOnly(const float* i, const float* cs, const float* f, const float* o, const float* ci,
                         const float* co) {
  const auto writable = [](const float* p) { return const_cast<float*>(p); };
  return {writable(i), writable(cs), writable(f), writable(o), writable(ci), writable(co), nullptr};
}

StatusOr<Tensor> FloatScratch(KernelContext& ctx, int64_t rows, int64_t columns) {
  return ctx.AllocateTemp(kFloat32, {rows, columns});
}

// Allocates the outputs i, cs, f, o, ci, co, h.
template <typename T>
Status AllocateActivations(KernelContext& ctx, const Shape& shape, std::vector<FloatOutput<T>>* outputs,
                           LstmActivations* arrays) {
  for (int i = 0; i < 7; ++i) {
    TF_ASSIGN_OR_RETURN(FloatOutput<T> out, FloatOutput<T>::Allocate(ctx, i, shape));
    outputs->push_back(std::move(out));
  }
  const auto& o = *outputs;
  *arrays = {o[0].data(), o[1].data(), o[2].data(), o[3].data(), o[4].data(), o[5].data(), o[6].data()};
  return OkStatus();
}

template <typename T>
void FinishAll(std::vector<FloatOutput<T>>& outputs) {
  for (FloatOutput<T>& out : outputs) out.Finish();
}

float FloatAttrOr(const Node& node, const char* name, float missing) {
  const AttrValue* value = node.FindAttr(name);
  return value == nullptr || value->get<float>() == nullptr ? missing : *value->get<float>();
}

LstmOptions ForwardOptions(const Node& node, GateOrder order) {
  return {.forget_bias = FloatAttrOr(node, "forget_bias", 0),
          .cell_clip = node.attr<float>("cell_clip"),
          .peephole = node.attr<bool>("use_peephole"),
          .order = order};
}

// Copies rows of a and b side by side.
void JoinRows(int64_t rows, const float* a, int64_t a_columns, const float* b, int64_t b_columns, float* out) {
  for (int64_t r = 0; r < rows; ++r) {
    out = std::copy_n(a + r * a_columns, a_columns, out);
    out = std::copy_n(b + r * b_columns, b_columns, out);
  }
}

template <typename T>
class LstmCellKernel final : public Kernel {
 public:
  explicit LstmCellKernel(const KernelConstruction& c) : options_(ForwardOptions(c.node(), GateOrder::kIcfo)) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const LstmSizes s, CheckInputs(ctx, 0, false, options_.peephole));
    if (s.batch == 0 || s.cells == 0) {
      return InvalidArgument("cs_prev must not be empty, got shape ", ctx.input(1).shape());
    }
    std::vector<Tensor> in;
    TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 0, 8, &in));
    std::vector<FloatOutput<T>> outputs;
    LstmActivations out;
    TF_RETURN_IF_ERROR(AllocateActivations(ctx, {s.batch, s.cells}, &outputs, &out));
    TF_ASSIGN_OR_RETURN(Tensor joined, FloatScratch(ctx, s.batch, s.inputs + s.cells));
    TF_ASSIGN_OR_RETURN(Tensor gates, FloatScratch(ctx, s.batch, 4 * s.cells));
    TF_ASSIGN_OR_RETURN(Tensor zeros, FloatScratch(ctx, 1, 4 * s.cells));
    float* const xh = joined.mutable_data<float>().data();
    JoinRows(s.batch, FloatsOf(in[0]), s.inputs, FloatsOf(in[2]), s.cells, xh);
    float* const product = gates.mutable_data<float>().data();
    const LstmParameters p = ParametersOf(in);
    Gemm(&ctx.pool(), false, false, s.batch, 4 * s.cells, s.inputs + s.cells, xh, p.w, product);
    // Here the whole product is in one array, so the bias takes the place of the other part.
    LstmParameters without_bias = p;
    std::fill_n(zeros.mutable_data<float>().data(), 4 * s.cells, 0.0f);
    without_bias.b = FloatsOf(zeros);
    const GateOffsets at(options_.order, s.cells);
    const auto row = options_.peephole ? ForwardRow<true> : ForwardRow<false>;
    const float* const cs_prev = FloatsOf(in[1]);
    Parallel(ctx, s.batch, kForwardNs * s.cells, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        row(options_, at, s.cells, without_bias, product + r * 4 * s.cells, p.b, cs_prev + r * s.cells,
            RowsFrom(out, r * s.cells));
      }
    });
    FinishAll(outputs);
    return OkStatus();
  }

 private:
  const LstmOptions options_;
};

template <typename T>
class LstmCellGradKernel final : public Kernel {
 public:
  explicit LstmCellGradKernel(const KernelConstruction& c) : options_{.peephole = c.attr<bool>("use_peephole")} {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const LstmSizes s, CheckInputs(ctx, 0, false, options_.peephole));
    if (s.batch == 0 || s.cells == 0) {
      return InvalidArgument("cs_prev must not be empty, got shape ", ctx.input(1).shape());
    }
    constexpr const char* kNames[] = {"i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"};
    for (int i = 0; i < 8; ++i) {
      TF_RETURN_IF_ERROR(CheckShape(kNames[i], ctx.input(8 + i), {s.batch, s.cells}, "[batch, cells]"));
    }
    std::vector<Tensor> in;
    TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 0, 16, &in));
    std::vector<FloatOutput<T>> out;
    const Shape shapes[] = {
        {s.batch, s.cells}, {s.batch, 4 * s.cells}, ctx.input(4).shape(), ctx.input(5).shape(), ctx.input(6).shape()};
    for (int i = 0; i < 5; ++i) {
      TF_ASSIGN_OR_RETURN(FloatOutput<T> one, FloatOutput<T>::Allocate(ctx, i, shapes[i]));
      out.push_back(std::move(one));
    }
    float* const dcs = out[0].data();
    float* const dgates = out[1].data();
    std::copy_n(FloatsOf(in[14]), s.batch * s.cells, dcs);
    const LstmActivations a = ReadOnly(FloatsOf(in[8]), FloatsOf(in[9]), FloatsOf(in[10]), FloatsOf(in[11]),
                                       FloatsOf(in[12]), FloatsOf(in[13]));
    BackwardStep(ctx, s, options_, ParametersOf(in), FloatsOf(in[1]), a, FloatsOf(in[15]), dcs, dgates);
    if (options_.peephole) {
      PeepholeGradients(ctx, s, options_, dgates, FloatsOf(in[1]), a.cs, out[2].data(), out[3].data(), out[4].data());
    } else {
      for (int i = 2; i < 5; ++i) std::fill_n(out[i].data(), out[i].size(), 0.0f);
    }
    FinishAll(out);
    return OkStatus();
  }

 private:
  const LstmOptions options_;
};

template <typename T, GateOrder kOrder>
class BlockLstmKernel final : public Kernel {
 public:
  explicit BlockLstmKernel(const KernelConstruction& c) : options_(ForwardOptions(c.node(), kOrder)) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(LstmSizes s, CheckInputs(ctx, 1, true, options_.peephole));
    const int64_t time = s.steps;
    TF_ASSIGN_OR_RETURN(s.steps, StepsToRun(ctx, time));
    std::vector<Tensor> in;
    TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 1, 8, &in));
    std::vector<FloatOutput<T>> outputs;
    LstmActivations out;
    TF_RETURN_IF_ERROR(AllocateActivations(ctx, {time, s.batch, s.cells}, &outputs, &out));
    if (s.batch == 0 || s.cells == 0) return OkStatus();  // there may be any number of steps
    TF_ASSIGN_OR_RETURN(Tensor all_from_x, FloatScratch(ctx, s.steps * s.batch, 4 * s.cells));
    TF_ASSIGN_OR_RETURN(Tensor gates, FloatScratch(ctx, s.batch, 4 * s.cells));
    float* const from_x = all_from_x.mutable_data<float>().data();
    float* const from_h = gates.mutable_data<float>().data();
    const LstmParameters p = ParametersOf(in);
    Gemm(&ctx.pool(), false, false, s.steps * s.batch, 4 * s.cells, s.inputs, FloatsOf(in[0]), p.w, from_x);
    const float* const w_h = p.w + s.inputs * 4 * s.cells;
    const float* cs_prev = FloatsOf(in[1]);
    const float* h_prev = FloatsOf(in[2]);
    const int64_t step = s.batch * s.cells;
    for (int64_t t = 0; t < s.steps; ++t) {
      Gemm(&ctx.pool(), false, false, s.batch, 4 * s.cells, s.cells, h_prev, w_h, from_h);
      const LstmActivations now = RowsFrom(out, t * step);
      ForwardStep(ctx, s, options_, p, from_x + t * 4 * step, from_h, cs_prev, now);
      cs_prev = now.cs;
      h_prev = now.h;
    }
    // Steps from seq_len_max on are 0.
    for (FloatOutput<T>& one : outputs) std::fill(one.data() + s.steps * step, one.data() + time * step, 0.0f);
    FinishAll(outputs);
    return OkStatus();
  }

 private:
  const LstmOptions options_;
};

template <typename T, GateOrder kOrder>
class BlockLstmGradKernel final : public Kernel {
 public:
  explicit BlockLstmGradKernel(const KernelConstruction& c)
      : options_{.peephole = c.attr<bool>("use_peephole"), .order = kOrder} {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(LstmSizes s, CheckInputs(ctx, 1, true, options_.peephole));
    const int64_t time = s.steps;
    constexpr const char* kNames[] = {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"};
    for (int i = 0; i < 9; ++i) {
      TF_RETURN_IF_ERROR(CheckShape(kNames[i], ctx.input(9 + i), {time, s.batch, s.cells}, "[time, batch, cells]"));
    }
    TF_ASSIGN_OR_RETURN(s.steps, StepsToRun(ctx, time));
    std::vector<Tensor> in;
    TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 1, 17, &in));
    std::vector<FloatOutput<T>> out;
    for (int i = 0; i < 8; ++i) {
      TF_ASSIGN_OR_RETURN(FloatOutput<T> one, FloatOutput<T>::Allocate(ctx, i, ctx.input(i + 1).shape()));
      out.push_back(std::move(one));
    }
    if (s.batch == 0 || s.cells == 0) {  // there may be any number of steps
      for (FloatOutput<T>& one : out) std::fill_n(one.data(), one.size(), 0.0f);
      FinishAll(out);
      return OkStatus();
    }
    const int64_t rows = s.steps * s.batch, step = s.batch * s.cells;
    TF_ASSIGN_OR_RETURN(Tensor all_gates, FloatScratch(ctx, rows, 4 * s.cells));
    TF_ASSIGN_OR_RETURN(Tensor h_gradient, FloatScratch(ctx, s.batch, s.cells));
    TF_ASSIGN_OR_RETURN(Tensor before, FloatScratch(ctx, rows, s.cells));
    float* const dgates = all_gates.mutable_data<float>().data();
    float* const dh = h_gradient.mutable_data<float>().data();
    float* const dcs = out[1].data();  // carried from step to step, like dh_prev
    float* const dh_prev = out[2].data();
    const LstmParameters p = ParametersOf(in);
    const LstmActivations a = ReadOnly(FloatsOf(in[8]), FloatsOf(in[9]), FloatsOf(in[10]), FloatsOf(in[11]),
                                       FloatsOf(in[12]), FloatsOf(in[13]));
    const float* const w_h = p.w + s.inputs * 4 * s.cells;
    std::fill_n(dcs, step, 0.0f);
    std::fill_n(dh_prev, step, 0.0f);
    for (int64_t t = s.steps - 1; t >= 0; --t) {
      const float* cs_grad = FloatsOf(in[15]) + t * step;
      const float* h_grad = FloatsOf(in[16]) + t * step;
#pragma GCC ivdep
      for (int64_t k = 0; k < step; ++k) {
        dcs[k] += cs_grad[k];
        dh[k] = dh_prev[k] + h_grad[k];
      }
      const float* cs_prev = t == 0 ? FloatsOf(in[1]) : a.cs + (t - 1) * step;
      BackwardStep(ctx, s, options_, p, cs_prev, RowsFrom(a, t * step), dh, dcs, dgates + t * 4 * step);
      Gemm(&ctx.pool(), false, true, s.batch, s.cells, 4 * s.cells, dgates + t * 4 * step, w_h, dh_prev);
    }
    // The gradients of x and w for all steps at once. The previous h of all steps are those of h, one step later.
    Gemm(&ctx.pool(), false, true, rows, s.inputs, 4 * s.cells, dgates, p.w, out[0].data());
    std::fill(out[0].data() + rows * s.inputs, out[0].data() + time * s.batch * s.inputs, 0.0f);
    float* const previous = before.mutable_data<float>().data();
    const auto shift = [&](const Tensor& first, const Tensor& all) {
      if (s.steps == 0) return;
      std::copy_n(FloatsOf(first), step, previous);
      std::copy_n(FloatsOf(all), (s.steps - 1) * step, previous + step);
    };
    shift(in[2], in[14]);
    float* const w_grad = out[3].data();
    Gemm(&ctx.pool(), true, false, s.inputs, 4 * s.cells, rows, FloatsOf(in[0]), dgates, w_grad);
    Gemm(&ctx.pool(), true, false, s.cells, 4 * s.cells, rows, previous, dgates, w_grad + s.inputs * 4 * s.cells);
    if (options_.peephole) {
      shift(in[1], in[9]);
      PeepholeGradients(ctx, s, options_, dgates, previous, a.cs, out[4].data(), out[5].data(), out[6].data());
    } else {
      for (int i = 4; i < 7; ++i) std::fill_n(out[i].data(), out[i].size(), 0.0f);
    }
    SumRows(ctx, rows, 4 * s.cells, dgates, 4 * s.cells, nullptr, 0, out[7].data());
    FinishAll(out);
    return OkStatus();
  }

 private:
  const LstmOptions options_;
};

// The products take most of the time. x is input `x`, and w is the third input after it.
template <int x, int kProducts>
Cost LstmCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  const double inputs = c.input_dim(x, -1);
  const double rows = inputs > 0 ? c.input_elements(x) / inputs : 0;
  cost.flops = kProducts * 2 * rows * c.input_elements(x + 3) + FlopsOfNs(kForwardNs * rows * c.input_dim(x + 1, -1));
  return cost;
}

template <typename T>
void AddLstm(KernelRegistry& r) {
  const TypeConstraints types = {{"T", {DTypeOf<T>::value}}};
  r.Add<LstmCellKernel<T>>("LSTMBlockCell", types, LstmCost<0, 1>);
  r.Add<LstmCellGradKernel<T>>("LSTMBlockCellGrad", types, ElementCost<2000>);
  r.Add<BlockLstmKernel<T, GateOrder::kIcfo>>("BlockLSTM", types, LstmCost<1, 1>);
  r.Add<BlockLstmKernel<T, GateOrder::kIfco>>("BlockLSTMV2", types, LstmCost<1, 1>);
  r.Add<BlockLstmGradKernel<T, GateOrder::kIcfo>>("BlockLSTMGrad", types, LstmCost<1, 2>);
  r.Add<BlockLstmGradKernel<T, GateOrder::kIfco>>("BlockLSTMGradV2", types, LstmCost<1, 2>);
}

}  // namespace

void RegisterRnnLstmKernels(KernelRegistry& r) {
  AddLstm<float>(r);
  AddLstm<Float16>(r);
}

}  // namespace tensorbraid::cpu
