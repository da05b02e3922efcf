// Joins and splits text, and makes errors from text. In Debian's build of Abseil, absl::string_view is another type
// than std::string_view; StrCat accepts both.
#ifndef TENSORBRAID_CORE_TEXT_STRINGS_H_
#define TENSORBRAID_CORE_TEXT_STRINGS_H_

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

namespace internal {

// An argument of StrCat, as a small value that refers to the argument. Thousands of calls make the text of errors that
// hardly ever occur. So a call only writes its pieces into an array, and one function makes the text.
class Piece {
 public:
  explicit Piece(const char* v) : kind_(Kind::kTerminated), text_(v) {}
  explicit Piece(std::string_view v) : kind_(Kind::kText), size_(v.size()), text_(v.data()) {}
  explicit Piece(const std::string& v) : kind_(Kind::kText), size_(v.size()), text_(v.data()) {}
  explicit Piece(std::signed_integral auto v) : kind_(Kind::kSigned), signed_(v) {}
  explicit Piece(std::unsigned_integral auto v) : kind_(Kind::kUnsigned), unsigned_(v) {}
  explicit Piece(std::floating_point auto v) : kind_(Kind::kDouble), double_(v) {}
  explicit Piece(DType v) : kind_(Kind::kDType), dtype_(v) {}
  explicit Piece(const Shape& v) : kind_(Kind::kShape), shape_(&v) {}
  explicit Piece(std::same_as<char> auto) = delete;  // the text or the number?
  // Everything else that absl::StrCat accepts, such as absl::Hex.
  explicit Piece(const absl::AlphaNum& v) : kind_(Kind::kText), size_(v.size()), text_(v.data()) {}

  void AppendTo(std::string* out) const;

 private:
  enum class Kind { kText, kTerminated, kSigned, kUnsigned, kDouble, kDType, kShape };
  Kind kind_;
  size_t size_ = 0;  // of a text
  union {
    const char* text_;
    int64_t signed_;
    uint64_t unsigned_;
    double double_;
    DType dtype_;
    const Shape* shape_;
  };
};

std::string Join(std::initializer_list<Piece> pieces);
Status ErrorOf(absl::StatusCode code, std::initializer_list<Piece> pieces);

}  // namespace internal

// The arguments' texts, one after another: of text, numbers (six digits of those with a fraction), dtypes, shapes, and
// what absl::StrCat accepts. Inlined always, since nearly every call has arguments of other types than all other calls.
template <typename... Args>
[[gnu::always_inline]] inline std::string StrCat(const Args&... args) {
  return internal::Join({internal::Piece(args)...});
}

std::string StrJoin(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> StrSplit(std::string_view text, char separator);
// The candidate nearest to `word` in edit distance, or "" if none is so near that `word` is likely a typing mistake.
std::string NearestWord(std::string_view word, const std::vector<std::string>& candidates);

// Errors with the text that StrCat makes of the arguments.
template <typename... Args>
[[gnu::always_inline]] inline Status InvalidArgument(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kInvalidArgument, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status FailedPrecondition(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kFailedPrecondition, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status NotFound(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kNotFound, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status AlreadyExists(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kAlreadyExists, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status Internal(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kInternal, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status Unavailable(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kUnavailable, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status Aborted(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kAborted, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status Cancelled(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kCancelled, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status Unimplemented(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kUnimplemented, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status DataLoss(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kDataLoss, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status DeadlineExceeded(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kDeadlineExceeded, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status OutOfRange(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kOutOfRange, {internal::Piece(args)...});
}
template <typename... Args>
[[gnu::always_inline]] inline Status ResourceExhausted(const Args&... args) {
  return internal::ErrorOf(absl::StatusCode::kResourceExhausted, {internal::Piece(args)...});
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_STRINGS_H_
