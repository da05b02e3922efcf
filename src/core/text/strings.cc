#include "core/text/strings.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <numeric>

namespace tensorbraid {

namespace internal {

void Piece::AppendTo(std::string* out) const {
  const auto append_number = [out](auto v) {
    char digits[24];
    out->append(digits, std::to_chars(std::begin(digits), std::end(digits), v).ptr);
  };
  switch (kind_) {
    case Kind::kText:
      out->append(text_, size_);
      break;
    case Kind::kTerminated:
      if (text_ != nullptr) out->append(text_);
      break;
    case Kind::kSigned:
      append_number(signed_);
      break;
    case Kind::kUnsigned:
      append_number(unsigned_);
      break;
    case Kind::kDouble:
      absl::StrAppend(out, double_);
      break;
    case Kind::kDType:
      out->append(DTypeName(dtype_));
      break;
    case Kind::kShape:
      out->append(shape_->ToString());
      break;
  }
}

std::string Join(std::initializer_list<Piece> pieces) {
  std::string joined;
  for (const Piece& piece : pieces) piece.AppendTo(&joined);
  return joined;
}

Status ErrorOf(absl::StatusCode code, std::initializer_list<Piece> pieces) {
  const std::string message = Join(pieces);
  return Status(code, message);
}

}  // namespace internal

std::string StrJoin(const std::vector<std::string>& parts, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    joined += parts[i];
  }
  return joined;
}

std::vector<std::string> StrSplit(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

namespace {
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}
}  // namespace

std::string NearestWord(std::string_view word, const std::vector<std::string>& candidates) {
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  std::string best;
  for (const std::string& c : candidates) {
    const size_t d = EditDistance(word, c);
    if (d < best_distance) {
      best_distance = d;
      best = c;
    }
  }
  return best;
}

}  // namespace tensorbraid
