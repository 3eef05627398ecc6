// Adds up an estimate sheet: node points.mjs SHEET. Prints points and range.
import { readFileSync } from "node:fs";

const sheet = readFileSync(process.argv[2], "utf8");
const sizes = [...sheet.matchAll(/^\|[^|]+\|\s*(\d+)\s*\|/gm)].map(([, size]) => Number(size));
const factors = [...sheet.matchAll(/×\s*(\d+(?:\.\d+)?)/g)].map(([, factor]) => Number(factor));
const points = sizes.reduce((sum, size) => sum + size, 0) * factors.reduce((product, factor) => product * factor, 1);
console.log(`${points.toFixed(1)} points, range ${(points * 0.8).toFixed(0)} to ${(points * 1.5).toFixed(0)}`);
