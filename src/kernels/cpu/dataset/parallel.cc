// Datasets that compute several elements at a time (parallel maps) or after a delay (sleep).
#include <deque>
#include <optional>

#include "core/text/strings.h"
#include "kernels/cpu/dataset/util.h"
#include "kernels/cpu/dataset/wait.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Runs a function on several elements of an input in parallel and returns the results in the order of the input. Only
// one thread at a time may call Next.
class Runs {
 public:
  Runs(DataEnvironment* env, CapturedFunction f, Iterator pull, int64_t parallel)
      : f_(std::move(f)), pull_(std::move(pull)), parallel_(static_cast<size_t>(parallel)), env_(env) {}
  ~Runs() {
    cancellation_->Cancel(Cancelled("the iterator has been deleted"));
    MutexLock lock(*mu_);
    cv_->Wait(*mu_, [this] { return *running_ == 0; });
  }

  // The result for the next element, or nothing at the end of the input. Blocks until the result is ready.
  StatusOr<std::optional<Element>> Next(const IteratorContext& ctx) {
    while (!ended_ && runs_.size() < parallel_) {
      TF_RETURN_IF_ERROR(ctx.cancellation->status());
      Element e;
      auto more = pull_(ctx, &e);
      if (!more.ok() || !*more) {
        ended_ = true;
        // Queues the error behind the results for earlier elements.
        if (!more.ok()) runs_.push_back(std::make_shared<Run>(more.status()));
        break;
      }
      Start(std::move(e));
    }
    if (runs_.empty()) return std::optional<Element>();
    const auto first = runs_.front();
    if (!WaitOrCancelled(mu_, cv_, ctx.cancellation, [&] { return first->result.has_value(); })) {
      return ctx.cancellation->status();
    }
    runs_.pop_front();
    if (ended_with_error(*first)) ended_ = false;
    TF_ASSIGN_OR_RETURN(Element result, *std::move(first->result));
    return std::optional<Element>(std::move(result));
  }

  // Waits until all runs have ended, and visits their results.
  void Visit(IteratorState& state) {
    CancellationManager* const cancellation = state.context().cancellation;
    if (!WaitOrCancelled(mu_, cv_, cancellation, [this] { return *running_ == 0; })) {
      return state.Fail(cancellation->status());
    }
    size_t count = runs_.size();
    state(pull_, ended_, count);
    for (size_t i = 0; i < count && state.status().ok(); ++i) {
      if (state.restores()) runs_.push_back(std::make_shared<Run>(StatusOr<Element>(Element())));
      state(runs_[i]->of_input, *runs_[i]->result);
    }
  }

 private:
  struct Run {
    Run() = default;
    explicit Run(StatusOr<Element> known) : result(std::move(known)), of_input(!result->ok()) {}
    CancellationManager cancellation;
    std::optional<StatusOr<Element>> result;  // guarded by mu_
    bool of_input = false;                    // the result is an error of the input, not of the function
  };
  // The input may have more elements after an error, for example if the graph ignores errors.
  static bool ended_with_error(const Run& run) { return run.of_input; }

  void Start(Element e) {
    auto run = std::make_shared<Run>();
    runs_.push_back(run);
    {
      MutexLock lock(*mu_);
      ++*running_;
    }
    CancellationManager::Token token = 0;
    const bool registered =
        cancellation_->Register([run](const Status& why) { run->cancellation.Cancel(why); }, &token);
    if (!registered) run->cancellation.Cancel(cancellation_->status());
    auto finish = [run, mu = mu_, cv = cv_, running = running_, all = cancellation_, token](StatusOr<Element> result) {
      all->TryDeregister(token);
      MutexLock lock(*mu);
      run->result = std::move(result);
      --*running;
      cv->NotifyAll();
    };
    env_->place().pool->Schedule([env = env_, f = f_, e = std::move(e), run, finish = std::move(finish)]() mutable {
      f.Start(env, std::move(e), &run->cancellation, std::move(finish));
    });
  }

  const CapturedFunction f_;
  Iterator pull_;
  const size_t parallel_;
  DataEnvironment* const env_;
  std::deque<std::shared_ptr<Run>> runs_;
  bool ended_ = false;  // Next starts no more runs
  const std::shared_ptr<CancellationManager> cancellation_ = std::make_shared<CancellationManager>();
  const std::shared_ptr<Mutex> mu_ = std::make_shared<Mutex>();
  const std::shared_ptr<CondVar> cv_ = std::make_shared<CondVar>();
  const std::shared_ptr<int> running_ = std::make_shared<int>(0);  // guarded by mu_
};

StatusOr<std::optional<Element>> NextOrEnd(Runs& runs, const IteratorContext& ctx, bool preserve_cardinality) {
  auto next = runs.Next(ctx);
  if (next.ok() || !absl::IsOutOfRange(next.status())) return next;
  if (preserve_cardinality) {
    return InvalidArgument("a function produced OutOfRange: ", std::string(next.status().message()));
  }
  return std::optional<Element>();
}

Status ParallelMapDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const int calls_input = ctx.num_inputs() - 1;
  TF_ASSIGN_OR_RETURN(const int64_t calls, NumberInput(ctx, calls_input, "num_parallel_calls"));
  if (calls < 1 && calls != -1)
    return InvalidArgument("num_parallel_calls must be positive, or -1 for a default; got ", calls);
  const bool preserve = ctx.node().attr<bool>("preserve_cardinality");
  const auto f = CapturedFunction::FromNode(ctx, "f", 1, calls_input);
  const int64_t parallel = ParallelCalls(calls);
  return EmitDataset(
      ctx, {input},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
        auto runs = std::make_shared<Runs>(c.env, f, std::move(pull), parallel);
        using RunsPtr = std::shared_ptr<Runs>;
        return MakeStateful(
            std::move(runs),
            [preserve](RunsPtr& runs, const IteratorContext& c, Element* out) -> StatusOr<bool> {
              TF_ASSIGN_OR_RETURN(auto next, NextOrEnd(*runs, c, preserve));
              if (!next) return false;
              *out = *std::move(next);
              return true;
            },
            [](RunsPtr& runs, IteratorState& state) { runs->Visit(state); });
      },
      input->cardinality());
}

// Inputs: input_dataset, other_arguments, batch_size, num_parallel_calls, drop_remainder.
Status MapAndBatchDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const int n = ctx.num_inputs();
  TF_ASSIGN_OR_RETURN(const int64_t size, NumberInput(ctx, n - 3, "batch_size"));
  TF_ASSIGN_OR_RETURN(const int64_t calls, NumberInput(ctx, n - 2, "num_parallel_calls"));
  TF_ASSIGN_OR_RETURN(const bool drop_remainder, BoolInput(ctx, n - 1, "drop_remainder"));
  if (size <= 0) return InvalidArgument("batch_size must be greater than zero, got ", size);
  if (calls < 1 && calls != -1)
    return InvalidArgument("num_parallel_calls must be positive, or -1 for a default; got ", calls);
  const bool preserve = ctx.node().attr<bool>("preserve_cardinality");
  const auto f = CapturedFunction::FromNode(ctx, "f", 1, n - 3);
  const int64_t parallel = ParallelCalls(calls);
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
    auto runs = std::make_shared<Runs>(c.env, f, std::move(pull), parallel);
    using RunsPtr = std::shared_ptr<Runs>;
    const auto next_batch = [=](RunsPtr& runs, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      std::vector<Element> batch;
      while (static_cast<int64_t>(batch.size()) < size) {
        TF_ASSIGN_OR_RETURN(auto next, NextOrEnd(*runs, c, preserve));
        if (!next) break;
        batch.push_back(*std::move(next));
      }
      if (batch.empty() || (drop_remainder && static_cast<int64_t>(batch.size()) < size)) return false;
      TF_ASSIGN_OR_RETURN(*out, StackElements(std::move(batch)));
      return true;
    };
    return MakeStateful(std::move(runs), next_batch, [](RunsPtr& runs, IteratorState& state) { runs->Visit(state); });
  });
}

// Waits before each element.
Status SleepDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t microseconds, NumberInput(ctx, 1, "sleep_microseconds"));
  if (microseconds < 0) return InvalidArgument("`sleep_microseconds` must be >= 0, got ", microseconds);
  const std::chrono::microseconds time(std::min<int64_t>(microseconds, int64_t{1} << 52));
  return EmitDataset(
      ctx, {input},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
        return MakeStateful(std::move(pull),
                            [=](Iterator& pull, const IteratorContext& c, Element* out) -> StatusOr<bool> {
                              const auto mu = std::make_shared<Mutex>();
                              const auto cv = std::make_shared<CondVar>();
                              const auto deadline = MonotonicClock::now() + time;
                              const auto over = [&] { return MonotonicClock::now() >= deadline; };
                              if (!WaitOrCancelled(mu, cv, c.cancellation, over, deadline))
                                return c.cancellation->status();
                              return pull(c, out);
                            });
      },
      input->cardinality());
}

}  // namespace

void RegisterDatasetParallelKernels(KernelRegistry& r) {
  r.Add("SleepDataset", {}, SleepDataset);
  r.Add("ParallelMapDataset", {}, ParallelMapDataset);
  r.Add("ParallelMapDatasetV2", {}, ParallelMapDataset);
  r.Add("MapAndBatchDataset", {}, MapAndBatchDataset);
}

}  // namespace tensorbraid::cpu
