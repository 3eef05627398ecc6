/** Small charts of block characters, for terminals that can show them. */
import type { Environment } from "../engine/project.ts";
import type { Io } from "./command.ts";

/** Whether charts may be drawn: a terminal that is not dumb, in a locale with UTF-8. Elsewhere the numbers stand alone. */
export function canDraw({ isTerminal, env }: Pick<Io, "isTerminal" | "env">): boolean {
  return isTerminal && env["TERM"] !== "dumb" && isUtf8(env);
}

/** Like the C library: the first of these variables that is set decides. */
function isUtf8(env: Environment): boolean {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return /utf-?8/i.test(locale);
}

const BAR_CELLS = 20;

/** A share from 0 to 1 as a bar of fixed length. */
export function bar(share: number, { cells = BAR_CELLS } = {}): string {
  const filled = Math.max(0, Math.min(cells, Math.round(share * cells)));
  return `${"█".repeat(filled)}${"░".repeat(cells - filled)}`;
}

const STEPS = "▁▂▃▄▅▆▇█";

/** One column per value, from 0 to `most` (default: the largest value). Unknown values are left empty. */
export function columnsOf(
  values: readonly (number | undefined)[],
  most = Math.max(...values.map((value) => value ?? 0)),
): string {
  return values
    .map((value) => {
      if (value === undefined) return " ";
      // Only a value of 0 gets the lowest block.
      const step = most > 0 ? Math.ceil((Math.max(0, value) / most) * (STEPS.length - 1)) : 0;
      return STEPS[Math.min(STEPS.length - 1, step)];
    })
    .join("");
}
