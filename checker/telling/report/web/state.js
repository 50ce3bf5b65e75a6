// What a state looks like, and how states follow from what changed. Text goes into the page as text
// alone, never as markup: names and words come from protocols, which anybody may have written.
const EPOCH_COLOURS = 6;

function make(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes, ...children) {
  return fill(document.createElementNS(byId("svg").namespaceURI, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "hue") element.style.setProperty("--hue", value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== ""));
  return element;
}

const byId = (name) => document.getElementById(name);

function statesOf(data) {
  let last = { v: [], c: {}, l: [] };
  return data.states.map((change, number) => {
    const v = number ? last.v.slice() : change.v;
    if (number) for (const [place, words] of change.v) v[place] = words;
    last = { v, c: { ...last.c, ...change.c }, l: change.l || last.l };
    return last;
  });
}

const wordsOf = (value) => (value === "-" ? "none" : String(value));
const epochClass = (epoch) => (epoch === null || epoch < 0 ? "" : `e${epoch % EPOCH_COLOURS}`);

function pair(label, value, before) {
  const changed = before !== undefined && before !== value;
  const words = [make("span", {}, `${label} `), changed && before !== "" ? `${before} → ${value}` : value || "none"];
  return make("li", {}, changed ? make("mark", {}, words) : words);
}

function logCells(card, before) {
  const old = before ? before.log : card.log;
  const same = (k) => k < old.length && k < card.log.length && old[k][0] === card.log[k][0] && old[k][1] === card.log[k][1];
  const cells = [];
  const mark = (offset) => {
    if (offset === card.hw) cells.push(make("div", { class: "at", title: `high watermark ${card.hw}` }, "HW"));
    if (offset === card.leo) cells.push(make("div", { class: "at leo", title: `log end offset ${card.leo}` }, "LEO"));
  };
  const end = Math.max(card.log.length, card.hw || 0, old.length);
  for (let offset = 0; offset <= end; offset += 1) {
    mark(offset);
    const entry = card.log[offset];
    if (entry) {
      const [text, epoch, acknowledged, exposed] = entry;
      const seen = `${acknowledged ? "✓" : ""}${exposed ? "◉" : ""}`;
      const told = `offset ${offset}: ${text}${acknowledged ? ", acknowledged" : ""}${exposed ? ", exposed" : ""}`;
      cells.push(make("div", { class: `cell ${epochClass(epoch)}${same(offset) ? "" : " new"}`, title: told },
        make("span", { class: "offset" }, String(offset)), text,
        make("span", { class: "seen" }, make("span", { "aria-hidden": "true" }, seen),
          make("span", { class: "hidden" }, `${acknowledged ? " acknowledged" : ""}${exposed ? " exposed" : ""}`))));
    } else if (offset < old.length) {
      cells.push(make("div", { class: "cell cut", title: `offset ${offset}: cut off in this step` },
        make("span", { class: "offset" }, String(offset)), old[offset][0], make("span", { class: "seen" }, "cut")));
    } else if (offset < (card.hw || 0)) {
      cells.push(make("div", { class: "cell none", title: "nothing is stored below the high watermark" },
        make("span", { class: "offset" }, String(offset)), "·"));
    }
  }
  return make("div", { class: "log", role: "group", "aria-label": "log" }, cells);
}

// The listed values of an owner: all of them, or only what changed. `usual` says which are worth showing.
function pairsOf(data, owner, state, before, view) {
  const items = [];
  data.places.forEach(([of, name, nothing], place) => {
    if (data.owners[of] !== owner) return;
    const changed = before && before.v[place] !== state.v[place];
    const shown = changed || (!view.diff && (view.empty || state.v[place] !== nothing));
    if (shown) items.push(pair(name, state.v[place], before ? before.v[place] : undefined));
  });
  return items;
}

function showCard(data, name, state, before, view) {
  const card = state.c[name], old = before ? before.c[name] : null;
  const rest = pairsOf(data, name, state, before, card ? view : { ...view, empty: true });
  const changed = old && JSON.stringify(old) !== JSON.stringify(card);
  if (view.diff && before && !changed && !rest.length) return null;
  const head = [make("h3", {}, name)];
  const inner = [];
  if (card) {
    const was = old || card;
    const role = card.role.split(" ")[0] || "none";
    const label = card.role === "presumed" ? "believes it is leader" : card.role || "no role";
    const badge = make("span", { class: `badge ${/^[a-z]+$/.test(role) ? role : ""}` }, label);
    head.push(was.role === card.role ? badge : make("mark", {}, badge));
    const items = [];
    const put = (title, key) => {
      if (card[key] === null || card[key] === "") return;
      items.push(pair(title, wordsOf(card[key]), old ? wordsOf(was[key]) : undefined));
    };
    put("epoch", "epoch"); put("HW", "hw"); put("LEO", "leo"); put("ISR", "isr"); put("voters", "voters");
    inner.push(make("ul", { class: "pairs" }, items), logCells(card, old));
  }
  if (rest.length) inner.push(make("ul", { class: "pairs" }, rest));
  const touched = changed || inner.some((part) => part.querySelector("mark"));
  return make("article", { class: `card${touched ? " changed" : ""}` }, make("header", {}, head), inner);
}

function showLeaders(state, before) {
  if (!state.l.length) return null;
  const truth = state.l.find(([who]) => who === "controller");
  const rows = state.l.map(([who, leader, epoch], number) => {
    const changed = before && JSON.stringify(before.l[number]) !== JSON.stringify(state.l[number]);
    const believes = who === leader;
    const wrong = truth && believes && (truth[1] !== leader || truth[2] !== epoch);
    const words = `${leader}${epoch === "" || leader === "down" ? "" : ` in epoch ${epoch}`}`;
    const said = `${words}${wrong ? " (the controller says otherwise)" : ""}`;
    return make("tr", {}, make("th", { scope: "row" }, `${who} says`), make("td", {}, changed ? make("mark", {}, said) : said));
  });
  return make("section", { class: "panel" }, make("h3", {}, "Who leads"), make("table", { class: "leaders" }, make("tbody", {}, rows)));
}

function showState(target, data, state, before, view) {
  const cards = data.members.map((name) => showCard(data, name, state, before, view)).filter(Boolean);
  const others = data.owners.filter((name) => !data.members.includes(name)).map((owner) => {
    const items = pairsOf(data, owner, state, before, view);
    return items.length ? make("div", {}, make("h3", {}, owner), make("ul", { class: "pairs" }, items)) : null;
  }).filter(Boolean);
  const parts = [];
  if (cards.length) parts.push(make("div", { class: "cards" }, cards));
  const leaders = showLeaders(state, before);
  if (leaders && !(view.diff && before && !leaders.querySelector("mark"))) parts.push(leaders);
  if (others.length) parts.push(make("section", { class: "panel" }, make("div", { class: "rest" }, others)));
  if (!parts.length) parts.push(make("p", {}, "nothing changes in this step"));
  target.replaceChildren(...parts);
}

// What a step changed, in words: for the live region and the search.
function changesOf(data, state, before) {
  const found = [];
  for (const name of data.members) {
    const card = state.c[name], old = before.c[name];
    if (!card) continue;
    const role = (held) => held.role || "none";
    if (card.role !== old.role) found.push(`${name} role ${role(old)} → ${role(card)}`);
    for (const [key, label] of [["epoch", "epoch"], ["hw", "HW"], ["leo", "LEO"], ["isr", "ISR"], ["voters", "voters"]]) {
      if (card[key] !== old[key]) found.push(`${name} ${label} ${wordsOf(old[key])} → ${wordsOf(card[key])}`);
    }
    const log = (entries) => entries.map(([text]) => text).join(" ");
    if (log(card.log) !== log(old.log)) found.push(`${name} log [${log(old.log)}] → [${log(card.log)}]`);
  }
  data.places.forEach(([owner, name], place) => {
    if (state.v[place] !== before.v[place]) found.push(`${data.owners[owner]} ${name} ${before.v[place]} → ${state.v[place]}`);
  });
  return found;
}
