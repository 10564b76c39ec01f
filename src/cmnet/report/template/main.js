// The application: state changes come in here, pictures go out.
//
// window.cmnet.state() tells what is shown, for tests and scripts:
//   parts    [{name, visible, alpha, position}], position being where the part's middle is drawn
//   explode, open, join, part, colour, theme, playing, turning, caption
//   moving   parts or the eye are on their way
//   settled  nothing moves any more and the picture is finished
// window.cmnet.finish() draws the picture at rest to its end even on a slow machine.
const QUIET = matchMedia('(prefers-reduced-motion: reduce)');
const DARK = matchMedia('(prefers-color-scheme: dark)');

class App {
  constructor(numbers) {
    this.camera = new Camera();
    this.scene = new Scene(numbers, this.camera);
    this.turning = false;
    this.panel = new Panel(this);
    this.controls = new Controls(this);
    this.setTheme(DARK.matches ? 'dark' : 'light');
    DARK.addEventListener('change', () => this.setTheme(DARK.matches ? 'dark' : 'light'));
    this.label();
    this.start(numbers);
    new ResizeObserver(() => this.changed()).observe($('stage'));
    addEventListener('beforeprint', () => preparePaper(this));
    addEventListener('afterprint', () => this.changed());
    this.changed();
  }

  start(numbers) {
    try {
      this.renderer = new Renderer($('view'), numbers);
    } catch (error) {
      $('trouble').hidden = false;
      $('trouble').textContent = `The picture cannot be drawn here (${error.message}). The lists and the printed page still work; `
        + 'a current browser with 3D graphics switched on shows everything.';
    }
    $('view').addEventListener('webglcontextlost', (event) => event.preventDefault());
    $('view').addEventListener('webglcontextrestored', () => {
      this.renderer = new Renderer($('view'), numbers);
      this.changed();
    });
  }

  // Something changed: refresh the lists and draw until it rests again.
  changed() {
    this.stale = true; // what was drawn last shows something else
    this.panel.refresh(this.scene);
    this.panel.showCard(this.scene);
    this.controls.refresh(this.scene);
    this.caption();
    this.wake();
  }

  wake() {
    this.moving = true;
    if (this.awake || !this.renderer) return;
    this.awake = true;
    this.last = performance.now();
    requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    const seconds = clamp((now - this.last) / 1000, 0.001, 0.15);
    this.last = now;
    const { scene, camera, renderer } = this;
    if (scene.film) this.advance(seconds);
    if (this.turning) camera.goal.yaw += 0.35 * seconds;
    const moving = this.step(QUIET.matches ? 1 : 1 - Math.exp(-seconds / 0.075)) || this.turning || scene.playing || this.stale;
    this.resize();
    if (moving && this.moving) renderer.watch(1000 * seconds);
    this.moving = moving;
    this.stale = false;
    if (moving) renderer.drawMoving(scene);
    else if (!renderer.rested) renderer.drawStill(scene);
    this.placeLabels();
    this.awake = moving || !renderer.rested;
    if (this.awake) requestAnimationFrame((next) => this.tick(next));
  }

  step(share) {
    const aspect = $('stage').clientWidth / Math.max($('stage').clientHeight, 1);
    const moved = this.scene.move(share, aspect);
    return this.camera.follow(share) || moved;
  }

  advance(seconds) {
    const before = this.scene.film.current;
    this.scene.advance(seconds);
    const after = this.scene.film && this.scene.film.current;
    if (after === before && this.scene.film) return;
    this.panel.refresh(this.scene);
    this.controls.refresh(this.scene);
    this.caption();
    if (after) this.panel.reveal(this.panel.partRows[after.part]);
  }

  resize() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    this.scene.ratio = ratio;
    const { clientWidth, clientHeight } = $('stage');
    const fresh = this.renderer.resize(Math.max(1, Math.round(clientWidth * ratio)), Math.max(1, Math.round(clientHeight * ratio)));
    if (fresh) this.renderer.drawMoving(this.scene);
  }

  // What was last drawn, with other outlines.
  redraw() { if (this.renderer && !this.awake) this.renderer.present(this.scene); }

  setTheme(theme) {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    this.scene.look = LOOKS[theme];
    this.changed();
  }

  toggleTheme() { this.setTheme(this.theme === 'dark' ? 'light' : 'dark'); }

  setSlider(value) {
    if (this.scene.join >= 0) this.scene.open = value;
    else Object.assign(this.scene, { explode: value, film: null });
    this.changed();
  }

  toggleExplode() {
    const value = this.scene.join >= 0 ? this.scene.open : this.scene.explode;
    this.setSlider(value > 0.3 ? 0 : this.scene.join >= 0 ? 1 : 0.65);
  }

  setColour(colour) {
    this.scene.colour = colour;
    if (this.scene.join < 0) this.colourOutside = colour;
    this.changed();
  }

  togglePlay() {
    const { film } = this.scene;
    if (film) film.running = !film.running;
    else {
      this.leaveJoin();
      this.scene.play();
    }
    this.changed();
  }

  toggleTurntable() {
    this.turning = !this.turning;
    this.changed();
  }

  turn(yaw, pitch) {
    this.camera.turn(yaw, pitch);
    this.wake();
  }

  zoom(factor) {
    this.camera.zoom(factor);
    this.wake();
  }

  shift(x, y) {
    this.camera.shift(x, y);
    this.wake();
  }

  cycleUp() {
    this.leaveJoin();
    this.scene.up = (this.scene.up + 1) % 6;
    this.scene.lay();
    this.changed();
  }

  reset() {
    this.camera.reset();
    this.scene.frameKey = null;
    this.turning = false;
    this.changed();
  }

  isolate(k) {
    this.leaveJoin();
    Object.assign(this.scene, { part: this.scene.part === k ? -1 : k, chosen: -1, film: null });
    this.scene.hidden.delete(k);
    if (this.scene.part === k) this.panel.reveal(this.panel.partRows[k]);
    this.changed();
  }

  toggleHidden(k) {
    const { hidden } = this.scene;
    if (hidden.has(k)) hidden.delete(k);
    else hidden.add(k);
    this.changed();
  }

  showAll() {
    this.scene.hidden.clear();
    this.leave();
  }

  // The chosen join alone, its gaps as colours.
  chooseJoin(n) {
    if (n === this.scene.join) { this.leave(); return; }
    const { renderer, scene } = this;
    if (scene.join < 0) this.colourOutside = scene.colour;
    this.restoreGaps();
    scene.chooseJoin(n);
    scene.colour = 'gap';
    const { parts, gaps } = facts.joins[n];
    if (renderer) parts.forEach((k, side) => renderer.shapes[k].setGaps(new Uint8Array(scene.numbers, ...gaps[side])));
    this.changed();
  }

  restoreGaps() {
    if (this.renderer) this.renderer.shapes.forEach((shape) => shape.setGaps(null));
  }

  walkJoins(by) {
    const { join } = this.scene;
    const shown = facts.joins.map((_, n) => n).filter((n) => !this.panel.joinRows[n].hidden);
    if (!shown.length) return;
    const at = shown.indexOf(join);
    this.chooseJoin(at < 0 ? shown[by > 0 ? 0 : shown.length - 1] : shown[(at + by + shown.length) % shown.length]);
  }

  leaveJoin() {
    if (this.scene.join < 0) return;
    this.scene.join = -1;
    this.scene.colour = this.colourOutside;
    this.restoreGaps();
    this.camera.reset();
  }

  leave() {
    this.leaveJoin();
    Object.assign(this.scene, { part: -1, chosen: -1, film: null });
    this.changed();
  }

  hover(k) {
    $('tip').hidden = true;
    if (this.scene.hovered === k) return;
    this.scene.hovered = k;
    this.redraw();
  }

  hoverAt(x, y) {
    if (!this.renderer || this.turning || this.scene.film) return;
    const k = this.renderer.pick(this.scene, x * this.scene.ratio, y * this.scene.ratio);
    this.hover(k);
    if (k < 0) return;
    const tip = $('tip');
    tip.hidden = false;
    tip.replaceChildren(el('b', { text: facts.parts[k].name }), el('span', { text: `  ${standing(k)}` }));
    tip.style.left = `${Math.min(x + 14, $('stage').clientWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.max(y - 40, 8)}px`;
  }

  clickAt(x, y) {
    if (!this.renderer || this.scene.join >= 0) return;
    const k = this.renderer.pick(this.scene, x * this.scene.ratio, y * this.scene.ratio);
    if (k < 0 && this.scene.part >= 0) { this.leave(); return; }
    this.scene.chosen = k;
    if (k >= 0) this.panel.reveal(this.panel.partRows[k]);
    this.panel.refresh(this.scene);
    this.redraw();
  }

  doubleClickAt(x, y) {
    if (!this.renderer || this.scene.join >= 0) return;
    const k = this.renderer.pick(this.scene, x * this.scene.ratio, y * this.scene.ratio);
    if (k >= 0) this.isolate(k);
  }

  caption() {
    const { film, join, part } = this.scene;
    const step = film && film.current;
    let lines = ['', ''];
    if (step && step.join !== null) {
      const [i, j] = facts.joins[step.join].parts;
      const other = facts.parts[i === step.part ? j : i].name;
      const found = facts.joins[step.join];
      lines = [`${facts.parts[step.part].name} joins ${other}`, found.sure + afterSure(found)];
    } else if (part >= 0 && join < 0) lines = [facts.parts[part].name, explained(part)];
    $('caption').replaceChildren(lines[0], el('small', { text: lines[1] }));
  }

  // Names under the groups and under the parts that were not placed.
  label() {
    const spots = facts.groups.map(({ parts }, g) => [`Group ${g + 1}, ${counted(parts.length, 'part')}`, parts]);
    if (spots.length === 1) spots.length = 0;
    if (facts.unplaced.length) spots.push(['Not placed', facts.unplaced]);
    this.labels = spots.map(([text, parts]) => ({ node: el('span', { text }), parts }));
    $('labels').append(...this.labels.map(({ node }) => node));
  }

  placeLabels() {
    const { scene, camera } = this;
    const { clientWidth, clientHeight } = $('stage');
    const view = camera.view(clientWidth / clientHeight, [0, 0]);
    for (const { node, parts } of this.labels) {
      const shown = scene.join < 0 && scene.part < 0 && parts.some((k) => !scene.hidden.has(k)) && camera.now.pitch > 0;
      node.hidden = !shown;
      const clip = (r, [x, y, z]) => view[r] * x + view[4 + r] * y + view[8 + r] * z + view[12 + r];
      const seen = parts.flatMap((k) => scene.hulls[k].map((point) => apply(scene.bodies[k].now, point)))
        .map((at) => [clip(0, at) / clip(3, at), clip(1, at) / clip(3, at)]);
      const across = seen.map(([x]) => x);
      node.style.left = `${(0.5 + (Math.min(...across) + Math.max(...across)) / 4) * clientWidth}px`;
      node.style.top = `${(0.5 - Math.min(...seen.map(([, y]) => y)) / 2) * clientHeight}px`;
    }
  }

  savePicture() {
    if (!this.renderer) return;
    this.renderer.finish(this.scene);
    this.renderer.canvas.toBlob((blob) => {
      const link = el('a', { download: 'assembly.png' });
      link.href = URL.createObjectURL(blob);
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  state() {
    const { scene } = this;
    return {
      parts: facts.parts.map(({ name, centre }, k) => ({
        name, alpha: scene.bodies[k].alpha, visible: scene.bodies[k].alpha === 1, position: apply(scene.bodies[k].now, centre),
      })),
      explode: scene.explode, open: scene.open, join: scene.join, part: scene.part, colour: scene.colour, theme: this.theme,
      playing: scene.playing, turning: this.turning, caption: $('caption').textContent,
      lines: scene.lines.length, yaw: this.camera.goal.yaw, zoom: this.camera.goal.zoom,
      moving: Boolean(this.awake && this.moving),
      settled: !this.awake && (!this.renderer || this.renderer.rested),
    };
  }
}

async function main() {
  try {
    const app = new App(await unpackNumbers());
    window.cmnet = Object.freeze({ state: () => app.state(), finish: (frames) => app.renderer.finish(app.scene, frames) });
  } catch (error) {
    $('trouble').hidden = false;
    $('trouble').textContent = `This report cannot be shown (${error.message}). A browser of 2023 or later is needed.`;
    throw error;
  }
}

main();
