// Rows of tensors that indices of the device select: gathers and scatters.
#ifndef TENSORBRAID_KERNELS_PJRT_ROWS_H_
#define TENSORBRAID_KERNELS_PJRT_ROWS_H_

#include <cstdint>
#include <string>

#include "kernels/pjrt/expression.h"
#include "runtime/variables/row_updates.h"

namespace tensorbraid::pjrt {

// Of x [n, size], the rows that the integers `rows` [k] name: [k, size]. An integer out of range gives some row, or
// zeros if there is none.
Expr GatherRows(const Expr& x, const Expr& rows);

// x [n, size]. Its rows with the numbers `rows` [k] are combined with the rows of `updates` [k, size]. A plugin may do
// so in any order; the plugin for the CPU keeps the order of `updates`. An update whose row does not exist is ignored.
// 16-bit floats are combined in float32, and rounded after each update.
Expr ScatterInto(const Expr& x, const Expr& rows, const Expr& updates, Combination combine);
// A tensor [n, size] whose elements are the scalar `initial`, with whose rows `rows` [k] those of `updates` [k, size]
// are combined. An update whose row does not exist is ignored.
Expr ScatterRows(int64_t n, const Expr& initial, const Expr& rows, const Expr& updates, Combination combine);
// The same for sums: the tensor has zeros at first.
Expr ScatterAddRows(int64_t n, const Expr& rows, const Expr& updates);

// The slices of a tensor whose leading coordinates are the rows of `indices` [..., depth].
struct SelectedSlices {
  int64_t count;       // of rows
  int64_t size;        // elements of a slice
  int64_t num_slices;  // of the tensor
  Expr numbers;        // [count]: the number of the slice
  Expr exists;         // [count]: false if a coordinate is out of range
};
// The slices of a tensor of shape `shape`. Coordinates out of range fail the node, or, if `ignore`, give a slice of
// number -1. The message calls the tensor `what`. REQUIRES: SlicesShape (runtime/variables/slice_indices.h) has
// accepted the shapes.
SelectedSlices SelectSlices(EmitContext& ctx, const stablehlo::Value& indices, const Shape& shape, bool ignore,
                            const std::string& what);

// What an update of rows or slices takes.
struct UpdateInputs {
  Expr old;  // what is updated: a tensor or the value of a variable
  stablehlo::Value indices;
  Expr updates;
};
// Inputs 0 to 2 of the node. InvalidArgument if input 0 is a variable of another type than the updates.
StatusOr<UpdateInputs> UpdateInputsOf(const EmitContext& ctx);
// in.old, whose slices are combined with the updates, one for each, or one number for all.
Expr UpdateSlices(const UpdateInputs& in, const SelectedSlices& slices, RowUpdate how);
// The same for the variable of input 0. If a check of the program fails, no slice is changed, so the whole variable
// need not be copied.
Status UpdateSlicesOfVariable(EmitContext& ctx, const UpdateInputs& in, const SelectedSlices& slices, RowUpdate how);

// How an update combines an old element with a new one. REQUIRES: UpdateTypesOf has the dtype.
Combination CombinationOf(RowUpdate how);
// The dtypes of tensors of programs whose elements an update combines.
DTypeSet UpdateTypesOf(RowUpdate how);
// Fails the node if the update divides integers by zero.
void CheckDivisors(EmitContext& ctx, RowUpdate how, const Expr& updates);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_ROWS_H_
