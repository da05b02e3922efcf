#include "planner/simulation/stragglers.h"

#include <charconv>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/text/strings.h"

namespace tensorbraid::planner {
namespace {

bool ReadNumber(const std::string& text, double* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(*value);
}

}  // namespace

double UniformNumber(std::mt19937_64& random) {
  return (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0;
}

Stragglers Stragglers::Lognormal(double sigma) {
  Stragglers s;
  s.kind_ = sigma > 0 ? Kind::kLognormal : Kind::kNone;
  s.a_ = sigma;
  return s;
}

StatusOr<Stragglers> Stragglers::Parse(std::string_view text) {
  const std::vector<std::string> words = StrSplit(text, ':');
  Stragglers s;
  bool valid = false;
  if (words[0] == "none") {
    valid = words.size() == 1;
  } else if (words[0] == "slow") {
    s.kind_ = Kind::kSlow;
    valid = words.size() == 3 && ReadNumber(words[1], &s.a_) && ReadNumber(words[2], &s.b_) && s.a_ >= 0 && s.a_ <= 1 &&
            s.b_ > 0;
  } else {
    s.kind_ = words[0] == "lognormal"     ? Kind::kLognormal
              : words[0] == "exponential" ? Kind::kExponential
                                          : Kind::kOnlyExponential;
    valid = (words[0] == "lognormal" || words[0] == "exponential" || words[0] == "only-exponential") &&
            words.size() == 2 && ReadNumber(words[1], &s.a_) && s.a_ >= 0;
  }
  if (valid) return s;
  return InvalidArgument("'", text,
                         "' is no distribution of stragglers; expected none, lognormal:0.1, exponential:0.1, "
                         "only-exponential:1 or slow:0.01:3 (probability, factor)");
}

double Stragglers::Draw(std::mt19937_64& random) const {
  switch (kind_) {
    case Kind::kNone:
      return 1;
    case Kind::kLognormal: {
      const double radius = std::sqrt(-2 * std::log(UniformNumber(random)));
      return std::exp(a_ * radius * std::cos(2 * std::numbers::pi * UniformNumber(random)));
    }
    case Kind::kExponential:
      return 1 - a_ * std::log(UniformNumber(random));
    case Kind::kOnlyExponential:
      return -a_ * std::log(UniformNumber(random));
    case Kind::kSlow:
      return UniformNumber(random) < a_ ? b_ : 1;
  }
  return 1;
}

double Stragglers::Mean() const {
  switch (kind_) {
    case Kind::kNone:
      return 1;
    case Kind::kLognormal:
      return std::exp(a_ * a_ / 2);
    case Kind::kExponential:
      return 1 + a_;
    case Kind::kOnlyExponential:
      return a_;
    case Kind::kSlow:
      return 1 + a_ * (b_ - 1);
  }
  return 1;
}

}  // namespace tensorbraid::planner
