// The decoder of FSST for blocks of both forms, and the symbol table (fsst.h).
#include "encodings/own/fsst.h"

#include <cstring>
#include <utility>

#include "encodings/core/value_dictionary.h"
#include "encodings/own/fsst_decoder.h"
#include "encodings/own/fsst_layout.h"
#include "encodings/own/fsst_separate_decoder.h"
#include "encodings/parquet/parquet_dictionary.h"

namespace cfile::encodings {
namespace {

// Passes each call to the decoder of the block's form, and takes over its position.
class FormsDecoder final : public BlockDecoder<std::string_view> {
 public:
  explicit FormsDecoder(const std::shared_ptr<const SymbolDictionary>& dictionary)
      : front_coded_(dictionary), separate_(dictionary), decoder_(&front_coded_) {}

  absl::Status Open(const BlockView& block) override {
    count_ = position_ = 0;
    const bool separate =
        !block.bytes.empty() && block.bytes[0] == static_cast<uint8_t>(FsstForm::kSeparate);
    if (separate) {
      decoder_ = &separate_;
    } else {
      decoder_ = &front_coded_;
    }
    CFILE_RETURN_IF_ERROR(decoder_->Open(block));
    count_ = decoder_->count();
    first_ordinal_ = decoder_->first_ordinal();
    return absl::OkStatus();
  }
  absl::Status SeekTo(uint32_t position) override { return Moved(decoder_->SeekTo(position)); }
  absl::StatusOr<size_t> Read(std::span<std::string_view> out) override {
    return Moved(decoder_->Read(out));
  }
  absl::StatusOr<size_t> ReadPacked(size_t max, PackedStrings& out) override {
    return Moved(decoder_->ReadPacked(max, out));
  }
  absl::StatusOr<bool> ReadMatches(const std::string_view& low, const std::string_view& high,
                                   size_t count, uint8_t* bits) override {
    return Moved(decoder_->ReadMatches(low, high, count, bits));
  }
  absl::StatusOr<LowerBound> SeekToKey(const std::string_view& key) override {
    return Moved(decoder_->SeekToKey(key));
  }
  absl::Status SeekToKeys(std::span<const std::string_view> keys,
                          std::span<LowerBound> bounds) override {
    return Moved(decoder_->SeekToKeys(keys, bounds));
  }
  std::unique_ptr<const SeekIndex> BuildSeekIndex() override {
    return Moved(decoder_->BuildSeekIndex());
  }

 private:
  template <typename Result>
  Result Moved(Result result) {
    position_ = decoder_->position();
    return result;
  }

  FsstDecoder front_coded_;
  FsstSeparateDecoder separate_;
  BlockDecoder<std::string_view>* decoder_;  // of the open block
};

}  // namespace

std::unique_ptr<BlockDecoder<std::string_view>> FsstCodec::MakeBytesDecoder(
    const DecoderOptions& options) {
  // A file whose dictionary is of another kind has no table.
  return std::make_unique<FormsDecoder>(
      std::dynamic_pointer_cast<const SymbolDictionary>(options.dictionary));
}

absl::StatusOr<std::shared_ptr<const Dictionary>> FsstCodec::LoadDictionary(
    PhysicalType type, uint32_t type_length, std::span<const uint8_t> bytes, size_t max_values) {
  CFILE_ASSIGN_OR_RETURN(const auto loaded, ParquetDictionaryCodec::LoadDictionary(
                                                type, type_length, bytes, max_values));
  const auto& symbols = static_cast<const ValueDictionary<std::string_view>&>(*loaded);
  if (symbols.size > kMaxSymbols) {
    return DataLoss("fsst: a table of ", symbols.size, " symbols, expected at most ", kMaxSymbols);
  }
  const auto dictionary = std::make_shared<SymbolDictionary>();
  for (uint32_t code = 0; code < symbols.size; ++code) {
    const std::string_view symbol = symbols.values[code];
    if (symbol.empty() || symbol.size() > kMaxSymbolBytes) {
      return DataLoss("fsst: symbol ", code, " has ", symbol.size(), " bytes, expected 1 to ",
                      kMaxSymbolBytes);
    }
    uint8_t bytes_of_symbol[kMaxSymbolBytes] = {};
    std::memcpy(bytes_of_symbol, symbol.data(), symbol.size());
    dictionary->table.Add(LoadLittleEndian<uint64_t>(bytes_of_symbol), symbol.size());
  }
  return dictionary;
}

}  // namespace cfile::encodings
