// Python beside the page: takes a question, and posts how far the search is, then its answer.
import { loadPyodide } from "./pyodide.mjs";

async function begin() {
  const python = await loadPyodide();
  const archive = await fetch("highwater.zip");
  if (!archive.ok) throw new Error(`highwater.zip: ${archive.status}`);
  const folder = "/lib/highwater";
  python.unpackArchive(await archive.arrayBuffer(), "zip", { extractDir: folder });
  python.runPython(`import sys; sys.path.insert(0, "${folder}")`);
  return python.pyimport("checker.api.in_a_page").told;
}

const ready = begin();

self.onmessage = async ({ data }) => {
  try {
    const told = await ready;
    postMessage({ far: "searching" });
    postMessage({ answer: JSON.parse(told(JSON.stringify(data), (far) => postMessage({ far }))) });
  } catch (error) {
    postMessage({ failed: String(error.message ?? error).trim().split("\n").at(-1) });
  }
};
