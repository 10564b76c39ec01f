// The lists beside the picture. Names come from files: they are only ever set as text.
const $ = (id) => document.getElementById(id);

function el(tag, { text, on, ...properties } = {}, ...children) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'class') node.className = value;
    else node.setAttribute(name, value);
  }
  for (const [event, listener] of Object.entries(on || {})) node.addEventListener(event, listener);
  node.append(...children);
  return node;
}

function drawing(name, ...paths) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('class', `line ${name}`);
  svg.setAttribute('aria-hidden', 'true');
  for (const d of paths) {
    const path = document.createElementNS(space, 'path');
    path.setAttribute('d', d);
    svg.append(path);
  }
  return svg;
}

function swatch(k) {
  const node = el('span', { class: 'swatch' });
  node.style.background = facts.parts[k].tone;
  return node;
}

const counted = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;

// What follows how sure a join is.
const afterSure = ({ confidence }) => (confidence === null ? ' how sure it is' : ' sure');

function standing(k) {
  const { group, base, sure } = roles[k];
  if (group < 0) return 'not placed';
  if (base) return 'fixed';
  return sure ?? 'placed';
}

function explained(k) {
  const { group, base, sure } = roles[k];
  if (group < 0) return 'Fits nowhere we are sure of.';
  if (base) return 'Stays fixed; the others are joined to it.';
  const { off } = facts.parts[k];
  return (sure === null ? 'Placed.' : `The weakest join between this part and the fixed one is ${sure} sure.`)
    + (off ? `\n${plusMinus(off)}: how exactly it lies against the fixed one.` : '');
}

// How exactly a part or a join lies, where that is known.
const exactness = ({ off }) => (off ? [el('span', { class: 'off', text: plusMinus(off) })] : []);

class Panel {
  constructor(app) {
    this.app = app;
    $('title').textContent = facts.title;
    $('headline').textContent = facts.headline;
    facts.notes.forEach((note) => $('notes').append(el('li', { text: note })));
    $('notes').hidden = facts.notes.length === 0;
    $('parts-count').textContent = facts.parts.length;
    $('joins-count').textContent = facts.joins.length;
    $('colophon').textContent = `cmnet ${facts.version}. This file needs no network and sends nothing. `
      + `Lengths are in ${facts.unit || 'the unit of the files'}.`;
    this.listParts();
    this.listJoins();
    $('show-all').addEventListener('click', () => app.showAll());
    $('only-used').addEventListener('click', () => this.filterJoins());
  }

  listParts() {
    this.partRows = [];
    const blocks = facts.groups.map(({ parts }, g) => [facts.groups.length > 1 ? `Group ${g + 1}` : 'Placed', parts]);
    if (facts.unplaced.length) blocks.push(['Not placed', facts.unplaced]);
    for (const [title, parts] of blocks) {
      if (blocks.length > 1) $('parts').append(el('li', { class: 'groupname', text: title }));
      parts.forEach((k) => $('parts').append(this.partRow(k)));
    }
  }

  partRow(k) {
    const { app } = this;
    const name = facts.parts[k].name;
    const choose = el('button', { type: 'button', title: `${name}\n${explained(k)}`, on: { click: () => app.isolate(k) } },
      swatch(k), el('span', { class: 'name', text: name }),
      el('span', { class: roles[k].group < 0 ? 'side out' : 'side', text: standing(k) }));
    if (!roles[k].base) choose.append(...exactness(facts.parts[k]));
    const eye = el('button', { type: 'button', class: 'eye', 'aria-label': `Hide ${name}`, title: 'Hide or show', on: { click: () => app.toggleHidden(k) } },
      drawing('seen', 'M2.5 10S5.5 5 10 5s7.500 5 7.500 5-3 5-7.500 5-7.500-5-7.500-5z', 'M10 8a2 2 0 100 4 2 2 0 000-4z'),
      drawing('shut', 'M2.500 9.500S5.500 14 10 14s7.500-4.500 7.500-4.500M5.300 12.600L4 14.600M10 14v2.200M14.700 12.600l1.300 2'));
    const row = el('li', { class: 'row part' }, choose, eye);
    choose.addEventListener('pointerenter', () => app.hover(k));
    choose.addEventListener('pointerleave', () => app.hover(-1));
    this.partRows[k] = row;
    return row;
  }

  listJoins() {
    this.joinRows = facts.joins.map((join, n) => this.joinRow(join, n));
    $('joins').append(...this.joinRows);
    const unused = facts.joins.filter((join) => !join.used).length;
    $('only-used').hidden = unused === 0 || unused === facts.joins.length;
    $('joins-left').hidden = facts.joinsLeftOut === 0;
    $('joins-left').textContent = `${counted(facts.joinsLeftOut, 'less likely join')} not listed.`;
    if (!facts.joins.length) $('joins').append(el('li', { class: 'groupname', text: 'No join was found.' }));
  }

  joinRow(join, n) {
    const [a, b] = join.parts;
    const names = `${facts.parts[a].name} + ${facts.parts[b].name}`;
    const fill = el('i');
    fill.style.width = join.confidence === null ? 0 : `${Math.max(100 * join.confidence, 1)}%`;
    const title = el('span', { class: 'name', text: names });
    if (!join.used) title.append(el('span', { class: 'tag', text: 'not used' }));
    const choose = el('button', { type: 'button', title: names, on: { click: () => this.app.chooseJoin(n) } },
      el('span', { class: 'pair' }, swatch(a), swatch(b)), title,
      el('span', { class: 'sure', text: join.sure }),
      el('span', { class: 'meter', 'aria-hidden': 'true' }, fill), ...exactness(join));
    return el('li', { class: join.used ? 'row join' : 'row join unused' }, choose);
  }

  filterJoins() {
    const only = $('only-used').getAttribute('aria-pressed') !== 'true';
    $('only-used').setAttribute('aria-pressed', only);
    facts.joins.forEach((join, n) => { this.joinRows[n].hidden = only && !join.used; });
  }

  // Marks what is chosen, hidden or just being joined.
  refresh(scene) {
    const current = scene.film && scene.film.current;
    this.partRows.forEach((row, k) => {
      const on = scene.part === k || scene.chosen === k || Boolean(current && current.part === k);
      row.classList.toggle('on', on);
      row.classList.toggle('away', scene.hidden.has(k));
      row.firstChild.setAttribute('aria-pressed', scene.part === k);
      row.lastChild.setAttribute('aria-pressed', scene.hidden.has(k));
    });
    this.joinRows.forEach((row, n) => {
      const on = scene.join === n || Boolean(current && current.join === n);
      row.classList.toggle('on', on);
      row.firstChild.setAttribute('aria-pressed', scene.join === n);
    });
    $('show-all').hidden = scene.part < 0 && scene.join < 0 && scene.hidden.size === 0;
  }

  reveal(row) { row.scrollIntoView({ block: 'nearest' }); }

  // The card of the chosen join.
  showCard(scene) {
    const card = $('card');
    card.hidden = scene.join < 0;
    if (scene.join < 0 || this.carded === scene.join) { this.carded = scene.join; return; }
    this.carded = scene.join;
    const join = facts.joins[scene.join];
    const rows = [['Contact area', area(join.area)], ['Gap (rms)', length(join.gap)], ['Penetration', length(join.penetration)]];
    if (join.off) rows.push(['Exact to', plusMinus(join.off)]);
    const matches = join.matches;
    if (matches) rows.push(['Matched points', String(matches.weights.length)]);
    if (matches && matches.shape) rows.push(['Shape score', matches.shapeMean]);
    if (matches && matches.occupancy) rows.push(['Occupancy score', matches.occupancyMean]);
    const ends = join.parts.flatMap((k) => [swatch(k), el('span', { class: 'name', text: facts.parts[k].name })]);
    const step = (by, text) => el('button', { type: 'button', text, on: { click: () => this.app.walkJoins(by) } });
    const close = el('button', { type: 'button', class: 'close', 'aria-label': 'Back to the whole', title: 'Back to the whole (Esc)', on: { click: () => this.app.leave() } },
      drawing('', 'M5 5l10 10M15 5L5 15'));
    card.replaceChildren(close, el('div', { class: 'ends' }, ...ends),
      el('p', { class: 'verdict', text: join.sure }, el('small', { text: afterSure(join) })),
      el('p', { class: 'small', text: join.used ? 'The assembly rests on it.' : 'Not used in the assembly.' }),
      el('dl', {}, ...rows.flatMap(([name, value]) => [el('dt', { text: name }), el('dd', { text: value })])));
    if (matches) card.append(this.lineChoice(scene, matches));
    card.append(el('div', { class: 'walk' }, step(-1, 'Surer'), step(1, 'Less sure')));
    this.reveal(this.joinRows[scene.join]);
  }

  // Which score colours the lines between matched points.
  lineChoice(scene, matches) {
    const choices = [['off', 'Off'], ['weights', 'Matches'], ['shape', 'Shape'], ['occupancy', 'Occupancy']]
      .filter(([key]) => key === 'off' || matches[key]);
    const buttons = choices.map(([key, text]) => el('button', {
      type: 'button', role: 'radio', text, 'aria-checked': key === scene.lineScore,
      on: { click: () => { scene.lineScore = key; mark(); this.app.changed(); } },
    }));
    const mark = () => buttons.forEach((button, k) => button.setAttribute('aria-checked', choices[k][0] === scene.lineScore));
    return el('div', { class: 'choice lines', role: 'radiogroup', 'aria-label': 'Lines between matched points' }, ...buttons);
  }
}
