// What is shown and where: every part has a goal and goes there softly.
const EXPLODE = 1.05; // how far parts go apart, in distances from the middle of their group
const OPEN_ANGLE = 1.45; // by which the smaller part of a join swings open,
const OPEN_GAP = 1.7; // how far it moves off, in radii of the contact,
const OPEN_VIEW = 0.65; // and how far round to its side the eye goes
const JOIN_REACH = 2.2; // radii of the contact that a picture of a join shows
const GHOST = 0.2; // how much is left of the others while one part is seen alone
const DIRECTIONS = 120; // in which a part's outermost points are kept,
const LOOKED_AT = 6000; // among so many of its points
const LIGHT_LOOK = {
  background: linear('#eceae6'), top: linear('#fbfcff').map((c) => c * 0.8), bottom: linear('#b9ada0').map((c) => c * 0.55),
  key: [0.62, 0.6, 0.56], vignette: 0.16, shadow: 0.75, accent: [0, 0.36, 0.62],
  weakLine: linear('#9a948b'), strongLine: linear('#0b4f86'),
};
const LOOKS = {
  light: LIGHT_LOOK,
  dark: {
    background: linear('#1d1f23'), top: linear('#dfe6f2').map((c) => c * 0.6), bottom: linear('#5d564f').map((c) => c * 0.5),
    key: [0.72, 0.69, 0.63], vignette: 0.45, shadow: 0.85, accent: [0.47, 0.76, 1],
    weakLine: linear('#77736d'), strongLine: linear('#9fd4ff'),
  },
  paper: { ...LIGHT_LOOK, background: [3, 3, 3], vignette: 0, shadow: 0.5 },
};

class Scene {
  constructor(numbers, camera) {
    Object.assign(this, { numbers, camera, hovered: -1, chosen: -1, ratio: 1, lines: [] });
    Object.assign(this, { explode: 0, open: 0.5, part: -1, join: -1, hidden: new Set(), up: 0, film: null });
    Object.assign(this, { colour: facts.parts.every((part) => part.colours) ? 'scan' : 'part', lineScore: 'weights' });
    this.hulls = facts.parts.map((part) => this.hullOf(part));
    this.bodies = facts.parts.map((part) => ({ albedo: linear(part.tone), mode: 0, alpha: 1, matrix: null }));
    this.lay();
    this.aim();
    this.settle();
    this.place();
  }

  // Everything at its goal at once.
  settle() { this.bodies.forEach((body) => { body.way = body.now = body.goal; body.alpha = body.want; }); }

  // The outermost points of a part in its own coordinates, in many directions.
  hullOf(part) {
    const [start, count] = part.positions;
    const xyz = new Uint16Array(this.numbers, start, count);
    const stride = 3 * Math.max(1, Math.floor(count / 3 / LOOKED_AT));
    const hull = new Set();
    for (let d = 0; d < DIRECTIONS; d++) {
      const y = 1 - (2 * d + 1) / DIRECTIONS;
      const ring = Math.sqrt(1 - y * y);
      const [x, z] = [ring * Math.cos(d * 2.399963), ring * Math.sin(d * 2.399963)];
      let [best, far] = [0, -Infinity];
      for (let k = 0; k + 2 < count; k += stride) {
        const reach = x * xyz[k] + y * xyz[k + 1] + z * xyz[k + 2];
        if (reach > far) [best, far] = [k, reach];
      }
      hull.add(best);
    }
    return [...hull].map((k) => [0, 1, 2].map((c) => part.low[c] + xyz[k + c] / 65535 * part.scale));
  }

  // The box around some parts in given places.
  extent(parts, places) {
    return boxOf([...parts].flatMap((k) => this.hulls[k].map((point) => apply(places[k], point))));
  }

  // Another direction upwards: turn every group about its middle and move the groups apart again.
  lay() {
    const turns = [IDENTITY, turnBy([1, 0, 0], Math.PI / 2), turnBy([1, 0, 0], Math.PI), turnBy([1, 0, 0], -Math.PI / 2),
      turnBy([0, 0, 1], Math.PI / 2), turnBy([0, 0, 1], -Math.PI / 2)];
    const first = facts.poses.map(rigid);
    this.home = first.slice();
    let moved = 0;
    for (const { parts } of facts.groups) {
      const before = this.extent(parts, first);
      const about = compose(shift(before.centre), compose({ q: turns[this.up], p: [0, 0, 0] }, shift(scale(before.centre, -1))));
      parts.forEach((k) => { this.home[k] = compose(about, first[k]); });
      const after = this.extent(parts, this.home);
      const step = shift([moved + before.low[0] - after.low[0], before.low[1] - after.low[1], 0]);
      parts.forEach((k) => { this.home[k] = compose(step, this.home[k]); });
      moved += 2 * (after.half[0] - before.half[0]);
    }
    facts.unplaced.forEach((k) => { this.home[k] = compose(shift([moved, 0, 0]), first[k]); });
    this.whole = this.extent(facts.parts.map((_, k) => k), this.home);
    this.groupBoxes = facts.groups.map(({ parts }) => this.extent(parts, this.home));
  }

  // Goals of all parts from the state.
  aim() {
    const places = this.home.map((home, k) => compose(shift(this.apart(k)), home));
    if (this.join >= 0) this.openJoin(places);
    const pair = this.join >= 0 ? facts.joins[this.join].parts : null;
    this.bodies.forEach((body, k) => {
      body.goal = places[k];
      const shown = pair ? pair.includes(k) : !this.hidden.has(k);
      const ghost = !pair && this.part >= 0 && this.part !== k;
      body.want = shown ? (ghost ? GHOST : 1) : 0;
      body.mode = this.modeOf(k);
    });
  }

  modeOf(k) {
    if (this.colour === 'gap' && (this.join >= 0 || roles[k].group >= 0)) return 1;
    return this.colour === 'scan' && facts.parts[k].colours ? 2 : 0;
  }

  // How far a part moves from its place while the groups are taken apart.
  apart(k) {
    const group = roles[k].group;
    const amount = this.film ? this.film.spread[k] : this.explode;
    const outwards = group < 0 ? [0, 0, 0] : sub(apply(this.home[k], facts.parts[k].centre), this.groupBoxes[group].centre);
    const middle = group < 0 ? apply(this.home[k], facts.parts[k].centre) : this.groupBoxes[group].centre;
    const sideways = facts.groups.length + facts.unplaced.length > 1 ? [middle[0] - this.whole.centre[0], 0, 0] : [0, 0, 0];
    const all = this.film ? Math.max(...this.film.spread) : this.explode;
    return add(scale(outwards, EXPLODE * amount), scale(sideways, 0.8 * all));
  }

  // The two parts of a join in its own pose: the larger one stays, the smaller one opens like a door towards the eye.
  openJoin(places) {
    const { parts: [i, j], pose } = facts.joins[this.join];
    const { mover, point, normal, axis, radius } = this.hinge;
    const swing = compose(shift(scale(normal, this.open * radius * OPEN_GAP)), turnAbout(point, axis, this.open * OPEN_ANGLE));
    places[i] = this.home[i];
    places[j] = compose(this.home[i], rigid(pose));
    places[mover] = compose(swing, places[mover]);
  }

  chooseJoin(index) {
    Object.assign(this, { join: index, part: -1, film: null, chosen: -1 });
    const { parts: [i, j], pose, contact } = facts.joins[index];
    const home = this.home[i];
    const places = { [i]: home, [j]: compose(home, rigid(pose)) };
    const spans = [i, j].map((k) => norm(this.extent([k], places).half));
    const mover = spans[0] < spans[1] ? i : j;
    const normal = scale(rotate(home.q, contact.normal), mover === j ? 1 : -1); // out of the part that stays
    const point = apply(home, contact.point);
    const flat = (v) => sub(v, scale(normal, dot(v, normal)));
    // Seen from outside, where that says something: from the middle of the two towards the contact.
    const outwards = flat(sub(point, this.extent([i, j], places).centre));
    const front = unit(norm(outwards) > 0.15 * Math.max(...spans) ? outwards : flat(this.camera.back));
    this.hinge = { mover, point, normal, axis: cross(front, normal), radius: contact.radius };
    const from = unit(add(scale(front, Math.cos(OPEN_VIEW)), scale(normal, Math.sin(OPEN_VIEW))));
    this.camera.lookFrom(from, clamp(Math.asin(clamp(from[1], -1, 1)) + 0.1, -0.3, 1.2));
  }

  // The film: everything apart, then part by part in the order in which the joins connect them.
  play() {
    Object.assign(this, { join: -1, part: -1, explode: 0 });
    this.film = { time: 0, running: true, step: -1, spread: facts.parts.map((_, k) => (roles[k].group < 0 ? 0 : 1)) };
  }

  get playing() { return Boolean(this.film && this.film.running); }

  // Seconds of the film before the first part moves, and of one step.
  get pace() { return { lead: 1.2, step: clamp(10 / Math.max(facts.steps.length, 1), 0.4, 1.4) }; }

  advance(seconds) {
    const film = this.film;
    if (!this.playing) return;
    film.time += seconds;
    const moving = facts.steps.filter((step) => !roles[step.part].base);
    film.step = Math.min(Math.floor((film.time - this.pace.lead) / this.pace.step), moving.length - 1);
    moving.forEach((step, k) => { film.spread[step.part] = k <= film.step ? 0 : 1; });
    facts.steps.filter((step) => roles[step.part].base).forEach((step) => { film.spread[step.part] = 0; });
    film.current = film.step >= 0 ? moving[film.step] : null;
    if (film.time > this.pace.lead + moving.length * this.pace.step + 0.6) this.film = null;
  }

  // One step of time; true while anything still moves.
  move(share, aspect) {
    this.aim();
    let far = 0;
    for (const body of this.bodies) {
      const step = (from, to) => ({ q: towards(from.q, to.q, share), p: mix3(from.p, to.p, share) });
      const off = (from, to) => norm(sub(from.p, to.p)) / this.size + Math.hypot(...turnBetween(from.q, to.q));
      const left = off(body.now, body.goal) + off(body.way, body.goal);
      if (left < 3e-4) body.way = body.now = body.goal;
      else {
        body.way = step(body.way, body.goal);
        body.now = step(body.now, body.way);
        far += left;
      }
      const fade = body.want - body.alpha;
      body.alpha = Math.abs(fade) < 0.02 ? body.want : body.alpha + fade * Math.min(1, share * 1.4);
      if (body.alpha !== body.want) far += 1;
    }
    this.place();
    this.frame(aspect);
    return far > 0;
  }

  get size() { return Math.max(norm(this.whole.half), 1e-30); }

  place() {
    this.bodies.forEach((body, k) => {
      const { low, scale: factor } = facts.parts[k];
      body.matrix = matrixOf({ q: body.now.q, p: apply(body.now, low) }, factor);
    });
    const solid = this.bodies.flatMap((body, k) => (body.alpha > 0.5 ? [k] : []));
    const seen = solid.length ? solid : this.bodies.map((_, k) => k);
    const box = this.extent(seen, this.bodies.map((body) => body.now));
    const radius = norm(box.half);
    const lift = this.camera.now ? smooth((this.camera.eye[1] - box.low[1]) / radius) : 1;
    this.bounds = { centre: box.centre, radius };
    this.ground = {
      centre: [box.centre[0], box.low[1] - 0.002 * radius, box.centre[2]],
      radius: radius * 3, strength: (this.look ? this.look.shadow : 1) * lift,
    };
    this.camera.depth = 4 * radius + norm(sub(box.centre, this.camera.goal.target));
    this.lines = this.linesOf();
  }

  // Let the camera keep in the picture what is solid, where that is going. Turning alone changes nothing.
  frame(aspect) {
    const solid = this.bodies.flatMap((body, k) => (body.want === 1 ? [k] : []));
    const seen = solid.length ? solid : this.bodies.map((_, k) => k);
    const key = JSON.stringify([seen, aspect, seen.map((k) => this.bodies[k].goal)]);
    if (key === this.frameKey) return;
    this.frameKey = key;
    const places = this.bodies.map((body) => body.goal);
    const points = seen.flatMap((k) => this.hulls[k].map((point) => apply(places[k], point)));
    this.camera.fit(this.join < 0 ? points : this.nearContact(points), aspect);
  }

  // Of a join the contact matters: what is far from it may leave the picture.
  nearContact(points) {
    const { point, radius } = this.hinge;
    return points.map((at) => add(point, scale(sub(at, point), Math.min(1, JOIN_REACH * radius / norm(sub(at, point))))));
  }

  // Matched points of the chosen join as [from, to, colour] of drawn lines.
  linesOf() {
    const join = this.join >= 0 ? facts.joins[this.join] : null;
    if (!join || !join.matches || this.lineScore === 'off') return [];
    const ends = new Float32Array(this.numbers, ...join.matches.ends);
    const scores = join.matches[this.lineScore] || join.matches.weights;
    const [a, b] = join.parts.map((k) => this.bodies[k].now);
    const [lowA, lowB] = join.parts.map((k) => facts.parts[k].low);
    return scores.map((score, k) => {
      const from = apply(a, add(lowA, ends.slice(6 * k, 6 * k + 3)));
      const to = apply(b, add(lowB, ends.slice(6 * k + 3, 6 * k + 6)));
      const strong = clamp(score, 0, 1);
      return [...from, ...to, ...mix3(this.look.weakLine, this.look.strongLine, strong), 0.25 + 0.65 * strong];
    });
  }
}

// Difference of two rotations, whatever the sign of their quaternions.
function turnBetween(a, b) {
  const near = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1;
  return a.map((value, k) => value - near * b[k]);
}
