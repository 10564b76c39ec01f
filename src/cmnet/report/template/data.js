// The facts and the block of numbers that the page carries, unpacked.
const facts = JSON.parse(document.getElementById('facts').textContent);

async function unpackNumbers() {
  const text = document.getElementById('numbers').textContent.trim();
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}

const toLinear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const linear = (hex) => [1, 3, 5].map((k) => toLinear(parseInt(hex.slice(k, k + 2), 16) / 255));

function figure(x) {
  if (x === null) return '–';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-4) return x.toExponential(1).replace('e', ' × 10^').replace('+', '');
  return String(Number(x.toPrecision(2)));
}

const behind = (power) => (facts.unit ? ` ${facts.unit}${power}` : '');
const length = (x) => figure(x) + behind('');
const area = (x) => figure(x) + behind('²');
// How far something may be off, if that is known: a length and degrees.
const plusMinus = (off) => (off ? `±\u00a0${length(off[0])} · ±\u00a0${figure(off[1])}°` : '');

// What each part is to the assembly: its group, whether it is the part the others are joined to, how sure that is.
function rolesOf() {
  const roles = facts.parts.map(() => ({ group: -1, base: false, sure: null, join: null, order: -1 }));
  facts.steps.forEach((step, order) => {
    const first = facts.steps.findIndex((other) => other.group === step.group) === order;
    roles[step.part] = { group: step.group, base: first, sure: step.sure, join: step.join, order };
  });
  return roles;
}
const roles = rolesOf();
