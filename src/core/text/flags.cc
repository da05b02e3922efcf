#include "tensorbraid/core/flags.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "CLI/CLI.hpp"
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
  if constexpr (std::is_floating_point_v<T>) return "NUMBER";
  return "INT";
}

bool IsFlagName(const std::string& name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

}  // namespace

struct Flags::Impl {
  explicit Impl(const std::string& doc) : app(doc) {
    app.set_help_flag("--help", "print this help and exit");
    app.get_option("--help")->group("Flags");
    app.allow_extras();
    app.get_formatter()->column_width(34);
  }

  const CLI::Option* Find(const std::string& name) const { return app.get_option_no_throw("--" + name); }

  // Appends the argument `word` to `words` in the form that CLI11 expects: one dash becomes two, --noflag becomes
  // --flag=false, and "--flag=" becomes the flag and an empty value. A word that names no flag stays as it is, because
  // it may be a value that begins with a dash. Returns whether the next argument is the value of this flag.
  bool Translate(const std::string& word, std::vector<std::string>* words) const {
    const size_t dashes = word.starts_with("--") ? 2 : word.starts_with("-") ? 1 : 0;
    const size_t equals = word.find('=');
    const std::string name = word.substr(dashes, equals - dashes);
    const CLI::Option* option = dashes > 0 ? Find(name) : nullptr;
    if (option != nullptr && equals == word.size() - 1) {
      words->push_back("--" + name);
      words->push_back("");
    } else if (option != nullptr) {
      words->push_back("--" + word.substr(dashes));
      return equals == std::string::npos && option->get_items_expected_max() > 0;
    } else if (const CLI::Option* positive = dashes > 0 && name.starts_with("no") ? Find(name.substr(2)) : nullptr;
               positive != nullptr && positive->get_items_expected_max() == 0 && equals == std::string::npos) {
      words->push_back("--" + name.substr(2) + "=false");
    } else {
      words->push_back(word);
    }
    return false;
  }

  CLI::App app;
  std::vector<std::string> names;
  std::vector<std::shared_ptr<void>> kept;
  std::vector<std::function<Status()>> checks;
  std::map<std::string, std::function<double()>> numbers;  // the values of the flags that are numbers
  bool help_requested = false;
  bool parsed = false;
};

Flags::Flags(std::string doc) : impl_(std::make_unique<Impl>(doc)) {}
Flags::~Flags() {
  if (impl_->parsed || impl_->names.empty()) return;
  TB_LOG(Error, "flags") << "the flags --" << StrJoin(impl_->names, ", --")
                         << " were defined but never parsed, so they have their defaults; call ParseOrExit(argc, argv)";
}

void Flags::Keep(std::shared_ptr<void> object) { impl_->kept.push_back(std::move(object)); }
void Flags::AddCheck(std::function<Status()> check) { impl_->checks.push_back(std::move(check)); }
bool Flags::help_requested() const { return impl_->help_requested; }
std::string Flags::Help() const { return impl_->app.help(); }

bool Flags::WasGiven(const std::string& name) const {
  if (!impl_->parsed) {
    TB_LOG(Error, "flags") << "WasGiven(\"" << name << "\") is called before the flags are parsed; call "
                           << "ParseOrExit(argc, argv) first";
  }
  const CLI::Option* option = impl_->Find(name);
  return option != nullptr && option->count() > 0;
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
  if (!IsFlagName(name) || impl_->Find(name) != nullptr) {
    CheckFailed(__FILE__, __LINE__, "flag name", StrCat("'", name, "' is not a valid flag name, or is defined twice"));
  }
  const auto store = [name, target](const std::string& text) -> Status {
    std::string expected;
    if (ParseValue(text, target, &expected)) return OkStatus();
    return InvalidArgument("--", name, " takes ", expected, ", not '", text, "'");
  };
  const std::string shown = Show(*target);
  const std::string text = shown.empty() ? help : StrCat(help, " [", shown, "]");
  // CLI11 only collects the texts. Parse converts them to values, so that the error messages are our own.
  auto given = std::make_shared<std::string>();
  CLI::Option* option;
  if constexpr (std::is_same_v<T, bool>) {
    option = impl_->app.add_flag("--" + name, *given, text);
  } else {
    option = impl_->app.add_option("--" + name, *given, text)->type_name(TypeName<T>())->expected(1);
  }
  AddCheck([option, given, store] { return option->count() > 0 ? store(*given) : OkStatus(); });
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    impl_->numbers[name] = [target] { return static_cast<double>(*target); };
  }
  option->group(group)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  impl_->names.push_back(name);
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
  std::vector<std::string> words;
  bool is_value = false;
  for (int i = 1; i < argc; ++i) {
    if (is_value) {
      words.push_back(argv[i]);
      is_value = false;
    } else {
      is_value = impl_->Translate(argv[i], &words);
    }
  }
  std::reverse(words.begin(), words.end());  // CLI11 expects the last argument first
  if (argc > 0) impl_->app.name(std::string(argv[0]).substr(std::string(argv[0]).rfind('/') + 1));
  try {
    impl_->app.parse(words);
  } catch (const CLI::CallForHelp&) {
    impl_->help_requested = true;
    return OkStatus();
  } catch (const CLI::ParseError& e) {
    return InvalidArgument(e.what());
  }
  const std::vector<std::string> unknown = impl_->app.remaining();
  if (!unknown.empty()) {
    const std::string& word = unknown.front();
    const size_t dashes = word.find_first_not_of('-');
    if (word[0] != '-' || dashes == std::string::npos) {
      return InvalidArgument("unexpected argument '", word, "'; flags are written --name=value, and the value ",
                             "of a boolean flag must follow '='");
    }
    const std::string name = word.substr(dashes, word.find('=') - dashes);
    const std::string nearest = NearestWord(name, impl_->names);
    return InvalidArgument(
        "unknown flag --", name,
        nearest.empty() ? std::string("; --help lists the flags") : StrCat("; did you mean --", nearest, "?"));
  }
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
