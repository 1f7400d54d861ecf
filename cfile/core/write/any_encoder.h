// Encoders for a type that is known only at run time.
#pragma once

#include <memory>
#include <type_traits>

#include "absl/status/statusor.h"
#include "encodings/registry.h"

namespace cfile::internal {

// The result and the errors are those of encodings::MakeEncoder.
inline absl::StatusOr<std::unique_ptr<encodings::AnyBlockEncoder>> MakeAnyEncoder(
    encodings::Encoding encoding, encodings::PhysicalType type,
    const encodings::EncoderOptions& options) {
  using Encoder = absl::StatusOr<std::unique_ptr<encodings::AnyBlockEncoder>>;
  return encodings::VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) -> Encoder {
    return encodings::MakeEncoder<T>(encoding, type, options);
  });
}

}  // namespace cfile::internal
