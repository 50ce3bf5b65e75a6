// Shows the rows and columns of a grid picture whose names hold every word that is asked for, and what
// is listed below it by the rows' names. Names stay in sight while one scrolls.
"use strict";
for (const picture of document.querySelectorAll("svg.grid-picture")) {
  const inputs = { row: document.getElementById("rows"), column: document.getElementById("columns") };
  const said = document.getElementById("shown");
  const size = (name) => Number(picture.dataset[name]);
  const whole = picture.viewBox.baseVal;
  const height = whole.height;
  const frame = picture.closest(".picture");
  const rows = [...picture.querySelectorAll("g.row")];
  const columns = [...picture.querySelectorAll("g.column")];
  const listed = [...document.querySelectorAll("[data-name]:not(g)")];
  const key = picture.querySelector("g.key");
  const keyTop = size("top") + size("cellHeight") * rows.length;
  const keyRoom = height - keyTop;

  // Names lie above the cells, on ground of their own, and move with what is scrolled.
  const svg = (name, parent, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };
  const names = svg("g", picture, { class: "names" });
  svg("rect", names, { class: "ground", width: size("left"), height: keyTop });
  const labels = rows.map((row) => {
    const label = svg("g", names, { "aria-hidden": "true" });
    label.append(row.querySelector("text").cloneNode(true));
    return label;
  });
  const heads = svg("g", picture, { class: "names" });
  svg("rect", heads, { class: "ground", width: whole.width, height: size("top") });
  heads.append(...columns);
  const stay = () => {
    const hasRoom = frame.clientWidth > 2 * size("left"); // not on a phone
    names.setAttribute("transform", `translate(${hasRoom ? frame.scrollLeft : 0},0)`);
    heads.setAttribute("transform", `translate(0,${frame.scrollTop})`);
  };
  frame.classList.add("stays");
  frame.addEventListener("scroll", stay, { passive: true });

  const place = (group, shown, x, y) => {
    group.style.display = shown ? "" : "none";
    if (shown) group.setAttribute("transform", `translate(${x},${y})`);
  };
  const wanted = (group, text) => {
    const name = group.dataset.name.toLowerCase();
    return text.toLowerCase().split(/\s+/).every((word) => name.includes(word));
  };

  const show = () => {
    const chosen = columns.map((column) => wanted(column, inputs.column.value));
    let across = 0;
    const left = chosen.map((shown) => size("left") + size("cellWidth") * (shown ? across++ : 0));
    columns.forEach((column, c) => place(column, chosen[c], left[c], size("top")));
    let down = 0;
    rows.forEach((row, r) => {
      const shown = wanted(row, inputs.row.value);
      const y = size("top") + size("cellHeight") * down;
      place(row, shown, 0, y);
      place(labels[r], shown, 0, y);
      down += shown ? 1 : 0;
      for (const cell of row.querySelectorAll("g.cell")) {
        const c = Number(cell.dataset.column);
        place(cell, chosen[c], left[c], 0);
      }
    });
    const bottom = size("top") + size("cellHeight") * down;
    key.setAttribute("transform", `translate(0,${bottom + 20})`);
    names.querySelector("rect").setAttribute("height", bottom);
    picture.setAttribute("viewBox", `0 0 ${whole.width} ${bottom + keyRoom}`);
    picture.setAttribute("height", bottom + keyRoom);
    for (const each of listed) each.hidden = !wanted(each, inputs.row.value);
    said.textContent = `${down} of ${rows.length} rows, ${across} of ${columns.length} columns`;
    const asked = Object.values(inputs).filter((input) => input.value);
    const query = new URLSearchParams(asked.map((input) => [input.id, input.value])).toString();
    history.replaceState(null, "", location.pathname + (query ? `?${query}` : ""));
    stay();
  };

  const given = new URLSearchParams(location.search);
  for (const input of Object.values(inputs)) {
    input.value = given.get(input.id) ?? "";
    input.addEventListener("input", show);
  }
  show();
}
