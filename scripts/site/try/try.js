// The page on which one tries Highwater: what is asked goes to worker.js, and traces are shown.
"use strict";
(() => {
  const by = (id) => document.getElementById(id);
  const form = by("question");
  const said = by("said");
  const grace = 15; // seconds after its limit, then a search is ended that does not end by itself
  let worker = null;
  let alarm = 0;
  let pages = [];

  const say = (words, wrong = false) => {
    said.textContent = words;
    said.classList.toggle("wrong", wrong);
  };

  const busy = (is) => {
    by("explore").disabled = is;
    by("stop").disabled = !is;
  };

  const end = () => {
    worker?.terminate();
    worker = null;
  };

  const done = (words, wrong) => {
    clearTimeout(alarm);
    busy(false);
    say(words, wrong);
  };

  const show = () => {
    by("trace").srcdoc = pages[Number(by("which").value)].page;
  };

  const answered = ({ line, wrong, traces }) => {
    pages = traces;
    by("which").replaceChildren(...traces.map((each, n) => new Option(each.name, String(n))));
    by("choice").hidden = traces.length < 2;
    by("found").hidden = !traces.length;
    if (traces.length) show();
    done(line, wrong);
  };

  const heard = ({ data }) => {
    if (data.answer) answered(data.answer);
    else if (data.failed) done(`error: ${data.failed}`, true);
    else say(`${data.far} …`);
  };

  const begin = () => {
    worker = new Worker("try/worker.js", { type: "module" });
    worker.onmessage = heard;
    worker.onerror = (event) => {
      end();
      done(`error: Python does not start: ${event.message || "its files are not there"}`, true);
    };
  };

  const question = () => {
    const limits = { max_states: by("states").valueAsNumber, max_seconds: by("seconds").valueAsNumber };
    if (by("protocol").value === "own") return { text: by("text").value, bounds: {}, ...limits };
    const bounds = [...by("bounds").querySelectorAll("input")].map((i) => [i.name, i.valueAsNumber]);
    return { protocol: by("protocol").value, bounds: Object.fromEntries(bounds), ...limits };
  };

  const choose = () => {
    const own = by("protocol").value === "own";
    by("own").hidden = !own;
    by("bounds").hidden = own;
    for (const input of by("bounds").querySelectorAll("input")) input.disabled = own;
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(true);
    by("found").hidden = true;
    say(worker ? "searching …" : "loading Python: 13 MB, once …");
    if (!worker) begin();
    const asked = question();
    worker.postMessage(asked);
    alarm = setTimeout(() => {
      end();
      done(`stopped: no answer within ${asked.max_seconds + grace} seconds`, true);
    }, 1000 * (asked.max_seconds + grace));
  });
  by("stop").addEventListener("click", () => {
    end();
    done("stopped by the user: nothing is known");
  });
  by("protocol").addEventListener("change", choose);
  by("which").addEventListener("change", show);
  by("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });

  if (location.protocol === "file:") {
    say("Browsers run no Python from a file: serve the site, and open its address.", true);
    return;
  }
  choose();
  fetch("try/register.py")
    .then((found) => found.text())
    .then((text) => { by("text").value ||= text; })
    .finally(() => busy(false));
})();
