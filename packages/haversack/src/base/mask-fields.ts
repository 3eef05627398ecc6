/** Secrets that one text alone does not show: the name of a field and its value, the lines of a list. */
import { maskSecrets } from "./mask.ts";

/** `{"password": "…"}`: only name and value together show that it is a secret. `value` is masked by itself already. */
export function maskField(name: string, value: string): string {
  if (value.length < 3 || value.includes("\n")) return value;
  const before = `${name.replace(/[^\w.$ -]/g, "_")}: "`;
  const pair = maskSecrets(`${before}${value.replace(/["\\]/g, "'")}"`);
  const masked = pair.startsWith(before) ? pair.slice(before.length, -1) : "";
  return /^\[masked:[a-z0-9-]+\]$/.test(masked) ? masked : value;
}

/**
 * The lines of a private key, `["--password", "hunter2"]`: texts of one list are masked as the one text that they may have been. Such a
 * list may get shorter.
 */
export function maskLines(lines: readonly string[]): string[] {
  if (lines.length < 2 || lines.some((line) => line.includes("\n"))) return lines.map(maskSecrets);
  return maskSecrets(lines.join("\n")).split("\n");
}
