#include "kernels/cpu/rnn/lstm_sequence.h"

#include <algorithm>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/rnn/sequence.h"

namespace tensorbraid::cpu {

// How a sequence is divided among threads: in parts of the batch, or not at all. If the weights are too large for the
// cache of a core, or the batch is small, there is one part, whose products are divided instead.
class LstmParts {
 public:
  LstmParts(KernelContext& ctx, const LstmSizes& s) : ctx_(ctx), sizes_(s) {
    constexpr int64_t kRows = 16;  // with 8, products are 2 % slower
    constexpr int64_t kMaxWeights = int64_t{1} << 20;
    const bool divided = 4 * s.cells * (s.inputs + s.cells) <= kMaxWeights;
    count_ = divided ? (s.batch + kRows - 1) / kRows : 1;
  }

  // Calls body(first row, number of rows) for all parts.
  template <typename Body>
  void Run(double ns_per_row, const Body& body) const {
    Parallel(ctx_, count_, ns_per_row * sizes_.batch / count_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = sizes_.batch * i / count_;
        body(row, sizes_.batch * (i + 1) / count_ - row);
      }
    });
  }

  // The pool for the products within a part.
  ThreadPool* pool() const { return count_ == 1 ? ctx_.env().pool : nullptr; }
  // Calls row(r) for the rows of a step within a part.
  template <typename Row>
  void ForRows(int64_t rows, double ns_per_row, const Row& row) const {
    const auto body = [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) row(r);
    };
    count_ == 1 ? Parallel(ctx_, rows, ns_per_row, body) : body(0, rows);
  }
  // The number of steps for which the rows of a part form one matrix: all steps if there is only one part, otherwise 1.
  int64_t steps_at_once() const { return count_ == 1 ? std::max<int64_t>(1, sizes_.steps) : 1; }

 private:
  KernelContext& ctx_;
  const LstmSizes sizes_;
  int64_t count_;
};

namespace {

double NsOfProducts(int64_t rows, int64_t columns, int64_t depth) {
  constexpr double kFlopsPerNs = 100;
  return 2.0 * rows * columns * depth / kFlopsPerNs;
}

// out[columns, rows] = in[rows, columns] transposed.
template <typename A>
void TransposeWeights(KernelContext& ctx, int64_t rows, int64_t columns, const A* in, A* out) {
  constexpr int64_t kBlock = 16;  // rows that are read side by side, to write whole cache lines
  Parallel(ctx, (rows + kBlock - 1) / kBlock, 0.5 * columns * kBlock, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t from = block * kBlock, to = std::min(rows, from + kBlock);
      for (int64_t c = 0; c < columns; ++c) {
        for (int64_t r = from; r < to; ++r) out[c * rows + r] = in[r * columns + c];
      }
    }
  });
}

// The gradients of w and b, from the derivatives of the gates of all steps. The columns are divided into strips, which
// threads share.
template <typename A>
void WeightGradients(KernelContext& ctx, const LstmSequence<A>& s, const A* h, const A* dgates,
                     const LstmGradients<A>& out) {
  const int64_t steps = s.sizes.steps, batch = s.sizes.batch, inputs = s.sizes.inputs, cells = s.sizes.cells;
  const int64_t columns = 4 * cells, rows = steps * batch;
  // Each strip packs its matrices again, so there are only as many strips as eight threads need. oneDNN multiplies
  // blocks of 48 columns, so a strip consists of whole blocks.
  constexpr int64_t kBlock = 48, kMaxStrips = 4;
  const int64_t blocks = (columns + kBlock - 1) / kBlock;
  const int64_t strip = (blocks + kMaxStrips - 1) / kMaxStrips * kBlock;
  const int64_t strips = (columns + strip - 1) / strip;
  const auto strip_of_x = [&](int64_t from, int64_t width) {
    GemmPart product{.transpose_a = true, .m = inputs, .n = width, .k = rows};
    product.a_stride = inputs;
    product.b_stride = product.c_stride = columns;
    Gemm(/*pool=*/nullptr, product, s.x, dgates + from, out.w + from);
  };
  // The previous h of the first step is h_prev. The previous h of every other step is in the rows of h, one step
  // earlier.
  const auto strip_of_h = [&](int64_t from, int64_t width) {
    A* const w_h = out.w + inputs * columns + from;
    GemmPart product{.transpose_a = true, .m = cells, .n = width, .k = std::min(rows, batch)};
    product.a_stride = cells;
    product.b_stride = product.c_stride = columns;
    Gemm(/*pool=*/nullptr, product, s.h_prev, dgates + from, w_h);
    product.k = rows - product.k;
    product.add = true;
    Gemm(/*pool=*/nullptr, product, h, dgates + batch * columns + from, w_h);
    SumColumns<A>(rows, from, from + width, dgates, columns, /*y=*/nullptr, /*y_row=*/0, /*add=*/false, out.b);
  };
  Parallel(ctx, 2 * strips, NsOfProducts(rows, columns, inputs + cells) / (2 * strips),
           [&](int64_t begin, int64_t end) {
             for (int64_t i = begin; i < end; ++i) {
               const int64_t from = i % strips * strip, width = std::min(strip, columns - from);
               i < strips ? strip_of_x(from, width) : strip_of_h(from, width);
             }
           });
}

}  // namespace

template <typename A>
Status LstmForward(KernelContext& ctx, const LstmSequence<A>& s, const LstmRows<A>& out) {
  const int64_t steps = s.sizes.steps, batch = s.sizes.batch, inputs = s.sizes.inputs, cells = s.sizes.cells;
  const int64_t columns = 4 * cells;
  const LstmParts parts(ctx, s.sizes);
  TF_ASSIGN_OR_RETURN(Tensor scratch, ctx.AllocateTemp(DTypeOf<A>::value, {parts.steps_at_once() * batch, columns}));
  A* const all_products = scratch.inplace_data<A>().data();
  const GateOffsets at(s.options.order, cells);
  const auto compute_row = LstmForwardRowOf<A>(s.options);
  const A* const w_h = s.parameters.w + inputs * columns;
  const auto body = [&](int64_t first, int64_t rows) {
    const int64_t at_once = parts.steps_at_once();
    for (int64_t t = 0; t < steps; ++t) {
      A* const products = all_products + first * columns;
      if (t % at_once == 0) {
        GemmPart from_x{.m = at_once * rows, .n = columns, .k = inputs};
        from_x.a_stride = inputs;
        from_x.b_stride = from_x.c_stride = columns;
        Gemm(parts.pool(), from_x, s.x + (t * batch + first) * inputs, s.parameters.w, products);
      }
      A* const product = products + t % at_once * rows * columns;
      const int64_t now = (t * batch + first) * cells, before = now - batch * cells;
      const A* const h_prev = t == 0 ? s.h_prev + first * cells : out.h + before;
      const A* const cs_prev = t == 0 ? s.cs_prev + first * cells : out.cs + before;
      GemmPart from_h{.m = rows, .n = columns, .k = cells};
      from_h.a_stride = cells;
      from_h.b_stride = from_h.c_stride = columns;
      from_h.add = true;
      Gemm(parts.pool(), from_h, h_prev, w_h, product);
      parts.ForRows(rows, kLstmForwardNs * cells, [&](int64_t r) {
        compute_row(s.options, at, cells, s.parameters, product + r * columns, cs_prev + r * cells,
                    out.From(now + r * cells));
      });
    }
  };
  parts.Run(steps * (NsOfProducts(1, columns, inputs + cells) + kLstmForwardNs * cells), body);
  return OkStatus();
}

template <typename A>
Status LstmBackward(KernelContext& ctx, const LstmSequence<A>& s, const LstmRows<const A>& a, const A* cs_grad,
                    const A* h_grad, const LstmGradients<A>& out) {
  const int64_t steps = s.sizes.steps, batch = s.sizes.batch, inputs = s.sizes.inputs, cells = s.sizes.cells;
  const int64_t columns = 4 * cells;
  const LstmParts parts(ctx, s.sizes);
  TF_ASSIGN_OR_RETURN(Tensor all_dgates, ctx.AllocateTemp(DTypeOf<A>::value, {steps * batch, columns}));
  // The rows of w that are multiplied by the tensors to differentiate: all rows, or only those of h.
  const int64_t first_row = out.x == nullptr ? inputs : 0, outputs = inputs + cells - first_row;
  TF_ASSIGN_OR_RETURN(Tensor transposed, ctx.AllocateTemp(DTypeOf<A>::value, {columns, outputs}));
  A* const dgates = all_dgates.inplace_data<A>().data();
  // w is transposed in advance, because oneDNN multiplies a few rows faster by a matrix that need not be transposed.
  A* const w = transposed.inplace_data<A>().data();
  TransposeWeights(ctx, outputs, columns, s.parameters.w + first_row * columns, w);
  if (steps == 0) {
    std::fill_n(out.cs_prev, batch * cells, A(0));
    std::fill_n(out.h_prev, batch * cells, A(0));
  }
  const GateOffsets at(s.options.order, cells);
  const auto last_row = LstmBackwardRowOf<A>(s.options, /*later=*/false);
  const auto row = LstmBackwardRowOf<A>(s.options, /*later=*/true);
  const auto body = [&](int64_t first, int64_t rows) {
    // These carry the gradients of the cell state and of h from step to step.
    A* const dcs = out.cs_prev + first * cells;
    A* const dh = out.h_prev + first * cells;
    for (int64_t t = steps - 1; t >= 0; --t) {
      const int64_t now = (t * batch + first) * cells;
      const A* const cs_prev = t == 0 ? s.cs_prev + first * cells : a.cs + now - batch * cells;
      const auto compute_row = t == steps - 1 ? last_row : row;
      parts.ForRows(rows, kLstmBackwardNs * cells, [&](int64_t r) {
        const int64_t k = r * cells;
        compute_row(s.options, at, cells, s.parameters, cs_prev + k, a.From(now + k), cs_grad + now + k,
                    h_grad + now + k, dh + k, dcs + k, dgates + 4 * (now + k));
      });
      GemmPart to_h{.m = rows, .n = cells, .k = columns};
      to_h.a_stride = columns;
      to_h.b_stride = outputs;
      to_h.c_stride = cells;
      Gemm(parts.pool(), to_h, dgates + 4 * now, w + outputs - cells, dh);
    }
    if (out.x == nullptr) return;
    const int64_t at_once = parts.steps_at_once();
    for (int64_t t = 0; t < steps; t += at_once) {
      GemmPart to_x{.m = at_once * rows, .n = inputs, .k = columns};
      to_x.a_stride = columns;
      to_x.b_stride = outputs;
      to_x.c_stride = inputs;
      const int64_t from = t * batch + first;
      Gemm(parts.pool(), to_x, dgates + from * columns, w, out.x + from * inputs);
    }
  };
  parts.Run(steps * (NsOfProducts(1, columns, outputs) + kLstmBackwardNs * cells), body);
  WeightGradients(ctx, s, a.h, dgates, out);
  if (s.options.peephole && steps > 0) {
    const GateOrder order = s.options.order;
    PeepholeGradients(ctx, batch, cells, order, dgates, s.cs_prev, a.cs, /*add=*/false, out);
    PeepholeGradients(ctx, (steps - 1) * batch, cells, order, dgates + batch * columns, a.cs, a.cs + batch * cells,
                      /*add=*/true, out);
  } else {
    for (A* const weights : {out.wci, out.wcf, out.wco}) std::fill_n(weights, cells, A(0));
  }
  return OkStatus();
}

template <typename A>
void PeepholeGradients(KernelContext& ctx, int64_t rows, int64_t cells, GateOrder order, const A* dgates,
                       const A* cs_prev, const A* cs, bool add, const LstmGradients<A>& out) {
  const GateOffsets at(order, cells);
  constexpr int64_t kBlock = 64;
  Parallel(ctx, (cells + kBlock - 1) / kBlock, 0.6 * rows * kBlock, [&](int64_t begin, int64_t end) {
    const int64_t from = begin * kBlock, to = std::min(cells, end * kBlock);
    SumColumns<A>(rows, from, to, dgates + at.i, 4 * cells, cs_prev, cells, add, out.wci);
    SumColumns<A>(rows, from, to, dgates + at.f, 4 * cells, cs_prev, cells, add, out.wcf);
    SumColumns<A>(rows, from, to, dgates + at.o, 4 * cells, cs, cells, add, out.wco);
  });
}

#define TB_LSTM_SEQUENCE(A)                                                                                           \
  template Status LstmForward<A>(KernelContext&, const LstmSequence<A>&, const LstmRows<A>&);                         \
  template Status LstmBackward<A>(KernelContext&, const LstmSequence<A>&, const LstmRows<const A>&, const A*,         \
                                  const A*, const LstmGradients<A>&);                                                 \
  template void PeepholeGradients<A>(KernelContext&, int64_t, int64_t, GateOrder, const A*, const A*, const A*, bool, \
                                     const LstmGradients<A>&);
TB_LSTM_SEQUENCE(float)
TB_LSTM_SEQUENCE(double)
#undef TB_LSTM_SEQUENCE

}  // namespace tensorbraid::cpu
