/** What a packet leaves out: as a list, and as its last line. Loaded by the hook. */
import type { FormatLine, LeftOut } from "../tokens/fit.ts";
import type { Frame } from "./frame.ts";

/** Things that there are too many of to be pieces: only counted. */
export interface Beyond {
  what: string;
  count: number;
  how: string;
}

export interface LeftOutThing {
  /** `decision`, `unread message`, `skill:ID`. */
  key: string;
  count: number;
  how?: string;
}

export function leftOutThings(leftOut: readonly LeftOut[], frame: Frame, beyond: readonly Beyond[]): LeftOutThing[] {
  const found = new Map<string, LeftOutThing>();
  const add = (key: string, how: string | undefined, count = 1): void => {
    const thing = found.get(key);
    if (thing) thing.count += count;
    else found.set(key, { key, count, ...(how !== undefined && { how }) });
  };
  for (const { key, how } of leftOut) {
    const { skill, what } = frame.piece(key);
    add(skill ? key : what, how);
  }
  for (const { what, how, count } of beyond) add(what, how, count);
  return [...found.values()];
}

/** The most telling first: how many of what, and the way to each; the most important and one way to all; how many and that way; only how many. */
export function footersFor(frame: Frame, { beyond, more }: { beyond: readonly Beyond[]; more: string }): FormatLine[] {
  // Nobody asks for past events.
  const things = (missing: readonly LeftOut[]): LeftOutThing[] =>
    leftOutThings(missing, frame, beyond).filter(({ key }) => key !== "event");
  const words = ({ key, count }: LeftOutThing): string => plural(key.replace("skill:", "skill "), count);
  return [
    (missing, reduced) => {
      const ways = new Map<string, string[]>();
      const add = (what: string, how = ""): void => void ways.set(how, [...(ways.get(how) ?? []), what]);
      for (const thing of things(missing)) add(words(thing), thing.how);
      for (const key of reduced) {
        const { rest, how } = frame.piece(key);
        if (rest) add(rest, how);
      }
      const groups = [...ways].map(([how, whats]) => `${whats.join(", ")}${how && ` (${how})`}`);
      return groups.length > 0 ? `Left out: ${groups.join("; ")}` : "";
    },
    (missing) => {
      const few = inFew(things(missing), words);
      return few.length > 0 ? `Left out: ${few.join(", ")} (${more})` : "";
    },
    (missing) => (missing.length > 0 ? `${missing.length} left out (${more})` : ""),
    (missing) => (missing.length > 0 ? `${missing.length} left out` : ""),
  ];
}

function inFew(all: readonly LeftOutThing[], words: (thing: LeftOutThing) => string): string[] {
  const shown = all.slice(0, 5).map(words);
  return all.length > shown.length ? [...shown, "and more"] : shown;
}

function plural(what: string, count: number): string {
  if (count === 1) return what;
  return `${count} ${what === "criterion" ? "criteria" : what.endsWith("s") ? what : `${what}s`}`;
}
