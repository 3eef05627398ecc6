/**
 * Short random ids: a letter and digits, `T4829`. Random, not counted, so that clones and branches can make ids without asking one
 * another. The hook loads this file.
 *
 * Digits, because people can say and type them, and because a model reads three of them as one token.
 */
// Named, not `* as fs`: the bundle would copy the whole module at every start (0.4 ms).
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Fills the bytes at random. Tests hand in a fixed one. */
export type RandomSource = (bytes: Uint8Array) => void;

/** The first digit is never 0: `T0042` would be read as `T42`. */
export function newId(prefix: string, digits: number, random: RandomSource = systemRandom): string {
  const first = 10 ** (digits - 1);
  const count = 9 * first;
  // Numbers above the last whole multiple would make small ids more likely.
  const limit = MOST_NUMBERS - (MOST_NUMBERS % count);
  const bytes = new Uint8Array(BYTES);
  for (;;) {
    random(bytes);
    const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
    if (number < limit) return prefix + String(first + (number % count));
  }
}

/**
 * How many digits the ids of a kind need, by how many things of that kind the project has. The birthday bound: two clones that each
 * add a tenth of the project, `size / 10`, pick a common id with a probability of about (size / 10)² / (9 × 10^(digits - 1)), which
 * this keeps at or below 1 in 9. An import renames what collides, so a collision costs little, and a longer id costs at every use.
 * 4 digits up to 316 things, 5 up to 1,000, 6 up to 3,162, 7 up to 10,000, 9 up to 100,000.
 */
export function digitsFor(size: number): number {
  let digits = FEWEST_DIGITS;
  while (digits < MOST_DIGITS && size * size > 10 ** (digits + 1)) digits++;
  return digits;
}

export const FEWEST_DIGITS = 4;
export const MOST_DIGITS = 12;

const BYTES = 6;
const MOST_NUMBERS = 256 ** BYTES;

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
