// The ways in which files fail, for tests in which each change of a file by a save fails once.
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_FAULT_CASES_TESTUTIL_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_FAULT_CASES_TESTUTIL_H_

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <tuple>

#include "core/testing/faulty_files.h"
#include "core/text/strings.h"

namespace tensorbraid {

struct FaultCase {
  const char* name;
  FaultyFiles::Fault fault;
  std::optional<FaultyFiles::UnsyncedNames> power_loss = std::nullopt;
};

// Faults with which the process lives on.
inline const FaultCase kFileErrors[] = {{"IoError", FaultyFiles::Fault::kIoError},
                                        {"NoSpace", FaultyFiles::Fault::kNoSpace},
                                        {"ReadOnly", FaultyFiles::Fault::kReadOnly}};
// Faults that end the process.
inline const FaultCase kProcessEnds[] = {
    {"Killed", FaultyFiles::Fault::kKilled},
    {"PowerLossOfNames", FaultyFiles::Fault::kKilled, FaultyFiles::UnsyncedNames::kLost},
    {"PowerLossOfData", FaultyFiles::Fault::kKilled, FaultyFiles::UnsyncedNames::kKept}};

// The parameters of a test: the fault, and two choices.
using FaultParam = std::tuple<FaultCase, bool, bool>;
// "NoSpaceLocalFull": the names of a fault and of the two choices.
inline std::string FaultName(const FaultParam& param, const char* second, const char* not_second, const char* third) {
  return StrCat(std::get<0>(param).name, std::get<1>(param) ? second : not_second, std::get<2>(param) ? third : "");
}

// Calls save(n) with n = 1, 2, ..., which saves to `*directory` with the fault at change n, until it returns false: the
// save had fewer changes. Ends early when an expectation has failed. Each n has a directory of its own. Expects that
// there were more than `least` changes.
inline void ForEachChange(int least, std::string* directory, const std::function<bool(int n)>& save) {
  int n = 1;
  while (true) {
    SCOPED_TRACE(StrCat("at change ", n));
    *directory = StrCat("/logs-", n);
    if (!save(n) || testing::Test::HasFailure()) break;
    ++n;
  }
  EXPECT_TRUE(n > least || testing::Test::HasFailure()) << n;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_FAULT_CASES_TESTUTIL_H_
