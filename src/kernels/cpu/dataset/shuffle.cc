// Datasets in random order, and datasets of random numbers. For the same seeds, order and numbers are TensorFlow's.
#include <deque>

#include "core/system/env.h"
#include "core/text/strings.h"
#include "kernels/cpu/dataset/util.h"
#include "kernels/cpu/random/philox.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

using cpu::Philox;
using cpu::PhiloxReader;

struct Seeds {
  uint64_t first = 0;
  uint64_t second = 0;
};

// The sequence of random numbers that starts from a pair of seeds.
class Numbers {
 public:
  explicit Numbers(Seeds seeds) : seeds_(seeds), reader_(Philox(seeds.first, seeds.second)) {}
  uint32_t Next() { return reader_.Next32(); }
  void Fields(IteratorState& state) {
    uint64_t position = reader_.position();
    state(seeds_.first, seeds_.second, position);
    if (!state.restores()) return;
    *this = Numbers(seeds_);
    reader_.set_position(position);
  }

 private:
  Seeds seeds_;
  PhiloxReader reader_;
};

// The seeds in inputs `first` and `first` + 1. If both are 0, returns random seeds.
StatusOr<Seeds> SeedInputs(const KernelContext& ctx, int first) {
  TF_ASSIGN_OR_RETURN(const int64_t a, NumberInput(ctx, first, "seed"));
  TF_ASSIGN_OR_RETURN(const int64_t b, NumberInput(ctx, first + 1, "seed2"));
  if (a != 0 || b != 0) return Seeds{static_cast<uint64_t>(a), static_cast<uint64_t>(b)};
  return Seeds{RandomSeed(), RandomSeed()};
}

// The seeds of each round over one dataset: always the same, or new ones each time. Thread-safe.
class SeedGenerator {
 public:
  SeedGenerator(Seeds seeds, bool changes) : changes_(changes), seeds_(seeds), numbers_(seeds) {}
  Seeds Next() {
    MutexLock lock(mu_);
    if (!changes_) return seeds_;
    const uint64_t first = numbers_.Next();
    return {first, numbers_.Next()};
  }
  void Fields(IteratorState& state) {
    MutexLock lock(mu_);
    state(seeds_.first, seeds_.second, numbers_);
  }

 private:
  const bool changes_;
  Mutex mu_;
  Seeds seeds_ TB_GUARDED_BY(mu_);
  Numbers numbers_ TB_GUARDED_BY(mu_);
};

// Fills a buffer with the elements of `count` rounds over the input (-1: without end), and draws elements from the
// buffer. The buffer may hold elements of several rounds; the elements of a round are drawn before those of the next.
// T is Element, or std::string if all elements are scalar strings: a buffer of strings takes less time and memory.
template <typename T>
class Shuffle {
 public:
  Shuffle(RefPtr<Dataset> input, std::shared_ptr<SeedGenerator> seeds, size_t size, int64_t count)
      : input_(std::move(input)), seeds_(std::move(seeds)), size_(size), count_(count), numbers_(seeds_->Next()) {}

  // Begins a round. The first round begins when the iterator is made, so that a saved state contains the seeds of the
  // input.
  Status Open(const IteratorContext& ctx) {
    TF_ASSIGN_OR_RETURN(pull_, input_->MakeIterator(ctx));
    rounds_.emplace_back();
    ++num_rounds_;
    got_any_ = false;
    return OkStatus();
  }

  StatusOr<bool> Next(const IteratorContext& ctx, T* out) {
    TF_RETURN_IF_ERROR(Fill(ctx));
    if (buffered_ == 0) return false;
    while (rounds_.front().empty()) {
      rounds_.pop_front();
      numbers_ = Numbers(seeds_->Next());
    }
    std::deque<T>& round = rounds_.front();
    T& drawn = round[numbers_.Next() % round.size()];
    *out = std::move(drawn);
    drawn = std::move(round.front());
    round.pop_front();
    --buffered_;
    return true;
  }

  void Fields(IteratorState& state) {
    state(*seeds_, numbers_, rounds_, buffered_, num_rounds_, got_any_, ended_);
    state.Reopen(pull_, [&] { return input_->MakeIterator(state.context()); });
  }

 private:
  // Limits the number of rounds whose elements are in the buffer, because a round over a short input hardly fills it.
  // The limit is TensorFlow's: another one would change the order of the elements.
  static constexpr size_t kMaxRounds = 3;

  Status Fill(const IteratorContext& ctx) {
    while (!ended_ && buffered_ < size_ && (buffered_ == 0 || rounds_.size() <= kMaxRounds)) {
      TF_RETURN_IF_ERROR(ctx.cancellation->status());
      if (pull_ == nullptr) {
        ended_ = count_ >= 0 && num_rounds_ >= count_;
        if (ended_) break;
        TF_RETURN_IF_ERROR(Open(ctx));
      }
      T e;
      TF_ASSIGN_OR_RETURN(const bool more, pull_(ctx, &e));
      if (more) {
        got_any_ = true;
        rounds_.back().push_back(std::move(e));
        ++buffered_;
        continue;
      }
      pull_ = nullptr;
      // After an empty round, an endless repetition would never produce an element.
      ended_ = count_ < 0 && !got_any_;
    }
    return OkStatus();
  }

  const RefPtr<Dataset> input_;
  const std::shared_ptr<SeedGenerator> seeds_;
  const size_t size_;
  const int64_t count_;
  Numbers numbers_;                   // choose the elements of the first round in the buffer
  Iterator pull_;                     // null between two rounds
  std::deque<std::deque<T>> rounds_;  // the elements in the buffer
  size_t buffered_ = 0;
  int64_t num_rounds_ = 0;
  bool got_any_ = false;
  bool ended_ = false;
};

template <typename T>
StatusOr<Iterator> MakeShuffle(const IteratorContext& ctx, Shuffle<T> shuffle) {
  TF_RETURN_IF_ERROR(shuffle.Open(ctx));
  return MakeStateful(std::move(shuffle),
                      [](Shuffle<T>& s, const IteratorContext& c, T* out) { return s.Next(c, out); });
}

Status EmitShuffle(KernelContext& ctx, const std::shared_ptr<SeedGenerator>& seeds, int64_t count,
                   int64_t cardinality) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t wanted, NumberInput(ctx, 1, "buffer_size"));
  if (wanted < 1 && wanted != -2)
    return InvalidArgument("buffer_size must be positive, or -2 for all elements; got ", wanted);
  const size_t size = wanted == -2 ? SIZE_MAX : static_cast<size_t>(wanted);
  return EmitDataset(
      ctx, {input},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        if (input->has_string_elements()) return MakeShuffle(c, Shuffle<std::string>(input, seeds, size, count));
        return MakeShuffle(c, Shuffle<Element>(input, seeds, size, count));
      },
      cardinality);
}

Status ShuffleDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Seeds seeds, SeedInputs(ctx, 2));
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  return EmitShuffle(ctx, std::make_shared<SeedGenerator>(seeds, ctx.node().attr<bool>("reshuffle_each_iteration")),
                     /*count=*/1, input->cardinality());
}

Status ShuffleAndRepeatDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Seeds seeds, SeedInputs(ctx, 2));
  TF_ASSIGN_OR_RETURN(const int64_t count, NumberInput(ctx, 4, "count"));
  if (count < 1 && count != -1) {
    return InvalidArgument("count must be positive, or -1 for a repetition without end; got ", count);
  }
  return EmitShuffle(ctx, std::make_shared<SeedGenerator>(seeds, ctx.node().attr<bool>("reshuffle_each_iteration")),
                     count, Dataset::kUnknown);
}

// A dataset of random numbers below 2^32. All its iterators return the same numbers, unless it rerandomizes.
Status EmitRandom(KernelContext& ctx, bool rerandomizes) {
  TF_ASSIGN_OR_RETURN(const Seeds inputs, SeedInputs(ctx, 0));
  return EmitDataset(
      ctx, {},
      [seeds = std::make_shared<SeedGenerator>(inputs, rerandomizes)](const IteratorContext&) -> StatusOr<Iterator> {
        return MakeStateful(
            Numbers(seeds->Next()),
            [](Numbers& numbers, const IteratorContext&, Element* out) -> StatusOr<bool> {
              *out = {Tensor::Scalar(int64_t{numbers.Next()})};
              return true;
            },
            [seeds](Numbers& numbers, IteratorState& state) { state(*seeds, numbers); });
      },
      Dataset::kInfinite);
}

Status RandomDataset(KernelContext& ctx) { return EmitRandom(ctx, /*rerandomizes=*/false); }
Status RandomDatasetV2(KernelContext& ctx) {
  return EmitRandom(ctx, ctx.node().attr<bool>("rerandomize_each_iteration"));
}

}  // namespace

void RegisterDatasetShuffleKernels(KernelRegistry& r) {
  r.Add("ShuffleDataset", {}, ShuffleDataset);
  r.Add("ShuffleDatasetV3", {}, ShuffleDataset);
  r.Add("ShuffleAndRepeatDataset", {}, ShuffleAndRepeatDataset);
  r.Add("ShuffleAndRepeatDatasetV2", {}, ShuffleAndRepeatDataset);
  r.Add("RandomDataset", {}, RandomDataset);
  r.Add("RandomDatasetV2", {}, RandomDatasetV2);
}

}  // namespace tensorbraid::cpu
