// What is known of the tensors of a dataset's element, as attributes and as text.
#ifndef TENSORBRAID_OPS_DATASET_ELEMENT_SPEC_H_
#define TENSORBRAID_OPS_DATASET_ELEMENT_SPEC_H_

#include <string>
#include <vector>

#include "tensorbraid/data/dataset.h"

namespace tensorbraid::data {

std::vector<DType> DTypesOf(const Specs& element);
std::vector<Shape> ShapesOf(const Specs& element);
std::string ToString(const Specs& element);  // "(float32[2,?], int64[])"

}  // namespace tensorbraid::data

#endif  // TENSORBRAID_OPS_DATASET_ELEMENT_SPEC_H_
