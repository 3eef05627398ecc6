// Loaded before any program of a test (NODE_OPTIONS): the wall clock is off by as many milliseconds as CLOCK_FILE says. Monotonic time and
// timers are not touched, as when the machine has slept or somebody has set its clock.
import { readFileSync } from "node:fs";

const RealDate = Date;
const file = process.env.CLOCK_FILE;

function offset() {
  try {
    return Number(readFileSync(file, "utf8")) || 0;
  } catch {
    // Nobody has moved it yet.
    return 0;
  }
}

globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + offset());
    else super(...parts);
  }

  static now() {
    return RealDate.now() + offset();
  }
};
