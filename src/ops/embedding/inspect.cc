// An op that shows rows of a growing table, for `tensorbraid table` on a running job: schema. It finds the table by its
// name, so it cannot change what the handles of the job say about the table.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status InspectShape(ShapeContext& c) {
  c.set_output(0, Shape::UnknownOfRank(1));
  c.set_output(1, Shape::UnknownOfRank(1));
  c.set_output(2, Shape::UnknownOfRank(1));
  c.set_output(3, Shape::UnknownOfRank(2));
  c.set_output(4, Shape::UnknownOfRank(1));
  c.set_output(5, Shape::UnknownOfRank(1));
  return OkStatus();
}

}  // namespace

void RegisterEmbeddingInspectOps(OpRegistry& r) {
  // With `top` 0, the rows of those of `keys` that have one. Otherwise the `top` rows that come first by `by`: the
  // largest norms or frequencies, or the latest versions. With `by` "residue", `keys` are remainders by 1,000, and
  // the rows are those of all keys with these remainders. `numbers` has shape [rows, sum of widths]; `columns` are the
  // names of the table and of its slots, and `widths` how many numbers a row has in them. `frequencies` is empty if the
  // table does not count.
  r.Add(Op("_InspectTable")
            .Input("keys: int64")
            .Output("found: int64")
            .Output("versions: int64")
            .Output("frequencies: int64")
            .Output("numbers: float")
            .Output("columns: string")
            .Output("widths: int64")
            .Attr("table: string")
            .Attr("container: string = ''")
            .Attr("top: int >= 0 = 0")
            .Attr("by: {'norm', 'frequency', 'version', 'residue'} = 'norm'")
            .Stateful()
            .Shape(InspectShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
