// Reads the values of the flags of `tensorbraid plan`.
#ifndef TENSORBRAID_CLI_PLAN_FLAGS_H_
#define TENSORBRAID_CLI_PLAN_FLAGS_H_

#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// "1,2,4" and "1-8" (the powers of two in between, and both ends). InvalidArgument, which names `flag`, unless all
// are from 1 to `most`, and rise.
StatusOr<std::vector<int>> ParseCounts(const std::string& flag, const std::string& text, int most);
// "10gbit", "100mbit", "1.25GB" (per second), in bytes per second. InvalidArgument for other text.
StatusOr<double> ParseBandwidth(const std::string& text);
// "images=100,784".
StatusOr<std::pair<std::string, Shape>> ParseShapeFlag(const std::string& text);
// The speed of a link from the lines that `tensorbraid bench allpairs --json` printed: the median over the pairs of
// tasks, in bytes per second. Errors of reading the file; InvalidArgument if it has no such line.
StatusOr<double> ReadAllPairs(const std::string& path);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_PLAN_FLAGS_H_
