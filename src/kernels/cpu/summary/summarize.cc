#include "kernels/cpu/summary/summarize.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "absl/strings/escaping.h"
#include "core/text/strings.h"
#include "kernels/cpu/numbers.h"

namespace tensorbraid::cpu {
namespace {

// Writes digits10 digits, or max_digits10 digits if reading the shorter text would give a different number.
template <typename T>
std::string RealText(T v) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", std::numeric_limits<T>::digits10, static_cast<double>(v));
  const T read = std::is_same_v<T, float> ? std::strtof(text, nullptr) : static_cast<T>(std::strtod(text, nullptr));
  if (read != v && v == v) {
    std::snprintf(text, sizeof text, "%.*g", std::numeric_limits<T>::max_digits10, static_cast<double>(v));
  }
  return text;
}

using ElementFn = std::string (*)(const Tensor&, int64_t);

template <typename T>
std::string ElementText(const Tensor& t, int64_t i) {
  const T& v = t.data<T>()[static_cast<size_t>(i)];
  if constexpr (std::is_same_v<T, std::string>) {
    return absl::Utf8SafeCEscape(v);
  } else if constexpr (kIsHalf<T>) {
    return RealText(static_cast<float>(v));
  } else if constexpr (std::is_floating_point_v<T>) {
    return RealText(v);
  } else {
    return std::to_string(v);
  }
}

std::string NoText(const Tensor&, int64_t) { return "?"; }
std::string QuotedText(const Tensor& t, int64_t i) { return StrCat("\"", ElementText<std::string>(t, i), "\""); }

ElementFn ElementFor(DType dtype) {
  ElementFn fn = NoText;
  ForEachType<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
              uint64_t, bool, std::string>([&]<typename T>() {
    if (DTypeOf<T>::value == StorageType(dtype)) fn = ElementText<T>;
  });
  return fn;
}

// Builds the text of SummarizeElements.
class Elements {
 public:
  Elements(const Tensor& t, int64_t limit) : t_(t), element_(ElementFor(t.dtype())), limit_(limit) {}

  std::string Text() {
    if (t_.shape().rank() == 0) return limit_ > 0 ? element_(t_, 0) : "...";
    Dimension(0);
    if (t_.num_elements() > limit_) text_ += "...";
    return std::move(text_);
  }

 private:
  void Dimension(int d) {
    if (next_ >= limit_) return;
    const bool last = d == t_.shape().rank() - 1;
    for (int64_t i = 0; i < t_.shape().dim(d); ++i) {
      if (next_ >= limit_) {
        if (last && d != 0) text_ += "...";
        return;
      }
      if (last) {
        if (i > 0) text_ += " ";
        text_ += element_(t_, next_++);
      } else {
        text_ += "[";
        Dimension(d + 1);
        text_ += "]";
      }
    }
  }

  const Tensor& t_;
  const ElementFn element_;
  const int64_t limit_;
  int64_t next_ = 0;
  std::string text_;
};

// Builds the text of SummarizeEdges.
class Edges {
 public:
  Edges(const Tensor& t, int64_t edge)
      : t_(t), element_(t.dtype() == kString ? QuotedText : ElementFor(t.dtype())), edge_(edge) {}

  std::string Text() {
    Dimension(0, 0);
    return std::move(text_);
  }

 private:
  // Appends dimension `d` of the part of the tensor selected by `row`, the row-major index in the dimensions before
  // `d`.
  void Dimension(int d, int64_t row) {
    const Shape& shape = t_.shape();
    if (d == shape.rank()) {
      text_ += element_(t_, row);
      return;
    }
    const int64_t size = shape.dim(d);
    text_ += "[";
    for (int64_t i = 0; i < std::min(edge_, size); ++i) {
      if (i > 0) Separate(d);
      Dimension(d + 1, row * size + i);
    }
    if (size > edge_ && size - edge_ > edge_) {
      Separate(d);
      text_ += "...";
    }
    for (int64_t i = std::max(edge_, size - edge_); i < size; ++i) {
      Separate(d);
      Dimension(d + 1, row * size + i);
    }
    text_ += "]";
  }
  void Separate(int d) {
    const int inner = t_.shape().rank() - 1 - d;
    text_.append(static_cast<size_t>(inner), '\n');
    text_.append(inner == 0 ? 1 : static_cast<size_t>(d) + 1, ' ');
  }

  const Tensor& t_;
  const ElementFn element_;
  const int64_t edge_;
  std::string text_;
};

}  // namespace

std::string SummarizeElements(const Tensor& tensor, int64_t max_elements) {
  const int64_t all = tensor.num_elements();
  return Elements(tensor, max_elements < 0 ? all : std::min(max_elements, all)).Text();
}

std::string SummarizeEdges(const Tensor& tensor, int64_t edge) {
  const int64_t all = tensor.num_elements();
  return Edges(tensor, edge < 0 ? all : std::min(edge, all)).Text();
}

}  // namespace tensorbraid::cpu
