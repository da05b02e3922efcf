#include "kernels/cpu/summary/histogram.h"

#include <algorithm>

namespace tensorbraid::cpu {
namespace {

const std::vector<double>& Limits() {
  static const std::vector<double> limits = [] {
    std::vector<double> positive;
    double limit = 1e-12;
    while (limit < 1e20) {
      positive.push_back(limit);
      limit *= 1.1;
    }
    positive.push_back(std::numeric_limits<double>::max());
    std::vector<double> all;
    for (auto it = positive.rbegin(); it != positive.rend(); ++it) all.push_back(-*it);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return limits;
}

}  // namespace

Histogram::Histogram() : counts_(Limits().size(), 0) {}

void Histogram::Add(double value) {
  const auto& limits = Limits();
  const auto bucket = std::upper_bound(limits.begin(), limits.end(), value) - limits.begin();
  counts_[std::min(static_cast<size_t>(bucket), counts_.size() - 1)] += 1;
  min = std::min(min, value);
  max = std::max(max, value);
  num += 1;
  sum += value;
  sum_squares += value * value;
}

std::vector<Histogram::Bucket> Histogram::Buckets() const {
  const auto& limits = Limits();
  std::vector<Bucket> buckets;
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0 && !buckets.empty() && buckets.back().count == 0) {
      buckets.back().limit = limits[i];
    } else {
      buckets.push_back({limits[i], counts_[i]});
    }
  }
  return buckets;
}

}  // namespace tensorbraid::cpu
