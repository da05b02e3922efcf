#include "launch/credentials/certificates.h"

#include <arpa/inet.h>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/text/strings.h"
#include "io/file.h"
#include "launch/credentials/new_file.h"
#include "transport/caller.h"

namespace tensorbraid {
namespace {

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using RequestPtr = std::unique_ptr<X509_REQ, Free<X509_REQ_free>>;
using X509Ptr = std::unique_ptr<X509, Free<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using BioPtr = std::unique_ptr<BIO, Free<BIO_free_all>>;
using NumberPtr = std::unique_ptr<BIGNUM, Free<BN_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;

Status OpensslError(const char* what) {
  char text[256] = "no reason given";
  if (const auto error = ERR_get_error(); error != 0) ERR_error_string_n(error, text, sizeof text);
  ERR_clear_error();
  return Internal(what, ": ", std::string(text));
}

time_t Time(WallClock::time_point time) { return std::chrono::system_clock::to_time_t(time); }

BioPtr Reader(const std::string& text) { return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);  // NOLINT(google-runtime-int): OpenSSL's type
  return {data, static_cast<size_t>(size)};
}

bool IsIpAddress(const std::string& name) {
  unsigned char address[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), address) == 1 || inet_pton(AF_INET6, name.c_str(), address) == 1;
}

// Whether the name stands for every host directly beneath a domain: "*.train.default.svc".
bool IsWildcard(const std::string& name) { return name.starts_with("*."); }

// Names become file names, and parts of an extension's text, in which commas separate the names. So a name may only
// have characters that are safe in both.
Status CheckName(const std::string& name) {
  const std::string host = name.substr(IsWildcard(name) ? 2 : 0);
  const bool known = std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
  });
  if (IsWildcard(name) && (host.find('.') == std::string::npos || host.back() == '.')) {
    return InvalidArgument("'", name, "' covers too many hosts to be accepted by peers: two names must follow '*.', ",
                           "such as '*.train.svc'");
  }
  if (IsIpAddress(name) || (known && !host.empty() && host[0] != '.' && host[0] != '-')) return OkStatus();
  return InvalidArgument("'", name, "' is neither a host name nor an IP address; names are given without a port");
}

std::string AlternativeNames(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) parts.push_back((IsIpAddress(name) ? "IP:" : "DNS:") + name);
  return StrJoin(parts, ",");
}

bool AddExtension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Makes a certificate with everything that all certificates here have in common, not signed yet.
X509Ptr NewCertificate(EVP_PKEY* key, std::string name, const std::string& unit, const Validity& validity) {
  X509Ptr made(X509_new());
  const NumberPtr serial(BN_new());
  if (made == nullptr || serial == nullptr) return nullptr;
  name.resize(std::min<size_t>(name.size(), 64));  // the longest common name that X.509 allows
  X509_NAME* subject = X509_get_subject_name(made.get());
  const auto add = [&](const char* field, const std::string& value) {
    return X509_NAME_add_entry_by_txt(subject, field, MBSTRING_ASC,
                                      reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0) == 1;
  };
  const bool ok = X509_set_version(made.get(), X509_VERSION_3) == 1 &&
                  BN_rand(serial.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
                  BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(made.get())) != nullptr &&
                  ASN1_TIME_set(X509_getm_notBefore(made.get()), Time(validity.begin)) != nullptr &&
                  ASN1_TIME_set(X509_getm_notAfter(made.get()), Time(validity.end)) != nullptr &&
                  X509_set_pubkey(made.get(), key) == 1 && add("O", "Tensorbraid") &&
                  (unit.empty() || add("OU", unit)) && add("CN", name);
  return ok ? std::move(made) : nullptr;
}

StatusOr<std::string> ToPem(X509* certificate) {
  const BioPtr text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(text.get(), certificate) != 1) return OpensslError("cannot write a certificate in PEM format");
  return TextOf(text.get());
}
StatusOr<std::string> ToPem(EVP_PKEY* key) {
  const BioPtr text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey(text.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return OpensslError("cannot write a key in PEM format");
  }
  return TextOf(text.get());
}

X509Ptr ReadCertificate(const std::string& text) {
  X509Ptr read(PEM_read_bio_X509(Reader(text).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return read;
}
KeyPtr ReadKey(const std::string& text) {
  KeyPtr read(PEM_read_bio_PrivateKey(Reader(text).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return read;
}

constexpr char kCurve[] = "P-256";
StatusOr<KeyPtr> NewKey() {
  KeyPtr key(EVP_EC_gen(kCurve));
  if (key == nullptr) return OpensslError("cannot make a key");
  return key;
}
// Whether NewKey makes keys of this kind.
bool IsOfOurKind(EVP_PKEY* key) {
  char group[64];
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC && EVP_PKEY_get_group_name(key, group, sizeof group, nullptr) == 1 &&
         std::string_view(group) == OBJ_nid2sn(NID_X9_62_prime256v1);
}

// A certificate of this public key, signed by the authority.
StatusOr<std::string> SignKey(const Certificate& authority, EVP_PKEY* key, const std::vector<std::string>& names,
                              const Validity& validity, CertificateUse use) {
  if (names.empty()) return InvalidArgument("a certificate needs at least one name");
  for (const std::string& name : names) TF_RETURN_IF_ERROR(CheckName(name));
  const X509Ptr issuer = ReadCertificate(authority.certificate);
  const KeyPtr issuer_key = ReadKey(authority.key);
  if (issuer == nullptr || issuer_key == nullptr || X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    ERR_clear_error();
    return InvalidArgument("the authority's certificate and private key cannot be read or do not belong together");
  }
  const bool is_client = use == CertificateUse::kClient;
  const X509Ptr made = NewCertificate(key, names[0], is_client ? kClientUnit : "", validity);
  if (made == nullptr || X509_set_issuer_name(made.get(), X509_get_subject_name(issuer.get())) != 1 ||
      (ASN1_TIME_compare(X509_get0_notAfter(made.get()), X509_get0_notAfter(issuer.get())) > 0 &&
       X509_set1_notAfter(made.get(), X509_get0_notAfter(issuer.get())) != 1) ||
      !AddExtension(made.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(made.get(), issuer.get(), NID_key_usage, "critical,digitalSignature") ||
      !AddExtension(made.get(), issuer.get(), NID_ext_key_usage, is_client ? "clientAuth" : "serverAuth,clientAuth") ||
      !AddExtension(made.get(), issuer.get(), NID_authority_key_identifier, "keyid") ||
      !AddExtension(made.get(), issuer.get(), NID_subject_alt_name, AlternativeNames(names)) ||
      X509_sign(made.get(), issuer_key.get(), EVP_sha256()) == 0) {
    return OpensslError("cannot make a certificate");
  }
  return ToPem(made.get());
}

struct Files {
  std::string certificate;
  std::string key;
  std::string request;
};

Files FilesOf(const std::string& directory, const std::string& name) {
  // A shell would expand a "*".
  const std::string path = StrCat(directory, "/", IsWildcard(name) ? "wildcard" + name.substr(1) : name);
  return {path + ".pem", path + "-key.pem", path + "-request.pem"};
}

// Names of hosts and clients, which the files of one directory have.
Status CheckFileNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1) return InvalidArgument("'", name, "' is given twice");
    TF_RETURN_IF_ERROR(CheckName(name));
    if (name == "ca") return InvalidArgument("the name 'ca' is taken by the authority's files");
  }
  return OkStatus();
}

// Writes the key first, so that every certificate in the directory has its key.
Status WritePair(const Files& files, const Certificate& made, std::vector<std::string>* written) {
  TF_RETURN_IF_ERROR(WriteNewFile(files.key, made.key, 0600));
  TF_RETURN_IF_ERROR(WriteNewFile(files.certificate, made.certificate, 0644));
  written->insert(written->end(), {files.certificate, files.key});
  return OkStatus();
}

// The authority of the directory, which is made if there is none.
StatusOr<Certificate> AuthorityIn(const std::string& directory, WallClock::time_point begin,
                                  std::vector<std::string>* written) {
  const Files files = FilesOf(directory, "ca");
  const bool has_certificate = FileExists(files.certificate), has_key = FileExists(files.key);
  if (has_certificate && has_key) {
    Certificate authority;
    TF_ASSIGN_OR_RETURN(authority.certificate, ReadFile(files.certificate));
    TF_ASSIGN_OR_RETURN(authority.key, ReadFile(files.key));
    return authority;
  }
  if (has_certificate || has_key) {
    return absl::FailedPreconditionError(StrCat(
        "'", directory, "' has only one of ca.pem and ca-key.pem; new certificates need both: run this command where ",
        "the authority was made, or make another one in a new directory"));
  }
  TF_ASSIGN_OR_RETURN(Certificate authority, MakeAuthority({begin, begin + std::chrono::hours(24 * 3650)}));
  TF_RETURN_IF_ERROR(WritePair(files, authority, written));
  return authority;
}

}  // namespace

StatusOr<Certificate> MakeAuthority(const Validity& validity) {
  TF_ASSIGN_OR_RETURN(const KeyPtr key, NewKey());
  const X509Ptr made = NewCertificate(key.get(), "Tensorbraid cluster authority", "", validity);
  if (made == nullptr || X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) != 1 ||
      !AddExtension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !AddExtension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !AddExtension(made.get(), made.get(), NID_subject_key_identifier, "hash") ||
      X509_sign(made.get(), key.get(), EVP_sha256()) == 0) {
    return OpensslError("cannot make the certificate of an authority");
  }
  Certificate authority;
  TF_ASSIGN_OR_RETURN(authority.certificate, ToPem(made.get()));
  TF_ASSIGN_OR_RETURN(authority.key, ToPem(key.get()));
  return authority;
}

StatusOr<Certificate> MakeCertificate(const Certificate& authority, const std::vector<std::string>& names,
                                      const Validity& validity, CertificateUse use) {
  TF_ASSIGN_OR_RETURN(const KeyPtr key, NewKey());
  Certificate made;
  TF_ASSIGN_OR_RETURN(made.certificate, SignKey(authority, key.get(), names, validity, use));
  TF_ASSIGN_OR_RETURN(made.key, ToPem(key.get()));
  return made;
}

StatusOr<CertificateRequest> MakeCertificateRequest() {
  TF_ASSIGN_OR_RETURN(const KeyPtr key, NewKey());
  const RequestPtr request(X509_REQ_new());
  const BioPtr text(BIO_new(BIO_s_mem()));
  if (request == nullptr || text == nullptr || X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) == 0 ||
      PEM_write_bio_X509_REQ(text.get(), request.get()) != 1) {
    return OpensslError("cannot make the request for a certificate");
  }
  CertificateRequest made;
  made.request = TextOf(text.get());
  TF_ASSIGN_OR_RETURN(made.key, ToPem(key.get()));
  return made;
}

StatusOr<std::string> SignCertificate(const Certificate& authority, const std::string& request,
                                      const std::vector<std::string>& names, const Validity& validity,
                                      CertificateUse use) {
  const RequestPtr read(PEM_read_bio_X509_REQ(Reader(request).get(), nullptr, nullptr, nullptr));
  EVP_PKEY* const key = read == nullptr ? nullptr : X509_REQ_get0_pubkey(read.get());
  const bool is_signed = key != nullptr && X509_REQ_verify(read.get(), key) == 1;
  ERR_clear_error();
  if (!is_signed) return InvalidArgument("the request for a certificate cannot be read, or its signature is wrong");
  if (!IsOfOurKind(key)) {
    return InvalidArgument("the request for a certificate is for another kind of key than ", std::string(kCurve));
  }
  return SignKey(authority, key, names, validity, use);
}

Status CheckCertificate(const Certificate& certificate, const std::string& authority) {
  const X509Ptr read = ReadCertificate(certificate.certificate), issuer = ReadCertificate(authority);
  const KeyPtr key = ReadKey(certificate.key);
  if (read == nullptr || issuer == nullptr || key == nullptr) {
    return InvalidArgument("a certificate, its key or that of its authority cannot be read");
  }
  const bool has_key = X509_check_private_key(read.get(), key.get()) == 1;
  const bool is_signed = X509_check_issued(issuer.get(), read.get()) == X509_V_OK &&
                         X509_verify(read.get(), X509_get0_pubkey(issuer.get())) == 1;
  ERR_clear_error();
  if (!has_key) return InvalidArgument("the certificate is not of this key");
  return is_signed ? OkStatus() : InvalidArgument("the certificate is not signed by this authority");
}

StatusOr<std::vector<std::string>> WriteCertificates(const CertsOptions& options) {
  std::vector<std::string> all = options.hosts;
  all.insert(all.end(), options.clients.begin(), options.clients.end());
  TF_RETURN_IF_ERROR(CheckFileNames(all));
  for (const std::string& host : all) {
    const Files files = FilesOf(options.directory, host);
    for (const std::string& path : {files.certificate, files.key}) {
      if (!FileExists(path) || (path == files.key && FileExists(files.request))) continue;
      return AlreadyExists("'", path, "' exists and is not overwritten; to renew the certificate of ", host,
                           ", remove its two files first");
    }
  }
  TF_RETURN_IF_ERROR(MakeDirectories(options.directory));
  // Valid from an hour ago, for machines whose clocks are slow.
  const auto begin = WallClock::now() - std::chrono::hours(1);
  const Validity validity{begin, begin + std::chrono::hours(24 * options.days + 1)};
  std::vector<std::string> written;
  TF_ASSIGN_OR_RETURN(const Certificate authority, AuthorityIn(options.directory, begin, &written));
  for (const std::string& host : all) {
    const bool is_task = std::find(options.hosts.begin(), options.hosts.end(), host) != options.hosts.end();
    const CertificateUse use = is_task ? CertificateUse::kTask : CertificateUse::kClient;
    std::vector<std::string> names = {host};
    for (const char* loopback : {"localhost", "127.0.0.1", "::1"}) {
      if (host != loopback) names.emplace_back(loopback);
    }
    const Files files = FilesOf(options.directory, host);
    if (FileExists(files.request)) {
      TF_ASSIGN_OR_RETURN(const std::string request, ReadFile(files.request));
      const auto made = SignCertificate(authority, request, names, validity, use);
      if (!made.ok()) return Annotate(made.status(), files.request);
      TF_RETURN_IF_ERROR(WriteNewFile(files.certificate, *made, 0644));
      written.push_back(files.certificate);
      continue;
    }
    auto made = MakeCertificate(authority, names, validity, use);
    if (!made.ok()) return Annotate(made.status(), options.directory);
    TF_RETURN_IF_ERROR(WritePair(files, *made, &written));
  }
  return written;
}

StatusOr<std::vector<std::string>> WriteRequests(const std::string& directory, const std::vector<std::string>& names) {
  TF_RETURN_IF_ERROR(CheckFileNames(names));
  for (const std::string& name : names) {
    const Files files = FilesOf(directory, name);
    for (const std::string& path : {files.key, files.request}) {
      if (FileExists(path)) return AlreadyExists("'", path, "' exists and is not overwritten");
    }
  }
  TF_RETURN_IF_ERROR(MakeDirectories(directory));
  std::vector<std::string> written;
  for (const std::string& name : names) {
    const Files files = FilesOf(directory, name);
    TF_ASSIGN_OR_RETURN(const CertificateRequest made, MakeCertificateRequest());
    TF_RETURN_IF_ERROR(WriteNewFile(files.key, made.key, 0600));
    TF_RETURN_IF_ERROR(WriteNewFile(files.request, made.request, 0644));
    written.insert(written.end(), {files.key, files.request});
  }
  return written;
}

}  // namespace tensorbraid
