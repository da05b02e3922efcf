// Datasets that select, repeat, combine or check the elements of other datasets.
#include <deque>
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/dataset/util.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The state of an iterator that reads one input and counts elements.
struct CountedInput {
  Iterator pull;
  bool ended = false;
  int64_t count = 0;
  void Fields(IteratorState& state) { state(pull, ended, count); }
};

StatusOr<CountedInput> Open(const RefPtr<Dataset>& dataset, const IteratorContext& ctx) {
  CountedInput input;
  TF_ASSIGN_OR_RETURN(input.pull, dataset->MakeIterator(ctx));
  return input;
}

// A dataset with the elements of its input, for ops that only set options or give hints.
Status PassThrough(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  return EmitDataset(
      ctx, {input}, [input](const IteratorContext& c) { return input->MakeIterator(c); }, input->cardinality());
}

Status TakeDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t wanted, NumberInput(ctx, 1, "count"));
  const int64_t count = wanted < 0 ? std::numeric_limits<int64_t>::max() : wanted;
  const int64_t n = input->cardinality();
  const int64_t cardinality = wanted < 0 || n == Dataset::kUnknown ? n : n < 0 ? count : std::min(n, count);
  return EmitDataset(
      ctx, {input},
      [input, count](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(CountedInput in, Open(input, c));
        return MakeStateful(std::move(in),
                            [count](CountedInput& s, const IteratorContext& c, auto* out) -> StatusOr<bool> {
                              if (s.ended || s.count >= count) return false;
                              ++s.count;
                              TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, out));
                              s.ended = !more;
                              return more;
                            });
      },
      cardinality);
}

Status SkipDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t wanted, NumberInput(ctx, 1, "count"));
  const int64_t count = wanted < 0 ? std::numeric_limits<int64_t>::max() : wanted;
  const int64_t n = input->cardinality();
  const int64_t cardinality = wanted < 0 ? 0 : n < 0 ? n : std::max<int64_t>(0, n - count);
  return EmitDataset(
      ctx, {input},
      [input, count, all = wanted < 0](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(CountedInput in, Open(input, c));
        in.ended = all;
        return MakeStateful(std::move(in),
                            [count](CountedInput& s, const IteratorContext& c, auto* out) -> StatusOr<bool> {
                              for (; !s.ended && s.count < count; ++s.count) {
                                TF_RETURN_IF_ERROR(c.cancellation->status());
                                TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, out));
                                s.ended = !more;
                              }
                              if (s.ended) return false;
                              TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, out));
                              s.ended = !more;
                              return more;
                            });
      },
      cardinality);
}

Status RepeatDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t wanted, NumberInput(ctx, 1, "count"));
  const int64_t n = input->cardinality();
  const int64_t cardinality = wanted == 0 || n == 0 ? 0
                              : wanted < 0          ? (n == Dataset::kUnknown ? n : Dataset::kInfinite)
                              : n < 0 || n > std::numeric_limits<int64_t>::max() / wanted ? n
                                                                                          : n * wanted;
  struct State {
    Iterator pull;  // null between two rounds
    int64_t round = 0;
    bool got_any = false;
    bool ended = false;
  };
  return EmitDataset(
      ctx, {input},
      [input, wanted](const IteratorContext& c) -> StatusOr<Iterator> {
        State state;
        if (wanted != 0) {
          TF_ASSIGN_OR_RETURN(state.pull, input->MakeIterator(c));
        }
        return MakeStateful(
            std::move(state),
            [input, wanted](State& s, const IteratorContext& c, auto* out) -> StatusOr<bool> {
              while (!s.ended && (wanted < 0 || s.round < wanted)) {
                TF_RETURN_IF_ERROR(c.cancellation->status());
                if (s.pull == nullptr) {
                  TF_ASSIGN_OR_RETURN(s.pull, input->MakeIterator(c));
                  s.got_any = false;
                }
                TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, out));
                if (more) {
                  s.got_any = true;
                  return true;
                }
                s.pull = nullptr;
                ++s.round;
                // After an empty round, an endless repetition would never produce an element.
                if (!s.got_any && wanted < 0) s.ended = true;
              }
              return false;
            },
            [input](State& s, IteratorState& state) {
              state(s.round, s.got_any, s.ended);
              state.Reopen(s.pull, [&] { return input->MakeIterator(state.context()); });
            });
      },
      cardinality);
}

Status ConcatenateDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto first, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const auto second, InputDataset(ctx, 1));
  TF_RETURN_IF_ERROR(CheckSignature(second->types(), {}, first->types(), {}));
  const int64_t a = first->cardinality(), b = second->cardinality();
  const int64_t cardinality = a == Dataset::kInfinite || b == Dataset::kInfinite ? Dataset::kInfinite
                              : a < 0 || b < 0                                   ? Dataset::kUnknown
                                                                                 : a + b;
  struct State {
    Iterator pull;  // null before each part
    int next = 0;   // the next part to open
  };
  return EmitDataset(
      ctx, {first, second},
      [parts = std::vector{first, second}](const IteratorContext&) -> StatusOr<Iterator> {
        return MakeStateful(
            State(),
            [parts](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
              while (true) {
                if (s.pull == nullptr) {
                  if (s.next == 2) return false;
                  TF_ASSIGN_OR_RETURN(s.pull, parts[static_cast<size_t>(s.next++)]->MakeIterator(c));
                }
                TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, out));
                if (more) return true;
                s.pull = nullptr;
              }
            },
            [parts](State& s, IteratorState& state) {
              state(s.next);
              state.Reopen(s.pull, [&]() -> StatusOr<Iterator> {
                if (s.next < 1 || s.next > 2) return DataLoss("the saved state of a concatenation is malformed");
                return parts[static_cast<size_t>(s.next - 1)]->MakeIterator(state.context());
              });
            });
      },
      cardinality);
}

Status ZipDataset(KernelContext& ctx) {
  std::vector<RefPtr<Dataset>> inputs;
  int64_t cardinality = Dataset::kInfinite;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(auto input, InputDataset(ctx, i));
    const int64_t n = input->cardinality();
    if (n == Dataset::kUnknown || cardinality == Dataset::kUnknown) {
      cardinality = Dataset::kUnknown;
    } else if (n >= 0) {
      cardinality = cardinality < 0 ? n : std::min(n, cardinality);
    }
    inputs.push_back(std::move(input));
  }
  struct State {
    std::vector<Iterator> pulls;
    bool ended = false;
    void Fields(IteratorState& state) { state(pulls, ended); }
  };
  return EmitDataset(
      ctx, inputs,
      [inputs](const IteratorContext& c) -> StatusOr<Iterator> {
        State state;
        for (const auto& input : inputs) {
          TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
          state.pulls.push_back(std::move(pull));
        }
        return MakeStateful(std::move(state), [](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
          if (s.ended) return false;
          out->clear();
          for (const Iterator& pull : s.pulls) {
            Element part;
            TF_ASSIGN_OR_RETURN(const bool more, pull(c, &part));
            if (!more) {
              s.ended = true;
              return false;
            }
            out->insert(out->end(), part.begin(), part.end());
          }
          return true;
        });
      },
      cardinality);
}

Status ShardDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t shards, NumberInput(ctx, 1, "num_shards"));
  TF_ASSIGN_OR_RETURN(const int64_t index, NumberInput(ctx, 2, "index"));
  if (shards <= 0) return InvalidArgument("num_shards must be positive, got ", shards);
  if (index < 0 || index >= shards) {
    return InvalidArgument("index must be in [0, num_shards), got ", index, " for ", shards, " shards");
  }
  const int64_t n = input->cardinality();
  return EmitDataset(
      ctx, {input},
      [input, shards, index](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(CountedInput in, Open(input, c));
        return MakeStateful(std::move(in),
                            [shards, index](CountedInput& s, const IteratorContext& c, auto* out) -> StatusOr<bool> {
                              while (!s.ended) {
                                TF_RETURN_IF_ERROR(c.cancellation->status());
                                TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, out));
                                s.ended = !more;
                                if (more && s.count++ % shards == index) return true;
                              }
                              return false;
                            });
      },
      n < 0 ? n : n / shards + (index < n % shards ? 1 : 0));
}

Status UnbatchDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  struct State {
    CountedInput in;
    Element batch;
    int64_t row = 0, rows = 0;
    void Fields(IteratorState& state) { state(in, batch, row, rows); }
  };
  return EmitDataset(ctx, {input}, [input](const IteratorContext& c) -> StatusOr<Iterator> {
    State state;
    TF_ASSIGN_OR_RETURN(state.in, Open(input, c));
    return MakeStateful(std::move(state), [](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      while (s.row >= s.rows) {
        if (s.in.ended) return false;
        TF_RETURN_IF_ERROR(c.cancellation->status());
        TF_ASSIGN_OR_RETURN(const bool more, s.in.pull(c, &s.batch));
        s.in.ended = !more;
        if (!more) return false;
        s.row = 0;
        for (size_t i = 0; i < s.batch.size(); ++i) {
          if (s.batch[i].shape().rank() < 1) return InvalidArgument("cannot unbatch component ", i, ": it is a scalar");
          if (i == 0) s.rows = s.batch[i].shape().dim(0);
          if (s.batch[i].shape().dim(0) != s.rows) {
            return InvalidArgument("cannot unbatch: component 0 of the element has ", s.rows, " rows, but component ",
                                   i, " has ", s.batch[i].shape().dim(0));
          }
        }
      }
      out->clear();
      for (const Tensor& t : s.batch) out->push_back(RowOf(t, s.row));
      ++s.row;
      return true;
    });
  });
}

// A dataset of elements with one component: the tensors in `components`.
StatusOr<RefPtr<Dataset>> OfTensors(Element components, DType type, Shape shape) {
  const auto n = static_cast<int64_t>(components.size());
  return Dataset::Create(
      "WindowDataset", {type}, {std::move(shape)}, {},
      [components = std::move(components)](const IteratorContext&) -> StatusOr<Iterator> {
        return MakeStateful(size_t{0},
                            [components](size_t& next, const IteratorContext&, Element* out) -> StatusOr<bool> {
                              if (next >= components.size()) return false;
                              *out = {components[next++]};
                              return true;
                            });
      },
      n);
}

Status WindowDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t size, NumberInput(ctx, 1, "size"));
  TF_ASSIGN_OR_RETURN(const int64_t shift, NumberInput(ctx, 2, "shift"));
  TF_ASSIGN_OR_RETURN(const int64_t stride, NumberInput(ctx, 3, "stride"));
  TF_ASSIGN_OR_RETURN(const bool drop_remainder, BoolInput(ctx, 4, "drop_remainder"));
  if (size <= 0) return InvalidArgument("the size of a window must be positive, got ", size);
  if (shift <= 0) return InvalidArgument("the shift of windows must be positive, got ", shift);
  if (stride <= 0) return InvalidArgument("the stride within windows must be positive, got ", stride);
  if (size - 1 > std::numeric_limits<int64_t>::max() / stride - 1) {
    return InvalidArgument("a window of ", size, " with stride ", stride, " is too large");
  }
  const int64_t span = (size - 1) * stride + 1;
  struct State {
    CountedInput in;
    std::deque<Element> buffer;  // the elements from the start of the next window on
    int64_t to_skip = 0;         // the elements to drop before the next window, if windows leave gaps
    void Fields(IteratorState& state) { state(in, buffer, to_skip); }
  };
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    State state;
    TF_ASSIGN_OR_RETURN(state.in, Open(input, c));
    return MakeStateful(std::move(state), [=](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      while (!s.in.ended && static_cast<int64_t>(s.buffer.size()) < span) {
        TF_RETURN_IF_ERROR(c.cancellation->status());
        Element e;
        TF_ASSIGN_OR_RETURN(const bool more, s.in.pull(c, &e));
        s.in.ended = !more;
        if (!more) break;
        if (s.to_skip > 0) {
          --s.to_skip;
        } else {
          s.buffer.push_back(std::move(e));
        }
      }
      if (s.buffer.empty() || (drop_remainder && static_cast<int64_t>(s.buffer.size()) < span)) return false;
      const size_t components = s.buffer[0].size();
      out->clear();
      for (size_t k = 0; k < components; ++k) {
        Element window;
        for (int64_t i = 0; i < static_cast<int64_t>(s.buffer.size()) && i < span; i += stride) {
          window.push_back(s.buffer[static_cast<size_t>(i)][k]);
        }
        TF_ASSIGN_OR_RETURN(auto dataset, OfTensors(std::move(window), input->types()[k], input->shapes()[k]));
        out->push_back(MakeVariantTensor(std::move(dataset)));
      }
      const int64_t dropped = std::min(shift, static_cast<int64_t>(s.buffer.size()));
      s.buffer.erase(s.buffer.begin(), s.buffer.begin() + static_cast<std::ptrdiff_t>(dropped));
      s.to_skip = shift - dropped;
      return true;
    });
  });
}

Status AssertCardinalityDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t wanted, NumberInput(ctx, 1, "cardinality"));
  return EmitDataset(
      ctx, {input},
      [input, wanted](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(CountedInput in, Open(input, c));
        return MakeStateful(
            std::move(in), [wanted](CountedInput& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
              if (s.ended) return false;
              TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, out));
              if (more) ++s.count;
              s.ended = !more;
              if (wanted >= 0 && (s.count > wanted || (!more && s.count != wanted))) {
                return FailedPrecondition("the cardinality was asserted to be ", wanted, ", but the dataset has ",
                                          more ? "more elements" : StrCat(s.count, " elements"));
              }
              if (wanted == Dataset::kInfinite && !more) {
                return FailedPrecondition("the cardinality was asserted to be infinite, but the dataset has ", s.count,
                                          " elements");
              }
              return more;
            });
      },
      wanted);
}

Status IgnoreErrorsDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  return EmitDataset(ctx, {input}, [input](const IteratorContext& c) -> StatusOr<Iterator> {
    TF_ASSIGN_OR_RETURN(CountedInput in, Open(input, c));
    return MakeStateful(std::move(in), [](CountedInput& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      while (true) {
        const auto more = s.pull(c, out);
        if (more.ok()) return *more;
        TF_RETURN_IF_ERROR(c.cancellation->status());
      }
    });
  });
}

Status DatasetCardinality(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  ctx.set_output(0, Tensor::Scalar(input->cardinality()));
  return OkStatus();
}

}  // namespace

void RegisterDatasetShapingKernels(KernelRegistry& r) {
  for (const char* op : {"OptionsDataset", "ModelDataset", "OptimizeDataset", "RewriteDataset", "FinalizeDataset",
                         "MaxIntraOpParallelismDataset", "PrivateThreadPoolDataset"}) {
    r.Add(op, {}, PassThrough);
  }
  r.Add("TakeDataset", {}, TakeDataset);
  r.Add("SkipDataset", {}, SkipDataset);
  r.Add("RepeatDataset", {}, RepeatDataset);
  r.Add("ConcatenateDataset", {}, ConcatenateDataset);
  r.Add("ZipDataset", {}, ZipDataset);
  r.Add("ShardDataset", {}, ShardDataset);
  r.Add("UnbatchDataset", {}, UnbatchDataset);
  r.Add("WindowDataset", {}, WindowDataset);
  r.Add("AssertCardinalityDataset", {}, AssertCardinalityDataset);
  r.Add("IgnoreErrorsDataset", {}, IgnoreErrorsDataset);
  r.Add("DatasetCardinality", {}, DatasetCardinality);
}

}  // namespace tensorbraid::cpu
