// The space-time diagram: a lane for each who takes part, time downwards, a row for each step.
// Rows are HTML, as high as their words need; one drawing behind them follows their places.
const HEAD = 7;

class Diagram {
  constructor(scroll, onChoose) {
    this.scroll = scroll;
    this.onChoose = onChoose;
    this.names = make("div", { class: "lane-names", "aria-hidden": "true" });
    this.svg = draw("svg", { "aria-hidden": "true" });
    this.list = make("ol", { class: "rows", role: "listbox", tabindex: "0", "aria-label": "steps" });
    this.field = make("div", { class: "field" }, this.svg, this.list);
    scroll.replaceChildren(this.names, this.field);
    this.list.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.onChoose(this.rows.indexOf(row));
    });
    this.list.addEventListener("mouseover", (event) => {
      const row = event.target.closest(".row");
      this.showCauses(row ? this.rows.indexOf(row) : this.at);
    });
    this.list.addEventListener("mouseleave", () => this.showCauses(this.at));
    this.list.addEventListener("focus", () => this.showCauses(this.at));
    new ResizeObserver(() => this.layOut()).observe(scroll);
    this.width = 0;
  }

  load(data, states) {
    this.data = data;
    this.states = states;
    this.at = 0;
    const spare = new Set(data.spare || []);
    const first = make("li", this.rowAttributes(0, ""), make("span", { class: "track" }),
      make("span", { class: "label" }, make("span", { class: "words" }, make("b", {}, "0"), " ", data.first || "initial state")));
    this.rows = [first, ...data.steps.map((step, k) => {
      const number = k + 1;
      const again = data.loop !== null && number > data.loop;
      return make("li", this.rowAttributes(number, `${again ? " again" : ""}${spare.has(number) ? " spare" : ""}`),
        make("span", { class: "track" }),
        make("span", { class: "label" }, make("span", { class: "words" }, make("b", {}, String(number)),
          make("i", { class: "swatch", hue: data.hues[step.action], title: step.action }), step.words)));
    })];
    this.list.replaceChildren(...this.rows);
    this.width = 0;
    this.layOut();
  }

  rowAttributes(number, more) {
    return { class: `row${more}`, role: "option", id: `row-${number}`, "aria-selected": "false" };
  }

  // Where lanes and rows are; drawn anew when the width changes.
  layOut() {
    if (!this.data || this.scroll.clientWidth === this.width || !this.scroll.clientWidth) return;
    this.width = this.scroll.clientWidth;
    const lanes = this.data.lanes.length;
    const wide = this.width >= 180 + lanes * 44;
    const area = wide ? Math.min(lanes * 86, this.width * 0.58) : this.width - 8;
    this.scroll.classList.toggle("narrow", !wide);
    this.scroll.style.setProperty("--lane-area", `${area}px`);
    const step = (area - 14) / lanes;
    this.x = new Map(this.data.lanes.map((lane, k) => [lane, 14 + step * (k + 0.5)]));
    this.names.classList.toggle("staggered", step < 66);
    this.names.replaceChildren(...this.data.lanes.map((lane, k) => {
      const name = make("span", { class: k % 2 ? "low" : "" }, lane);
      name.style.left = `${this.x.get(lane)}px`;
      return name;
    }));
    const tracks = this.rows.map((row) => row.querySelector(".track"));
    const top = this.list.getBoundingClientRect().top;
    this.y = this.rows.map((row, k) => {
      const box = (wide ? row : tracks[k]).getBoundingClientRect();
      return wide ? box.top - top + box.height / 2 : row.getBoundingClientRect().bottom - top - 16;
    });
    const height = this.list.offsetHeight;
    this.svg.setAttribute("width", this.width);
    this.svg.setAttribute("height", height);
    this.marks = this.rows.map(() => []);
    this.svg.replaceChildren(...this.lifelines(height), ...this.messages(height), ...this.events(), ...this.loop());
    this.because = draw("g", {});
    this.svg.append(this.because);
    this.mark();
  }

  belief(number, lane) {
    const card = this.states[number].c[lane];
    if (!card) return "life";
    const leads = card.role === "leader" || card.role === "presumed";
    return `life ${epochClass(card.epoch === "" || card.epoch === "-" ? null : Number(card.epoch))}${leads ? " leads" : ""}${card.role === "down" ? " down" : ""}`;
  }

  lifelines(height) {
    const drawn = [];
    for (const lane of this.data.lanes) {
      const x = this.x.get(lane);
      let from = 0, kind = this.belief(0, lane);
      for (let number = 1; number <= this.rows.length; number += 1) {
        const now = number < this.rows.length ? this.belief(number, lane) : null;
        if (now === kind) continue;
        const end = number < this.rows.length ? this.y[number] : height;
        drawn.push(draw("path", { class: kind, d: `M${x} ${from ? this.y[from] : 0}V${end}` }));
        from = number;
        kind = now;
      }
    }
    return drawn;
  }

  messages(height) {
    const drawn = [], inRow = new Map();
    const atOnce = (message) => message.received === message.sent;
    for (const message of this.data.messages) {
      if (atOnce(message)) inRow.set(message.sent, [...(inRow.get(message.sent) || []), message]);
    }
    for (const message of this.data.messages) {
      const among = inRow.get(message.sent) || [];
      const requestsFirst = [...among].sort((a, b) => a.answer - b.answer);
      const shift = atOnce(message) ? (requestsFirst.indexOf(message) - (among.length - 1) / 2) * 9 : 0;
      const [x1, x2] = [this.x.get(message.from), this.x.get(message.to)];
      if (x1 === undefined || x2 === undefined) continue;
      const y1 = this.y[message.sent] + shift;
      const y2 = message.received === null ? height : this.y[message.received] + shift;
      const hue = this.data.hues[this.data.steps[message.sent - 1].action];
      const kind = `message${message.answer ? " answer" : ""}${message.received === null ? " under-way" : ""}`;
      const length = Math.hypot(x2 - x1, y2 - y1) || 1;
      const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
      const [tx, ty] = [x2 - ux * 4, y2 - uy * 4];
      const line = draw("path", { class: kind, hue, d: `M${x1} ${y1}L${tx} ${ty}` });
      drawn.push(line);
      this.note(message.sent, line);
      if (message.received !== null) this.note(message.received, line);
      if (message.received !== null && message.taken) {
        const [bx, by] = [tx - ux * HEAD, ty - uy * HEAD];
        drawn.push(draw("path", { class: "head-of", hue,
          d: `M${tx} ${ty}L${bx - uy * 4} ${by + ux * 4}L${bx + uy * 4} ${by - ux * 4}Z` }));
      } else if (message.received !== null) {
        drawn.push(draw("path", { class: "void", hue, d: `M${tx - 4} ${ty - 4}l8 8m0 -8l-8 8` }));
      }
    }
    return drawn;
  }

  note(number, element) {
    this.marks[number].push(element);
  }

  events() {
    const drawn = [];
    this.data.steps.forEach((step, k) => {
      const number = k + 1, y = this.y[number], lane = step.who[0];
      if (lane && this.x.has(lane)) {
        drawn.push(draw("circle", { class: "dot", hue: this.data.hues[step.action], cx: this.x.get(lane), cy: y, r: 5 }));
      }
      for (const name of this.data.members) {
        const [before, after] = [this.states[number - 1].c[name], this.states[number].c[name]];
        if (!before || (before.role === "down") === (after.role === "down")) continue;
        const x = this.x.get(name);
        drawn.push(after.role === "down" ? draw("path", { class: "crash", d: `M${x - 7} ${y - 7}l14 14m0 -14l-14 14` })
          : draw("circle", { class: "start", cx: x, cy: y, r: 7 }));
      }
    });
    return drawn;
  }

  loop() {
    const from = this.data.loop;
    if (from === null) return [];
    const last = this.rows.length - 1, [top, end] = [this.y[from], this.y[last]];
    if (from === last) return [draw("circle", { class: "loop", cx: 8, cy: end, r: 4 })];
    return [draw("path", { class: "loop", d: `M12 ${end}H6V${top}H12m-4 -4l5 4l-5 4` })];
  }

  go(number) {
    this.at = number;
    this.mark();
    const row = this.rows[number], box = row.getBoundingClientRect(), pane = this.scroll.getBoundingClientRect();
    const head = this.names.offsetHeight;
    if (box.top < pane.top + head || box.bottom > pane.bottom) {
      const target = this.scroll.scrollTop + box.top - pane.top - pane.height / 2;
      const far = Math.abs(target - this.scroll.scrollTop) > 2 * pane.height;
      this.scroll.scrollTo({ top: target, behavior: far ? "instant" : "auto" });
    }
  }

  mark() {
    this.chosen?.setAttribute("aria-selected", "false");
    this.chosen = this.rows[this.at];
    this.chosen.setAttribute("aria-selected", "true");
    this.list.setAttribute("aria-activedescendant", this.chosen.id);
    for (const element of this.thick || []) element.classList.remove("here");
    this.thick = this.marks ? this.marks[this.at] : [];
    for (const element of this.thick) element.classList.add("here");
    this.showCauses(this.at);
  }

  // A step's causes, and theirs: marked in the list, with arcs from each to what it made possible.
  showCauses(number) {
    const causes = this.data.causes || {};
    for (const row of this.caused || []) row.classList.remove("cause", "behind");
    const direct = new Set((causes[number] || []).map(([cause]) => cause));
    const found = new Set(), arcs = [], waiting = [number];
    while (waiting.length) {
      const step = waiting.pop();
      for (const [cause] of causes[step] || []) {
        if (this.y && this.because) {
          const [top, end] = [this.y[cause], this.y[step]];
          arcs.push(draw("path", { class: "because", d: `M14 ${top}C0 ${top} 0 ${end} 14 ${end}` }));
        }
        if (!found.has(cause)) { found.add(cause); waiting.push(cause); }
      }
    }
    this.caused = [...found].map((step) => this.rows[step]);
    for (const step of found) this.rows[step].classList.add(direct.has(step) ? "cause" : "behind");
    this.because?.replaceChildren(...arcs);
  }

  search(matches) {
    this.rows.forEach((row, number) => {
      row.classList.toggle("hit", matches !== null && matches.has(number));
      row.classList.toggle("miss", matches !== null && !matches.has(number));
    });
  }
}
