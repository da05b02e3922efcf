// Ops on iterators over datasets, and ops that consume a whole dataset: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

constexpr const char* kElementTypes = "output_types: list(type) >= 1";
constexpr const char* kElementShapes = "output_shapes: list(shape) >= 1";

Status ElementShape(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<Shape>>("output_shapes");
  if (static_cast<int>(shapes.size()) != c.num_outputs()) {
    return InvalidArgument("there are ", c.num_outputs(), " output_types, but ", shapes.size(), " output_shapes");
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shapes[i]);
  return OkStatus();
}

}  // namespace

void RegisterDatasetIteratorOps(OpRegistry& r) {
  // Inside functions, shuffle and cache datasets have an input for a resource with the state that iterators share.
  // These ops make a resource for this input that nothing uses.
  for (const char* op : {"DummySeedGenerator", "DummyMemoryCache"}) {
    r.Add(Op(op).Output("handle: resource").Stateful().Shape(ScalarShape).NotDifferentiable());
  }
  for (const char* op : {"Iterator", "IteratorV2"}) {
    r.Add(Op(op)
              .Output("handle: resource")
              .Attr("shared_name: string")
              .Attr("container: string")
              .Attr(kElementTypes)
              .Attr(kElementShapes)
              .Stateful()
              .Shape(ScalarShape)
              .NotDifferentiable());
  }
  for (const char* op : {"AnonymousIterator", "AnonymousIteratorV3"}) {
    r.Add(Op(op)
              .Output("handle: resource")
              .Attr(kElementTypes)
              .Attr(kElementShapes)
              .Stateful()
              .Shape(ScalarShape)
              .NotDifferentiable());
  }
  // TensorFlow wraps a dataset so that it is not copied to the memory of a device. Here all variants are in host
  // memory, so both ops pass their input on.
  for (const char* op : {"WrapDatasetVariant", "UnwrapDatasetVariant"}) {
    r.Add(
        Op(op).Input("input_handle: variant").Output("output_handle: variant").Shape(ScalarShape).NotDifferentiable());
  }
  r.Add(Op("OneShotIterator")
            .Output("handle: resource")
            .Attr("dataset_factory: func")
            .Attr(kElementTypes)
            .Attr(kElementShapes)
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("MakeIterator")
            .Input("dataset: variant")
            .Input("iterator: resource")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  for (const char* op : {"IteratorGetNext", "IteratorGetNextSync"}) {
    r.Add(Op(op)
              .Input("iterator: resource")
              .Output("components: output_types")
              .Attr(kElementTypes)
              .Attr(kElementShapes)
              .Stateful()
              .Shape(ElementShape)
              .NotDifferentiable());
  }
  r.Add(Op("IteratorGetNextAsOptional")
            .Input("iterator: resource")
            .Output("optional: variant")
            .Attr(kElementTypes)
            .Attr(kElementShapes)
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("IteratorToStringHandle")
            .Input("resource_handle: resource")
            .Output("string_handle: string")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  for (const char* op : {"IteratorFromStringHandle", "IteratorFromStringHandleV2"}) {
    r.Add(Op(op)
              .Input("string_handle: string")
              .Output("resource_handle: resource")
              .Attr("output_types: list(type) >= 0 = []")
              .Attr("output_shapes: list(shape) >= 0 = []")
              .Stateful()
              .Shape(ScalarShape)
              .NotDifferentiable());
  }
  r.Add(Op("SerializeIterator")
            .Input("resource_handle: resource")
            .Output("serialized: variant")
            .Attr("external_state_policy: int = 0")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("DeserializeIterator")
            .Input("resource_handle: resource")
            .Input("serialized: variant")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  r.Add(Op("DatasetToSingleElement")
            .Input("dataset: variant")
            .Output("components: output_types")
            .Attr(kElementTypes)
            .Attr(kElementShapes)
            .Attr("metadata: string = ''")
            .Stateful()
            .Shape(ElementShape)
            .NotDifferentiable());
  r.Add(Op("ReduceDataset")
            .Input("input_dataset: variant")
            .Input("initial_state: Tstate")
            .Input("other_arguments: Targuments")
            .Output("components: output_types")
            .Attr("f: func")
            .Attr("Tstate: list(type) >= 1")
            .Attr("Targuments: list(type) >= 0")
            .Attr(kElementTypes)
            .Attr(kElementShapes)
            .Attr("use_inter_op_parallelism: bool = true")
            .Attr("metadata: string = ''")
            .Stateful()
            .Shape(ElementShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
