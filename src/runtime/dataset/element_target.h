// Elements of datasets in the memory of an accelerator.
#ifndef TENSORBRAID_RUNTIME_DATASET_ELEMENT_TARGET_H_
#define TENSORBRAID_RUNTIME_DATASET_ELEMENT_TARGET_H_

#include <cstdint>
#include <vector>

#include "runtime/dataset/dataset.h"
#include "runtime/kernel/cancellation.h"
#include "runtime/kernel/device.h"

namespace tensorbraid {

// What a step needs of an element in the memory of a device.
struct ElementTarget {
  Device* device = nullptr;  // outlives the steps and iterators of its task
  std::vector<bool> wanted;  // by component
  friend bool operator==(const ElementTarget&, const ElementTarget&) = default;

  // Whether component i is wanted and is in host memory.
  bool Copies(const Element& element, size_t i) const;
  // Whether any component is.
  bool Copies(const Element& element) const;
  // The bytes of these components.
  int64_t BytesOf(const Element& element) const;
};

// The element with the wanted components in the memory of the device; the others, and those that are there already, are
// shared. Blocks until the copies have been done. An error of the device; ResourceExhausted without memory; if
// `cancellation` is cancelled, its error: the copies then end by themselves.
StatusOr<Element> CopyToDevice(const Element& element, const ElementTarget& target, CancellationManager* cancellation);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_DATASET_ELEMENT_TARGET_H_
