// Slices whose place is another one in each run, such as row i of a tensor in a loop: the program takes it as an
// argument, and the host checks it before each run.
#ifndef TENSORBRAID_KERNELS_PJRT_ARRAY_MOVING_SLICE_H_
#define TENSORBRAID_KERNELS_PJRT_ARRAY_MOVING_SLICE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "pjrt/emitter.h"

namespace tensorbraid::pjrt {

using KnownEntries = std::vector<std::optional<int64_t>>;
// The integers of a vector that is input `i` of the node, as far as the graph tells: those of a constant, and the
// constants among the scalars that a Pack joins. Nothing if it does not tell how many there are.
std::optional<KnownEntries> EntriesInGraph(const Node& node, int i);
// The same for an input of a node that is emitted, whose value may be known.
StatusOr<KnownEntries> EntriesOf(const EmitContext& ctx, int i);

// For EmitterDef::inputs_on_host of StridedSlice and StridedSliceGrad: the inputs begin (1) and end, if the graph tells
// all entries but those that select a single element.
std::vector<int> MovingInputsOfStridedSlice(const Node& node);
// The same for Slice: begin, if the graph tells all sizes, and each entry of begin that a size of -1 needs.
std::vector<int> MovingInputsOfSlice(const Node& node);

// A dimension along which the place is entry `entry` of begin.
struct MovingDim {
  int dim;
  int entry;
};
// Where dynamic_slice and dynamic_update_slice begin in a tensor of this shape: at `fixed`, but along the moving
// dimensions at the entries of begin (input 1). A negative entry counts from the end.
StatusOr<std::vector<stablehlo::Value>> MovingStarts(EmitContext& ctx, const Shape& shape,
                                                     const std::vector<MovingDim>& moving,
                                                     const std::vector<int64_t>& fixed);
// The region of `in` with these sizes that begins at `starts`.
stablehlo::Value DynamicSlice(stablehlo::Builder& b, const stablehlo::Value& in,
                              const std::vector<stablehlo::Value>& starts, const std::vector<int64_t>& sizes);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_ARRAY_MOVING_SLICE_H_
