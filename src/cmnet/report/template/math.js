// Vectors are arrays of 3, rotations unit quaternions [x, y, z, w], matrices column-major arrays of 16.
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => scale(a, 1 / Math.max(norm(a), 1e-30));
const mix = (a, b, t) => a + (b - a) * t;
const mix3 = (a, b, t) => [mix(a[0], b[0], t), mix(a[1], b[1], t), mix(a[2], b[2], t)];
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const smooth = (t) => { const s = clamp(t, 0, 1); return s * s * (3 - 2 * s); };

const IDENTITY = [0, 0, 0, 1];

function turnBy(axis, angle) {
  const [x, y, z] = scale(axis, Math.sin(angle / 2));
  return [x, y, z, Math.cos(angle / 2)];
}

function times(a, b) {
  return [
    a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
    a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
    a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
    a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
  ];
}

function rotate(q, v) {
  const u = [q[0], q[1], q[2]];
  const t = scale(cross(u, v), 2);
  return add(add(v, scale(t, q[3])), cross(u, t));
}

// Normalised linear interpolation along the shorter arc: exact enough for damping.
function towards(a, b, t) {
  const near = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1;
  const q = a.map((value, k) => mix(value, near * b[k], t));
  const length = Math.hypot(...q);
  return q.map((value) => value / length);
}

// The rotation of a row-major 4 × 4 pose, as Python writes it.
function rotationOf(m) {
  const [a, b, c, , d, e, f, , g, h, i] = m;
  const trace = a + e + i;
  let q;
  if (trace > 0) q = [h - f, c - g, d - b, 1 + trace];
  else if (a > e && a > i) q = [1 + a - e - i, b + d, c + g, h - f];
  else if (e > i) q = [b + d, 1 + e - a - i, f + h, c - g];
  else q = [c + g, f + h, 1 + i - a - e, d - b];
  const length = Math.hypot(...q);
  return q.map((value) => value / length);
}

// A rigid motion {q, p}: x ↦ q x + p.
const rigid = (m) => ({ q: rotationOf(m), p: [m[3], m[7], m[11]] });
const apply = (T, v) => add(rotate(T.q, v), T.p);
const compose = (A, B) => ({ q: times(A.q, B.q), p: apply(A, B.p) });
const turnAbout = (point, axis, angle) => {
  const q = turnBy(axis, angle);
  return { q, p: sub(point, rotate(q, point)) };
};
const shift = (v) => ({ q: IDENTITY, p: v });

function matrixOf(T, factor = 1) {
  const x = scale(rotate(T.q, [1, 0, 0]), factor);
  const y = scale(rotate(T.q, [0, 1, 0]), factor);
  const z = scale(rotate(T.q, [0, 0, 1]), factor);
  return [...x, 0, ...y, 0, ...z, 0, ...T.p, 1];
}

function multiply(a, b) {
  const m = new Array(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++)
      m[4 * c + r] = a[r] * b[4 * c] + a[4 + r] * b[4 * c + 1] + a[8 + r] * b[4 * c + 2] + a[12 + r] * b[4 * c + 3];
  return m;
}

function perspective(fov, aspect, near, far) {
  const f = 1 / Math.tan(fov / 2);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0];
}

function orthographic(radius) {
  const s = 1 / radius;
  return [s, 0, 0, 0, 0, s, 0, 0, 0, 0, -s, 0, 0, 0, 0, 1];
}

// World to eye, from an eye's place and its axes.
function lookFrom(eye, right, up, back) {
  return [
    right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
  ];
}

// Two directions at right angles to a unit vector.
function beside(n) {
  const other = Math.abs(n[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0];
  const x = unit(cross(other, n));
  return [x, cross(n, x)];
}

// The box around points: its corners, its middle and half its size.
function boxOf(points) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const point of points) {
    for (let c = 0; c < 3; c++) {
      low[c] = Math.min(low[c], point[c]);
      high[c] = Math.max(high[c], point[c]);
    }
  }
  return { low, high, centre: scale(add(low, high), 0.5), half: scale(sub(high, low), 0.5) };
}
