// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/image.
#ifndef TENSORBRAID_KERNELS_CPU_IMAGE_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_IMAGE_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterImageBoxesKernels(KernelRegistry& r);              // boxes.cc
void RegisterImageCodingKernels(KernelRegistry& r);             // coding.cc
void RegisterImageColorKernels(KernelRegistry& r);              // color.cc
void RegisterImageCropKernels(KernelRegistry& r);               // crop.cc
void RegisterImageNonMaxSuppressionKernels(KernelRegistry& r);  // non_max_suppression.cc
void RegisterImagePatchesKernels(KernelRegistry& r);            // patches.cc
void RegisterImageProjectiveKernels(KernelRegistry& r);         // projective.cc
void RegisterImageResizeKernels(KernelRegistry& r);             // resize.cc
void RegisterImageScaleKernels(KernelRegistry& r);              // scale.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IMAGE_REGISTRATION_H_
