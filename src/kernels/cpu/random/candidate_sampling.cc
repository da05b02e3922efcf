// Candidate samplers: draw classes for losses that use only a sample of all classes, and compute the expected count of
// each.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/threads/mutex.h"
#include "io/input_stream.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/random/distributions.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// A distribution over [0, range). Learn is not thread-safe.
class ClassDistribution {
 public:
  explicit ClassDistribution(int64_t range) : range_(range) {}
  virtual ~ClassDistribution() = default;
  int64_t range() const { return range_; }
  virtual int64_t Sample(PhiloxReader& random) const = 0;
  virtual double Probability(int64_t value) const = 0;
  // The number of classes whose probability is not 0.
  virtual int64_t possible() const { return range_; }
  virtual bool learns() const { return false; }
  virtual void Learn(std::span<const int64_t> values) {}
  // What the distribution has learned, for checkpoints.
  virtual std::vector<int64_t> learned() const { return {}; }
  // Restores what learned() returned; without values, forgets everything. Returns false if the values do not fit.
  virtual bool SetLearned(std::span<const int64_t> values) { return values.empty(); }

 protected:
  const int64_t range_;
};

class UniformClasses final : public ClassDistribution {
 public:
  using ClassDistribution::ClassDistribution;
  int64_t Sample(PhiloxReader& random) const override { return static_cast<int64_t>(random.NextBelow(range_)); }
  double Probability(int64_t) const override { return 1.0 / static_cast<double>(range_); }
};

// P(k) = log((k + 2) / (k + 1)) / log(range + 1): roughly Zipf's law, for classes sorted by descending frequency.
class LogUniformClasses final : public ClassDistribution {
 public:
  explicit LogUniformClasses(int64_t range)
      : ClassDistribution(range), log_range_(std::log1p(static_cast<double>(range))) {}
  int64_t Sample(PhiloxReader& random) const override {
    const auto value = static_cast<int64_t>(std::exp(random.NextDouble() * log_range_)) - 1;
    return value % range_;  // rounding can produce range_ itself
  }
  double Probability(int64_t k) const override {
    const auto v = static_cast<double>(k);
    return std::log((v + 2.0) / (v + 1.0)) / log_range_;
  }

 private:
  const double log_range_;
};

// Every class starts with weight 1 and gains 1 each time it is seen. A Fenwick tree holds the sums of weights.
class LearnedClasses final : public ClassDistribution {
 public:
  explicit LearnedClasses(int64_t range) : ClassDistribution(range), sums_(range + 1) {
    Forget();
    while (top_ <= range / 2) top_ *= 2;
  }
  bool learns() const override { return true; }
  void Learn(std::span<const int64_t> values) override {
    for (int64_t v : values) {
      ++total_;
      for (int64_t i = v + 1; i <= range_; i += i & -i) ++sums_[i];
    }
  }
  std::vector<int64_t> learned() const override { return sums_; }
  bool SetLearned(std::span<const int64_t> values) override {
    if (values.empty()) {
      Forget();
      return true;
    }
    constexpr int64_t kMaxCount = int64_t{1} << 32;
    if (values.size() != sums_.size()) return false;
    sums_.assign(values.begin(), values.end());
    total_ = 0;
    for (int64_t v = 0; v < range_; ++v) {
      const int64_t count = Below(v + 1) - Below(v);
      if (count < 1 || count > kMaxCount) {
        Forget();
        return false;
      }
      total_ += count;
    }
    return true;
  }
  int64_t Sample(PhiloxReader& random) const override {
    const bool small = total_ <= std::numeric_limits<uint32_t>::max();
    auto rest = static_cast<int64_t>(small ? random.NextBelow32(static_cast<uint32_t>(total_))
                                           : random.NextBelow(static_cast<uint64_t>(total_)));
    int64_t at = 0;
    for (int64_t step = top_; step > 0; step /= 2) {
      if (at + step <= range_ && sums_[at + step] <= rest) {
        at += step;
        rest -= sums_[at];
      }
    }
    return at;
  }
  double Probability(int64_t v) const override {
    return static_cast<double>(Below(v + 1) - Below(v)) / static_cast<double>(total_);
  }

 private:
  void Forget() {
    for (int64_t i = 1; i <= range_; ++i) sums_[i] = i & -i;
    total_ = range_;
  }
  int64_t Below(int64_t end) const {
    int64_t sum = 0;
    for (int64_t i = end; i > 0; i -= i & -i) sum += sums_[i];
    return sum;
  }
  std::vector<int64_t> sums_;
  int64_t total_ = 0;
  int64_t top_ = 1;  // the largest power of two that is at most range
};

// Classes with given weights, after MakeFixed has applied distortion and sharding. Draws by the alias method: each
// class has a bucket, of which it owns a part; the rest belongs to one other class, its alias. The order in which
// buckets are filled, and the use of float where TensorFlow uses it, make equal seeds draw TensorFlow's classes.
class FixedClasses final : public ClassDistribution {
 public:
  // REQUIRES: there is at least one weight, and their sum is positive and finite.
  explicit FixedClasses(std::vector<float> weights)
      : ClassDistribution(static_cast<int64_t>(weights.size())),
        weights_(std::move(weights)),
        buckets_(weights_.size()) {
    for (float w : weights_) {
      total_ += w;
      if (w > 0) ++possible_;
    }
    FillBuckets();
  }
  int64_t possible() const override { return possible_; }
  int64_t Sample(PhiloxReader& random) const override {
    const float at = UnitFloat(random.Next32());
    const uint32_t bucket = random.NextBelow32(static_cast<uint32_t>(range_));
    return at < buckets_[bucket].own ? bucket : buckets_[bucket].alias;
  }
  double Probability(int64_t v) const override {
    return static_cast<float>(static_cast<double>(weights_[static_cast<size_t>(v)]) / total_);
  }

 private:
  struct Bucket {
    float own = 1;
    uint32_t alias = 0;
  };

  void FillBuckets() {
    std::vector<double> left(weights_.size());  // what each class has not yet put into buckets; 1 fills a bucket
    std::vector<uint32_t> small, large;
    for (uint32_t i = 0; i < left.size(); ++i) {
      left[i] = static_cast<double>(weights_[i] * static_cast<float>(range_)) / total_;
      (left[i] < 1 ? small : large).push_back(i);
    }
    // A class that does not fill its bucket gets the rest from one that has more than enough.
    while (!small.empty() && !large.empty()) {
      const uint32_t poor = small.back(), rich = large.back();
      small.pop_back();
      buckets_[poor] = {static_cast<float>(left[poor]), rich};
      left[rich] -= 1 - left[poor];
      if (left[rich] < 1) {
        large.pop_back();
        small.push_back(rich);
      }
    }
    // What remains differs from a full bucket by rounding errors only.
    for (const auto* rest : {&small, &large}) {
      for (const uint32_t i : *rest) buckets_[i] = {1, i};
    }
  }

  const std::vector<float> weights_;
  double total_ = 0;
  std::vector<Bucket> buckets_;
  int64_t possible_ = 0;
};

// The largest range of a distribution that stores a weight per class.
constexpr int64_t kMostClasses = int64_t{1} << 28;

// Makes a distribution from weights in the attribute unigrams or in the last column of a CSV file. Each weight is
// raised to the power `distortion`. With shards, only every num_shards-th class is kept; as in TensorFlow, the numbers
// of the classes in `unigrams` and in the file start at the number of reserved classes that were kept.
StatusOr<std::unique_ptr<ClassDistribution>> MakeFixed(const KernelConstruction& c, int64_t range) {
  const auto& file = c.attr<std::string>("vocab_file");
  const auto& unigrams = c.attr<std::vector<float>>("unigrams");
  const float distortion = c.attr<float>("distortion");
  const int64_t reserved = c.attr<int64_t>("num_reserved_ids");
  const int64_t shards = c.attr<int64_t>("num_shards"), shard = c.attr<int64_t>("shard");
  if (file.empty() == unigrams.empty()) return InvalidArgument("exactly one of vocab_file and unigrams must be given");
  if (shard < 0 || shard >= shards) return InvalidArgument("shard ", shard, " is not in [0, ", shards, ")");
  if (reserved < 0 || reserved / shards > range) {
    return InvalidArgument("num_reserved_ids ", reserved, " is out of range for range_max ", range);
  }
  std::vector<float> weights;
  for (int64_t i = shard; i < reserved; i += shards) weights.push_back(0);
  auto id = static_cast<int64_t>(weights.size());
  const auto add = [&](float weight) {
    if (id++ % shards == shard) weights.push_back(std::pow(weight, distortion));
  };
  if (file.empty()) {
    for (float u : unigrams) add(u);
  } else {
    TF_ASSIGN_OR_RETURN(const auto lines, InputStream::Open(file));
    std::string line;
    while (true) {
      const Status read = lines->ReadLine(&line);
      if (absl::IsOutOfRange(read)) break;
      TF_RETURN_IF_ERROR(read);
      if (line.empty()) continue;
      const size_t comma = line.rfind(',');
      const std::string number = comma == std::string::npos ? line : line.substr(comma + 1);
      char* end = nullptr;
      const float weight = std::strtof(number.c_str(), &end);
      if (end == number.c_str()) return InvalidArgument("vocab_file ", file, " has a line without a weight: ", line);
      add(weight);
    }
  }
  const auto have = static_cast<int64_t>(weights.size());
  if (have != range) return InvalidArgument("range_max is ", range, ", but there are ", have, " unigrams");
  double total = 0;
  for (float w : weights) {
    if (!(w >= 0) || std::isinf(w)) return InvalidArgument("unigrams must be finite and not negative");
    total += w;
  }
  if (!(total > 0) || std::isinf(total)) return InvalidArgument("the unigrams must have a positive, finite sum");
  return std::make_unique<FixedClasses>(std::move(weights));
}

StatusOr<std::unique_ptr<ClassDistribution>> MakeDistribution(const KernelConstruction& c) {
  const std::string& op = c.node().type();
  const int64_t range = c.attr<int64_t>("range_max");
  if (op == "UniformCandidateSampler") return std::make_unique<UniformClasses>(range);
  if (op == "LogUniformCandidateSampler") return std::make_unique<LogUniformClasses>(range);
  if (range > kMostClasses) return InvalidArgument("range_max may be at most ", kMostClasses, ", got ", range);
  if (op == "FixedUnigramCandidateSampler") return MakeFixed(c, range);
  return std::make_unique<LearnedClasses>(range);
}

Status CheckTrueClasses(const Tensor& classes, int64_t num_true) {
  if (classes.shape().rank() != 2) {
    return InvalidArgument("true_classes must be a matrix, got shape ", classes.shape());
  }
  if (classes.shape().dim(1) != num_true) {
    return InvalidArgument("true_classes must have num_true (", num_true, ") columns, got shape ", classes.shape());
  }
  return OkStatus();
}

// The expected count of a class with this probability: how often it is drawn or, if candidates are distinct, the
// probability that it is drawn at all.
float Expected(double probability, int64_t batch, int64_t tries) {
  const auto p = static_cast<float>(probability);
  if (tries == batch) return p * static_cast<float>(batch);
  return static_cast<float>(-std::expm1(static_cast<double>(tries) * std::log1p(-static_cast<double>(p))));
}

class CandidateSamplerKernel final : public Kernel, public StatefulKernel, public KernelState {
 public:
  CandidateSamplerKernel(const KernelConstruction& c, std::unique_ptr<ClassDistribution> distribution)
      : num_true_(c.attr<int64_t>("num_true")),
        num_sampled_(c.attr<int64_t>("num_sampled")),
        unique_(c.attr<bool>("unique")),
        generator_(c),
        distribution_(std::move(distribution)) {}

  static StatusOr<std::unique_ptr<Kernel>> Create(const KernelConstruction& c) {
    TF_ASSIGN_OR_RETURN(auto distribution, MakeDistribution(c));
    return std::make_unique<CandidateSamplerKernel>(c, std::move(distribution));
  }

  Status Compute(KernelContext& ctx) override {
    const Tensor& classes = ctx.input(0);
    TF_RETURN_IF_ERROR(CheckTrueClasses(classes, num_true_));
    if (unique_ && num_sampled_ > distribution_->possible()) {
      return InvalidArgument("cannot draw ", num_sampled_, " distinct classes from ", distribution_->possible());
    }
    const auto truth = classes.data<int64_t>();
    for (int64_t v : truth) {
      if (v < 0 || v >= distribution_->range()) {
        return InvalidArgument("class ", v, " is not in [0, ", distribution_->range(), ")");
      }
    }
    TF_ASSIGN_OR_RETURN(Tensor * sampled, ctx.AllocateOutput(0, {num_sampled_}));
    TF_ASSIGN_OR_RETURN(Tensor * true_expected, ctx.AllocateOutput(1, classes.shape()));
    TF_ASSIGN_OR_RETURN(Tensor * sampled_expected, ctx.AllocateOutput(2, {num_sampled_}));
    // In each run, advances the generator by as much as TensorFlow does.
    PhiloxReader random(generator_.philox(), generator_.Reserve(512 * static_cast<uint64_t>(num_sampled_)));
    const auto to = sampled->inplace_data<int64_t>();
    MutexLock lock(mu_);
    TF_ASSIGN_OR_RETURN(const int64_t tries, Draw(random, to));
    for (size_t i = 0; i < to.size(); ++i) {
      sampled_expected->inplace_data<float>()[i] = Expected(distribution_->Probability(to[i]), num_sampled_, tries);
    }
    for (size_t i = 0; i < truth.size(); ++i) {
      true_expected->inplace_data<float>()[i] = Expected(distribution_->Probability(truth[i]), num_sampled_, tries);
    }
    if (distribution_->learns()) distribution_->Learn(truth);
    return OkStatus();
  }

  KernelState* state() override { return this; }
  // The state of the generator, then what the distribution has learned.
  Tensor Save() const override {
    MutexLock lock(mu_);
    const Tensor generator = generator_.Save();
    std::vector<int64_t> values(generator.data<int64_t>().begin(), generator.data<int64_t>().end());
    const std::vector<int64_t> learned = distribution_->learned();
    values.insert(values.end(), learned.begin(), learned.end());
    return Tensor::Vector(values);
  }
  Status Restore(const Tensor& state) override {
    MutexLock lock(mu_);
    const int64_t own = std::min(state.num_elements(), Generator::kStateSize);
    if (state.dtype() != kInt64 || state.shape().rank() != 1 ||
        !distribution_->SetLearned(state.data<int64_t>().subspan(static_cast<size_t>(own)))) {
      return InvalidArgument("the state does not fit a sampler of ", distribution_->range(), " classes, got ",
                             state.dtype(), state.shape());
    }
    return generator_.Restore(state.Slice(0, own));
  }

 private:
  // Fills `to` and returns the number of draws.
  StatusOr<int64_t> Draw(PhiloxReader& random, std::span<int64_t> to) TB_REQUIRES(mu_) {
    if (!unique_) {
      for (int64_t& v : to) v = distribution_->Sample(random);
      return num_sampled_;
    }
    constexpr int64_t kMostTries = int64_t{1} << 28;
    absl::flat_hash_set<int64_t> used;
    int64_t tries = 0;
    for (size_t n = 0; n < to.size(); ++tries) {
      if (tries == kMostTries) {
        return InvalidArgument("found only ", n, " of ", num_sampled_, " distinct classes in ", tries, " draws");
      }
      const int64_t v = distribution_->Sample(random);
      if (used.insert(v).second) to[n++] = v;
    }
    return tries;
  }

  const int64_t num_true_;
  const int64_t num_sampled_;
  const bool unique_;
  Generator generator_;
  mutable Mutex mu_;
  const std::unique_ptr<ClassDistribution> distribution_;  // if it learns, it changes under mu_
};

// All classes, each with an expected count of 1.
Status AllCandidates(KernelContext& ctx) {
  const Tensor& classes = ctx.input(0);
  const int64_t num = ctx.node().attr<int64_t>("num_sampled");
  TF_RETURN_IF_ERROR(CheckTrueClasses(classes, ctx.node().attr<int64_t>("num_true")));
  TF_ASSIGN_OR_RETURN(Tensor * sampled, ctx.AllocateOutput(0, {num}));
  TF_ASSIGN_OR_RETURN(Tensor * true_expected, ctx.AllocateOutput(1, classes.shape()));
  TF_ASSIGN_OR_RETURN(Tensor * sampled_expected, ctx.AllocateOutput(2, {num}));
  std::iota(sampled->inplace_data<int64_t>().begin(), sampled->inplace_data<int64_t>().end(), 0);
  for (Tensor* t : {true_expected, sampled_expected}) {
    for (float& v : t->inplace_data<float>()) v = 1;
  }
  return OkStatus();
}

// Finds true classes among the candidates. For each that it finds, outputs the row of the true class, the index of the
// candidate, and the weight that removes the candidate from the loss.
Status ComputeAccidentalHits(KernelContext& ctx) {
  const Tensor& classes = ctx.input(0);
  const Tensor& sampled = ctx.input(1);
  const int64_t num_true = ctx.node().attr<int64_t>("num_true");
  TF_RETURN_IF_ERROR(CheckTrueClasses(classes, num_true));
  if (sampled.shape().rank() != 1) {
    return InvalidArgument("sampled_candidates must be a vector, got shape ", sampled.shape());
  }
  absl::flat_hash_map<int64_t, int64_t> places;
  for (int64_t i = 0; i < sampled.num_elements(); ++i) places[sampled.data<int64_t>()[i]] = i;
  std::vector<int32_t> rows;
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < classes.num_elements(); ++i) {
    const auto it = places.find(classes.data<int64_t>()[i]);
    if (it == places.end()) continue;
    rows.push_back(static_cast<int32_t>(i / num_true));
    ids.push_back(it->second);
  }
  ctx.set_output(0, Tensor::Vector(rows));
  ctx.set_output(1, Tensor::Vector(ids));
  ctx.set_output(2, Tensor::Vector(std::vector<float>(ids.size(), -std::numeric_limits<float>::max())));
  return OkStatus();
}

}  // namespace

void RegisterRandomCandidateSamplingKernels(KernelRegistry& r) {
  for (const char* op : {"UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler",
                         "ThreadUnsafeUnigramCandidateSampler", "FixedUnigramCandidateSampler"}) {
    r.AddDef({.op = op, .types = {}, .create = CandidateSamplerKernel::Create});
  }
  r.Add("AllCandidateSampler", {}, AllCandidates);
  r.Add("ComputeAccidentalHits", {}, ComputeAccidentalHits);
}

}  // namespace tensorbraid::cpu
