#ifndef TENSORBRAID_CLI_AT_LEAST_H_
#define TENSORBRAID_CLI_AT_LEAST_H_

#include <charconv>
#include <cmath>
#include <string>

#include "CLI/CLI.hpp"
#include "core/text/strings.h"

namespace tensorbraid {

// Returns a validator for a command-line option that accepts numbers of at least `least`.
inline CLI::Validator AtLeast(double least) {
  const auto check = [least](const std::string& word) -> std::string {
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size() && number >= least && std::isfinite(number)) {
      return "";
    }
    return StrCat("'", word, "' is not a number of at least ", least);
  };
  return CLI::Validator(check, StrCat(">= ", least));
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_AT_LEAST_H_
