// Where everything stands, once per aspect. All numbers are pixels.
//
// Belongs here: places and sizes. Does not: what a shape looks like (drawing.mjs).
//
// Rules kept in each: text stays 64 px or more from the edge, the headline's box holds 38
// letters in two lines at its size, and nothing decorative crosses a text box.

export const LAYOUTS = [
  {
    width: 1920,
    height: 1080,
    tab: { x: 104, width: 330, height: 150 },
    hero: { x: 920, y: 0, width: 1000, height: 1080 },
    corners: [[0, 1080], [0, 0]],
    curves: {
      butter: [[1240, 0], [1330, 380], [900, 690], [1120, 1080]],
      sprout: [[1180, 0], [1280, 380], [870, 700], [1070, 1080]],
      cream: [[1110, 0], [1220, 370], [860, 700], [1030, 1080]],
    },
    glow: { x: 250, y: 1010, radius: 620 },
    sprig: { x: 1010, y: 1090, size: 470, lean: 1 },
    flowers: [[872, 968, 40, "apricot", "butter"], [796, 1010, 26, "butter", "apricot"]],
    headline: { x: 104, y: 410, width: 876, height: 310, size: 80, leading: 92 },
    hairline: { x: 104, y: 906, width: 600 },
    legal: { x: 104, y: 930, width: 640, height: 40, size: 24 },
  },
  {
    width: 1080,
    height: 1920,
    tab: { x: 84, width: 350, height: 176 },
    hero: { x: 0, y: 0, width: 1080, height: 1320 },
    corners: [[1080, 1920], [0, 1920]],
    curves: {
      butter: [[0, 1030], [330, 1260], [700, 960], [1080, 1170]],
      sprout: [[0, 1086], [330, 1306], [710, 996], [1080, 1220]],
      cream: [[0, 1160], [330, 1340], [720, 1030], [1080, 1280]],
    },
    glow: { x: 960, y: 1800, radius: 640 },
    sprig: { x: 914, y: 1930, size: 216, lean: 1 },
    flowers: [[772, 1836, 36, "apricot", "butter"], [706, 1866, 22, "butter", "apricot"]],
    headline: { x: 84, y: 1336, width: 912, height: 324, size: 84, leading: 98 },
    hairline: { x: 84, y: 1716, width: 520 },
    legal: { x: 84, y: 1742, width: 560, height: 44, size: 26 },
  },
  {
    width: 1080,
    height: 1080,
    tab: { x: 72, width: 300, height: 140 },
    hero: { x: 0, y: 0, width: 1080, height: 720 },
    corners: [[1080, 1080], [0, 1080]],
    curves: {
      butter: [[0, 545], [330, 730], [700, 500], [1080, 640]],
      sprout: [[0, 590], [330, 768], [710, 530], [1080, 684]],
      cream: [[0, 646], [330, 800], [720, 566], [1080, 736]],
    },
    glow: { x: 950, y: 1000, radius: 460 },
    sprig: { x: 1062, y: 760, size: 290, lean: -1 },
    flowers: [[992, 1006, 28, "apricot", "butter"], [938, 1028, 17, "butter", "apricot"]],
    headline: { x: 72, y: 764, width: 936, height: 208, size: 74, leading: 88 },
    hairline: { x: 72, y: 984, width: 480 },
    legal: { x: 72, y: 1000, width: 560, height: 40, size: 24 },
  },
];
