// Bar, keys, mouse and fingers.
const KEYS = [
  ['Space', 'Play the assembly, or pause it'],
  ['E', 'Take apart, or put together'],
  ['G', 'Gaps as colours, or parts as colours'],
  ['← → ↑ ↓', 'Turn'],
  ['+ −', 'Nearer, farther'],
  ['1 … 9', 'See one part alone'],
  ['J K', 'Next join, previous join'],
  ['T', 'Turntable'],
  ['U', 'Another direction upwards'],
  ['R', 'Reset the view'],
  ['D', 'Light or dark'],
  ['L', 'Lists beside the picture, or the picture alone'],
  ['S', 'Save a picture'],
  ['P', 'Print'],
  ['Esc', 'Back to the whole'],
];

const NARROW = matchMedia('(max-width: 860px)');

class Controls {
  constructor(app) {
    this.app = app;
    this.touches = new Map();
    this.listColours();
    this.drawRamp();
    $('help-keys').append(...KEYS.flatMap(([key, text]) => [el('dt', {}, el('kbd', { text: key })), el('dd', { text })]));
    const clicks = {
      play: () => app.togglePlay(), turntable: () => app.toggleTurntable(), upright: () => app.cycleUp(), reset: () => app.reset(),
      save: () => app.savePicture(), printing: () => window.print(), theme: () => app.toggleTheme(), keys: () => $('help').showModal(),
      drawer: () => this.toggleLists(),
    };
    for (const [id, action] of Object.entries(clicks)) $(id).addEventListener('click', action);
    $('explode').addEventListener('input', (event) => app.setSlider(Number(event.target.value)));
    $('help').addEventListener('close', () => $('view').focus());
    document.addEventListener('keydown', (event) => this.key(event));
    this.listenToPointers($('view'));
    $('app').classList.toggle('wide', NARROW.matches);
    $('drawer').setAttribute('aria-expanded', !NARROW.matches);
  }

  listColours() {
    const choices = [['part', 'Parts'], ['gap', 'Gaps']];
    if (facts.parts.some((part) => part.colours)) choices.push(['scan', 'Scan']);
    this.colourButtons = choices.map(([key, text]) => el('button', { type: 'button', role: 'radio', text, on: { click: () => this.app.setColour(key) } }));
    this.colourKeys = choices.map(([key]) => key);
    $('colours').append(...this.colourButtons);
    $('colours').hidden = facts.groups.length + facts.joins.length === 0;
  }

  toggleLists(open = $('app').classList.contains('wide')) {
    $('app').classList.toggle('wide', !open);
    $('drawer').setAttribute('aria-expanded', open);
    this.app.changed();
  }

  // The colour scale of gaps: overlap on the left, touching at a quarter, gap to the right.
  drawRamp() {
    const context = $('ramp').getContext('2d');
    const { width, height } = $('ramp');
    const fill = context.createLinearGradient(0, 0, width, 0);
    const { inside, apart, nothing } = facts.gapColours;
    inside.forEach((hex, k, all) => fill.addColorStop(0.25 * (1 - k / (all.length - 1)), hex));
    apart.forEach((hex, k, all) => fill.addColorStop(0.25 + 0.75 * 0.93 * k / (all.length - 1), hex));
    fill.addColorStop(1, nothing);
    context.fillStyle = fill;
    context.fillRect(0, 0, width, height);
    $('legend-title').textContent = 'Distance to the next part';
    const ticks = [[0, 'overlap'], [0.25, '0'], [0.625, figure(facts.gapLimit / 2)], [1, `≥ ${length(facts.gapLimit)}`]];
    for (const [at, text] of ticks) {
      const tick = el('span', { text });
      tick.style.left = `${100 * at}%`;
      $('ticks').append(tick);
    }
    $('legend-note').textContent = facts.unit ? '' : 'In the unit of the files.';
  }

  refresh(scene) {
    const joined = scene.join >= 0;
    $('slide-name').textContent = joined ? 'Open' : 'Explode';
    $('explode').value = joined ? scene.open : scene.explode;
    $('explode').setAttribute('aria-label', joined ? 'Open the join' : 'Take apart');
    this.colourButtons.forEach((button, k) => button.setAttribute('aria-checked', this.colourKeys[k] === scene.colour));
    $('legend').hidden = scene.colour !== 'gap';
    $('turntable').setAttribute('aria-pressed', this.app.turning);
    $('bar').classList.toggle('playing', scene.playing);
    $('play').setAttribute('aria-label', scene.playing ? 'Pause' : 'Play the assembly');
  }

  key(event) {
    const typing = event.target.closest && event.target.closest('input, dialog');
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing && !['Escape', '?'].includes(event.key)) return;
    const { app } = this;
    const pressable = event.target.closest && event.target.closest('button');
    if (pressable && [' ', 'Enter'].includes(event.key)) return;
    const turn = 0.14;
    const actions = {
      ' ': () => app.togglePlay(), e: () => app.toggleExplode(), g: () => app.setColour(app.scene.colour === 'gap' ? 'part' : 'gap'),
      ArrowLeft: () => app.turn(-turn, 0), ArrowRight: () => app.turn(turn, 0), ArrowUp: () => app.turn(0, turn), ArrowDown: () => app.turn(0, -turn),
      '+': () => app.zoom(0.87), '=': () => app.zoom(0.87), '-': () => app.zoom(1.15),
      t: () => app.toggleTurntable(), u: () => app.cycleUp(), r: () => app.reset(), 0: () => app.reset(), d: () => app.toggleTheme(),
      l: () => this.toggleLists(), s: () => app.savePicture(), p: () => window.print(),
      j: () => app.walkJoins(1), k: () => app.walkJoins(-1),
      '?': () => ($('help').open ? $('help').close() : $('help').showModal()), Escape: () => ($('help').open ? $('help').close() : app.leave()),
    };
    for (let n = 1; n <= 9; n++) actions[n] = () => n <= facts.parts.length && app.isolate(n - 1);
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  listenToPointers(canvas) {
    const { app } = this;
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      this.touches.set(event.pointerId, [event.clientX, event.clientY]);
      this.moved = this.touches.size > 1 ? 99 : 0;
      canvas.classList.add('drag');
      app.hover(-1);
    });
    canvas.addEventListener('pointermove', (event) => (this.touches.has(event.pointerId) ? this.drag(event) : this.point(event)));
    const end = (event) => {
      const clicked = this.touches.size === 1 && this.moved < 5 && event.type === 'pointerup';
      this.touches.delete(event.pointerId);
      canvas.classList.remove('drag');
      if (clicked) app.clickAt(...this.pixel(event));
    };
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('pointerleave', () => app.hover(-1));
    canvas.addEventListener('dblclick', (event) => app.doubleClickAt(...this.pixel(event)));
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      app.zoom(Math.exp(clamp(event.deltaY * (event.deltaMode ? 20 : 1), -120, 120) * 0.0016));
    }, { passive: false });
  }

  pixel(event) {
    const box = $('view').getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  point(event) {
    const [x, y] = this.pixel(event);
    this.app.hoverAt(x, y);
  }

  // One finger or button turns, two fingers zoom and shift, the right button shifts.
  drag(event) {
    const before = [...this.touches.values()];
    const from = this.touches.get(event.pointerId);
    const at = [event.clientX, event.clientY];
    this.touches.set(event.pointerId, at);
    const [dx, dy] = [at[0] - from[0], at[1] - from[1]];
    this.moved += Math.abs(dx) + Math.abs(dy);
    const high = $('view').clientHeight;
    if (this.touches.size === 2) {
      const after = [...this.touches.values()];
      const gap = (points) => Math.hypot(points[0][0] - points[1][0], points[0][1] - points[1][1]);
      this.app.zoom(gap(before) / Math.max(gap(after), 1));
      this.app.shift(dx / 2 / high, dy / 2 / high);
    } else if (event.buttons & 2 || event.shiftKey) this.app.shift(dx / high, dy / high);
    else this.app.turn(-dx * 0.0075, dy * 0.006);
  }
}
