// How much longer than usual the steps of workers take.
#ifndef TENSORBRAID_PLANNER_SIMULATION_STRAGGLERS_H_
#define TENSORBRAID_PLANNER_SIMULATION_STRAGGLERS_H_

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid::planner {

// A number between 0 and 1, without the ends. Not the standard library's, so that a seed gives the same numbers with
// all.
double UniformNumber(std::mt19937_64& random);

// A distribution of factors by which a worker's computation of one step is multiplied. Each worker and step has a
// factor of its own.
class Stragglers {
 public:
  // Every step takes its usual time.
  Stragglers() = default;
  // Median 1, and a standard deviation `sigma` of the logarithm.
  static Stragglers Lognormal(double sigma);
  // "none"; "lognormal:S", with median 1 and a standard deviation S of the logarithm; "exponential:M", which is 1 + X
  // where X has the mean M; "only-exponential:M", which is X alone; "slow:P:F", which is F with the probability P and
  // otherwise 1. InvalidArgument, with these forms, for other text.
  static StatusOr<Stragglers> Parse(std::string_view text);

  double Draw(std::mt19937_64& random) const;
  // The mean of the factors.
  double Mean() const;

 private:
  enum class Kind { kNone, kLognormal, kExponential, kOnlyExponential, kSlow };
  Kind kind_ = Kind::kNone;
  double a_ = 0, b_ = 0;
};

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_SIMULATION_STRAGGLERS_H_
