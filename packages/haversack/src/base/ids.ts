/**
 * Short ids that need no agreement between clones, branches or machines: `T-7k3m9q2x4d`. The hook loads this file.
 *
 * Ten characters of 5 bits: 50 random bits. Among a million ids two are equal with a probability of 0.04%, among ten
 * thousand with 0.000004%. (Eight characters would collide in 37 of 100 stores with a million.)
 */
// Named, not `* as fs`: the bundle would copy the whole module at every start (0.4 ms).
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Fills the bytes at random. Tests hand in a fixed one. */
export type RandomSource = (bytes: Uint8Array) => void;

export function newId(prefix: string, random: RandomSource = systemRandom): string {
  const bytes = new Uint8Array(ID_CHARS);
  random(bytes);
  let id = `${prefix}-`;
  // 256 is a multiple of 32: no character is more likely than another.
  for (const byte of bytes) id += ALPHABET[byte & 31];
  return id;
}

const ID_CHARS = 10;

/** Crockford's base 32 in lower case: no i, l, o or u, so that nothing is misread. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

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
