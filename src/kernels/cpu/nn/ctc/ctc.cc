// The kernels of the CTC loss and decoders: they check the inputs, and split the work over the sequences of the batch.
// ctc.h has the algorithms.
#include "kernels/cpu/nn/ctc/ctc.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/threads/mutex.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The sizes of logits [time, batch, classes] and the lengths of their sequences.
struct CtcBatch {
  int64_t time, batch, classes;
  std::span<const int32_t> lengths;

  template <typename A>
  CtcSequence<A> Sequence(const Tensor& logits, int64_t b) const {
    return {.data = logits.data<A>().data() + b * classes,
            .stride = batch * classes,
            .length = std::max<int64_t>(0, lengths[b]),
            .classes = classes};
  }
};

// Checks ranks and sizes. `mismatch` is the error code if the lengths do not fit the logits; it differs between
// TensorFlow's ops.
StatusOr<CtcBatch> BatchOf(const Tensor& logits, const Tensor& lengths, absl::StatusCode mismatch) {
  const Shape& shape = logits.shape();
  if (shape.rank() != 3) return InvalidArgument("inputs must have shape [time, batch, classes], got ", shape);
  if (lengths.shape().rank() != 1) {
    return InvalidArgument("sequence_length must be a vector, got shape ", lengths.shape());
  }
  if (lengths.num_elements() != shape.dim(1)) {
    return Status(mismatch, StrCat("sequence_length must have one element for each of the ", shape.dim(1),
                                   " sequences of inputs ", shape, ", got ", lengths.num_elements()));
  }
  if (shape.dim(1) == 0) return InvalidArgument("batch_size must not be 0, got inputs of shape ", shape);
  if (shape.dim(0) == 0) {
    return InvalidArgument("inputs must not be empty: Max time or first dimension of input cannot be 0, got shape ",
                           shape);
  }
  if (shape.num_elements() == 0) return InvalidArgument("inputs must not be empty, got shape ", shape);
  if (shape.dim(2) > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("inputs ", shape, " have too many classes");
  }
  CtcBatch batch{shape.dim(0), shape.dim(1), shape.dim(2), lengths.data<int32_t>()};
  for (int64_t b = 0; b < batch.batch; ++b) {
    if (batch.lengths[b] > batch.time) {
      return Status(mismatch, StrCat("sequence_length[", b, "] is ", batch.lengths[b], ", but inputs ", shape,
                                     " have only ", batch.time, " steps"));
    }
  }
  return batch;
}

std::string LabelsText(std::span<const int32_t> labels) {
  std::string text;
  for (size_t i = 0; i < labels.size() && i < 20; ++i) text += StrCat(i == 0 ? "" : ",", labels[i]);
  return labels.size() > 20 ? text + ",..." : text;
}

// Splits the values of a sparse tensor into the labels of each sequence. Returns batch + 1 positions `start`: sequence
// b has the labels at [start[b], start[b + 1]). InvalidArgument unless the indices are in the range of the batch,
// unique and in row-major order.
StatusOr<std::vector<int64_t>> SplitLabels(const Tensor& indices, const Tensor& values, int64_t batch) {
  if (indices.shape().rank() != 2 || indices.shape().dim(1) != 2) {
    return InvalidArgument("labels_indices must have shape [labels, 2], got ", indices.shape());
  }
  if (values.shape().rank() != 1 || values.num_elements() != indices.shape().dim(0)) {
    return InvalidArgument("labels_indices and labels_values must contain the same number of rows, got shapes ",
                           indices.shape(), " and ", values.shape());
  }
  const int64_t* at = indices.data<int64_t>().data();
  std::vector<int64_t> start(batch + 1, 0);
  for (int64_t i = 0; i < values.num_elements(); ++i, at += 2) {
    if (at[0] < 0 || at[0] >= batch || at[1] < 0) {
      return InvalidArgument("label SparseTensor is not valid: labels_indices[", i, "] = [", at[0], ",", at[1],
                             "] is out of bounds; there are ", batch, " sequences");
    }
    if (i > 0 && (at[0] < at[-2] || (at[0] == at[-2] && at[1] <= at[-1]))) {
      return InvalidArgument("label SparseTensor is not valid: labels_indices[", i, "] = [", at[0], ",", at[1], "] is ",
                             at[0] == at[-2] && at[1] == at[-1] ? "repeated" : "out of order", " after [", at[-2], ",",
                             at[-1], "]");
    }
    ++start[at[0] + 1];
  }
  for (int64_t b = 0; b < batch; ++b) start[b + 1] += start[b];
  return start;
}

// The difference between CTCLoss and CTCLossV2.
struct BlankRule {
  bool first;  // whether the blank is class 0; otherwise it is the last class
};

class CtcLossBase : public Kernel {
 protected:
  CtcLossBase(const KernelConstruction& c, BlankRule blank)
      : blank_(blank),
        collapse_(c.attr<bool>("preprocess_collapse_repeated")),
        merge_(c.attr<bool>("ctc_merge_repeated")),
        ignore_longer_(c.attr<bool>("ignore_longer_outputs_than_inputs")) {}

  // Checks the labels of sequence b, and appends those that the algorithm uses to `out`.
  Status Prepare(std::span<const int32_t> labels, int64_t b, int64_t classes, std::vector<int32_t>* out) const {
    if (labels.empty() && !blank_.first) return InvalidArgument("Labels length is zero in batch ", b);
    bool ended = false;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (collapse_ && i > 0 && labels[i] == labels[i - 1]) continue;
      if (blank_.first) {
        if (labels[i] < 1 || labels[i] >= classes) {
          return InvalidArgument("labels must be between 1 and ", classes - 1,
                                 ", since class 0 is the blank; batch: ", b, " labels: ", LabelsText(labels));
        }
      } else if (labels[i] >= classes - 1) {
        // As in TensorFlow, the blank or a class that does not exist ends the labels of a sequence.
        ended = true;
        continue;
      } else if (ended) {
        return InvalidArgument("Saw a non-null label (index >= num_classes - 1) following a null label, batch: ", b,
                               " num_classes: ", classes, " labels: ", LabelsText(labels));
      } else if (labels[i] < 0) {
        return InvalidArgument("All labels must be nonnegative integers, batch: ", b, " labels: ", LabelsText(labels));
      }
      out->push_back(labels[i]);
    }
    return OkStatus();
  }

  const BlankRule blank_;
  const bool collapse_;
  const bool merge_;
  const bool ignore_longer_;
};

template <typename A, bool kBlankFirst>
class CtcLossKernel final : public CtcLossBase {
 public:
  explicit CtcLossKernel(const KernelConstruction& c) : CtcLossBase(c, {kBlankFirst}) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& logits = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const CtcBatch batch, BatchOf(logits, ctx.input(3), absl::StatusCode::kInvalidArgument));
    TF_ASSIGN_OR_RETURN(const std::vector<int64_t> start, SplitLabels(ctx.input(1), ctx.input(2), batch.batch));
    const std::span<const int32_t> all = ctx.input(2).data<int32_t>();
    // The labels that the algorithm uses. The labels of sequence b begin at from[b].
    std::vector<int32_t> labels;
    std::vector<int64_t> from = {0};
    std::vector<bool> skipped(batch.batch);
    for (int64_t b = 0; b < batch.batch; ++b) {
      const int64_t given = start[b + 1] - start[b];
      TF_RETURN_IF_ERROR(Prepare(all.subspan(start[b], given), b, batch.classes, &labels));
      from.push_back(static_cast<int64_t>(labels.size()));
      if (batch.lengths[b] < 0) return InvalidArgument("sequence_length[", b, "] is ", batch.lengths[b]);
      if (given > batch.lengths[b] && !ignore_longer_) {
        return InvalidArgument("Not enough time for target transition sequence (required: ", given,
                               ", available: ", batch.lengths[b], ") in sequence ", b,
                               ". You can turn this error into a loss of 0 by using the flag "
                               "ignore_longer_outputs_than_inputs");
      }
      skipped[b] = given > batch.lengths[b] || batch.lengths[b] == 0;
    }
    TF_ASSIGN_OR_RETURN(Tensor * loss, ctx.AllocateOutput(0, {batch.batch}));
    TF_ASSIGN_OR_RETURN(Tensor * gradient, ctx.AllocateOutput(1, logits.shape()));
    A* const losses = loss->inplace_data<A>().data();
    A* const gradients = gradient->inplace_data<A>().data();
    const int32_t blank = kBlankFirst ? 0 : static_cast<int32_t>(batch.classes - 1);
    const double states = 2.0 * labels.size() / batch.batch + 1;
    Mutex mu;
    Status status;
    Parallel(ctx, batch.batch, batch.time * (3.0 * batch.classes + 6.0 * states), [&](int64_t begin, int64_t end) {
      CtcLossComputer<A> computer(blank, merge_, /*optional_last_blank=*/!kBlankFirst);
      for (int64_t b = begin; b < end; ++b) {
        const CtcSequence<A> sequence = batch.Sequence<A>(logits, b);
        A* const rows = gradients + b * batch.classes;
        // The loss and the derivative of skipped sequences are 0, and so is the derivative after a sequence's end.
        losses[b] = 0;
        for (int64_t t = skipped[b] ? 0 : sequence.length; t < batch.time; ++t) {
          std::fill_n(rows + t * sequence.stride, batch.classes, A(0));
        }
        if (skipped[b]) continue;
        const std::span<const int32_t> own(labels.data() + from[b], from[b + 1] - from[b]);
        const Status one = computer.Run(sequence, own, losses + b, rows);
        if (!one.ok()) {
          MutexLock lock(mu);
          if (status.ok()) status = one;
        }
      }
    });
    return status;
  }
};

// Stores one path for each sequence of the batch as a sparse tensor, whose parts are the outputs with the numbers
// `indices`, `values` and `shape`.
Status StorePaths(KernelContext& ctx, int indices, int values, int shape,
                  const std::vector<const std::vector<int64_t>*>& paths) {
  int64_t total = 0, longest = 0;
  for (const auto* path : paths) {
    total += static_cast<int64_t>(path->size());
    longest = std::max(longest, static_cast<int64_t>(path->size()));
  }
  TF_ASSIGN_OR_RETURN(Tensor * out_indices, ctx.AllocateOutput(indices, {total, 2}));
  TF_ASSIGN_OR_RETURN(Tensor * out_values, ctx.AllocateOutput(values, {total}));
  TF_ASSIGN_OR_RETURN(Tensor * out_shape, ctx.AllocateOutput(shape, {2}));
  int64_t* at = out_indices->inplace_data<int64_t>().data();
  int64_t* value = out_values->inplace_data<int64_t>().data();
  for (size_t b = 0; b < paths.size(); ++b) {
    for (size_t t = 0; t < paths[b]->size(); ++t) {
      *at++ = static_cast<int64_t>(b);
      *at++ = static_cast<int64_t>(t);
      *value++ = (*paths[b])[t];
    }
  }
  out_shape->inplace_data<int64_t>()[0] = static_cast<int64_t>(paths.size());
  out_shape->inplace_data<int64_t>()[1] = longest;
  return OkStatus();
}

template <typename A>
class CtcGreedyKernel final : public Kernel {
 public:
  explicit CtcGreedyKernel(const KernelConstruction& c)
      : merge_(c.attr<bool>("merge_repeated")), blank_(c.attr<int64_t>("blank_index")) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& logits = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const CtcBatch batch, BatchOf(logits, ctx.input(1), absl::StatusCode::kFailedPrecondition));
    if (blank_ < -batch.classes || blank_ >= batch.classes) {
      return InvalidArgument("blank_index expected to be between ", -batch.classes, " and ", batch.classes - 1,
                             " but was ", blank_);
    }
    const int64_t blank = blank_ < 0 ? blank_ + batch.classes : blank_;
    TF_ASSIGN_OR_RETURN(Tensor * scores, ctx.AllocateOutput(3, {batch.batch, 1}));
    A* const score = scores->inplace_data<A>().data();
    std::vector<std::vector<int64_t>> paths(batch.batch);
    Parallel(ctx, batch.batch, 1.0 * batch.time * batch.classes, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const CtcSequence<A> sequence = batch.Sequence<A>(logits, b);
        A sum = 0;
        int64_t last = -1;
        for (int64_t t = 0; t < sequence.length; ++t) {
          const A* x = sequence.row(t);
          int64_t best = 0;
          for (int64_t k = 1; k < batch.classes; ++k) best = x[k] > x[best] ? k : best;
          sum -= x[best];
          if (best != blank && !(merge_ && best == last)) paths[b].push_back(best);
          last = best;
        }
        score[b] = sum;
      }
    });
    std::vector<const std::vector<int64_t>*> all;
    for (const auto& path : paths) all.push_back(&path);
    return StorePaths(ctx, /*indices=*/0, /*values=*/1, /*shape=*/2, all);
  }

 private:
  const bool merge_;
  const int64_t blank_;
};

template <typename A>
class CtcBeamKernel final : public Kernel {
 public:
  explicit CtcBeamKernel(const KernelConstruction& c)
      : merge_(c.attr<bool>("merge_repeated")),
        width_(c.attr<int64_t>("beam_width")),
        paths_(c.attr<int64_t>("top_paths")) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& logits = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const CtcBatch batch, BatchOf(logits, ctx.input(1), absl::StatusCode::kFailedPrecondition));
    TF_ASSIGN_OR_RETURN(Tensor * scores, ctx.AllocateOutput(static_cast<int>(3 * paths_), {batch.batch, paths_}));
    A* const score = scores->inplace_data<A>().data();
    std::vector<std::vector<CtcPath<A>>> found(batch.batch);
    std::atomic<int64_t> held = 0;  // the prefixes that all searches hold (ctc_beam_search.cc)
    Mutex mu;
    Status status;
    const double cost = batch.time * (20.0 * batch.classes + 100.0 * std::min<int64_t>(width_, 1 << 20));
    Parallel(ctx, batch.batch, cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        auto best = CtcBeamSearch(batch.Sequence<A>(logits, b), width_, paths_, merge_, &held);
        if (!best.ok()) {
          MutexLock lock(mu);
          if (status.ok()) status = best.status();
          return;
        }
        found[b] = *std::move(best);
        for (int64_t p = 0; p < paths_; ++p) score[b * paths_ + p] = found[b][p].log_probability;
      }
    });
    TF_RETURN_IF_ERROR(status);
    for (int p = 0; p < static_cast<int>(paths_); ++p) {
      std::vector<const std::vector<int64_t>*> all;
      for (const auto& paths : found) all.push_back(&paths[p].labels);
      const int n = static_cast<int>(paths_);
      TF_RETURN_IF_ERROR(StorePaths(ctx, p, n + p, 2 * n + p, all));
    }
    return OkStatus();
  }

 private:
  const bool merge_;
  const int64_t width_;
  const int64_t paths_;
};

// An alignment has two states for each label: the label itself and a blank.
Cost CtcLossCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  const double sequences = std::max(1.0, c.input_dim(0, 1));
  const double steps = c.input_dim(0, 0) * sequences;
  cost.flops = FlopsOfNs(steps * (3 * c.input_dim(0, 2) + 12 * c.input_elements(2) / sequences));
  return cost;
}

Cost CtcBeamCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  cost.flops = FlopsOfNs(c.input_elements(0) * 20 + c.input_dim(0, 0) * c.input_dim(0, 1) * 10'000);
  return cost;
}

template <typename A>
void AddCtc(KernelRegistry& r) {
  const TypeConstraints types = {{"T", {DTypeOf<A>::value}}};
  r.Add<CtcLossKernel<A, false>>("CTCLoss", types, CtcLossCost);
  r.Add<CtcGreedyKernel<A>>("CTCGreedyDecoder", types);
  r.Add<CtcBeamKernel<A>>("CTCBeamSearchDecoder", types, CtcBeamCost);
}

}  // namespace

void RegisterNnCtcKernels(KernelRegistry& r) {
  AddCtc<float>(r);
  AddCtc<double>(r);
  r.Add<CtcLossKernel<float, true>>("CTCLossV2", {}, CtcLossCost);
}

}  // namespace tensorbraid::cpu
