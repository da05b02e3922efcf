#include "pjrt/error_word.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/text/strings.h"
#include "graph/model/node_status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::pjrt {

using stablehlo::Value;

int64_t ProgramChecks::word_size() const {
  size_t numbers = 0;
  for (const Check& check : checks_) numbers = std::max(numbers, check.num_numbers);
  return static_cast<int64_t>(1 + numbers);
}

Status ProgramChecks::ErrorOf(std::span<const int64_t> word) const {
  const int64_t number = word[0];
  if (number == 0) return OkStatus();
  if (number < 0 || number > static_cast<int64_t>(checks_.size())) {
    return Internal("the program says that check ", number, " of ", checks_.size(), " has failed");
  }
  const Check& check = checks_[number - 1];
  const Status error = check.error(word.subspan(1, check.num_numbers));
  // The program has kept the old values of its variables, so this must not look like a success.
  return AtNode(error.ok() ? Internal("check ", number, " has failed, but has no error") : error, *check.node);
}

void ErrorWord::FailIf(const Node& node, const Value& condition, std::vector<Value> numbers, CheckError error) {
  checks_.checks_.push_back({&node, numbers.size(), std::move(error)});
  conditions_.push_back({condition, std::move(numbers)});
}

void ErrorWord::FailWhere(const Node& node, const Value& bad, const std::vector<Value>& values, CheckError error) {
  const int64_t elements = bad.shape.num_elements();
  if (elements == 0) return;
  const Shape flat({elements});
  const Value flags = b_.Reshape(bad, flat), places = b_.Iota(DType::kInt64, flat, 0);
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  const Value none = b_.Constant(Tensor::Scalar(kNone)), zero = b_.Constant(Tensor::Scalar(int64_t{0}));
  const auto reduce = [&](const Value& x, const Value& initial, const char* op) {
    return b_.Reduce(x, initial, {0}, [&](const Value& u, const Value& v) { return b_.Binary(op, u, v); });
  };
  const Value first = reduce(b_.Select(flags, places, b_.BroadcastTo(none, flat)), none, "minimum");
  const Value is_first = b_.Compare("EQ", places, b_.BroadcastTo(first, flat));
  std::vector<Value> numbers = {first};
  for (const Value& value : values) {
    const Value wide = b_.Convert(b_.Reshape(value, flat), DType::kInt64);
    numbers.push_back(reduce(b_.Select(is_first, wide, b_.BroadcastTo(zero, flat)), zero, "add"));
  }
  FailIf(node, b_.Compare("NE", first, none), std::move(numbers), std::move(error));
}

Value ErrorWord::Failed() {
  Value failed = conditions_[0].failed;
  for (size_t i = 1; i < conditions_.size(); ++i) failed = b_.Binary("or", failed, conditions_[i].failed);
  return failed;
}

Value ErrorWord::Word() {
  const int64_t size = checks_.word_size();
  Value word = b_.Constant(Tensor::Of<int64_t>({size}, std::vector<int64_t>(size, 0)));
  for (size_t i = conditions_.size(); i-- > 0;) {
    std::vector<Value> parts = {b_.Constant(Tensor::Vector<int64_t>({static_cast<int64_t>(i + 1)}))};
    for (const Value& number : conditions_[i].numbers) parts.push_back(b_.Reshape(number, {1}));
    const int64_t rest = size - static_cast<int64_t>(parts.size());
    if (rest > 0) parts.push_back(b_.Constant(Tensor::Of<int64_t>({rest}, std::vector<int64_t>(rest, 0))));
    word = b_.Select(conditions_[i].failed, b_.Concatenate(parts, 0), word);
  }
  return word;
}

}  // namespace tensorbraid::pjrt
