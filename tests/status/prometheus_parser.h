// Reads Prometheus's text format (version 0.0.4), and refuses everything that the format does not allow.
#ifndef TENSORBRAID_TESTS_STATUS_PROMETHEUS_PARSER_H_
#define TENSORBRAID_TESTS_STATUS_PROMETHEUS_PARSER_H_

#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {

struct PrometheusFamily {
  std::string type;
  std::string help;
  std::map<std::map<std::string, std::string>, double> samples;  // by labels
};
using PrometheusMetrics = std::map<std::string, PrometheusFamily>;

// Every family must have one HELP and one TYPE line, in this order, followed by all its samples, each once. The only
// types are counter, whose name must end in _total and whose values must not be negative, and gauge.
class PrometheusParser {
 public:
  static StatusOr<PrometheusMetrics> Parse(const std::string& text) {
    PrometheusParser parser;
    if (!text.empty() && text.back() != '\n') return InvalidArgument("the last line has no line feed");
    for (const std::string& line : StrSplit(text, '\n')) {
      const Status status = line.empty() ? OkStatus() : parser.ParseLine(line);
      if (!status.ok()) return Annotate(status, line);
    }
    for (const auto& [name, family] : parser.metrics_) {
      if (family.samples.empty()) return InvalidArgument("family ", name, " has no sample");
    }
    return std::move(parser.metrics_);
  }

 private:
  Status ParseLine(const std::string& line) {
    line_ = line;
    at_ = 0;
    if (Take("# HELP ")) {
      TF_ASSIGN_OR_RETURN(current_, Name(":"));
      if (!Take(" ")) return InvalidArgument("HELP has no text");
      if (metrics_.contains(current_)) return InvalidArgument("a family appears twice");
      metrics_[current_].help = line_.substr(at_);
      return OkStatus();
    }
    if (Take("# TYPE ")) {
      TF_ASSIGN_OR_RETURN(const std::string name, Name(":"));
      if (name != current_ || !metrics_[name].type.empty()) return InvalidArgument("TYPE must follow HELP, once");
      if (!Take(" ")) return InvalidArgument("TYPE has no type");
      const std::string type = line_.substr(at_);
      if (type != "counter" && type != "gauge") return InvalidArgument("unexpected type");
      if (type == "counter" && !name.ends_with("_total")) return InvalidArgument("a counter must end in _total");
      metrics_[name].type = type;
      return OkStatus();
    }
    if (line[0] == '#') return InvalidArgument("unexpected comment");
    return Sample();
  }

  Status Sample() {
    TF_ASSIGN_OR_RETURN(const std::string name, Name(":"));
    if (name != current_ || metrics_[name].type.empty())
      return InvalidArgument("a sample must follow its HELP and TYPE");
    std::map<std::string, std::string> labels;
    if (Take("{")) {
      while (true) {
        TF_ASSIGN_OR_RETURN(const std::string label, Name(""));
        if (label.starts_with("__")) return InvalidArgument("labels with two underscores are reserved");
        if (!Take("=\"")) return InvalidArgument("a label has no value");
        TF_ASSIGN_OR_RETURN(std::string value, Quoted());
        if (!labels.emplace(label, std::move(value)).second) return InvalidArgument("a label appears twice");
        if (Take("}")) break;
        if (!Take(",")) return InvalidArgument("expected ',' or '}' after a label");
      }
    }
    if (!Take(" ")) return InvalidArgument("expected a space before the value");
    const std::string number = line_.substr(at_);
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || std::isspace(static_cast<unsigned char>(number[0])) != 0) {
      return InvalidArgument("the value is not a number, or something follows it");
    }
    PrometheusFamily& family = metrics_[name];
    if (family.type == "counter" && !(value >= 0)) return InvalidArgument("a counter is negative");
    if (!family.samples.emplace(std::move(labels), value).second) return InvalidArgument("a sample appears twice");
    return OkStatus();
  }

  bool Take(const std::string& text) {
    if (line_.compare(at_, text.size(), text) != 0) return false;
    at_ += text.size();
    return true;
  }
  // Reads a name. Besides letters, digits and underscores, it may have the characters in `more`.
  StatusOr<std::string> Name(const std::string& more) {
    const size_t begin = at_;
    const auto fits = [&](char c) {
      return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || more.find(c) != std::string::npos ||
             (at_ > begin && std::isdigit(static_cast<unsigned char>(c)) != 0);
    };
    while (at_ < line_.size() && fits(line_[at_])) ++at_;
    if (at_ == begin) return InvalidArgument("expected a name at offset ", begin);
    return line_.substr(begin, at_ - begin);
  }
  StatusOr<std::string> Quoted() {
    std::string value;
    for (; at_ < line_.size(); ++at_) {
      if (line_[at_] == '"') {
        ++at_;
        return value;
      }
      if (line_[at_] == '\\') {
        if (++at_ == line_.size()) break;
        const char c = line_[at_];
        if (c != '\\' && c != '"' && c != 'n') return InvalidArgument("unknown escape in a label");
        value += c == 'n' ? '\n' : c;
      } else {
        value += line_[at_];
      }
    }
    return InvalidArgument("a label's value does not end");
  }

  PrometheusMetrics metrics_;
  std::string current_;
  std::string line_;
  size_t at_ = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_STATUS_PROMETHEUS_PARSER_H_
