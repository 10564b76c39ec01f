// An eye that circles what is visible. It looks at the middle, keeps everything in the picture, and follows softly.
const START = { yaw: 0.55, pitch: 0.3, zoom: 1, pan: [0, 0] };
const KEY_TURN = -0.75; // of the key light, beside the eye
const KEY_HEIGHT = 0.95;
const KEY_DISC = 0.09; // radius of the key light: how soft its shadows are

const SHARE = [0.84, 0.74]; // of the picture's width and height that things may fill
const LOWERED = 0.06; // of the picture: the middle is drawn so much higher, above the bar

class Camera {
  constructor() {
    this.goal = { ...START, target: [0, 0, 0], distance: 1 };
    this.now = null;
  }

  reset() { Object.assign(this.goal, START); }

  turn(yaw, pitch) {
    this.goal.yaw += yaw;
    this.goal.pitch = clamp(this.goal.pitch + pitch, -1.55, 1.55);
  }

  zoom(factor) { this.goal.zoom = clamp(this.goal.zoom * factor, 0.08, 6); }

  // Shift what is looked at, in parts of the picture's height.
  shift(x, y) { this.goal.pan = [this.goal.pan[0] + x, this.goal.pan[1] + y]; }

  // Look along −direction; of two ways round the nearer one. Things stand beside the card or under it.
  lookFrom(direction, pitch) {
    const yaw = Math.atan2(direction[0], direction[2]);
    const turns = Math.round((this.goal.yaw - yaw) / (2 * Math.PI));
    Object.assign(this.goal, { yaw: yaw + 2 * Math.PI * turns, pitch, zoom: 1, pan: this.aspect > 1.1 ? [-0.12, 0] : [0, 0.12] });
  }

  // Far enough back that points keep within their share of the picture, seen from where the eye is going.
  fit(points, aspect) {
    this.aspect = aspect;
    const { centre } = boxOf(points);
    const { yaw, pitch } = this.goal;
    const back = [Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch)];
    const right = [Math.cos(yaw), 0, -Math.sin(yaw)];
    const up = cross(back, right);
    const high = Math.tan(FIELD_OF_VIEW / 2);
    let distance = 0;
    for (const point of points) {
      const at = sub(point, centre);
      const spread = Math.max(Math.abs(dot(at, right)) / (aspect * SHARE[0]), Math.abs(dot(at, up)) / SHARE[1]) / high;
      distance = Math.max(distance, spread + dot(at, back));
    }
    Object.assign(this.goal, { target: centre, distance: Math.max(distance, 1e-30) });
  }

  // A share of the way to the goal; true while it still moves.
  follow(share) {
    const goal = this.goal;
    if (!this.now) this.now = JSON.parse(JSON.stringify(goal));
    const now = this.now;
    const far = Math.abs(goal.yaw - now.yaw) + Math.abs(goal.pitch - now.pitch) + Math.abs(Math.log(goal.zoom / now.zoom))
      + norm(sub(goal.target, now.target)) / now.distance + Math.abs(Math.log(goal.distance / now.distance))
      + Math.hypot(goal.pan[0] - now.pan[0], goal.pan[1] - now.pan[1]);
    const t = far < 4e-4 ? 1 : share;
    for (const key of ['yaw', 'pitch']) now[key] = mix(now[key], goal[key], t);
    for (const key of ['zoom', 'distance']) now[key] = now[key] * (goal[key] / now[key]) ** t;
    now.target = mix3(now.target, goal.target, t);
    now.pan = [mix(now.pan[0], goal.pan[0], t), mix(now.pan[1], goal.pan[1], t)];
    return far >= 4e-4;
  }

  get back() {
    const { yaw, pitch } = this.now;
    return [Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch)];
  }

  get right() { return [Math.cos(this.now.yaw), 0, -Math.sin(this.now.yaw)]; }

  get up() { return cross(this.back, this.right); }

  get away() { return this.now.distance * this.now.zoom; }

  get middle() {
    const high = 2 * this.away * Math.tan(FIELD_OF_VIEW / 2);
    const [x, y] = this.now.pan;
    return add(this.now.target, add(scale(this.right, -x * high), scale(this.up, y * high)));
  }

  get eye() { return add(this.middle, scale(this.back, this.away)); }

  // World to clip; jitter in clip units.
  view(aspect, jitter) {
    const reach = this.depth || 1;
    const projection = perspective(FIELD_OF_VIEW, aspect, Math.max(this.away - reach, reach / 500), this.away + reach);
    projection[8] += jitter[0];
    projection[9] += jitter[1] - LOWERED;
    return multiply(projection, lookFrom(this.eye, this.right, this.up, this.back));
  }

  // The direction to the key light, over the shoulder of the eye; two numbers in [0, 1) choose a point of its disc.
  keyLight([a, b]) {
    const turn = this.now.yaw + KEY_TURN;
    const middle = unit([Math.sin(turn), KEY_HEIGHT, Math.cos(turn)]);
    const [x, y] = beside(middle);
    const far = KEY_DISC * Math.sqrt(b);
    return unit(add(middle, add(scale(x, far * Math.cos(2 * Math.PI * a)), scale(y, far * Math.sin(2 * Math.PI * a)))));
  }
}
