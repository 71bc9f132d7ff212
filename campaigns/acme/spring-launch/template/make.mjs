// Writes the campaign's templates, one PSD per aspect, beside this folder.
//
//   npm ci && npm run make
//
// Belongs here: the layer tree and the file. Does not: shapes (drawing.mjs), places (layouts.mjs).
// Layer ids are stable, since an edit may name a layer by its id. The fonts are those that are
// bundled with the package; a text layer also carries its pixels, so that any viewer shows it.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { createCanvas, GlobalFonts } from "@napi-rs/canvas";
import { writePsd } from "ag-psd";

import * as drawing from "./drawing.mjs";
import { LAYOUTS } from "./layouts.mjs";

const { COLOUR } = drawing;
const FONTS = new URL("../../../../fireflyassets/twin/fonts/", import.meta.url);
const HERO_ID = "5f0c2c1e-6a1b-4f0e-9d53-0a7e2b9c4d11";
const HERO_SIZE = 1200;
const HEADLINE = "Spring, poured fresh";
const LEGAL = "© Acme · acme.example/spring";
const FACE = { headline: "Fraunces-SemiBold", legal: "Outfit-Medium" };

for (const face of Object.values(FACE)) {
  GlobalFonts.registerFromPath(fileURLToPath(new URL(`${face}.ttf`, FONTS)), face);
}

/** A canvas of the layout's size with *draw* done on it. */
function sheet(layout, draw) {
  const canvas = createCanvas(layout.width, layout.height);
  draw(canvas.getContext("2d"));
  return canvas;
}

/** A pixel layer, trimmed to its ink. */
function pixels(id, name, layout, draw) {
  return { id, name, ...trimmed(sheet(layout, draw)) };
}

function trimmed(canvas) {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (data[(y * width + x) * 4 + 3] === 0) continue;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y + 1);
    }
  }
  const [inkWidth, inkHeight] = [right - left, bottom - top];
  const imageData = canvas.getContext("2d").getImageData(left, top, inkWidth, inkHeight);
  return { left, top, right, bottom, imageData };
}

function group(id, name, children) {
  return { id, name, opened: true, blendMode: "pass through", children };
}

function placeholder() {
  const canvas = createCanvas(HERO_SIZE, HERO_SIZE);
  drawing.placeholder(canvas.getContext("2d"), HERO_SIZE);
  return canvas;
}

/** The slot: its quad is the hero's box; its pixels are the placeholder, covering that box. */
function hero(id, layout, picture) {
  const { x, y, width, height } = layout.hero;
  const scale = Math.max(width, height) / HERO_SIZE;
  const side = HERO_SIZE * scale;
  const canvas = sheet(layout, (context) => {
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.drawImage(picture, x + (width - side) / 2, y + (height - side) / 2, side, side);
  });
  const transform = [x, y, x + width, y, x + width, y + height, x, y + height];
  return {
    id,
    name: "Hero",
    ...trimmed(canvas),
    placedLayer: {
      id: HERO_ID,
      type: "raster",
      transform,
      width: HERO_SIZE,
      height: HERO_SIZE,
      resolution: { value: 72, units: "Density" },
    },
  };
}

/** A text layer in a fixed box, its first line's ascent at the box's top. */
function text(id, name, layout, words, face, box, colour) {
  const leading = box.leading ?? Math.round(box.size * 1.25);
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const canvas = sheet(layout, (context) => {
    context.font = `${box.size}px "${face}"`;
    context.fillStyle = colour;
    const { fontBoundingBoxAscent: ascent } = context.measureText(words);
    context.fillText(words, box.x, box.y + ascent);
  });
  return {
    id,
    name,
    ...trimmed(canvas),
    text: {
      text: words,
      transform: [1, 0, 0, 1, box.x, box.y],
      shapeType: "box",
      boxBounds: [0, 0, box.width, box.height],
      style: {
        font: { name: face },
        fontSize: box.size,
        autoLeading: false,
        leading,
        fillColor: { r: red, g: green, b: blue },
      },
      paragraphStyle: { justification: "left" },
    },
  };
}

function logo(context, { x, width, height }) {
  const size = height * 0.52;
  const top = height * 0.26;
  const wordSize = height * 0.4;
  context.font = `${wordSize}px "${FACE.headline}"`;
  const word = context.measureText("acme");
  const gap = height * 0.12;
  const left = x + (width - size - gap - word.width) / 2;
  drawing.mark(context, left, top, size, COLOUR.cream, COLOUR.evergreen);
  context.fillStyle = COLOUR.cream;
  context.fillText("acme", left + size + gap, top + size * 0.82);
}

function layers(layout, picture) {
  const { width, height, curves, corners, hairline } = layout;
  const fill = (colour) => (context) => {
    context.fillStyle = colour;
    context.fillRect(0, 0, width, height);
  };
  const pour = (name) => (context) =>
    drawing.pour(context, curves[name], corners, COLOUR[name]);
  return [
    pixels(2, "Paper", layout, fill(COLOUR.blush)),
    hero(3, layout, picture),
    group(4, "Pour", [
      pixels(5, "Pour Butter", layout, pour("butter")),
      pixels(6, "Pour Sprout", layout, pour("sprout")),
      pixels(7, "Pour Cream", layout, pour("cream")),
      pixels(9, "Glow", layout, (on) =>
        drawing.glow(on, layout.glow, curves.cream, corners, COLOUR.blush),
      ),
    ]),
    group(8, "Brand", [
      pixels(10, "Sprig", layout, (on) => {
        const { sprig } = layout;
        drawing.sprig(on, sprig.x, sprig.y, sprig.size, sprig.lean);
        drawing.blossoms(on, layout.flowers);
      }),
      pixels(11, "Hairline", layout, (on) => {
        on.fillStyle = COLOUR.sprout;
        on.fillRect(hairline.x, hairline.y, hairline.width, 3);
      }),
      pixels(12, "Frame", layout, (on) => drawing.frame(on, width, height, 20, layout.tab)),
      pixels(13, "Logo", layout, (on) => logo(on, layout.tab)),
    ]),
    text(14, "Headline", layout, HEADLINE, FACE.headline, layout.headline, COLOUR.evergreen),
    text(15, "Legal", layout, LEGAL, FACE.legal, layout.legal, COLOUR.legal),
  ];
}

/** The flattened picture that viewers without layers show. */
function flatten(layout, tree) {
  return sheet(layout, (context) => {
    const draw = (layer) => {
      if (layer.children) return layer.children.forEach(draw);
      const { left, top, imageData } = layer;
      const piece = createCanvas(imageData.width, imageData.height);
      piece.getContext("2d").putImageData(imageData, 0, 0);
      context.drawImage(piece, left, top);
    };
    tree.forEach(draw);
  });
}

const picture = placeholder();
const linked = { id: HERO_ID, name: "hero.png", data: new Uint8Array(picture.toBuffer("image/png")) };
for (const layout of LAYOUTS) {
  const children = layers(layout, picture);
  const preview = flatten(layout, children);
  const { width, height } = layout;
  const imageData = preview.getContext("2d").getImageData(0, 0, width, height);
  const document = { width, height, imageData, children, linkedFiles: [linked] };
  const bytes = writePsd(document, { generateThumbnail: false, compress: true, noBackground: true });
  const path = fileURLToPath(new URL(`../${width}x${height}.psd`, import.meta.url));
  writeFileSync(path, Buffer.from(bytes));
  console.log(`${path}: ${(bytes.byteLength / 1024).toFixed(0)} KiB`);
}
