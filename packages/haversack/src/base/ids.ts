/**
 * Short ids that need no agreement between clones, branches or machines: a letter and twelve digits, `T482913577204`. The
 * hook loads this file.
 *
 * Digits, because a model reads three of them as one token: 40 bits cost 4 tokens, as letters and digits mixed 5 to 6. Ten
 * thousand tasks made in each of two clones share an id with a probability of 0.01%; within a store a new id is held against
 * all there are, and an import renames what meets another thing of its name.
 */
// Named, not `* as fs`: the bundle would copy the whole module at every start (0.4 ms).
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Fills the bytes at random. Tests hand in a fixed one. */
export type RandomSource = (bytes: Uint8Array) => void;

export function newId(prefix: string, random: RandomSource = systemRandom): string {
  const bytes = new Uint8Array(5);
  for (;;) {
    random(bytes);
    const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
    // 2^40 is a little more than 10^12: what lies above would make small numbers likelier.
    if (number < 1e12) return prefix + String(number).padStart(12, "0");
  }
}

/**
 * The first use of `globalThis.crypto` costs a process 5 ms, the same as `node:crypto` (a start of 1.21 × the bare one);
 * reading the device costs 0.6 ms (1.02 ×). Windows has no such device.
 */
function systemRandom(bytes: Uint8Array): void {
  if (!readDevice(bytes)) globalThis.crypto.getRandomValues(bytes);
}

function readDevice(bytes: Uint8Array): boolean {
  try {
    const device = openSync("/dev/urandom", constants.O_RDONLY);
    try {
      // Anything but the device, e.g. a plain file in a badly made container, is not random.
      return fstatSync(device).isCharacterDevice() && readSync(device, bytes) === bytes.length;
    } finally {
      closeSync(device);
    }
  } catch {
    // No such device, or not for us: the caller has another source.
    return false;
  }
}
