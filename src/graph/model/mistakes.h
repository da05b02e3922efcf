// Mistakes of the program that no graph can record.
#ifndef TENSORBRAID_GRAPH_MODEL_MISTAKES_H_
#define TENSORBRAID_GRAPH_MODEL_MISTAKES_H_

#include <source_location>
#include <string>
#include <string_view>

namespace tensorbraid {

// The message of LogMistake for an empty list of operands.
inline constexpr std::string_view kEmptyList = "the list is empty";
// Logs an error in the program that no graph can record, because none of the operands belongs to one: "AddN
// (model.cc:12): the list is empty". Remembers the error for this thread.
void LogMistake(std::string_view function, const std::source_location& loc, std::string_view message);
// Returns the error that this thread logged last, as the end of an error message about an invalid handle: "; the last
// mistake outside of a graph: AddN (model.cc:12): ...". Returns "" if the thread has logged none since the last call.
std::string TakeLoggedMistake();

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_MISTAKES_H_
