// Bundles src/main.ts into the one committed asset. The CSS is imported as text, so that the page needs no second file.
// `npm run build -- --math` bundles the page's mathematics for the Python tests instead, which run it by plain node.
// `--out FILE` writes elsewhere, which is how a test compares a committed file with a fresh build.
import { build } from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const isMath = process.argv.includes("--math");
const at = process.argv.indexOf("--out");
const asset = isMath ? ["tests", "explorer", "evaluate.mjs"] : ["gnode", "explorer", "assets", "explorer.js"];
const outfile = at > 0 ? process.argv[at + 1] : join(here, "..", ...asset);

const page = { entryPoints: ["src/main.ts"], minify: true, format: "iife", platform: "browser", target: ["es2022"] };
const math = { entryPoints: ["tests/evaluate.ts"], format: "esm", platform: "node", target: ["node20"] };

await build({
  absWorkingDir: here,
  outfile,
  bundle: true,
  charset: "ascii", // the same bytes whatever encoding the page is read in
  loader: { ".css": "text", ".glsl": "text", ".vert": "text", ".frag": "text" },
  legalComments: "inline",
  logLevel: "warning",
  ...(isMath ? math : page),
});
