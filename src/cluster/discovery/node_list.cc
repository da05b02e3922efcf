#include "cluster/discovery/node_list.h"

#include <charconv>
#include <cstdint>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constexpr size_t kMostNodes = 100'000;

// Expands a list without looking at its length; `list` is the whole list, for errors.
class NodeListParser {
 public:
  explicit NodeListParser(std::string_view list) : list_(list) {}

  StatusOr<std::vector<std::string>> Run() {
    std::vector<std::string> nodes;
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i <= list_.size(); ++i) {
      const char c = i < list_.size() ? list_[i] : ',';
      if (c == '[') ++depth;
      if (c == ']') --depth;
      if (depth < 0 || depth > 1 || (i == list_.size() && depth != 0)) return Wrong("brackets do not match");
      if (c != ',' || depth != 0) continue;
      if (i == begin) return Wrong("a name is empty");
      TF_RETURN_IF_ERROR(Expand("", list_.substr(begin, i - begin), &nodes));
      begin = i + 1;
    }
    return nodes;
  }

 private:
  Status Wrong(std::string_view why) const { return InvalidArgument("not a list of nodes: '", list_, "': ", why); }

  // Appends `prefix` followed by each expansion of `pattern`.
  Status Expand(const std::string& prefix, std::string_view pattern, std::vector<std::string>* nodes) const {
    const size_t open = pattern.find('[');
    if (open == std::string_view::npos) {
      if (nodes->size() == kMostNodes) return Wrong(StrCat("more than ", kMostNodes, " names"));
      nodes->push_back(StrCat(prefix, pattern));
      return OkStatus();
    }
    const size_t close = pattern.find(']', open);
    const std::string_view ranges = pattern.substr(open + 1, close - open - 1);
    for (const std::string& range : StrSplit(ranges, ',')) {
      const size_t dash = range.find('-');
      const std::string first = range.substr(0, dash);
      const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
      uint64_t from = 0, to = 0;
      if (!ParseDigits(first, &from) || !ParseDigits(last, &to) || from > to) {
        return Wrong(StrCat("'", range, "' is not a range of numbers"));
      }
      for (uint64_t n = from; n <= to; ++n) {
        std::string digits = std::to_string(n);
        if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
        TF_RETURN_IF_ERROR(Expand(StrCat(prefix, pattern.substr(0, open), digits), pattern.substr(close + 1), nodes));
      }
    }
    return OkStatus();
  }

  static bool ParseDigits(const std::string& text, uint64_t* number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    return error == std::errc() && end == text.data() + text.size() && text.size() <= 12;
  }

  const std::string_view list_;
};

}  // namespace

StatusOr<std::vector<std::string>> ExpandNodeList(std::string_view list) { return NodeListParser(list).Run(); }

}  // namespace tensorbraid
