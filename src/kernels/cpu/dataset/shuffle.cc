// Datasets in random order, and datasets of random numbers. Order and numbers are a function of the seeds.
#include <deque>

#include "core/system/env.h"
#include "core/text/strings.h"
#include "kernels/cpu/dataset/registration.h"
#include "kernels/cpu/dataset/util.h"
#include "kernels/cpu/random/philox.h"

namespace tensorbraid {
namespace {

struct Seeds {
  uint64_t first = 0;
  uint64_t second = 0;
};

// The seeds in inputs `first` and `first` + 1. If both are 0, returns random seeds.
StatusOr<Seeds> SeedInputs(const KernelContext& ctx, int first) {
  TF_ASSIGN_OR_RETURN(const int64_t a, NumberInput(ctx, first, "seed"));
  TF_ASSIGN_OR_RETURN(const int64_t b, NumberInput(ctx, first + 1, "seed2"));
  if (a != 0 || b != 0) return Seeds{static_cast<uint64_t>(a), static_cast<uint64_t>(b)};
  return Seeds{RandomSeed(), RandomSeed()};
}

// A stream of random numbers.
class Numbers {
 public:
  explicit Numbers(Seeds seeds) : philox_(seeds.first, seeds.second) {}
  uint64_t Next() {
    const auto block = philox_.At(next_++);
    return (uint64_t{block[0]} << 32) | block[1];
  }
  // A uniform number below `n`. Rejects the few numbers that would make some results more likely.
  uint64_t Below(uint64_t n) {
    const uint64_t limit = n * (UINT64_MAX / n);
    uint64_t number = Next();
    while (number >= limit) number = Next();
    return number % n;
  }

 private:
  cpu::Philox philox_;
  uint64_t next_ = 0;
};

// The seeds of each iterator over one dataset. Thread-safe.
struct SeedGenerator {
  SeedGenerator(Seeds s, bool reshuffle) : seeds(s), reshuffles(reshuffle), numbers(s) {}
  Seeds ForNextIterator() {
    if (!reshuffles) return seeds;
    MutexLock lock(mu);
    return {numbers.Next(), numbers.Next()};
  }
  const Seeds seeds;
  const bool reshuffles;
  Mutex mu;
  Numbers numbers TB_GUARDED_BY(mu);
};

struct ShuffleState {
  explicit ShuffleState(Seeds seeds) : numbers(seeds) {}
  Iterator pull;
  std::vector<Element> buffer;
  Numbers numbers;
  int64_t round = 0;
  bool got_any = false;
  bool ended = false;
};

// Shuffles `count` rounds over the input; -1 means without end.
Status EmitShuffle(KernelContext& ctx, const std::shared_ptr<SeedGenerator>& seeds, int64_t count,
                   int64_t cardinality) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t wanted, NumberInput(ctx, 1, "buffer_size"));
  if (wanted < 1 && wanted != -2)
    return InvalidArgument("buffer_size must be positive, or -2 for all elements; got ", wanted);
  const size_t size = wanted == -2 ? SIZE_MAX : static_cast<size_t>(wanted);
  return EmitDataset(
      ctx, {input},
      [=](const IteratorContext&) -> StatusOr<Iterator> {
        ShuffleState state(seeds->ForNextIterator());
        state.ended = count == 0;
        return MakeStateful(std::move(state),
                            [=](ShuffleState& s, const IteratorContext& c, Element* out) -> StatusOr<bool> {
                              while (!s.ended && s.buffer.size() < size) {
                                TF_RETURN_IF_ERROR(c.cancellation->status());
                                if (s.pull == nullptr) {
                                  TF_ASSIGN_OR_RETURN(s.pull, input->MakeIterator(c));
                                  s.got_any = false;
                                }
                                Element e;
                                TF_ASSIGN_OR_RETURN(const bool more, s.pull(c, &e));
                                if (more) {
                                  s.got_any = true;
                                  s.buffer.push_back(std::move(e));
                                  continue;
                                }
                                s.pull = nullptr;
                                ++s.round;
                                s.ended = (count >= 0 && s.round >= count) || !s.got_any;
                                // Elements of different rounds are not mixed.
                                if (!s.buffer.empty()) break;
                              }
                              if (s.buffer.empty()) return false;
                              std::swap(s.buffer[s.numbers.Below(s.buffer.size())], s.buffer.back());
                              *out = std::move(s.buffer.back());
                              s.buffer.pop_back();
                              return true;
                            });
      },
      cardinality);
}

Status ShuffleDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Seeds seeds, SeedInputs(ctx, 2));
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  return EmitShuffle(ctx, std::make_shared<SeedGenerator>(seeds, ctx.node().attr<bool>("reshuffle_each_iteration")), 1,
                     input->cardinality());
}

Status ShuffleAndRepeatDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Seeds seeds, SeedInputs(ctx, 2));
  TF_ASSIGN_OR_RETURN(const int64_t count, NumberInput(ctx, 4, "count"));
  return EmitShuffle(ctx, std::make_shared<SeedGenerator>(seeds, ctx.node().attr<bool>("reshuffle_each_iteration")),
                     count < 0 ? -1 : count, Dataset::kUnknown);
}

Status RandomDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Seeds seeds, SeedInputs(ctx, 0));
  return EmitDataset(
      ctx, {},
      [seeds](const IteratorContext&) -> StatusOr<Iterator> {
        return MakeStateful(Numbers(seeds), [](Numbers& n, const IteratorContext&, Element* out) -> StatusOr<bool> {
          *out = {Tensor::Scalar(static_cast<int64_t>(n.Next() >> 32))};
          return true;
        });
      },
      Dataset::kInfinite);
}

}  // namespace

void RegisterDatasetShuffleKernels(KernelRegistry& r) {
  r.Add("ShuffleDataset", {}, ShuffleDataset);
  r.Add("ShuffleDatasetV3", {}, ShuffleDataset);
  r.Add("ShuffleAndRepeatDataset", {}, ShuffleAndRepeatDataset);
  r.Add("RandomDataset", {}, RandomDataset);
}

}  // namespace tensorbraid
