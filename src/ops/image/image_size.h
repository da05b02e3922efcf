// Heights and widths of images that are inputs of ops.
#ifndef TENSORBRAID_OPS_IMAGE_IMAGE_SIZE_H_
#define TENSORBRAID_OPS_IMAGE_IMAGE_SIZE_H_

#include "graph/model/node.h"

namespace tensorbraid {

// Sets dimensions 1 and 2 of `images` to the elements of an input, which the op calls `name`: a height and a width.
// They become unknown if the value is not known. InvalidArgument unless there are two elements that are not negative.
Status SetImageSize(ShapeContext& c, int input, const char* name, Shape* images);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_IMAGE_IMAGE_SIZE_H_
