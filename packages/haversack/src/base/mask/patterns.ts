/** All patterns together: the half of masking that costs something. The hook and the commands load it when a text may hold a secret. */
import { hasKey } from "../may-hold-secret.ts";
import { maskAssignments } from "./assignments.ts";
import { maskCommands } from "./commands.ts";
import { maskKnownKeys } from "./known-keys.ts";
import { maskPlaces } from "./places.ts";
import { maskPrivateKeys } from "./private-keys.ts";

/** What the form of a key gives away. */
export function maskKeys(text: string): string {
  const keyless = maskPrivateKeys(text);
  if (keyless.length < 1000) return maskKnownKeys(keyless);
  // No other key goes beyond its line, and few lines hold one.
  return keyless
    .split("\n")
    .map((line) => (hasKey(line) ? maskKnownKeys(line) : line))
    .join("\n");
}

/** What its place or its name gives away. */
export function maskNamed(text: string): string {
  const lower = text.toLowerCase();
  return maskAssignments(maskCommands(maskPlaces(text, lower), lower), lower);
}
