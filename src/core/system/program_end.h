// What a program does when it ends in good order, while all its libraries can still be used. Destructors of static
// objects are too late for this: those of other libraries may come first.
#ifndef TENSORBRAID_CORE_SYSTEM_PROGRAM_END_H_
#define TENSORBRAID_CORE_SYSTEM_PROGRAM_END_H_

namespace tensorbraid {

// EndProgram will call `end` once. Thread-safe.
void AtProgramEnd(void (*end)());

// Calls what was added since the last call, in this order. ExitCode does this, and the Python package when the
// interpreter ends.
void EndProgram();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_PROGRAM_END_H_
