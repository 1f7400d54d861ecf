// How the bytes that block_fuzz is given are a block: written by block_seeds, read by block_fuzz.
#pragma once

#include <cstdint>
#include <span>

#include "encodings/bytes.h"

namespace cfile::encodings {

struct BlockInput {
  uint8_t pair = 0;  // of AllPairs (tests/encodings/columns.h), modulo their number
  uint8_t type_length = 0;
  uint32_t count = 0;
  uint32_t first_ordinal = 0;
  std::span<const uint8_t> skip_table;
  std::span<const uint8_t> dictionary;
  std::span<const uint8_t> bytes;

  void Append(ByteWriter& out) const {
    out.PutFixed(pair);
    out.PutFixed(type_length);
    out.PutFixed(count);
    out.PutFixed(first_ordinal);
    out.PutFixed(static_cast<uint16_t>(skip_table.size()));
    out.PutFixed(static_cast<uint16_t>(dictionary.size()));
    out.PutBytes(skip_table);
    out.PutBytes(dictionary);
    out.PutBytes(bytes);
  }
  // False if there are too few bytes.
  bool Read(std::span<const uint8_t> in) {
    ByteReader reader(in);
    uint16_t skip_bytes, dictionary_bytes;
    if (!reader.ReadFixed(pair) || !reader.ReadFixed(type_length) || !reader.ReadFixed(count) ||
        !reader.ReadFixed(first_ordinal) || !reader.ReadFixed(skip_bytes) ||
        !reader.ReadFixed(dictionary_bytes) || !reader.ReadBytes(skip_bytes, skip_table) ||
        !reader.ReadBytes(dictionary_bytes, dictionary)) {
      return false;
    }
    bytes = reader.rest();
    return true;
  }
};

}  // namespace cfile::encodings
