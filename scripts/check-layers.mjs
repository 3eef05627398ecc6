// Checks every import below src/ against the table in layers.mjs.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { LAYERS } from "./layers.mjs";

/** Imports that violate the table, one line each. */
export function layerViolations(src) {
  const allowed = new Map(LAYERS.map(([name, , may]) => [name, may]));
  const lines = [];
  for (const path of readdirSync(src, { recursive: true })) {
    if (!path.endsWith(".ts") || /\.(test|suite)\.ts$/.test(path)) continue;
    const layer = path.split(/[\\/]/)[0];
    if (layer === path) continue;
    const may = allowed.get(layer);
    if (!may) {
      lines.push(`${path}: the folder ${layer} is not in scripts/layers.mjs`);
      continue;
    }
    const text = readFileSync(join(src, path), "utf8");
    for (const [, typeOnly, target] of text.matchAll(/^(?:import|export)\s+(type\s+)?[^;]*?from\s+"(\.[^"]+)"/gms)) {
      const goal = relative(src, resolve(dirname(join(src, path)), target)).split(/[\\/]/)[0];
      const isRight =
        goal === layer || may.includes("*") || may.includes(goal) || (typeOnly && may.includes(`type:${goal}`));
      if (!isRight) lines.push(`${path}: ${layer} may not import ${goal} (${target})`);
    }
    for (const [, target] of text.matchAll(/import\("(\.[^"]+)"\)/g)) {
      const goal = relative(src, resolve(dirname(join(src, path)), target)).split(/[\\/]/)[0];
      if (goal !== layer && !may.includes("*") && !may.includes(goal))
        lines.push(`${path}: ${layer} may not import ${goal} (${target})`);
    }
  }
  return lines;
}
