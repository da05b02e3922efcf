#include "tensorbraid/core/flags.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Each overload parses `text`, stores the value in `*out` and returns true. If `text` is not valid, it returns false
// and describes the accepted values in `*expected`.
bool ParseValue(const std::string& text, std::string* out, std::string*) {
  *out = text;
  return true;
}

bool ParseValue(const std::string& text, std::vector<std::string>* out, std::string*) {
  *out = text.empty() ? std::vector<std::string>() : StrSplit(text, ',');
  return true;
}

bool ParseValue(const std::string& text, bool* out, std::string* expected) {
  std::string word = text;
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  *expected = "true or false";
  if (word == "true" || word == "1" || word == "yes" || word == "on") return *out = true, true;
  if (word == "false" || word == "0" || word == "no" || word == "off") return *out = false, true;
  return false;
}

template <typename T>
bool ParseValue(const std::string& text, T* out, std::string* expected) {
  *expected = std::is_floating_point_v<T> ? "a number" : sizeof(T) == 4 ? "a 32-bit integer" : "a 64-bit integer";
  const char* begin = text.c_str() + (text.size() > 1 && text[0] == '+' ? 1 : 0);
  const char* end = text.c_str() + text.size();
  T value{};
  const auto [last, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || last != end) return false;
  *out = value;
  return true;
}

std::string Show(const std::string& v) { return v; }
std::string Show(const std::vector<std::string>& v) { return StrJoin(v, ","); }
std::string Show(bool v) { return v ? "true" : "false"; }
template <typename T>
std::string Show(T v) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, v).ptr);
}

template <typename T>
constexpr const char* TypeName() {
  if constexpr (std::is_same_v<T, std::string>) return "TEXT";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "A,B,...";
  if constexpr (std::is_same_v<T, bool>) return "";
  if constexpr (std::is_floating_point_v<T>) return "NUMBER";
  return "INT";
}

bool IsFlagName(const std::string& name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

}  // namespace

struct Flags::Impl {
  struct Flag {
    std::string name;
    std::string type;  // of the value, in the help; empty for a boolean, which needs no value
    std::string help;
    std::string group;
    std::optional<std::string> given;  // the last value in the command line
  };

  Flag* Find(std::string_view name) {
    const auto flag = std::find_if(flags.begin(), flags.end(), [name](const Flag& f) { return f.name == name; });
    return flag != flags.end() ? &*flag : nullptr;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Flag& flag : flags) names.push_back(flag.name);
    return names;
  }

  // Reads the argument args[*i], and the next one if it is the value of this flag.
  Status Read(std::span<const char* const> args, size_t* i);

  std::string doc;
  std::string program;
  std::deque<Flag> flags;  // they do not move when a flag is added
  std::vector<std::shared_ptr<void>> kept;
  std::vector<std::function<Status()>> checks;
  std::map<std::string, std::function<double()>> numbers;  // the values of the flags that are numbers
  bool help_requested = false;
  bool parsed = false;
};

Status Flags::Impl::Read(std::span<const char* const> args, size_t* i) {
  const std::string_view word = args[*i];
  const std::string_view flag_word = word.substr(word.starts_with("--") ? 2 : word.starts_with("-") ? 1 : 0);
  if (flag_word.find_first_not_of('-') == std::string_view::npos || flag_word.size() == word.size()) {
    return InvalidArgument("unexpected argument '", word, "'; flags are written --name=value, and the value ",
                           "of a boolean flag must follow '='");
  }
  const size_t equals = flag_word.find('=');
  const std::string name(flag_word.substr(0, equals));
  if (name == "help") {
    help_requested = true;
    return OkStatus();
  }
  if (Flag* const flag = Find(name); flag != nullptr) {
    if (equals != std::string_view::npos) {
      flag->given = flag_word.substr(equals + 1);
    } else if (flag->type.empty()) {
      flag->given = "true";
    } else if (*i + 1 < args.size()) {
      flag->given = args[++*i];
    } else {
      return InvalidArgument("--", name, " needs a value");
    }
    return OkStatus();
  }
  if (name.starts_with("no") && equals == std::string_view::npos) {
    if (Flag* const flag = Find(name.substr(2)); flag != nullptr && flag->type.empty()) {
      flag->given = "false";
      return OkStatus();
    }
  }
  const std::string nearest = NearestWord(name, Names());
  return InvalidArgument(
      "unknown flag --", name,
      nearest.empty() ? std::string("; --help lists the flags") : StrCat("; did you mean --", nearest, "?"));
}

Flags::Flags(std::string doc) : impl_(std::make_unique<Impl>()) { impl_->doc = std::move(doc); }
Flags::~Flags() {
  if (impl_->parsed || impl_->flags.empty()) return;
  TB_LOG(Error, "flags") << "the flags --" << StrJoin(impl_->Names(), ", --")
                         << " were defined but never parsed, so they have their defaults; call ParseOrExit(argc, argv)";
}

void Flags::Keep(std::shared_ptr<void> object) { impl_->kept.push_back(std::move(object)); }
void Flags::AddCheck(std::function<Status()> check) { impl_->checks.push_back(std::move(check)); }
bool Flags::help_requested() const { return impl_->help_requested; }

std::string Flags::Help() const {
  constexpr size_t kHelpColumn = 34;
  std::vector<std::string> groups = {"Flags"};
  std::map<std::string, std::string> lines;
  const auto add = [&](const std::string& flag, const std::string& help, const std::string& group) {
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    const std::string name = StrCat("  --", flag);
    const bool is_short = name.size() < kHelpColumn;
    lines[group] +=
        StrCat(name, is_short ? "" : "\n", std::string(kHelpColumn - (is_short ? name.size() : 0), ' '), help, "\n");
  };
  add("help", "print this help and exit", "Flags");
  for (const Impl::Flag& f : impl_->flags) add(f.type.empty() ? f.name : StrCat(f.name, " ", f.type), f.help, f.group);
  std::string text = StrCat(impl_->doc, "\nUsage: ", impl_->program, impl_->program.empty() ? "" : " ", "[OPTIONS]\n");
  for (const std::string& group : groups) text += StrCat("\n", group, ":\n", lines[group]);
  return text;
}

bool Flags::WasGiven(const std::string& name) const {
  if (!impl_->parsed) {
    TB_LOG(Error, "flags") << "WasGiven(\"" << name << "\") is called before the flags are parsed; call "
                           << "ParseOrExit(argc, argv) first";
  }
  const Impl::Flag* const flag = impl_->Find(name);
  return flag != nullptr && flag->given.has_value();
}

void Flags::AtLeast(const std::string& name, double least) {
  const auto number = impl_->numbers.find(name);
  if (number == impl_->numbers.end()) {
    CheckFailed(__FILE__, __LINE__, "flag name", StrCat("'", name, "' is not a flag with a number"));
  }
  AddCheck([name, least, value = number->second] {
    if (value() >= least) return OkStatus();
    return InvalidArgument("--", name, " must be at least ", Show(least), ", not ", Show(value()));
  });
}

template <typename T>
void Flags::Bind(const std::string& name, T* target, const std::string& help, const std::string& group) {
  if (!IsFlagName(name) || name == "help" || impl_->Find(name) != nullptr) {
    CheckFailed(__FILE__, __LINE__, "flag name", StrCat("'", name, "' is not a valid flag name, or is defined twice"));
  }
  const auto store = [name, target](const std::string& text) -> Status {
    std::string expected;
    if (ParseValue(text, target, &expected)) return OkStatus();
    return InvalidArgument("--", name, " takes ", expected, ", not '", text, "'");
  };
  const std::string shown = Show(*target);
  const std::string text = shown.empty() ? help : StrCat(help, " [", shown, "]");
  impl_->flags.push_back({name, TypeName<T>(), text, group, /*given=*/std::nullopt});
  AddCheck([&flag = impl_->flags.back(), store] { return flag.given.has_value() ? store(*flag.given) : OkStatus(); });
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    impl_->numbers[name] = [target] { return static_cast<double>(*target); };
  }
}

template void Flags::Bind(const std::string&, bool*, const std::string&, const std::string&);
template void Flags::Bind(const std::string&, int*, const std::string&, const std::string&);
template void Flags::Bind(const std::string&, int64_t*, const std::string&, const std::string&);
template void Flags::Bind(const std::string&, float*, const std::string&, const std::string&);
template void Flags::Bind(const std::string&, double*, const std::string&, const std::string&);
template void Flags::Bind(const std::string&, std::string*, const std::string&, const std::string&);
template void Flags::Bind(const std::string&, std::vector<std::string>*, const std::string&, const std::string&);

Status Flags::Parse(int argc, const char* const* argv) {
  impl_->parsed = true;
  const std::span<const char* const> args(argv, static_cast<size_t>(argc));
  if (!args.empty()) impl_->program = std::string(args[0]).substr(std::string(args[0]).rfind('/') + 1);
  Status first_error;
  for (size_t i = 1; i < args.size(); ++i) {
    const Status status = impl_->Read(args, &i);
    if (impl_->help_requested) return OkStatus();
    if (first_error.ok()) first_error = status;
  }
  TF_RETURN_IF_ERROR(first_error);
  for (const auto& check : impl_->checks) TF_RETURN_IF_ERROR(check());
  return OkStatus();
}

void Flags::ParseOrExit(int argc, const char* const* argv) {
  const Status status = Parse(argc, argv);
  if (help_requested()) {
    std::fputs(Help().c_str(), stdout);
    std::exit(0);
  }
  if (!status.ok()) {
    ExitCode(status);
    std::exit(2);
  }
}

}  // namespace tensorbraid
