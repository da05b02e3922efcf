// LSTM: one step (LSTMBlockCell) and whole sequences (BlockLSTM), with their gradients. 16-bit floats are computed in
// float32.
#include <algorithm>

#include "core/text/strings.h"
#include "graph/gradients/unused_outputs.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/rnn/floats.h"
#include "kernels/cpu/rnn/lstm_sequence.h"
#include "kernels/cpu/rnn/sequence.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

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
  // An x without elements may have huge sizes, whose product would overflow.
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

template <typename A>
const A* DataOf(const Tensor& t) {
  return t.data<A>().data();
}

// The weights and biases among the eight inputs x, cs_prev, h_prev, w, wci, wcf, wco, b.
template <typename A>
LstmParameters<A> ParametersOf(const std::vector<Tensor>& in) {
  return {DataOf<A>(in[3]), DataOf<A>(in[4]), DataOf<A>(in[5]), DataOf<A>(in[6]), DataOf<A>(in[7])};
}

// The inputs i, cs, f, o, ci, co and h, from element 8 of `in` on. The gradient of a single cell has no input h.
template <typename A>
LstmRows<const A> ActivationsOf(const std::vector<Tensor>& in, bool has_h) {
  const auto array = [&](int i) { return DataOf<A>(in[8 + i]); };
  return {array(0), array(1), array(2), array(3), array(4), array(5), has_h ? array(6) : nullptr};
}

// Allocates the outputs i, cs, f, o, ci, co, h.
template <typename T>
Status AllocateActivations(KernelContext& ctx, const Shape& shape, std::vector<FloatOutput<T>>* outputs,
                           LstmRows<ComputeType<T>>* arrays) {
  TF_RETURN_IF_ERROR(AllocateOutputs<T>(ctx, std::vector<Shape>(7, shape), outputs));
  const auto& o = *outputs;
  *arrays = {o[0].data(), o[1].data(), o[2].data(), o[3].data(), o[4].data(), o[5].data(), o[6].data()};
  return OkStatus();
}

float FloatAttrOr(const Node& node, const char* name, float missing) {
  const AttrValue* value = node.FindAttr(name);
  return value == nullptr || value->get<float>() == nullptr ? missing : *value->get<float>();
}

LstmOptions ForwardOptions(const Node& node, GateOrder order) {
  return {.forget_bias = FloatAttrOr(node, "forget_bias", 0),
          .cell_clip = FloatAttrOr(node, "cell_clip", 0),
          .peephole = node.attr<bool>("use_peephole"),
          .order = order};
}

// Row r of `out` is row r of `a` followed by row r of `b`.
template <typename A>
void JoinRows(int64_t rows, const A* a, int64_t a_columns, const A* b, int64_t b_columns, A* out) {
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
    using A = ComputeType<T>;
    TF_ASSIGN_OR_RETURN(const LstmSizes s, CheckInputs(ctx, /*first=*/0, /*sequence=*/false, options_.peephole));
    if (s.batch == 0 || s.cells == 0) {
      return InvalidArgument("cs_prev is empty, got shape ", ctx.input(1).shape());
    }
    std::vector<Tensor> in;
    TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 0, 8, &in));
    std::vector<FloatOutput<T>> outputs;
    LstmRows<A> out;
    TF_RETURN_IF_ERROR(AllocateActivations(ctx, {s.batch, s.cells}, &outputs, &out));
    TF_ASSIGN_OR_RETURN(Tensor joined, Scratch<T>(ctx, s.batch, s.inputs + s.cells));
    TF_ASSIGN_OR_RETURN(Tensor gates, Scratch<T>(ctx, s.batch, 4 * s.cells));
    A* const xh = joined.inplace_data<A>().data();
    JoinRows(s.batch, DataOf<A>(in[0]), s.inputs, DataOf<A>(in[2]), s.cells, xh);
    A* const product = gates.inplace_data<A>().data();
    const LstmParameters<A> p = ParametersOf<A>(in);
    Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/false, s.batch, 4 * s.cells, s.inputs + s.cells, xh, p.w,
         product);
    const GateOffsets at(options_.order, s.cells);
    const auto row = LstmForwardRowOf<A>(options_);
    const A* const cs_prev = DataOf<A>(in[1]);
    Parallel(ctx, s.batch, kLstmForwardNs * s.cells, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        row(options_, at, s.cells, p, product + r * 4 * s.cells, cs_prev + r * s.cells, out.From(r * s.cells));
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
    using A = ComputeType<T>;
    TF_ASSIGN_OR_RETURN(const LstmSizes s, CheckInputs(ctx, /*first=*/0, /*sequence=*/false, options_.peephole));
    if (s.batch == 0 || s.cells == 0) {
      return InvalidArgument("cs_prev is empty, got shape ", ctx.input(1).shape());
    }
    constexpr const char* kNames[] = {"i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"};
    for (int i = 0; i < 8; ++i) {
      TF_RETURN_IF_ERROR(CheckShape(kNames[i], ctx.input(8 + i), {s.batch, s.cells}, "[batch, cells]"));
    }
    std::vector<Tensor> in;
    TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 0, 16, &in));
    std::vector<FloatOutput<T>> out;
    const std::vector<Shape> shapes = {
        {s.batch, s.cells}, {s.batch, 4 * s.cells}, ctx.input(4).shape(), ctx.input(5).shape(), ctx.input(6).shape()};
    TF_RETURN_IF_ERROR(AllocateOutputs<T>(ctx, shapes, &out));
    const LstmRows<const A> a = ActivationsOf<A>(in, /*has_h=*/false);
    const LstmParameters<A> p = ParametersOf<A>(in);
    const A *const cs_prev = DataOf<A>(in[1]), *const cs_grad = DataOf<A>(in[14]), *const h_grad = DataOf<A>(in[15]);
    const LstmGradients<A> grads = {
        .cs_prev = out[0].data(), .wci = out[2].data(), .wcf = out[3].data(), .wco = out[4].data()};
    A* const dgates = out[1].data();
    const GateOffsets at(options_.order, s.cells);
    const auto row = LstmBackwardRowOf<A>(options_, /*later=*/false);
    Parallel(ctx, s.batch, kLstmBackwardNs * s.cells, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t k = r * s.cells;
        row(options_, at, s.cells, p, cs_prev + k, a.From(k), cs_grad + k, h_grad + k, nullptr, grads.cs_prev + k,
            dgates + 4 * k);
      }
    });
    if (options_.peephole) {
      PeepholeGradients(ctx, s.batch, s.cells, options_.order, dgates, cs_prev, a.cs, /*add=*/false, grads);
    } else {
      for (int i = 2; i < 5; ++i) std::fill_n(out[i].data(), out[i].size(), A(0));
    }
    FinishAll(out);
    return OkStatus();
  }

 private:
  const LstmOptions options_;
};

template <typename A>
LstmSequence<A> SequenceOf(const LstmSizes& sizes, const LstmOptions& options, const std::vector<Tensor>& in) {
  return {sizes, options, ParametersOf<A>(in), DataOf<A>(in[0]), DataOf<A>(in[1]), DataOf<A>(in[2])};
}

// Sets *value to the float64 scalar in input `i`.
Status ReadScalar(KernelContext& ctx, int i, const char* name, double* value) {
  const Tensor& t = ctx.input(i);
  if (!t.shape().is_scalar()) return InvalidArgument(name, " must be a scalar, got shape ", t.shape());
  *value = t.scalar<double>();
  return OkStatus();
}

// Whether forget_bias and cell_clip are attributes, as in TensorFlow's ops, or inputs.
enum class LstmOptionsFrom { kAttrs, kInputs };

template <typename T, GateOrder kOrder, LstmOptionsFrom kFrom>
class BlockLstmKernel final : public Kernel {
 public:
  explicit BlockLstmKernel(const KernelConstruction& c) : options_(ForwardOptions(c.node(), kOrder)) {}

  Status Compute(KernelContext& ctx) override {
    using A = ComputeType<T>;
    TF_ASSIGN_OR_RETURN(LstmSizes s, CheckInputs(ctx, /*first=*/1, /*sequence=*/true, options_.peephole));
    const int64_t time = s.steps;
    TF_ASSIGN_OR_RETURN(s.steps, StepsToRun(ctx, time));
    LstmOptions options = options_;
    if constexpr (kFrom == LstmOptionsFrom::kInputs) {
      TF_RETURN_IF_ERROR(ReadScalar(ctx, 9, "forget_bias", &options.forget_bias));
      TF_RETURN_IF_ERROR(ReadScalar(ctx, 10, "cell_clip", &options.cell_clip));
    }
    std::vector<Tensor> in;
    TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 1, 8, &in));
    std::vector<FloatOutput<T>> outputs;
    LstmRows<A> out;
    TF_RETURN_IF_ERROR(AllocateActivations(ctx, {time, s.batch, s.cells}, &outputs, &out));
    // Nothing to compute. Returns here, because an empty x may have a huge number of steps.
    if (s.batch == 0 || s.cells == 0) return OkStatus();
    TF_RETURN_IF_ERROR(LstmForward(ctx, SequenceOf<A>(s, options, in), out));
    // Steps from seq_len_max on are 0.
    const int64_t end = s.steps * s.batch * s.cells;
    for (FloatOutput<T>& one : outputs) std::fill(one.data() + end, one.data() + one.size(), A(0));
    FinishAll(outputs);
    return OkStatus();
  }

 private:
  const LstmOptions options_;
};

template <typename T, GateOrder kOrder, LstmOptionsFrom kFrom>
class BlockLstmGradKernel final : public Kernel {
 public:
  explicit BlockLstmGradKernel(const KernelConstruction& c)
      : options_{.peephole = c.attr<bool>("use_peephole"), .order = kOrder},
        x_grad_is_used_(!IsUnusedOutput(c.node(), 0)) {}

  Status Compute(KernelContext& ctx) override {
    using A = ComputeType<T>;
    TF_ASSIGN_OR_RETURN(LstmSizes s, CheckInputs(ctx, /*first=*/1, /*sequence=*/true, options_.peephole));
    const int64_t time = s.steps;
    constexpr const char* kNames[] = {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"};
    for (int i = 0; i < 9; ++i) {
      TF_RETURN_IF_ERROR(CheckShape(kNames[i], ctx.input(9 + i), {time, s.batch, s.cells}, "[time, batch, cells]"));
    }
    TF_ASSIGN_OR_RETURN(s.steps, StepsToRun(ctx, time));
    LstmOptions options = options_;
    if constexpr (kFrom == LstmOptionsFrom::kInputs) {
      TF_RETURN_IF_ERROR(ReadScalar(ctx, 18, "cell_clip", &options.cell_clip));
    }
    std::vector<Tensor> in;
    TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 1, 17, &in));
    std::vector<FloatOutput<T>> out;
    for (int i = 0; i < 8; ++i) {
      FloatOutput<T> one;
      if (i > 0 || x_grad_is_used_) {
        TF_ASSIGN_OR_RETURN(one, FloatOutput<T>::Allocate(ctx, i, ctx.input(i + 1).shape()));
      }
      out.push_back(std::move(one));
    }
    if (s.batch == 0 || s.cells == 0) {  // as above, the number of steps may be huge
      SetToZero(out);
      return OkStatus();
    }
    const LstmGradients<A> grads = {out[0].data(), out[1].data(), out[2].data(), out[3].data(),
                                    out[4].data(), out[5].data(), out[6].data(), out[7].data()};
    TF_RETURN_IF_ERROR(LstmBackward(ctx, SequenceOf<A>(s, options, in), ActivationsOf<A>(in, /*has_h=*/true),
                                    DataOf<A>(in[15]), DataOf<A>(in[16]), grads));
    if (x_grad_is_used_) std::fill(grads.x + s.steps * s.batch * s.inputs, grads.x + out[0].size(), A(0));
    FinishAll(out);
    return OkStatus();
  }

 private:
  const LstmOptions options_;
  const bool x_grad_is_used_;
};

// The cost of the gates and of kProducts products of the size of [x, h] * w. x is input number kX, and w is the third
// input after x.
template <int kProducts, int kX>
Cost LstmCost(const CostContext& c) {
  Cost cost = SequenceCost<kProducts, kX, kX + 3>(c);
  cost.flops += FlopsOfNs(kLstmForwardNs * SequenceRows(c, kX) * c.input_dim(kX + 1, -1));
  return cost;
}

}  // namespace

void RegisterRnnLstmKernels(KernelRegistry& r) {
  ForEachType<float, Float16>([&]<typename T>() {
    const TypeConstraints types = {{"T", {DTypeOf<T>::value}}};
    constexpr auto kFrom = LstmOptionsFrom::kAttrs;
    r.Add<LstmCellKernel<T>>("LSTMBlockCell", types, LstmCost<1, 0>);
    r.Add<LstmCellGradKernel<T>>("LSTMBlockCellGrad", types, ElementCost<2000>);
    r.Add<BlockLstmKernel<T, GateOrder::kIcfo, kFrom>>("BlockLSTM", types, LstmCost<1, 1>);
    r.Add<BlockLstmKernel<T, GateOrder::kIfco, kFrom>>("BlockLSTMV2", types, LstmCost<1, 1>);
    r.Add<BlockLstmGradKernel<T, GateOrder::kIcfo, kFrom>>("BlockLSTMGrad", types, LstmCost<2, 1>);
    r.Add<BlockLstmGradKernel<T, GateOrder::kIfco, kFrom>>("BlockLSTMGradV2", types, LstmCost<2, 1>);
  });
  ForEachType<float, double, Float16, Bfloat16>([&]<typename T>() {
    const TypeConstraints types = {{"T", {DTypeOf<T>::value}}};
    constexpr auto kFrom = LstmOptionsFrom::kInputs;
    r.Add<BlockLstmKernel<T, GateOrder::kIcfo, kFrom>>("_BlockLSTM", types, LstmCost<1, 1>);
    r.Add<BlockLstmGradKernel<T, GateOrder::kIcfo, kFrom>>("_BlockLSTMGrad", types, LstmCost<2, 1>);
  });
}

}  // namespace tensorbraid::cpu
