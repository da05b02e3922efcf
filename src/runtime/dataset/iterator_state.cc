#include "runtime/dataset/iterator_state.h"

#include <cstring>

#include "runtime/dataset/variant_codec.h"
#include "runtime/dataset/variant_values.h"

namespace tensorbraid {
namespace {

Status Malformed() { return DataLoss("the saved state of an iterator is malformed"); }

}  // namespace

// Numbers have the native byte order, like the payloads of checkpoints.
void IteratorState::Number(int64_t& value) {
  if (!status_.ok()) return;
  if (!restores_) {
    saved_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return;
  }
  if (rest_.size() < sizeof value) return Fail(Malformed());
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_.remove_prefix(sizeof value);
}

size_t IteratorState::Size(size_t size) {
  auto number = static_cast<int64_t>(size);
  Number(number);
  if (!status_.ok()) return 0;
  // Each element of a container takes at least as many bytes as a number.
  if (restores_ && (number < 0 || static_cast<uint64_t>(number) > rest_.size() / sizeof number)) {
    Fail(Malformed());
    return 0;
  }
  return static_cast<size_t>(number);
}

void IteratorState::Visit(std::string& value) {
  auto size = static_cast<int64_t>(value.size());
  Number(size);
  if (!status_.ok()) return;
  if (!restores_) {
    saved_ += value;
    return;
  }
  if (size < 0 || static_cast<uint64_t>(size) > rest_.size()) return Fail(Malformed());
  value.assign(rest_.substr(0, static_cast<size_t>(size)));
  rest_.remove_prefix(static_cast<size_t>(size));
}

// An element is stored as an optional value, because variant_codec.h encodes optional values with any components.
void IteratorState::Visit(Element& value) {
  if (!status_.ok()) return;
  std::string bytes;
  if (!restores_) {
    auto encoded = EncodeVariants(MakeVariantTensor(MakeRef<OptionalValue>(value)));
    if (!encoded.ok()) {
      return Fail(Annotate(encoded.status(), "cannot save an element that the input pipeline has buffered"));
    }
    bytes = *std::move(encoded);
  }
  Visit(bytes);
  if (!restores_ || !status_.ok()) return;
  const auto decoded = DecodeVariants(Shape(), bytes);
  if (!decoded.ok()) return Fail(Malformed());
  const auto optional = VariantAs<OptionalValue>(*decoded);
  if (!optional.ok()) return Fail(Malformed());
  value = (*optional)->components;
}

void IteratorState::Visit(Iterator& value) {
  if (!status_.ok()) return;
  CheckName(value.name());
  if (status_.ok()) value.Visit(*this);
}

void IteratorState::CheckName(const std::string& name) {
  std::string saved = name;
  Visit(saved);
  if (!status_.ok() || saved == name) return;
  Fail(InvalidArgument("the saved state does not fit the input pipeline: it has a ", saved,
                       " where the pipeline has a ", name));
}

}  // namespace tensorbraid
