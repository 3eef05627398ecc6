/** Masks a text that contains one of the words for a secret. */
import { maskAssignments } from "./assignments.ts";
import { maskKnownKeys, maskPrivateKeys } from "./keys.ts";
import { maskCommands, maskPlaces } from "./places.ts";

/** Patterns treat it as white space and as the start of a line. */
const LINE_MARK = "\u2028";

export function maskFound(text: string): string {
  // In JSON and in code, the two characters \n end a line. They become a real line break plus a mark to restore them later.
  const isEscaped = text.includes("\\n") && !text.includes(LINE_MARK);
  let result = isEscaped ? text.replaceAll("\\n", `\n${LINE_MARK}`) : text;
  // Masking may uncover another secret that was joined to the first. More than two rounds are needed only by an attack.
  for (let round = 0; round < 4; round++) {
    const before = result;
    result = maskKnownKeys(maskPrivateKeys(result));
    const lower = result.toLowerCase();
    result = maskAssignments(maskCommands(maskPlaces(result, lower), lower), lower);
    if (result === before) break;
  }
  return isEscaped ? result.replaceAll(`\n${LINE_MARK}`, "\\n") : result;
}
