// Shows the rows and columns of a grid picture whose names hold every word that is asked for, and what
// is listed below it by the rows' names.
"use strict";
for (const picture of document.querySelectorAll("svg.grid-picture")) {
  const inputs = { row: document.getElementById("rows"), column: document.getElementById("columns") };
  const said = document.getElementById("shown");
  const size = (name) => Number(picture.dataset[name]);
  const whole = picture.viewBox.baseVal;
  const height = whole.height;
  const rows = [...picture.querySelectorAll("g.row")];
  const columns = [...picture.querySelectorAll("g.column")];
  const listed = [...document.querySelectorAll("[data-name]:not(g)")];
  const key = picture.querySelector("g.key");
  const keyTop = size("top") + size("cellHeight") * rows.length;
  const keyRoom = height - keyTop;

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
    for (const row of rows) {
      const shown = wanted(row, inputs.row.value);
      place(row, shown, 0, size("top") + size("cellHeight") * down);
      down += shown ? 1 : 0;
      for (const cell of row.querySelectorAll("g.cell")) {
        const c = Number(cell.dataset.column);
        place(cell, chosen[c], left[c], 0);
      }
    }
    const bottom = size("top") + size("cellHeight") * down;
    key.setAttribute("transform", `translate(0,${bottom + 20})`);
    picture.setAttribute("viewBox", `0 0 ${whole.width} ${bottom + keyRoom}`);
    picture.setAttribute("height", bottom + keyRoom);
    for (const each of listed) each.hidden = !wanted(each, inputs.row.value);
    said.textContent = `${down} of ${rows.length} rows, ${across} of ${columns.length} columns`;
    const asked = Object.values(inputs).filter((input) => input.value);
    const query = new URLSearchParams(asked.map((input) => [input.id, input.value])).toString();
    history.replaceState(null, "", location.pathname + (query ? `?${query}` : ""));
  };

  const given = new URLSearchParams(location.search);
  for (const input of Object.values(inputs)) {
    input.value = given.get(input.id) ?? "";
    input.addEventListener("input", show);
  }
  show();
}
