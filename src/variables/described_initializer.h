// Initializers that say which numbers they give, so that growing tables can compute each row by itself.
#ifndef TENSORBRAID_VARIABLES_DESCRIBED_INITIALIZER_H_
#define TENSORBRAID_VARIABLES_DESCRIBED_INITIALIZER_H_

#include <functional>
#include <optional>

#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// The target of the initializers of graph/variable.h and variables/initializers.h whose numbers are independent of each
// other, and equally distributed.
struct DescribedInitializer {
  Initializer make;
  // The distribution of the numbers for a variable of this shape. Its seed is that of the initializer, where 0 stands
  // for the graph's seed.
  std::function<InitialRows(const Shape& shape)> describe;

  Output operator()(Graph& graph, const Shape& shape, DType dtype) const { return make(graph, shape, dtype); }
};

// How `initializer` begins the rows of a table of this shape; empty if its numbers cannot be computed row by row. A
// table has no number of rows, so the shape gives one to the initializers that scale by it.
inline std::optional<InitialRows> DescriptionOf(const Initializer& initializer, const Shape& shape) {
  const auto* const described = initializer.target<DescribedInitializer>();
  if (described == nullptr) return std::nullopt;
  return described->describe(shape);
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_VARIABLES_DESCRIBED_INITIALIZER_H_
