/**
 * Short random IDs: a letter and digits, such as `T4829`. They are random rather than counted, so clones and branches can create IDs without
 * coordination. Digits are easy to say and type, and a model reads three of them as one token. The hook loads this file.
 */
// Named imports: with `* as fs` the bundle would copy the whole module at every start (0.4 ms).
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Fills the array with random bytes. Tests pass a fixed one. */
export type RandomSource = (bytes: Uint8Array) => void;

/** The first digit is never 0: people would read `T0042` as `T42`. */
export function newId(prefix: string, digits: number, random: RandomSource = systemRandom): string {
  const first = 10 ** (digits - 1);
  const count = 9 * first;
  // Rejecting numbers above the last whole multiple avoids a bias towards small IDs.
  const limit = MOST_NUMBERS - (MOST_NUMBERS % count);
  const bytes = new Uint8Array(BYTES);
  for (;;) {
    random(bytes);
    const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
    if (number < limit) return prefix + String(first + (number % count));
  }
}

/**
 * How many digits a new ID needs when the project has `size` things of that kind. By the birthday bound, two clones that each add a tenth
 * of the project pick a common ID with a probability of about (size / 10)² / (9 × 10^(digits - 1)); this keeps it at or below 1 in 9.
 * A collision costs little, because an import renames it; a longer ID costs tokens at every use.
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
 * Reading the device costs 0.6 ms (a start takes 1.02 × the bare time). The first use of `globalThis.crypto` or `node:crypto` costs 5 ms
 * (1.21 ×). Windows has no such device.
 */
function systemRandom(bytes: Uint8Array): void {
  if (!readDevice(bytes)) globalThis.crypto.getRandomValues(bytes);
}

function readDevice(bytes: Uint8Array): boolean {
  try {
    const device = openSync("/dev/urandom", constants.O_RDONLY);
    try {
      // Anything else, such as a plain file in a badly built container, is not random.
      return fstatSync(device).isCharacterDevice() && readSync(device, bytes) === bytes.length;
    } finally {
      closeSync(device);
    }
  } catch {
    // The device is missing or unreadable; the caller falls back to another source.
    return false;
  }
}
