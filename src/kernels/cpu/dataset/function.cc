// Datasets that run a function on each element, one element at a time.
#include <map>
#include <optional>
#include <set>

#include "core/text/strings.h"
#include "kernels/cpu/dataset/util.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The state of an iterator that reads one input.
struct Input {
  Iterator pull;
  bool ended = false;
  void Fields(IteratorState& state) { state(pull, ended); }
};

// An inner dataset, which a function makes from an element of the input. The element is kept, because a restore runs
// the function with this element again.
struct Inner {
  Iterator pull;  // over the inner dataset; null if none is open
  Element argument;

  Status Open(const CapturedFunction& f, const IteratorContext& ctx, Element element) {
    argument = std::move(element);
    TF_ASSIGN_OR_RETURN(pull, f.RunToIterator(ctx, argument));
    return OkStatus();
  }
  void Close() { *this = Inner(); }
  void Visit(IteratorState& state, const CapturedFunction& f) {
    state(argument);
    state.Reopen(pull, [&] { return f.RunToIterator(state.context(), argument); });
  }
};

// An OutOfRange error of a function ends the dataset. With preserve_cardinality, OutOfRange becomes InvalidArgument,
// because each input element must produce an output element.
StatusOr<bool> EndOrError(const Status& status, bool preserve_cardinality) {
  if (!absl::IsOutOfRange(status)) return status;
  if (preserve_cardinality) return InvalidArgument("a function produced OutOfRange: ", std::string(status.message()));
  return false;
}

Status MapDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const bool preserve = ctx.node().attr<bool>("preserve_cardinality");
  const auto f = CapturedFunction::FromNode(ctx, "f", 1, ctx.num_inputs());
  return EmitDataset(
      ctx, {input},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
        return MakeStateful(std::move(pull),
                            [=](Iterator& pull, const IteratorContext& c, Element* out) -> StatusOr<bool> {
                              Element e;
                              TF_ASSIGN_OR_RETURN(const bool more, pull(c, &e));
                              if (!more) return false;
                              auto result = f.Run(c, std::move(e));
                              if (!result.ok()) return EndOrError(result.status(), preserve);
                              *out = *std::move(result);
                              return true;
                            });
      },
      input->cardinality());
}

Status FilterDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const auto predicate = CapturedFunction::FromNode(ctx, "predicate", 1, ctx.num_inputs());
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
    return MakeStateful(std::move(pull), [=](Iterator& pull, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      while (true) {
        TF_RETURN_IF_ERROR(c.cancellation->status());
        TF_ASSIGN_OR_RETURN(const bool more, pull(c, out));
        if (!more) return false;
        TF_ASSIGN_OR_RETURN(const bool keep, predicate.RunToBool(c, *out));
        if (keep) return true;
      }
    });
  });
}

Status TakeWhileDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const auto predicate = CapturedFunction::FromNode(ctx, "predicate", 1, ctx.num_inputs());
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    Input in;
    TF_ASSIGN_OR_RETURN(in.pull, input->MakeIterator(c));
    return MakeStateful(std::move(in), [=](Input& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      if (s.ended) return false;
      TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, out));
      s.ended = true;
      if (!more) return false;
      TF_ASSIGN_OR_RETURN(const bool keep, predicate.RunToBool(c, *out));
      s.ended = !keep;
      return keep;
    });
  });
}

Status FlatMapDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const auto f = CapturedFunction::FromNode(ctx, "f", 1, ctx.num_inputs());
  struct State {
    Iterator pull;
    Inner inner;  // closed at first, and between two inner datasets
    bool ended = false;
  };
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    State state;
    TF_ASSIGN_OR_RETURN(state.pull, input->MakeIterator(c));
    return MakeStateful(
        std::move(state),
        [=](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
          while (!s.ended) {
            TF_RETURN_IF_ERROR(c.cancellation->status());
            if (s.inner.pull == nullptr) {
              Element e;
              TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, &e));
              s.ended = !more;
              if (!more) break;
              TF_RETURN_IF_ERROR(s.inner.Open(f, c, std::move(e)));
            }
            TF_ASSIGN_OR_RETURN(const bool more, s.inner.pull(c, out));
            if (more) return true;
            s.inner.Close();
          }
          return false;
        },
        [f](State& s, IteratorState& state) {
          state(s.pull, s.ended);
          s.inner.Visit(state, f);
        });
  });
}

// Takes block_length elements at a time from each of cycle_length inner datasets, round-robin. When an inner dataset
// has ended, the next one takes its place.
Status InterleaveDataset(KernelContext& ctx) {
  constexpr int64_t kMaxCycle = 1 << 16;
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const auto arguments = static_cast<int>(ctx.node().attr<std::vector<DType>>("Targuments").size());
  const auto f = CapturedFunction::FromNode(ctx, "f", 1, 1 + arguments);
  TF_ASSIGN_OR_RETURN(int64_t cycle, NumberInput(ctx, 1 + arguments, "cycle_length"));
  TF_ASSIGN_OR_RETURN(const int64_t block, NumberInput(ctx, 2 + arguments, "block_length"));
  if (cycle == -1) cycle = ParallelCalls(-1);
  if (cycle <= 0 || cycle > kMaxCycle) {
    return InvalidArgument("cycle_length must be from 1 to ", kMaxCycle, ", got ", cycle);
  }
  if (block <= 0) return InvalidArgument("block_length must be positive, got ", block);
  struct State {
    Iterator pull;
    std::vector<Inner> open;
    size_t at = 0;         // the inner dataset to take from
    int64_t in_block = 0;  // the number of elements that it has given in this turn
    int64_t num_open = 0;
    bool ended = false;
  };
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    State state;
    TF_ASSIGN_OR_RETURN(state.pull, input->MakeIterator(c));
    state.open.resize(static_cast<size_t>(cycle));
    return MakeStateful(
        std::move(state),
        [=](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
          const auto advance = [&] {
            s.in_block = 0;
            s.at = (s.at + 1) % s.open.size();
          };
          while (!s.ended || s.num_open > 0) {
            TF_RETURN_IF_ERROR(c.cancellation->status());
            if (s.open[s.at].pull != nullptr) {
              TF_ASSIGN_OR_RETURN(const bool more, s.open[s.at].pull(c, out));
              if (more) {
                if (++s.in_block == block) advance();
                return true;
              }
              s.open[s.at].Close();
              --s.num_open;
              advance();
            } else if (!s.ended) {
              Element e;
              TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, &e));
              s.ended = !more;
              if (!more) continue;
              TF_RETURN_IF_ERROR(s.open[s.at].Open(f, c, std::move(e)));
              ++s.num_open;
            } else {
              advance();
            }
          }
          return false;
        },
        [f](State& s, IteratorState& state) {
          state(s.pull, s.at, s.in_block, s.num_open, s.ended);
          s.at %= s.open.size();
          for (Inner& inner : s.open) inner.Visit(state, f);
        });
  });
}

Status ScanDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const size_t states = ctx.node().attr<std::vector<DType>>("Tstate").size();
  const bool preserve = ctx.node().attr<bool>("preserve_cardinality");
  Element initial;
  for (size_t i = 0; i < states; ++i) initial.push_back(ctx.input(static_cast<int>(1 + i)));
  const auto f = CapturedFunction::FromNode(ctx, "f", static_cast<int>(1 + states), ctx.num_inputs());
  struct State {
    Iterator pull;
    Element state;
    void Fields(IteratorState& saved) { saved(pull, state); }
  };
  return EmitDataset(
      ctx, {input},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        State state;
        TF_ASSIGN_OR_RETURN(state.pull, input->MakeIterator(c));
        state.state = initial;
        return MakeStateful(std::move(state), [=](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
          Element e;
          TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, &e));
          if (!more) return false;
          Element args = s.state;
          args.insert(args.end(), e.begin(), e.end());
          auto result = f.Run(c, std::move(args));
          if (!result.ok()) return EndOrError(result.status(), preserve);
          if (result->size() < states) {
            return InvalidArgument("the function of a scan must return at least ", states,
                                   " tensors of state, returned ", result->size());
          }
          const auto middle = result->begin() + static_cast<std::ptrdiff_t>(states);
          s.state.assign(result->begin(), middle);
          out->assign(middle, result->end());
          return true;
        });
      },
      input->cardinality());
}

Status UniqueDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const auto& types = ctx.node().attr<std::vector<DType>>("output_types");
  if (types.size() != 1 || (types[0] != kInt32 && types[0] != kInt64 && types[0] != kString)) {
    return InvalidArgument("UniqueDataset requires elements with one component of dtype int32, int64 or string");
  }
  struct State {
    Iterator pull;
    std::set<std::string> seen;
    void Fields(IteratorState& state) { state(pull, seen); }
  };
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    State state;
    TF_ASSIGN_OR_RETURN(state.pull, input->MakeIterator(c));
    return MakeStateful(std::move(state), [](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      while (true) {
        TF_RETURN_IF_ERROR(c.cancellation->status());
        TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, out));
        if (!more) return false;
        const Tensor& t = (*out)[0];
        std::string key = t.shape().ToString();
        if (t.dtype() == kString) {
          for (const std::string& text : t.data<std::string>()) key += StrCat(text.size(), ":", text);
        } else {
          key.append(static_cast<const char*>(t.raw_data()), t.num_bytes());
        }
        if (s.seen.insert(std::move(key)).second) return true;
      }
    });
  });
}

// Collects the elements with the same key in windows. When a window is full, or the input has ended, returns the
// elements of the dataset that reduce_func makes of the window.
Status GroupByWindowDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const auto count = [&](const char* attr) {
    return static_cast<int>(ctx.node().attr<std::vector<DType>>(attr).size());
  };
  const int keys = 1 + count("Tkey_func_other_arguments");
  const int reduces = keys + count("Treduce_func_other_arguments");
  const auto key_of = CapturedFunction::FromNode(ctx, "key_func", 1, keys);
  const auto reduce = CapturedFunction::FromNode(ctx, "reduce_func", keys, reduces);
  const auto size_of = CapturedFunction::FromNode(ctx, "window_size_func", reduces, ctx.num_inputs());
  struct State {
    Iterator pull;
    Iterator window;  // the reduced window whose elements are being returned
    int64_t window_key = 0;
    std::vector<Element> window_elements;  // the elements of the window before the reduction
    std::map<int64_t, std::vector<Element>> groups;
    std::map<int64_t, int64_t> sizes;
    bool ended = false;
  };
  const auto number = [](const CapturedFunction& f, const IteratorContext& c, Element args) -> StatusOr<int64_t> {
    TF_ASSIGN_OR_RETURN(const Element result, f.Run(c, std::move(args)));
    if (result.size() != 1 || result[0].dtype() != kInt64 || result[0].num_elements() != 1) {
      return InvalidArgument("key_func and window_size_func must return a scalar int64");
    }
    return result[0].data<int64_t>()[0];
  };
  // An iterator over the dataset that reduce_func makes of a window.
  const auto reduced = [=](const IteratorContext& c, int64_t key,
                           const std::vector<Element>& window_elements) -> StatusOr<Iterator> {
    auto elements = std::make_shared<const std::vector<Element>>(window_elements);
    TF_ASSIGN_OR_RETURN(auto window, Dataset::Create(
                                         "WindowDataset", input->types(), input->shapes(), {},
                                         [elements](const IteratorContext&) -> StatusOr<Iterator> {
                                           return MakeStateful(size_t{0},
                                                               [elements](size_t& next, const IteratorContext&,
                                                                          Element* out) -> StatusOr<bool> {
                                                                 if (next >= elements->size()) return false;
                                                                 *out = (*elements)[next++];
                                                                 return true;
                                                               });
                                         },
                                         static_cast<int64_t>(elements->size())));
    return reduce.RunToIterator(c, {Tensor::Scalar(key), MakeVariantTensor(std::move(window))});
  };
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    State state;
    TF_ASSIGN_OR_RETURN(state.pull, input->MakeIterator(c));
    return MakeStateful(
        std::move(state),
        [=](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
          const auto open = [&](int64_t key) -> Status {
            s.window_key = key;
            s.window_elements = std::move(s.groups[key]);
            s.groups.erase(key);
            TF_ASSIGN_OR_RETURN(s.window, reduced(c, key, s.window_elements));
            return OkStatus();
          };
          while (true) {
            TF_RETURN_IF_ERROR(c.cancellation->status());
            if (s.window != nullptr) {
              TF_ASSIGN_OR_RETURN(const bool more, s.window(c, out));
              if (more) return true;
              s.window = nullptr;
              s.window_elements.clear();
            }
            if (s.ended) {
              if (s.groups.empty()) return false;
              TF_RETURN_IF_ERROR(open(s.groups.begin()->first));
              continue;
            }
            Element e;
            TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, &e));
            if (!more) {
              s.ended = true;
              continue;
            }
            TF_ASSIGN_OR_RETURN(const int64_t key, number(key_of, c, e));
            if (!s.sizes.contains(key)) {
              TF_ASSIGN_OR_RETURN(const int64_t size, number(size_of, c, {Tensor::Scalar(key)}));
              if (size <= 0)
                return InvalidArgument("the size of the windows of key ", key, " must be positive, got ", size);
              s.sizes[key] = size;
            }
            auto& group = s.groups[key];
            group.push_back(std::move(e));
            if (static_cast<int64_t>(group.size()) >= s.sizes[key]) TF_RETURN_IF_ERROR(open(key));
          }
        },
        [reduced](State& s, IteratorState& state) {
          state(s.pull, s.groups, s.sizes, s.ended, s.window_key, s.window_elements);
          state.Reopen(s.window, [&] { return reduced(state.context(), s.window_key, s.window_elements); });
        });
  });
}

// Reduces all elements with the same key to one element. When the input has ended, returns the results in ascending
// order of their keys.
Status GroupByReducerDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  int end = 1;
  const auto function = [&](const char* attr, const char* arguments) {
    const int first = end;
    end += static_cast<int>(ctx.node().attr<std::vector<DType>>(arguments).size());
    return CapturedFunction::FromNode(ctx, attr, first, end);
  };
  const auto key_of = function("key_func", "Tkey_func_other_arguments");
  const auto init = function("init_func", "Tinit_func_other_arguments");
  const auto reduce = function("reduce_func", "Treduce_func_other_arguments");
  const auto finalize = function("finalize_func", "Tfinalize_func_other_arguments");
  struct State {
    Iterator pull;
    std::map<int64_t, Element> states;
    bool ended = false;
    void Fields(IteratorState& state) { state(pull, states, ended); }
  };
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    State state;
    TF_ASSIGN_OR_RETURN(state.pull, input->MakeIterator(c));
    return MakeStateful(std::move(state), [=](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      while (!s.ended) {
        TF_RETURN_IF_ERROR(c.cancellation->status());
        Element e;
        TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, &e));
        s.ended = !more;
        if (!more) break;
        TF_ASSIGN_OR_RETURN(const Element key, key_of.Run(c, e));
        if (key.size() != 1 || key[0].dtype() != kInt64 || key[0].num_elements() != 1) {
          return InvalidArgument("key_func must return a scalar int64");
        }
        const int64_t number = key[0].data<int64_t>()[0];
        auto group = s.states.find(number);
        if (group == s.states.end()) {
          TF_ASSIGN_OR_RETURN(Element initial, init.Run(c, {Tensor::Scalar(number)}));
          group = s.states.emplace(number, std::move(initial)).first;
        }
        Element args = group->second;
        args.insert(args.end(), e.begin(), e.end());
        TF_ASSIGN_OR_RETURN(group->second, reduce.Run(c, std::move(args)));
      }
      if (s.states.empty()) return false;
      TF_ASSIGN_OR_RETURN(*out, finalize.Run(c, s.states.begin()->second));
      s.states.erase(s.states.begin());
      return true;
    });
  });
}

// Chooses each element from one of several datasets. The elements of the first input are the numbers of these datasets.
Status DirectedInterleaveDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto selector, InputDataset(ctx, 0));
  std::vector<RefPtr<Dataset>> all = {selector};
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(auto input, InputDataset(ctx, i));
    all.push_back(std::move(input));
  }
  const bool stop_on_empty = ctx.node().attr<bool>("stop_on_empty_dataset");
  struct State {
    Iterator select;
    std::vector<Iterator> inputs;  // null if the input has ended
    size_t left = 0;               // the number of inputs that have not ended
    bool ended = false;
  };
  return EmitDataset(ctx, all, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    State state;
    TF_ASSIGN_OR_RETURN(state.select, all[0]->MakeIterator(c));
    for (size_t i = 1; i < all.size(); ++i) {
      TF_ASSIGN_OR_RETURN(Iterator input, all[i]->MakeIterator(c));
      state.inputs.push_back(std::move(input));
    }
    state.left = state.inputs.size();
    return MakeStateful(
        std::move(state),
        [=](State& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
          while (!s.ended && s.left > 0) {
            TF_RETURN_IF_ERROR(c.cancellation->status());
            Element choice;
            TF_ASSIGN_OR_RETURN(const bool more, s.select(c, &choice));
            if (!more) break;
            if (choice.size() != 1 || choice[0].dtype() != kInt64 || choice[0].num_elements() != 1) {
              return InvalidArgument("the elements of the selector dataset must be scalar int64s");
            }
            const int64_t i = choice[0].data<int64_t>()[0];
            if (i < 0 || i >= static_cast<int64_t>(s.inputs.size())) {
              return InvalidArgument("the selector returned ", i, ", but the datasets to choose from are 0 to ",
                                     s.inputs.size() - 1);
            }
            Iterator& input = s.inputs[static_cast<size_t>(i)];
            if (input == nullptr) continue;
            TF_ASSIGN_OR_RETURN(const bool got, input(c, out));
            if (got) return true;
            input = nullptr;
            --s.left;
            if (stop_on_empty) break;
          }
          s.ended = true;
          return false;
        },
        [](State& s, IteratorState& state) {
          state(s.select, s.left, s.ended);
          // A restored iterator has just been made, so all its inputs are open.
          for (Iterator& input : s.inputs) state.Reopen(input, [&]() -> StatusOr<Iterator> { return input; });
        });
  });
}

}  // namespace

void RegisterDatasetFunctionKernels(KernelRegistry& r) {
  r.Add("MapDataset", {}, MapDataset);
  r.Add("FilterDataset", {}, FilterDataset);
  r.Add("TakeWhileDataset", {}, TakeWhileDataset);
  r.Add("FlatMapDataset", {}, FlatMapDataset);
  // The parallel versions, too, read the inner datasets one after the other, in the order of InterleaveDataset. A graph
  // can add a prefetch to read ahead.
  for (const char* op :
       {"InterleaveDataset", "ParallelInterleaveDataset", "ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3",
        "ParallelInterleaveDatasetV4", "LegacyParallelInterleaveDatasetV2"}) {
    r.Add(op, {}, InterleaveDataset);
  }
  r.Add("ScanDataset", {}, ScanDataset);
  r.Add("UniqueDataset", {}, UniqueDataset);
  r.Add("GroupByWindowDataset", {}, GroupByWindowDataset);
  r.Add("GroupByReducerDataset", {}, GroupByReducerDataset);
  r.Add("ExperimentalGroupByReducerDataset", {}, GroupByReducerDataset);
  r.Add("DirectedInterleaveDataset", {}, DirectedInterleaveDataset);
}

}  // namespace tensorbraid::cpu
