// The symbol table of a file with blocks of FSST, as its decoders use it.
#pragma once

#include "encodings/core/block_codec.h"
#include "encodings/kernels/fsst.h"

namespace cfile::encodings {

// The table of a file. Made by FsstCodec::LoadDictionary.
struct SymbolDictionary final : Dictionary {
  SymbolTable table;
};

}  // namespace cfile::encodings
