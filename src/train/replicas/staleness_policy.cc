// Checks a StalenessPolicy, and reads it from the text of a flag.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text/strings.h"
#include "tensorbraid/optimizers/async_replicas.h"

namespace tensorbraid {
namespace {

const std::vector<std::string>& Fields() {
  static const std::vector<std::string> fields = {"max_age",  "gradient_decay",   "rate_decay",    "delay_compensation",
                                                  "max_lead", "batches_per_push", "warm_up_steps", "lost_after"};
  return fields;
}

template <typename T>
Status Read(const std::string& field, const std::string& text, T* value) {
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, *value);
  if (error == std::errc() && read == end && !text.empty()) return OkStatus();
  return InvalidArgument("'", field, "=", text, "' is not ", std::is_integral_v<T> ? "a whole number" : "a number");
}

// Reads the numbers of batches per push: "4", or "0:1/1000:4" for 1 from step 0 on and 4 from step 1000 on.
Status ReadSchedule(const std::string& field, const std::string& text, std::map<int64_t, int>* schedule) {
  schedule->clear();
  for (const std::string& part : StrSplit(text, '/')) {
    const size_t colon = part.find(':');
    int64_t step = 0;
    int batches = 0;
    if (colon != std::string::npos) TF_RETURN_IF_ERROR(Read(field, part.substr(0, colon), &step));
    TF_RETURN_IF_ERROR(Read(field, colon == std::string::npos ? part : part.substr(colon + 1), &batches));
    if (!schedule->emplace(step, batches).second) {
      return InvalidArgument("'", field, "=", text, "' gives two numbers for step ", step);
    }
  }
  return OkStatus();
}

}  // namespace

Status StalenessPolicy::Check() const {
  if (max_age && *max_age < 0) return InvalidArgument("max_age must not be negative, got ", *max_age);
  if (max_lead && *max_lead < 0) return InvalidArgument("max_lead must not be negative, got ", *max_lead);
  for (const auto& [name, value] : {std::pair{"gradient_decay", gradient_decay}, std::pair{"rate_decay", rate_decay},
                                    std::pair{"delay_compensation", delay_compensation}}) {
    if (!(value >= 0) || !std::isfinite(value)) {
      return InvalidArgument(name, " must be a finite number and not negative, got ", value);
    }
  }
  if (!batches_per_push.contains(0)) {
    return InvalidArgument("batches_per_push must say how many batches a push has from step 0 on");
  }
  bool accumulates = false;
  for (const auto& [step, batches] : batches_per_push) {
    if (step < 0 || batches < 1) {
      return InvalidArgument("batches_per_push must be at least 1 from a step that is not negative, got ", batches,
                             " from step ", step);
    }
    accumulates = accumulates || batches > 1;
  }
  if (accumulates && delay_compensation > 0) {
    return InvalidArgument(
        "delay_compensation needs the one value that the gradient was computed from, so it cannot be "
        "combined with batches_per_push above 1");
  }
  if (warm_up_steps < 0) return InvalidArgument("warm_up_steps must not be negative, got ", warm_up_steps);
  if (lost_after <= std::chrono::milliseconds(0)) return InvalidArgument("lost_after must be positive");
  return OkStatus();
}

StatusOr<StalenessPolicy> StalenessPolicy::Parse(const std::string& text) {
  StalenessPolicy policy;
  if (text.empty()) return policy;
  for (const std::string& part : StrSplit(text, ',')) {
    const size_t equals = part.find('=');
    const std::string field = part.substr(0, equals);
    if (equals == std::string::npos || std::find(Fields().begin(), Fields().end(), field) == Fields().end()) {
      const std::string near = NearestWord(field, Fields());
      return InvalidArgument("'", part, "' is no part of a staleness policy; expected ", FlagHelp(),
                             near.empty() || near == field ? "" : StrCat(" (did you mean '", near, "'?)"));
    }
    const std::string value = part.substr(equals + 1);
    const auto read = [&](auto* into) { return Read(field, value, into); };
    if (field == "max_age") {
      TF_RETURN_IF_ERROR(read(&policy.max_age.emplace()));
    } else if (field == "max_lead") {
      TF_RETURN_IF_ERROR(read(&policy.max_lead.emplace()));
    } else if (field == "gradient_decay") {
      TF_RETURN_IF_ERROR(read(&policy.gradient_decay));
    } else if (field == "rate_decay") {
      TF_RETURN_IF_ERROR(read(&policy.rate_decay));
    } else if (field == "delay_compensation") {
      TF_RETURN_IF_ERROR(read(&policy.delay_compensation));
    } else if (field == "batches_per_push") {
      TF_RETURN_IF_ERROR(ReadSchedule(field, value, &policy.batches_per_push));
    } else if (field == "warm_up_steps") {
      TF_RETURN_IF_ERROR(read(&policy.warm_up_steps));
    } else {
      double seconds = 0;
      TF_RETURN_IF_ERROR(read(&seconds));
      // The bound, a year, keeps the conversion exact.
      if (!(seconds > 0) || seconds > 365 * 86400.0) {
        return InvalidArgument("lost_after must be a positive number of seconds, at most a year, got ", value);
      }
      policy.lost_after = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
    }
  }
  TF_RETURN_IF_ERROR(policy.Check());
  return policy;
}

std::string StalenessPolicy::FlagHelp() {
  return "any of max_age=A (drop older gradients), gradient_decay=D and rate_decay=D (weight, or learning rate, / "
         "(1 + D * age)), delay_compensation=L (DC-ASGD), max_lead=S (wait for workers that are more than S steps "
         "behind), "
         "batches_per_push=K or 0:1/1000:K (from step 1000 on), warm_up_steps=N (worker 0 alone), lost_after=SECONDS, "
         "separated by commas";
}

}  // namespace tensorbraid
