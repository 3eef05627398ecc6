/** What `doctor` says of a client's version, held against the one that we test with. */
import type { Finding } from "../engine/wiring.ts";

export interface TestedClient {
  /** As people call it. */
  title: string;
  tested: string;
  /** How much must be equal: releases of some clients differ in every patch. An older one is told, a newer patch never. */
  upTo: "minor" | "patch";
}

/** By its numbers: `0.99.1` is older than `0.166.0`. */
export function isOlderVersion(version: string, than: string): boolean {
  const [one = [], other = []] = [version, than].map((text) => text.split(".").map(Number));
  const at = other.findIndex((part, index) => part !== (one[index] ?? 0));
  return at >= 0 && (one[at] ?? 0) < other[at]!;
}

export function judgeVersion(part: string, version: string, { title, tested, upTo }: TestedClient): Finding {
  const text = `${version}; tested with ${tested}`;
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const [testedMajor = 0, testedMinor = 0, testedPatch = 0] = tested.split(".").map(Number);
  const difference = major - testedMajor || minor - testedMinor;
  const isOlder = difference < 0 || (difference === 0 && upTo === "patch" && patch < testedPatch);
  if (isOlder) return { part, level: "warn", text, remedy: `update ${title}: an older one may lack events` };
  if (difference === 0) return { part, level: "ok", text };
  return { part, level: "warn", text, remedy: "look for a newer haversack: events and fields may differ" };
}
