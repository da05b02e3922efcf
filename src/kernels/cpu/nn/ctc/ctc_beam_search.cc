// Beam search over the label sequences of CTC. Source: Graves, Supervised Sequence Labelling with Recurrent Neural
// Networks, section 7.5.
//
// A prefix is a node of a tree. Its probability has two parts, one for alignments that end with a blank and one for
// alignments that end with the prefix's last label. The results are TensorFlow's, including two properties of its
// search: a prefix that is dropped and added again in the same step loses the probability of its other alignments, and
// a prefix gets no probability from a parent that is not in the beam. Only the order of equally probable prefixes may
// differ.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/nn/ctc/ctc.h"

namespace tensorbraid::cpu {
namespace {

// The largest number of prefixes that the searches of one batch may hold at a time. Together with the beams, they take
// some 400 MB.
constexpr int64_t kMaxPrefixes = int64_t{3} << 20;

template <typename A>
constexpr A kLogZero = -std::numeric_limits<A>::infinity();

template <typename A>
A LogAdd(A a, A b) {
  if (a == kLogZero<A>) return b;
  if (b == kLogZero<A>) return a;
  return a > b ? a + std::log1p(std::exp(b - a)) : b + std::log1p(std::exp(a - b));
}

// ln of the probability of a prefix, and ln of its two parts (see above).
template <typename A>
struct PrefixProbability {
  A total = kLogZero<A>;
  A blank = kLogZero<A>;
  A label = kLogZero<A>;
};

template <typename A>
struct Prefix {
  Prefix* parent;
  int64_t label;
  Prefix* first_child = nullptr;
  Prefix* sibling = nullptr;
  PrefixProbability<A> before = {}, now = {};  // before and after the current step
  bool in_beam() const { return now.total != kLogZero<A>; }
};

// Orders prefixes by falling probability. A probability that is NaN is treated as 0, so that the order is strict and
// weak for any input.
template <typename A>
struct MoreProbable {
  static A Key(const Prefix<A>* p) { return std::isnan(p->now.total) ? kLogZero<A> : p->now.total; }
  bool operator()(const Prefix<A>* a, const Prefix<A>* b) const { return Key(a) > Key(b); }
};

template <typename A>
class BeamSearch {
 public:
  BeamSearch(int64_t classes, int64_t width, std::atomic<int64_t>* held)
      : blank_(classes - 1), width_(static_cast<size_t>(width)), held_(*held) {
    child_of_label_.resize(classes, nullptr);
    prefixes_.push_back({.parent = nullptr, .label = -1});
    prefixes_[0].now.total = prefixes_[0].now.blank = 0;
    beam_.push_back(&prefixes_[0]);
  }
  ~BeamSearch() { held_ -= static_cast<int64_t>(prefixes_.size()) - 1; }

  Status Step(const A* logits) {
    const A norm = LogSum(logits);
    std::stable_sort(beam_.begin(), beam_.end(), MoreProbable<A>());
    branches_ = beam_;
    for (Prefix<A>* p : branches_) p->before = p->now;
    for (Prefix<A>* p : branches_) Continue(p, logits, norm);
    // From here on the beam is a heap with the least probable prefix at the front.
    std::make_heap(beam_.begin(), beam_.end(), MoreProbable<A>());
    for (Prefix<A>* p : branches_) {
      if (IsCandidate(p->before.total)) Extend(p, logits, norm);
      if (exhausted_) break;
    }
    if (exhausted_) {
      return ResourceExhausted("the beam searches of the batch hold more than ", kMaxPrefixes,
                               " prefixes; use a smaller beam_width");
    }
    return OkStatus();
  }

  StatusOr<std::vector<CtcPath<A>>> Best(int64_t count, bool merge_repeated) {
    if (static_cast<size_t>(count) > beam_.size()) {
      return InvalidArgument("Less leaves in the beam search than requested: top_paths is ", count, ", but only ",
                             beam_.size(), " paths were found");
    }
    std::stable_sort(beam_.begin(), beam_.end(), MoreProbable<A>());
    std::vector<CtcPath<A>> paths;
    for (int64_t i = 0; i < count; ++i) {
      CtcPath<A>& path = paths.emplace_back();
      path.log_probability = beam_[i]->now.total;
      int64_t last = -1;
      for (const Prefix<A>* p = beam_[i]; p->parent != nullptr; p = p->parent) {
        if (!merge_repeated || p->label != last) path.labels.push_back(p->label);
        last = p->label;
      }
      std::reverse(path.labels.begin(), path.labels.end());
    }
    return paths;
  }

 private:
  // ln(sum(e^x)).
  A LogSum(const A* x) const {
    A max = x[0];
    for (int64_t k = 1; k <= blank_; ++k) max = x[k] > max ? x[k] : max;
    A sum = 0;
    for (int64_t k = 0; k <= blank_; ++k) sum += std::exp(x[k] - max);
    return max + std::log(sum);
  }

  // Continues the prefix without a new label: with a blank, or with its last label again.
  static void Continue(Prefix<A>* p, const A* logits, int64_t blank, A norm) {
    if (p->parent != nullptr) {
      if (p->parent->in_beam()) {
        const auto& from = p->parent->before;
        p->now.label = LogAdd(p->now.label, p->label == p->parent->label ? from.blank : from.total);
      }
      p->now.label += logits[p->label] - norm;
    }
    p->now.blank = p->before.total + logits[blank] - norm;
    p->now.total = LogAdd(p->now.blank, p->now.label);
  }
  void Continue(Prefix<A>* p, const A* logits, A norm) { Continue(p, logits, blank_, norm); }

  // Whether a prefix of this probability belongs in the beam.
  bool IsCandidate(A log_probability) const {
    return log_probability > kLogZero<A> && (beam_.size() < width_ || log_probability > beam_.front()->now.total);
  }

  // Adds the prefixes with one more label to the beam if they are probable enough.
  void Extend(Prefix<A>* p, const A* logits, A norm) {
    for (Prefix<A>* c = p->first_child; c != nullptr; c = c->sibling) child_of_label_[c->label] = c;
    for (int64_t label = 0; label < blank_; ++label) {
      Prefix<A>* child = child_of_label_[label];
      if (child != nullptr && child->in_beam()) continue;
      // Two equal labels need a blank between them.
      const A from = label == p->label ? p->before.blank : p->before.total;
      const A log_probability = logits[label] - norm + from;
      if (!IsCandidate(log_probability)) {
        // A prefix that was dropped in this step is not extended either.
        if (child != nullptr) child->before = {};
        continue;
      }
      if (child == nullptr) {
        child = &prefixes_.emplace_back(Prefix<A>{.parent = p, .label = label, .sibling = p->first_child});
        p->first_child = child;
        exhausted_ = ++held_ > kMaxPrefixes;
        if (exhausted_) return;
      }
      child->now = {.total = log_probability, .blank = kLogZero<A>, .label = log_probability};
      if (beam_.size() == width_) {
        std::pop_heap(beam_.begin(), beam_.end(), MoreProbable<A>());
        beam_.back()->now = {};
        beam_.back() = child;
      } else {
        beam_.push_back(child);
      }
      std::push_heap(beam_.begin(), beam_.end(), MoreProbable<A>());
    }
    for (Prefix<A>* c = p->first_child; c != nullptr; c = c->sibling) child_of_label_[c->label] = nullptr;
  }

  const int64_t blank_;
  const size_t width_;
  std::atomic<int64_t>& held_;  // prefixes of all searches of the batch, without the empty ones
  bool exhausted_ = false;
  std::deque<Prefix<A>> prefixes_;           // owns all; the first is the empty prefix
  std::vector<Prefix<A>*> beam_, branches_;  // branches_: the beam at the start of the step
  std::vector<Prefix<A>*> child_of_label_;   // used by Extend; all null in between
};

}  // namespace

template <typename A>
StatusOr<std::vector<CtcPath<A>>> CtcBeamSearch(const CtcSequence<A>& logits, int64_t beam_width, int64_t top_paths,
                                                bool merge_repeated, std::atomic<int64_t>* held) {
  if (top_paths > beam_width) {
    return InvalidArgument("requested more paths than the beam width: top_paths is ", top_paths, ", beam_width is ",
                           beam_width);
  }
  BeamSearch<A> search(logits.classes, beam_width, held);
  for (int64_t t = 0; t < logits.length; ++t) TF_RETURN_IF_ERROR(search.Step(logits.row(t)));
  return search.Best(top_paths, merge_repeated);
}

template StatusOr<std::vector<CtcPath<float>>> CtcBeamSearch(const CtcSequence<float>&, int64_t, int64_t, bool,
                                                             std::atomic<int64_t>*);
template StatusOr<std::vector<CtcPath<double>>> CtcBeamSearch(const CtcSequence<double>&, int64_t, int64_t, bool,
                                                              std::atomic<int64_t>*);

}  // namespace tensorbraid::cpu
