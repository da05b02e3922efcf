#include "proto_mutator.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace tensorbraid {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int64_t kNumbers[] = {0,
                                1,
                                2,
                                3,
                                4,
                                5,
                                7,
                                10,
                                14,
                                19,
                                21,
                                64,
                                255,
                                1 << 16,
                                (1LL << 31) - 1,
                                1LL << 31,
                                1LL << 33,
                                1LL << 62,
                                std::numeric_limits<int64_t>::max(),
                                -1,
                                -2,
                                -128,
                                -(1LL << 31),
                                std::numeric_limits<int64_t>::min()};
constexpr double kReals[] = {0.0,   -0.0,  1.0,   -1.0,     0.5,       1e-40, 1e38,
                             -1e38, 1e300, 65536, INFINITY, -INFINITY, NAN,   2147483648.0};

// A field that may be changed, and the message that contains it.
struct Place {
  Message* message;
  const FieldDescriptor* field;
};

void Collect(Message* message, std::vector<Place>* places, std::vector<std::string>* texts, int depth) {
  const Reflection& r = *message->GetReflection();
  for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* f = message->GetDescriptor()->field(i);
    const bool present = f->is_repeated() ? r.FieldSize(*message, f) > 0 : r.HasField(*message, f);
    // Skip absent fields, except numbers and texts, which have a default value.
    if (present || (!f->is_repeated() && f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE &&
                    f->real_containing_oneof() == nullptr)) {
      places->push_back({message, f});
    }
    if (!present || depth == 0) continue;
    if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      if (!f->is_repeated()) texts->push_back(r.GetString(*message, f));
      for (int k = 0; f->is_repeated() && k < r.FieldSize(*message, f); ++k) {
        texts->push_back(r.GetRepeatedString(*message, f, k));
      }
    }
    if (f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!f->is_repeated()) Collect(r.MutableMessage(message, f), places, texts, depth - 1);
    for (int k = 0; f->is_repeated() && k < r.FieldSize(*message, f); ++k) {
      Collect(r.MutableRepeatedMessage(message, f, k), places, texts, depth - 1);
    }
  }
}

class Change {
 public:
  Change(const std::vector<std::string>& texts, std::mt19937& random) : texts_(texts), random_(random) {}

  void Apply(const Place& place) {
    Message* m = place.message;
    const FieldDescriptor* f = place.field;
    const Reflection& r = *m->GetReflection();
    if (!f->is_repeated()) return SetOne(m, f);
    const int size = r.FieldSize(*m, f);
    const int at = size == 0 ? 0 : static_cast<int>(Below(size));
    switch (Below(f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE ? 3 : 6)) {
      case 0:
        if (size == 0) return;
        r.SwapElements(m, f, at, size - 1);
        return r.RemoveLast(m, f);
      case 1:
        return Append(m, f, size, at);
      case 2:
        if (size > 0) r.SwapElements(m, f, at, static_cast<int>(Below(size)));
        return;
      default:
        if (size > 0) SetElement(m, f, at);
    }
  }

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }
  int64_t Number(int64_t old) {
    switch (Below(4)) {
      case 0:
        return static_cast<int64_t>(static_cast<uint64_t>(old) + 1);  // unsigned: the largest number wraps around
      case 1:
        return static_cast<int64_t>(static_cast<uint64_t>(old) - 1);
      case 2:
        return static_cast<int64_t>(Below(24));
      default:
        return kNumbers[Below(std::size(kNumbers))];
    }
  }
  double Real() { return kReals[Below(std::size(kReals))]; }
  std::string Text(std::string old) {
    if (Below(4) != 0 || old.empty()) return texts_[Below(texts_.size())];
    // Changes the bytes of a tensor, or makes a name that is nearly right.
    const size_t at = Below(old.size());
    if (Below(2) == 0) return old.substr(0, at);
    old[at] = static_cast<char>(Below(3) == 0 ? Below(128) : old[at] ^ (1 << Below(7)));
    return old;
  }

  void SetOne(Message* m, const FieldDescriptor* f) {
    const Reflection& r = *m->GetReflection();
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return r.SetInt32(m, f, static_cast<int32_t>(Number(r.GetInt32(*m, f))));
      case FieldDescriptor::CPPTYPE_INT64:
        return r.SetInt64(m, f, Number(r.GetInt64(*m, f)));
      case FieldDescriptor::CPPTYPE_UINT32:
        return r.SetUInt32(m, f, static_cast<uint32_t>(Number(r.GetUInt32(*m, f))));
      case FieldDescriptor::CPPTYPE_UINT64:
        return r.SetUInt64(m, f, static_cast<uint64_t>(Number(static_cast<int64_t>(r.GetUInt64(*m, f)))));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r.SetFloat(m, f, static_cast<float>(Real()));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return r.SetDouble(m, f, Real());
      case FieldDescriptor::CPPTYPE_BOOL:
        return r.SetBool(m, f, !r.GetBool(*m, f));
      case FieldDescriptor::CPPTYPE_STRING:
        return r.SetString(m, f, Text(r.GetString(*m, f)));
      default:
        if (Below(4) == 0) r.ClearField(m, f);
    }
  }

  void SetElement(Message* m, const FieldDescriptor* f, int at) {
    const Reflection& r = *m->GetReflection();
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return r.SetRepeatedInt32(m, f, at, static_cast<int32_t>(Number(r.GetRepeatedInt32(*m, f, at))));
      case FieldDescriptor::CPPTYPE_INT64:
        return r.SetRepeatedInt64(m, f, at, Number(r.GetRepeatedInt64(*m, f, at)));
      case FieldDescriptor::CPPTYPE_UINT32:
        return r.SetRepeatedUInt32(m, f, at, static_cast<uint32_t>(Number(r.GetRepeatedUInt32(*m, f, at))));
      case FieldDescriptor::CPPTYPE_UINT64:
        return r.SetRepeatedUInt64(m, f, at, static_cast<uint64_t>(Number(0)));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r.SetRepeatedFloat(m, f, at, static_cast<float>(Real()));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return r.SetRepeatedDouble(m, f, at, Real());
      case FieldDescriptor::CPPTYPE_BOOL:
        return r.SetRepeatedBool(m, f, at, !r.GetRepeatedBool(*m, f, at));
      case FieldDescriptor::CPPTYPE_STRING:
        return r.SetRepeatedString(m, f, at, Text(r.GetRepeatedString(*m, f, at)));
      default:
        return;
    }
  }

  void Append(Message* m, const FieldDescriptor* f, int size, int at) {
    const Reflection& r = *m->GetReflection();
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return r.AddInt32(m, f, static_cast<int32_t>(Number(0)));
      case FieldDescriptor::CPPTYPE_INT64:
        return r.AddInt64(m, f, Number(0));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r.AddFloat(m, f, static_cast<float>(Real()));
      case FieldDescriptor::CPPTYPE_STRING:
        return r.AddString(m, f, texts_[Below(texts_.size())]);
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (size == 0 || f->is_map()) return;
        return r.AddMessage(m, f)->CopyFrom(r.GetRepeatedMessage(*m, f, at));
      default:
        return;
    }
  }

  const std::vector<std::string>& texts_;
  std::mt19937& random_;
};

}  // namespace

void MutateMessage(Message* message, std::mt19937& random) {
  constexpr int kMaxDepth = 16;
  std::vector<Place> places;
  std::vector<std::string> texts = {"", "x", "^x", "x:1"};
  Collect(message, &places, &texts, kMaxDepth);
  if (!places.empty()) Change(texts, random).Apply(places[random() % places.size()]);
}

}  // namespace tensorbraid
