// AddDataset, which registers dataset ops. The output of a dataset op is a variant that describes how to create
// iterators. The schemas of dataset ops differ only in their inputs and attributes.
#ifndef TENSORBRAID_OPS_DATASET_SCHEMA_H_
#define TENSORBRAID_OPS_DATASET_SCHEMA_H_

#include <initializer_list>
#include <source_location>

#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "tensorbraid/core/shape.h"

namespace tensorbraid {

// Inputs and attributes that many dataset ops have.
inline constexpr const char* kInputDataset = "input_dataset: variant";
inline constexpr const char* kOtherArguments = "other_arguments: Targuments";
inline constexpr const char* kOtherArgumentTypes = "Targuments: list(type) >= 0";
inline constexpr const char* kOutputTypes = "output_types: list(type) >= 1";
inline constexpr const char* kOutputShapes = "output_shapes: list(shape) >= 1";
inline constexpr const char* kMetadata = "metadata: string = ''";

inline void AddDataset(OpRegistry& r, const char* name, std::initializer_list<const char*> inputs,
                       std::initializer_list<const char*> attrs, bool stateful = false,
                       std::source_location location = std::source_location::current()) {
  Op op(name);
  for (const char* input : inputs) op.Input(input);
  op.Output("handle: variant");
  for (const char* attr : attrs) op.Attr(attr);
  // An op is stateful if it is so in TensorFlow: the sources of pipelines, for example. The nodes of a stateful op are
  // neither folded into constants nor merged with equal nodes.
  if (stateful) op.Stateful();
  r.Add(op.Shape(ScalarShape).NotDifferentiable(), location);
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_DATASET_SCHEMA_H_
