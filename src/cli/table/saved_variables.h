// Reads the variables that are no growing tables from a checkpoint or an increment.
#ifndef TENSORBRAID_CLI_TABLE_SAVED_VARIABLES_H_
#define TENSORBRAID_CLI_TABLE_SAVED_VARIABLES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Some numbers of a variable that follow each other.
struct VariablePiece {
  std::string name;   // of the variable
  Shape shape;        // of the whole variable
  int64_t first = 0;  // the place of the first of the numbers in the whole variable, row by row
  Tensor numbers;     // of any shape
};

// Calls `visit` for what a checkpoint has of variables of numbers: all of them in a full checkpoint, and in an
// increment the variables that were saved as a whole and the rows of others that have changed. `full` is the full
// checkpoint, and `increment` one of those that follow it, if it is meant. Slots of optimizers are left out: a variable
// "V/X" that has the dtype and the shape of the variable V. So are the states of random ops and iterators, and strings.
// Ends at the first error. DataLoss for damaged files.
Status ForEachVariable(const std::string& full, const std::optional<std::string>& increment,
                       const std::function<Status(const VariablePiece&)>& visit);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_TABLE_SAVED_VARIABLES_H_
