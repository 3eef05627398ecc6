/** How long a text is for a client: characters, or what it counts instead. Loaded by the hook. */
import { cutAt } from "../base/clean-text.ts";
import type { ClientProfile } from "./activation.ts";

interface Measure {
  sizeOf?: ClientProfile["sizeOf"] | undefined;
}

export function sizeFor({ sizeOf }: Measure, text: string): number {
  return sizeOf ? sizeOf(text) : text.length;
}

/** The beginning of the text that has at most this size; nearly all of it that would fit. */
export function cutFor(client: Measure, text: string, most: number): string {
  let cut = cutAt(text, Math.max(0, most));
  for (let size = sizeFor(client, cut); size > most && cut; size = sizeFor(client, cut)) {
    cut = cutAt(cut, Math.floor((cut.length * most) / size));
  }
  return cut;
}
