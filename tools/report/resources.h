// The sources of the page of `cfile-dump report`. The build embeds page.html, page.css,
// drawing.js and page.js; the script is drawing.js, then page.js.
#pragma once

#include <string_view>

namespace cfile::tools {

extern const std::string_view kPageTemplate;
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
// SHA-256 of style and script, in hexadecimal digits.
extern const std::string_view kPageStyleSha256;
extern const std::string_view kPageScriptSha256;

}  // namespace cfile::tools
