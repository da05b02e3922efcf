// Datasets that combine elements into batches.
#include <algorithm>

#include "core/text/strings.h"
#include "kernels/cpu/dataset/util.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Reads elements until *batch has `size` of them. *batch has fewer only if the input has ended; *ended is then true.
// T is Element or, if all elements are scalar strings, std::string.
template <typename T>
Status Gather(const Iterator& pull, int64_t size, const IteratorContext& ctx, bool* ended, std::vector<T>* batch) {
  while (!*ended && static_cast<int64_t>(batch->size()) < size) {
    TF_RETURN_IF_ERROR(ctx.cancellation->status());
    T e;
    TF_ASSIGN_OR_RETURN(const bool more, pull(ctx, &e));
    if (more) {
      batch->push_back(std::move(e));
    } else {
      *ended = true;
    }
  }
  return OkStatus();
}

// The number of batches that n elements give. A negative n (unknown or infinite) is returned as it is.
int64_t BatchCardinality(int64_t n, int64_t size, bool drop_remainder) {
  if (n < 0) return n;
  return n / size + (n % size != 0 && !drop_remainder ? 1 : 0);
}

struct State {
  Iterator pull;
  bool ended = false;
  void Fields(IteratorState& state) { state(pull, ended); }
};

// `join` makes a batch of a std::vector<T>.
template <typename T, typename Join>
Status EmitBatches(KernelContext& ctx, int64_t size, bool drop_remainder, Join join) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  if (size <= 0) return InvalidArgument("Batch size must be greater than zero, got batch_size ", size);
  return EmitDataset(
      ctx, {input},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        State state;
        TF_ASSIGN_OR_RETURN(state.pull, input->MakeIterator(c));
        return MakeStateful(std::move(state), [=](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
          std::vector<T> batch;
          TF_RETURN_IF_ERROR(Gather(s.pull, size, c, &s.ended, &batch));
          if (batch.empty() || (drop_remainder && static_cast<int64_t>(batch.size()) < size)) return false;
          TF_ASSIGN_OR_RETURN(*out, join(std::move(batch)));
          return true;
        });
      },
      BatchCardinality(input->cardinality(), size, drop_remainder));
}

// `drop_input` is the number of the input drop_remainder, or -1 if the op has no such input.
template <int drop_input>
Status BatchDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const int64_t size, NumberInput(ctx, 1, "batch_size"));
  bool drop_remainder = false;
  if (drop_input >= 0) {
    TF_ASSIGN_OR_RETURN(drop_remainder, BoolInput(ctx, drop_input, "drop_remainder"));
  }
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  if (!input->has_string_elements()) return EmitBatches<Element>(ctx, size, drop_remainder, StackElements);
  return EmitBatches<std::string>(ctx, size, drop_remainder, [](std::vector<std::string> batch) -> StatusOr<Element> {
    TF_ASSIGN_OR_RETURN(Tensor out, Tensor::Create(kString, {std::ssize(batch)}));
    std::ranges::move(batch, out.inplace_data<std::string>().begin());
    return Element{std::move(out)};
  });
}

// Cuts each batch into one part for each replica. The parts of a component have the same size. If there are too few
// rows for that, the last parts are smaller or empty.
Status RebatchForReplicas(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t replicas, NumberInput(ctx, 1, "num_replicas"));
  if (replicas <= 0) return InvalidArgument("num_replicas must be greater than zero, got ", replicas);
  struct Parts {
    Iterator pull;
    Element batch;     // the element of the input that is being cut
    int64_t next = 0;  // the part to return next; 0 if a batch must be read first
    void Fields(IteratorState& state) { state(pull, batch, next); }
  };
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    Parts parts;
    TF_ASSIGN_OR_RETURN(parts.pull, input->MakeIterator(c));
    return MakeStateful(std::move(parts), [=](Parts& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      if (s.next == 0) {
        TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, &s.batch));
        if (!more) return false;
        for (size_t i = 0; i < s.batch.size(); ++i) {
          if (s.batch[i].shape().rank() < 1) {
            return InvalidArgument("Cannot rebatch dataset: All components must have at least one dimension. ",
                                   "Component ", i, " is scalar; is the input dataset batched?");
          }
        }
      }
      out->clear();
      for (const Tensor& t : s.batch) {
        const int64_t rows = t.shape().dim(0);
        const int64_t size = rows / replicas + (rows % replicas != 0 ? 1 : 0);
        const int64_t end = std::min(rows, size * (s.next + 1));
        out->push_back(t.Slice(std::min(end, size * s.next), end));
      }
      s.next = (s.next + 1) % replicas;
      return true;
    });
  });
}

// Turns batches into batches of other sizes. The new sizes are those in batch_sizes, which is used cyclically.
Status RebatchDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const IntVector listed, IntegersOf(ctx.input(1), "batch_sizes"));
  TF_ASSIGN_OR_RETURN(const bool drop_remainder, BoolInput(ctx, 2, "drop_remainder"));
  const std::vector<int64_t> sizes(listed.begin(), listed.end());
  if (sizes.empty()) return InvalidArgument("batch_sizes must have an element");
  for (int64_t size : sizes) {
    if (size <= 0) return InvalidArgument("batch_sizes must be positive, got ", size);
  }
  struct Rest {
    Iterator pull;
    Element batch;              // the element of the input that is being cut
    int64_t row = 0, rows = 0;  // the next row of `batch`, and the number of its rows
    size_t next_size = 0;
    bool ended = false;
    void Fields(IteratorState& state) { state(pull, batch, row, rows, next_size, ended); }
  };
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    Rest rest;
    TF_ASSIGN_OR_RETURN(rest.pull, input->MakeIterator(c));
    return MakeStateful(std::move(rest), [=](Rest& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      const int64_t size = sizes[s.next_size % sizes.size()];
      std::vector<Element> rows;
      while (!s.ended && static_cast<int64_t>(rows.size()) < size) {
        TF_RETURN_IF_ERROR(c.cancellation->status());
        if (s.row < s.rows) {
          Element row;
          for (const Tensor& t : s.batch) row.push_back(RowOf(t, s.row));
          rows.push_back(std::move(row));
          ++s.row;
          continue;
        }
        TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, &s.batch));
        s.ended = !more;
        s.row = s.rows = 0;
        for (size_t i = 0; more && i < s.batch.size(); ++i) {
          if (s.batch[i].shape().rank() < 1) {
            return InvalidArgument("Input element must have a batch dimension in each component: component ", i,
                                   " is a scalar");
          }
          if (i == 0) s.rows = s.batch[i].shape().dim(0);
          if (s.batch[i].shape().dim(0) != s.rows) {
            return InvalidArgument("Input element must have the same batch size in each component, got ", s.rows,
                                   " and ", s.batch[i].shape().dim(0));
          }
        }
      }
      if (rows.empty() || (drop_remainder && static_cast<int64_t>(rows.size()) < size)) return false;
      ++s.next_size;
      TF_ASSIGN_OR_RETURN(*out, StackElements(std::move(rows)));
      return true;
    });
  });
}

// One component of a batch. Each element is padded at the end of its dimensions to the same shape: `wanted`, whose
// unknown sizes become the largest size in the batch.
StatusOr<Tensor> Pad(const std::vector<Element>& batch, size_t c, const Shape& wanted, const Tensor& padding) {
  const DType dtype = batch[0][c].dtype();
  Shape largest = wanted;
  for (const Element& e : batch) {
    const Shape& s = e[c].shape();
    if (s.rank() != wanted.rank()) {
      return InvalidArgument("component ", c, " of an element has shape ", s, ", which cannot be padded to ", wanted,
                             ": the ranks differ");
    }
    for (int d = 0; d < s.rank(); ++d) {
      if (wanted.dim(d) >= 0 && s.dim(d) > wanted.dim(d)) {
        return DataLoss("component ", c, " of an element has shape ", s, ", which is larger than the padded shape ",
                        wanted);
      }
      if (wanted.dim(d) < 0) largest.set_dim(d, std::max(largest.dim(d), s.dim(d)));
    }
  }
  for (int d = 0; d < largest.rank(); ++d) largest.set_dim(d, std::max<int64_t>(0, largest.dim(d)));
  Shape shape({static_cast<int64_t>(batch.size())});
  for (int64_t d : largest.dims()) shape.AddDim(d);
  TF_ASSIGN_OR_RETURN(Tensor out, Tensor::Create(dtype, shape));
  TF_RETURN_IF_ERROR(ForElementsOf(dtype, [&]<typename E>() {
    std::fill_n(MutableElements<E>(out), out.num_elements(), *Elements<E>(padding));
    const int64_t place = largest.num_elements();
    for (size_t i = 0; i < batch.size(); ++i) {
      const Tensor& t = batch[i][c];
      if (t.num_elements() == 0) continue;
      E* const to = MutableElements<E>(out) + static_cast<int64_t>(i) * place;
      const E* from = Elements<E>(t);
      const int rank = largest.rank();
      const int64_t row = rank == 0 ? 1 : t.shape().dim(rank - 1);
      // Copies row by row. `at` is the multi-index of the row, over all dimensions except the last.
      IntVector at(static_cast<size_t>(std::max(0, rank - 1)), 0);
      while (true) {
        int64_t offset = 0;
        for (int d = 0; d + 1 < rank; ++d) offset = (offset + at[static_cast<size_t>(d)]) * largest.dim(d + 1);
        CopyElements(from, row, to + offset);
        from += row;
        int d = rank - 2;
        while (d >= 0 && ++at[static_cast<size_t>(d)] == t.shape().dim(d)) at[static_cast<size_t>(d--)] = 0;
        if (d < 0) break;
      }
    }
    return OkStatus();
  }));
  return out;
}

// Inputs: input_dataset, batch_size, padded_shapes, padding_values and, in V2, drop_remainder.
template <bool kHasDrop>
Status PaddedBatchDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const int64_t size, NumberInput(ctx, 1, "batch_size"));
  const auto n = static_cast<int>(ctx.node().attr<int64_t>("N"));
  std::vector<Shape> shapes;
  std::vector<Tensor> paddings;
  const auto& types = ctx.node().attr<std::vector<DType>>("Toutput_types");
  if (static_cast<int>(types.size()) != n) {
    return InvalidArgument("there are ", n, " padded_shapes for ", types.size(), " components");
  }
  for (int i = 0; i < n; ++i) {
    TF_ASSIGN_OR_RETURN(const IntVector sizes, IntegersOf(ctx.input(2 + i), "padded_shapes"));
    Shape shape;
    for (int64_t d : sizes) {
      if (d < -1) return InvalidArgument("sizes in padded_shapes must be -1 or more, got ", d);
      shape.AddDim(d);
    }
    shapes.push_back(shape);
    const Tensor& padding = ctx.input(2 + n + i);
    if (padding.num_elements() != 1 || padding.shape().rank() != 0) {
      return InvalidArgument("padding value ", i, " must be a scalar, got shape ", padding.shape());
    }
    if (padding.dtype() != types[static_cast<size_t>(i)]) {
      return InvalidArgument("padding value ", i, " has dtype ", padding.dtype(), ", but component ", i, " has ",
                             types[static_cast<size_t>(i)]);
    }
    paddings.push_back(padding);
  }
  bool drop_remainder = false;
  if (kHasDrop) {
    TF_ASSIGN_OR_RETURN(drop_remainder, BoolInput(ctx, 2 + 2 * n, "drop_remainder"));
  }
  return EmitBatches<Element>(ctx, size, drop_remainder, [=](const std::vector<Element>& batch) -> StatusOr<Element> {
    Element out;
    for (const Element& e : batch) TF_RETURN_IF_ERROR(CheckElement(e, types, {}));
    for (size_t c = 0; c < types.size(); ++c) {
      TF_ASSIGN_OR_RETURN(Tensor padded, Pad(batch, c, shapes[c], paddings[c]));
      out.push_back(std::move(padded));
    }
    return out;
  });
}

}  // namespace

void RegisterDatasetBatchKernels(KernelRegistry& r) {
  r.Add("BatchDataset", {}, BatchDataset</*drop_input=*/-1>);
  r.Add("BatchDatasetV2", {}, BatchDataset</*drop_input=*/2>);
  r.Add("ParallelBatchDataset", {}, BatchDataset</*drop_input=*/3>);
  r.Add("RebatchDataset", {}, RebatchForReplicas);
  r.Add("RebatchDatasetV2", {}, RebatchDataset);
  r.Add("PaddedBatchDataset", {}, PaddedBatchDataset</*kHasDrop=*/false>);
  r.Add("PaddedBatchDatasetV2", {}, PaddedBatchDataset</*kHasDrop=*/true>);
}

}  // namespace tensorbraid::cpu
