#ifndef TENSORBRAID_CLI_ONE_OF_H_
#define TENSORBRAID_CLI_ONE_OF_H_

#include <algorithm>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "core/text/strings.h"

namespace tensorbraid {

// Returns a validator for a command-line option that accepts one of these words. The error for another word lists them
// and names the nearest.
inline CLI::Validator OneOf(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& word) -> std::string {
    if (std::find(words.begin(), words.end(), word) != words.end()) return "";
    const std::string nearest = NearestWord(word, words);
    return StrCat("'", word, "' is none of ", StrJoin(words, ", "),
                  nearest.empty() ? "" : StrCat("; did you mean ", nearest, "?"));
  };
  return CLI::Validator(check, StrCat("{", StrJoin(words, ","), "}"));
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_ONE_OF_H_
