// Which line of the user's program a node comes from.
#ifndef TENSORBRAID_GRAPH_MODEL_USER_LINES_H_
#define TENSORBRAID_GRAPH_MODEL_USER_LINES_H_

#include <optional>
#include <source_location>
#include <string>

namespace tensorbraid {

class Graph;
class GraphImpl;

// A line of the user's program, which may be in another language than C++ (see Graph::Location). `file` must live as
// long as the program.
struct SourceLine {
  SourceLine(const char* file_name, int number) : file(file_name), line(number) {}
  SourceLine(const std::source_location& loc)  // NOLINT: converts
      : file(loc.file_name()), line(static_cast<int>(loc.line())) {}
  const char* file;
  int line;
};

// "model.cc:12".
std::string LocationText(const SourceLine& line);

// While an object of this class exists, the nodes that are added to `graph` get the line `line`, and so do messages
// about them. Public functions that add nodes open it with the line of the user's call. Only the outermost scope has an
// effect: the user made that call, and the library made the calls inside it.
class ScopedLocation {
 public:
  ScopedLocation(const Graph& graph, const SourceLine& line);
  ~ScopedLocation();
  ScopedLocation(const ScopedLocation&) = delete;
  ScopedLocation& operator=(const ScopedLocation&) = delete;

 private:
  GraphImpl* impl_;  // null if this scope has no effect
};

// While an object of this class exists, no ScopedLocation and no Graph::Location of an outer call has an effect: the
// library calls a function of the user, whose nodes have lines of their own.
class ScopedUserCode {
 public:
  explicit ScopedUserCode(const Graph& graph);
  ~ScopedUserCode();
  ScopedUserCode(const ScopedUserCode&) = delete;
  ScopedUserCode& operator=(const ScopedUserCode&) = delete;

 private:
  GraphImpl& impl_;
  const std::optional<SourceLine> outer_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_USER_LINES_H_
