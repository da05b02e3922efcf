// Decodes untrusted tensors of every wire type, and encodes untrusted values in every wire type.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "kernels/cpu/wire/codec.h"

namespace tensorbraid {
namespace {

// Larger tensors are skipped, because they only take time. (A task refuses a tensor whose size does not fit the shape
// in the graph.)
constexpr int64_t kMostElements = 1 << 20;

Status Decode(std::span<const uint8_t> bytes) {
  TF_ASSIGN_OR_RETURN(const cpu::WireHeader header, cpu::ReadWireHeader(bytes));
  const int64_t n = header.shape.num_elements();
  if (n > kMostElements) return OkStatus();
  std::vector<float> values(static_cast<size_t>(n));
  return cpu::DecodeWire(header, bytes, 0, (n + cpu::kWireBlock - 1) / cpu::kWireBlock, values.data());
}

// What we encode can be decoded, whatever the values are.
void EncodeAndDecode(std::span<const uint8_t> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (values.empty()) return;
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  const Shape shape{static_cast<int64_t>(values.size())};
  for (const Wire wire : {Wire::kFloat32, Wire::kFloat16, Wire::kBFloat16, Wire::kInt8, Wire::kOneBit, Wire::kTopK}) {
    std::vector<float> residual(values.size());
    std::vector<uint8_t> out(static_cast<size_t>(cpu::WireBytes(wire, shape)));
    const cpu::WireEncoder encoder(wire, shape, values.data(), cpu::HasErrorFeedback(wire) ? residual.data() : nullptr,
                                   out.data());
    encoder.Encode(0, encoder.blocks());
    if (!Decode(out).ok()) std::abort();
  }
}

}  // namespace
}  // namespace tensorbraid

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  tensorbraid::Decode(bytes).IgnoreError();
  tensorbraid::EncodeAndDecode(bytes);
  return 0;
}
