#include "transport/codec.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "core/text/strings.h"
#include "transport/wire.pb.h"

namespace tensorbraid {
namespace {

static_assert(std::endian::native == std::endian::little, "lengths and tensors are sent in native byte order");

constexpr int kMaxRank = 254;  // as in TensorFlow

// The arena in which a thread builds and parses headers. Each header reuses its memory, so the messages of a step
// allocate nothing. The memory is on the heap: a program that loads the library at run time, as Python does, has little
// room for the library's thread-local variables.
class Scratch {
 public:
  Scratch() : arena_(Options(block_.get())) {}
  static google::protobuf::Arena& ThisThread() {
    static thread_local Scratch scratch;
    scratch.arena_.Reset();
    return scratch.arena_;
  }

 private:
  static constexpr size_t kSize = 4096;
  static google::protobuf::ArenaOptions Options(char* block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block;
    options.initial_block_size = kSize;
    return options;
  }
  const std::unique_ptr<char[]> block_ = std::make_unique<char[]>(kSize);  // outlives the arena
  google::protobuf::Arena arena_;
};

template <typename T>
T* NewOnArena() {
  return google::protobuf::Arena::CreateMessage<T>(&Scratch::ThisThread());
}

// --- To wire.proto.

void Put(const Status& from, proto::Status* to) {
  to->set_code(static_cast<int32_t>(from.code()));
  if (from.ok()) return;
  to->set_message(std::string(from.message()));
  from.ForEachPayload([to](absl::string_view url, const absl::Cord& value) {
    auto* payload = to->add_payload();
    payload->set_type_url(std::string(url));
    payload->set_value(std::string(value));
  });
}

template <typename Id>  // StepId or SessionId
void Put(const Id& from, proto::MasterId* to) {
  to->set_master(from.master);
  to->set_counter(from.counter);
}

void Put(const TensorKey& from, proto::TensorKey* to) {
  Put(from.step, to->mutable_step());
  to->set_edge(from.edge);
  to->set_frame(from.frame);
  to->set_iteration(from.iteration);
}

void Put(const TensorMeta& from, proto::TensorMeta* to) {
  to->set_dtype(static_cast<int32_t>(from.dtype));
  for (const int64_t d : from.shape.dims()) to->add_dim(d);
  to->set_bytes(from.bytes);
  to->set_dead(from.dead);
}

void Put(const Hello& from, proto::Hello* to) {
  to->set_protocol_version(from.protocol_version);
  to->set_task(from.task);
  to->set_expected_task(from.expected_task);
  to->set_incarnation(from.incarnation);
  to->set_address(from.address);
  for (const DeviceInfo& device : from.devices) {
    auto* info = to->add_device();
    info->set_type(device.type);
    info->set_id(device.id);
    info->set_memory_limit(device.memory_limit);
    info->set_incarnation(device.incarnation);
  }
  to->set_cluster(from.cluster);
  to->set_cluster_def(from.cluster_def);
  to->set_cluster_master(from.cluster_master);
  for (const LaneOffer& offer : from.lanes) {
    auto* lane = to->add_lane();
    lane->set_kind(offer.kind);
    lane->set_word(offer.word);
    lane->set_is_answer(offer.is_answer);
  }
}

struct Encoder {
  proto::Header* out;

  void operator()(const Heartbeat& m) { out->mutable_heartbeat()->set_only_serves(m.only_serves); }
  void operator()(const Leave& m) { Put(m.status, out->mutable_leave()->mutable_status()); }
  void operator()(const WorkOver& m) { Put(m.how, out->mutable_work_over()->mutable_how()); }
  void operator()(const RegisterGraph& m) {
    auto* to = out->mutable_register_graph();
    to->set_request(m.request);
    Put(m.session, to->mutable_session());
    to->set_handle(m.handle);
    to->set_partition(m.partition);
    to->set_isolated_state(m.isolated_state);
    to->set_limited_files(m.limited_files);
  }
  void operator()(const GraphPart& m) {
    out->mutable_graph_part()->set_request(m.request);
    out->mutable_graph_part()->set_bytes(m.bytes);
  }
  void operator()(const DeregisterGraph& m) {
    auto* to = out->mutable_deregister_graph();
    Put(m.session, to->mutable_session());
    to->set_handle(m.handle);
  }
  void operator()(const CloseSession& m) { Put(m.session, out->mutable_close_session()->mutable_session()); }
  void operator()(const ResetContainers& m) {
    auto* to = out->mutable_reset_containers();
    to->set_request(m.request);
    for (const std::string& c : m.containers) to->add_container(c);
  }
  void operator()(const GetReport& m) {
    auto* to = out->mutable_get_report();
    to->set_request(m.request);
    to->set_session_clusters_within_ms(m.session_clusters_within_ms);
    to->set_whole_cluster_within_ms(m.whole_cluster_within_ms);
  }
  void operator()(const Reply& m) {
    auto* to = out->mutable_reply();
    to->set_request(m.request);
    Put(m.status, to->mutable_status());
    to->set_body(m.body);
  }
  void operator()(const RunGraph& m) {
    auto* to = out->mutable_run_graph();
    Put(m.step, to->mutable_step());
    Put(m.session, to->mutable_session());
    to->set_handle(m.handle);
    to->set_trace(m.trace);
  }
  void operator()(const StepDone& m) {
    auto* to = out->mutable_step_done();
    Put(m.step, to->mutable_step());
    Put(m.status, to->mutable_status());
    to->set_stats(m.stats);
  }
  void operator()(const AbortStep& m) {
    auto* to = out->mutable_abort_step();
    Put(m.step, to->mutable_step());
    Put(m.reason, to->mutable_reason());
  }
  void operator()(const EndStep& m) { Put(m.step, out->mutable_end_step()->mutable_step()); }
  void operator()(const EagerTensor& m) {
    auto* to = out->mutable_eager_tensor();
    Put(m.key, to->mutable_key());
    Put(m.meta, to->mutable_meta());
  }
  void operator()(const AnnounceTensor& m) {
    auto* to = out->mutable_announce_tensor();
    Put(m.key, to->mutable_key());
    Put(m.meta, to->mutable_meta());
  }
  void operator()(const GrantTensor& m) { Put(m.key, out->mutable_grant_tensor()->mutable_key()); }
  void operator()(const BulkTensor& m) {
    auto* to = out->mutable_bulk_tensor();
    Put(m.key, to->mutable_key());
    Put(m.meta, to->mutable_meta());
    to->set_offset(m.offset);
  }
  void operator()(const LaneMessage& m) {
    auto* to = out->mutable_lane_message();
    to->set_kind(static_cast<uint32_t>(m.kind));
    to->set_text(m.text);
    to->set_bulk_tensors(m.bulk_tensors);
  }
  void operator()(const Ping& m) {
    auto* to = out->mutable_ping();
    to->set_number(m.number);
    to->set_is_answer(m.is_answer);
  }
  void operator()(const BulkAck& m) { out->mutable_bulk_ack()->set_received_bytes(m.received_bytes); }
  void operator()(const EagerCredit& m) { out->mutable_eager_credit()->set_consumed_bytes(m.consumed_bytes); }
};

Status AppendProto(const google::protobuf::MessageLite& header, uint64_t payload_bytes, std::string* out) {
  const size_t bytes = header.ByteSizeLong();
  if (bytes > kMaxHeaderBytes) {
    return InvalidArgument("a message header of ", bytes, " bytes exceeds the limit of ", kMaxHeaderBytes,
                           " bytes; does the graph have large constants?");
  }
  const size_t begin = out->size();
  out->resize(begin + kPacketPrefixBytes + bytes);
  char* to = out->data() + begin;
  const auto header_bytes = static_cast<uint32_t>(bytes);
  std::memcpy(to, &header_bytes, sizeof header_bytes);
  std::memcpy(to + sizeof header_bytes, &payload_bytes, sizeof payload_bytes);
  header.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(to + kPacketPrefixBytes));
  return OkStatus();
}

// --- From wire.proto.

Status Get(const proto::Status& from) {
  if (from.code() == 0) return OkStatus();
  // absl::Status maps unknown codes to kUnknown.
  Status status(static_cast<absl::StatusCode>(from.code()), from.message());
  for (const auto& payload : from.payload()) status.SetPayload(payload.type_url(), absl::Cord(payload.value()));
  return status;
}

template <typename Id>
Id Get(const proto::MasterId& from) {
  return {from.master(), from.counter()};
}

TensorKey Get(const proto::TensorKey& from) {
  return {Get<StepId>(from.step()), from.edge(), from.frame(), from.iteration()};
}

StatusOr<TensorMeta> Get(const proto::TensorMeta& from) {
  TensorMeta meta{.dtype = static_cast<DType>(from.dtype()), .shape = {}, .bytes = from.bytes(), .dead = from.dead()};
  if (from.dim_size() > kMaxRank)
    return InvalidArgument("a tensor has ", from.dim_size(), " dimensions; the limit is ", kMaxRank);
  for (const int64_t d : from.dim()) {
    if (d < 0) return InvalidArgument("a tensor has the negative dimension ", d);
    meta.shape.AddDim(d);
  }
  if (meta.dead) {
    if (meta.bytes != 0) return InvalidArgument("a dead tensor has ", meta.bytes, " bytes; it must have none");
    if (meta.dtype == DType::kInvalid) return meta;
  }
  if (!IsKnownDType(from.dtype()) || IsRef(meta.dtype))
    return InvalidArgument("a tensor has the invalid dtype ", from.dtype());
  const int64_t elements = meta.shape.num_elements();
  if (elements < 0 || meta.bytes > kMaxTensorBytes) {
    return InvalidArgument("a tensor of shape ", meta.shape, " with ", meta.bytes, " bytes is too large");
  }
  // The encoding may use fewer bytes per element than the dtype, never more.
  const uint64_t width = std::max<uint64_t>(1, DTypeSize(meta.dtype));
  if (IsPlain(meta.dtype) && static_cast<uint64_t>(elements) < (meta.bytes + width - 1) / width) {
    return InvalidArgument(meta.bytes, " bytes are too many for a ", meta.dtype, " tensor of shape ", meta.shape);
  }
  return meta;
}

Hello Get(const proto::Hello& from) {
  Hello to;
  to.protocol_version = from.protocol_version();
  to.task = from.task();
  to.expected_task = from.expected_task();
  to.incarnation = from.incarnation();
  to.address = from.address();
  for (const auto& info : from.device()) {
    to.devices.push_back(
        {.type = info.type(), .id = info.id(), .memory_limit = info.memory_limit(), .incarnation = info.incarnation()});
  }
  to.cluster = from.cluster();
  to.cluster_def = from.cluster_def();
  to.cluster_master = from.cluster_master();
  for (const auto& lane : from.lane()) {
    to.lanes.push_back({.kind = lane.kind(), .word = lane.word(), .is_answer = lane.is_answer()});
  }
  return to;
}

StatusOr<Message> DecodeEager(const proto::EagerTensor& from, Payload payload) {
  TF_ASSIGN_OR_RETURN(TensorMeta meta, Get(from.meta()));
  if (payload.size() != meta.bytes) {
    return InvalidArgument("an eager tensor of ", meta.bytes, " bytes has a payload of ", payload.size(), " bytes");
  }
  return EagerTensor{Get(from.key()), std::move(meta), std::move(payload)};
}

StatusOr<Message> DecodeBulk(const proto::BulkTensor& from, Payload payload) {
  TF_ASSIGN_OR_RETURN(TensorMeta meta, Get(from.meta()));
  const uint64_t size = payload.size();
  const uint64_t offset = from.offset();
  if (offset > meta.bytes || size > meta.bytes - offset || (size == 0 && meta.bytes != 0)) {
    return InvalidArgument("a part of ", size, " bytes at offset ", offset, " does not fit a tensor of ", meta.bytes,
                           " bytes");
  }
  return BulkTensor{Get(from.key()), std::move(meta), offset, std::move(payload)};
}

StatusOr<Message> DecodePlain(const proto::Header& h) {
  switch (h.message_case()) {
    case proto::Header::kHeartbeat:
      return Heartbeat{.only_serves = h.heartbeat().only_serves()};
    case proto::Header::kLeave:
      return Leave{Get(h.leave().status())};
    case proto::Header::kWorkOver:
      return WorkOver{Get(h.work_over().how())};
    case proto::Header::kGraphPart:
      return GraphPart{h.graph_part().request(), h.graph_part().bytes()};
    case proto::Header::kRegisterGraph: {
      const auto& m = h.register_graph();
      return RegisterGraph{m.request(),   Get<SessionId>(m.session()), m.handle(),
                           m.partition(), m.isolated_state(),          m.limited_files()};
    }
    case proto::Header::kDeregisterGraph:
      return DeregisterGraph{Get<SessionId>(h.deregister_graph().session()), h.deregister_graph().handle()};
    case proto::Header::kCloseSession:
      return CloseSession{Get<SessionId>(h.close_session().session())};
    case proto::Header::kResetContainers: {
      const auto& m = h.reset_containers();
      return ResetContainers{m.request(), {m.container().begin(), m.container().end()}};
    }
    case proto::Header::kGetReport:
      return GetReport{h.get_report().request(), h.get_report().session_clusters_within_ms(),
                       h.get_report().whole_cluster_within_ms()};
    case proto::Header::kReply:
      return Reply{h.reply().request(), Get(h.reply().status()), h.reply().body()};
    case proto::Header::kRunGraph:
      return RunGraph{Get<StepId>(h.run_graph().step()), Get<SessionId>(h.run_graph().session()),
                      h.run_graph().handle(), h.run_graph().trace()};
    case proto::Header::kStepDone:
      return StepDone{Get<StepId>(h.step_done().step()), Get(h.step_done().status()), h.step_done().stats()};
    case proto::Header::kAbortStep:
      return AbortStep{Get<StepId>(h.abort_step().step()), Get(h.abort_step().reason())};
    case proto::Header::kEndStep:
      return EndStep{Get<StepId>(h.end_step().step())};
    case proto::Header::kAnnounceTensor: {
      TF_ASSIGN_OR_RETURN(TensorMeta meta, Get(h.announce_tensor().meta()));
      return AnnounceTensor{Get(h.announce_tensor().key()), std::move(meta)};
    }
    case proto::Header::kGrantTensor:
      return GrantTensor{Get(h.grant_tensor().key())};
    case proto::Header::kEagerCredit:
      return EagerCredit{h.eager_credit().consumed_bytes()};
    default:
      return InvalidArgument("a message has no known type");
  }
}

template <typename T>
StatusOr<T*> Parse(std::span<const std::byte> header) {
  if (header.size() > kMaxHeaderBytes) return InvalidArgument("a header of ", header.size(), " bytes is too large");
  T* parsed = NewOnArena<T>();
  if (!parsed->ParseFromArray(header.data(), static_cast<int>(header.size()))) {
    return InvalidArgument("cannot parse a header of ", header.size(), " bytes");
  }
  return parsed;
}

}  // namespace

StatusOr<PacketPrefix> ReadPacketPrefix(const void* in) {
  PacketPrefix prefix;
  std::memcpy(&prefix.header_bytes, in, sizeof prefix.header_bytes);
  std::memcpy(&prefix.payload_bytes, static_cast<const char*>(in) + sizeof prefix.header_bytes,
              sizeof prefix.payload_bytes);
  if (prefix.header_bytes > kMaxHeaderBytes || prefix.payload_bytes > kMaxTensorBytes) {
    return InvalidArgument("a packet with a header of ", prefix.header_bytes, " bytes and a payload of ",
                           prefix.payload_bytes, " bytes is too large");
  }
  return prefix;
}

const Payload* PayloadOf(const Message& message) {
  if (const auto* eager = std::get_if<EagerTensor>(&message)) return &eager->payload;
  if (const auto* bulk = std::get_if<BulkTensor>(&message)) return &bulk->payload;
  return nullptr;
}

Status AppendPacket(const Message& message, std::string* out) {
  auto* header = NewOnArena<proto::Header>();
  std::visit(Encoder{header}, message);
  const Payload* payload = PayloadOf(message);
  return AppendProto(*header, payload == nullptr ? 0 : payload->size(), out);
}

namespace {

template <typename M>
void AppendSmall(const M& message, std::string* out) {
  auto* header = NewOnArena<proto::Header>();
  Encoder{header}(message);
  AppendProto(*header, 0, out).IgnoreError();  // it is far below the limit
}

Status CheckNoPayload(const Payload& payload) {
  if (payload.size() == 0) return OkStatus();
  return InvalidArgument("a message without a tensor has a payload of ", payload.size(), " bytes");
}

StatusOr<Message> Decode(const proto::Header& header, Payload payload) {
  if (header.has_eager_tensor()) return DecodeEager(header.eager_tensor(), std::move(payload));
  if (header.has_bulk_tensor()) return DecodeBulk(header.bulk_tensor(), std::move(payload));
  TF_RETURN_IF_ERROR(CheckNoPayload(payload));
  return DecodePlain(header);
}

}  // namespace

void AppendPacket(const LaneMessage& message, std::string* out) { AppendSmall(message, out); }
void AppendPacket(const Ping& message, std::string* out) { AppendSmall(message, out); }
void AppendPacket(const BulkAck& message, std::string* out) { AppendSmall(message, out); }

StatusOr<Message> DecodeMessage(std::span<const std::byte> bytes, Payload payload) {
  TF_ASSIGN_OR_RETURN(const proto::Header* header, Parse<proto::Header>(bytes));
  return Decode(*header, std::move(payload));
}

StatusOr<LinkMessage> DecodeLinkMessage(std::span<const std::byte> bytes, Payload payload) {
  TF_ASSIGN_OR_RETURN(const proto::Header* header, Parse<proto::Header>(bytes));
  const auto without_payload = [&](LinkMessage message) -> StatusOr<LinkMessage> {
    TF_RETURN_IF_ERROR(CheckNoPayload(payload));
    return message;
  };
  switch (header->message_case()) {
    case proto::Header::kLaneMessage: {
      const auto& m = header->lane_message();
      return without_payload(LaneMessage{static_cast<LaneMessage::Kind>(m.kind()), m.text(), m.bulk_tensors()});
    }
    case proto::Header::kPing:
      return without_payload(Ping{header->ping().number(), header->ping().is_answer()});
    case proto::Header::kBulkAck:
      return without_payload(BulkAck{header->bulk_ack().received_bytes()});
    default:
      break;
  }
  TF_ASSIGN_OR_RETURN(Message message, Decode(*header, std::move(payload)));
  return LinkMessage(std::move(message));
}

void AppendPacket(const Handshake& handshake, std::string* out) {
  auto* header = NewOnArena<proto::Handshake>();
  header->set_link_id(handshake.link_id);
  header->set_channel(handshake.channel);
  Put(handshake.hello, header->mutable_hello());
  AppendProto(*header, 0, out).IgnoreError();  // a handshake has only short texts
}

void AppendPacket(const HandshakeAnswer& answer, std::string* out) {
  auto* header = NewOnArena<proto::HandshakeAnswer>();
  Put(answer.status, header->mutable_status());
  Put(answer.hello, header->mutable_hello());
  AppendProto(*header, 0, out).IgnoreError();
}

StatusOr<Handshake> DecodeHandshake(std::span<const std::byte> bytes) {
  TF_ASSIGN_OR_RETURN(const proto::Handshake* header, Parse<proto::Handshake>(bytes));
  return Handshake{header->link_id(), header->channel(), Get(header->hello())};
}

StatusOr<HandshakeAnswer> DecodeHandshakeAnswer(std::span<const std::byte> bytes) {
  TF_ASSIGN_OR_RETURN(const proto::HandshakeAnswer* header, Parse<proto::HandshakeAnswer>(bytes));
  return HandshakeAnswer{Get(header->status()), Get(header->hello())};
}

}  // namespace tensorbraid
