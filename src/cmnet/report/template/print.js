// On paper: the sentence, two pictures, and the tables.
function table(heads, rows) {
  const cell = (tag, value, k) => {
    const node = el(tag, { class: heads[k].startsWith('#') ? 'number' : '' });
    node.append(...(Array.isArray(value) ? value : [value]));
    return node;
  };
  return el('table', {},
    el('thead', {}, el('tr', {}, ...heads.map((head, k) => cell('th', head.replace('#', ''), k)))),
    el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map((value, k) => cell('td', value, k))))));
}

function paperTables() {
  const group = (k) => (roles[k].group < 0 ? '–' : String(roles[k].group + 1));
  const size = (part) => `${part.size.map(figure).join(' × ')}${behind('')}`;
  const parts = facts.parts.map((part, k) => [[swatch(k), part.name], group(k), standing(k), size(part), roles[k].base ? '' : plusMinus(part.off)]);
  const joins = facts.joins.map((join) => [
    join.parts.map((k) => facts.parts[k].name).join(' + '), join.sure, join.used ? 'yes' : 'no',
    area(join.area), length(join.gap), length(join.penetration), plusMinus(join.off),
  ]);
  return [
    el('h2', { text: 'Parts' }), table(['Part', 'Group', 'Sure', '#Size', '#Exact to'], parts),
    el('h2', { text: 'Joins' }), table(['Parts', '#Confidence', 'Used', '#Contact area', '#Gap (rms)', '#Penetration', '#Exact to'], joins),
  ];
}

// Finished pictures of the whole on white, for given amounts of explosion, each drawn at once.
function paperPictures(app, amounts) {
  const { scene, camera, renderer } = app;
  if (!renderer) return [];
  const [width, height, frames] = renderer.quality.paper;
  const { explode, look, join, part, film, colour } = scene;
  const outside = join >= 0 ? app.colourOutside : colour;
  const eye = JSON.stringify([camera.now, camera.goal]);
  const size = [renderer.width, renderer.height];
  Object.assign(scene, { look: LOOKS.paper, join: -1, part: -1, film: null, colour: outside });
  app.restoreGaps();
  renderer.resize(width, height);
  const pictures = amounts.map((amount) => paperPicture(app, amount, width, height, frames));
  Object.assign(scene, { explode, look, part, film, colour: outside });
  [camera.now, camera.goal] = JSON.parse(eye);
  if (join >= 0) app.chooseJoin(join);
  renderer.resize(...size);
  return pictures;
}

function paperPicture({ scene, camera, renderer }, explode, width, height, frames) {
  Object.assign(scene, { explode, frameKey: null });
  camera.reset();
  scene.move(1, width / height);
  scene.settle();
  camera.follow(1);
  scene.place();
  renderer.restart();
  renderer.finish(scene, frames);
  const picture = el('canvas', { width, height });
  picture.getContext('2d').drawImage(renderer.canvas, 0, 0);
  return picture;
}

function preparePaper(app) {
  const pictures = paperPictures(app, [0, 0.6]);
  const captions = ['Assembled', 'Taken apart'];
  $('paper').replaceChildren(
    el('h1', { text: facts.title }), el('p', { class: 'lead', text: facts.headline }),
    ...facts.notes.map((note) => el('p', { class: 'lead', text: note })),
    el('div', { class: 'pictures' }, ...pictures.map((picture, k) => el('figure', {}, picture, el('figcaption', { text: captions[k] })))),
    ...paperTables(),
    el('p', { class: 'small', text: `cmnet ${facts.version}. Lengths are in ${facts.unit || 'the unit of the files'}.` }));
}
