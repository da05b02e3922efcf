// Errors of elements: how a program reports that a node has failed, such as an index that is out of range.
//
// A program cannot stop. So a node adds a check: a condition on elements that the program computes. A program with
// checks has one more result, its error word: a vector of int64 that holds zeros if all went well, and otherwise the
// number of the first check that has failed, counted from 1, and the numbers that its message needs. The host reads the
// word, and makes of it the error that the kernel of the CPU would have returned.
#ifndef TENSORBRAID_PJRT_ERROR_WORD_H_
#define TENSORBRAID_PJRT_ERROR_WORD_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/model/node.h"
#include "pjrt/stablehlo.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

// Makes the error of a check that has failed, of the numbers that the check was added with. Called after the emitter
// has returned, so it must not keep references to what the emitter has on its stack.
using CheckError = std::function<Status(std::span<const int64_t> numbers)>;

// The checks of a program, in the order of its nodes. Immutable once the program is made.
class ProgramChecks {
 public:
  bool empty() const { return checks_.empty(); }
  // The number of elements of the error word.
  int64_t word_size() const;
  // The error that the word tells; OK for zeros. Internal error for a word that no program writes, and for
  // a check without an error.
  Status ErrorOf(std::span<const int64_t> word) const;

 private:
  friend class ErrorWord;
  struct Check {
    const Node* node;
    size_t num_numbers;
    CheckError error;
  };
  std::vector<Check> checks_;
};

// Writes the error word of a program. Not thread-safe.
class ErrorWord {
 public:
  explicit ErrorWord(stablehlo::Builder& builder) : b_(builder) {}

  // The program fails if `condition`, a scalar of bool, is true. `numbers` are scalars of int64.
  void FailIf(const Node& node, const stablehlo::Value& condition, std::vector<stablehlo::Value> numbers,
              CheckError error);
  // The program fails if an element of `bad` is true. The numbers of the error are the number of the first such element
  // and the elements of `values` at its place. `values` are integers of the shape of `bad`.
  void FailWhere(const Node& node, const stablehlo::Value& bad, const std::vector<stablehlo::Value>& values,
                 CheckError error);

  const ProgramChecks& checks() const { return checks_; }
  // Whether a check has failed: a scalar of bool. REQUIRES: there is a check.
  stablehlo::Value Failed();
  // The word. REQUIRES: there is a check.
  stablehlo::Value Word();

 private:
  struct Condition {
    stablehlo::Value failed;
    std::vector<stablehlo::Value> numbers;
  };
  stablehlo::Builder& b_;
  ProgramChecks checks_;
  std::vector<Condition> conditions_;  // of the checks
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_ERROR_WORD_H_
