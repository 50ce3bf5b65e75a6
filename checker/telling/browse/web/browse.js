// Walking: what is enabled, what was visited, and questions to the engine behind this page.
const player = new Player();
player.keepsAddress = false;
themeSwitch(byId("theme"));
let here = null;

async function ask(what, question) {
  const problem = byId("problem");
  problem.hidden = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(what, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question),
    });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    let words = text;
    try { words = JSON.parse(text).error; } catch { /* it is plain text */ }
    throw new Error(words);
  } catch (error) {
    problem.textContent = error instanceof TypeError ? "highwater browse has ended: start it again" : error.message;
    problem.hidden = false;
    return null;
  } finally {
    document.body.removeAttribute("aria-busy");
  }
}

async function stand(what, question) {
  const view = await ask(what, question);
  if (view) show(view);
}

function show(view) {
  here = view;
  player.load(view.run, view.run.steps.length);
  showChoices(view);
  showTree(view);
  byId("undo").disabled = view.way.length < 2;
  byId("typed").value = view.state;
  byId("nearest").replaceChildren();
  try { history.replaceState(null, "", `#at=${view.at}`); } catch { /* no matter */ }
}

// The slider may show an earlier state of the way; steps are taken where one stands.
player.onGo = (number) => {
  byId("elsewhere").hidden = !here || number === here.way.length - 1;
};

function showChoices(view) {
  const now = player.states.at(-1);
  const items = view.enabled.map((step) => {
    const swatch = make("i", { class: "swatch", hue: view.run.hues[step.action], title: step.action });
    if (step.breaks) return make("li", {}, swatch, `${step.words}: breaks the model: ${step.breaks}`);
    const button = make("button", { type: "button" }, swatch, step.words);
    button.addEventListener("click", () => stand("follow", { at: view.at, steps: [step.number] }));
    const after = statesOf({ states: [now, step.change] })[1];
    const changes = changesOf(view.run, after, now);
    const notes = [make("span", { class: "soft" }, changes.join("; ") || "changes nothing")];
    if (step.violates.length) notes.unshift(make("strong", { class: "bad" }, `violates ${step.violates.join(", ")} `));
    if (step.known !== null) notes.push(make("span", { class: "soft" }, ` (state ${step.known}, visited)`));
    return make("li", {}, button, make("div", {}, notes));
  });
  if (!items.length) items.push(make("li", {}, "nothing is enabled here"));
  byId("choices").replaceChildren(...items);
}

// A chain stays at one depth; only where the way forks do the later branches move in.
function showTree(view) {
  const after = view.visited.map(() => []);
  view.visited.forEach((state, k) => { if (state.before !== null) after[state.before].push(k); });
  const onWay = new Set(view.way), rows = [];
  const waiting = view.visited.flatMap((state, k) => (state.before === null ? [[k, 0]] : [])).reverse();
  while (waiting.length) {
    const [k, depth] = waiting.pop();
    const state = view.visited[k];
    const button = make("button", { type: "button", "aria-current": k === view.at ? "true" : null, class: onWay.has(k) ? "way" : "" },
      `${k}. ${state.words}`, state.violates.length ? make("strong", { class: "bad" }, ` violates ${state.violates.join(", ")}`) : "");
    button.addEventListener("click", () => stand("view", { at: k }));
    const item = make("li", {}, button);
    item.style.marginLeft = `${Math.min(depth, 8) * 0.9}rem`;
    rows.push(item);
    after[k].map((next, n) => [next, depth + (n ? 1 : 0)]).forEach((next) => waiting.push(next));
  }
  byId("tree").replaceChildren(...rows);
}

byId("undo").addEventListener("click", () => stand("view", { at: here.way.at(-2) }));
byId("return").addEventListener("click", () => stand("view", { at: here.way[player.at] }));
byId("begin").addEventListener("submit", (event) => {
  event.preventDefault();
  stand("begin", { state: byId("typed").value });
});
byId("near").addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = byId("nearest"), { at } = here;
  said.textContent = "searching";
  const found = await ask("near", { at, depth: Number(byId("depth").value), seconds: Number(byId("seconds").value) });
  said.textContent = found ? `${found.words}.` : "";
  if (found?.steps.length) {
    const go = make("button", { type: "button" }, "walk there");
    go.addEventListener("click", () => stand("follow", { at, steps: found.steps }));
    said.append(" ", go);
  }
});
for (const button of document.querySelectorAll("[data-keep]")) {
  button.addEventListener("click", async () => {
    const kept = await ask("save", { at: here.at, kind: button.dataset.keep });
    if (!kept) return;
    const url = URL.createObjectURL(new Blob([kept.text]));
    make("a", { href: url, download: kept.name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
}
const asked = /^#at=(\d{1,9})$/.exec(location.hash);
stand("view", { at: Number(asked ? asked[1] : document.body.dataset.at) });
