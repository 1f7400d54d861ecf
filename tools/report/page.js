// The script of the page that `cfile-dump report` writes. It shows the JSON of the element "data"; FileDescription
// (file_description.h) and report.cc describe the members. Strings of the data become text nodes, never HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

// Texts and elements

// Integers beyond 2^53 are strings in the data.
const number = (value) => typeof value === "number" ? value.toLocaleString("en-US") : String(value);
const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
const percent = (part, whole) => whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "-";

function bytes(count) {
  if (count < 1000) return plural(count, "byte");
  // Rounds first, because 999,600 bytes are 1.00 MB and not 1000 kB.
  let unit = 1;
  let text = (count / 1000).toPrecision(3);
  while (Number(text) >= 1000 && unit < 4) text = (count / 1000 ** ++unit).toPrecision(3);
  return `${Number(text) < 1000 ? text : Number(text)} ${["", "kB", "MB", "GB", "TB"][unit]}`;
}

// Makes an element. Children that are strings become text.
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const linkButton = (text, onclick) => make("button", {type: "button", className: "link", textContent: text, onclick});

// Fills a <dl> with facts: pairs of a name and a text.
function showFacts(list, facts) {
  list.replaceChildren(...facts.map(([name, text]) =>
    make("div", {className: text.length > 60 ? "wide" : ""}, make("dt", {}, name), make("dd", {}, text))));
}

// Fills a table. `columns`: [title, class name]. `rows`: lists of texts and elements.
function showTable(table, columns, rows) {
  const head = columns.map(([title, className]) => make("th", {scope: "col", className}, title));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell, i) => make("td", {className: columns[i][1]}, cell))));
  table.replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
}

// The file that is shown, and the region whose details are shown.

let file = null;
let current = 0;

const isBlock = (region) => region.kind === "data block";

function nameOf(region) {
  if (isBlock(region)) return `data block ${number(region.index)}`;
  if (region.kind === "more") return `${plural(region.count, "region")} that the page does not describe`;
  return region.depth === undefined ? region.kind : `${region.kind}, ${region.depth === 0 ? "root" : `depth ${region.depth}`}`;
}

// Adds what the drawing needs: blocks in the order of rows, with their places from 0 to 1, and damage.
function prepare(each, index) {
  each.byOffset = new Map(each.regions.map((region, i) => [region.offset, i]));
  each.blocks = each.regions.filter(isBlock).sort((a, b) => a.index - b.index);
  const byRow = each.rows > 0 && each.blocks.every((block) => block.first_row !== undefined);
  each.blocks.forEach((block, i) => {
    block.begin = byRow ? block.first_row / each.rows : i / each.blocks.length;
    if (i > 0) each.blocks[i - 1].end = block.begin;
  });
  if (each.blocks.length > 0) each.blocks.at(-1).end = 1;
  for (const finding of data.findings) {
    const region = finding.file === index ? each.regions[each.byOffset.get(finding.offset)] : undefined;
    if (region) region.damage = finding.message;
  }
}

function factsOf(region) {
  const facts = [
    ["region", nameOf(region)],
    ["bytes", `${number(region.offset)} to ${number(region.offset + region.size - 1)}`],
    ["size", `${plural(region.size, "byte")}, ${percent(region.size, file.size)} of the file`],
  ];
  const add = (name, value, text = value) => value !== undefined && facts.push([name, text]);
  add("first row", region.first_row, number(region.first_row));
  add("rows", region.rows, number(region.rows));
  add("entries", region.entries, number(region.entries));
  add("nulls", region.nulls, number(region.nulls));
  add("encoding", region.encoding);
  if (region.encoded !== undefined) {
    facts.push([region.compressed ? "before compression" : "not compressed",
      `${plural(region.encoded, "byte")}${region.compressed ? `, ratio ${(region.encoded / region.size).toFixed(2)}` : ""}`]);
  }
  add("minimum", region.minimum);
  add("maximum", region.maximum);
  add("damage", region.damage);
  return facts;
}

// Shows the details of a region everywhere on the page.
function select(index) {
  current = Math.max(0, Math.min(index, file.regions.length - 1));
  const facts = factsOf(file.regions[current]);
  showFacts(byId("details"), facts);
  byId("map").setAttribute("aria-valuenow", current);
  byId("map").setAttribute("aria-valuetext", facts.map(([name, text]) => `${name} ${text}`).join("; "));
  pictures.forEach((picture) => picture.refresh());
  for (const row of byId("regions").tBodies[0]?.rows ?? []) row.classList.toggle("current", Number(row.dataset.region) === current);
}

function showValues() {
  const region = file.regions[current];
  const title = make("h3", {}, `First values of ${nameOf(region)}`);
  const text = isBlock(region) ? "The page has no values of this block." : "Only data blocks hold values.";
  byId("values").replaceChildren(...(region.values ? [title, make("ol", {}, ...region.values.map((value) => make("li", {}, value)))]
    : [make("p", {className: "quiet"}, text)]));
}

// Selects a region, shows its values, and goes to its place on the map.
function goTo(index) {
  select(index);
  showValues();
  byId("map").focus();
}

// The trees of the indexes. The entries of a node become elements when the node is opened.

const entriesAtOnce = 100;

function treeNode(tree, node, isRoot) {
  const list = make("ul", {});
  const entries = node.entries.length === 1 ? "1 entry" : `${number(node.entries.length)} entries`;
  const title = `${node.leaf ? "leaf" : "inner"} node at ${number(node.offset)}: ${entries}, ${plural(node.size, "byte")}`;
  const details = make("details", {}, make("summary", {}, title), list);
  const addEntries = (from) => {
    for (const [key, offset] of node.entries.slice(from, from + entriesAtOnce)) {
      const item = make("li", {}, make("span", {className: "key"}, number(key)), " \u2192 ");
      const index = file.byOffset.get(offset);
      const child = tree.byOffset.get(offset);
      if (child) item.append(treeNode(tree, child, false));
      else if (index === undefined) item.append(`${node.leaf ? "block" : "node"} at ${number(offset)}`);
      else item.append(linkButton(nameOf(file.regions[index]), () => goTo(index)));
      list.append(item);
    }
    const next = from + entriesAtOnce;
    if (next >= node.entries.length) return;
    const more = linkButton(`${number(node.entries.length - next)} more`, () => { more.parentElement.remove(); addEntries(next); });
    list.append(make("li", {}, more));
  };
  details.addEventListener("toggle", () => { if (details.open && list.childElementCount === 0) addEntries(0); });
  if (isRoot && node.entries.length <= 20) {
    addEntries(0);
    details.open = true;
  }
  return details;
}

function showTrees() {
  byId("trees").replaceChildren(...[["Positional index", file.positional_index], ["Value index", file.value_index]].map(([title, tree]) => {
    const part = make("div", {}, make("h3", {}, title));
    if (!tree) part.append(make("p", {className: "quiet"}, "The file has no such index."));
    if (tree && tree.nodes.length > 0) {
      tree.byOffset = new Map(tree.nodes.map((node) => [node.offset, node]));
      part.append(treeNode(tree, tree.nodes[0], true));
    }
    if (tree && !tree.complete) part.append(make("p", {className: "quiet"}, "Some nodes are damaged, or too many for this page."));
    return part;
  }));
}

// The table of the regions, page by page

const rowsOfPage = 50;
let firstRegion = 0;

function showRegions(first) {
  firstRegion = first;
  const columns = [["Region", ""], ["Offset", "number"], ["Bytes", "number"], ["First row", "number"], ["Rows", "number"],
    ["Nulls", "number"], ["Encoding", ""], ["Before compression", "number"], ["Minimum", "text"], ["Maximum", "text"]];
  const shown = file.regions.slice(first, first + rowsOfPage);
  const optional = (value) => value === undefined ? "" : number(value);
  showTable(byId("regions"), columns, shown.map((region, i) => [
    linkButton(nameOf(region) + (region.damage ? " (damaged)" : ""), () => goTo(first + i)), number(region.offset), number(region.size),
    optional(region.first_row), optional(region.rows), optional(region.nulls), region.encoding ?? "", optional(region.encoded),
    region.minimum ?? "", region.maximum ?? ""]));
  [...byId("regions").tBodies[0].rows].forEach((row, i) => {
    row.dataset.region = first + i;
    row.classList.toggle("current", first + i === current);
  });
  const last = Math.min(first + rowsOfPage, file.regions.length);
  byId("page").textContent = `${number(first + 1)} to ${number(last)} of ${plural(file.regions.length, "region")}`;
  byId("previous").disabled = first === 0;
  byId("next").disabled = last === file.regions.length;
  byId("pager").hidden = file.regions.length <= rowsOfPage;
}

// Shows the sizes and speeds of other encodings and codecs, from what `cfile-dump whatif --json` prints for this column.
function showWhatIf() {
  const whatif = file.whatif ?? data.columns?.[file.column].whatif;
  byId("whatif-section").hidden = !whatif;
  if (!whatif) return;
  const sample = whatif.sample.all_rows ? "all rows" : `a sample of ${plural(whatif.sample.rows, "row")}`;
  byId("whatif-hint").textContent = `Sizes of ${sample}. Speeds were measured in memory with one thread. `
    + `Automatic choice: ${whatif.automatic.reason ?? whatif.automatic.error}.`;
  const speed = (measured) => (measured.bytes_per_second / 1e6).toFixed(0);
  const columns = [["Encoding", ""], ["Codec", ""], ["Bytes", "number"], ["Bits per value", "number"], ["Ratio", "number"],
    ["Encode MB/s", "number"], ["Decode MB/s", "number"], ["Note", ""]];
  showTable(byId("whatif"), columns, whatif.tried.map((form) => [form.encoding, form.compression, ...(form.error ? ["", "", "", "", ""] : [
    number(form.bytes), form.bits_per_value.toFixed(2), form.ratio.toFixed(2), speed(form.encode), speed(form.decode)]),
    [form.in_file && "in this file", form.automatic && "automatic choice", form.note, form.error].filter(Boolean).join(", ")]));
}

// The whole page

function showFile(index) {
  file = data.files[index];
  if (!file.byOffset) prepare(file, index);
  byId("file-title").textContent = data.columns ? `Column ${data.columns[file.column].name}, part ${file.part}` : "Summary";
  byId("choose-part").hidden = !data.columns || data.parts < 2;
  byId("part").replaceChildren(...data.files.flatMap((each, i) =>
    each.column === file.column ? [make("option", {value: i, selected: i === index}, `${number(each.part)} (${each.path})`)] : []));
  showFacts(byId("facts"), file.facts);
  byId("map").setAttribute("aria-valuemax", file.regions.length - 1);
  const heightOfMap = (width) => linesOf(width) * (lineHeightOf(linesOf(width)) + lineGap);
  pictures = [new Picture(byId("map").querySelector("canvas"), heightOfMap, drawMap, markMap)];
  byId("values").replaceChildren();
  current = 0;
  showLegend();
  showCharts();
  showTrees();
  showWhatIf();
  showRegions(0);
  renderAll();
  select(0);
}

// Returns the index of the first damaged file, or of the first file of the largest column if nothing is damaged.
function showColumns() {
  const total = data.columns.reduce((sum, column) => sum + column.bytes, 0);
  const most = data.columns.reduce((largest, column) => Math.max(largest, column.bytes), 1);
  const sorted = data.columns.map((column, i) => [column, data.files.findIndex((each) => each.column === i)]);
  sorted.sort((a, b) => b[0].bytes - a[0].bytes);
  const damages = data.findings.filter((finding) => !finding.limit);
  const columns = [["Column", ""], ["Type", ""], ["Encodings", ""], ["Codecs", ""], ["Bytes", "number"], ["Share", "number"],
    ["Size", ""], ["Bits per row", "number"], ["Nulls", "number"], ["Blocks", "number"]];
  showTable(byId("columns"), columns, sorted.map(([column, first]) => {
    const bar = make("span", {});
    bar.style.width = `${100 * column.bytes / most}%`;
    const name = first < 0 ? column.name : linkButton(column.name, () => { showFile(first); byId("file-title").scrollIntoView(); });
    const atLeast = (count) => (column.complete ? "" : "at least ") + number(count);
    const bits = data.rows > 0 ? (8 * column.bytes / data.rows).toFixed(2) : "-";
    const isDamaged = damages.some((finding) => data.columns[finding.column] === column);
    return [isDamaged ? make("span", {}, name, make("span", {className: "bad"}, " (damaged)")) : name, column.type, column.encodings.join(", "), column.codecs.join(", "), number(column.bytes), percent(column.bytes, total),
      make("span", {className: "bar"}, bar), bits, atLeast(column.nulls), atLeast(column.blocks)];
  }));
  const sizes = [plural(data.rows, "row"), plural(data.columns.length, "column"), plural(data.parts, "part"), bytes(total)];
  byId("subtitle").textContent = `Table: ${sizes.join(", ")}`
    + (data.files_left_out > 0 ? `. ${plural(data.files_left_out, "file")} without a map: --part and --column choose them.` : "");
  return damages.find((finding) => finding.file !== undefined)?.file ?? sorted.find(([, first]) => first >= 0)?.[1] ?? 0;
}

function showFindings() {
  const all = data.findings;
  const damaged = all.some((finding) => !finding.limit);
  byId("verdict").textContent = all.length === 0 ? "\u2713 verify found nothing wrong"
    : `\u2717 verify has ${plural(all.length, "finding")}`;
  byId("verdict").className = damaged ? "bad" : all.length === 0 ? "good" : "";
  byId("findings").replaceChildren(...all.map((finding) => {
    const item = make("li", {}, finding.path ? `${finding.path}: ` : "", finding.message);
    const {first_row: first, last_row: last} = finding;
    if (first !== undefined) item.append(`; rows ${number(first)} to ${number(last ?? first)}`);
    if (data.files[finding.file]?.regions.some((region) => region.offset === finding.offset)) {
      item.append(" ", linkButton("show", () => {
        showFile(finding.file);
        goTo(file.byOffset.get(finding.offset));
      }));
    }
    return item;
  }));
  byId("findings-section").hidden = all.length === 0;
}

function start() {
  sortEncodings();
  showFindings();
  const first = data.columns ? showColumns() : 0;
  byId("columns-section").hidden = !data.columns;
  byId("file").hidden = data.files.length === 0;
  if (data.files.length === 0) return;
  if (!data.columns) byId("subtitle").textContent = `File: ${plural(data.files[0].rows, "row")}, ${bytes(data.files[0].size)}`;
  const map = byId("map");
  map.addEventListener("pointermove", (event) => select(regionAtPoint(event)));
  map.addEventListener("click", (event) => { select(regionAtPoint(event)); showValues(); });
  map.addEventListener("keydown", keyOnMap);
  byId("part").addEventListener("change", (event) => showFile(Number(event.target.value)));
  byId("previous").addEventListener("click", () => showRegions(firstRegion - rowsOfPage));
  byId("next").addEventListener("click", () => showRegions(firstRegion + rowsOfPage));
  showFile(first);
  new ResizeObserver(renderAll).observe(map.parentElement);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", renderAll);
  // A printed page has the light style.
  for (const [event, printing] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(event, () => {
      document.documentElement.classList.toggle("print", printing);
      renderAll();
    });
  }
}

start();
performance.mark("drawn");
