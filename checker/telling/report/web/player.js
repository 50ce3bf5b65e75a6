// A run that one walks through: slider, play, keys, search, and the state at each step.
const PLAY_MILLISECONDS = 900;

function themeSwitch(button) {
  const names = ["auto", "light", "dark"];
  let stored = "auto";
  try { stored = localStorage.getItem("highwater-theme") || "auto"; } catch { /* files may keep nothing */ }
  const show = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = `theme: ${name}`;
    button.dataset.now = name;
  };
  button.addEventListener("click", () => {
    const next = names[(names.indexOf(button.dataset.now) + 1) % names.length];
    try { localStorage.setItem("highwater-theme", next); } catch { /* the same */ }
    show(next);
  });
  show(names.includes(stored) ? stored : "auto");
}

class Player {
  constructor() {
    this.view = { diff: false, empty: false };
    this.diagram = new Diagram(byId("space"), (number) => this.go(number));
    this.slider = byId("slider");
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    byId("first").addEventListener("click", () => this.go(0));
    byId("back").addEventListener("click", () => this.go(this.at - 1));
    byId("on").addEventListener("click", () => this.go(this.after(this.at)));
    byId("last").addEventListener("click", () => this.go(this.end));
    byId("play").addEventListener("click", () => this.play());
    for (const radio of document.querySelectorAll("input[name=view]")) {
      radio.addEventListener("change", () => { this.view.diff = byId("diff").checked; this.show(); });
    }
    byId("empty").addEventListener("change", () => { this.view.empty = byId("empty").checked; this.show(); });
    byId("search").addEventListener("input", () => this.search());
    byId("search").addEventListener("keydown", (event) => {
      if (event.key === "Enter") { event.preventDefault(); this.nextMatch(event.shiftKey); }
      if (event.key === "Escape") { byId("search").value = ""; this.search(); byId("search").blur(); }
    });
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.followAddress());
  }

  load(data, at = null) {
    this.stop();
    this.data = data;
    this.states = statesOf(data);
    this.end = data.steps.length;
    this.texts = null;
    this.slider.max = this.end;
    this.at = -1;
    this.diagram.load(data, this.states);
    showStrip(byId("strip"), data, (number) => this.go(number));
    this.search();
    if (at === null) this.followAddress(true);
    else this.go(at);
  }

  // After the last step of a loop comes its first one.
  after(number) {
    const { loop } = this.data;
    return number >= this.end && loop !== null && loop < this.end ? loop + 1 : number + 1;
  }

  followAddress(first = false) {
    const found = /^#step=(\d{1,9})$/.exec(location.hash);
    if (found) this.go(Number(found[1]));
    else if (first) this.go(0);
  }

  go(number) {
    const to = Math.max(0, Math.min(this.end, number));
    if (to === this.at) return;
    this.at = to;
    this.diagram.go(to);
    this.show();
    if (this.keepsAddress !== false) {
      try { history.replaceState(null, "", `#step=${to}`); } catch { /* some places have no history */ }
    }
    this.onGo?.(to);
  }

  words(number) {
    return number ? this.data.steps[number - 1].words : this.data.first || "initial state";
  }

  show() {
    const { at, states } = this, before = at ? states[at - 1] : null;
    showState(byId("state"), this.data, states[at], before, this.view);
    this.slider.value = at;
    this.slider.setAttribute("aria-valuetext", `step ${at}: ${this.words(at)}`);
    byId("where").textContent = `${at} of ${this.end}`;
    byId("back").disabled = byId("first").disabled = at === 0;
    byId("last").disabled = at === this.end;
    byId("on").disabled = this.after(at) > this.end;
    const falls = this.data.properties.filter((p) => p.false[0] === at).map((p) => `${p.name} falls`);
    const again = this.data.loop !== null && at > this.data.loop ? " ↻ again and again." : "";
    byId("said").textContent = `Step ${at} of ${this.end}: ${this.words(at)}.${again}${falls.length ? ` ${falls.join(", ")}.` : ""}`;
    byId("needed").hidden = !this.data.causes;
    byId("needed").textContent = this.needed(at);
    byId("spoken").textContent = before ? `Changed: ${changesOf(this.data, states[at], before).join("; ") || "nothing"}.` : "";
    for (const line of document.querySelectorAll(".strip .now")) line.setAttribute("x", at);
  }

  // What the step needed of earlier ones; where nothing is known of it, nothing.
  needed(number) {
    const { causes, spare } = this.data, parts = [];
    if (spare?.includes(number)) parts.push("The end does not need this step.");
    const needed = (causes?.[number] || []).map(([step, left]) => `step ${step} (${left})`);
    if (needed.length) parts.push(`It used what earlier steps wrote: ${needed.join("; ")}.`);
    return parts.join(" ");
  }

  play() {
    if (this.timer) { this.stop(); return; }
    if (this.after(this.at) > this.end) this.go(0);
    byId("play").textContent = "pause";
    byId("play").setAttribute("aria-pressed", "true");
    this.timer = setInterval(() => {
      if (this.after(this.at) > this.end) this.stop();
      else this.go(this.after(this.at));
    }, PLAY_MILLISECONDS);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    byId("play").textContent = "play";
    byId("play").setAttribute("aria-pressed", "false");
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const typing = event.target.closest("input, textarea, select");
    if (typing) return;
    const onButton = event.target.closest("button, summary, a");
    const inList = event.target.closest(".rows");
    const moves = { ArrowLeft: -1, ArrowRight: 1, ...(inList ? { ArrowUp: -1, ArrowDown: 1 } : {}) };
    if (event.key in moves) this.go(moves[event.key] > 0 ? this.after(this.at) : this.at - 1);
    else if (event.key === "Home") this.go(0);
    else if (event.key === "End") this.go(this.end);
    else if (event.key === " " && !onButton) this.play();
    else if (event.key === "/") byId("search").focus();
    else return;
    event.preventDefault();
  }

  search() {
    const wanted = byId("search").value.trim().toLowerCase();
    if (wanted && !this.texts) {
      this.texts = this.states.map((state, k) => [this.words(k), k ? this.data.steps[k - 1].action : "",
        ...(k ? changesOf(this.data, state, this.states[k - 1]) : [])].join("\n").toLowerCase());
    }
    this.matches = wanted ? new Set(this.texts.flatMap((text, k) => (text.includes(wanted) ? [k] : []))) : null;
    this.diagram.search(this.matches);
    byId("found").textContent = this.matches ? `${this.matches.size} found` : "";
  }

  nextMatch(backwards) {
    if (!this.matches || !this.matches.size) return;
    const found = [...this.matches];
    const next = backwards ? found.filter((k) => k < this.at).pop() : found.find((k) => k > this.at);
    this.go(next ?? (backwards ? found.at(-1) : found[0]));
  }
}

// Each property as a strip of states: green where it holds, red where it does not.
function showStrip(target, data, onChoose) {
  const count = data.steps.length + 1;
  const row = (property) => {
    const falls = property.false[0];
    const svg = draw("svg", { viewBox: `0 0 ${count} 1`, preserveAspectRatio: "none", "aria-hidden": "true" },
      draw("rect", { class: "true", width: count, height: 1 }),
      runs(property.false).map(([from, to]) => draw("rect", { class: "false", x: from, width: to - from + 1, height: 1 })),
      draw("rect", { class: "now", width: 1, height: 1 }));
    const name = make("span", { title: property.words }, // long names break after an underscore
      property.name.split(/(?<=_)/).flatMap((part) => [part, make("wbr")]));
    if (falls === undefined) return make("li", {}, name, svg, make("span", {}, "holds"));
    const go = make("button", { type: "button" }, property.ever ? `not kept from ${falls} on, for ever` : `violated at step ${falls}`);
    go.addEventListener("click", () => onChoose(falls));
    return make("li", {}, name, svg, go);
  };
  const fallen = data.properties.filter((p) => p.false.length), kept = data.properties.filter((p) => !p.false.length);
  const parts = fallen.length ? [make("ul", { class: "strip" }, fallen.map(row))] : [];
  if (kept.length) {
    const wasOpen = target.querySelector("details")?.open;
    parts.push(make("details", { open: wasOpen || false },
      make("summary", {}, `${kept.length} ${kept.length === 1 ? "property holds" : "properties hold"} in every state here`),
      make("ul", { class: "strip" }, kept.map(row))));
  }
  target.replaceChildren(...parts);
  target.hidden = !parts.length;
}

function runs(numbers) {
  const found = [];
  for (const number of numbers) {
    if (found.length && found.at(-1)[1] === number - 1) found.at(-1)[1] = number;
    else found.push([number, number]);
  }
  return found;
}
