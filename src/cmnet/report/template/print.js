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
  const parts = facts.parts.map((part, k) => [[swatch(k), part.name], group(k), standing(k), size(part)]);
  const joins = facts.joins.map((join) => [
    join.parts.map((k) => facts.parts[k].name).join(' + '), percent(join.confidence), join.used ? 'yes' : 'no',
    area(join.area), length(join.gap), length(join.penetration),
  ]);
  return [
    el('h2', { text: 'Parts' }), table(['Part', 'Group', 'Sure', '#Size'], parts),
    el('h2', { text: 'Joins' }), table(['Parts', '#Confidence', 'Used', '#Contact area', '#Gap (rms)', '#Penetration'], joins),
  ];
}

function preparePaper(app) {
  const pictures = app.stills([[0, 'Assembled'], [0.6, 'Taken apart']], 900, 720);
  $('paper').replaceChildren(
    el('h1', { text: facts.title }), el('p', { class: 'lead', text: facts.headline }),
    ...facts.notes.map((note) => el('p', { class: 'lead', text: note })),
    el('div', { class: 'pictures' }, ...pictures.map(([picture, text]) => el('figure', {}, picture, el('figcaption', { text })))),
    ...paperTables(),
    el('p', { class: 'small', text: `cmnet ${facts.version}. Lengths are in ${facts.unit || 'the unit of the files'}.` }));
}
