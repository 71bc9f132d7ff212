// The campaign's shapes and colours, drawn on a canvas.
//
// Belongs here: what a shape looks like. Does not: where it stands (layouts.mjs), nor layers
// and files (make.mjs).

export const COLOUR = {
  cream: "#F8F1E4",
  evergreen: "#173F33",
  moss: "#557A5B",
  sprout: "#A9C48A",
  butter: "#F3CF7F",
  apricot: "#EFA98B",
  blush: "#FADFCB",
  legal: "#4A675B",
  sky: "#F6DDB4",
};

const TAU = Math.PI * 2;

/** Fill the side of a curve that holds the copy. `curve` is [from, handle, handle, to]. */
export function pour(context, curve, corners, colour) {
  context.fillStyle = colour;
  pourPath(context, curve, corners);
  context.fill();
}

function pourPath(context, [from, first, second, to], corners) {
  context.beginPath();
  context.moveTo(...from);
  context.bezierCurveTo(...first, ...second, ...to);
  for (const corner of corners) context.lineTo(...corner);
  context.closePath();
}

/**
 * A soft field of colour inside a pour, strongest in its middle.
 *
 * Set pixel by pixel: a canvas gradient is dithered, which makes the file five times as large.
 */
export function glow(context, { x, y, radius }, curve, corners, colour) {
  const side = radius * 2;
  const field = context.createImageData(side, side);
  const channels = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column < side; column += 1) {
      const near = 1 - Math.min(1, Math.hypot(column - radius, row - radius) / radius);
      field.data.set([...channels, 255 * near * near * (3 - 2 * near)], (row * side + column) * 4);
    }
  }
  context.putImageData(field, x - radius, y - radius);
  context.globalCompositeOperation = "destination-in";
  pour(context, curve, corners, COLOUR.cream);
  context.globalCompositeOperation = "source-over";
}

/** The border round the whole picture, with the tab that carries the logo. */
export function frame(context, width, height, border, tab) {
  context.fillStyle = COLOUR.evergreen;
  context.beginPath();
  context.rect(0, 0, width, height);
  context.roundRect(border, border, width - 2 * border, height - 2 * border, 40);
  context.fill("evenodd");
  context.beginPath();
  context.roundRect(tab.x, 0, tab.width, tab.height, [0, 0, 36, 36]);
  context.fill();
}

/** The Acme mark: a drop with two leaves growing out of it. `size` is its height. */
export function mark(context, x, y, size, colour, ground) {
  const unit = size / 100;
  context.save();
  context.translate(x, y);
  context.scale(unit, unit);
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(50, 0);
  context.bezierCurveTo(66, 26, 88, 42, 88, 64);
  context.bezierCurveTo(88, 85, 71, 100, 50, 100);
  context.bezierCurveTo(29, 100, 12, 85, 12, 64);
  context.bezierCurveTo(12, 42, 34, 26, 50, 0);
  context.fill();
  context.fillStyle = ground;
  leafPath(context, 48, 88, 44, -2.25);
  leafPath(context, 52, 88, 54, -0.95);
  context.restore();
}

/** A leaf from its foot at (x, y), `length` long, towards `angle` (radians). */
function leafPath(context, x, y, length, angle) {
  context.save();
  context.translate(x, y);
  context.rotate(angle);
  context.beginPath();
  context.moveTo(0, 0);
  context.bezierCurveTo(length * 0.25, -length * 0.42, length * 0.75, -length * 0.36, length, 0);
  context.bezierCurveTo(length * 0.7, length * 0.26, length * 0.25, length * 0.3, 0, 0);
  context.fill();
  context.restore();
}

function leaf(context, x, y, length, angle, colour, vein) {
  context.fillStyle = colour;
  leafPath(context, x, y, length, angle);
  context.strokeStyle = vein;
  context.lineWidth = Math.max(2, length * 0.025);
  context.lineCap = "round";
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + Math.cos(angle) * length * 0.78, y + Math.sin(angle) * length * 0.78);
  context.stroke();
}

function blossom(context, x, y, radius, petal, heart) {
  context.fillStyle = petal;
  for (let index = 0; index < 5; index += 1) {
    const angle = (index / 5) * TAU - Math.PI / 2;
    context.save();
    context.translate(x, y);
    context.rotate(angle);
    context.beginPath();
    context.ellipse(radius * 0.58, 0, radius * 0.52, radius * 0.4, 0, 0, TAU);
    context.fill();
    context.restore();
  }
  context.fillStyle = heart;
  context.beginPath();
  context.arc(x, y, radius * 0.26, 0, TAU);
  context.fill();
}

/** A sprig that grows upwards from (x, y); `lean` is -1 (left) or 1 (right). */
export function sprig(context, x, y, size, lean) {
  const at = (share) => [
    x + lean * size * 0.34 * share ** 1.6,
    y - size * share,
  ];
  const up = -Math.PI / 2 + lean * 0.3;
  context.strokeStyle = COLOUR.moss;
  context.lineWidth = size * 0.016;
  context.lineCap = "round";
  context.beginPath();
  context.moveTo(...at(0));
  for (let step = 1; step <= 24; step += 1) context.lineTo(...at(step / 24));
  context.stroke();
  const pairs = [
    [0.16, 0.36, COLOUR.moss, COLOUR.sprout],
    [0.36, 0.34, COLOUR.sprout, COLOUR.moss],
    [0.56, 0.28, COLOUR.moss, COLOUR.sprout],
    [0.76, 0.2, COLOUR.sprout, COLOUR.moss],
  ];
  for (const [share, length, colour, vein] of pairs) {
    leaf(context, ...at(share), size * length, up - 0.95, colour, vein);
    leaf(context, ...at(share + 0.05), size * length * 0.9, up + 0.85, colour, vein);
  }
  blossom(context, ...at(1), size * 0.15, COLOUR.apricot, COLOUR.butter);
}

/** Single blossoms, as [x, y, radius, petal, heart]. */
export function blossoms(context, flowers) {
  for (const [x, y, radius, petal, heart] of flowers) {
    blossom(context, x, y, radius, COLOUR[petal], COLOUR[heart]);
  }
}

/** The colour at *share* of the way between two, as a canvas takes it. */
function between(from, to, share) {
  const mixed = [1, 3, 5].map((at) => {
    const [low, high] = [from, to].map((colour) => parseInt(colour.slice(at, at + 2), 16));
    return Math.round(low + (high - low) * share);
  });
  return `rgb(${mixed.join(",")})`;
}

/** What stands in the slot until a picture comes: a spring hill at sunrise. */
export function placeholder(context, size) {
  for (let row = 0; row < size; row += 4) {
    context.fillStyle = between(COLOUR.sky, COLOUR.apricot, row / size);
    context.fillRect(0, row, size, 4);
  }
  context.fillStyle = "#FBF0D4";
  context.beginPath();
  context.arc(size * 0.6, size * 0.42, size * 0.17, 0, TAU);
  context.fill();
  const hills = [
    ["#C5D3A0", 0.6, 0.5, 0.62],
    ["#8FB07F", 0.74, 0.6, 0.68],
    ["#557A5B", 0.84, 0.9, 0.8],
  ];
  for (const [colour, left, middle, right] of hills) {
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(0, size * left);
    context.bezierCurveTo(size * 0.3, size * middle, size * 0.6, size, size, size * right);
    context.lineTo(size, size);
    context.lineTo(0, size);
    context.fill();
  }
}
