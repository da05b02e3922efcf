// Reads untrusted TensorProtos and attribute values. Those that are valid are written and read again, with equal
// results.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include "bounds.h"
#include "core/memory/allocator.h"
#include "graph/format/attr_proto.h"
#include "graph/format/graph.pb.h"
#include "graph/format/tensor_proto.h"
#include "proto_mutator.h"

namespace tensorbraid {
namespace {

void ReadTensor(const uint8_t* data, int size) {
  proto::TensorProto message, again;
  if (!message.ParseFromArray(data, size)) return;
  (void)RepeatedBytes(message);
  const auto tensor = FromProto(message);
  if (!tensor.ok()) return;
  ToProto(*tensor, &again);
  const auto same = FromProto(again);
  if (absl::IsResourceExhausted(same.status())) return;  // the memory limit may allow only one of the two
  if (!same.ok() || same->dtype() != tensor->dtype() || same->shape() != tensor->shape() ||
      same->ToString() != tensor->ToString()) {
    std::abort();
  }
}

void ReadAttr(const uint8_t* data, int size) {
  proto::AttrValue message, again;
  if (!message.ParseFromArray(data, size)) return;
  for (const char* wanted : {"", "list(string)", "list(shape)", "list(tensor)", "list(func)", "list(type)"}) {
    const auto value = FromProto(message, wanted);
    if (!value.ok()) continue;
    again.Clear();
    ToProto(*value, &again);
    const auto same = FromProto(again, wanted);
    if (absl::IsResourceExhausted(same.status())) continue;
    if (!same.ok() || same->ToString() != value->ToString()) std::abort();
  }
}

template <typename M>
size_t Mutate(uint8_t* data, size_t size, size_t max_size, std::mt19937& random) {
  M message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return size;
  MutateMessage(&message, random);
  const size_t bytes = message.ByteSizeLong();
  if (bytes > max_size) return size;
  message.SerializeToArray(data, static_cast<int>(bytes));
  return bytes;
}

}  // namespace
}  // namespace tensorbraid

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  using namespace tensorbraid;  // NOLINT: the target is the program
  std::mt19937 random(seed);
  if (random() % 2 == 0) return Mutate<proto::TensorProto>(data, size, max_size, random);
  return Mutate<proto::AttrValue>(data, size, max_size, random);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tensorbraid;  // NOLINT: the target is the program
  SetAllocatorLimit(kMemoryLimit);
  ReadTensor(data, static_cast<int>(size));
  ReadAttr(data, static_cast<int>(size));
  return 0;
}
