// Draws the map of a file and the charts over its blocks, on canvases. The build puts this file before page.js, which defines `file`
// (the description of the shown file), `current` (the region whose details are shown) and the functions that make elements.
"use strict";

// Colours

const kindColours = {
  "header": "header", "footer": "header", "node of the positional index": "positional", "node of the value index": "value",
  "dictionary": "dictionary", "statistics": "statistics", "gap": "gap", "more": "more",
};
const encodingColours = 7;
// The encodings of all files, those with most bytes first, so that an encoding has one colour on the page.
let encodings = [];
function sortEncodings() {
  const sizes = new Map();
  for (const region of data.files.flatMap((each) => each.regions))
    if (region.encoding) sizes.set(region.encoding, (sizes.get(region.encoding) ?? 0) + region.size);
  encodings = [...sizes.keys()].sort((a, b) => sizes.get(b) - sizes.get(a));
}

function colourOf(region) {
  if (region.kind !== "data block") return kindColours[region.kind];
  return region.encoding ? `encoding-${Math.min(encodings.indexOf(region.encoding), encodingColours - 1)}` : "more";
}

let colours = new Map();
function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`));
  return colours.get(name);
}

// Pictures

// A canvas whose drawing is kept, so that only the mark of the current region is drawn again.
class Picture {
  // height(width): in CSS pixels. draw(context, width, height) draws everything, mark(context, width, height) the mark.
  constructor(canvas, height, draw, mark) {
    Object.assign(this, {canvas, height, draw, mark, kept: document.createElement("canvas")});
  }
  render() {
    const width = this.canvas.parentElement.clientWidth;
    if (width === 0) return;
    const height = this.height(width);
    const scale = window.devicePixelRatio || 1;
    for (const canvas of [this.canvas, this.kept]) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    this.canvas.style.height = `${height}px`;
    Object.assign(this, {size: [width, height], scale});
    const context = this.kept.getContext("2d");
    context.scale(scale, scale);
    this.draw(context, width, height);
    this.refresh();
  }
  refresh() {
    if (!this.size) return;
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.kept, 0, 0);
    context.scale(this.scale, this.scale);
    this.mark(context, ...this.size);
  }
}
let pictures = [];

function renderAll() {
  colours = new Map();
  pictures.forEach((picture) => picture.render());
}

// The map: the file as one strip that is cut into lines.

const lineGap = 4;
const linesOf = (width) => Math.max(1, Math.min(Math.ceil(file.regions.length * 10 / width), 16));
const lineHeightOf = (lines) => Math.max(18, Math.round(48 / lines));
const smallest = 2; // pixels; smaller regions are drawn with this width

// Calls add(x, y, width, height) for the parts of a region on each line.
function eachPart(region, width, add) {
  const lines = linesOf(width);
  const height = lineHeightOf(lines);
  const scale = width * lines / file.size;
  const end = Math.max((region.offset + region.size) * scale, smallest);
  for (let at = Math.min(region.offset * scale, end - smallest); at < end - 0.001;) {
    const line = Math.min(Math.floor(at / width + 1e-9), lines - 1);
    const until = line === lines - 1 ? end : Math.min(end, (line + 1) * width);
    add(at - line * width, line * (height + lineGap), until - at, height);
    at = until;
  }
}

function drawMap(context, width) {
  const scale = width * linesOf(width) / file.size;
  // Small regions are drawn last, so that their neighbours do not hide them.
  for (const small of [false, true]) {
    for (const region of file.regions) {
      if (region.size * scale < smallest !== small) continue;
      context.fillStyle = colour(colourOf(region));
      eachPart(region, width, (x, y, w, h) => context.fillRect(x, y, w > 4 ? w - 1 : w, h));
      if (region.damage === undefined) continue;
      context.strokeStyle = colour("bad");
      context.lineWidth = 3;
      eachPart(region, width, (x, y, w, h) => {
        context.strokeRect(x + 1.5, y + 1.5, Math.max(w - 4, 1), h - 3);
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(x + w, y + h);
        context.stroke();
      });
    }
  }
}

function markMap(context, width) {
  context.lineWidth = 2;
  eachPart(file.regions[current], width, (x, y, w, h) => {
    context.strokeStyle = colour("surface");
    context.strokeRect(x + 2, y + 2, Math.max(w - 5, 1), h - 4);
    context.strokeStyle = colour("text");
    context.strokeRect(x, y + 1, Math.max(w - 1, 2), h - 2);
  });
}

// The region that holds a byte.
function regionAt(offset) {
  let low = 0;
  for (let high = file.regions.length; high - low > 1;) {
    const middle = Math.floor((low + high) / 2);
    if (file.regions[middle].offset <= offset) low = middle; else high = middle;
  }
  return low;
}

function regionAtPoint(event) {
  const box = byId("map").getBoundingClientRect();
  const lines = linesOf(box.width);
  const line = Math.max(0, Math.min(Math.floor((event.clientY - box.top) / (lineHeightOf(lines) + lineGap)), lines - 1));
  const scale = box.width * lines / file.size;
  const place = line * box.width + event.clientX - box.left;
  const found = regionAt(place / scale);
  // Small regions are drawn over their neighbours, the last one on top.
  for (let near = found + 3; near >= found - 3; --near) {
    const region = file.regions[near];
    if (!region || region.size * scale >= smallest) continue;
    const end = Math.max((region.offset + region.size) * scale, smallest);
    if (end - smallest <= place + 1 && place <= end + 1) return near;
  }
  return found;
}

function keyOnMap(event) {
  const line = file.size / linesOf(byId("map").clientWidth);
  const region = file.regions[current];
  const target = {
    ArrowRight: current + 1, ArrowDown: Math.max(current + 1, regionAt(region.offset + line)), PageDown: current + 10, End: Infinity,
    ArrowLeft: current - 1, ArrowUp: Math.min(current - 1, regionAt(region.offset - line)), PageUp: current - 10, Home: 0,
  }[event.key];
  if (target !== undefined) select(target);
  else if (event.key === "Enter" || event.key === " ") showValues();
  else return;
  event.preventDefault();
}

function showLegend() {
  const items = new Map();
  for (const region of file.regions) {
    const name = isBlock(region) ? region.encoding ?? "data block that cannot be read"
      : region.kind === "more" ? "not described" : region.kind;
    const item = items.get(name) ?? {colour: colourOf(region), noun: isBlock(region) ? "block" : "region", count: 0, size: 0};
    items.set(name, {...item, count: item.count + (region.count ?? 1), size: item.size + region.size});
  }
  byId("legend").replaceChildren(...[...items].map(([name, item]) => {
    const swatch = make("span", {className: "swatch"});
    swatch.style.background = `var(--${item.colour})`;
    return make("li", {}, swatch, `${name}: ${plural(item.count, item.noun)}, ${percent(item.size, file.size)}`);
  }));
}

// Charts over the blocks

// `range(block)`: the ends of the block's bar, from 0 to 1, or undefined.
function addChart(title, summary, colourName, range) {
  const canvas = make("canvas", {});
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title}: ${summary}. The table of the regions has the numbers.`);
  const axis = make("div", {className: "axis"}, make("span", {}, "row 0"), make("span", {}, `row ${number(file.rows)}`));
  const figure = make("figure", {}, make("figcaption", {}, `${title}: ${summary}`), make("div", {}, canvas), axis);
  byId("charts").append(figure);
  const draw = (context, width, height) => {
    context.fillStyle = colour("raised");
    context.fillRect(0, 0, width, height);
    context.fillStyle = colour(colourName);
    for (const block of file.blocks) {
      const ends = range(block);
      if (!ends) continue;
      const w = (block.end - block.begin) * width;
      const top = (1 - ends[1]) * (height - 2);
      context.fillRect(block.begin * width, top, Math.max(w > 4 ? w - 1 : w, 0.5), Math.max((1 - ends[0]) * (height - 2) - top, 2));
    }
  };
  const mark = (context, width, height) => {
    const region = file.regions[current];
    if (!isBlock(region)) return;
    context.strokeStyle = colour("text");
    context.lineWidth = 1.5;
    context.strokeRect(region.begin * width + 0.75, 0.75, Math.max((region.end - region.begin) * width - 1.5, 1), height - 1.5);
  };
  const selectAt = (event) => {
    const box = canvas.getBoundingClientRect();
    const place = (event.clientX - box.left) / box.width;
    const block = file.blocks.findLast((each) => each.begin <= place) ?? file.blocks[0];
    select(file.byOffset.get(block.offset));
  };
  canvas.addEventListener("pointermove", selectAt);
  canvas.addEventListener("click", (event) => { selectAt(event); showValues(); });
  pictures.push(new Picture(canvas, () => 80, draw, mark));
}

function showCharts() {
  byId("charts").replaceChildren();
  byId("charts-section").hidden = file.blocks.length === 0;
  const fact = (name) => file.facts.find((each) => each[0] === name)?.[1];
  if (file.blocks.some((block) => block.low !== undefined)) {
    addChart("Range of the values of each block", `from ${fact("minimum")} at the bottom to ${fact("maximum")} at the top`, "encoding-0",
      (block) => block.low === undefined ? undefined : [block.low, block.high]);
  }
  // A chart of one number of each block, from 0 to its maximum.
  const addNumbers = (title, colourName, value, text) => {
    const known = file.blocks.filter((block) => value(block) !== undefined);
    const top = known.reduce((most, block) => Math.max(most, value(block)), 0);
    if (known.length === 0) return;
    const range = (block) => top > 0 && value(block) !== undefined ? [0, value(block) / top] : undefined;
    addChart(title, top === 0 ? "none" : `from 0 to ${text(top)}`, colourName, range);
  };
  const shareOfNulls = (block) => block.rows > 0 && block.nulls !== undefined ? block.nulls / (block.entries ?? block.rows) : undefined;
  addNumbers("Nulls", "value", shareOfNulls, (top) => percent(top, 1));
  const bitsPerRow = (block) => block.rows > 0 ? 8 * block.size / block.rows : undefined;
  addNumbers("Bits per row", "encoding-1", bitsPerRow, (top) => top.toFixed(2));
}
