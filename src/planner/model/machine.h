// What is known of the machine on which a program was measured.
#ifndef TENSORBRAID_PLANNER_MODEL_MACHINE_H_
#define TENSORBRAID_PLANNER_MODEL_MACHINE_H_

#include <string>

#include "planner/model/wake_up.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::planner {

struct MeasuredMachine {
  WakeUpCost wake = {};
  // The share of all cores that other programs used while the program was measured.
  double others_share = 0;
};

// Whether other programs used so much of the cores that what was measured is in doubt: more than a tenth.
inline bool IsBusy(const MeasuredMachine& machine) { return machine.others_share > 0.1; }

// Writes it to the file machine.json of a profile.
Status WriteMachine(const std::string& directory, const MeasuredMachine& machine);
// Reads what WriteMachine wrote. Returns the defaults if the profile has no such file: older releases did not measure
// the machine. InvalidArgument if the file cannot be understood.
StatusOr<MeasuredMachine> ReadMachine(const std::string& directory);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_MACHINE_H_
