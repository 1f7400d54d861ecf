#include "tools/report/page.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/report/resources.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// The source expression of a content security policy for text with this SHA-256.
std::string HashSource(std::string_view sha256_hex) {
  const std::string digest = absl::HexStringToBytes(std::string(sha256_hex));
  return absl::StrCat("'sha256-", absl::Base64Escape(digest), "'");
}

// `data` in ASCII, without characters that can begin or end a tag or a comment.
std::string ScriptData(const Json& data) {
  return absl::StrReplaceAll(AsciiJson(data.dump()),
                             {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}});
}

std::string HtmlText(std::string_view text) {
  return absl::StrReplaceAll(
      TerminalSafe(text),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

}  // namespace

std::string MakePage(std::string_view title, const Json& data) {
  const std::string policy =
      absl::StrCat("default-src 'none'; script-src ", HashSource(kPageScriptSha256), "; style-src ",
                   HashSource(kPageStyleSha256), "; base-uri 'none'; form-action 'none'");
  // StrReplaceAll does not search the texts that it has put in.
  const std::string style(kPageStyle), script(kPageScript);
  return absl::StrReplaceAll(std::string(kPageTemplate), {{"{{policy}}", policy},
                                                          {"{{title}}", HtmlText(title)},
                                                          {"{{style}}", style},
                                                          {"{{data}}", ScriptData(data)},
                                                          {"{{script}}", script}});
}

}  // namespace cfile::tools
