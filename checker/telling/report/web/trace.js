// The page of one trace.
const player = new Player();
themeSwitch(byId("theme"));
byId("all-steps").addEventListener("click", () => {
  const all = byId("all");
  all.hidden = !all.hidden;
  byId("all-steps").setAttribute("aria-expanded", String(!all.hidden));
});
byId("all").hidden = true;
byId("app").hidden = false;
player.load(JSON.parse(byId("data").textContent));
