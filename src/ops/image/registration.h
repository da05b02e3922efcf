// Declares the functions that register the image ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_IMAGE_REGISTRATION_H_
#define TENSORBRAID_OPS_IMAGE_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterImageBoxesOps(OpRegistry& r);              // boxes.cc
void RegisterImageCodingOps(OpRegistry& r);             // coding.cc
void RegisterImageColorOps(OpRegistry& r);              // color.cc
void RegisterImageCropOps(OpRegistry& r);               // crop.cc
void RegisterImageNonMaxSuppressionOps(OpRegistry& r);  // non_max_suppression.cc
void RegisterImagePatchesOps(OpRegistry& r);            // patches.cc
void RegisterImageProjectiveOps(OpRegistry& r);         // projective.cc
void RegisterImageResizeOps(OpRegistry& r);             // resize.cc
void RegisterImageScaleOps(OpRegistry& r);              // scale.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_IMAGE_REGISTRATION_H_
